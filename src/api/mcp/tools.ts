import type { Operation } from '../operation.ts'
import { listEvents, readEvent } from '../routes/v1/events.ts'
import type { OperationDeps } from '../routes/v1/index.ts'
import {
  createPaymentLink,
  deactivatePaymentLink,
  listPaymentLinks,
  readPaymentLink,
} from '../routes/v1/links/links.ts'
import { createPayment } from '../routes/v1/payments/payment-create.ts'
import { listPayments, readPaymentTimeline } from '../routes/v1/payments/payment-list.ts'
import { cancelPayment, readPayment } from '../routes/v1/payments/payments.ts'
import { simulatePayment } from '../routes/v1/payments/simulate.ts'
import { skipTime } from '../routes/v1/payments/skip-time.ts'
import { listProviders } from '../routes/v1/providers.ts'
import { previewRoutes, readQuote } from '../routes/v1/quotes.ts'
import { createRefund } from '../routes/v1/refunds/refund-create.ts'
import { cancelRefund, listPaymentRefunds, listRefunds, readRefund } from '../routes/v1/refunds/refunds.ts'
import { diagnoseDelivery, listDeliveries, redeliverEvent, redeliverFailed } from '../routes/v1/webhooks/deliveries.ts'
import { listWebhookEndpoints } from '../routes/v1/webhooks/endpoints.ts'

/** An operation that an agent can call, with the hints of the protocol for the person who confirms calls. */
export type Tool = {
  readonly name: string
  readonly operation: Operation<OperationDeps>
  readonly hints: Hints
  /** Its effect is repeated unless the call has an idempotency key, so a call must have one. */
  readonly needsKey: boolean
  readonly testOnly: boolean
}

export type Hints = {
  readonly readOnlyHint: boolean
  /** True if it ends or gives away something that exists. */
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  /** True if servers of the merchant receive requests. */
  readonly openWorldHint: boolean
}

export const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const ADDS: Hints = { ...READS, readOnlyHint: false }
const ENDS: Hints = { ...ADDS, destructiveHint: true }
const SENDS: Hints = { ...ADDS, idempotentHint: false, openWorldHint: true }
const PRETENDS: Hints = { ...ADDS, idempotentHint: false }

/**
 * Every other operation stays out: the wallet, keys, secrets, people, the brand, settings and files are for people and
 * their own programs. A refund gets its USDC from the wallet of the merchant, so only a person can pay for it.
 */
export const TOOLS: readonly Tool[] = [
  ...[listPayments, readPayment, readPaymentTimeline].map(defineTool(READS)),
  defineTool(ADDS)(createPayment),
  defineTool(ENDS)(cancelPayment),
  ...[listRefunds, listPaymentRefunds, readRefund].map(defineTool(READS)),
  ...[createRefund, cancelRefund].map(defineTool(ENDS)),
  ...[listPaymentLinks, readPaymentLink].map(defineTool(READS)),
  defineTool(ADDS)(createPaymentLink),
  defineTool(ENDS)(deactivatePaymentLink),
  ...[listProviders, readQuote, previewRoutes].map(defineTool(READS)),
  ...[listEvents, readEvent].map(defineTool(READS)),
  ...[listWebhookEndpoints, listDeliveries].map(defineTool(READS)),
  ...[redeliverEvent, redeliverFailed, diagnoseDelivery].map(defineTool(SENDS)),
  ...[simulatePayment, skipTime].map(defineTool(PRETENDS)),
]

function defineTool(hints: Hints) {
  return (operation: Operation<OperationDeps>): Tool => ({
    name: operation.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    operation,
    hints,
    needsKey: operation.method === 'post' && 201 in operation.answers,
    testOnly: operation.tag === 'Test mode',
  })
}

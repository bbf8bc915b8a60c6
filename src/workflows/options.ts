import type { ActivityInterfaceFor, ActivityOptions } from '@temporalio/workflow'
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow'
import type { PaymentActivities } from '../activities/payment/payment.ts'
import type { RefundActivities } from '../activities/refund/refund.ts'
import type { AnnounceActivities } from '../activities/webhooks/announce.ts'
import type { WebhookDeliveryActivities } from '../activities/webhooks/webhook-delivery.ts'
import type { WebhookDiagnosisActivities } from '../activities/webhooks/webhook-diagnosis.ts'
import { SETTLE_ACTIVITY_ID } from '../domain/ids.ts'
import { RETRY_PRIORITY } from './priority.ts'

/** The time limit of each kind of step and its retries, with the reason for each number. */

type Summaries<A> = { readonly [name in keyof A]: string }

function steps<A extends object>(options: ActivityOptions, summaries: Summaries<A>): ActivityInterfaceFor<A> {
  const names = Object.entries(summaries) as [keyof A, string][]
  const entries = names.map(([name, summary]) => [name, proxyActivities<A>({ ...options, summary })[name]])
  return Object.fromEntries(entries) as ActivityInterfaceFor<A>
}

/** Reads and writes of the database: retried forever, so that they succeed as soon as Postgres is back. */
export const records = steps<Pick<PaymentActivities, 'loadPayment' | 'decide' | 'markPassedTime'>>(
  {
    // This timeout detects a killed worker: it is short, because the statements take milliseconds.
    startToCloseTimeout: '10 s',
    retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
  },
  {
    loadPayment: 'Read the payment',
    decide: 'Carry out the decision of an operator',
    markPassedTime: 'Mark what takes too long',
  },
)

const OPEN_ORDER = { openPartnerOrder: 'Open an order at the partner that the buyer has chosen' }

/** A partner answers within a second or two: until then the workflow task itself waits, which saves another one. */
export const openQuickly = proxyLocalActivities<Pick<PaymentActivities, 'openPartnerOrder'>>({
  summary: OPEN_ORDER.openPartnerOrder,
  startToCloseTimeout: '5 s',
  retry: { maximumAttempts: 1 },
})

export const openPatiently = steps<Pick<PaymentActivities, 'openPartnerOrder'>>(
  {
    // The partner's own limit is 10 s a call; earlier orders are canceled first.
    startToCloseTimeout: '20 s',
    // The API waits at most half a minute in all, and the buyer's next choice must not wait for this one.
    scheduleToCloseTimeout: '25 s',
    retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
  },
  OPEN_ORDER,
)

/** A quick read, whose effect on the row is the same however often it runs. One history event instead of six. */
export const reading = proxyLocalActivities<Pick<PaymentActivities, 'readPartnerOrder'>>({
  summary: 'Read the order from its partner',
  startToCloseTimeout: '12 s',
  // After three tries the next callback or the next poll reads again: an outage must not fill the history.
  retry: { initialInterval: '300 ms', backoffCoefficient: 3, maximumAttempts: 3 },
})

/** Retried forever, at growing intervals; each call has its idempotency key. */
export const money = steps<Pick<PaymentActivities, 'closeUnpaid' | 'giveBack'>>(
  {
    startToCloseTimeout: '30 s',
    retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
  },
  {
    closeUnpaid: 'Close the payment, unless money has arrived',
    giveBack: 'Give the money back through the partner',
  },
)

/** Waits for the settlement engine, which completes the activity by its id. A retry continues from the row. */
export const settlement = proxyActivities<Pick<PaymentActivities, 'settle'>>({
  summary: 'Convert the money to USDC and send it to the merchant, until its block is final',
  activityId: SETTLE_ACTIVITY_ID,
  // A try takes at most two calls of 10 s, and finality 2 to 5 s. If the completion was lost, the next try finds the
  // result.
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** Reads and writes of a refund's row: retried forever, as those of a payment. */
export const refundRecords = steps<Omit<RefundActivities, 'askRefund'>>(
  {
    startToCloseTimeout: '10 s',
    retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
  },
  {
    loadRefund: 'Read the refund',
    postponeWake: 'Say when this run acts next',
    openRefund: 'Make the address for its USDC',
    fundRefund: 'Take the transfer that the wallet has signed',
    cancelRefund: 'Cancel the refund for the merchant',
    expireRefund: 'End the refund: its USDC did not arrive in time',
  },
)

export const refundPartner = proxyActivities<Pick<RefundActivities, 'askRefund'>>({
  summary: 'Have the partner give the money back',
  // At most four calls of 10 s: the refund with its key, the order, the refund, and the order again.
  startToCloseTimeout: '55 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** An endpoint without a response within 3 s gets its delivery workflow. */
export const announcing = proxyLocalActivities<AnnounceActivities>({
  summary: 'Send the event to every endpoint',
  startToCloseTimeout: '8 s',
  // After these tries the worker's sweep delivers the event.
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumAttempts: 3 },
})

const oneTry = {
  summary: 'Send the event to the endpoint',
  // The endpoint has 15 s. Its response is a value: only failures of the platform are retried here.
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
} as const

export const delivering = proxyActivities<WebhookDeliveryActivities>(oneTry)

/** A later try: tries for which a caller waits have priority. */
export const retrying = proxyActivities<WebhookDeliveryActivities>({ ...oneTry, priority: RETRY_PRIORITY })

/** At most 20 s of requests. Nobody waits for a second try. */
export const diagnosing = proxyActivities<WebhookDiagnosisActivities>({
  summary: 'Find out why the endpoint refuses the event',
  startToCloseTimeout: '30 s',
  retry: { maximumAttempts: 1 },
})

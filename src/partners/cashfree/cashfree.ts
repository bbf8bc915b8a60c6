import type { z } from 'zod'
import { isId } from '../../domain/ids.ts'
import type { ProviderName } from '../../domain/methods.ts'
import type { Money } from '../../domain/money.ts'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { type HttpAnswer, unclear } from '../http.ts'
import { connectJsonApi, type JsonApi } from '../json-api.ts'
import {
  type Driver,
  type OpenedOrder,
  type OpenOrder,
  PartnerError,
  type PaymentPartner,
  type RefundResult,
} from '../provider.ts'
import { readAs, readOk, shorten } from '../reading.ts'
import { checkUpiLink } from '../upi-link.ts'
import { toRupees } from './amount.ts'
import { readCallback } from './callback.ts'
import { reportDisputes } from './disputes.ts'
import { type CashfreeOrder, isPaid, readState, sumDisputes } from './state.ts'
import {
  CASHFREE_VERSION,
  disputeListSchema,
  errorSchema,
  type Order,
  orderSchema,
  paymentListSchema,
  type Refund,
  refundListSchema,
  sessionSchema,
} from './wire.ts'

/**
 * Cashfree's Payment Gateway for UPI: an order with the attempt's id, and a session of it that gives the link of the
 * buyer's app. Cashfree wants a phone number of every buyer; it receives the number from the configuration.
 */
export const cashfree: Driver = { connect, readCallback }

/** Seconds. Cashfree requires at least 15 minutes by its own clock, and at most 30 days. */
const LIFETIME = { least: 16 * 60, most: 30 * 86_400 - 3600 }

function connectApi(to: ProviderName, { url, account, secret }: PartnerSettings): JsonApi {
  const headers = { 'x-client-id': account, 'x-client-secret': secret, 'x-api-version': CASHFREE_VERSION }
  return connectJsonApi(to, { url: `${url}/pg`, headers })
}

function connect(provider: ProviderName, settings: PartnerSettings): PaymentPartner {
  const api = connectApi(provider, settings)
  const toOrder = (found: CashfreeOrder | null): PartnerOrder | null => found && toPartnerOrder(found, settings.account)

  return {
    name: provider,
    lifetime: LIFETIME,
    openOrder: (order, signal) => openOrder(api, { order, phone: settings.phone ?? '' }, signal),
    async readOrder({ attemptId }, signal) {
      return toOrder(await findOrder(api, attemptId, signal))
    },
    async cancelOrder({ attemptId }, signal) {
      const body = { order_status: 'TERMINATED' }
      const answer = await api.call({ method: 'PATCH', path: orderPath(attemptId), body }, signal)
      // An order that is over cannot be ended, and might be paid: it is read.
      const found = await findOrder(api, attemptId, signal)
      if (found?.order.order_status === 'ACTIVE') throw unclear(provider, `answered ${answer.status} to a cancellation`)
      return toOrder(found)
    },
    async refundOrder({ attemptId, key, amount }, signal) {
      const found = await findOrder(api, attemptId, signal)
      if (found === null) return { kind: 'refused', reason: 'the partner does not know the order' }
      return refund(api, { found, id: toRefundId(key), asked: amount }, signal)
    },
    async findRefund({ attemptId, key }, signal) {
      const found = await findOrder(api, attemptId, signal)
      return found && findRefund(found.refunds, toRefundId(key))
    },
  }
}

const orderPath = (attemptId: string): string => `/orders/${encodeURIComponent(attemptId)}`

async function openOrder(
  api: JsonApi,
  { order, phone }: { readonly order: OpenOrder; readonly phone: string },
  signal: AbortSignal,
): Promise<OpenedOrder> {
  const body = orderRequest(api.to, order, phone)
  const answer = await api.call({ method: 'POST', path: '/orders', body }, signal)
  const opened = await readCreated(api, { order, answer }, signal)
  const session = {
    payment_session_id: opened.payment_session_id,
    payment_method: { upi: { channel: 'link' } },
  }
  const { data } = readOk(
    api.to,
    sessionSchema,
    await api.call({ method: 'POST', path: '/orders/sessions', body: session }, signal),
  )
  return {
    kind: 'opened',
    reference: opened.cf_order_id,
    // The checkout itself shows the link.
    redirectUrl: order.returnUrl,
    intentUri: checkUpiLink(api.to, data.payload.default, order.amount),
  }
}

function orderRequest(to: string, order: OpenOrder, phone: string): object {
  if (order.method !== 'upi') throw new PartnerError('misconfigured', `${to}: has no method ${order.method}`)
  if (order.amount.currency !== 'INR') throw new PartnerError('misconfigured', `${to}: charges in INR only`)
  return {
    order_id: order.attemptId,
    order_amount: toRupees(order.amount),
    order_currency: 'INR',
    order_note: shorten(order.description, 200),
    order_expiry_time: new Date(order.expiresAt * 1000).toISOString(),
    customer_details: { customer_id: order.attemptId, customer_phone: phone },
  }
}

/** A second opening is refused, because the order exists: then it is read. */
async function readCreated(
  api: JsonApi,
  { order, answer }: { readonly order: OpenOrder; readonly answer: HttpAnswer },
  signal: AbortSignal,
): Promise<Order> {
  if (answer.status === 400)
    throw new PartnerError(
      'misconfigured',
      `${api.to}: refuses our orders: ${readAs(api.to, errorSchema, answer).code}`,
    )
  const found =
    answer.status === 409 ? await api.call({ method: 'GET', path: orderPath(order.attemptId) }, signal) : answer
  const opened = readOk(api.to, orderSchema, found)
  if (opened.order_id !== order.attemptId) throw unclear(api.to, 'answered about another order')
  if (opened.order_amount !== BigInt(order.amount.minor) || opened.order_currency !== 'INR')
    throw unclear(api.to, 'has an order of another amount')
  return opened
}

/** Null if there is no such order. */
async function findOrder(api: JsonApi, attemptId: string, signal: AbortSignal): Promise<CashfreeOrder | null> {
  const read = async <T extends z.ZodType>(part: string, schema: T): Promise<z.infer<T>> =>
    readOk(api.to, schema, await api.call({ method: 'GET', path: `${orderPath(attemptId)}${part}` }, signal))
  const answer = await api.call({ method: 'GET', path: orderPath(attemptId) }, signal)
  if (answer.status === 404 && readAs(api.to, errorSchema, answer).code === 'order_not_found') return null
  const order = readOk(api.to, orderSchema, answer)
  if (order.order_id !== attemptId) throw unclear(api.to, 'answered about another order')
  const payments = await read('/payments', paymentListSchema)
  if (payments.some(({ payment_currency: currency }) => currency !== 'INR'))
    throw unclear(api.to, 'charged another currency')
  if (!payments.some(isPaid)) return { order, payments, refunds: [], disputes: [] }
  const [refunds, disputes] = await Promise.all([
    read('/refunds', refundListSchema),
    read('/disputes', disputeListSchema),
  ])
  return { order, payments, refunds, disputes }
}

function toPartnerOrder(found: CashfreeOrder, account: string): PartnerOrder {
  const { order } = found
  const isOurs = ({ refund_id: id }: Refund): boolean => id.startsWith(order.order_id) || isId('refund', id)
  const { status, received, failureCode } = readState(found, isOurs)
  const money = (paise: bigint): Money => ({ minor: paise.toString(), currency: 'INR' })
  return {
    attemptId: order.order_id,
    reference: order.cf_order_id,
    account,
    status,
    amount: money(order.order_amount),
    received: received === null ? null : money(received),
    failureCode,
    disputes: reportDisputes(found.disputes),
  }
}

/** 3 to 40 letters, digits, underscores and hyphens are allowed. */
const toRefundId = (key: string): string => key.replaceAll(':', '-')

/** The refunds of the order are read first, and one is requested only if none has the id. */
async function refund(
  api: JsonApi,
  { found, id, asked }: { readonly found: CashfreeOrder; readonly id: string; readonly asked: Money | null },
  signal: AbortSignal,
): Promise<RefundResult> {
  const { order, payments, refunds, disputes } = found
  const known = findRefund(refunds, id)
  if (known !== null) return known
  const captured = payments.filter(isPaid).reduce((total, { payment_amount: amount }) => total + amount, 0n)
  if (captured === 0n) return { kind: 'refused', reason: 'nothing was received' }
  const left = refunds
    .filter(({ refund_status: status }) => status !== 'CANCELLED' && status !== 'FAILED')
    .reduce((rest, { refund_amount: amount }) => rest - amount, captured - sumDisputes(disputes))
  if (left <= 0n) return { kind: 'refused', reason: 'already refunded' }

  const path = `${orderPath(order.order_id)}/refunds`
  const amount = toRupees(asked ?? { minor: left.toString(), currency: 'INR' })
  const answer = await api.call({ method: 'POST', path, body: { refund_id: id, refund_amount: amount } }, signal)
  const made = findRefund(readOk(api.to, refundListSchema, await api.call({ method: 'GET', path }, signal)), id)
  if (made !== null) return made
  if (answer.status === 400 || answer.status === 409)
    return { kind: 'refused', reason: readAs(api.to, errorSchema, answer).code }
  throw unclear(api.to, `answered ${answer.status} to a refund, and has none`)
}

function findRefund(refunds: readonly Refund[], id: string): RefundResult | null {
  const known = refunds.find(({ refund_id: other }) => other === id)
  return known === undefined ? null : toResult(known)
}

function toResult({ refund_status: status, status_description: why }: Refund): RefundResult {
  if (status === 'FAILED' || status === 'CANCELLED') return { kind: 'refused', reason: why ?? status.toLowerCase() }
  return { kind: status === 'SUCCESS' ? 'refunded' : 'pending' }
}

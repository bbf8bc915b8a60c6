import type { ProviderName } from '../../domain/methods.ts'
import type { Money } from '../../domain/money.ts'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { type HttpAnswer, unclear } from '../http.ts'
import { connectJsonApi, type JsonApi, type JsonCall } from '../json-api.ts'
import {
  type Driver,
  type OpenedOrder,
  type OpenOrder,
  type OrderRef,
  PartnerError,
  type PaymentPartner,
  type RefundResult,
} from '../provider.ts'
import { readAs, readCurrency, readOk, shorten } from '../reading.ts'
import { readCallback } from './callback.ts'
import { listDisputes, readDisputes, reportDispute } from './disputes.ts'
import { readState, sumLost } from './state.ts'
import {
  type Dispute,
  errorSchema,
  listSchema,
  orderSchema,
  REVOLUT_API_VERSION,
  type RevolutOrder,
  type RevolutRefund,
  refundSchema,
} from './wire.ts'

/**
 * Revolut's Merchant API: an order with a hosted page. Opening has no key, so a repeated opening makes another order;
 * only the one whose page was recorded can be paid.
 */
export const revolut: Driver = { connect, readCallback }

/** Seconds; Revolut takes whole minutes of 1 minute to 30 days. */
const LIFETIME = { least: 60, most: 30 * 86_400 }

function connectApi(to: ProviderName, { url, secret }: PartnerSettings): JsonApi {
  const headers = { authorization: `Bearer ${secret}`, 'revolut-api-version': REVOLUT_API_VERSION }
  return connectJsonApi(to, { url: `${url}/api`, headers })
}

function connect(provider: ProviderName, settings: PartnerSettings, clock: () => number): PaymentPartner {
  const api = connectApi(provider, settings)
  const toOrder = async (ref: OrderRef, order: RevolutOrder, signal: AbortSignal): Promise<PartnerOrder> => {
    const disputes = await readDisputes(api, { order, ids: ref.disputes ?? [] }, signal)
    return toPartnerOrder(provider, { order, disputes }, { attemptId: ref.attemptId, account: settings.account })
  }
  const read = async (ref: OrderRef, signal: AbortSignal) => {
    const order = await findOrder(api, ref, signal)
    return order && toOrder(ref, order, signal)
  }

  return {
    name: provider,
    lifetime: LIFETIME,
    async openOrder(order, signal) {
      const body = orderRequest(provider, order, Math.floor(clock() / 1000))
      return readOpened(provider, order, await api.call({ method: 'POST', path: '/orders', body }, signal))
    },
    readOrder: read,
    async cancelOrder(ref, signal) {
      if (ref.reference === null) return null
      const path = `${orderPath(ref.reference)}/cancel`
      const answer = await api.call({ method: 'POST', path, body: {} }, signal)
      // An order that is over cannot be canceled, and might be paid: it is read.
      const order = await findOrder(api, ref, signal)
      if (order?.state === 'pending') throw unclear(provider, `answered ${answer.status} to a cancellation`)
      return order && toOrder(ref, order, signal)
    },
    async refundOrder({ key, amount, ...ref }, signal) {
      const order = await findOrder(api, ref, signal)
      if (order === null) return { kind: 'refused', reason: 'the partner does not know the order' }
      const disputes = await readDisputes(api, { order, ids: ref.disputes ?? [] }, signal)
      return refund(api, { order, disputes, key, asked: amount }, signal)
    },
    findRefund: ({ key }, signal) => findRefund(api, key, signal),
    listDisputes: (since, signal) =>
      // A minute more, because its clock and ours differ.
      listDisputes(api, { from: since, to: Math.floor(clock() / 1000) + 60 }, signal),
  }
}

const orderPath = (id: string): string => `/orders/${encodeURIComponent(id)}`

const byReference = (reference: string): JsonCall => ({
  method: 'GET',
  path: `/orders?${new URLSearchParams({ merchant_order_data_reference: reference }).toString()}`,
})

function orderRequest(to: string, order: OpenOrder, now: number): object {
  if (order.method !== 'banking_app') throw new PartnerError('misconfigured', `${to}: has no method ${order.method}`)
  return {
    // Amounts have at most 14 digits, so a JSON number is exact.
    amount: Number(order.amount.minor),
    currency: order.amount.currency,
    description: shorten(order.description, 200),
    expire_pending_after: `PT${Math.max(1, Math.ceil((order.expiresAt - now) / 60))}M`,
    merchant_order_data: { reference: order.attemptId },
    redirect_url: order.returnUrl,
  }
}

function readOpened(to: string, order: OpenOrder, answer: HttpAnswer): OpenedOrder {
  if (answer.status === 400 || answer.status === 422)
    throw new PartnerError('misconfigured', `${to}: refuses our orders: ${readAs(to, errorSchema, answer).code}`)
  if (answer.status !== 200 && answer.status !== 201) throw unclear(to, `answered ${answer.status} to an order`)
  const opened = readAs(to, orderSchema, answer)
  if (opened.merchant_order_data.reference !== order.attemptId) throw unclear(to, 'answered about another order')
  if (opened.amount !== Number(order.amount.minor) || opened.currency !== order.amount.currency)
    throw unclear(to, 'opened an order of another amount')
  if (opened.checkout_url === undefined) throw unclear(to, 'answered with an order without a page')
  return { kind: 'opened', reference: opened.id, redirectUrl: opened.checkout_url, intentUri: null }
}

/** Null if there is no such order. */
async function findOrder(
  api: JsonApi,
  { attemptId, reference }: OrderRef,
  signal: AbortSignal,
): Promise<RevolutOrder | null> {
  if (reference === null) {
    // There is nothing to read. This call shows that Revolut responds and accepts the platform's key.
    readOk(api.to, listSchema, await api.call(byReference(attemptId), signal))
    return null
  }
  const answer = await api.call({ method: 'GET', path: orderPath(reference) }, signal)
  if (answer.status === 404 && readAs(api.to, errorSchema, answer).code === 'not_found') return null
  const order = readOk(api.to, orderSchema, answer)
  if (order.merchant_order_data.reference !== attemptId) throw unclear(api.to, 'answered about another order')
  return order
}

function toPartnerOrder(
  to: string,
  { order, disputes }: { readonly order: RevolutOrder; readonly disputes: readonly Dispute[] },
  about: { readonly attemptId: string; readonly account: string },
): PartnerOrder {
  const { status, received, failureCode } = readState(order, disputes)
  const currency = readCurrency(to, order.currency)
  const money = (minor: bigint): Money => ({ minor: minor.toString(), currency })
  const payments = (order.payments ?? []).map(({ id }) => id)
  return {
    ...about,
    reference: order.id,
    status,
    amount: money(BigInt(order.amount)),
    received: received === null ? null : money(received),
    failureCode,
    ...(payments.length > 0 && { payments }),
    disputes: disputes.map((dispute) => reportDispute(dispute, currency)),
  }
}

/** Null if there is none. */
async function findRefund(api: JsonApi, key: string, signal: AbortSignal): Promise<RefundResult | null> {
  const [found] = readOk(api.to, listSchema, await api.call(byReference(key), signal)).orders
  if (found === undefined) return null
  return readRefund(api.to, key, await api.call({ method: 'GET', path: orderPath(found.id) }, signal))
}

function readRefund(to: string, key: string, answer: HttpAnswer): RefundResult {
  const made = readAs(to, refundSchema, answer)
  if (made.merchant_order_data.reference !== key) throw unclear(to, 'answered about another refund')
  return toResult(made)
}

type Refunding = {
  readonly order: RevolutOrder
  readonly disputes: readonly Dispute[]
  readonly key: string
  readonly asked: Money | null
}

/** A refund is an order whose reference is the key: it is read first, and requested only if there is none. */
async function refund(
  api: JsonApi,
  { order, disputes, key, asked }: Refunding,
  signal: AbortSignal,
): Promise<RefundResult> {
  if (order.state !== 'completed') return { kind: 'refused', reason: 'nothing was received' }
  const known = await findRefund(api, key, signal)
  if (known !== null) return known

  const left = order.amount - (order.refunded_amount ?? 0) - Number(sumLost(disputes))
  // Amounts have at most 14 digits, so a JSON number is exact.
  const amount = asked === null ? left : Number(asked.minor)
  if (left <= 0) return { kind: 'refused', reason: 'already refunded' }
  const body = { amount, currency: order.currency, merchant_order_data: { reference: key } }
  const headers = { 'idempotency-key': key }
  const answer = await api.call({ method: 'POST', path: `${orderPath(order.id)}/refund`, body, headers }, signal)
  if (answer.status === 200 || answer.status === 201) return readRefund(api.to, key, answer)
  const made = await findRefund(api, key, signal)
  if (made !== null) return made
  if (answer.status === 400 || answer.status === 422)
    return { kind: 'refused', reason: readAs(api.to, errorSchema, answer).code }
  throw unclear(api.to, `answered ${answer.status} to a refund, and has none`)
}

function toResult({ state }: RevolutRefund): RefundResult {
  if (state === 'failed' || state === 'cancelled') return { kind: 'refused', reason: state }
  return { kind: state === 'completed' ? 'refunded' : 'pending' }
}

import type { z } from 'zod'
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
  type OrderRef,
  PartnerError,
  type PaymentPartner,
  type RefundResult,
} from '../provider.ts'
import { readAs, readOk, shorten } from '../reading.ts'
import { checkUpiLink } from '../upi-link.ts'
import { readCallback } from './callback.ts'
import { listDisputes, readDisputes, reportDispute } from './disputes.ts'
import { getRefundable, isCaptured, type RazorpayOrder, readState } from './state.ts'
import {
  ATTEMPT,
  errorSchema,
  LIST_LIMIT,
  paymentListSchema,
  qrListSchema,
  qrSchema,
  type Refund,
  refundListSchema,
} from './wire.ts'

/**
 * Razorpay's UPI QR codes for one payment each. Opening has no key, so a repeated opening makes another code; only the
 * one that was recorded is shown. An account needs the on-demand feature `image_content`.
 */
export const razorpay: Driver = { connect, readCallback }

/** Seconds. Razorpay requires at least 15 minutes by its own clock. */
const LIFETIME = { least: 16 * 60, most: 365 * 86_400 }

const QR_CODES = '/v1/payments/qr_codes'
const MISSING = 'The id provided does not exist'

function connectApi(to: ProviderName, { url, account, secret }: PartnerSettings): JsonApi {
  const authorization = `Basic ${Buffer.from(`${account}:${secret}`).toString('base64')}`
  return connectJsonApi(to, { url, headers: { authorization } })
}

function connect(provider: ProviderName, settings: PartnerSettings): PaymentPartner {
  const api = connectApi(provider, settings)
  const toOrder = ({ attemptId }: OrderRef, order: RazorpayOrder | null): PartnerOrder | null =>
    order && toPartnerOrder(order, { attemptId, account: settings.account })

  return {
    name: provider,
    lifetime: LIFETIME,
    async openOrder(order, signal) {
      const body = qrRequest(provider, order)
      return readOpened(provider, order, await api.call({ method: 'POST', path: QR_CODES, body }, signal))
    },
    async readOrder(ref, signal) {
      return toOrder(ref, await findOrder(api, ref, signal))
    },
    async cancelOrder(ref, signal) {
      if (ref.reference === null) return null
      const path = `${qrPath(ref.reference)}/close`
      const answer = await api.call({ method: 'POST', path, body: {} }, signal)
      // A closed code cannot be closed again and might be paid, so it is read.
      const order = await findOrder(api, ref, signal)
      if (order?.qr.status === 'active') throw unclear(provider, `answered ${answer.status} to a cancellation`)
      return toOrder(ref, order)
    },
    async refundOrder({ key, amount, ...ref }, signal) {
      const order = await findOrder(api, ref, signal)
      if (order === null) return { kind: 'refused', reason: 'the partner does not know the order' }
      return refund(api, { order, key, asked: amount }, signal)
    },
    async findRefund({ key, ...ref }, signal) {
      const order = await findOrder(api, ref, signal)
      return order && findRefund(order.refunds, key)
    },
    listDisputes: (since, signal) => listDisputes(api, since, signal),
  }
}

const qrPath = (id: string): string => `${QR_CODES}/${encodeURIComponent(id)}`
const paymentPath = (id: string): string => `/v1/payments/${encodeURIComponent(id)}`

function qrRequest(to: string, order: OpenOrder): object {
  if (order.method !== 'upi') throw new PartnerError('misconfigured', `${to}: has no method ${order.method}`)
  if (order.amount.currency !== 'INR') throw new PartnerError('misconfigured', `${to}: charges in INR only`)
  return {
    type: 'upi_qr',
    usage: 'single_use',
    fixed_amount: true,
    // Amounts have at most 14 digits, so a JSON number is exact.
    payment_amount: Number(order.amount.minor),
    description: shorten(order.description, 200),
    close_by: order.expiresAt,
    notes: { [ATTEMPT]: order.attemptId },
  }
}

function readOpened(to: string, order: OpenOrder, answer: HttpAnswer): OpenedOrder {
  if (answer.status === 400)
    throw new PartnerError('misconfigured', `${to}: refuses our QR codes: ${readError(to, answer).description}`)
  if (answer.status !== 200) throw unclear(to, `answered ${answer.status} to a QR code`)
  const qr = readAs(to, qrSchema, answer)
  if (qr.notes[ATTEMPT] !== order.attemptId) throw unclear(to, 'answered about another QR code')
  if (qr.payment_amount !== Number(order.amount.minor)) throw unclear(to, 'opened a QR code of another amount')
  return {
    kind: 'opened',
    reference: qr.id,
    // The checkout itself shows the code.
    redirectUrl: order.returnUrl,
    intentUri: checkUpiLink(to, qr.image_content ?? '', order.amount),
  }
}

const readError = (to: string, answer: HttpAnswer): z.infer<typeof errorSchema>['error'] =>
  readAs(to, errorSchema, answer).error

async function findOrder(
  api: JsonApi,
  { attemptId, reference, disputes: ids = [] }: OrderRef,
  signal: AbortSignal,
): Promise<RazorpayOrder | null> {
  if (reference === null) {
    // There is nothing to read. This call shows that Razorpay responds and accepts the platform's key.
    await read(api, `${QR_CODES}?count=1`, { schema: qrListSchema, signal })
    return null
  }
  const answer = await api.call({ method: 'GET', path: qrPath(reference) }, signal)
  if (answer.status === 400 && readError(api.to, answer).description === MISSING) return null
  if (answer.status !== 200) throw unclear(api.to, `answered ${answer.status} about a QR code`)
  const qr = readAs(api.to, qrSchema, answer)
  if (qr.notes[ATTEMPT] !== attemptId) throw unclear(api.to, 'answered about another QR code')
  const path = `${qrPath(reference)}/payments?count=${LIST_LIMIT}`
  const { items: payments } = await read(api, path, { schema: paymentListSchema, signal })
  if (payments.some(({ currency }) => currency !== 'INR')) throw unclear(api.to, 'charged another currency')
  const refunded = payments.filter(({ amount_refunded: amount }) => amount > 0)
  const refunds = await Promise.all(refunded.map(({ id }) => listRefunds(api, id, signal)))
  const disputes = await readDisputes(api, { payments, ids }, signal)
  return { qr, payments, refunds: refunds.flat(), disputes }
}

async function read<T extends z.ZodType>(
  api: JsonApi,
  path: string,
  { schema, signal }: { readonly schema: T; readonly signal: AbortSignal },
): Promise<z.infer<T>> {
  return readOk(api.to, schema, await api.call({ method: 'GET', path }, signal))
}

async function listRefunds(api: JsonApi, payment: string, signal: AbortSignal): Promise<readonly Refund[]> {
  const path = `${paymentPath(payment)}/refunds?count=${LIST_LIMIT}`
  return (await read(api, path, { schema: refundListSchema, signal })).items
}

function toPartnerOrder(
  order: RazorpayOrder,
  about: { readonly attemptId: string; readonly account: string },
): PartnerOrder {
  const { status, received, failureCode } = readState(order)
  const money = (minor: bigint): Money => ({ minor: minor.toString(), currency: 'INR' })
  const payments = order.payments.map(({ id }) => id)
  return {
    ...about,
    reference: order.qr.id,
    status,
    amount: money(BigInt(order.qr.payment_amount)),
    received: received === null ? null : money(received),
    failureCode,
    ...(payments.length > 0 && { payments }),
    disputes: order.disputes.map(reportDispute),
  }
}

/** A refund's receipt is its key: the refunds are read first, and one is requested only if none has it. */
async function refund(
  api: JsonApi,
  { order, key, asked }: { readonly order: RazorpayOrder; readonly key: string; readonly asked: Money | null },
  signal: AbortSignal,
): Promise<RefundResult> {
  const captured = order.payments.filter(isCaptured)
  if (captured.length === 0) return { kind: 'refused', reason: 'nothing was received' }
  const known = findRefund(order.refunds, key)
  if (known !== null) return known
  // A second payment for the code might have been refunded by Razorpay itself.
  const payment = captured.find((one) => getRefundable(one, order) >= Number(asked?.minor ?? 1))
  if (payment === undefined) return { kind: 'refused', reason: 'already refunded' }

  const amount = asked === null ? getRefundable(payment, order) : Number(asked.minor)
  const body = { amount, receipt: key }
  // Letters, digits, underscores and hyphens are allowed.
  const headers = { 'x-refund-idempotency': key.replaceAll(':', '-') }
  const answer = await api.call({ method: 'POST', path: `${paymentPath(payment.id)}/refund`, body, headers }, signal)
  const made = findRefund(await listRefunds(api, payment.id, signal), key)
  if (made !== null) return made
  if (answer.status === 400) return { kind: 'refused', reason: readError(api.to, answer).description }
  throw unclear(api.to, `answered ${answer.status} to a refund, and has none`)
}

function findRefund(refunds: readonly Refund[], key: string): RefundResult | null {
  const known = refunds.find(({ receipt }) => receipt === key)
  return known === undefined ? null : toResult(known)
}

function toResult({ status }: Refund): RefundResult {
  if (status === 'failed') return { kind: 'refused', reason: 'the refund has failed' }
  return { kind: status === 'processed' ? 'refunded' : 'pending' }
}

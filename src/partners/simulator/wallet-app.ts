import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { formatAmount, type Money, parseAmount } from '../../domain/money.ts'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import type {
  CallbackReading,
  FailureCode,
  OrderStatus,
  PartnerOrder,
  RawCallback,
} from '../../domain/payment/partner.ts'
import { ask, type HttpAnswer, unclear } from '../http.ts'
import type { CallbackSettings, Driver, OpenedOrder, OpenOrder, PaymentPartner, RefundResult } from '../provider.ts'
import { FOREIGN, readAs, readCallbackBody, readCurrency, refused, shorten } from '../reading.ts'
import { hmacSha256, isInWindow, isSigned, parseTimestamp, sha256Hex } from '../signature.ts'

/** The protocol is in docs/providers.md. Every request is signed over method, path, time, nonce and body. */

const NAME = 'wallet_app'

const STATES = {
  AWAITING_PAYMENT: 'open',
  IDENTITY_CHECK: 'verification_required',
  PROCESSING: 'confirming',
  UNDER_REVIEW: 'on_hold',
  COMPLETED: 'paid',
  DECLINED: 'declined',
  REVERSED: 'declined',
  CANCELLED: 'canceled',
  EXPIRED: 'expired',
  REFUNDED: 'refunded',
} as const satisfies Record<string, OrderStatus>

const DECLINE_REASONS: Readonly<Record<string, FailureCode>> = {
  INSUFFICIENT_BALANCE: 'insufficient_funds',
  IDENTITY_CHECK_FAILED: 'verification_failed',
  CUSTOMER_LEFT: 'abandoned',
  REVERSED: 'reversed',
  SERVICE_UNAVAILABLE: 'partner_unavailable',
}

const amountSchema = z.object({ value: z.string(), currency: z.string() })
const orderSchema = z.object({
  id: z.string().min(1).max(100),
  merchant_order_ref: z.string(),
  merchant_id: z.string(),
  state: z.enum(Object.keys(STATES) as [keyof typeof STATES]),
  amount: amountSchema,
  received: amountSchema.nullable(),
  decline_reason: z.string().nullable(),
  pay_url: z.url({ protocol: /^https?$/ }),
})
const refundSchema = z.object({
  refund_ref: z.string(),
  state: z.enum(['COMPLETED', 'PENDING', 'REJECTED']),
  reject_reason: z.string().nullable(),
})
const problemSchema = z.object({ code: z.string(), reason: z.string().optional() })
const eventSchema = z.object({
  event_id: z.string().min(1).max(100),
  merchant_id: z.string(),
  order: z.object({ merchant_order_ref: z.string().min(1).max(100) }),
})

export const walletApp: Driver = { connect: (_provider, settings) => connect(settings), readCallback }

function connect(settings: PartnerSettings): PaymentPartner {
  const call = (method: 'GET' | 'POST', request: { path: string; body?: object }, signal: AbortSignal) =>
    sendSigned(settings, { method, ...request }, signal)
  const orderPath = (attemptId: string) => `/orders/by-ref/${encodeURIComponent(attemptId)}`

  return {
    name: NAME,
    async openOrder(order, signal) {
      const answer = await call('POST', { path: '/orders', body: orderRequest(order) }, signal)
      return readOpened(order, answer)
    },
    async readOrder({ attemptId }, signal) {
      return readFound(attemptId, await call('GET', { path: orderPath(attemptId) }, signal))
    },
    async cancelOrder({ attemptId }, signal) {
      return readFound(attemptId, await call('POST', { path: `${orderPath(attemptId)}/cancel`, body: {} }, signal))
    },
    async refundOrder({ attemptId, key, amount }, signal) {
      const path = `${orderPath(attemptId)}/refunds`
      const part = amount === null ? {} : { amount: { value: formatAmount(amount), currency: amount.currency } }
      return readRefund(key, await call('POST', { path, body: { refund_ref: key, ...part } }, signal))
    },
    async findRefund({ attemptId, key }, signal) {
      const path = `${orderPath(attemptId)}/refunds/${encodeURIComponent(key)}`
      return readFoundRefund(key, await call('GET', { path }, signal))
    },
  }
}

type SignedRequest = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: object }

function sendSigned(settings: PartnerSettings, request: SignedRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const url = new URL(`${settings.url}/v2${request.path}`)
  const body = request.body && JSON.stringify(request.body)
  const timestamp = Math.floor(Date.now() / 1000).toString()
  const nonce = randomBytes(16).toString('hex')
  const signed = [
    'wallet-app-request',
    request.method,
    url.pathname,
    settings.account,
    timestamp,
    nonce,
    sha256Hex(body ?? ''),
  ].join('\n')
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'x-merchant-id': settings.account,
    'x-timestamp': timestamp,
    'x-nonce': nonce,
    'x-signature': hmacSha256(settings.secret, signed, 'hex'),
  }
  return ask({ to: NAME, method: request.method, url: url.href, headers, body }, signal)
}

function orderRequest(order: OpenOrder): object {
  return {
    merchant_order_ref: order.attemptId,
    amount: { value: formatAmount(order.amount), currency: order.amount.currency },
    description: shorten(order.description, 200),
    return_url: order.returnUrl,
    expires_at: new Date(order.expiresAt * 1000).toISOString(),
  }
}

function readOpened(order: OpenOrder, answer: HttpAnswer): OpenedOrder {
  if (answer.status === 422) {
    const problem = readAs(NAME, problemSchema, answer)
    if (problem.code !== 'ORDER_DECLINED') throw unclear(NAME, 'did not take our order')
    return { kind: 'declined', failureCode: toFailureCode(problem.reason ?? '') }
  }
  if (answer.status !== 200 && answer.status !== 201) throw unclear(NAME, `answered ${answer.status} to an order`)
  const opened = readAs(NAME, orderSchema, answer)
  const { amount } = toOrder(order.attemptId, opened)
  if (amount.minor !== order.amount.minor || amount.currency !== order.amount.currency)
    throw unclear(NAME, 'opened an order of another amount')
  return { kind: 'opened', reference: opened.id, redirectUrl: opened.pay_url, intentUri: null }
}

/** Returns null only if the partner itself reports that there is no such order. Any other 404 comes from a proxy in between. */
function readFound(attemptId: string, answer: HttpAnswer): PartnerOrder | null {
  if (answer.status === 404 && readAs(NAME, problemSchema, answer).code === 'ORDER_NOT_FOUND') return null
  if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} about an order`)
  return toOrder(attemptId, readAs(NAME, orderSchema, answer))
}

function toOrder(attemptId: string, order: z.infer<typeof orderSchema>): PartnerOrder {
  if (order.merchant_order_ref !== attemptId) throw unclear(NAME, 'answered about another order')
  const status = STATES[order.state]
  return {
    attemptId,
    reference: order.id,
    account: order.merchant_id,
    status,
    amount: toMoney(order.amount),
    received: order.received === null || isZeroText(order.received.value) ? null : toMoney(order.received),
    failureCode: status === 'declined' ? toFailureCode(order.decline_reason ?? '') : null,
  }
}

/** True for zero, which only the received amount can be. */
const isZeroText = (value: string): boolean => /^0(\.0+)?$/.test(value)

function toMoney(amount: z.infer<typeof amountSchema>): Money {
  const parsed = parseAmount(amount.value, readCurrency(NAME, amount.currency))
  if (parsed.ok) return parsed.money
  throw unclear(NAME, 'answered with an amount that cannot be read')
}

function toFailureCode(reason: string): FailureCode {
  return DECLINE_REASONS[reason] ?? 'declined'
}

function readFoundRefund(key: string, answer: HttpAnswer): RefundResult | null {
  if (answer.status !== 404) return readRefund(key, answer)
  const { code } = readAs(NAME, problemSchema, answer)
  if (code === 'REFUND_NOT_FOUND' || code === 'ORDER_NOT_FOUND') return null
  throw unclear(NAME, 'answered 404 about a refund')
}

function readRefund(key: string, answer: HttpAnswer): RefundResult {
  if (answer.status === 404 && readAs(NAME, problemSchema, answer).code === 'ORDER_NOT_FOUND')
    return { kind: 'refused', reason: 'the partner does not know the order' }
  if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} to a refund`)
  const refund = readAs(NAME, refundSchema, answer)
  if (refund.refund_ref !== key) throw unclear(NAME, 'answered about another refund')
  if (refund.state === 'REJECTED') return { kind: 'refused', reason: refund.reject_reason ?? 'no reason given' }
  return { kind: refund.state === 'COMPLETED' ? 'refunded' : 'pending' }
}

/** The signature covers `wallet-app-callback`, the timestamp and the raw body, joined by line feeds. */
function readCallback(settings: CallbackSettings, callback: RawCallback): CallbackReading {
  const header = callback.headers['x-callback-signature']
  const timestamp = parseTimestamp(callback.headers['x-callback-timestamp'])
  if (header === undefined) return refused('signature')
  if (timestamp === null) return refused('timestamp')
  const signed = Buffer.concat([Buffer.from(`wallet-app-callback\n${timestamp}\n`), callback.body])
  const signatures = header.split(',').map((part) => part.trim())
  if (!isSigned(signatures, settings.webhookSecrets, (secret) => hmacSha256(secret, signed, 'hex')))
    return refused('signature')
  if (!isInWindow(timestamp, callback.receivedAt)) return refused('timestamp')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  if (event.merchant_id !== settings.account) return FOREIGN
  return { kind: 'order', eventId: event.event_id, subject: { attemptId: event.order.merchant_order_ref } }
}

import { z } from 'zod'
import type { MethodName } from '../../domain/methods.ts'
import type { Money } from '../../domain/money.ts'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import type {
  CallbackReading,
  FailureCode,
  OrderStatus,
  PartnerOrder,
  RawCallback,
} from '../../domain/payment/partner.ts'
import { ask, type HttpAnswer, unclear } from '../http.ts'
import {
  type CallbackSettings,
  type Driver,
  type OpenedOrder,
  type OpenOrder,
  PartnerError,
  type PaymentPartner,
  type RefundResult,
} from '../provider.ts'
import { FOREIGN, readAs, readCallbackBody, readCurrency, refused, shorten } from '../reading.ts'
import { hmacSha256, isInWindow, isSigned, parseTimestamp } from '../signature.ts'

/** The protocol is in docs/providers.md. A session has a status and a separate payment status. */

const NAME = 'card_partner'

const PAYMENT_STATUSES = {
  requires_payment: 'open',
  requires_identity: 'verification_required',
  pending: 'confirming',
  in_review: 'on_hold',
  paid: 'paid',
  failed: 'declined',
  refunded: 'refunded',
} as const satisfies Record<string, OrderStatus>

/** Session statuses of an order that was closed before any payment, whatever the payment status is. */
const CLOSED_SESSIONS: Readonly<Record<string, OrderStatus>> = { canceled: 'canceled', expired: 'expired' }

const FAILURES: Readonly<Record<string, FailureCode>> = {
  card_declined: 'declined',
  insufficient_funds: 'insufficient_funds',
  identity_failed: 'verification_failed',
  customer_left: 'abandoned',
  payment_reversed: 'reversed',
  processor_unavailable: 'partner_unavailable',
}

const PAYMENT_METHOD_TYPES: Readonly<Partial<Record<MethodName, string>>> = {
  card: 'card',
  device_wallet: 'device_wallet',
  online_wallet: 'online_wallet',
}

const minorSchema = z.int().min(0)
const sessionSchema = z.object({
  object: z.literal('session'),
  id: z.string().min(1).max(100),
  account: z.string(),
  client_reference: z.string(),
  status: z.enum(['open', 'complete', 'canceled', 'expired']),
  payment_status: z.enum(Object.keys(PAYMENT_STATUSES) as [keyof typeof PAYMENT_STATUSES]),
  amount: minorSchema,
  /** Less than zero after a dispute that cost more than was received. */
  amount_received: z.int(),
  currency: z.string(),
  last_error: z.object({ code: z.string() }).nullable(),
  url: z.url({ protocol: /^https?$/ }),
})
type Session = z.infer<typeof sessionSchema>

const listSchema = z.object({ object: z.literal('list'), data: z.array(sessionSchema).max(2) })
const refundSchema = z.object({
  object: z.literal('refund'),
  session: z.string(),
  status: z.enum(['succeeded', 'pending', 'failed']),
  failure_reason: z.string().nullable(),
})
const refundListSchema = z.object({ object: z.literal('list'), data: z.array(refundSchema).max(1) })
const errorSchema = z.object({ error: z.object({ type: z.string(), code: z.string() }) })
const eventSchema = z.object({
  id: z.string().min(1).max(100),
  object: z.literal('event'),
  account: z.string(),
  data: z.object({ object: z.object({ client_reference: z.string().min(1).max(100) }) }),
})

export const cardPartner: Driver = { connect: (_provider, settings) => connect(settings), readCallback }

function connect(settings: PartnerSettings): PaymentPartner {
  const post = (path: string, request: FormRequest, signal: AbortSignal) =>
    postForm(settings, { path, ...request }, signal)

  async function find(attemptId: string, signal: AbortSignal): Promise<Session | null> {
    const answer = await get(settings, `/v1/sessions?client_reference=${encodeURIComponent(attemptId)}`, signal)
    if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} about a session`)
    const { data } = readAs(NAME, listSchema, answer)
    if (data.length > 1) throw unclear(NAME, 'knows more than one session for our reference')
    return data[0] ?? null
  }

  return {
    name: NAME,
    async openOrder(order, signal) {
      const form = sessionForm(order)
      return readOpened(order, await post('/v1/sessions', { form, key: order.attemptId }, signal))
    },
    async readOrder({ attemptId }, signal) {
      const session = await find(attemptId, signal)
      return session === null ? null : toOrder(attemptId, session)
    },
    async cancelOrder({ attemptId }, signal) {
      const session = await find(attemptId, signal)
      if (session === null) return null
      const path = `/v1/sessions/${encodeURIComponent(session.id)}/cancel`
      const answer = await post(path, { form: {}, key: `${attemptId}:cancel` }, signal)
      if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} to a cancellation`)
      return toOrder(attemptId, readAs(NAME, sessionSchema, answer))
    },
    async refundOrder({ attemptId, key, amount }, signal) {
      const session = await find(attemptId, signal)
      if (session === null) return { kind: 'refused', reason: 'the partner does not know the order' }
      const form = { session: session.id, ...(amount !== null && { amount: amount.minor }) }
      const answer = await post('/v1/refunds', { form, key }, signal)
      if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} to a refund`)
      return toResult(session.id, readAs(NAME, refundSchema, answer))
    },
    async findRefund({ attemptId, key }, signal) {
      const session = await find(attemptId, signal)
      if (session === null) return null
      const query = new URLSearchParams({ session: session.id, key }).toString()
      const answer = await get(settings, `/v1/refunds?${query}`, signal)
      if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} about a refund`)
      const [known] = readAs(NAME, refundListSchema, answer).data
      return known === undefined ? null : toResult(session.id, known)
    },
  }
}

type FormRequest = { readonly form: Readonly<Record<string, string>>; readonly key: string }

function postForm(
  settings: PartnerSettings,
  request: FormRequest & { readonly path: string },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const headers = {
    ...identity(settings),
    'content-type': 'application/x-www-form-urlencoded',
    'idempotency-key': request.key,
  }
  const body = new URLSearchParams(request.form).toString()
  return ask({ to: NAME, method: 'POST', url: `${settings.url}${request.path}`, headers, body }, signal)
}

function get(settings: PartnerSettings, path: string, signal: AbortSignal): Promise<HttpAnswer> {
  return ask({ to: NAME, method: 'GET', url: `${settings.url}${path}`, headers: identity(settings) }, signal)
}

function identity(settings: PartnerSettings): Record<string, string> {
  return { accept: 'application/json', authorization: `Bearer ${settings.secret}`, 'partner-account': settings.account }
}

function sessionForm(order: OpenOrder): Record<string, string> {
  const type = PAYMENT_METHOD_TYPES[order.method]
  if (type === undefined) throw new PartnerError('misconfigured', `${NAME}: has no method ${order.method}`)
  return {
    client_reference: order.attemptId,
    amount: order.amount.minor,
    currency: order.amount.currency.toLowerCase(),
    payment_method_type: type,
    description: shorten(order.description, 200),
    return_url: order.returnUrl,
    expires_at: order.expiresAt.toString(),
  }
}

function readOpened(order: OpenOrder, answer: HttpAnswer): OpenedOrder {
  if (answer.status === 402) {
    const { error } = readAs(NAME, errorSchema, answer)
    if (error.type !== 'card_error') throw unclear(NAME, 'did not take our session')
    return { kind: 'declined', failureCode: toFailureCode(error.code) }
  }
  if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status} to a session`)
  const session = readAs(NAME, sessionSchema, answer)
  const { amount } = toOrder(order.attemptId, session)
  if (amount.minor !== order.amount.minor || amount.currency !== order.amount.currency)
    throw unclear(NAME, 'opened a session of another amount')
  return { kind: 'opened', reference: session.id, redirectUrl: session.url, intentUri: null }
}

function toOrder(attemptId: string, session: Session): PartnerOrder {
  if (session.client_reference !== attemptId) throw unclear(NAME, 'answered about another session')
  const status = CLOSED_SESSIONS[session.status] ?? PAYMENT_STATUSES[session.payment_status]
  return {
    attemptId,
    reference: session.id,
    account: session.account,
    status,
    amount: toMoney(session.amount, session.currency),
    received: session.amount_received === 0 ? null : toMoney(session.amount_received, session.currency),
    failureCode: status === 'declined' ? toFailureCode(session.last_error?.code ?? '') : null,
  }
}

function toMoney(minor: number, currency: string): Money {
  return { minor: minor.toString(), currency: readCurrency(NAME, currency.toUpperCase()) }
}

function toFailureCode(code: string): FailureCode {
  return FAILURES[code] ?? 'declined'
}

function toResult(sessionId: string, refund: z.infer<typeof refundSchema>): RefundResult {
  if (refund.session !== sessionId) throw unclear(NAME, 'answered about another refund')
  if (refund.status === 'failed') return { kind: 'refused', reason: refund.failure_reason ?? 'no reason given' }
  return { kind: refund.status === 'succeeded' ? 'refunded' : 'pending' }
}

/** `Card-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]`; signed: `<t>.<raw body>`. */
function readCallback(settings: CallbackSettings, callback: RawCallback): CallbackReading {
  const parts = (callback.headers['card-signature'] ?? '').split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (signatures.length === 0) return refused('signature')
  const timestamp = times.length === 1 ? parseTimestamp(times[0]) : null
  if (timestamp === null) return refused('timestamp')
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), callback.body])
  if (!isSigned(signatures, settings.webhookSecrets, (secret) => hmacSha256(secret, signed, 'hex')))
    return refused('signature')
  if (!isInWindow(timestamp, callback.receivedAt)) return refused('timestamp')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  if (event.account !== settings.account) return FOREIGN
  return { kind: 'order', eventId: event.id, subject: { attemptId: event.data.object.client_reference } }
}

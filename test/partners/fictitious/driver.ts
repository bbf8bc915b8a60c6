import type { z } from 'zod'
import type { ProviderName } from '../../../src/domain/methods.ts'
import type { PartnerSettings } from '../../../src/domain/partner/drivers.ts'
import type {
  CallbackReading,
  FailureCode,
  OrderStatus,
  PartnerOrder,
  RawCallback,
} from '../../../src/domain/payment/partner.ts'
import { FAILURE_CODES } from '../../../src/domain/payment/partner.ts'
import { type HttpAnswer, unclear } from '../../../src/partners/http.ts'
import { connectJsonApi } from '../../../src/partners/json-api.ts'
import type {
  CallbackSettings,
  Driver,
  OpenedOrder,
  OpenOrder,
  PaymentPartner,
  RefundResult,
} from '../../../src/partners/provider.ts'
import { FOREIGN, readAs, readCallbackBody, readCurrency, refused, shorten } from '../../../src/partners/reading.ts'
import { hmacSha256, isInWindow, isSigned, parseTimestamp } from '../../../src/partners/signature.ts'
import { errorSchema, eventSchema, type Order, orderSchema, refundSchema } from './wire.ts'

export const kestrel: Driver = { connect, readCallback }

const STATUSES: Readonly<Record<Order['phase'], OrderStatus>> = {
  waiting: 'open',
  requires_identity: 'verification_required',
  settling: 'confirming',
  held: 'on_hold',
  paid: 'paid',
  refused: 'declined',
  left: 'canceled',
  lapsed: 'expired',
  returned: 'refunded',
}

function connect(provider: ProviderName, settings: PartnerSettings): PaymentPartner {
  const headers = { authorization: `Token ${settings.secret}`, 'kestrel-customer': settings.account }
  const api = connectJsonApi(provider, { url: `${settings.url}/kestrel`, headers })
  const path = (attemptId: string, act = ''): string => `/orders/${encodeURIComponent(attemptId)}${act}`
  const toOrder = (attemptId: string, answer: HttpAnswer): PartnerOrder | null => {
    if (answer.status === 404 && readAs(provider, errorSchema, answer).problem === 'no_order') return null
    if (answer.status !== 200) throw unclear(provider, `answered ${answer.status} about an order`)
    const order = readAs(provider, orderSchema, answer)
    if (order.ref !== attemptId) throw unclear(provider, 'answered about another order')
    return toPartnerOrder(provider, order)
  }
  return {
    name: provider,
    async openOrder(order, signal) {
      const body = {
        ref: order.attemptId,
        price: order.amount.minor,
        currency: order.amount.currency,
        about: shorten(order.description, 100),
        back: order.returnUrl,
        until: order.expiresAt,
      }
      return readOpened(provider, order, await api.call({ method: 'POST', path: '/orders', body }, signal))
    },
    async readOrder({ attemptId }, signal) {
      return toOrder(attemptId, await api.call({ method: 'GET', path: path(attemptId) }, signal))
    },
    async cancelOrder({ attemptId }, signal) {
      return toOrder(attemptId, await api.call({ method: 'POST', path: path(attemptId, '/leave'), body: {} }, signal))
    },
    async refundOrder({ attemptId, key, amount }, signal) {
      const body = { key, price: amount?.minor ?? null }
      const answer = await api.call({ method: 'POST', path: path(attemptId, '/return'), body }, signal)
      if (answer.status === 404) return { kind: 'refused', reason: readAs(provider, errorSchema, answer).problem }
      if (answer.status !== 200) throw unclear(provider, `answered ${answer.status} to a refund`)
      return toResult(readAs(provider, refundSchema, answer))
    },
    async findRefund({ attemptId, key }, signal) {
      const query = new URLSearchParams({ key }).toString()
      const answer = await api.call({ method: 'GET', path: path(attemptId, `/return?${query}`) }, signal)
      if (answer.status === 404 && readAs(provider, errorSchema, answer).problem === 'no_return') return null
      if (answer.status !== 200) throw unclear(provider, `answered ${answer.status} about a refund`)
      return toResult(readAs(provider, refundSchema, answer))
    },
  }
}

function toResult({ state, why }: z.infer<typeof refundSchema>): RefundResult {
  if (state === 'refused') return { kind: 'refused', reason: why ?? state }
  return { kind: state === 'done' ? 'refunded' : 'pending' }
}

const toFailureCode = (why: string | null | undefined): FailureCode =>
  why !== undefined && why !== null && why in FAILURE_CODES ? (why as FailureCode) : 'declined'

function readOpened(to: string, order: OpenOrder, answer: HttpAnswer): OpenedOrder {
  if (answer.status === 422)
    return { kind: 'declined', failureCode: toFailureCode(readAs(to, errorSchema, answer).why) }
  if (answer.status !== 200) throw unclear(to, `answered ${answer.status} to an order`)
  const opened = readAs(to, orderSchema, answer)
  if (opened.ref !== order.attemptId || opened.price !== order.amount.minor)
    throw unclear(to, 'answered about another order')
  return { kind: 'opened', reference: opened.number, redirectUrl: opened.page, intentUri: null }
}

function toPartnerOrder(to: string, { ref, number, customer, phase, price, currency, got, why }: Order): PartnerOrder {
  const money = (minor: string) => ({ minor, currency: readCurrency(to, currency) })
  const status = STATUSES[phase]
  return {
    attemptId: ref,
    reference: number,
    account: customer,
    status,
    amount: money(price),
    received: got === null ? null : money(got),
    failureCode: status === 'declined' ? toFailureCode(why) : null,
  }
}

/** `Kestrel-Proof: <unix seconds> <hex>`; signed: the time, a line feed and the raw body. */
function readCallback({ account, webhookSecrets }: CallbackSettings, callback: RawCallback): CallbackReading {
  const [time, signature = ''] = (callback.headers['kestrel-proof'] ?? '').split(' ')
  if (signature === '') return refused('signature')
  const seconds = parseTimestamp(time)
  if (seconds === null) return refused('timestamp')
  const signed = Buffer.concat([Buffer.from(`${seconds}\n`), callback.body])
  if (!isSigned([signature], webhookSecrets, (secret) => hmacSha256(secret, signed, 'hex'))) return refused('signature')
  if (!isInWindow(seconds, callback.receivedAt)) return refused('timestamp')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  if (event.order.customer !== account) return FOREIGN
  return { kind: 'order', eventId: event.event, subject: { attemptId: event.order.ref } }
}

import type { MethodName } from '../../domain/methods.ts'
import { unclear } from '../http.ts'
import { type OpenedOrder, type OpenOrder, PartnerError } from '../provider.ts'
import { readAs, readCurrency, shorten } from '../reading.ts'
import { sha256Hex } from '../signature.ts'
import { fromStripeAmount, toStripeAmount } from './amount.ts'
import type { StripeApi } from './api.ts'
import { expand } from './orders.ts'
import { toFailureCode } from './state.ts'
import { ATTEMPT, type Session, type StripeError, sessionSchema } from './wire.ts'

/** Checkout shows the device's wallet next to the card. */
const METHOD_TYPES: Readonly<Partial<Record<MethodName, string>>> = {
  card: 'card',
  device_wallet: 'card',
  online_wallet: 'link',
  banking_app: 'revolut_pay',
}

/** Stripe refuses other content under one key. A later expiry therefore opens another session. No buyer has seen the first one. */
export async function openSession(api: StripeApi, order: OpenOrder, signal: AbortSignal): Promise<OpenedOrder> {
  const form = sessionForm(api.to, order)
  const key = `${order.attemptId}:${sha256Hex(JSON.stringify(form)).slice(0, 16)}`
  const answer = await api.post('/v1/checkout/sessions', { form, key }, signal)
  if (answer.status === 200) return readOpened(api.to, order, readAs(api.to, sessionSchema, answer))
  return refuseOpening(api.to, api.readError(answer), answer.status)
}

function sessionForm(to: string, order: OpenOrder): Record<string, string> {
  const type = METHOD_TYPES[order.method]
  if (type === undefined) throw new PartnerError('misconfigured', `${to}: has no method ${order.method}`)
  return {
    mode: 'payment',
    'payment_method_types[0]': type,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': order.amount.currency.toLowerCase(),
    'line_items[0][price_data][unit_amount]': toStripeAmount(order.amount),
    'line_items[0][price_data][product_data][name]': shorten(order.description, 200),
    client_reference_id: order.attemptId,
    [`payment_intent_data[metadata][${ATTEMPT}]`]: order.attemptId,
    success_url: order.returnUrl,
    cancel_url: order.returnUrl,
    expires_at: `${order.expiresAt}`,
    // Otherwise the buyer might be charged in another currency.
    'adaptive_pricing[enabled]': 'false',
    ...expand(),
  }
}

function readOpened(to: string, order: OpenOrder, session: Session): OpenedOrder {
  if (session.client_reference_id !== order.attemptId) throw unclear(to, 'answered about another session')
  const amount = fromStripeAmount(BigInt(session.amount_total), readCurrency(to, session.currency.toUpperCase()))
  if (amount?.minor !== order.amount.minor || amount.currency !== order.amount.currency)
    throw unclear(to, 'opened a session of another amount')
  if (session.url === null) throw unclear(to, 'answered with a session that is over')
  return { kind: 'opened', reference: session.id, redirectUrl: session.url, intentUri: null }
}

/** Stripe does not charge these amounts. Another method might accept them. */
const AMOUNT_REFUSALS: readonly (string | undefined)[] = ['amount_too_large', 'amount_too_small']

function refuseOpening(to: string, error: StripeError, status: number): OpenedOrder {
  if (error.type === 'card_error') return { kind: 'declined', failureCode: toFailureCode(error) }
  if (AMOUNT_REFUSALS.includes(error.code)) return { kind: 'declined', failureCode: 'partner_unavailable' }
  if (status !== 400 || error.type === 'idempotency_error') throw unclear(to, `answered ${status} to a session`)
  const about = [error.code ?? error.type, error.param].filter((part) => part !== undefined)
  throw new PartnerError('misconfigured', `${to}: refuses our sessions: ${about.join(' ')}`)
}

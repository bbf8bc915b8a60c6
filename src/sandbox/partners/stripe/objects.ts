import type { Currency } from '../../../domain/currencies.ts'
import type { FailureCode } from '../../../domain/payment/partner.ts'
import { countPaid, type SandboxOrder } from '../order.ts'

/**
 * Stripe's objects (https://docs.stripe.com/api) that show an order: a session, its payment with a charge, refunds,
 * disputes and a review. Their ids have one suffix.
 */

const DECLINE_CODES: Readonly<Record<FailureCode, string>> = {
  declined: 'generic_decline',
  insufficient_funds: 'insufficient_funds',
  verification_failed: 'authentication_required',
  abandoned: 'generic_decline',
  reversed: 'generic_decline',
  partner_unavailable: 'issuer_not_available',
}

/** Stripe counts Icelandic krónur in hundredths. */
const unit = (currency: string): bigint => (currency.toUpperCase() === 'ISK' ? 100n : 1n)

export const toWire = (minor: bigint, currency: string): number => Number(minor * unit(currency))
export const fromWire = (amount: string, currency: Currency): string => (BigInt(amount) / unit(currency)).toString()

export const SESSION_ID = 'cs_test_'

export const objectId = (order: SandboxOrder, prefix: string): string =>
  `${prefix}_${order.reference.slice(SESSION_ID.length)}`

export const findSessionId = (paymentIntent: string): string => `${SESSION_ID}${paymentIntent.replace(/^pi_/, '')}`

const isReversed = ({ status, failureCode }: SandboxOrder): boolean =>
  status === 'declined' && failureCode === 'reversed'

const isPaid = (order: SandboxOrder): boolean =>
  ['paid', 'on_hold', 'refunded'].includes(order.status) || isReversed(order)

const isUnpaid = (order: SandboxOrder): boolean => ['open', 'canceled', 'expired'].includes(order.status)

/** Stripe charges exactly the price. If less was received, a part was refunded. */
function captured(order: SandboxOrder): bigint {
  const paid = countPaid(order)
  return paid > BigInt(order.minor) ? paid : BigInt(order.minor)
}

/** The part that went back without a refund of the platform. */
const givenBack = (order: SandboxOrder): bigint => (order.status === 'paid' ? captured(order) - countPaid(order) : 0n)

type Listed = { readonly object: 'list'; readonly has_more: false; readonly data: readonly object[] }
const list = (data: readonly object[]): Listed => ({ object: 'list', has_more: false, data })

export function refunds(order: SandboxOrder): Listed {
  const base = {
    object: 'refund',
    charge: objectId(order, 'ch'),
    payment_intent: objectId(order, 'pi'),
    currency: order.currency.toLowerCase(),
  }
  const part = givenBack(order)
  const data: object[] = []
  if (part > 0n)
    data.push({
      ...base,
      id: objectId(order, 're_part'),
      amount: toWire(part, order.currency),
      status: 'succeeded',
      metadata: {},
    })
  for (const [place, { key, minor, isDone }] of order.refunds.entries())
    data.push({
      ...base,
      id: objectId(order, `re_${place}`),
      amount: toWire(BigInt(minor), order.currency),
      status: isDone ? 'succeeded' : 'pending',
      metadata: { key },
    })
  return list(data)
}

export function disputes(order: SandboxOrder): Listed {
  return list(order.dispute === null ? [] : [dispute(order, order.dispute)])
}

type DisputePage = { readonly since: number; readonly limit: number; readonly after: string | null }

/** A page of the disputes about all orders, the newest first. */
export function disputePage(orders: readonly SandboxOrder[], { since, limit, after }: DisputePage): object {
  const all = orders
    .toReversed()
    .flatMap((order) => (order.dispute === null ? [] : dispute(order, order.dispute)))
    .filter(({ created }) => created >= since)
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  return { ...list(all.slice(start, start + limit)), has_more: all.length > start + limit }
}

/** Seconds for which evidence is taken. */
const RESPOND_SECONDS = 14 * 86_400

/** Minor units that Stripe charges for a dispute. */
const DISPUTE_FEE = 2000

export function dispute(order: SandboxOrder, about: NonNullable<SandboxOrder['dispute']>) {
  const { status, answer, submissions, evidence } = about
  const created = Math.floor(order.openedAt / 1000) + 1
  const currency = order.currency.toLowerCase()
  return {
    id: objectId(order, 'du'),
    object: 'dispute',
    created,
    amount: toWire(captured(order), order.currency),
    currency,
    charge: objectId(order, 'ch'),
    payment_intent: objectId(order, 'pi'),
    reason: 'fraudulent',
    status,
    metadata: answer === null ? {} : { answer },
    evidence: Object.fromEntries(evidence.map((name) => [name, 'given'])),
    evidence_details: {
      due_by: created + RESPOND_SECONDS,
      has_evidence: evidence.length > 0,
      past_due: false,
      submission_count: submissions,
    },
    payment_method_details: { type: 'card', card: { brand: 'visa', network_reason_code: '10.4' } },
    balance_transactions: [
      { object: 'balance_transaction', currency, fee: status === 'won' ? 0 : DISPUTE_FEE, type: 'adjustment' },
    ],
  }
}

function charge(order: SandboxOrder): object {
  const back = givenBack(order) + order.refunds.reduce((sum, { minor }) => sum + BigInt(minor), 0n)
  return {
    id: objectId(order, 'ch'),
    object: 'charge',
    amount: toWire(captured(order), order.currency),
    amount_captured: toWire(captured(order), order.currency),
    amount_refunded: toWire(back, order.currency),
    currency: order.currency.toLowerCase(),
    disputed: order.dispute !== null,
    metadata: { attempt: order.attemptId },
    payment_intent: objectId(order, 'pi'),
  }
}

function paymentStatus(order: SandboxOrder): string {
  if (isPaid(order)) return 'succeeded'
  if (order.status === 'confirming') return 'processing'
  return order.status === 'verification_required' ? 'requires_action' : 'requires_payment_method'
}

function paymentIntent(order: SandboxOrder): object {
  const { status, failureCode } = order
  const error =
    status === 'declined' && failureCode !== null && !isReversed(order)
      ? { type: 'card_error', code: 'card_declined', decline_code: DECLINE_CODES[failureCode] }
      : null
  return {
    id: objectId(order, 'pi'),
    object: 'payment_intent',
    status: paymentStatus(order),
    amount: toWire(BigInt(order.minor), order.currency),
    currency: order.currency.toLowerCase(),
    latest_charge: isPaid(order) ? charge(order) : null,
    last_payment_error: failureCode === 'partner_unavailable' ? { type: 'api_error' } : error,
    metadata: { attempt: order.attemptId },
    review: status === 'on_hold' ? review(order) : null,
  }
}

const review = (order: SandboxOrder): object => ({
  id: objectId(order, 'prv'),
  object: 'review',
  open: true,
  charge: objectId(order, 'ch'),
  payment_intent: objectId(order, 'pi'),
})

const SESSION_STATUS: Readonly<Record<string, string>> = {
  open: 'open',
  verification_required: 'open',
  canceled: 'expired',
  expired: 'expired',
}

/** As an event shows it, with the id of the payment alone. */
export function session(order: SandboxOrder): Record<string, string | number | boolean | object | null> {
  return {
    id: order.reference,
    object: 'checkout.session',
    client_reference_id: order.attemptId,
    status: SESSION_STATUS[order.status] ?? 'complete',
    payment_status: isPaid(order) ? 'paid' : 'unpaid',
    amount_total: toWire(BigInt(order.minor), order.currency),
    currency: order.currency.toLowerCase(),
    // The control `expire` ends an order early, as its time would.
    expires_at: order.status === 'expired' ? Math.floor(order.openedAt / 1000) : order.expiresAt,
    livemode: false,
    metadata: {},
    payment_intent: isUnpaid(order) ? null : objectId(order, 'pi'),
  }
}

/** With what `expand` asks for. */
export function expandedSession(order: SandboxOrder, pageUrl: string): object {
  const isOver = session(order)['status'] !== 'open'
  return {
    ...session(order),
    payment_intent: isUnpaid(order) ? null : paymentIntent(order),
    url: isOver ? null : pageUrl,
  }
}

const DISPUTE_EVENTS = { needs_response: 'created', under_review: 'updated', won: 'closed', lost: 'closed' } as const

/** Returns the type of the event that announces the order's state, and the object in it. */
export function announcement(order: SandboxOrder): { readonly type: string; readonly object: object } {
  switch (order.status) {
    case 'paid':
      if (order.dispute !== null) return { type: 'charge.dispute.closed', object: dispute(order, order.dispute) }
      return givenBack(order) > 0n || order.refunds.some(({ isDone }) => isDone)
        ? { type: 'charge.refunded', object: charge(order) }
        : { type: 'checkout.session.completed', object: session(order) }
    case 'confirming':
      return { type: 'checkout.session.completed', object: session(order) }
    case 'on_hold':
      return { type: 'review.opened', object: review(order) }
    case 'refunded':
      return { type: 'charge.refunded', object: charge(order) }
    case 'canceled':
    case 'expired':
      return { type: 'checkout.session.expired', object: session(order) }
    case 'declined':
      return order.dispute !== null
        ? { type: `charge.dispute.${DISPUTE_EVENTS[order.dispute.status]}`, object: dispute(order, order.dispute) }
        : { type: 'checkout.session.async_payment_failed', object: session(order) }
    case 'open':
    case 'verification_required':
      return {
        type: `payment_intent.${order.status === 'open' ? 'created' : 'requires_action'}`,
        object: { id: objectId(order, 'pi'), object: 'payment_intent', metadata: { attempt: order.attemptId } },
      }
  }
}

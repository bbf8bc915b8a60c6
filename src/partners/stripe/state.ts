import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import type { Dispute, Refund, Session } from './wire.ts'

/** An order at Stripe: the session with its payment, and what was taken back of it. */
export type StripeOrder = {
  readonly session: Session
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
}

/** Stripe's code for why a payment failed. Every other one is `declined`. */
const FAILURES: Readonly<Record<string, FailureCode>> = {
  insufficient_funds: 'insufficient_funds',
  authentication_required: 'verification_failed',
  payment_intent_authentication_failure: 'verification_failed',
  api_error: 'partner_unavailable',
}

type PaymentError = {
  readonly type: string
  readonly code?: string | undefined
  readonly decline_code?: string | undefined
}

export function toFailureCode({ decline_code: decline, code, type }: PaymentError): FailureCode {
  return FAILURES[decline ?? ''] ?? FAILURES[code ?? ''] ?? FAILURES[type] ?? 'declined'
}

/** The platform's refunds carry the key with which they were requested. */
export const REFUND_KEY = 'key'

export const isRefused = ({ status }: Refund): boolean => status === 'failed' || status === 'canceled'

/**
 * True if the refund's money has left, or is leaving by somebody else's decision. One that the platform requested is
 * reported as pending until it has succeeded, because it can still fail.
 */
const isTaken = (refund: Refund): boolean =>
  refund.status === 'succeeded' || (!isRefused(refund) && refund.metadata?.[REFUND_KEY] === undefined)

/** A dispute's money leaves when it is created and returns if it is won; a warning takes none. */
export const TAKES_MONEY: readonly Dispute['status'][] = ['needs_response', 'under_review', 'lost']

type Money = { readonly captured: bigint; readonly refunded: bigint; readonly disputed: bigint }

const sum = (items: readonly { readonly amount: number }[]): bigint =>
  items.reduce((total, { amount }) => total + BigInt(amount), 0n)

function getMoney({ session, refunds, disputes }: StripeOrder): Money {
  const isPaid = session.payment_status === 'paid'
  return {
    captured: isPaid ? BigInt(session.payment_intent?.latest_charge?.amount_captured ?? 0) : 0n,
    refunded: sum(refunds.filter(isTaken)),
    disputed: sum(disputes.filter(({ status }) => TAKES_MONEY.includes(status))),
  }
}

export type StripeReading = {
  readonly status: OrderStatus
  /** In Stripe's units. Null before any money, and after a dispute took all of it. */
  readonly received: bigint | null
  readonly failureCode: FailureCode | null
}

/** `now` is in Unix seconds. */
export function readState(order: StripeOrder, now: number): StripeReading {
  const { session } = order
  const { captured, refunded, disputed } = getMoney(order)
  const left = captured - refunded - disputed
  const without = (status: OrderStatus): StripeReading => ({ status, received: null, failureCode: null })
  switch (session.status) {
    case 'open':
      return without(session.payment_intent?.status === 'processing' ? 'confirming' : 'open')
    case 'expired':
      // Only a cancellation ends a session before its time.
      return without(session.expires_at > now ? 'canceled' : 'expired')
    case 'complete':
      if (session.payment_status === 'unpaid') return readUnpaid(session)
      if (left > 0n) return { status: isUnderReview(session) ? 'on_hold' : 'paid', received: left, failureCode: null }
      if (disputed > 0n) return { status: 'declined', received: left === 0n ? null : left, failureCode: 'reversed' }
      return { status: 'refunded', received: captured, failureCode: null }
  }
}

/** A method that confirms later fails after the session is complete. Its payment then waits for another method. */
function readUnpaid({ payment_intent: payment }: Session): StripeReading {
  const hasFailed = payment?.status === 'requires_payment_method' || payment?.status === 'canceled'
  if (!hasFailed) return { status: 'confirming', received: null, failureCode: null }
  const error = payment.last_payment_error
  return { status: 'declined', received: null, failureCode: error === null ? 'declined' : toFailureCode(error) }
}

const isUnderReview = ({ payment_intent: payment }: Session): boolean => payment?.review?.open === true

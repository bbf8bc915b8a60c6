import { compareReceived, type Money } from '../money.ts'
import type { MoveReason } from '../timeline.ts'
import type { FailureCode, PartnerOrder } from './partner.ts'
import type { AttemptStatus, ParkReason, PaymentException, PaymentStatus } from './payment.ts'

/**
 * What an order, as the partner reports it now, means for the payment. Pure: the database applies the answer in one
 * transaction, and reading the same order twice changes nothing the second time.
 */

export type KnownPayment = {
  readonly status: PaymentStatus
  readonly parkReason: ParkReason | null
  readonly paidAttemptId: string | null
  readonly converted: boolean
  readonly pinned: boolean
  readonly fallback: 'picker' | 'none'
}

export type KnownAttempt = { readonly id: string; readonly status: AttemptStatus; readonly asked: Money }

export type OrderEffect = {
  readonly attempt: AttemptStatus
  readonly failureCode: FailureCode | null
  /** What the partner received, in minor units of the attempt's currency; null before any money. */
  readonly receivedMinor: string | null
  /** The moves along the transition table, in order. */
  readonly moves: readonly { readonly to: PaymentStatus; readonly why: MoveReason }[]
  readonly exception: PaymentException | null
  readonly park: ParkReason | null
  /**
   * `take`: this attempt's money becomes the payment's. `suspend`: it came for a payment that is already paid or that
   * does not fit, and is booked to suspense. `give_back`: money taken before is gone again. `chargeback`: gone after
   * the conversion, at our loss.
   */
  readonly money: 'none' | 'take' | 'suspend' | 'give_back' | 'chargeback'
}

export type NewsContext = { readonly account: string; readonly tolerancePercent: number }

/** The payment's money has come, and gone on. */
const BEYOND_PAYING: readonly PaymentStatus[] = ['settling', 'succeeded', 'refunded']

/** Parked without money: the money's coming ends the waiting. */
const WAITS_FOR_MONEY: readonly (ParkReason | null)[] = ['partner_hold', 'wrong_asset']

const NOTHING: Omit<OrderEffect, 'attempt'> = {
  failureCode: null,
  receivedMinor: null,
  moves: [],
  exception: null,
  park: null,
  money: 'none',
}

export function effectOfOrder(
  payment: KnownPayment,
  attempt: KnownAttempt,
  news: { order: PartnerOrder; context: NewsContext },
): OrderEffect {
  const { order, context } = news
  if (!fits(attempt, order, context)) return misfit(payment, attempt, order)
  switch (order.status) {
    case 'open':
      return unpaidYet(attempt, 'open')
    case 'verification_required':
      return { ...unpaidYet(attempt, 'verification_required'), exception: 'verification_required' }
    case 'confirming':
      return confirming(payment, attempt)
    case 'on_hold':
      return onHold(payment, attempt)
    case 'wrong_asset':
      return wrongAsset(payment, attempt)
    case 'paid':
      return paid(payment, attempt, news)
    case 'declined':
    case 'canceled':
    case 'expired':
      return withdrawn(payment, attempt, { to: order.status, failureCode: order.failureCode })
    case 'refunded':
      return refunded(payment, attempt)
  }
}

/** An authentic answer about another order, account, currency or amount is not news of this attempt. */
export function fits(attempt: KnownAttempt, order: PartnerOrder, context: NewsContext): boolean {
  return (
    order.attemptId === attempt.id &&
    order.account === context.account &&
    order.amount.currency === attempt.asked.currency &&
    order.amount.minor === attempt.asked.minor &&
    (order.received === null || order.received.currency === attempt.asked.currency)
  )
}

function misfit(payment: KnownPayment, attempt: KnownAttempt, order: PartnerOrder): OrderEffect {
  if (order.status !== 'paid' && order.status !== 'confirming') return { ...NOTHING, attempt: attempt.status }
  if (payment.status !== 'pending' && payment.status !== 'processing') return { ...NOTHING, attempt: attempt.status }
  if (payment.paidAttemptId !== null) return { ...NOTHING, attempt: attempt.status }
  return {
    ...NOTHING,
    attempt: 'on_hold',
    park: 'amount_mismatch',
    moves: [{ to: 'under_review', why: 'misfit' }],
  }
}

/** An attempt that had money, or is dead, is not reopened by an answer that came out of order. */
function unpaidYet(attempt: KnownAttempt, to: AttemptStatus): OrderEffect {
  const early: AttemptStatus[] = ['opening', 'open', 'verification_required']
  return { ...NOTHING, attempt: early.includes(attempt.status) ? to : attempt.status }
}

function confirming(payment: KnownPayment, attempt: KnownAttempt): OrderEffect {
  if (isSettled(attempt.status)) return { ...NOTHING, attempt: attempt.status }
  const moves = payment.status === 'pending' ? [{ to: 'processing' as const, why: 'confirming' as const }] : []
  return { ...NOTHING, attempt: 'confirming', moves }
}

function onHold(payment: KnownPayment, attempt: KnownAttempt): OrderEffect {
  if (isSettled(attempt.status)) return { ...NOTHING, attempt: attempt.status }
  const parks = payment.paidAttemptId === null && (payment.status === 'pending' || payment.status === 'processing')
  return {
    ...NOTHING,
    attempt: 'on_hold',
    moves: parks ? [{ to: 'under_review', why: 'held_by_partner' }] : [],
    park: parks ? 'partner_hold' : null,
  }
}

/** The buyer sent another token. It can be given back by hand only; the right one, when it still comes, is taken. */
function wrongAsset(payment: KnownPayment, attempt: KnownAttempt): OrderEffect {
  if (isSettled(attempt.status) || attempt.status === 'on_hold') return { ...NOTHING, attempt: attempt.status }
  const parks = payment.paidAttemptId === null && (payment.status === 'pending' || payment.status === 'processing')
  return {
    ...NOTHING,
    attempt: 'on_hold',
    exception: 'wrong_asset',
    moves: parks ? [{ to: 'under_review', why: 'wrong_asset' }] : [],
    park: parks ? 'wrong_asset' : null,
  }
}

function paid(
  payment: KnownPayment,
  attempt: KnownAttempt,
  { order, context }: { order: PartnerOrder; context: NewsContext },
): OrderEffect {
  if (isSettled(attempt.status)) return { ...NOTHING, attempt: attempt.status }
  const receivedMinor = order.received?.minor ?? '0'
  if (payment.paidAttemptId !== null || BEYOND_PAYING.includes(payment.status))
    return { ...NOTHING, attempt: 'surplus', receivedMinor, exception: 'duplicate_payment', money: 'suspend' }

  const fit = compareReceived(attempt.asked, receivedMinor, context.tolerancePercent)
  const take = { ...NOTHING, receivedMinor, money: 'take' as const }
  if (fit === 'underpaid') return underpaid(payment, take)
  const late = payment.status === 'expired' || payment.status === 'canceled'
  const exception: PaymentException | null = late ? 'paid_late' : fit === 'overpaid' ? 'overpaid' : null
  const confirmed = { ...take, attempt: 'confirmed' as const, exception }
  if (payment.status === 'failed')
    return {
      ...confirmed,
      park: 'money_after_failure',
      moves: [{ to: 'under_review', why: 'paid_after_failure' }],
    }
  if (payment.status === 'processing') return confirmed
  if (payment.status === 'under_review' && !WAITS_FOR_MONEY.includes(payment.parkReason)) return confirmed
  return { ...confirmed, moves: [{ to: 'processing', why: whyPaid(payment.status) }] }
}

function whyPaid(from: PaymentStatus): MoveReason {
  if (from === 'expired') return 'paid_after_expiry'
  if (from === 'canceled') return 'paid_after_cancellation'
  if (from === 'under_review') return 'released_by_partner'
  return 'confirmed'
}

function underpaid(payment: KnownPayment, take: Omit<OrderEffect, 'attempt'>): OrderEffect {
  const late: OrderEffect['moves'] =
    payment.status === 'expired' || payment.status === 'canceled'
      ? [{ to: 'processing', why: whyPaid(payment.status) }]
      : []
  const parked = payment.status === 'under_review'
  return {
    ...take,
    attempt: 'underpaid',
    exception: 'underpaid',
    park: 'underpaid',
    moves: parked ? [] : [...late, { to: 'under_review', why: 'underpaid' }],
  }
}

function withdrawn(
  payment: KnownPayment,
  attempt: KnownAttempt,
  order: { to: 'declined' | 'canceled' | 'expired'; failureCode: FailureCode | null },
): OrderEffect {
  if (attempt.status === 'surplus' || attempt.status === 'refunded') return { ...NOTHING, attempt: attempt.status }
  const effect = { ...NOTHING, attempt: order.to, failureCode: order.failureCode }
  const mine = payment.paidAttemptId === attempt.id
  if (mine && payment.converted) return { ...effect, attempt: attempt.status, money: 'chargeback' }
  const money = mine ? ('give_back' as const) : ('none' as const)
  const waited = mine || attempt.status === 'confirming' || attempt.status === 'on_hold'
  if (waited && payment.status === 'processing' && (mine || payment.paidAttemptId === null))
    return { ...effect, money, moves: [{ to: 'pending', why: 'withdrawn' }] }
  if (waited && payment.status === 'under_review' && (mine || payment.parkReason === 'partner_hold'))
    return { ...effect, money, moves: [{ to: 'failed', why: 'not_released' }] }
  const hopeless = order.failureCode === 'verification_failed' && payment.pinned && payment.fallback === 'none'
  if (hopeless && payment.status === 'pending')
    return {
      ...effect,
      money,
      moves: [{ to: 'failed', why: 'check_failed' }],
    }
  return { ...effect, money }
}

function refunded(payment: KnownPayment, attempt: KnownAttempt): OrderEffect {
  const effect = { ...NOTHING, attempt: 'refunded' as const }
  if (attempt.status === 'refunded') return effect
  if (payment.paidAttemptId !== attempt.id)
    return { ...effect, money: attempt.status === 'surplus' ? 'give_back' : 'none' }
  if (payment.converted) return { ...effect, attempt: attempt.status, money: 'chargeback' }
  if (payment.status === 'processing')
    return {
      ...effect,
      money: 'give_back',
      moves: [{ to: 'failed', why: 'reversed' }],
    }
  if (payment.status === 'under_review')
    return { ...effect, money: 'give_back', moves: [{ to: 'refunded', why: 'given_back_by_partner' }] }
  return effect
}

/** The attempt's money has been counted already. */
function isSettled(status: AttemptStatus): boolean {
  return status === 'confirmed' || status === 'underpaid' || status === 'surplus' || status === 'refunded'
}

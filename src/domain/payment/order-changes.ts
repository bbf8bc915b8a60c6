import { type Booking, bookingOfPart, fillKept, payoutUnwound } from '../ledger.ts'
import { add, isZero, subtract } from '../money.ts'
import { attemptNote, because, type Note, noteOf, type Reason } from '../timeline.ts'
import { type AttemptFields, exceptionWithoutMoney, NOT_PARKED, type PaymentFields, parked } from './changes.ts'
import { nothing, type OrderEffect } from './money/effect.ts'
import { countedAnew } from './money/going.ts'
import { isAllThere } from './money/intents.ts'
import { chargeSum, type Part, takeAll, takeDust } from './money/parts.ts'
import type { AttemptStatus, PaymentStatus } from './payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from './payment-object.ts'

/** What the effect of a partner's order changes in the rows of the payment: said here, written by the activity. */

export type LockableRate = { readonly rate: string; readonly source: string }

export type OrderNews = {
  readonly effect: OrderEffect
  /** The partner's own id of the order. */
  readonly reference: string
  /** The rate to lock. Null where there is none now: then the conversion locks it. */
  readonly rate: LockableRate | null
  /** The payment's parts as they are before. */
  readonly parts: readonly Part[]
  /** ISO 8601: when the change is written. */
  readonly at: string
}

/** A fact about money, with what it changes in the books. */
export type BookedPart = { readonly part: Part; readonly booking: Booking | null }

export type OrderChanges = {
  /** Null: the attempt stays as it is. */
  readonly attempt: AttemptFields | null
  readonly parts: readonly BookedPart[]
  /** Beside the parts. */
  readonly bookings: readonly Booking[]
  readonly moves: readonly { readonly to: PaymentStatus; readonly reason: Reason; readonly fields: PaymentFields }[]
  /** What changes without a move. */
  readonly change: { readonly note: Note; readonly fields: PaymentFields } | null
}

export function changesOf(payment: Payment, attempt: Attempt, news: OrderNews): OrderChanges {
  const { effect } = news
  const fields = fieldsOf(payment, attempt, news)
  const data = {
    attempt_id: attempt.id,
    provider: attempt.provider,
    ...(effect.failureCode && { failure_code: effect.failureCode }),
    ...(effect.parts.length > 0 && { parts: effect.parts.map(({ asset, units }) => ({ asset, units })) }),
  }
  const later = effect.park === null ? NOT_PARKED : parked(effect.park)
  const isChanged = Object.keys(fields).length > 0 || effect.attempt !== attempt.status || effect.parts.length > 0
  const parts = effect.parts.map((part) => ({ part, booking: bookingOfPart(part, payment) }))
  return {
    attempt: attemptFields(attempt, news),
    parts,
    bookings: effect.moves.some(({ to }) => to === 'refunded') ? bookingsOfRefund(payment, effect) : [],
    moves: effect.moves.map(({ to, why }, index) => ({
      to,
      reason: because(why, data),
      fields: index === 0 ? fields : later,
    })),
    change:
      effect.moves.length === 0 && isChanged ? { note: noteOfChange(attempt, { effect, parts }, data), fields } : null,
  }
}

/** What is too little for anybody when the payment is over. */
export function dustOf({ payment, parts }: PaymentWithAttempts): BookedPart[] {
  return takeDust(parts, payment.paidAttemptId).map((part) => ({ part, booking: bookingOfPart(part, payment) }))
}

/** The payment ends without a transfer: what was bought for it is ours. */
export function bookingsOfRefund(payment: Payment, effect: Pick<OrderEffect, 'parts'>): Booking[] {
  const { id: paymentId, usdc, fill, confirmed, conversionOrder: order } = payment
  if (usdc === null) return fill === null ? [] : [fillKept({ paymentId, order, micro: fill.micro })]
  return [
    payoutUnwound({
      paymentId,
      usdc,
      lost: payment.providerUsed === 'crypto' ? null : lostOf(confirmed, effect.parts),
    }),
  ]
}

/** What was written off since the conversion: all of it but what goes back to the buyer now. */
function lostOf(confirmed: Payment['confirmed'], parts: readonly Part[]): Payment['confirmed'] {
  if (confirmed === null) return null
  const returned = parts
    .filter(({ kind, account }) => (kind === 'return' || kind === 'return_outside') && account === 'merchant_payable')
    .reduce((sum, { chargeMinor }) => add(sum, chargeMinor), '0')
  return { minor: add(confirmed.minor, returned), currency: confirmed.currency }
}

/** Money of the payment that had been written off is there again. */
export function isWonBack(parts: readonly BookedPart[]): boolean {
  return parts.some(({ booking }) => booking?.kind === 'chargeback_won')
}

function noteOfChange(
  attempt: Attempt,
  { effect, parts }: { readonly effect: OrderEffect; readonly parts: readonly BookedPart[] },
  data: object,
): Note {
  if (effect.attempt !== attempt.status || effect.parts.length === 0) return attemptNote(effect.attempt, data)
  if (effect.incident === 'chargeback') return noteOf('payment.chargeback', data)
  if (isWonBack(parts)) return noteOf('payment.chargeback_won', data)
  return noteOf(effect.parts.some(({ kind }) => kind === 'receipt') ? 'payment.money_came' : 'payment.money_went', data)
}

/** A hold that was placed before any money came takes effect when the money is there. */
export function mustBeHeld(payment: Pick<Payment, 'held' | 'status' | 'paidAttemptId'>): boolean {
  return payment.held && payment.status === 'processing' && payment.paidAttemptId !== null
}

function attemptFields(attempt: Attempt, { effect, reference }: OrderNews): AttemptFields | null {
  const isNewCode = effect.failureCode !== null && effect.failureCode !== attempt.failureCode
  const fields: AttemptFields = {
    ...(effect.attempt === attempt.status ? {} : { status: effect.attempt }),
    ...(isNewCode ? { failureCode: effect.failureCode } : {}),
    ...(attempt.partnerReference === null ? { partnerReference: reference } : {}),
  }
  return Object.keys(fields).length === 0 ? null : fields
}

function fieldsOf(payment: Payment, attempt: Attempt, news: Omit<OrderNews, 'reference'>): PaymentFields {
  const { effect } = news
  const checkOver = payment.exception === 'verification_required' && effect.exception === undefined
  const parks = effect.moves[0]?.to === 'under_review'
  const parksHere = parks || (effect.moves.length === 0 && effect.park !== null)
  const leavesReview = payment.status === 'under_review' && effect.moves.length > 0
  return {
    ...(effect.exception !== undefined && effect.exception !== payment.exception
      ? { exception: effect.exception }
      : {}),
    ...(checkOver && effect.attempt !== attempt.status ? { exception: null } : {}),
    ...(parksHere && effect.park !== payment.parkReason ? { parkReason: effect.park, statusReason: effect.park } : {}),
    ...(leavesReview ? NOT_PARKED : {}),
    ...(effect.money === 'take'
      ? takenMoney(payment, attempt, { ...news, parts: [...news.parts, ...effect.parts] })
      : {}),
    ...(effect.money === 'give_back' ? givenUp(payment, effect.exception) : {}),
  }
}

/**
 * The payment's money is what is counted of the attempt now. The rate is locked in the same transaction; where there is
 * no current rate, the conversion locks it, and the money is not kept waiting.
 */
function takenMoney(
  payment: Payment,
  attempt: Attempt,
  { parts, rate, at }: Pick<OrderNews, 'parts' | 'rate' | 'at'>,
): PaymentFields {
  const counted = chargeSum(parts, { attemptId: attempt.id, states: ['counted'] })
  return {
    paidAttemptId: attempt.id,
    providerUsed: attempt.provider,
    methodUsed: attempt.method,
    chargeCurrency: attempt.asked.currency,
    confirmedMinor: counted,
    ...(rate === null ? {} : lockedRate(rate, at)),
    paidAt: payment.paidAt ?? at,
  }
}

export function lockedRate(rate: LockableRate, at: string): PaymentFields {
  return { rate: rate.rate, rateSource: rate.source, rateLockedAt: at }
}

/**
 * What there is of the payment's own money after a refund that its partner refused, where a part went, or the rest of too
 * little came, while it was being carried out: that is confirmed, and may be too little, or enough by now. Null: it is what was
 * confirmed, or is sold.
 */
export function leftOf(
  { payment, parts }: Pick<PaymentWithAttempts, 'payment' | 'parts'>,
  attempt: Attempt,
  context: { readonly tolerancePercent: number; readonly at: string },
): { readonly status: AttemptStatus; readonly fields: PaymentFields } | null {
  const isUnsold = payment.paidAttemptId === attempt.id && payment.usdc === null
  if (!isUnsold || isAllThere({ payment, parts })) return null
  const counted = chargeSum(parts, { attemptId: attempt.id, states: ['counted'] })
  const effect = countedAnew({ payment: { ...payment, parts }, attempt, context }, nothing(attempt.status), counted)
  return { status: effect.attempt, fields: fieldsOf(payment, attempt, { effect, parts, rate: null, at: context.at }) }
}

/**
 * What was counted of an attempt is a second payment. Fiat money was owed to the merchant then: it is taken from there, and comes
 * again as nobody's. Empty: it is in suspense already, as USDC is.
 */
export function besidePayment({ payment, parts }: PaymentWithAttempts, attemptId: string): BookedPart[] {
  const counted = takeAll(parts, attemptId, { kind: 'reversal', states: ['counted'] })
  return counted.flatMap((taken) => {
    if (taken.account === 'suspense') return []
    const again: Part = {
      ...taken,
      key: `${attemptId}:beside:${parts.length}`,
      kind: 'receipt',
      units: subtract('0', taken.units),
      chargeMinor: subtract('0', taken.chargeMinor),
      account: 'suspense',
      state: 'surplus',
    }
    // It was never sold, whatever became of the payment's own money.
    return [taken, again].map((part) => ({ part, booking: bookingOfPart(part, { ...payment, usdc: null }) }))
  })
}

/** The payment has no money of its own any more. `said`: what is said of it now; undefined: nothing new. */
export function givenUp({ exception }: Pick<Payment, 'exception'>, said?: Payment['exception']): PaymentFields {
  const left = exceptionWithoutMoney(exception)
  return { ...GIVEN_BACK, ...(said === undefined && left !== exception ? { exception: left } : {}) }
}

const GIVEN_BACK: PaymentFields = {
  paidAttemptId: null,
  confirmedMinor: null,
  chargeCurrency: null,
  rate: null,
  rateSource: null,
  rateLockedAt: null,
  paidAt: null,
}

/** A part of the price that is not the payment's money yet, and what taking it changes. Null: none has come. */
export function partOfPrice({
  payment,
  attempts,
  parts,
}: PaymentWithAttempts): { readonly attempt: Attempt; readonly fields: (at: string) => PaymentFields } | null {
  if (payment.paidAttemptId !== null) return null
  const attempt = attempts.find(({ id }) => !isZero(chargeSum(parts, { attemptId: id, states: ['counted'] })))
  if (attempt === undefined) return null
  const exception = { exception: 'underpaid' as const, ...parked('underpaid') }
  return { attempt, fields: (at) => ({ ...takenMoney(payment, attempt, { parts, rate: null, at }), ...exception }) }
}

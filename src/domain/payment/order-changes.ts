import { isZero } from '../money.ts'
import { attemptNote, because, type Note, noteOf, type Reason } from '../timeline.ts'
import { type AttemptFields, exceptionWithoutMoney, NOT_PARKED, type PaymentFields, parked } from './changes.ts'
import { nothing, type OrderEffect } from './money/effect.ts'
import { countedAnew } from './money/going.ts'
import { isAllThere } from './money/intents.ts'
import { chargeSum, type Part, takeDust } from './money/parts.ts'
import type { AttemptStatus, PaymentStatus } from './payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from './payment-object.ts'

/** What the effect of a partner's order changes in the rows of the payment: said here, written by the activity. */

export type LockableRate = { readonly rate: string; readonly source: string }

export type OrderNews = {
  readonly effect: OrderEffect
  /** The partner's own id of the order; empty: it has none. */
  readonly reference: string
  /** The rate to lock. Null where there is none now: then the conversion locks it. */
  readonly rate: LockableRate | null
  /** The payment's parts as they are before. */
  readonly parts: readonly Part[]
  /** ISO 8601: when the change is written. */
  readonly at: string
}

export type OrderChanges = {
  /** Null: the attempt stays as it is. */
  readonly attempt: AttemptFields | null
  readonly parts: readonly Part[]
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
  return {
    attempt: attemptFields(attempt, news),
    parts: effect.parts,
    moves: effect.moves.map(({ to, why }, index) => ({
      to,
      reason: because(why, data),
      fields: index === 0 ? fields : later,
    })),
    change:
      effect.moves.length === 0 && isChanged
        ? { note: noteOfChange({ payment, attempt }, effect, data), fields }
        : null,
  }
}

/** What is too little for anybody when the payment is over. */
export function dustOf({ payment, parts }: PaymentWithAttempts): Part[] {
  return takeDust(parts, payment.paidAttemptId)
}

/** True if money of the payment that had been lost is there again. */
export function isWonBack(payment: Payment, parts: readonly Part[]): boolean {
  const isOwn = (part: Part) => part.attemptId === payment.paidAttemptId && part.state === 'counted'
  return payment.usdc !== null && parts.some((part) => part.kind === 'receipt' && isOwn(part))
}

function noteOfChange(
  { payment, attempt }: { readonly payment: Payment; readonly attempt: Attempt },
  effect: OrderEffect,
  data: object,
): Note {
  if (effect.attempt !== attempt.status || effect.parts.length === 0) return attemptNote(effect.attempt, data)
  if (effect.incident === 'chargeback') return noteOf('payment.chargeback', data)
  if (isWonBack(payment, effect.parts)) return noteOf('payment.chargeback_won', data)
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
    ...(attempt.partnerReference === null && reference !== '' ? { partnerReference: reference } : {}),
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

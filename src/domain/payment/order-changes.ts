import { type Booking, chargeback, fiatConfirmed, fiatGivenBack, fiatSuspended } from '../ledger.ts'
import { attemptNote, because, type Note, noteOf, type Reason } from '../timeline.ts'
import { type AttemptFields, NOT_PARKED, type PaymentFields, parked } from './changes.ts'
import type { OrderEffect } from './partner-news.ts'
import { isClosed, type PaymentStatus } from './payment.ts'
import type { Attempt, Payment } from './payment-object.ts'

/** What the effect of a partner's order changes in the rows of the payment: said here, written by the activity. */

export type LockableRate = { readonly rate: string; readonly source: string }

export type OrderNews = {
  readonly effect: OrderEffect
  /** The partner's own id of the order. */
  readonly reference: string
  /** The rate to lock; needed only where the effect takes money. */
  readonly rate: LockableRate | null
  /** ISO 8601: when the change is written. */
  readonly at: string
}

export type OrderChanges = {
  /** Null: the attempt stays as it is. */
  readonly attempt: AttemptFields | null
  readonly booking: Booking | null
  /** Told only when the booking is new. */
  readonly bookingNote: Note | null
  readonly moves: readonly { readonly to: PaymentStatus; readonly reason: Reason; readonly fields: PaymentFields }[]
  /** Fields that change without a move. */
  readonly change: { readonly note: Note; readonly fields: PaymentFields } | null
}

/** Money after the listening time belongs to no payment any more: an operator decides in a workflow of its own. */
export function tooLate(payment: Pick<Payment, 'status' | 'listenEnded'>, effect: OrderEffect): OrderEffect {
  if (effect.money !== 'take' || !isClosed(payment.status) || !payment.listenEnded) return effect
  return { ...effect, attempt: 'late', money: 'suspend', moves: [], park: null, exception: 'paid_late' }
}

export function changesOf(payment: Payment, attempt: Attempt, news: OrderNews): OrderChanges {
  const { effect } = news
  const booking = bookingOf(payment, attempt, effect)
  const fields = fieldsOf(payment, attempt, news)
  const data = {
    attempt_id: attempt.id,
    provider: attempt.provider,
    ...(effect.failureCode && { failure_code: effect.failureCode }),
  }
  const later = effect.park === null ? NOT_PARKED : parked(effect.park)
  const isChanged = Object.keys(fields).length > 0 || effect.attempt !== attempt.status
  return {
    attempt: attemptFields(attempt, news),
    booking,
    bookingNote: booking?.kind === 'chargeback' ? noteOf('payment.chargeback', factOf(payment, attempt, effect)) : null,
    moves: effect.moves.map(({ to, why }, index) => ({
      to,
      reason: because(why, data),
      fields: index === 0 ? fields : later,
    })),
    change: effect.moves.length === 0 && isChanged ? { note: attemptNote(effect.attempt, data), fields } : null,
  }
}

/** A hold that was placed before any money came takes effect when the money is there. */
export function mustBeHeld(payment: Pick<Payment, 'held' | 'status' | 'paidAttemptId'>): boolean {
  return payment.held && payment.status === 'processing' && payment.paidAttemptId !== null
}

function attemptFields(attempt: Attempt, { effect, reference }: OrderNews): AttemptFields | null {
  const isNewCode = effect.failureCode !== null && effect.failureCode !== attempt.failureCode
  const fields: AttemptFields = {
    ...(effect.attempt === attempt.status ? {} : { status: effect.attempt }),
    ...(effect.receivedMinor === null ? {} : { receivedMinor: effect.receivedMinor }),
    ...(isNewCode ? { failureCode: effect.failureCode } : {}),
    ...(attempt.partnerReference === null ? { partnerReference: reference } : {}),
  }
  return Object.keys(fields).length === 0 ? null : fields
}

function factOf(payment: Payment, attempt: Attempt, effect: OrderEffect) {
  const minor = effect.receivedMinor ?? attempt.receivedMinor ?? '0'
  return { paymentId: payment.id, attemptId: attempt.id, received: { minor, currency: attempt.asked.currency } }
}

function bookingOf(payment: Payment, attempt: Attempt, effect: OrderEffect): Booking | null {
  const fact = factOf(payment, attempt, effect)
  switch (effect.money) {
    case 'none':
      return null
    case 'take':
      return fiatConfirmed(fact)
    case 'suspend':
      return fiatSuspended(fact)
    case 'give_back':
      return fiatGivenBack({ ...fact, from: attempt.status === 'surplus' ? 'suspense' : 'merchant_payable' })
    case 'chargeback':
      return chargeback(fact)
  }
}

function fieldsOf(payment: Payment, attempt: Attempt, news: OrderNews): PaymentFields {
  const { effect } = news
  const checkOver = payment.exception === 'verification_required' && effect.exception === null
  const parks = effect.moves.length === 1 && effect.moves[0]?.to === 'under_review'
  const parksHere = parks || (effect.moves.length === 0 && effect.park !== null)
  const leavesReview = payment.status === 'under_review' && effect.moves.length > 0 && !parks
  return {
    ...(effect.exception !== null && effect.exception !== payment.exception ? { exception: effect.exception } : {}),
    ...(checkOver && effect.attempt !== attempt.status ? { exception: null } : {}),
    ...(parksHere ? { parkReason: effect.park, statusReason: effect.park } : {}),
    ...(leavesReview ? NOT_PARKED : {}),
    ...(effect.money === 'take' ? takenMoney(attempt, news) : {}),
    ...(effect.money === 'give_back' && payment.paidAttemptId === attempt.id ? GIVEN_BACK : {}),
  }
}

/** The rate is locked in the transaction in which the partner's confirmation becomes ours. */
function takenMoney(attempt: Attempt, { effect, rate, at }: OrderNews): PaymentFields {
  if (rate === null) throw new Error(`no rate to lock for ${attempt.asked.currency}`)
  return {
    paidAttemptId: attempt.id,
    providerUsed: attempt.provider,
    methodUsed: attempt.method,
    chargeCurrency: attempt.asked.currency,
    confirmedMinor: effect.receivedMinor,
    rate: rate.rate,
    rateSource: rate.source,
    rateLockedAt: at,
    paidAt: at,
  }
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

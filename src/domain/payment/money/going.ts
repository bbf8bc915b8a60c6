import { atMost, compareReceived, isZero, subtract } from '../../money.ts'
import type { FailureCode } from '../partner.ts'
import {
  type AttemptStatus,
  isClosed,
  isSettled,
  mayStillBePaid,
  type ParkReason,
  waitsForPartner,
} from '../payment.ts'
import { exceptionOf } from './coming.ts'
import { type NewsContext, nothing, type OrderEffect, type Story } from './effect.ts'
import { isMisfitBeside, isUnbooked, openRefund } from './intents.ts'
import { chargeSum, countedBeside, heldOf, returnedOutside, takeAll, takeOutside, takeSome } from './parts.ts'

/** Money, or the hope for it, is gone: what that does to the payment. */

type End = { readonly to: AttemptStatus; readonly failureCode: FailureCode | null }

/** The partner holds nothing of this attempt any more, and says that nothing will come. */
export function gone(story: Story, end: End): OrderEffect {
  const { payment, attempt } = story
  const effect = isZero(heldOf(payment.parts, attempt.id)) ? neverCame(story, end) : allGone(story, end)
  const outside = takeOutside(payment.parts, attempt.id, returnedOutside(payment.parts, attempt.id))
  return { ...effect, parts: [...effect.parts, ...outside] }
}

function neverCame(story: Story, end: End): OrderEffect {
  const { payment, attempt } = story
  const effect: OrderEffect = { ...nothing(end.to), failureCode: end.failureCode }
  // What came and went stays what it was.
  if (isSettled(attempt.status)) return nothing(attempt.status)
  // Money that was never counted, such as of another amount, was given back as an operator had decided.
  if (openRefund(payment.intents, attempt.id) !== null && payment.status === 'under_review')
    return endsRefunded(story, { ...effect, attempt: 'refunded' })
  if (payment.paidAttemptId !== null) return effect
  const others = payment.attempts.filter(({ id }) => id !== attempt.id).map(({ status }) => status)
  // What did not fit has gone back by itself, or is not there beside money that went back, and there is nothing else.
  const isRefund = end.to === 'refunded' || others.includes('refunded')
  const wasMisfit = attempt.status === 'on_hold' && payment.status === 'under_review' && isUnbooked(payment)
  const isNothingElse = awaitedBeside(story) === null && countedBeside(payment.parts, attempt.id).length === 0
  if (wasMisfit && isRefund && isNothingElse)
    return { ...effect, moves: [{ to: 'refunded', why: 'given_back_by_partner' }] }
  const wasConfirming = attempt.status === 'confirming' || attempt.status === 'on_hold'
  if (wasConfirming && payment.status === 'processing' && !others.includes('confirming'))
    return { ...effect, moves: [{ to: 'pending', why: 'withdrawn' }] }
  // Another attempt's money may be the one that is held.
  const isHeld = attempt.status === 'on_hold' && payment.parkReason === 'partner_hold'
  const wasAwaited = wasConfirming && payment.parkReason === 'partner_silent'
  if (payment.status === 'under_review' && (isHeld || wasAwaited) && awaitedBeside(story) === null)
    return { ...effect, moves: [{ to: 'failed', why: 'not_released' }] }
  // The buyer may be paying another order, which could not be canceled or was opened meanwhile.
  const isLast = !others.some(mayStillBePaid)
  const isOnlyWay = payment.pinned && payment.fallback === 'none'
  const isHopeless = end.failureCode === 'verification_failed' && isOnlyWay && isLast
  if (isHopeless && payment.status === 'pending') return { ...effect, moves: [{ to: 'failed', why: 'check_failed' }] }
  return effect
}

/** What was given back was no money of the payment's own: it ends with it where there is no other, and nothing else to decide. */
function endsRefunded({ payment, attempt }: Story, effect: OrderEffect): OrderEffect {
  const isAll = countedBeside(payment.parts, attempt.id).length === 0 && !isMisfitBeside(payment, attempt.id)
  return isAll ? { ...effect, moves: [{ to: 'refunded', why: 'refunded_through_partner' }] } : effect
}

/** A refund that was asked for has been carried out, or the partner has taken the money back by itself. */
function allGone(story: Story, end: End): OrderEffect {
  const { payment, attempt } = story
  const isOurs = openRefund(payment.intents, attempt.id) !== null
  const wasCounted = !isZero(chargeSum(payment.parts, { attemptId: attempt.id, states: ['counted', 'returning'] }))
  const effect: OrderEffect = {
    ...nothing(isOurs ? 'refunded' : end.to),
    failureCode: end.failureCode,
    parts: takeAll(payment.parts, attempt.id, { kind: isOurs ? 'return' : 'reversal' }),
    partsBecome: isOurs ? 'returned' : 'reversed',
  }
  // What did not fit when its refund was decided may have fitted since.
  if (payment.paidAttemptId === null && isOurs && isUnbooked(payment)) return endsRefunded(story, effect)
  if (payment.paidAttemptId !== attempt.id || !wasCounted) return effect
  if (payment.converted) return afterConversion(story, effect)
  // The payment stays open for what does not fit: it is still there, and goes back by the same decisions as before.
  if (isMisfitBeside(payment, attempt.id)) return { ...effect, money: 'give_back' }
  const awaited = awaitedBeside(story)
  if (payment.status === 'under_review' && awaited !== null) return { ...effect, money: 'give_back', park: awaited }
  if (payment.status === 'under_review')
    return end.to === 'refunded' || isOurs
      ? { ...effect, moves: [{ to: 'refunded', why: isOurs ? 'refunded_through_partner' : 'given_back_by_partner' }] }
      : { ...effect, money: 'give_back', moves: [{ to: 'failed', why: 'not_released' }] }
  if (payment.status !== 'processing') return { ...effect, money: 'give_back' }
  return end.to === 'refunded'
    ? { ...effect, money: 'give_back', moves: [{ to: 'failed', why: 'reversed' }] }
    : { ...effect, money: 'give_back', moves: withdrawn(payment) }
}

/** It waits for its buyer again, but where it had been closed: late money that has gone opens nothing to be paid once more. */
function withdrawn({ canceledAt, failedAt }: Story['payment']): OrderEffect['moves'] {
  if (failedAt !== null) return [{ to: 'failed', why: 'reversed' }]
  const toBuyer = { to: 'pending', why: 'withdrawn' } as const
  // One that had expired does so at once.
  return canceledAt === null ? [toBuyer] : [toBuyer, { to: 'canceled', why: 'canceled_before' }]
}

/** For which word of a partner about another attempt the payment waits on; null: for none. */
function awaitedBeside({ payment, attempt }: Story): ParkReason | null {
  const others = payment.attempts.filter(({ id }) => id !== attempt.id).map(({ status }) => status)
  if (others.includes('on_hold')) return 'partner_hold'
  return others.includes('confirming') ? 'partner_silent' : null
}

/** The fiat money has been sold. A payout that is not paid yet must not be paid; one that is paid is our loss. */
function afterConversion({ payment, attempt }: Story, effect: OrderEffect): OrderEffect {
  const isVoid = payment.parkReason === 'payout_voided'
  if (isVoid)
    return {
      ...effect,
      moves: [
        {
          to: 'refunded',
          why: effect.partsBecome === 'returned' ? 'refunded_through_partner' : 'given_back_by_partner',
        },
      ],
    }
  const kept: OrderEffect = { ...effect, attempt: attempt.status }
  if (isClosed(payment.status) || payment.parkReason === 'unexpected_settlement')
    return { ...kept, incident: 'chargeback' }
  return {
    ...kept,
    voidsPayout: true,
    park: 'funds_reversed',
    moves: payment.status === 'under_review' ? [] : [{ to: 'under_review', why: 'funds_reversed' }],
  }
}

/**
 * The partner holds less of this attempt's money than before, but not nothing. What was returned from elsewhere is taken
 * first: it is ours, and what is counted of the rest is all there.
 */
export function partlyGone(story: Story, missing: string): OrderEffect {
  const { payment, attempt } = story
  const ours = atMost(missing, returnedOutside(payment.parts, attempt.id))
  const effect = someGone(story, atMost(subtract(missing, ours), heldOf(payment.parts, attempt.id)))
  return { ...effect, parts: [...effect.parts, ...takeOutside(payment.parts, attempt.id, ours)] }
}

function someGone(story: Story, missing: string): OrderEffect {
  const { payment, attempt } = story
  const parts = takeSome(payment.parts, attempt.id, missing)
  const lost = parts.filter(({ state }) => state === 'counted')
  const effect: OrderEffect = { ...nothing(attempt.status), parts }
  if (payment.paidAttemptId !== attempt.id || lost.length === 0) return effect
  // Of a void payout only the record is left: the rest is still to be given back, by an operator.
  if (payment.converted) return payment.parkReason === 'payout_voided' ? effect : afterConversion(story, effect)
  const before = chargeSum(payment.parts, { attemptId: attempt.id, states: ['counted'] })
  const counted = lost.reduce((sum, { chargeMinor }) => subtract(sum, subtract('0', chargeMinor)), before)
  return countedAnew(story, effect, counted)
}

type Unsold = {
  readonly payment: Pick<Story['payment'], 'status' | 'parkReason' | 'exception' | 'parts'>
  readonly attempt: Pick<Story['attempt'], 'asked' | 'status'>
  readonly context: Pick<NewsContext, 'tolerancePercent'>
}

/** Otherwise than before is counted of the payment's own money, which is not sold yet: that is its money now. */
export function countedAnew(unsold: Unsold, effect: OrderEffect, counted: string): OrderEffect {
  const { payment, attempt, context } = unsold
  const taken: OrderEffect = { ...effect, money: 'take' }
  const fit = compareReceived(attempt.asked, counted, context.tolerancePercent)
  if (fit !== 'underpaid') return enough(unsold, taken, fit)
  return {
    ...taken,
    attempt: 'underpaid',
    exception: 'underpaid',
    park: payment.status === 'under_review' && !endsAsUnderpaid(payment.parkReason) ? payment.parkReason : 'underpaid',
    moves: payment.status === 'processing' ? [{ to: 'under_review', why: 'underpaid' }] : [],
  }
}

/** What nobody has to approve goes on by the partner's word. */
function enough({ payment, attempt }: Unsold, taken: OrderEffect, fit: 'exact' | 'overpaid'): OrderEffect {
  const exception = exceptionOf(payment.parts, fit)
  if (attempt.status !== 'underpaid') {
    const isTooMuchNoMore = payment.exception === 'overpaid' && fit === 'exact'
    return isTooMuchNoMore ? { ...taken, exception } : taken
  }
  const park = payment.parkReason === 'underpaid' ? 'order_changed' : taken.park
  return { ...taken, attempt: 'confirmed', exception, park }
}

/** Another try of the conversion, or the partner's word, must not make too little money enough. */
const endsAsUnderpaid = (reason: ParkReason | null): boolean => waitsForPartner(reason) || reason === 'conversion'

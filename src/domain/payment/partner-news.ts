import { isZero } from '../money.ts'
import { came, missingFrom, missingOf, newReceipts, waitsForMoney } from './money/coming.ts'
import {
  type KnownAttempt,
  type KnownPayment,
  type NewsContext,
  nothing,
  type OrderEffect,
  type Story,
} from './money/effect.ts'
import { gone, partlyGone } from './money/going.ts'
import { isInDoubt, type Misfit, openRefund } from './money/intents.ts'
import { atPartner, chargeSum, countedBeside, heldOf, returnedOutside } from './money/parts.ts'
import type { PartnerOrder } from './partner.ts'
import { type AttemptStatus, afterPartnersWord, isClosed, isSettled, waitsForPartner } from './payment.ts'
import type { PaymentWithAttempts } from './payment-object.ts'

/**
 * What an order, as the partner reports it now, means for the payment. Pure: the database applies the answer in one
 * transaction, and reading the same order twice changes nothing the second time.
 */
export function effectOfOrder(
  payment: KnownPayment,
  attempt: KnownAttempt,
  news: { order: PartnerOrder; context: NewsContext },
): OrderEffect {
  const story: Story = { payment, attempt, ...news }
  const effect = effectOfStory(story)
  return effect.money === 'take' ? besideOthers(story, effect) : effect
}

/** Parts of the price that came through another order are not lost: an operator decides about them. */
function besideOthers({ payment, attempt }: Story, effect: OrderEffect): OrderEffect {
  const besides = countedBeside(payment.parts, attempt.id)
  return besides.length === 0 ? effect : { ...effect, besides, exception: effect.exception ?? 'duplicate_payment' }
}

function effectOfStory(story: Story): OrderEffect {
  const { attempt, order, context } = story
  if (!fits(attempt, order, context)) return misfitOrEnd(story)
  switch (order.status) {
    case 'open':
      return waiting(story, 'open')
    case 'verification_required':
      return verification(story)
    case 'confirming':
      return confirming(story)
    case 'on_hold':
      return onHold(story)
    case 'wrong_asset':
      return wrongAsset(story)
    case 'paid':
      return paid(story)
    case 'declined':
      return refused(story)
    case 'canceled':
    case 'expired':
      return ended(story, order.status)
    case 'refunded':
      return gone(story, { to: 'refunded', failureCode: null })
  }
}

/**
 * An authentic answer about another order, account, currency or amount is not news of this attempt; nor is a payment
 * without its amount.
 */
export function fits(attempt: KnownAttempt, order: PartnerOrder, context: NewsContext): boolean {
  return whyMisfit(attempt, order, context) === null
}

/** The amount is asked last: where it is the reason, everything else fits. */
function whyMisfit(attempt: KnownAttempt, order: PartnerOrder, { account }: NewsContext): Misfit['why'] | null {
  const { asked, acknowledgedMinor } = attempt
  if (order.attemptId !== attempt.id) return 'order'
  if (order.account !== account) return 'account'
  if (order.amount.currency !== asked.currency) return 'currency'
  if (order.received !== null && order.received.currency !== asked.currency) return 'currency'
  if (order.status === 'paid' && !hasMoney(order)) return 'no_amount'
  return order.amount.minor === asked.minor || order.amount.minor === acknowledgedMinor ? null : 'amount'
}

/** It is this order, of another amount, and no money has come or is on its way by it: nobody has to look. */
export function hasNothing(attempt: KnownAttempt, order: PartnerOrder, context: NewsContext): boolean {
  return whyMisfit(attempt, order, context) === 'amount' && !isMoney(order)
}

/** Whether an order in this state says what there is of its money. One that is waited for, or on hold, may say less than it has. */
const TELLS_OF_MONEY: Readonly<Record<PartnerOrder['status'], boolean>> = {
  open: false,
  verification_required: false,
  confirming: false,
  on_hold: false,
  wrong_asset: true,
  paid: true,
  declined: true,
  canceled: true,
  expired: true,
  refunded: true,
}

/**
 * Whether what does not fit of an order ends by an answer that fits: it says what is there of the money that we count, so
 * that we count no more than that. Of USDC the chain says it always.
 */
export function tellsOfMoney(parts: PaymentWithAttempts['parts'], { attemptId, status, usdc }: PartnerOrder): boolean {
  return isZero(heldOf(parts, attemptId)) || usdc !== undefined || TELLS_OF_MONEY[status]
}

/**
 * The partner does not let go what it had confirmed, or does not confirm it any more: as long as that is so, nothing is
 * converted, and nothing that is in doubt is paid out. Where the payment waits for the partner's own word, that word lets
 * it go on.
 */
export function isWithheld(
  { payment, parts, incidents }: Pick<PaymentWithAttempts, 'payment' | 'parts' | 'incidents'>,
  order: PartnerOrder,
): boolean {
  const { paidAttemptId, usdc, parkReason } = payment
  const mayBeStopped = (usdc === null || isInDoubt(incidents, payment)) && !waitsForPartner(parkReason)
  if (paidAttemptId !== order.attemptId || !mayBeStopped || order.usdc !== undefined) return false
  const isUnconfirmed = ['open', 'verification_required', 'confirming'].includes(order.status)
  return order.status === 'on_hold' || (isUnconfirmed && !isZero(missingFrom(parts, order)))
}

/** What an operator has to see of an order that does not fit. */
export function misfitOf(attempt: KnownAttempt, order: PartnerOrder, context: NewsContext): Misfit {
  const { status, amount, received } = order
  return { why: whyMisfit(attempt, order, context) ?? 'refused', status, amount, received }
}

/** What was refunded has gone back, although the partner goes on saying what it had received. */
const isMoney = (order: PartnerOrder): boolean =>
  order.status !== 'refunded' && (order.status === 'paid' || order.status === 'confirming' || hasMoney(order))

function hasMoney({ received }: PartnerOrder): boolean {
  return received !== null && !isZero(received.minor)
}

/**
 * An order of another amount that is over and holds nothing: whatever was asked for, there is nothing to wait for, and
 * what was counted of it is gone.
 */
function misfitOrEnd(story: Story): OrderEffect {
  const { attempt, order, context } = story
  const { status, failureCode } = order
  const ends = isEnd(status) && hasNothing(attempt, order, context)
  return ends ? gone(story, { to: status, failureCode }) : misfit(story)
}

const isEnd = (status: PartnerOrder['status']): status is 'declined' | 'canceled' | 'expired' | 'refunded' =>
  status === 'declined' || status === 'canceled' || status === 'expired' || status === 'refunded'

/** By the partner's word the order is at its end, and holds nothing. */
export const isOver = (order: PartnerOrder): boolean => isEnd(order.status) && !isMoney(order)

/**
 * It is this order, of another amount, and the partner has what we know of: an operator has decided about that, or will, by
 * what it is. Not of the own money of a payment that goes on, whose order may be acknowledged.
 */
export function tellsWhatIsKnown({ payment, attempt, order, context }: Story): boolean {
  const { paidAttemptId, status, parts } = payment
  const isOwn = paidAttemptId === attempt.id && !isClosed(status)
  if (isOwn || whyMisfit(attempt, order, context) !== 'amount' || order.status !== 'paid') return false
  return hasMoney(order) && order.received?.minor === atPartner(parts, attempt.id)
}

/** Whoever's money that is, an operator must look: each report is an incident, and the payment parks where it can. */
function misfit({ payment, attempt, order, context }: Story): OrderEffect {
  if (tellsWhatIsKnown({ payment, attempt, order, context })) return nothing(attempt.status)
  // Money that we count, of our order with another amount or currency, which says that it has none.
  const why = whyMisfit(attempt, order, context)
  const isOurs = why === 'amount' || why === 'currency'
  const isMissing = isOurs && !isMoney(order) && !isZero(heldOf(payment.parts, attempt.id))
  if (!isMoney(order) && !isMissing) return nothing(attempt.status)
  const isUnpaid = payment.paidAttemptId === null && (payment.status === 'pending' || payment.status === 'processing')
  if (isUnpaid && !isMissing)
    return {
      ...nothing('on_hold'),
      incident: 'misfit',
      park: 'amount_mismatch',
      moves: [{ to: 'under_review', why: 'misfit' }],
    }
  // Where the payment waits for money, or for one more that does not fit: the same decisions give it back.
  const waitsFor = payment.status === 'under_review' && payment.paidAttemptId === null ? payment.parkReason : null
  const isWaitedFor = waitsForMoney(waitsFor) && !isMissing
  const isOneMore = payment.status === 'under_review' && payment.parkReason === 'amount_mismatch'
  const isWithoutBook = isZero(heldOf(payment.parts, attempt.id)) && !isSettled(attempt.status)
  const to = (isOneMore || isWaitedFor) && isWithoutBook ? 'on_hold' : attempt.status
  return { ...nothing(to), incident: 'misfit', park: isWaitedFor && isWithoutBook ? 'amount_mismatch' : null }
}

/** Nothing final yet. A deposit may be a part of the price: it counts, and the attempt stays open for the rest. */
function waiting(story: Story, to: AttemptStatus): OrderEffect {
  const receipts = story.order.usdc === undefined ? [] : newReceipts(story)
  const effect = receipts.length === 0 ? nothing(story.attempt.status) : came(story, receipts, false)
  // An attempt that had money, or is dead, is not reopened by an answer that came out of order.
  const isEarly = ['opening', 'open', 'verification_required'].includes(story.attempt.status)
  return isEarly && effect.attempt === story.attempt.status ? { ...effect, attempt: to } : effect
}

function verification(story: Story): OrderEffect {
  const effect = waiting(story, 'verification_required')
  const { status } = story.payment
  const isAsked = effect.attempt === 'verification_required' && (status === 'created' || status === 'pending')
  return isAsked ? { ...effect, exception: 'verification_required' } : effect
}

function confirming({ payment, attempt }: Story): OrderEffect {
  if (isSettled(attempt.status)) return nothing(attempt.status)
  const moves = payment.status === 'pending' ? [{ to: 'processing' as const, why: 'confirming' as const }] : []
  return { ...nothing('confirming'), moves }
}

/** Money that was counted and not yet converted is held too: what the partner does not let go cannot be sold. */
function onHold({ payment, attempt }: Story): OrderEffect {
  const isMine = payment.paidAttemptId === attempt.id
  const parks = isMine
    ? payment.status === 'processing' && !payment.converted
    : payment.paidAttemptId === null && (payment.status === 'pending' || payment.status === 'processing')
  if (isSettled(attempt.status) && !isMine) return nothing(attempt.status)
  return {
    ...nothing(isMine ? attempt.status : 'on_hold'),
    moves: parks ? [{ to: 'under_review', why: 'held_by_partner' }] : [],
    park: parks ? 'partner_hold' : null,
  }
}

/** The buyer sent another token. It can be given back by hand only; the right one, when it still comes, is taken. */
function wrongAsset(story: Story): OrderEffect {
  const { payment, attempt } = story
  const effect = waiting(story, attempt.status)
  const isTaken = effect.money === 'take'
  if (isTaken || isSettled(attempt.status) || attempt.status === 'on_hold') return effect
  const parks = payment.paidAttemptId === null && (payment.status === 'pending' || payment.status === 'processing')
  return {
    ...effect,
    attempt: 'on_hold',
    exception: 'wrong_asset',
    moves: parks ? [{ to: 'under_review', why: 'wrong_asset' }] : [],
    park: parks ? 'wrong_asset' : null,
  }
}

function paid(story: Story): OrderEffect {
  const { payment, attempt } = story
  const receipts = newReceipts(story)
  const missing = missingOf(story)
  const isMine = payment.paidAttemptId === attempt.id
  if (!isZero(missing)) return goesOn(story, partlyGone(story, missing))
  if (isMine && receipts.length === 0) return goesOn(story, nothing(attempt.status))
  // A part of the price that came before is taken now that the partner, or the clock, says that this is all.
  const counted = chargeSum(payment.parts, { attemptId: attempt.id, states: ['counted'] })
  const waitsToBeTaken = payment.paidAttemptId === null && !isZero(counted)
  if (receipts.length === 0 && (!waitsToBeTaken || isSettled(attempt.status))) return nothing(attempt.status)
  return goesOn(story, came(story, receipts, true))
}

/**
 * The payment's own money, held by the partner or in doubt after it had been counted, may go on, and too little of it waits to
 * be approved. Not while it is being given back, nor where a part of it is missing: after the conversion its payout is
 * voided then.
 */
function goesOn({ payment, attempt }: Story, effect: OrderEffect): OrderEffect {
  const isOwn = payment.status === 'under_review' && payment.paidAttemptId === attempt.id
  const counted = chargeSum(payment.parts, { attemptId: attempt.id, states: ['counted'] })
  const isWhole = !effect.voidsPayout && (effect.money === 'take' || counted === payment.confirmed?.minor)
  if (!isOwn || !isWhole || openRefund(payment.intents, attempt.id) !== null) return effect
  switch (afterPartnersWord(payment.parkReason, effect.attempt)) {
    case 'processing':
      return { ...effect, moves: [{ to: 'processing', why: 'released_by_partner' }] }
    case 'underpaid':
      return { ...effect, park: 'underpaid' }
    case null:
      return effect
  }
}

/** Refused. Money that the partner holds all the same is an operator's, where we have never seen it, or it is ours by now. */
function refused(story: Story): OrderEffect {
  const { payment, attempt, order } = story
  const isOurs = isZero(heldOf(payment.parts, attempt.id)) && !isZero(returnedOutside(payment.parts, attempt.id))
  const wasSeen = !isOurs && payment.parts.some(({ attemptId }) => attemptId === attempt.id)
  if (hasMoney(order) && !wasSeen) return misfit(story)
  return gone(story, { to: 'declined', failureCode: order.failureCode })
}

/** Canceled or run out. Money that the partner holds all the same is money. */
function ended(story: Story, to: 'canceled' | 'expired'): OrderEffect {
  return hasMoney(story.order) ? paid(story) : gone(story, { to, failureCode: story.order.failureCode })
}

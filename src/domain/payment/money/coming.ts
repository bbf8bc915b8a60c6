import { add, atMost, compareReceived, isZero, subtract } from '../../money.ts'
import type { MoveReason } from '../../timeline.ts'
import type { PartnerOrder, UsdcOrder } from '../partner.ts'
import { isClosed, type ParkReason, type PaymentException, type PaymentStatus } from '../payment.ts'
import { nothing, type OrderEffect, type Story } from './effect.ts'
import { openRefund } from './intents.ts'
import {
  atPartner,
  attemptsWith,
  chargeSum,
  countedAgain,
  fiatReceipt,
  heldOf,
  keepDust,
  type Owner,
  type Part,
  type PartState,
  usdcReceipts,
} from './parts.ts'

/** Money has come: whose it is, and what it does to the payment. */

/** The payment's money has come, and gone on. */
const BEYOND_PAYING: readonly PaymentStatus[] = ['settling', 'succeeded', 'refunded']

/** Parked without money: the money's coming ends the waiting. */
export function waitsForMoney(reason: ParkReason | null): boolean {
  return reason === 'partner_hold' || reason === 'wrong_asset' || reason === 'partner_silent'
}

/** What the report has beyond the parts that are known. Empty: nothing new has come. */
export function newReceipts(story: Story): Part[] {
  const { payment, attempt, order } = story
  const state = ownerOfNew(story)
  if (order.usdc !== undefined) {
    const { receipts } = order.usdc
    return usdcReceipts(payment.parts, attempt.id, { receipts, toCharge: inCharge(story, order.usdc), state })
  }
  const total = order.received
  const before = atPartner(payment.parts, attempt.id)
  if (total === null || BigInt(total.minor) <= BigInt(before)) return []
  const owner = goesBackToo(story, { state })
  const ours = oursOfNew(story)
  if (isZero(ours.minor)) return [fiatReceipt(payment.parts, attempt.id, { total, owner })]
  const upTo = atMost(total.minor, add(before, ours.minor))
  const first = fiatReceipt(payment.parts, attempt.id, { total: { ...total, minor: upTo }, owner: ours.owner })
  if (upTo === total.minor) return [first]
  return [first, fiatReceipt([...payment.parts, first], attempt.id, { total, owner })]
}

/** It was counted before the partner took it back, and is what the merchant was paid for. */
const OURS_AGAIN = { state: 'counted' } as const

/**
 * Of an order whose refund is being carried out the partner gives back all that it has: what comes goes the same way, back to
 * the buyer, or, refused, to whom it would have belonged.
 */
function goesBackToo({ payment, attempt }: Story, owner: Owner): Owner {
  if (openRefund(payment.intents, attempt.id) === null) return owner
  return { ...owner, state: 'returning', stateBefore: owner.state }
}

/** How much of what comes now belongs to money that the payment has, or had, and where: `0` when that is all there. */
function oursOfNew(story: Story): { readonly minor: string; readonly owner: Owner } {
  const lost = lostOf(story)
  const minor = isZero(lost) ? missingOfRefund(story) : lost
  return { minor, owner: goesBackToo(story, OURS_AGAIN) }
}

/** While the payment's own money is being given back: what the partner has of it less than was confirmed. */
function missingOfRefund({ payment, attempt }: Story): string {
  const { status, paidAttemptId, confirmed, parts, intents } = payment
  const isOwn = status === 'under_review' && paidAttemptId === attempt.id
  if (!isOwn || confirmed === null || openRefund(intents, attempt.id) === null) return '0'
  const missing = subtract(confirmed.minor, countedAgain(parts, attempt.id))
  return BigInt(missing) > 0n ? missing : '0'
}

/**
 * What the partner has taken back of the payment's own money since it was sold, where the merchant was paid for it or may be
 * yet: the loss is ours, and so is the money when it comes back, as by a chargeback that is won.
 */
function lostOf({ payment, attempt }: Story): string {
  const { status, parkReason, paidAttemptId, converted, confirmed, parts, intents } = payment
  // Until the void of the payout is proved, its transfer may have been faster.
  const isVoiding = parkReason === 'funds_reversed'
  const isOurs = converted && (status === 'succeeded' || parkReason === 'unexpected_settlement' || isVoiding)
  const isOwn = paidAttemptId === attempt.id && confirmed !== null && openRefund(intents, attempt.id) === null
  if (!isOurs || !isOwn) return '0'
  const lost = subtract(confirmed.minor, chargeSum(parts, { attemptId: attempt.id, states: ['counted'] }))
  return BigInt(lost) > 0n ? lost : '0'
}

/** What came in USDC, in minor units of the price, floored; the asked USDC is exactly the price. */
function inCharge({ attempt }: Story, { askedMicro }: UsdcOrder): (micro: string) => string {
  return (micro) => ((BigInt(attempt.asked.minor) * BigInt(micro)) / BigInt(askedMicro)).toString()
}

/** What comes now is the payment's, as long as it has no money or completes its own; else an operator decides. */
function ownerOfNew({ payment, attempt }: Story): PartState {
  const { paidAttemptId, status, listenEnded } = payment
  const completes = paidAttemptId === attempt.id && attempt.status === 'underpaid' && !payment.converted
  const isGivenBack = attempt.returnedByHand || attempt.status === 'refunded'
  const isFirst = paidAttemptId === null && attempt.status !== 'surplus' && !isGivenBack
  const isWanted = (completes || isFirst) && !BEYOND_PAYING.includes(status)
  const isTooLate = isClosed(status) && listenEnded
  if (isWanted && !isTooLate) return 'counted'
  return isTooLate ? 'late' : 'surplus'
}

/** The effect of the receipts on the payment. `isWhole`: the partner says that this is the payment, not a part of it. */
export function came(story: Story, receipts: readonly Part[], isWhole: boolean): OrderEffect {
  const { attempt, payment } = story
  const owner = receipts[0]?.state ?? 'counted'
  const effect = { ...nothing(attempt.status), parts: receipts }
  if (owner === 'returning' || (owner === 'counted' && payment.converted)) return oursAgain(effect)
  const isMine = payment.paidAttemptId === attempt.id
  const isAwaited = owner === 'counted' && !(isClosed(payment.status) && isZero(heldOf(payment.parts, attempt.id)))
  const dust = isAwaited ? [] : keepDust(payment.parts, receipts)
  if (dust.length > 0) return { ...effect, parts: [...receipts, ...dust] }
  if (owner === 'late')
    return {
      ...effect,
      attempt: isMine ? attempt.status : 'late',
      exception: payment.paidAttemptId === null ? 'paid_late' : 'duplicate_payment',
    }
  if (owner === 'surplus')
    return { ...effect, attempt: isMine ? attempt.status : 'surplus', exception: 'duplicate_payment' }
  const counted = receipts.reduce(
    (sum, { chargeMinor }) => add(sum, chargeMinor),
    chargeSum(payment.parts, { attemptId: attempt.id, states: ['counted'] }),
  )
  const fit = compareReceived(attempt.asked, counted, story.context.tolerancePercent)
  if (isMine) return completed(story, effect, fit)
  // A part of the price: the buyer may complete it, and nobody may close it away. What is worth nothing opens nothing again.
  if (!isWhole && fit === 'underpaid' && (!isClosed(payment.status) || isZero(counted)))
    return { ...effect, exception: isZero(counted) ? undefined : 'underpaid' }
  return fit === 'underpaid' ? underpaid(story, effect) : confirmed(story, effect, fit)
}

/** What was lost is there again, or goes back with the rest: nothing but the books changes. What is more is nobody's. */
function oursAgain(effect: OrderEffect): OrderEffect {
  const isMore = effect.parts.some(({ state, stateBefore }) => (stateBefore ?? state) === 'surplus')
  return isMore ? { ...effect, exception: 'duplicate_payment' } : effect
}

/** What is said of money that is enough by now: that it is too much, or that there is a second payment. */
export function exceptionOf(parts: readonly Part[], fit: 'exact' | 'overpaid'): PaymentException | null {
  if (fit === 'overpaid') return 'overpaid'
  return attemptsWith(parts, ['surplus']).length > 0 ? 'duplicate_payment' : null
}

/** More of an underpaid payment's own money. */
function completed({ payment }: Story, effect: OrderEffect, fit: 'exact' | 'underpaid' | 'overpaid'): OrderEffect {
  if (fit === 'underpaid') return { ...effect, money: 'take' }
  return {
    ...effect,
    attempt: 'confirmed',
    money: 'take',
    exception: exceptionOf(payment.parts, fit),
    moves: payment.parkReason === 'underpaid' ? [{ to: 'processing', why: 'completed' }] : [],
  }
}

function confirmed({ payment }: Story, came: OrderEffect, fit: 'exact' | 'overpaid'): OrderEffect {
  const late = payment.status === 'expired' || payment.status === 'canceled'
  const enough: PaymentException | null = fit === 'overpaid' ? 'overpaid' : null
  const effect: OrderEffect = {
    ...came,
    attempt: 'confirmed',
    money: 'take',
    exception: late ? 'paid_late' : enough,
  }
  if (payment.status === 'failed')
    return { ...effect, park: 'money_after_failure', moves: [{ to: 'under_review', why: 'paid_after_failure' }] }
  if (payment.status === 'processing') return effect
  if (payment.status === 'under_review' && !waitsForMoney(payment.parkReason)) return effect
  return { ...effect, moves: [{ to: 'processing', why: whyPaid(payment.status) }] }
}

function whyPaid(from: PaymentStatus): MoveReason {
  if (from === 'expired') return 'paid_after_expiry'
  if (from === 'canceled') return 'paid_after_cancellation'
  if (from === 'under_review') return 'released_by_partner'
  return 'confirmed'
}

function underpaid({ payment }: Story, came: OrderEffect): OrderEffect {
  const late: OrderEffect['moves'] =
    payment.status === 'expired' || payment.status === 'canceled'
      ? [{ to: 'processing', why: whyPaid(payment.status) }]
      : []
  const isParked = payment.status === 'under_review'
  return {
    ...came,
    attempt: 'underpaid',
    money: 'take',
    exception: 'underpaid',
    // Too little is approved when what does not fit has gone back.
    park: isParked && payment.parkReason === 'amount_mismatch' ? payment.parkReason : 'underpaid',
    moves: isParked ? [] : [...late, { to: 'under_review', why: 'underpaid' }],
  }
}

/** How much of what the partner had of the order the report does not have any more; `0` when nothing is missing. */
export function missingOf({ payment, order }: Story): string {
  return order.usdc === undefined ? missingFrom(payment.parts, order) : '0'
}

export function missingFrom(parts: readonly Part[], { attemptId, received }: PartnerOrder): string {
  const missing = subtract(atPartner(parts, attemptId), received?.minor ?? '0')
  return BigInt(missing) > 0n ? missing : '0'
}

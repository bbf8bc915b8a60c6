import type { ProviderUsed } from '../methods.ts'
import { isZero } from '../money.ts'
import type { Forgotten } from '../settlement/payout.ts'
import { because, type Reason } from '../timeline.ts'
import {
  isAllThere,
  isMisfitBeside,
  isMisfitOpen,
  isUnbooked,
  mayBeOfOrder,
  misfitOfAttempt,
  openRefund,
} from './money/intents.ts'
import { countedBeside, fiatReceipt, type Part, type PartState, takeAll, unitSum } from './money/parts.ts'
import { isClosed } from './payment.ts'
import type { Attempt, PaymentWithAttempts } from './payment-object.ts'
import type { OperatorNote } from './requests.ts'

/** Giving money back: which attempt's, when it is refused, and what it changes. */

/** A refusal that is found out when the decision is carried out: for which payments, and what the operator is told. */
export type LateRefusal = { readonly when: string; readonly why: string }

export const NO_MONEY: LateRefusal = {
  when: 'there is no money to refund',
  why: 'There is no money to refund',
}
export const PAYOUT_EXISTS: LateRefusal = {
  when: 'its payout is not voided',
  why: 'The payout exists and is not voided: void it first',
}
/** The database may be a backup that has forgotten what was handed over: then the merchant has the money, or will have it. */
export const PAID_FORGOTTEN: LateRefusal = {
  when: 'the database was restored, and the merchant was paid before, or a payout must be canceled first',
  why: 'The database was restored from a backup, and lacks the latest payouts',
}
export const NAME_IT: LateRefusal = {
  when: 'the money of more than one attempt could be meant, and none is named',
  why: 'Name the attempt whose money goes back, as "attempt"',
}
export const MISFIT_LEFT: LateRefusal = {
  when: 'money that does not match is still there',
  why: 'Money of another attempt does not match: refund it first, and name that attempt',
}
export const BEING_REFUNDED: LateRefusal = {
  when: 'its refund is in progress',
  why: 'The refund of this attempt is in progress: wait until it ends',
}

/** Money that may go back to the buyer now: the units of one attempt in these states. */
export type Refundable = {
  readonly attempt: Attempt
  readonly states: readonly PartState[]
  /** It is the payment's own money, or what the payment is parked for and all that it has: with it the payment is refunded. */
  readonly endsPayment: boolean
}

const EXTRA: readonly PartState[] = ['surplus', 'late']

type Through = 'partner' | 'outside'
type Asked = { readonly named: string | undefined; readonly through: Through }

/** Whose money goes back. Refused with the reason when it is nobody's, may not go back, or could be two attempts'. */
export function refundable(
  state: PaymentWithAttempts,
  { named, through }: Asked,
): Refundable | { readonly refused: string } {
  const answers = claimsOn(state, { named, through })
  const claims = answers.filter(isClaim)
  const [claim, another] = claims
  const byHand = answers.flatMap((answer) => ('byHand' in answer ? [answer.byHand] : []))
  if (claim !== undefined && another === undefined && byHand.length === 0)
    return claim.endsPayment && isMisfitLeft(state, claim.attempt.id) ? { refused: MISFIT_LEFT.why } : claim
  if (claim !== undefined) return { refused: whyNameIt([...claims.map(({ attempt }) => attempt.id), ...byHand]) }
  return answers.find((answer) => 'refused' in answer) ?? { refused: NO_MONEY.why }
}

export const whyNameIt = (attemptIds: readonly (string | null)[]): string =>
  `${NAME_IT.why}: ${attemptIds.join(' or ')}`

/** Whose money may go back now, of what could be meant. */
export function mayGoBack(state: PaymentWithAttempts, asked: Asked): Refundable[] {
  return claimsOn(state, asked).filter(isClaim)
}

/**
 * Attempts whose money an operator can give back now, each of which a decision can name. No partner gives back USDC: it is at
 * our own address.
 */
export function returnableAttempts(state: PaymentWithAttempts, through: Through): string[] {
  const claimed = mayGoBack(state, { named: undefined, through }).map(({ attempt }) => attempt.id)
  return state.attempts
    .filter(({ id }) => claimed.includes(id) || mayHaveNoPayout(state, id))
    .filter(({ provider }) => through === 'outside' || provider !== 'crypto')
    .map(({ id }) => id)
}

const isClaim = (answer: Refundable | Refused): answer is Refundable => !('refused' in answer)

/** The attempt that was given back, where nothing else can be meant: none has money left, whether it may go back or not. */
export function givenBackBefore(state: PaymentWithAttempts, asked: Asked): Attempt | undefined {
  const isLeft = claimsOn(state, asked).length > 0
  return isLeft ? undefined : meant(state, asked).find(({ status }) => status === 'refunded')
}

const meant = ({ attempts }: PaymentWithAttempts, { named }: Asked): Attempt[] =>
  attempts.filter(({ id }) => named === undefined || id === named)

/** `byHand`: the attempt has money that goes back from elsewhere alone, and may be meant all the same. */
type Refused = { readonly refused: string; readonly byHand?: string }

/** What the attempts that could be meant say: each that has money. */
function claimsOn(state: PaymentWithAttempts, asked: Asked): (Refundable | Refused)[] {
  return meant(state, asked).flatMap((attempt) => claimOn(state, attempt, asked.through) ?? [])
}

function isMisfitLeft({ payment: { parkReason }, attempts }: PaymentWithAttempts, attemptId: string): boolean {
  return isMisfitBeside({ parkReason, attempts }, attemptId)
}

/** Null: the attempt has no money. */
function claimOn(state: PaymentWithAttempts, attempt: Attempt, through: Through): Refundable | Refused | null {
  const { payment, parts, intents } = state
  if (openRefund(intents, attempt.id) !== null) return { refused: BEING_REFUNDED.why }
  const has = (states: readonly PartState[]) => !isZero(unitSum(parts, { attemptId: attempt.id, states }))
  const isOwn = payment.paidAttemptId === attempt.id && has(['counted'])
  const isFree = payment.status === 'under_review' && (payment.usdc === null || payment.parkReason === 'payout_voided')
  const isPart = payment.paidAttemptId === null && has(['counted'])
  const claim = (states: readonly PartState[], endsPayment: boolean) => ({ attempt, states, endsPayment })
  if (through === 'partner' && has(['counted', ...EXTRA]) && wasGivenBack(parts, attempt))
    return { refused: whyRefundedBefore(attempt.provider), byHand: attempt.id }
  if (isOwn && isFree) return claim(['counted', ...EXTRA], true)
  if (through === 'outside' && !has(EXTRA) && goesByHand(state, attempt)) return claim([], false)
  if (isOwn && !has(EXTRA)) return { refused: PAYOUT_EXISTS.why }
  if (isOwn && through === 'partner') return { refused: whyPartOfOrder(attempt.provider) }
  if (has(EXTRA)) return claim(EXTRA, false)
  if (isPart && payment.status === 'under_review') return claim(['counted'], true)
  // Money that was never counted, because it did not fit: the partner, or the address, has it all the same.
  const isParked = payment.status === 'under_review' && !isMisfitLeft(state, attempt.id)
  return isUnbooked(payment) && attempt.status === 'on_hold'
    ? claim([], isParked && countedBeside(parts, attempt.id).length === 0)
    : null
}

/**
 * What no book has, and the payment does not wait for, goes back by hand alone. Of its own order that is what the partner has
 * beyond what the merchant was paid for, once that is over.
 */
function goesByHand(state: PaymentWithAttempts, attempt: Attempt): boolean {
  const { payment, parts, incidents } = state
  const isWaitedFor = isUnbooked(payment) && attempt.status === 'on_hold'
  const isOwn = payment.paidAttemptId === attempt.id
  const isOurLoss = isOwn && !(isClosed(payment.status) && isAllThere({ payment, parts }))
  if (isWaitedFor || isOurLoss || !isMisfitOpen(incidents, attempt.id)) return false
  return unbookedOf(state, attempt)?.length !== 0
}

/** Held, or in doubt, between the conversion and the payout, which was perhaps never handed over. */
export function mayHaveNoPayout({ payment }: PaymentWithAttempts, named: string | undefined): boolean {
  const { status, usdc, transfer, parkReason, paidAttemptId } = payment
  const isStopped = status === 'under_review' && (parkReason === 'operator_hold' || parkReason === 'order_changed')
  return isStopped && usdc !== null && transfer === null && (named === undefined || named === paidAttemptId)
}

/**
 * The key of a refund is one for the order's life: asked again, the partner would answer for what it gave back then. And of
 * what the buyer was given from elsewhere it would give all, once more.
 */
function wasGivenBack(parts: readonly Part[], { id, returnedByHand }: Attempt): boolean {
  const isReturn = ({ kind }: Part) => kind === 'return' || kind === 'return_outside'
  return returnedByHand || parts.some((part) => part.attemptId === id && isReturn(part))
}

/** With the money of this attempt, which has gone back, the payment is refunded. */
export function endsWith(state: PaymentWithAttempts, attemptId: string): boolean {
  const { payment, parts } = state
  const isMeant =
    payment.paidAttemptId === attemptId || (isUnbooked(payment) && countedBeside(parts, attemptId).length === 0)
  return payment.status === 'under_review' && isMeant && !isMisfitLeft(state, attemptId)
}

export function whyForgotten(forgotten: Forgotten): string {
  return forgotten.kind === 'paid'
    ? `${PAID_FORGOTTEN.why}: the merchant has been paid for this payment by ${forgotten.txHash}. Nothing was changed: let the payment continue, and its payout is recorded`
    : `${PAID_FORGOTTEN.why}: a payout of this payment may be on its way, and is now canceled on chain. Refund again when it is voided, in a few minutes. If it was faster, the merchant has the money`
}

export function whyPartnerCannotRefund(provider: ProviderUsed): string {
  return `${provider} cannot refund: use recordExternalRefund`
}

function whyPartOfOrder(provider: ProviderUsed): string {
  return `${provider} refunds only whole orders, and a part of this one is being settled: use recordExternalRefund for the rest`
}

export function whyRefundedBefore(provider: ProviderUsed): string {
  return `${provider} refunds only whole orders, and money of this one was refunded before: use recordExternalRefund for the rest`
}

/**
 * What the partner says that it has of the attempt and no book has, because it did not fit: given back from elsewhere it is ours,
 * and no money that comes when the partner corrects its order. Null: it does not say so in the order's currency.
 */
function unbookedOf({ parts, incidents }: PaymentWithAttempts, { id, asked }: Attempt): Part[] | null {
  const misfit = misfitOfAttempt(incidents, id)
  const received = misfit?.received ?? null
  if (!mayBeOfOrder(misfit) || received?.currency !== asked.currency) return null
  const total = { minor: received.minor, currency: asked.currency }
  const receipt = fiatReceipt(parts, id, { total, owner: { state: 'returned' } })
  return BigInt(receipt.units) > 0n ? [receipt] : []
}

/** Nobody knows how much of the attempt's money was given back from elsewhere: what its partner tells of later may be that. */
export function isUncounted(state: PaymentWithAttempts, { attempt, states }: Refundable): boolean {
  // Another token at our own address is none of the money that is asked for.
  return states.length === 0 && attempt.provider !== 'crypto' && unbookedOf(state, attempt) === null
}

export type GivenBack = { readonly parts: readonly Part[]; readonly reason: Reason }

/** Returns the facts of these units going back to the buyer. */
export function givenBack(
  state: PaymentWithAttempts,
  claim: Refundable,
  how: { readonly note: OperatorNote; readonly through: Through },
): GivenBack {
  const { operator, reason } = how.note
  const kind = how.through === 'partner' ? 'return' : 'return_outside'
  // With the payment's own money goes what the partner has beyond it.
  const isAll = claim.endsPayment || claim.states.length === 0
  const received = how.through === 'outside' && isAll ? (unbookedOf(state, claim.attempt) ?? []) : []
  const there = [...state.parts, ...received.map((part) => ({ ...part, state: 'returning' as const }))]
  const facts = takeAll(there, claim.attempt.id, { kind, states: [...claim.states, 'returning'] })
  return {
    parts: [...received, ...facts],
    reason: because(how.through === 'partner' ? 'refunded_through_partner' : 'refunded_outside', {
      operator,
      reason,
      attempt_id: claim.attempt.id,
    }),
  }
}

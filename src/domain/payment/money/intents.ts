import type { Money } from '../../money.ts'
import { type AttemptStatus, isDead, type ParkReason } from '../payment.ts'
import { chargeSum, type Part } from './parts.ts'

/**
 * An intent is a decision that another party must still carry out. Its row is stored before the party receives the
 * request, so that it survives any crash. While it is open, nothing else moves the money.
 */

/**
 * `refund`: the partner gives the attempt's money back. `void`: the engine proves that the payout can never be paid.
 * `cancel`: the partner takes no money for the attempt's order any more. A hold and a release are no intents: flag and
 * payout are rows of our own, and change in one transaction.
 */
export const INTENT_KINDS = ['refund', 'void', 'cancel'] as const
export type IntentKind = (typeof INTENT_KINDS)[number]

export type Intent = {
  /** Another one each time that it is asked for: what is said of an earlier time says nothing of this one. */
  readonly id: string
  /** The idempotency key of the effect, one for life. */
  readonly key: string
  readonly kind: IntentKind
  /** Null: it concerns the payment as a whole. */
  readonly attemptId: string | null
  /** `asked`: the party may not know it yet. `pending`: it has said that it is working on it. */
  readonly state: 'asked' | 'pending'
  /** Who asked: an operator by name, or `merchant`, `buyer`, `system`. */
  readonly operator: string
  readonly reason: string
}

export function openRefund(intents: readonly Intent[], attemptId: string | null): Intent | null {
  return intents.find((intent) => intent.kind === 'refund' && intent.attemptId === attemptId) ?? null
}

export function openCancel(intents: readonly Intent[], attemptId: string): Intent | null {
  return intents.find((intent) => intent.kind === 'cancel' && intent.attemptId === attemptId) ?? null
}

/** How far a cancellation is, now that the partner has answered for the order: money that came or comes wins over it. */
export function stateOfCancel(attempt: AttemptStatus): 'pending' | 'done' | 'refused' {
  if (isDead(attempt)) return 'done'
  return attempt === 'opening' || attempt === 'open' || attempt === 'verification_required' ? 'pending' : 'refused'
}

/** What has gone wrong with money and is not a state of the payment: open until an operator has dealt with it. */
export const INCIDENTS = ['chargeback', 'misfit', 'unexpected_settlement', 'outside_reversed'] as const
export type IncidentKind = (typeof INCIDENTS)[number]

export type Incident = {
  readonly kind: IncidentKind
  readonly attemptId: string | null
  /** Only of a misfit: what the partner said. Said again after it was closed, it is nothing new, unless it is about the money of a running payment. */
  readonly misfit?: Misfit | null
}

/**
 * Why what a partner said does not fit: it is about another order, account or currency, is paid without an amount, is of
 * another amount than was asked for, or is refused and has money all the same.
 */
export const MISFITS = ['order', 'account', 'currency', 'no_amount', 'amount', 'refused'] as const

export type Misfit = {
  readonly why: (typeof MISFITS)[number]
  /** In the partner's own words, mapped to ours. */
  readonly status: string
  /** What the partner says that was asked for, and what it has received; null: it names no sum. */
  readonly amount: Pick<Money, 'minor'> & { readonly currency: string }
  readonly received: (Pick<Money, 'minor'> & { readonly currency: string }) | null
}

/** The misfit by which the partner has changed the order of the payment's own money: its amount, which nobody has acknowledged. */
export function changedOrder(
  incidents: readonly Incident[],
  paid: { readonly id: string; readonly acknowledgedMinor: string | null } | undefined,
): (Incident & { readonly attemptId: string; readonly misfit: Misfit }) | null {
  for (const { kind, attemptId, misfit } of incidents)
    if (attemptId !== null && attemptId === paid?.id && misfit?.why === 'amount')
      return misfit.amount.minor === paid.acknowledgedMinor ? null : { kind, attemptId, misfit }
  return null
}

/**
 * Whether what the partner said last of the order of the payment's own money does not fit, and does not even say that
 * all of it is there. What somebody has dealt with is closed, and a change that was acknowledged when the partner has said
 * what is there. The SQL function `money_is_free` says the same.
 */
export function isInDoubt(
  incidents: readonly Incident[],
  { paidAttemptId, confirmed }: { readonly paidAttemptId: string | null; readonly confirmed: Money | null },
): boolean {
  const misfit = misfitOfAttempt(incidents, paidAttemptId)
  return misfit !== null && !(confirmed !== null && hasAll(misfit, confirmed))
}

/** What a partner said last of this order that does not fit; null where nothing is open. */
export function misfitOfAttempt(incidents: readonly Incident[], attemptId: string | null): Misfit | null {
  const open = incidents.find((one) => one.kind === 'misfit' && one.attemptId !== null && one.attemptId === attemptId)
  return open?.misfit ?? null
}

/** Whether something of this order that does not fit is before an operator: what its partner said, or another token. */
export function isMisfitOpen(incidents: readonly Incident[], attemptId: string): boolean {
  return incidents.some((one) => one.kind === 'misfit' && one.attemptId === attemptId)
}

/** Only the amount that was asked for has changed: by its own word the partner has as much as was confirmed. */
function hasAll({ why, ...told }: Misfit, confirmed: Money): boolean {
  return why === 'amount' && tellsOfAll(told, confirmed)
}

function tellsOfAll({ status, received }: Pick<Misfit, 'status' | 'received'>, confirmed: Money): boolean {
  return status === 'paid' && BigInt(received?.minor ?? '0') >= BigInt(confirmed.minor)
}

/** Whether what it says of money may be about the order that it was said of. */
export function mayBeOfOrder(misfit: Misfit | null | undefined): boolean {
  return misfit != null && misfit.why !== 'order' && misfit.why !== 'account'
}

type DoubtedMoney = Pick<GuardedMoney, 'incidents'> & { readonly payment: Parameters<typeof isInDoubt>[1] }
type ToldOrder = Pick<Misfit, 'status' | 'received'> & { readonly attemptId: string }

/** Whether the answer about the payment's own order says that all of the money is there. */
export function isToldWhole({ payment, incidents }: DoubtedMoney, order: ToldOrder): boolean {
  const { paidAttemptId, confirmed } = payment
  if (confirmed === null || order.attemptId !== paidAttemptId || !tellsOfAll(order, confirmed)) return false
  return !isInDoubt(incidents, payment)
}

/** Whether money of another attempt does not fit and is still there: once the payment has ended, it goes back by hand alone. */
export function isMisfitBeside(
  payment: {
    readonly parkReason: ParkReason | null
    readonly attempts: readonly { readonly id: string; readonly status: AttemptStatus }[]
  },
  attemptId: string | null,
): boolean {
  return isUnbooked(payment) && payment.attempts.some(({ id, status }) => id !== attemptId && status === 'on_hold')
}

/** The payment waits for a person because of money that no book has. */
export function isUnbooked({ parkReason }: { readonly parkReason: ParkReason | null }): boolean {
  return parkReason === 'amount_mismatch' || parkReason === 'wrong_asset'
}

/** The money of a payment as the guard sees it. */
export type GuardedMoney = {
  readonly payment: {
    readonly held: boolean
    readonly paidAttemptId: string | null
    readonly confirmed: Money | null
  }
  readonly parts: readonly Part[]
  readonly intents: readonly Intent[]
  readonly incidents: readonly Incident[]
}

/** Why the money may not move on, in words for an operator. The SQL function `money_is_free` says the same. */
export const NOT_FREE = {
  held: 'An operator holds the payment: release it first',
  decided: 'A refund or a void of this money is in progress: wait until it ends',
  nothing: 'No money was confirmed: there is nothing to settle',
  changed: 'The money at the partner no longer matches what was confirmed: nothing can be paid out',
  in_doubt:
    'The partner’s order differs from what was confirmed, and money is missing: acknowledge the change if the amount has changed, and wait until the partner reports what is there. Refund what must not be paid; void a payout first',
} as const
export type NotFree = keyof typeof NOT_FREE

/** The one guard before a conversion and before a payout. Null: the money may move on. */
export function whyNotFree({ payment, parts, intents, incidents }: GuardedMoney): NotFree | null {
  const { paidAttemptId, confirmed, held } = payment
  if (held) return 'held'
  if (intents.some((intent) => decidesAbout(intent, paidAttemptId))) return 'decided'
  if (paidAttemptId === null || confirmed === null) return 'nothing'
  if (!isWhole(parts, { paidAttemptId, confirmed })) return 'changed'
  return isInDoubt(incidents, payment) ? 'in_doubt' : null
}

/** What else keeps the money of a payment that an operator holds: a hold is lifted by a release, and by nothing else. */
export function whyNotFreeButForHold(money: GuardedMoney): NotFree | null {
  return whyNotFree({ ...money, payment: { ...money.payment, held: false } })
}

/** Whether an order may still be paid decides nothing about money that has come. */
function decidesAbout({ kind, attemptId }: Intent, paidAttemptId: string | null): boolean {
  return kind !== 'cancel' && (attemptId === null || attemptId === paidAttemptId)
}

/** Nothing of the payment's own money is missing. */
export function isAllThere({
  payment: { paidAttemptId, confirmed },
  parts,
}: Omit<GuardedMoney, 'intents' | 'incidents'>): boolean {
  return paidAttemptId !== null && confirmed !== null && isWhole(parts, { paidAttemptId, confirmed })
}

/** Every part that was counted when the payment was confirmed is still there, and nothing was added. */
function isWhole(parts: readonly Part[], paid: { paidAttemptId: string; confirmed: Money }): boolean {
  return chargeSum(parts, { attemptId: paid.paidAttemptId, states: ['counted'] }) === paid.confirmed.minor
}

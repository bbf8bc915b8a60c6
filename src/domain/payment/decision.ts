import { NOT_FREE } from './money/intents.ts'
import { isClosed, PARK_REASONS, type PaymentStatus } from './payment.ts'
import {
  BEING_REFUNDED,
  type LateRefusal,
  MISFIT_LEFT,
  NAME_IT,
  NO_MONEY,
  PAID_FORGOTTEN,
  PAYOUT_EXISTS,
} from './refund.ts'
import type { OperatorDecision, OperatorNote } from './requests.ts'
import { needsOperator, offeredDecisions, type PaymentSnapshot } from './snapshot.ts'

/**
 * The decisions of operators: which are refused, and why. The workflow's validators ask it, the activities ask
 * it again, what they lead to is in money/decided.ts, and the table in docs/operations.md is made of it.
 */

type Rule = {
  /** For the table: the payments that it refuses. */
  readonly when: string
  /** What the operator is told; null: not refused by this rule. */
  readonly why: (payment: PaymentSnapshot) => string | null
}

export const NOTHING_TO_SETTLE: LateRefusal = {
  when: 'no money was confirmed',
  why: 'No money was confirmed: there is nothing to settle',
}
export const MONEY_CONFIRMED: LateRefusal = {
  when: 'money was confirmed: refund it',
  why: 'Money was confirmed: refund it',
}

export const ORDER_UNCHANGED: LateRefusal = {
  when: 'the partner has not changed the amount of the order whose money the payment has',
  why: 'The partner has not changed the amount of this payment’s order: there is nothing to acknowledge',
}

export const MONEY_WITHHELD: LateRefusal = {
  when: 'the partner withholds the money, or no longer confirms it',
  why: 'The partner withholds the money of this order, or no longer confirms it. Nothing was changed: decide again when the partner has released the money, or refund it. If a payout must not be paid, void it first (`pinrail settlement void`)',
}

const HELD: LateRefusal = { when: 'an operator holds the payment', why: NOT_FREE.held }
const NOT_WHOLE: readonly Pick<LateRefusal, 'when'>[] = [
  { when: 'a refund or a void of the money is in progress' },
  { when: 'the partner reversed the money' },
  { when: 'the partner has changed the order, and does not report that all of the money is there' },
]
export const PAYOUT_SIGNED: LateRefusal = {
  when: 'the payout is signed or on its way',
  why: 'The payout is signed, on its way or ended: it can no longer be held. Void it instead',
}

export const PAYOUT_VOID: LateRefusal = {
  when: 'the payout is void',
  why: 'The payout is void and can never be paid: refund the money',
}

/** It takes whatever is there when it is carried out: that must be what the operator saw. */
export const CHANGED_SINCE: LateRefusal = {
  when: 'the payment has changed since the `version` that the operator looked at',
  why: 'The payment has changed since you looked at it. Nothing was changed: run `pinrail payments explain` again, and decide with its current version',
}
const UNSEEN = 'Add "version": the version of the payment that you looked at. `pinrail payments explain` shows it'

const MISFIT_BESIDE_OWN: Pick<LateRefusal, 'when'> = {
  when: 'it would end the payment, and money of another attempt that does not match is still there',
}

export type DecisionRules = {
  readonly does: string
  /** Asked before the decision is accepted. */
  readonly rule: Rule
  /** Found out while it is carried out. */
  readonly late: readonly Pick<LateRefusal, 'when'>[]
  /** It accepts what is there, money or a hold, and names the version of the payment that was looked at. */
  readonly accepts?: true
}

export const DECISIONS: Readonly<Record<OperatorDecision, DecisionRules>> = {
  approve: {
    does: 'settles what arrived, at the locked rate; records that a transfer already proved on chain, a chargeback or a misfit is resolved',
    rule: parkedFor('approve'),
    late: [CHANGED_SINCE, HELD, MONEY_WITHHELD, NOTHING_TO_SETTLE, MISFIT_LEFT, ...NOT_WHOLE],
    accepts: true,
  },
  reject: {
    does: 'ends the payment as `failed`',
    rule: parkedFor('reject'),
    late: [MONEY_CONFIRMED, BEING_REFUNDED, { when: 'the payment waits for no operator any more' }],
  },
  refund: {
    does: 'refunds the money through the partner',
    rule: parkedFor('refund'),
    late: [
      NO_MONEY,
      NAME_IT,
      BEING_REFUNDED,
      MISFIT_BESIDE_OWN,
      PAYOUT_EXISTS,
      PAID_FORGOTTEN,
      { when: 'the partner cannot refund, refuses, or money of the order was refunded before' },
    ],
  },
  recordExternalRefund: {
    does: 'books a refund that was made outside of the partner',
    rule: parkedFor('recordExternalRefund'),
    late: [CHANGED_SINCE, NO_MONEY, NAME_IT, BEING_REFUNDED, MISFIT_BESIDE_OWN, PAYOUT_EXISTS, PAID_FORGOTTEN],
    accepts: true,
  },
  hold: {
    does: 'keeps the money from being converted, and the payout from being signed',
    rule: {
      when: 'the payment has ended',
      why: ({ status }) => (isClosed(status) ? `A ${status} payment cannot be held here` : null),
    },
    late: [PAYOUT_SIGNED],
  },
  release: {
    does: 'lifts the hold',
    rule: { when: 'nothing is held', why: (payment) => (payment.held ? null : notOffered(payment, 'release')) },
    late: [CHANGED_SINCE, MONEY_WITHHELD],
    accepts: true,
  },
  retry: {
    does: 'tries the conversion or the payout again',
    rule: parkedFor('retry'),
    late: [HELD, MONEY_WITHHELD, PAYOUT_VOID, ...NOT_WHOLE],
  },
  acknowledge: {
    does: 'accepts the order as the partner has changed it: counted money stays, extra money is surplus, missing money is reversed',
    rule: {
      when: ORDER_UNCHANGED.when,
      why: ({ orderChanged }) => (orderChanged ? null : ORDER_UNCHANGED.why),
    },
    late: [CHANGED_SINCE],
    accepts: true,
  },
}

/** Refuses what the reason for which the payment waits does not offer. */
function parkedFor(decision: OperatorDecision): Rule {
  const reasons = Object.entries(PARK_REASONS).filter(([, { decisions }]) => offers(decisions, decision))
  return {
    when: `not parked for ${reasons.map(([reason]) => `\`${reason}\``).join(', ')}`,
    why: (payment) => notOffered(payment, decision),
  }
}

/** A hold is absolute: no other decision sets the money going. */
export function whyHeldBack(
  decision: OperatorDecision,
  payment: Pick<PaymentSnapshot, 'held' | 'txHash'>,
): string | null {
  return payment.held && decision !== 'release' && setsMoneyGoing(decision, payment) ? HELD.why : null
}

function notOffered(payment: PaymentSnapshot, decision: OperatorDecision): string | null {
  const reason = needsOperator(payment)
  if (reason === null) return waitsForNobody(payment)
  if (offers(PARK_REASONS[reason].decisions, decision)) return null
  const offered = offeredDecisions(payment)
  return `Parked for ${reason}: ${offered.length === 0 ? 'it ends automatically' : `decide with ${offered.join(', ')}`}`
}

export const waitsForNobody = ({ status }: { status: PaymentStatus }): string =>
  `The payment is ${status} and does not wait for an operator`

function offers(decisions: readonly string[], decision: OperatorDecision): boolean {
  return decisions.includes(decision)
}

/** What is sent along, in words for who decides in the Temporal UI. Operator and reason go to the timeline. */
export function payloadOf(decision: OperatorDecision): string {
  return `{"operator", "reason"${DECISIONS[decision].accepts === true ? ', "version"' : ''}}`
}

/** Why a note without a name or a reason is refused; null if both are there. */
export function whyNoteRefused(note: OperatorNote | undefined): string | null {
  return note?.operator?.trim() && note.reason?.trim() ? null : 'Give {"operator": "…", "reason": "…"}'
}

/**
 * Why the decision is refused; null if it may be carried out. Asked when the decision arrives, when it is its turn, and
 * after the order was read. For a payment that is not known yet (null) only the note can be refused.
 */
export function whyRefused(
  decision: OperatorDecision,
  note: OperatorNote,
  payment: PaymentSnapshot | null,
): string | null {
  if (payment === null) return whyNoteRefused(note) ?? whyUnwritable(note) ?? whyUnseen(decision, note, 0)
  const whyNot = whyNoteRefused(note) ?? DECISIONS[decision].rule.why(payment) ?? whyUnwritable(note)
  return whyNot ?? whyHeldBack(decision, payment) ?? whyUnseen(decision, note, payment.version)
}

/** Postgres stores neither NUL nor half a character: the step would be retried forever, and block every other message. */
function whyUnwritable({ operator, reason, attempt }: OperatorNote): string | null {
  const texts = [operator, reason, attempt ?? '']
  const areWritable = texts.every((text) => !text.includes('\0') && text.isWellFormed())
  return areWritable ? null : 'Operator, reason and attempt must be text without NUL and without broken Unicode'
}

/** The row may be newer than the version known here: the activity compares the versions again when it has locked the row. */
function whyUnseen(decision: OperatorDecision, { version }: OperatorNote, known: number): string | null {
  if (DECISIONS[decision].accepts !== true) return null
  if (!Number.isInteger(version)) return UNSEEN
  return version !== undefined && version < known ? CHANGED_SINCE.why : null
}

/** After such a decision money moves on that has waited: whether it is still there must be read from the partner first. */
export function setsMoneyGoing(decision: OperatorDecision, { txHash }: Pick<PaymentSnapshot, 'txHash'>): boolean {
  // Of a transfer that is proved on chain only the record is decided.
  return txHash === null && (decision === 'approve' || decision === 'release' || decision === 'retry')
}

const PARTNER_SILENT =
  'The partner does not answer for this order, so it is not known whether the money is still there. Nothing was changed: decide again later.'

const ORDER_ODD =
  'The partner’s report does not match this order, or a newer report has arrived. Nothing was changed: decide again when the partner has corrected it. If a payout must not be paid, void it (`pinrail settlement void`), then refund.'

const ORDER_CHANGED =
  'The partner has changed the amount of the order: decide with acknowledge, or refund the money. Nothing was changed.'

/** The reading of the order of money that is to move on. */
type MoneyRead = { readonly understood: boolean; readonly withheld: boolean }

/** Why no decision may set the money going after this reading of its order; null if the money is there. */
export function whyNotThere(
  read: MoneyRead | null,
  { orderChanged }: Pick<PaymentSnapshot, 'orderChanged'>,
): string | null {
  if (read?.understood === true) return read.withheld ? MONEY_WITHHELD.why : null
  if (orderChanged) return ORDER_CHANGED
  return read === null ? PARTNER_SILENT : ORDER_ODD
}

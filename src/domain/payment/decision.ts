import { because, type MoveReason, type Note, noteOf, type Reason } from '../timeline.ts'
import { NOT_PARKED, type PaymentFields, parked } from './changes.ts'
import { isClosed, PARK_REASONS, type PaymentStatus } from './payment.ts'
import type { Attempt, Payment } from './payment-object.ts'
import { type LateRefusal, NO_MONEY, PAYOUT_EXISTS } from './refund.ts'
import type { OperatorDecision, OperatorNote } from './requests.ts'
import { needsOperator, type PaymentSnapshot } from './snapshot.ts'

/**
 * The decisions of operators: which are refused, why, and what they lead to. The workflow's validators ask it, the
 * activities apply it, and the table in docs/operations.md is made of it.
 */

type Rule = {
  /** For the table: the payments that it refuses. */
  readonly when: string
  /** What the operator is told; null: not refused by this rule. */
  readonly why: (payment: PaymentSnapshot) => string | null
}

const NOTHING_TO_SETTLE: LateRefusal = {
  when: 'no money was confirmed',
  why: 'No money was confirmed: there is nothing to settle',
}
const MONEY_CONFIRMED: LateRefusal = {
  when: 'money was confirmed: refund it',
  why: 'Money was confirmed: refund it',
}

const HELD: LateRefusal = {
  when: 'an operator holds the payment',
  why: 'An operator holds the payment: release it first',
}

export type DecisionRules = {
  readonly does: string
  /** Asked before the decision is accepted. */
  readonly rule: Rule
  /** Found out while it is carried out. */
  readonly late: readonly Pick<LateRefusal, 'when'>[]
}

export const DECISIONS: Readonly<Record<OperatorDecision, DecisionRules>> = {
  approve: {
    does: 'settles what arrived, at the locked rate; records a transfer that is already proved on chain',
    rule: parkedFor('approve'),
    late: [HELD, NOTHING_TO_SETTLE, { when: 'the partner took the money back' }],
  },
  reject: { does: 'ends the payment as `failed`', rule: parkedFor('reject'), late: [MONEY_CONFIRMED] },
  refund: {
    does: 'gives the money back through the partner',
    rule: parkedFor('refund'),
    late: [NO_MONEY, PAYOUT_EXISTS, { when: 'the partner cannot refund, or refuses' }],
  },
  recordExternalRefund: {
    does: 'books a refund that was made outside of the partner',
    rule: parkedFor('recordExternalRefund'),
    late: [NO_MONEY],
  },
  hold: {
    does: 'keeps the money from being converted',
    rule: {
      when: 'the payment has ended, or its payout is on its way',
      why: ({ status }) =>
        isClosed(status) || status === 'settling' ? `A ${status} payment cannot be held here` : null,
    },
    late: [],
  },
  release: {
    does: 'lifts the hold',
    rule: { when: 'nothing is held', why: (payment) => (payment.held ? null : notOffered(payment, 'release')) },
    late: [],
  },
  retry: {
    does: 'tries the conversion or the payout again',
    rule: parkedFor('retry'),
    late: [HELD, { when: 'the partner took the money back' }],
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

/** A hold is absolute: there is no way around it by another decision. */
function whyHeldBack(decision: OperatorDecision, payment: Pick<PaymentSnapshot, 'held' | 'txHash'>): string | null {
  return payment.held && decision !== 'release' && setsMoneyGoing(decision, payment) ? HELD.why : null
}

function notOffered(payment: PaymentSnapshot, decision: OperatorDecision): string | null {
  const reason = needsOperator(payment)
  if (reason === null) return `The payment is ${payment.status} and waits for no operator`
  const { decisions } = PARK_REASONS[reason]
  return offers(decisions, decision) ? null : `Parked for ${reason}: decide with ${decisions.join(', ')}`
}

function offers(decisions: readonly string[], decision: OperatorDecision): boolean {
  return decisions.includes(decision)
}

/** Without a name and a reason nothing is decided. Null: both are there. */
export function whyNoteRefused(note: OperatorNote | undefined): string | null {
  return note?.operator?.trim() && note.reason?.trim() ? null : 'Give {"operator": "…", "reason": "…"}'
}

/** Why the decision is refused at once; null: it may be carried out. */
export function whyRefused(decision: OperatorDecision, note: OperatorNote, payment: PaymentSnapshot): string | null {
  return whyNoLongerAllowed(decision, note, payment) ?? whyHeldBack(decision, payment)
}

/**
 * Why a decision that was accepted before must not be carried out any more. Recorded histories ask this again on today's
 * code, and a stricter answer would break them: a new rule belongs into `whyRefused` and `effectOfDecision`.
 */
export function whyNoLongerAllowed(
  decision: OperatorDecision,
  note: OperatorNote,
  payment: PaymentSnapshot,
): string | null {
  return whyNoteRefused(note) ?? DECISIONS[decision].rule.why(payment)
}

/** After such a decision money moves on that has waited: whether it is still there must be read from the partner first. */
export function setsMoneyGoing(decision: OperatorDecision, { txHash }: Pick<PaymentSnapshot, 'txHash'>): boolean {
  // Of a transfer that is proved on chain only the record is decided.
  return txHash === null && (decision === 'approve' || decision === 'release' || decision === 'retry')
}

export const TAKEN_BACK =
  'The partner took the money back after it was converted: nothing may be paid out. Have the payout voided.'

export const PARTNER_SILENT =
  'The partner does not answer for this order, so it is not known whether the money is still there. Nothing was changed: decide again later.'

/** Decisions that a change of our own rows carries out; a refund needs the partner, and is in refund.ts. */
export type RecordedDecision = Exclude<OperatorDecision, 'refund' | 'recordExternalRefund'>

/** What a decision changes, in this order. */
export type DecisionEffect = {
  readonly change: { readonly note: Note; readonly fields: PaymentFields } | null
  /** Its money counts as enough. */
  readonly confirmedAttemptId: string | null
  /** The payout goes back into the queue. */
  readonly releasesPayout: boolean
  readonly move: { readonly to: PaymentStatus; readonly reason: Reason; readonly fields: PaymentFields } | null
}

const NOTHING: DecisionEffect = { change: null, confirmedAttemptId: null, releasesPayout: false, move: null }

/** What the decision leads to for the row as it is now, which may have moved on since the decision was allowed. */
export function effectOfDecision(
  decision: RecordedDecision,
  { payment, attempts }: { readonly payment: Payment; readonly attempts: readonly Attempt[] },
  note: OperatorNote,
): DecisionEffect | { readonly refused: string } {
  const data = { operator: note.operator, reason: note.reason }
  const move = (to: PaymentStatus, why: MoveReason, fields: PaymentFields = NOT_PARKED): Partial<DecisionEffect> => ({
    move: { to, reason: because(why, data), fields },
  })
  const heldBack = whyHeldBack(decision, { held: payment.held, txHash: payment.transfer?.txHash ?? null })
  if (heldBack !== null) return { refused: heldBack }
  const isParked = payment.status === 'under_review'
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  switch (decision) {
    case 'hold': {
      const holdsMoney = payment.status === 'processing' && payment.paidAttemptId !== null
      const change = { note: noteOf('payment.held', data), fields: { held: true } }
      const parks = holdsMoney ? move('under_review', 'held_before_conversion', parked('operator_hold')) : {}
      return { ...NOTHING, change, ...parks }
    }
    case 'release': {
      const change = { note: noteOf('payment.released', data), fields: { held: false } }
      const resumes = isParked && payment.parkReason === 'operator_hold'
      return { ...NOTHING, change, ...(resumes ? move('processing', 'resumed_after_hold') : {}) }
    }
    case 'approve': {
      if (!isParked) return NOTHING
      // The payout is proved on chain already: what is approved is the record.
      if (payment.transfer !== null) return { ...NOTHING, ...move('succeeded', 'approved') }
      if (payment.paidAttemptId === null) return { refused: NOTHING_TO_SETTLE.why }
      const confirmedAttemptId = paid?.status === 'underpaid' ? paid.id : null
      const fields = payment.parkReason === 'fill_off_rate' ? { ...NOT_PARKED, fillAccepted: true } : NOT_PARKED
      return { ...NOTHING, confirmedAttemptId, ...move('processing', 'approved', fields) }
    }
    case 'retry':
      if (!isParked) return NOTHING
      if (payment.usdc === null) return { ...NOTHING, ...move('processing', 'conversion_retried') }
      return { ...NOTHING, releasesPayout: true, ...move('settling', 'payout_retried') }
    case 'reject':
      if (payment.paidAttemptId !== null) return { refused: MONEY_CONFIRMED.why }
      return { ...NOTHING, ...move('failed', 'rejected') }
  }
}

import { because, type MoveReason, type Note, noteOf, type Reason } from '../timeline.ts'
import { NOT_PARKED, type PaymentFields, parked } from './changes.ts'
import { changedOrder, type Incident, NOT_FREE, whyNotFree } from './money/intents.ts'
import { chargeSum } from './money/parts.ts'
import { isClosed, PARK_REASONS, type PaymentStatus } from './payment.ts'
import type { PaymentWithAttempts } from './payment-object.ts'
import { BEING_REFUNDED, type LateRefusal, NAME_IT, NO_MONEY, PAYOUT_EXISTS } from './refund.ts'
import type { OperatorDecision, OperatorNote } from './requests.ts'
import { needsOperator, offeredDecisions, type PaymentSnapshot } from './snapshot.ts'

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

const ORDER_UNCHANGED: LateRefusal = {
  when: 'the partner has not changed the amount of the order whose money the payment has',
  why: 'The partner has not changed the amount of this payment’s order: there is nothing to acknowledge',
}

const HELD: LateRefusal = { when: 'an operator holds the payment', why: NOT_FREE.held }
const NOT_WHOLE: readonly Pick<LateRefusal, 'when'>[] = [
  { when: 'a refund or a void of the money is being carried out' },
  { when: 'the partner took the money back' },
]
export const PAYOUT_SIGNED: LateRefusal = {
  when: 'the payout is signed or on its way',
  why: 'The payout is signed, on its way or over: it cannot be held any more. Have it voided instead',
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
    does: 'settles what arrived, at the locked rate; records that a transfer already proved on chain, a chargeback or a misfit has been dealt with',
    rule: parkedFor('approve'),
    late: [HELD, NOTHING_TO_SETTLE, ...NOT_WHOLE],
  },
  reject: {
    does: 'ends the payment as `failed`',
    rule: parkedFor('reject'),
    late: [MONEY_CONFIRMED, { when: 'the payment waits for no operator any more' }],
  },
  refund: {
    does: 'gives the money back through the partner',
    rule: parkedFor('refund'),
    late: [
      NO_MONEY,
      NAME_IT,
      BEING_REFUNDED,
      PAYOUT_EXISTS,
      { when: 'the partner cannot refund, refuses, or money of the order was given back before' },
    ],
  },
  recordExternalRefund: {
    does: 'books a refund that was made outside of the partner',
    rule: parkedFor('recordExternalRefund'),
    late: [NO_MONEY, NAME_IT, BEING_REFUNDED, PAYOUT_EXISTS],
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
    late: [],
  },
  retry: {
    does: 'tries the conversion or the payout again',
    rule: parkedFor('retry'),
    late: [HELD, ...NOT_WHOLE],
  },
  acknowledge: {
    does: 'takes the order as the partner has changed it: what was counted stays, what came beside it is surplus, what is missing is gone',
    rule: {
      when: ORDER_UNCHANGED.when,
      why: ({ orderChanged }) => (orderChanged === true ? null : ORDER_UNCHANGED.why),
    },
    late: [],
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
  if (reason === null) return waitsForNobody(payment)
  if (offers(PARK_REASONS[reason].decisions, decision)) return null
  const offered = offeredDecisions(payment)
  return `Parked for ${reason}: ${offered.length === 0 ? 'it ends by itself' : `decide with ${offered.join(', ')}`}`
}

const waitsForNobody = ({ status }: { status: PaymentStatus }): string =>
  `The payment is ${status} and waits for no operator`

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

export const PARTNER_SILENT =
  'The partner does not answer for this order, so it is not known whether the money is still there. Nothing was changed: decide again later.'

export const ORDER_CHANGED =
  'The partner has changed the amount of the order: decide with acknowledge, or give the money back. Nothing was changed.'

/** Decisions that a change of our own rows carries out; a refund needs the partner, and is in refund.ts. */
export type RecordedDecision = Exclude<OperatorDecision, 'refund' | 'recordExternalRefund'>

/** What a decision changes, in this order. */
export type DecisionEffect = {
  readonly change: { readonly note: Note; readonly fields: PaymentFields } | null
  /** Its money counts as enough. */
  readonly confirmedAttemptId: string | null
  /** The amount to which the partner has changed the order of this attempt is right, in minor units. */
  readonly acknowledged: { readonly attemptId: string; readonly minor: string } | null
  /** What the settlement engine is told in the same transaction; a hold that comes too late refuses the decision. */
  readonly payout: 'release' | 'hold' | null
  /** An operator has dealt with it. */
  readonly closes: Incident | null
  readonly move: { readonly to: PaymentStatus; readonly reason: Reason; readonly fields: PaymentFields } | null
}

const NOTHING: DecisionEffect = {
  change: null,
  confirmedAttemptId: null,
  acknowledged: null,
  payout: null,
  closes: null,
  move: null,
}

/** What the decision leads to for the row as it is now, which may have moved on since the decision was allowed. */
export function effectOfDecision(
  decision: RecordedDecision,
  state: PaymentWithAttempts,
  note: OperatorNote,
): DecisionEffect | { readonly refused: string } {
  const { payment } = state
  const heldBack = whyHeldBack(decision, { held: payment.held, txHash: payment.transfer?.txHash ?? null })
  if (heldBack !== null) return { refused: heldBack }
  switch (decision) {
    case 'hold':
      return holdMoney(state, note)
    case 'release':
      return release(state, note)
    case 'approve':
      return approve(state, note)
    case 'retry': {
      if (payment.status !== 'under_review') return NOTHING
      const refused = whyMayNotGoOn(state)
      if (refused !== null) return { refused }
      if (payment.usdc === null)
        return { ...NOTHING, ...moved('processing', because('conversion_retried', told(note))) }
      return { ...NOTHING, payout: 'release', ...moved('settling', because('payout_retried', told(note))) }
    }
    case 'acknowledge':
      return acknowledge(state, note)
    case 'reject':
      // Carried out before, when its answer was lost.
      if (payment.status === 'failed') return NOTHING
      if (payment.status !== 'under_review') return { refused: waitsForNobody(payment) }
      if (payment.paidAttemptId !== null || chargeSum(state.parts, {}) !== '0') return { refused: MONEY_CONFIRMED.why }
      return { ...NOTHING, ...moved('failed', because('rejected', told(note))) }
  }
}

type Moved = Pick<DecisionEffect, 'move'>

const told = (note: OperatorNote) => ({ operator: note.operator, reason: note.reason })

function moved(to: PaymentStatus, reason: Reason, fields: PaymentFields = NOT_PARKED): Moved {
  return { move: { to, reason, fields } }
}

/** The guard before conversion and payout. A hold is not asked again: it is what a release lifts. */
function whyMayNotGoOn(state: PaymentWithAttempts): string | null {
  const why = whyNotFree({ ...state, payment: { ...state.payment, held: false } })
  return why === null ? null : NOT_FREE[why]
}

function goOn(state: PaymentWithAttempts, why: MoveReason, note: OperatorNote): Partial<DecisionEffect> {
  // Where a refund is being carried out, the hold is lifted and the money stays.
  if (whyMayNotGoOn(state) !== null) return {}
  return state.payment.usdc === null
    ? moved('processing', because(why, told(note)))
    : { payout: 'release', ...moved('settling', because(why, told(note))) }
}

function holdMoney({ payment }: PaymentWithAttempts, note: OperatorNote): DecisionEffect {
  const change = { note: noteOf('payment.held', told(note)), fields: { held: true } }
  const isPaid = payment.paidAttemptId !== null
  if (payment.status === 'processing' && isPaid)
    return {
      ...NOTHING,
      change,
      ...moved('under_review', because('held_before_conversion', told(note)), parked('operator_hold')),
    }
  if (payment.status === 'settling')
    return {
      ...NOTHING,
      change,
      payout: 'hold',
      ...moved('under_review', because('held_before_payout', told(note)), parked('operator_hold')),
    }
  return { ...NOTHING, change }
}

function release(state: PaymentWithAttempts, note: OperatorNote): DecisionEffect {
  const { payment, attempts } = state
  const resumes = payment.status === 'under_review' && payment.parkReason === 'operator_hold'
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  // A part of it went while it was held: whether the rest is enough is another decision.
  const isTooLittle = resumes && payment.usdc === null && paid?.status === 'underpaid'
  const fields = { held: false, ...(isTooLittle ? parked('underpaid') : {}) }
  const change = { note: noteOf('payment.released', told(note)), fields }
  return { ...NOTHING, change, ...(resumes && !isTooLittle ? goOn(state, 'resumed_after_hold', note) : {}) }
}

/** From now on the partner's reports fit again, and say part by part what came and what went. */
function acknowledge(
  { payment, incidents }: PaymentWithAttempts,
  note: OperatorNote,
): DecisionEffect | { readonly refused: string } {
  const changed = changedOrder(incidents, payment.paidAttemptId)
  if (changed === null) return { refused: ORDER_UNCHANGED.why }
  const { attemptId, misfit } = changed
  const data = { ...told(note), attempt_id: attemptId, amount: misfit.amount, received: misfit.received }
  return {
    ...NOTHING,
    closes: changed,
    acknowledged: { attemptId, minor: misfit.amount.minor },
    change: { note: noteOf('payment.order_acknowledged', data), fields: {} },
  }
}

function approve(state: PaymentWithAttempts, note: OperatorNote): DecisionEffect | { readonly refused: string } {
  const { payment, attempts, incidents } = state
  if (payment.status !== 'under_review') {
    const [incident] = incidents
    if (incident === undefined) return NOTHING
    const data = { ...told(note), incident: incident.kind, attempt_id: incident.attemptId }
    return { ...NOTHING, closes: incident, change: { note: noteOf('payment.incident_closed', data), fields: {} } }
  }
  // The payout is proved on chain already: what is approved is the record.
  if (payment.transfer !== null) return { ...NOTHING, ...moved('succeeded', because('approved', told(note))) }
  if (payment.paidAttemptId === null) return { refused: NOTHING_TO_SETTLE.why }
  const refused = whyMayNotGoOn(state)
  if (refused !== null) return { refused }
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  const confirmedAttemptId = paid?.status === 'underpaid' ? paid.id : null
  const fields = payment.parkReason === 'fill_off_rate' ? { ...NOT_PARKED, fillAccepted: true } : NOT_PARKED
  return { ...NOTHING, confirmedAttemptId, ...moved('processing', because('approved', told(note)), fields) }
}

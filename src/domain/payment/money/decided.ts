import { because, type MoveReason, type Note, noteOf, type Reason } from '../../timeline.ts'
import { NOT_PARKED, type PaymentFields, parked } from '../changes.ts'
import {
  MONEY_CONFIRMED,
  NOTHING_TO_SETTLE,
  ORDER_UNCHANGED,
  PAYOUT_VOID,
  waitsForNobody,
  whyHeldBack,
} from '../decision.ts'
import type { PaymentStatus } from '../payment.ts'
import type { PaymentWithAttempts } from '../payment-object.ts'
import { BEING_REFUNDED, MISFIT_LEFT } from '../refund.ts'
import type { OperatorDecision, OperatorNote } from '../requests.ts'
import { changedOrder, type Incident, isInDoubt, isMisfitBeside, NOT_FREE, whyNotFreeButForHold } from './intents.ts'
import { chargeSum } from './parts.ts'

/** What the decisions of operators lead to. Which are refused is in ../decision.ts. */

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
  /** An operator resolved it. */
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
      // Allowed when it was asked for, and void by now: nothing would ever come of it.
      if (payment.parkReason === 'payout_voided') return { refused: PAYOUT_VOID.why }
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
      if (state.intents.some(({ kind }) => kind === 'refund')) return { refused: BEING_REFUNDED.why }
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
  const why = whyNotFreeButForHold(state)
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
  { payment, attempts, incidents }: PaymentWithAttempts,
  note: OperatorNote,
): DecisionEffect | { readonly refused: string } {
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  const changed = changedOrder(incidents, paid)
  // Carried out before, when its answer was lost.
  if (changed === null && (paid?.acknowledgedMinor ?? null) !== null) return NOTHING
  if (changed === null) return { refused: ORDER_UNCHANGED.why }
  const { attemptId, misfit } = changed
  const data = { ...told(note), attempt_id: attemptId, amount: misfit.amount, received: misfit.received }
  return {
    ...NOTHING,
    // Which amount is right says nothing of the money: a doubt ends by the partner's word alone.
    closes: isInDoubt(incidents, payment) ? null : changed,
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
  if (isMisfitBeside({ parkReason: payment.parkReason, attempts }, payment.paidAttemptId))
    return { refused: MISFIT_LEFT.why }
  const refused = whyMayNotGoOn(state)
  if (refused !== null) return { refused }
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  const confirmedAttemptId = paid?.status === 'underpaid' ? paid.id : null
  const fields = payment.parkReason === 'fill_off_rate' ? { ...NOT_PARKED, agreed: true } : NOT_PARKED
  return { ...NOTHING, confirmedAttemptId, ...moved('processing', because('approved', told(note)), fields) }
}

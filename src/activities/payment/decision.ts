import { Context } from '@temporalio/activity'
import { changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { PAYOUT_SIGNED } from '../../domain/payment/decision.ts'
import { effectOfDecision, type RecordedDecision } from '../../domain/payment/money/decided.ts'
import type { OperatorDecision } from '../../domain/payment/requests.ts'
import type { PaymentDeps } from './payment-deps.ts'
import {
  type Decided,
  decisionRefused,
  giveBack,
  givenBackBefore,
  type RefundOrder,
  requireRefundable,
} from './refund.ts'

type DecisionOrder = RefundOrder & {
  readonly decision: Exclude<OperatorDecision, 'refund'>
  /** Of the row when it was decided. Absent from decisions that were recorded before it was given. */
  readonly version?: number
}

/** What needs no partner: a record of our own, in one transaction. */
export async function decide(deps: PaymentDeps, order: DecisionOrder): Promise<Decided> {
  const { decision, version, ...refund } = order
  const isRefund = decision === 'recordExternalRefund'
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: (work) => (isRefund ? recordReturn(work, refund) : carryOut(deps, work, { ...refund, decision, version })),
  })
  return { ...changed, refunded: isRefund, message: `${decision}: recorded` }
}

async function recordReturn(work: PaymentWork, order: RefundOrder): Promise<void> {
  if (givenBackBefore(work, order) !== undefined) return
  await giveBack(work, requireRefundable(work, order, 'outside'), { note: order, through: 'outside' })
}

async function carryOut(
  deps: PaymentDeps,
  work: PaymentWork,
  order: RefundOrder & { readonly decision: RecordedDecision; readonly version: number | undefined },
): Promise<void> {
  if (order.decision === 'approve' && mayBeCarriedOut(work, order.version)) return
  const effect = effectOfDecision(order.decision, work.state, order)
  if ('refused' in effect) throw decisionRefused(effect.refused)
  const { change, confirmedAttemptId, acknowledged, closes, bookings, move } = effect
  const { paymentId } = order
  if (effect.payout === 'hold' && !(await deps.payouts.hold(work.tx, paymentId, order.reason)))
    throw decisionRefused(PAYOUT_SIGNED.why)
  for (const booking of bookings) await work.book(booking)
  if (closes !== null) await work.closeIncident(closes)
  if (change !== null) await work.change(change.note, change.fields)
  if (confirmedAttemptId !== null) await work.saveAttempt(confirmedAttemptId, { status: 'confirmed' })
  if (acknowledged !== null) await work.saveAttempt(acknowledged.attemptId, { acknowledgedMinor: acknowledged.minor })
  const isReleased = effect.payout === 'release' && (await deps.payouts.release(work.tx, paymentId))
  if (move === null) return
  // A payout that was never handed in is handed in by the next step.
  const to = effect.payout === 'release' && !isReleased ? 'processing' : move.to
  await work.move(to, move.reason, move.fields)
}

/**
 * Carried out before, when its answer was lost: an incident that is open now is another one, which nobody has approved. If
 * something else has changed the row, it stays open all the same, for the operator to decide again.
 */
function mayBeCarriedOut({ state: { payment } }: PaymentWork, version: number | undefined): boolean {
  const isRepeated = Context.current().info.attempt > 1 && version !== undefined
  return isRepeated && payment.status !== 'under_review' && payment.version !== version
}

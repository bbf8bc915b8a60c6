import { isBooked } from '../../db/ledger.ts'
import { changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { effectOfDecision, type RecordedDecision, setsMoneyGoing, TAKEN_BACK } from '../../domain/payment/decision.ts'
import type { OperatorDecision } from '../../domain/payment/requests.ts'
import type { PaymentDeps } from './payment-deps.ts'
import { type Decided, decisionRefused, giveBack, type RefundOrder } from './refund.ts'

type DecisionOrder = RefundOrder & { readonly decision: Exclude<OperatorDecision, 'refund'> }

/** What needs no partner: a record of our own, in one transaction. */
export async function decide(deps: PaymentDeps, order: DecisionOrder): Promise<Decided> {
  const { decision, ...refund } = order
  const isRefund = decision === 'recordExternalRefund'
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: (work) => (isRefund ? giveBack(work, refund, 'outside') : carryOut(deps, work, { ...refund, decision })),
  })
  return { ...changed, refunded: isRefund, message: `${decision}: recorded` }
}

async function carryOut(
  deps: PaymentDeps,
  work: PaymentWork,
  order: RefundOrder & { readonly decision: RecordedDecision },
): Promise<void> {
  if (await isTakenBack(work, order.decision)) throw decisionRefused(TAKEN_BACK)
  const effect = effectOfDecision(order.decision, work.state, order)
  if ('refused' in effect) throw decisionRefused(effect.refused)
  const { change, confirmedAttemptId, releasesPayout, move } = effect
  if (change !== null) await work.change(change.note, change.fields)
  if (confirmedAttemptId !== null) await work.saveAttempt(confirmedAttemptId, { status: 'confirmed' })
  if (releasesPayout) await deps.payouts.release(work.tx, order.paymentId)
  if (move !== null) await work.move(move.to, move.reason, move.fields)
}

/** The partner took the money back after it was converted: a payout that has not begun must not begin. */
async function isTakenBack(work: PaymentWork, decision: RecordedDecision): Promise<boolean> {
  const { paidAttemptId, usdc, transfer } = work.state.payment
  const paysOut = setsMoneyGoing(decision, { txHash: transfer?.txHash ?? null }) && usdc !== null
  return paysOut && paidAttemptId !== null && isBooked(work.tx, 'chargeback', paidAttemptId)
}

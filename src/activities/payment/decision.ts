import { changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { CHANGED_SINCE, DECISIONS, PAYOUT_SIGNED } from '../../domain/payment/decision.ts'
import { effectOfDecision, type RecordedDecision } from '../../domain/payment/money/decided.ts'
import { givenBackBefore } from '../../domain/payment/refund.ts'
import type { OperatorDecision } from '../../domain/payment/requests.ts'
import type { PaymentDeps } from './payment-deps.ts'
import {
  claimRefund,
  type Decided,
  decisionRefused,
  giveBack,
  isTriedAgain,
  nameIn,
  type RefundOrder,
  TRIED_BEFORE,
  voidingFirst,
} from './refund.ts'

type DecisionOrder = RefundOrder & { readonly decision: Exclude<OperatorDecision, 'refund'> }

/** Carries out a decision that needs no partner, in one transaction. */
export function decide(deps: PaymentDeps, order: DecisionOrder): Promise<Decided> {
  return voidingFirst(deps, order.paymentId, () => decideOnce(deps, order))
}

async function decideOnce(deps: PaymentDeps, order: DecisionOrder): Promise<Decided> {
  const { decision, version, ...refund } = order
  const isRefund = decision === 'recordExternalRefund'
  let isSure = true
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: async (work) => {
      // Carried out before, when its answer was lost.
      if (
        isRefund &&
        isTriedAgain() &&
        givenBackBefore(work.state, { named: nameIn(refund), through: 'outside' }) !== undefined
      )
        return
      isSure = isAsSeen(work, { decision, version })
      if (isSure) await (isRefund ? recordReturn(deps, work, refund) : carryOut(deps, work, { ...refund, decision }))
    },
  })
  const answer = { ...changed, refunded: isRefund && isSure }
  return isSure
    ? { ...answer, message: `${decision}: recorded` }
    : { ...answer, message: `${decision}: ${TRIED_BEFORE}`, unsure: true }
}

/** True if the decision accepts what the operator saw. False for a retry, whose first try may have changed the payment. */
function isAsSeen(
  { state }: PaymentWork,
  { decision, version }: { readonly decision: OperatorDecision; readonly version: number | undefined },
): boolean {
  if (DECISIONS[decision].accepts !== true || version === state.payment.version) return true
  if (!isTriedAgain()) throw decisionRefused(CHANGED_SINCE.why)
  return false
}

async function recordReturn(deps: PaymentDeps, work: PaymentWork, order: RefundOrder): Promise<void> {
  const claim = await claimRefund(work, deps.payouts, { order, through: 'outside' })
  await giveBack(work, claim, { note: order, through: 'outside' })
}

async function carryOut(
  deps: PaymentDeps,
  work: PaymentWork,
  order: RefundOrder & { readonly decision: RecordedDecision },
): Promise<void> {
  const effect = effectOfDecision(order.decision, work.state, order)
  if ('refused' in effect) throw decisionRefused(effect.refused)
  const { change, confirmedAttemptId, acknowledged, closes, move } = effect
  const { paymentId } = order
  if (effect.payout === 'hold' && !(await deps.payouts.hold(work.tx, paymentId, order.reason)))
    throw decisionRefused(PAYOUT_SIGNED.why)
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

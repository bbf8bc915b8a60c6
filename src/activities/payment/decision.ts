import { Context } from '@temporalio/activity'
import type { Tx } from '../../db/db.ts'
import { findDecision, insertDecision, isProofUsed } from '../../db/payments/decisions.ts'
import { CHANGED_SINCE, PAYOUT_SIGNED, PROOF_USED, toAnswer } from '../../domain/payment/decision.ts'
import { withAnswer } from '../../domain/payment/funds/answer.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { Decision, Say } from '../../domain/payment/requests.ts'
import { type ActivityAnswer, toSnapshot } from '../../domain/payment/snapshot.ts'
import type { PaymentDraft } from '../../payments/payment-draft.ts'
import { createAnswer } from './answer.ts'
import { changeLockedMoney } from './change-money.ts'
import { decisionRefused } from './give-back.ts'
import type { PaymentDeps } from './payment-deps.ts'

export type DecisionOrder = Decision & {
  readonly paymentId: string
  readonly say: Say
  /** The merchant's refund that it carries out: then its author is the merchant. */
  readonly refund?: string
}

export type DecisionResult = ActivityAnswer & { readonly message: string; readonly unsure?: true }

/** For another try, when the decision might have been carried out before its answer was lost. */
const TRIED_BEFORE = 'tried before, and the payment has changed since: its timeline says whether it was recorded'

/** Records a decision in one transaction. Calls to a partner or to settlement follow as the payment's next step. */
export async function decide(deps: PaymentDeps, order: DecisionOrder): Promise<DecisionResult> {
  let message = `${order.say}: recorded`
  let isUnsure = false
  const changed = await changeLockedMoney(deps, order.paymentId, async (draft, tx) => {
    const seen = await findEarlierTry(draft, tx, order)
    if (seen === 'recorded') return
    if (seen === 'unsure') {
      isUnsure = true
      message = `${order.say}: ${TRIED_BEFORE}`
      return
    }
    await carryOut(deps, { draft, tx, order })
  })
  const answer = createAnswer(changed)
  return isUnsure ? { ...answer, message, unsure: true } : { ...answer, message }
}

/** A retry finds what its first try has stored. */
async function findEarlierTry(
  { state }: PaymentDraft,
  tx: Tx,
  order: DecisionOrder,
): Promise<'recorded' | 'unsure' | null> {
  const { paymentId, say, operator } = order
  const present = state.payment.version
  const isTriedAgain = Context.current().info.attempt > 1
  // A hold applies to the payment in any version.
  const version = say === 'hold' ? present - (isTriedAgain ? 1 : 0) : (order.version ?? present)
  if (version === present) return null
  const known = await findDecision(tx, { paymentId, version: version + 1 })
  if (isTriedAgain && known !== null && known.say === say && known.operator === operator) return 'recorded'
  if (say === 'hold') return null
  if (isTriedAgain) return 'unsure'
  throw decisionRefused(CHANGED_SINCE)
}

type CarryingOut = { readonly draft: PaymentDraft; readonly tx: Tx; readonly order: DecisionOrder }

/** Throws `DecisionRefused` if the payment, as it is now, does not offer the decision. */
export async function carryOut(
  { payouts }: Pick<PaymentDeps, 'payouts'>,
  { draft, tx, order }: CarryingOut,
): Promise<void> {
  const { say, operator, reason, proof, refund } = order
  const { state } = draft
  const answer = toAnswer(say, order, toSnapshot(state))
  if (typeof answer === 'string') throw decisionRefused(answer)
  if (proof !== undefined && (await isProofUsed(tx, proof))) throw decisionRefused(PROOF_USED)
  const before = toFunds(state)
  const outside = answer.say === 'give_back' && answer.outside === true
  const attemptId = answer.say === 'give_back' ? answer.accountId : null
  draft.setCause({
    say,
    data: {
      operator,
      reason,
      outside,
      ...(proof !== undefined && { proof }),
      ...(refund !== undefined && { refund }),
      attempt_id: attemptId,
    },
  })
  draft.setFunds(withAnswer(before, answer))
  await insertDecision(tx, { ...order, attemptId, outside, version: state.payment.version + 1, at: draft.at })
  if (say === 'hold') await stopPayout(draft, { tx, payouts, reason })
}

/** A hold that comes too late is refused. */
async function stopPayout(
  draft: PaymentDraft,
  { tx, payouts, reason }: { readonly tx: Tx; readonly payouts: PaymentDeps['payouts']; readonly reason: string },
): Promise<void> {
  const { id, payout } = draft.state.payment
  if (payout !== 'handed') return
  if (!(await payouts.stop(tx, id, reason))) throw decisionRefused(PAYOUT_SIGNED)
  // Completes the activity that waits for the transfer: the next hand-over starts another one.
  draft.relayChange()
}

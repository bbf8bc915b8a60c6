import { ApplicationFailure } from '@temporalio/common'
import type { Tx } from '../../db/db.ts'
import { answerWith, changePaymentIn, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { refundKey } from '../../domain/ids.ts'
import { findMoneyStep } from '../../domain/payment/funds/money-step.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import type { ActivityAnswer } from '../../domain/payment/snapshot.ts'
import { createNote } from '../../domain/timeline.ts'
import type { RefundResult } from '../../partners/provider.ts'
import { changeMoney } from './change-money.ts'
import { askQuietly, callSignal, toOrderRef } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/**
 * Gives the money of an attempt back through its partner, with the same key forever. The request is stored before the
 * partner is asked: after a crash, or if the partner is silent or slow, each later reading of the order asks it again.
 */
export async function giveBack(
  deps: PaymentDeps,
  { paymentId, attemptId }: { readonly paymentId: string; readonly attemptId: string },
): Promise<ActivityAnswer> {
  const begun = await deps.db.transaction((tx) =>
    changePaymentIn(tx, deps.context, { id: paymentId, work: (work) => begin(deps, work, { tx, attemptId }) }),
  )
  const attempt = begun.state.attempts.find(({ id }) => id === attemptId)
  if (attempt?.back !== 'asked') return answerWith(begun)
  const result = await askQuietly(() => callRefund(deps, attempt, callSignal()), 'asked again')
  if (result === null) return answerWith(begun)
  const work = (work: PaymentWork) => recordRefund(work, attempt, result)
  const done = await changeMoney(deps, { id: paymentId, work, known: begun.state })
  return answerWith({ ...done, events: [...begun.events, ...done.events] })
}

/** A payout that a restored backup lacks could still be paid, so it is voided before anything goes back. */
async function begin(
  { payouts }: PaymentDeps,
  work: PaymentWork,
  { tx, attemptId }: { readonly tx: Tx; readonly attemptId: string },
): Promise<void> {
  const { payment } = work.state
  const step = findMoneyStep(toFunds(work.state))
  // Sold money goes back only after its payout is void: another try might find that it is being voided.
  if (step.do !== 'give_back' || step.accountId !== attemptId) return
  // For a refunded payment this was checked when its money went back.
  const isUnpaid = payment.payout === 'none' || payment.payout === 'void'
  const mayBeForgotten = isUnpaid && payment.status !== 'refunded'
  if (mayBeForgotten && (await payouts.open(tx, payment.id)) !== null) {
    await payouts.void(tx, payment.id)
    work.set({ payout: 'voiding' })
    work.note(createNote('payment.void_asked'))
    return
  }
  work.setAttempt(attemptId, { back: 'asked' })
}

export async function callRefund(deps: PaymentDeps, attempt: Attempt, signal: AbortSignal): Promise<RefundResult> {
  const partner = deps.partners[attempt.provider]
  if (partner.refundOrder === undefined) return { kind: 'refused', reason: `${attempt.provider} gives nothing back` }
  return partner.refundOrder({ ...toOrderRef(attempt), key: refundKey(attempt.id, attempt.refusals + 1) }, signal)
}

/** If the attempt has changed since the partner was asked, the next reading of the order asks again. */
export function recordRefund(work: PaymentWork, asked: Attempt, result: RefundResult): void {
  const attempt = work.state.attempts.find(({ id }) => id === asked.id)
  if (attempt?.back !== 'asked' || attempt.revision !== asked.revision) return
  const { id, provider, refusals } = attempt
  if (result.kind === 'refunded')
    work.setAttempt(id, { back: 'no', returned: true, held: '0', status: 'refunded', paidAt: null, misfit: null })
  if (result.kind !== 'refused') return
  // Money that the partner refused to give back continues only if it is still there.
  work.setAttempt(id, { back: 'no', confirmedAt: null, refusals: refusals + 1 })
  work.note(createNote('refund.refused', { attempt_id: id, provider, reason: result.reason }))
}

export const decisionRefused = (why: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(why, 'DecisionRefused')

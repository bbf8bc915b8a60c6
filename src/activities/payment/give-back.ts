import { ApplicationFailure } from '@temporalio/common'
import type { Tx } from '../../db/db.ts'
import { answerWith, type Changed, changePaymentIn, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { refundKey } from '../../domain/ids.ts'
import { nextEffect } from '../../domain/payment/funds/next.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { noteOf } from '../../domain/timeline.ts'
import type { RefundResult } from '../../providers/provider.ts'
import { changeMoney } from './change-money.ts'
import { askQuietly, callSignal } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/**
 * Gives the money of an attempt back through its partner, with one key for life. That the partner is asked is stored first:
 * after a crash, or if the partner is silent or slow, each later reading of the order asks it again.
 */
export async function giveBack(
  deps: PaymentDeps,
  { paymentId, attemptId }: { readonly paymentId: string; readonly attemptId: string },
): Promise<Changed> {
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

/**
 * Nothing goes back while a payout can be paid that this database has forgotten, because it was restored from a backup: the
 * payout is voided first. Either that wins, or the payment is settled.
 */
async function begin(
  { payouts }: PaymentDeps,
  work: PaymentWork,
  { tx, attemptId }: { readonly tx: Tx; readonly attemptId: string },
): Promise<void> {
  const { payment } = work.state
  const effect = nextEffect(toFunds(work.state))
  // What was sold goes back only after its payout is void: another try may find that it is being voided.
  if (effect.do !== 'give_back' || effect.accountId !== attemptId) return
  // Of a refunded payment it was found out when its money went back.
  const isUnpaid = payment.payout === 'none' || payment.payout === 'void'
  const mayBeForgotten = isUnpaid && payment.status !== 'refunded'
  if (mayBeForgotten && (await payouts.open(tx, payment.id)) !== null) {
    await payouts.void(tx, payment.id)
    work.set({ payout: 'voiding' })
    work.note(noteOf('payment.void_asked'))
    return
  }
  work.setAttempt(attemptId, { back: 'asked' })
}

/** Asks the partner about a give-back that is stored; the same key always means the same one. */
export async function callRefund(
  deps: PaymentDeps,
  { id: attemptId, provider }: Attempt,
  signal: AbortSignal,
): Promise<RefundResult> {
  const partner = deps.partners[provider]
  if (partner.refundOrder === undefined) return { kind: 'refused', reason: `${provider} gives nothing back` }
  return partner.refundOrder({ attemptId, key: refundKey(attemptId) }, signal)
}

/**
 * Records the partner's answer about the give-back. If the attempt has changed since it was asked, the give-back may be
 * another one: the next reading of the order asks about it.
 */
export function recordRefund(work: PaymentWork, asked: Attempt, result: RefundResult): void {
  const attempt = work.state.attempts.find(({ id }) => id === asked.id)
  if (attempt?.back !== 'asked' || attempt.revision !== asked.revision) return
  const { id, provider } = attempt
  if (result.kind === 'refunded')
    work.setAttempt(id, { back: 'no', returned: true, held: '0', status: 'refunded', paidAt: null, misfit: null })
  if (result.kind !== 'refused') return
  // What the partner refused to give back goes on only if it is still there.
  work.setAttempt(id, { back: 'no', confirmedAt: null })
  work.note(noteOf('refund.refused', { attempt_id: id, provider, reason: result.reason }))
}

/** The answer that the operator reads; nothing is tried again. */
export const decisionRefused = (why: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(why, 'DecisionRefused')

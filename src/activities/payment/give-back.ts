import { ApplicationFailure } from '@temporalio/common'
import type { Tx } from '../../db/db.ts'
import { refundKey } from '../../domain/ids.ts'
import { findMoneyStep } from '../../domain/payment/funds/money-step.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import type { ActivityAnswer } from '../../domain/payment/snapshot.ts'
import { createNote } from '../../domain/timeline.ts'
import type { RefundResult } from '../../partners/provider.ts'
import { type Change, changeLockedPayment } from '../../payments/change-payment.ts'
import type { PaymentDraft } from '../../payments/payment-draft.ts'
import { createAnswer } from './answer.ts'
import { applyOrder } from './apply-order.ts'
import { changeMoney } from './change-money.ts'
import { askQuietly, callSignal, createReading, type OrderReading, toOrderRef } from './partner-calls.ts'
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
    changeLockedPayment(tx, deps.context, {
      id: paymentId,
      change: (draft) => requestGiveBack(deps, draft, { tx, attemptId }),
    }),
  )
  const attempt = begun.state.attempts.find(({ id }) => id === attemptId)
  if (attempt?.back !== 'asked') return createAnswer(begun)
  const answers = await askQuietly(() => askBack(deps, attempt, callSignal()), 'asked again')
  if (answers === null) return createAnswer(begun)
  const reading = await createReading(deps, { attempt, unread: null }, answers.order)
  const change: Change = (draft) => applyAnswers(draft, deps, { refund: answers.refund, reading })
  const done = await changeMoney(deps, { id: paymentId, change, known: begun.state })
  return createAnswer({ ...done, events: [...begun.events, ...done.events] })
}

/** A payout that a restored backup lacks could still be paid, so it is voided before anything goes back. */
async function requestGiveBack(
  { payouts }: PaymentDeps,
  draft: PaymentDraft,
  { tx, attemptId }: { readonly tx: Tx; readonly attemptId: string },
): Promise<void> {
  const { payment } = draft.state
  const step = findMoneyStep(toFunds(draft.state))
  // Sold money goes back only after its payout is void: another try might find that it is being voided.
  if (step.do !== 'give_back' || step.accountId !== attemptId) return
  // For a refunded payment this was checked when its money went back.
  const isUnpaid = payment.payout === 'none' || payment.payout === 'void'
  const mayBeForgotten = isUnpaid && payment.status !== 'refunded'
  if (mayBeForgotten && (await payouts.open(tx, payment.id)) !== null) {
    await payouts.void(tx, payment.id)
    draft.setPayment({ payout: 'voiding' })
    draft.addNote(createNote('payment.void_asked'))
    return
  }
  draft.setAttempt(attemptId, { back: 'asked' })
}

type BackAnswers = { readonly refund: RefundResult; readonly order: PartnerOrder | null }

/** The order is read after the give-back: money that arrived while it was pending is still there. */
async function askBack(deps: PaymentDeps, attempt: Attempt, signal: AbortSignal): Promise<BackAnswers> {
  const refund = await callRefund(deps, attempt, signal)
  return { refund, order: await deps.partners[attempt.provider].readOrder(toOrderRef(attempt), signal) }
}

export async function callRefund(deps: PaymentDeps, attempt: Attempt, signal: AbortSignal): Promise<RefundResult> {
  const partner = deps.partners[attempt.provider]
  if (partner.refundOrder === undefined) return { kind: 'refused', reason: `${attempt.provider} gives nothing back` }
  const key = refundKey(attempt.id, attempt.refusals + 1)
  return partner.refundOrder({ ...toOrderRef(attempt), key, amount: null }, signal)
}

type Answers = { readonly refund: RefundResult | null; readonly reading: OrderReading }

/** The give-back comes first: the order was read after it, and names what is there now. */
export function applyAnswers(draft: PaymentDraft, deps: Pick<PaymentDeps, 'accounts'>, answers: Answers): void {
  const { refund, reading } = answers
  if (refund !== null) recordRefund(draft, reading.asked.attempt, refund)
  applyOrder(draft, deps, reading)
}

/** If the attempt has changed since the partner was asked, the next reading of the order asks again. */
function recordRefund(draft: PaymentDraft, asked: Attempt, result: RefundResult): void {
  const attempt = draft.state.attempts.find(({ id }) => id === asked.id)
  if (attempt?.back !== 'asked' || attempt.revision !== asked.revision) return
  const { id, provider, refusals } = attempt
  if (result.kind === 'refunded')
    draft.setAttempt(id, { back: 'no', returned: true, held: '0', status: 'refunded', paidAt: null, misfit: null })
  if (result.kind !== 'refused') return
  // Money that the partner refused to give back continues only if it is still there.
  draft.setAttempt(id, { back: 'no', confirmedAt: null, refusals: refusals + 1 })
  draft.addNote(createNote('refund.refused', { attempt_id: id, provider, reason: result.reason }))
}

export const decisionRefused = (why: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(why, 'DecisionRefused')

import type { Tx } from '../../db/db.ts'
import { refundKey } from '../../domain/ids.ts'
import { toAnswer } from '../../domain/payment/decision.ts'
import { freeUnits } from '../../domain/payment/funds/account.ts'
import { toAccount } from '../../domain/payment/funds/stored-funds.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { toSnapshot } from '../../domain/payment/snapshot.ts'
import type { RefundFacts } from '../../domain/refund/refund-change.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { findRefundable } from '../../domain/refund/refundable.ts'
import { changeRefund, type RefundDraft } from '../../payments/change-refund.ts'
import { voidUncoveredPayout } from '../payment/change-money.ts'
import { carryOut } from '../payment/decision.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/** The author of a decision that carries out a refund of the merchant. */
const AUTHOR = 'merchant'

/**
 * A refund of a payment that is not settled is the decision to give its money back, with the merchant as its author. It
 * is recorded once, with the refund; the workflow of the payment carries it out, and the refund ends as it ends.
 */
export async function giveBackRefund(deps: RefundDeps, id: string): Promise<RefundAnswer> {
  const changed = await changeRefund(deps.db, deps.context, {
    id,
    change: async (draft, tx) => {
      const { refund, setRefund } = draft
      if (refund.status !== 'pending') return
      if (refund.partnerKey === null) await decide(deps, draft, tx)
      else setRefund(findEnd(draft))
    },
  })
  return createRefundAnswer(changed)
}

/** The payment may have changed since the request: then nothing goes back. */
async function decide(deps: RefundDeps, { refund, setRefund, payment }: RefundDraft, tx: Tx): Promise<void> {
  const { id, paymentId, attemptId, amount, reason } = refund
  const refundable = findRefundable(payment.state)
  const isSame =
    refundable?.fundFrom === 'payment' &&
    refundable.attemptId === attemptId &&
    refundable.left.minor === amount.minor &&
    refundable.left.currency === amount.currency
  const order = { paymentId, say: 'give_back', operator: AUTHOR, reason: reason ?? id, attempt: attemptId } as const
  const isOffered = typeof toAnswer('give_back', order, toSnapshot(payment.state)) !== 'string'
  if (!isSame || !isOffered) return setRefund({ status: 'failed', statusReason: 'payment_changed' })
  const { refusals } = getAttempt(payment.state.attempts, attemptId)
  await carryOut(deps, { draft: payment, tx, order: { ...order, refund: id } })
  await voidUncoveredPayout(payment, tx, deps.payouts)
  setRefund({ partnerKey: refundKey(attemptId, refusals + 1), askedAt: payment.at })
}

/**
 * Returns how the give-back has ended; nothing while it is carried out. A refusal uses a key up. If none has used the key
 * up, the partner was never asked: a later give-back has it, and this refund has none.
 */
function findEnd({ refund, payment }: RefundDraft): RefundFacts {
  const attempt = getAttempt(payment.state.attempts, refund.attemptId)
  if (attempt.returned) return { status: 'succeeded' }
  if (attempt.back !== 'no') return {}
  const wasRefused = refundKey(attempt.id, attempt.refusals + 1) !== refund.partnerKey
  const isGone = freeUnits(toAccount(attempt)) === 0n
  if (wasRefused) return { status: 'failed', statusReason: isGone ? 'money_gone' : 'refused' }
  // The money was reversed, or the transfer of the payout was faster than its void.
  return { status: 'failed', statusReason: isGone ? 'money_gone' : 'payment_changed', partnerKey: null }
}

function getAttempt(attempts: readonly Attempt[], id: string): Attempt {
  const attempt = attempts.find((one) => one.id === id)
  if (attempt === undefined) throw new Error(`there is no attempt ${id}`)
  return attempt
}

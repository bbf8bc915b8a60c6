import { ApplicationFailure } from '@temporalio/common'
import { type Changed, changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { loadPayment, snapshotOf } from '../../db/payments/payments.ts'
import { refundKey } from '../../domain/ids.ts'
import { fiatGivenBack, refundedAfterVoid } from '../../domain/ledger.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import type { OperatorNote } from '../../domain/payment/requests.ts'
import { surplusOf } from '../../domain/payment/snapshot.ts'
import { callSignal } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

export type Decided = Changed & { readonly message: string; readonly refunded: boolean }

/** The attempt is named where it is not the payment's own: late money. */
export type RefundOrder = OperatorNote & { paymentId: string; attemptId?: string }

/** Through the partner, with one key for life, so that a second try gives nothing back twice. */
export async function refundAttempt(deps: PaymentDeps, order: RefundOrder): Promise<Decided> {
  const before = await loadPayment(deps.db, order.paymentId)
  const attempt = refundable(before.attempts, {
    order,
    paidAttemptId: before.payment.paidAttemptId,
    surplus: surplusOf(snapshotOf(before))?.id,
  })
  if (before.payment.usdc !== null && attempt.status === 'confirmed' && before.payment.parkReason !== 'payout_voided')
    throw ApplicationFailure.nonRetryable('The payout exists and is not voided: void it first', 'DecisionRefused')
  const partner = deps.partners[attempt.provider]
  if (partner.refundOrder === undefined)
    throw ApplicationFailure.nonRetryable(
      `${attempt.provider} cannot refund: use recordExternalRefund`,
      'DecisionRefused',
    )
  const result = await partner.refundOrder({ attemptId: attempt.id, key: refundKey(attempt.id) }, callSignal())
  if (result.kind === 'refused')
    throw ApplicationFailure.nonRetryable(`The partner refused the refund: ${result.reason}`, 'DecisionRefused')
  const refunded = result.kind === 'refunded'
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: async (work) => {
      if (refunded) await giveBack(work, { ...order, attemptId: attempt.id }, 'through the partner')
      else
        await work.note({
          kind: 'refund.requested',
          actor: 'operator',
          message: 'The partner was asked to give the money back',
          data: { operator: order.operator, reason: order.reason, attempt_id: attempt.id },
        })
    },
  })
  return { ...changed, refunded, message: refunded ? 'refunded' : 'the partner is working on the refund' }
}

/** Books the money as given back and, when it was the payment's own, moves the payment to refunded. */
export async function giveBack(work: PaymentWork, order: RefundOrder, how: string): Promise<boolean> {
  const { payment, attempts } = work.state
  const surplus = attempts.find(({ status }) => status === 'surplus')
  const attempt = refundable(attempts, { order, paidAttemptId: payment.paidAttemptId, surplus: surplus?.id })
  if (attempt.status === 'refunded') return true
  const received = { minor: attempt.receivedMinor ?? '0', currency: attempt.asked.currency }
  const fact = { paymentId: payment.id, attemptId: attempt.id, received }
  const own = payment.paidAttemptId === attempt.id
  if (own && payment.usdc !== null) await work.book(refundedAfterVoid({ ...fact, ...payment.usdc }))
  else await work.book(fiatGivenBack({ ...fact, from: own ? 'merchant_payable' : 'suspense' }))
  await work.saveAttempt(attempt.id, { status: 'refunded' })
  const note = {
    kind: 'payment.refunded',
    actor: 'operator' as const,
    message: `The money went back to the buyer ${how}`,
    data: { operator: order.operator, reason: order.reason, attempt_id: attempt.id },
  }
  const unbooked = payment.parkReason === 'amount_mismatch' || payment.parkReason === 'wrong_asset'
  const misfit = unbooked && payment.status === 'under_review'
  if (own || misfit) await work.move('refunded', note, { statusReason: null, parkReason: null })
  else await work.change({ ...note, kind: 'attempt.refunded' }, {})
  return true
}

/** Late money by its name; else the second payment; else the payment's own money. */
function refundable(
  attempts: readonly Attempt[],
  which: { order: RefundOrder; paidAttemptId: string | null; surplus: string | undefined },
): Attempt {
  const id =
    which.order.attemptId ??
    which.surplus ??
    which.paidAttemptId ??
    attempts.find(({ status }) => status === 'on_hold')?.id
  const attempt = attempts.find((candidate) => candidate.id === id)
  if (attempt === undefined) throw ApplicationFailure.nonRetryable('There is no money to give back', 'DecisionRefused')
  return attempt
}

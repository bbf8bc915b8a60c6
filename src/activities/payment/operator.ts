import { ApplicationFailure } from '@temporalio/common'
import { type Changed, changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import type { PaymentFields } from '../../db/payments/payment-writes.ts'
import { loadPayment, snapshotOf } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import { isClosed } from '../../domain/payment/payment.ts'
import type { OperatorDecision } from '../../domain/payment/requests.ts'
import type { PaymentDeps } from './payment-deps.ts'
import { type Decided, giveBack, type RefundOrder } from './refunds.ts'

/** The row, and the events that nobody has tried to deliver yet: what a run that takes over must know. */
export async function loadChanged(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return {
    payment: snapshotOf(await loadPayment(deps.db, paymentId)),
    events: await listUntried(deps.db, paymentId),
  }
}

export function markDelayed(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      const { payment } = work.state
      if (isClosed(payment.status) || payment.paidAt === null || payment.exception !== null) return
      await work.change(
        {
          kind: 'payment.settlement_delayed',
          actor: 'system',
          message: 'The settlement takes longer than it should',
        },
        { exception: 'settlement_delayed' },
      )
    },
  })
}

export async function decide(deps: PaymentDeps, order: RefundOrder & { decision: OperatorDecision }): Promise<Decided> {
  let refunded = false
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: async (work) => {
      if (order.decision === 'recordExternalRefund') refunded = await giveBack(work, order, 'outside of the partner')
      else await carryOut(deps, work, order)
    },
  })
  return { ...changed, refunded, message: `${order.decision}: recorded` }
}

async function carryOut(
  deps: PaymentDeps,
  work: PaymentWork,
  order: RefundOrder & { decision: OperatorDecision },
): Promise<void> {
  const { payment } = work.state
  const note = (kind: string, message: string) => ({
    kind,
    actor: 'operator' as const,
    message,
    data: { operator: order.operator, reason: order.reason },
  })
  const resume: PaymentFields = { statusReason: null, parkReason: null }
  switch (order.decision) {
    case 'hold':
      await work.change(note('payment.held', 'An operator holds the payment'), { held: true })
      if (payment.status === 'processing' && payment.paidAttemptId !== null)
        await work.move('under_review', note('payment.under_review', 'Held before the conversion'), {
          statusReason: 'operator_hold',
          parkReason: 'operator_hold',
        })
      return
    case 'release':
      await work.change(note('payment.released', 'The hold was lifted'), { held: false })
      if (payment.status === 'under_review' && payment.parkReason === 'operator_hold')
        await work.move('processing', note('payment.processing', 'Goes on after the hold'), resume)
      return
    case 'approve':
      if (payment.status !== 'under_review') return
      await approve(work, note('payment.processing', 'An operator approved it'), resume)
      return
    case 'retry':
      if (payment.status !== 'under_review') return
      if (payment.usdc === null)
        await work.move('processing', note('payment.processing', 'The conversion is tried again'), resume)
      else {
        await deps.payouts.release(work.tx, payment.id)
        await work.move('settling', note('payment.settling', 'The payout is tried again'), resume)
      }
      return
    case 'reject':
      if (payment.paidAttemptId !== null)
        throw ApplicationFailure.nonRetryable('Money was confirmed: refund it', 'DecisionRefused')
      await work.move('failed', note('payment.failed', 'An operator rejected it before any money'), resume)
      return
    case 'refund':
    case 'recordExternalRefund':
      throw new Error(`${order.decision} is not carried out here`)
  }
}

/** What arrived is settled: an underpaid attempt becomes the confirmed one. */
async function approve(
  work: PaymentWork,
  note: Parameters<PaymentWork['note']>[0],
  resume: PaymentFields,
): Promise<void> {
  const { paidAttemptId, transfer } = work.state.payment
  // The payout is proved on chain already: what is approved is the record.
  if (transfer !== null) return work.move('succeeded', { ...note, kind: 'payment.succeeded' }, resume)
  if (paidAttemptId === null)
    throw ApplicationFailure.nonRetryable('No money was confirmed: there is nothing to settle', 'DecisionRefused')
  const attempt = work.state.attempts.find(({ id }) => id === paidAttemptId)
  if (attempt?.status === 'underpaid') await work.saveAttempt(paidAttemptId, { status: 'confirmed' })
  await work.move('processing', note, resume)
}

import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { listUnattempted } from '../db/deliveries.ts'
import { type Changed, changePayment, type PaymentFields, type PaymentWork } from '../db/payment-changes.ts'
import { loadPayment, snapshotOf } from '../db/payments.ts'
import { refundKey } from '../domain/ids.ts'
import { fiatGivenBack, refundedAfterVoid } from '../domain/ledger.ts'
import { isClosed } from '../domain/payment.ts'
import type { Attempt } from '../domain/payment-object.ts'
import type { OperatorDecision, OperatorNote } from '../domain/requests.ts'
import { surplusOf } from '../domain/snapshot.ts'
import { CALL_TIMEOUT_MS, type PaymentDeps } from './payment-deps.ts'

export type Decided = Changed & { readonly message: string; readonly refunded: boolean }

/** The attempt is named where it is not the payment's own: late money. */
export type RefundOrder = OperatorNote & { paymentId: string; attemptId?: string }

export type OperatorActivities = {
  loadPayment(paymentId: string): Promise<Changed>
  markDelayed(paymentId: string): Promise<Changed>
  decide(order: RefundOrder & { decision: OperatorDecision }): Promise<Decided>
  refundAttempt(order: RefundOrder): Promise<Decided>
}

export function createOperatorActivities(deps: PaymentDeps): OperatorActivities {
  const { db, context, partners } = deps
  return { loadPayment: load, markDelayed, decide, refundAttempt }

  /** The row, and the events that nobody has tried to deliver yet: what a run that takes over must know. */
  async function load(paymentId: string): Promise<Changed> {
    return { payment: snapshotOf(await loadPayment(db, paymentId)), events: await listUnattempted(db, paymentId) }
  }

  function markDelayed(paymentId: string): Promise<Changed> {
    return changePayment(db, context, {
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

  async function decide(order: RefundOrder & { decision: OperatorDecision }): Promise<Decided> {
    let refunded = false
    const changed = await changePayment(db, context, {
      id: order.paymentId,
      work: async (work) => {
        if (order.decision === 'recordExternalRefund') refunded = await giveBack(work, order, 'outside of the partner')
        else await carryOut(work, order)
      },
    })
    return { ...changed, refunded, message: `${order.decision}: recorded` }
  }

  async function carryOut(work: PaymentWork, order: RefundOrder & { decision: OperatorDecision }): Promise<void> {
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

  /** Through the partner, with one key for life, so that a second try gives nothing back twice. */
  async function refundAttempt(order: RefundOrder): Promise<Decided> {
    const before = await loadPayment(db, order.paymentId)
    const attempt = refundable(before.attempts, {
      order,
      paidAttemptId: before.payment.paidAttemptId,
      surplus: surplusOf(snapshotOf(before))?.id,
    })
    if (before.payment.usdc !== null && attempt.status === 'confirmed' && before.payment.parkReason !== 'payout_voided')
      throw ApplicationFailure.nonRetryable('The payout exists and is not voided: void it first', 'DecisionRefused')
    const partner = partners[attempt.provider]
    if (partner.refundOrder === undefined)
      throw ApplicationFailure.nonRetryable(
        `${attempt.provider} cannot refund: use recordExternalRefund`,
        'DecisionRefused',
      )
    const result = await partner.refundOrder(
      { attemptId: attempt.id, key: refundKey(attempt.id) },
      AbortSignal.any([AbortSignal.timeout(CALL_TIMEOUT_MS), Context.current().cancellationSignal]),
    )
    if (result.kind === 'refused')
      throw ApplicationFailure.nonRetryable(`The partner refused the refund: ${result.reason}`, 'DecisionRefused')
    const refunded = result.kind === 'refunded'
    const changed = await changePayment(db, context, {
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
  async function giveBack(work: PaymentWork, order: RefundOrder, how: string): Promise<boolean> {
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
    const misfit = payment.parkReason === 'amount_mismatch' && payment.status === 'under_review'
    if (own || misfit) await work.move('refunded', note, { statusReason: null, parkReason: null })
    else await work.change({ ...note, kind: 'attempt.refunded' }, {})
    return true
  }
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

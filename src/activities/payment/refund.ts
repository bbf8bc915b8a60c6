import { ApplicationFailure } from '@temporalio/common'
import { type Changed, changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { refundKey } from '../../domain/ids.ts'
import { NOT_PARKED } from '../../domain/payment/changes.ts'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import {
  givenBack,
  NO_MONEY,
  refundable,
  whyNotRefundable,
  whyPartnerCannotRefund,
} from '../../domain/payment/refund.ts'
import type { OperatorNote } from '../../domain/payment/requests.ts'
import { noteOf } from '../../domain/timeline.ts'
import { callSignal } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

export type Decided = Changed & { readonly message: string; readonly refunded: boolean }

/** The attempt is named where it is not the payment's own: late money. */
export type RefundOrder = OperatorNote & { paymentId: string; attemptId?: string }

/** Through the partner, with one key for life, so that a second try gives nothing back twice. */
export async function refundAttempt(deps: PaymentDeps, order: RefundOrder): Promise<Decided> {
  const before = await loadPayment(deps.db, order.paymentId)
  const attempt = requireRefundable(before, order)
  refuseFor(whyNotRefundable(before.payment, attempt))
  const partner = deps.partners[attempt.provider]
  if (partner.refundOrder === undefined) throw decisionRefused(whyPartnerCannotRefund(attempt.provider))
  const result = await partner.refundOrder({ attemptId: attempt.id, key: refundKey(attempt.id) }, callSignal())
  if (result.kind === 'refused') throw decisionRefused(`The partner refused the refund: ${result.reason}`)
  const refunded = result.kind === 'refunded'
  const changed = await changePayment(deps.db, deps.context, {
    id: order.paymentId,
    work: async (work) => {
      if (refunded) await giveBack(work, { ...order, attemptId: attempt.id }, 'partner')
      else {
        const { operator, reason } = order
        await work.note(noteOf('refund.requested', { operator, reason, attempt_id: attempt.id }))
      }
    },
  })
  return { ...changed, refunded, message: refunded ? 'refunded' : 'the partner is working on the refund' }
}

/** Books the money as given back and, when it was the payment's own, moves the payment to refunded. */
export async function giveBack(work: PaymentWork, order: RefundOrder, through: 'partner' | 'outside'): Promise<void> {
  const attempt = requireRefundable(work.state, order)
  if (attempt.status === 'refunded') return
  const { booking, reason, endsPayment } = givenBack(work.state.payment, attempt, { note: order, through })
  await work.book(booking)
  await work.saveAttempt(attempt.id, { status: 'refunded' })
  if (endsPayment) await work.move('refunded', reason, NOT_PARKED)
  else await work.change({ ...reason, kind: 'attempt.refunded' }, {})
}

function requireRefundable(state: PaymentWithAttempts, order: RefundOrder): Attempt {
  const attempt = refundable(state, order.attemptId)
  if (attempt === null) throw decisionRefused(NO_MONEY.why)
  return attempt
}

/** What the operator reads as the answer to the update; nothing is tried again. */
export function decisionRefused(why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(why, 'DecisionRefused')
}

function refuseFor(why: string | null): void {
  if (why !== null) throw decisionRefused(why)
}

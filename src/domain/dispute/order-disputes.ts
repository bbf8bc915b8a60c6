import type { PartnerOrder } from '../payment/partner.ts'
import type { Attempt } from '../payment/payment-object.ts'
import type { ReportedDispute } from './dispute.ts'

/** The disputes of an order as its partner reports them. */
export type OrderDisputes = { readonly attemptId: string; readonly reported: readonly ReportedDispute[] }

/**
 * Returns the disputes of an order as its partner reports them now; null: there is none. A partner that reports no
 * disputes can still reverse a paid order: that is one lost dispute with the id of the order, which is won if the money
 * is back. `before`: the attempt before this reading.
 */
export function listOrderDisputes(before: Attempt, order: PartnerOrder): OrderDisputes | null {
  if (order.attemptId !== before.id) return null
  const reported = order.disputes ?? reportReversal(before, order)
  return reported.length === 0 ? null : { attemptId: before.id, reported }
}

function reportReversal({ rate, failureCode, asked }: Attempt, order: PartnerOrder): ReportedDispute[] {
  const isReversed = order.status === 'declined' && order.failureCode === 'reversed' && rate !== null
  const isBack = order.status === 'paid' && failureCode === 'reversed'
  if (!isReversed && !isBack) return []
  return [
    {
      id: order.reference,
      kind: 'chargeback',
      status: isReversed ? 'lost' : 'won',
      reason: 'other',
      reasonText: null,
      amount: asked,
      takenMinor: isReversed ? asked.minor : '0',
      fee: null,
      openedAt: null,
      evidenceDueAt: null,
      isEvidenceSubmitted: false,
      answeredAt: 'partner',
    },
  ]
}

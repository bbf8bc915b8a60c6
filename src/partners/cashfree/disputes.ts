import type { DisputeStatus, ReportedDispute } from '../../domain/dispute/dispute.ts'
import { takesMoney } from './state.ts'
import type { Dispute } from './wire.ts'

const STATUSES: Readonly<Record<Dispute['dispute_status'], DisputeStatus>> = {
  CREATED: 'needs_response',
  INSUFFICIENT_EVIDENCE: 'needs_response',
  DOCS_RECEIVED: 'under_review',
  UNDER_REVIEW: 'under_review',
  MERCHANT_WON: 'won',
  MERCHANT_LOST: 'lost',
  MERCHANT_ACCEPTED: 'lost',
}

/**
 * Reports the disputes of an order. Each stage of a dispute is listed as another dispute, so of those about one payment
 * only the largest has taken money. Cashfree takes evidence in its own dashboard.
 */
export function reportDisputes(disputes: readonly Dispute[]): ReportedDispute[] {
  const counted = new Set<string>()
  return disputes
    .toSorted((a, b) => Number(b.dispute_amount - a.dispute_amount))
    .flatMap((dispute) => {
      const { dispute_id: id, order_details: about } = dispute
      const isTaking = takesMoney(dispute) && !counted.has(about.cf_payment_id)
      if (isTaking) counted.add(about.cf_payment_id)
      return id === undefined ? [] : report(id, dispute, isTaking)
    })
}

function report(id: string, dispute: Dispute, isTaking: boolean): ReportedDispute {
  const { dispute_type: type, dispute_status: state, reason_code: code, reason_description: words } = dispute
  const minor = dispute.dispute_amount.toString()
  return {
    id,
    kind: type === 'RETRIEVAL' || type === 'DISPUTE' ? 'inquiry' : 'chargeback',
    status: STATUSES[state],
    reason: 'other',
    reasonText: [words, code].filter((part) => part !== undefined && part !== null).join(', ') || null,
    amount: { minor, currency: 'INR' },
    takenMinor: isTaking ? minor : '0',
    fee: null,
    openedAt: dispute.created_at ?? null,
    evidenceDueAt: dispute.respond_by ?? null,
    isEvidenceSubmitted: STATUSES[state] === 'under_review',
    answeredAt: 'partner',
  }
}

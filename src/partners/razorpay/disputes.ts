import type { DisputeStatus, ReportedDispute } from '../../domain/dispute/dispute.ts'
import type { PartnerDispute } from '../../domain/payment/partner.ts'
import { unclear } from '../http.ts'
import type { JsonApi } from '../json-api.ts'
import { readOk } from '../reading.ts'
import { type Dispute, disputeListSchema, disputeSchema, LIST_LIMIT, type Payment } from './wire.ts'

export function readDisputes(
  api: JsonApi,
  { payments, ids }: { readonly payments: readonly Payment[]; readonly ids: readonly string[] },
  signal: AbortSignal,
): Promise<Dispute[]> {
  return Promise.all(
    ids.map(async (id) => {
      const answer = await api.call({ method: 'GET', path: `/v1/disputes/${encodeURIComponent(id)}` }, signal)
      const dispute = readOk(api.to, disputeSchema, answer)
      if (dispute.id !== id || !payments.some((payment) => payment.id === dispute.payment_id))
        throw unclear(api.to, 'answered about another dispute')
      return dispute
    }),
  )
}

/** A longer list is an error. */
const MAX_PAGES = 200

/** Razorpay lists the newest first. Disputes that are opened during the listing move the others to later pages. */
export async function listDisputes(api: JsonApi, since: number, signal: AbortSignal): Promise<PartnerDispute[]> {
  const found = new Map<string, Dispute>()
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const path = `/v1/disputes?count=${LIST_LIMIT}&skip=${page * LIST_LIMIT}`
    const answer = await api.call({ method: 'GET', path }, signal)
    const { items } = readOk(api.to, disputeListSchema, answer)
    for (const dispute of items) if (dispute.created_at >= since) found.set(dispute.id, dispute)
    if (items.length < LIST_LIMIT || items.some(({ created_at: at }) => at < since))
      return [...found.values()].map(toPartnerDispute)
  }
  throw unclear(api.to, 'has more disputes than can be listed')
}

const toPartnerDispute = (dispute: Dispute): PartnerDispute => {
  const { id, payment_id: payment, status, amount_deducted: taken, respond_by: due } = dispute
  return { id, payment, state: [status, taken, due].join(' ') }
}

const STATUSES: Readonly<Record<Dispute['status'], DisputeStatus>> = {
  open: 'needs_response',
  under_review: 'under_review',
  won: 'won',
  lost: 'lost',
  closed: 'closed',
}

/** Razorpay takes the money when the dispute is lost, and evidence in its own dashboard. */
export function reportDispute(dispute: Dispute): ReportedDispute {
  const { id, status, phase, reason_code: code, amount = dispute.amount_deducted, respond_by: due } = dispute
  return {
    id,
    kind: phase === 'retrieval' ? 'inquiry' : 'chargeback',
    status: STATUSES[status],
    reason: phase === 'fraud' ? 'fraudulent' : 'other',
    reasonText: [code, phase].filter((part) => part !== undefined && part !== null).join(', ') || null,
    amount: { minor: amount.toString(), currency: 'INR' },
    takenMinor: status === 'lost' ? dispute.amount_deducted.toString() : '0',
    fee: null,
    openedAt: new Date(dispute.created_at * 1000).toISOString(),
    evidenceDueAt: due === undefined || due === null ? null : new Date(due * 1000).toISOString(),
    isEvidenceSubmitted: status === 'under_review',
    answeredAt: 'partner',
  }
}

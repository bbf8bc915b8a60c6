import type { Currency } from '../../domain/currencies.ts'
import type { ReportedDispute } from '../../domain/dispute/dispute.ts'
import type { PartnerDispute } from '../../domain/payment/partner.ts'
import { unclear } from '../http.ts'
import type { JsonApi } from '../json-api.ts'
import { readOk } from '../reading.ts'
import { type Dispute, disputeListSchema, disputeSchema, LIST_LIMIT, type RevolutOrder } from './wire.ts'

export function readDisputes(
  api: JsonApi,
  { order, ids }: { readonly order: RevolutOrder; readonly ids: readonly string[] },
  signal: AbortSignal,
): Promise<Dispute[]> {
  const payments = (order.payments ?? []).map(({ id }) => id)
  return Promise.all(
    ids.map(async (id) => {
      const answer = await api.call({ method: 'GET', path: `/disputes/${encodeURIComponent(id)}` }, signal)
      const dispute = readOk(api.to, disputeSchema, answer)
      if (dispute.id !== id || !payments.includes(dispute.payment.id))
        throw unclear(api.to, 'answered about another dispute')
      if (dispute.currency !== order.currency) throw unclear(api.to, 'has a dispute in another currency')
      return dispute
    }),
  )
}

/** If even a period of this length has more disputes than one answer can have, listing fails. */
const MIN_PERIOD_SECONDS = 1

type Period = { readonly from: number; readonly to: number }

/**
 * Revolut documents no order of its lists, and an answer does not show if there is a next page. So a period with a full
 * answer is listed again in two halves. Times are in Unix seconds.
 */
export async function listDisputes(api: JsonApi, period: Period, signal: AbortSignal): Promise<PartnerDispute[]> {
  const found = new Map<string, Dispute>()
  const periods: Period[] = [period]
  for (let next = periods.pop(); next !== undefined; next = periods.pop()) {
    const items = await listPeriod(api, next, signal)
    for (const dispute of items) found.set(dispute.id, dispute)
    if (items.length < LIST_LIMIT) continue
    if (next.to - next.from <= MIN_PERIOD_SECONDS)
      throw unclear(api.to, 'has more disputes of one second than can be listed')
    const middle = Math.floor((next.from + next.to) / 2)
    // Both ends of a period belong to it.
    periods.push({ from: next.from, to: middle }, { from: middle, to: next.to })
  }
  return [...found.values()].map(toPartnerDispute)
}

async function listPeriod(api: JsonApi, { from, to }: Period, signal: AbortSignal): Promise<Dispute[]> {
  const query = new URLSearchParams({
    limit: `${LIST_LIMIT}`,
    from_created_date: new Date(from * 1000).toISOString(),
    to_created_date: new Date(to * 1000).toISOString(),
  })
  const answer = await api.call({ method: 'GET', path: `/disputes?${query.toString()}` }, signal)
  return readOk(api.to, disputeListSchema, answer)
}

const toPartnerDispute = (dispute: Dispute): PartnerDispute => {
  const { id, payment, state, amount, reason_code: code, response_due_date: due } = dispute
  return { id, payment: payment.id, state: [state, amount, code, due].join(' ') }
}

/** Only a lost dispute has taken money. Revolut takes evidence in its own app. */
export function reportDispute(dispute: Dispute, currency: Currency): ReportedDispute {
  const { id, state, amount, reason_code: code, reason_description: words } = dispute
  const minor = amount.toString()
  return {
    id,
    kind: 'chargeback',
    status: state,
    reason: 'other',
    reasonText: [words, code].filter((part) => part !== undefined && part !== null).join(', ') || null,
    amount: { minor, currency },
    takenMinor: state === 'lost' ? minor : '0',
    fee: null,
    openedAt: toTime(dispute.created_at),
    evidenceDueAt: toTime(dispute.response_due_date),
    isEvidenceSubmitted: state === 'under_review',
    answeredAt: 'partner',
  }
}

const toTime = (time: string | null | undefined): string | null =>
  time === undefined || time === null ? null : new Date(time).toISOString()

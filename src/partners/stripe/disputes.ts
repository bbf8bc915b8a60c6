import type { Currency } from '../../domain/currencies.ts'
import { isCurrency } from '../../domain/currencies.ts'
import type { DisputeReason, DisputeStatus, ReportedDispute } from '../../domain/dispute/dispute.ts'
import type { Money } from '../../domain/money.ts'
import type { PartnerDispute } from '../../domain/payment/partner.ts'
import { unclear } from '../http.ts'
import { readAs } from '../reading.ts'
import { fromStripeAmount } from './amount.ts'
import type { StripeApi } from './api.ts'
import { TAKES_MONEY } from './state.ts'
import { DISPUTE_PAGE, type Dispute, disputePageSchema } from './wire.ts'

/** A longer list is an error. */
const MAX_PAGES = 500

/** For disputes whose event was lost: a reading of the order shows each of them. */
export async function listDisputes(api: StripeApi, since: number, signal: AbortSignal): Promise<PartnerDispute[]> {
  const found: Dispute[] = []
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const last = found.at(-1)
    const query = {
      'created[gte]': `${since}`,
      limit: `${DISPUTE_PAGE}`,
      ...(last !== undefined && { starting_after: last.id }),
    }
    const { data, has_more: hasMore } = readAs(api.to, disputePageSchema, await api.get('/v1/disputes', query, signal))
    found.push(...data)
    if (!hasMore) return found.flatMap(toPartnerDispute)
    if (data.length === 0) break
  }
  throw unclear(api.to, 'has more disputes than can be listed')
}

/** A dispute without a payment belongs to a charge that the platform did not make. */
const toPartnerDispute = (dispute: Dispute): PartnerDispute[] => {
  const { id, payment_intent: payment, status, amount, reason, evidence_details: details } = dispute
  const seen = [status, amount, reason, details?.due_by, details?.submission_count, ...listFees(dispute)]
  return payment === null ? [] : [{ id, payment, state: seen.join(' ') }]
}

const STATUSES: Readonly<Record<Dispute['status'], DisputeStatus>> = {
  warning_needs_response: 'needs_response',
  warning_under_review: 'under_review',
  warning_closed: 'closed',
  needs_response: 'needs_response',
  under_review: 'under_review',
  won: 'won',
  lost: 'lost',
  prevented: 'closed',
}

/** Stripe's names of reasons that have another name here. Every other one is `other`. */
const REASONS: Readonly<Record<string, DisputeReason>> = {
  fraudulent: 'fraudulent',
  debit_not_authorized: 'fraudulent',
  unrecognized: 'unrecognized',
  duplicate: 'duplicate',
  product_not_received: 'product_not_received',
  product_unacceptable: 'product_unacceptable',
  credit_not_processed: 'credit_not_processed',
  subscription_canceled: 'subscription_canceled',
}

/** Reports a dispute about an order in the currency (https://docs.stripe.com/api/disputes/object). */
export function reportDispute(to: string, dispute: Dispute, currency: Currency): ReportedDispute {
  const { id, status, reason, created, evidence_details: details, payment_method_details: method } = dispute
  const code = method?.card?.network_reason_code
  const amount = fromStripeAmount(BigInt(dispute.amount), currency)
  if (amount === null) throw unclear(to, 'has a dispute with an amount that cannot be read')
  return {
    id,
    kind: status.startsWith('warning_') ? 'inquiry' : 'chargeback',
    status: STATUSES[status],
    reason: REASONS[reason ?? ''] ?? 'other',
    reasonText: [reason, code].filter((part) => part !== undefined && part !== null).join(', ') || null,
    amount,
    takenMinor: TAKES_MONEY.includes(status) ? amount.minor : '0',
    fee: readFee(dispute),
    openedAt: toTime(created),
    evidenceDueAt: toTime(details?.due_by),
    isEvidenceSubmitted: (details?.submission_count ?? 0) > 0,
    answeredAt: 'api',
  }
}

/** Unix seconds; zero and null are no time. */
const toTime = (seconds: number | null | undefined): string | null =>
  seconds === undefined || seconds === null || seconds === 0 ? null : new Date(seconds * 1000).toISOString()

const listFees = ({ balance_transactions: moves = [] }: Dispute): string[] =>
  moves.map(({ fee, currency }) => `${fee} ${currency}`)

/** Null if there is none, or if it is in a currency that the platform does not know. */
function readFee({ balance_transactions: moves = [] }: Dispute): Money | null {
  const [first] = moves
  const currency = first?.currency.toUpperCase() ?? ''
  if (!isCurrency(currency) || moves.some((move) => move.currency !== first?.currency)) return null
  const fee = moves.reduce((sum, move) => sum + BigInt(move.fee), 0n)
  return fee > 0n ? fromStripeAmount(fee, currency) : null
}

import type { PartnerDispute } from '../../domain/payment/partner.ts'
import { unclear } from '../http.ts'
import { readAs } from '../reading.ts'
import type { StripeApi } from './api.ts'
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
const toPartnerDispute = ({ id, payment_intent: payment, status, amount }: Dispute): PartnerDispute[] =>
  payment === null ? [] : [{ id, payment, state: `${status} ${amount}` }]

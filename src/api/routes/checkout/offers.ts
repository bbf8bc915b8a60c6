import type { Queryable } from '../../../db/db.ts'
import { addTimelineNote } from '../../../db/payments/timeline.ts'
import { formatAmount } from '../../../domain/money.ts'
import type { Offer } from '../../../domain/offers.ts'
import { offerNote } from '../../../domain/timeline.ts'
import type { Checkout } from '../../../web/checkout/checkout.ts'

/** A buyer looks from one country, and may correct it. */
const MOST_REFUSED = 10

/**
 * Writes to the timeline which way to pay was decided, and why: when the buyer goes on (`chosen`), and when a pinned
 * method could not be offered. A decision is written once, however often it is told; of the latter a few at most, because
 * who has the link can say any country.
 */
export async function noteOffer(
  { db, clock }: { db: Queryable; clock: () => number },
  { payment, offered, country }: Checkout,
  chosen: Offer | null,
): Promise<void> {
  const refused = offered.pinnedRefused
  const data = {
    provider: payment.provider,
    country: country.code,
    country_source: country.source,
    offered: payment.provider === null ? null : refused === null,
    reason: refused?.reason ?? null,
    // Each time that it is down is told once.
    ...(refused?.downSince !== undefined && { down_since: refused.downSince }),
    limit: refused?.limit ? `${formatAmount(refused.limit)} ${refused.limit.currency}` : null,
    fallback: payment.fallback,
    chosen: chosen === null ? null : { provider: chosen.provider, method: chosen.method },
  }
  const note = offerNote({
    country: country.code,
    chosen,
    pinned: { provider: payment.provider, reason: refused?.reason, fallback: payment.fallback },
    data,
  })
  const told = { ...note, paymentId: payment.id, at: new Date(clock()).toISOString(), data }
  await addTimelineNote(db, told, chosen === null ? { most: MOST_REFUSED } : {})
}

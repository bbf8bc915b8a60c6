import type { Queryable } from '../../../db/db.ts'
import { addTimelineNote } from '../../../db/payments/timeline.ts'
import { formatAmount } from '../../../domain/money.ts'
import type { Offer } from '../../../domain/offers.ts'
import { offerNote } from '../../../domain/timeline.ts'
import type { Checkout } from '../../../web/checkout/checkout.ts'

/** A buyer has one country, and may correct it. */
const MOST_REFUSED = 10

/**
 * Notes the decision when the buyer continues (`chosen`), and when a pinned method was not offered. Each is noted once,
 * however often it is reported. Refusals are limited, because anybody with the link can choose any country.
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
    // Each outage is noted once.
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
  const entry = { ...note, paymentId: payment.id, at: new Date(clock()).toISOString(), data }
  await addTimelineNote(db, entry, chosen === null ? { most: MOST_REFUSED } : {})
}

import type { Tx } from '../db/db.ts'
import { completeLinks } from '../db/links/completed-links.ts'
import { recordEvents } from '../db/webhooks/events.ts'
import { renderLink } from '../domain/link/link.ts'
import type { Payment } from '../domain/payment/payment-object.ts'

/**
 * Completes those of the links that have all their payments, and records the event of each: with the last of the given
 * payments, which have just succeeded. Call it last in the transaction, as every function that records events.
 */
export async function recordCompletedLinks(
  tx: Tx,
  links: { readonly ids: readonly string[]; readonly at: string; readonly publicUrl: string },
  payments: readonly Pick<Payment, 'id' | 'paymentLink'>[] = [],
): Promise<void> {
  const { ids, at, publicUrl } = links
  const completed = await completeLinks(tx, ids, at)
  await recordEvents(
    tx,
    completed.map((link) => ({
      merchantId: link.merchantId,
      livemode: link.livemode,
      type: 'payment_link.completed',
      paymentId: payments.findLast(({ paymentLink }) => paymentLink === link.id)?.id ?? null,
      object: renderLink(link, { publicUrl, now: at }),
      at,
    })),
  )
}

export const listLinkIds = (payments: readonly Pick<Payment, 'paymentLink'>[]): string[] =>
  [...new Set(payments.flatMap(({ paymentLink }) => paymentLink ?? []))].toSorted()

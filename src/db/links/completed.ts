import { z } from 'zod'
import { renderLink } from '../../domain/link/link.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { many, sql, type Tx } from '../db.ts'
import type { NewEvent } from '../webhooks/events.ts'
import { linkColumns, linkRow } from './links.ts'

/**
 * Marks the links of which the last payment has succeeded, and answers the event of each. Called in the transaction in
 * which these payments became `succeeded`, before any event is recorded: links are locked before sequences.
 */
export async function completeLinks(
  tx: Tx,
  { publicUrl, at }: { publicUrl: string; at: string },
  payments: readonly Payment[],
): Promise<NewEvent[]> {
  const paid = payments.filter(({ status, paymentLink }) => status === 'succeeded' && paymentLink !== null)
  const ids = [...new Set(paid.map(({ paymentLink }) => String(paymentLink)))].sort()
  if (ids.length === 0) return []
  // One after the other: of two transactions with the last two payments, the second counts both.
  const open = await many(
    tx,
    z.object({ id: z.string() }),
    sql`select id from payment_link where id = any(${ids}) and max_payments is not null and completed_at is null
        order by id for no key update`,
  )
  if (open.length === 0) return []
  const completed = await many(
    tx,
    linkRow,
    sql`update payment_link set completed_at = ${at}::timestamptz
        where id = any(${open.map(({ id }) => id)}) and max_payments <=
          (select count(*) from payment p where p.payment_link = payment_link.id and p.status = 'succeeded')
        returning ${linkColumns}`,
  )
  return completed.map((link) => ({
    merchantId: link.merchantId,
    livemode: link.livemode,
    type: 'payment_link.completed',
    paymentId: paid.findLast(({ paymentLink }) => paymentLink === link.id)?.id ?? null,
    object: renderLink(link, { publicUrl, now: at }),
    at,
  }))
}

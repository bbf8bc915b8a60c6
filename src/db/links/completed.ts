import { z } from 'zod'
import { renderLink } from '../../domain/link/link.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { many, sql, type Tx } from '../db.ts'
import type { NewEvent } from '../webhooks/events.ts'
import { linkColumns, linkRow } from './links.ts'

type Context = { readonly publicUrl: string; readonly at: string }

/**
 * Marks the links of which the last payment has succeeded, and returns the event of each. Called in the transaction in
 * which these payments became `succeeded`, before any event is recorded: links are locked before sequences.
 */
export async function completeLinks(tx: Tx, context: Context, payments: readonly Payment[]): Promise<NewEvent[]> {
  const paid = payments.filter(({ status, paymentLink }) => status === 'succeeded' && paymentLink !== null)
  const ids = [...new Set(paid.map(({ paymentLink }) => String(paymentLink)))].sort()
  const events = await completeFullLinks(tx, context, ids)
  return events.map(({ linkId, ...event }) => ({
    ...event,
    paymentId: paid.findLast(({ paymentLink }) => paymentLink === linkId)?.id ?? null,
  }))
}

const idRow = z.object({ id: z.string() })

/** Marks those of the links that have as many successful payments as they take, and returns the event of each. */
export async function completeFullLinks(
  tx: Tx,
  { publicUrl, at }: Context,
  ids: readonly string[],
): Promise<(NewEvent & { readonly linkId: string })[]> {
  if (ids.length === 0) return []
  // One after the other: of two transactions with the last two payments, the second counts both.
  const open = await many(
    tx,
    idRow,
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
    linkId: link.id,
    merchantId: link.merchantId,
    livemode: link.livemode,
    type: 'payment_link.completed',
    paymentId: null,
    object: renderLink(link, { publicUrl, now: at }),
    at,
  }))
}

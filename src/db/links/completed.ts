import { z } from 'zod'
import { renderLink } from '../../domain/link/link.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { execute, many, sql, type Tx } from '../db.ts'
import type { NewEvent } from '../webhooks/events.ts'
import { linkColumns, linkRow } from './links.ts'

type Context = { readonly publicUrl: string; readonly at: string }

/** Locks the links of these payments. Call it before an event is recorded: links are locked before sequences. */
export async function lockLinks(tx: Tx, payments: readonly Payment[]): Promise<void> {
  const ids = listLinks(payments)
  if (ids.length > 0)
    await execute(tx, sql`select from payment_link where id = any(${ids}) order by id for no key update`)
}

const listLinks = (payments: readonly Payment[]): string[] =>
  [...new Set(payments.flatMap(({ paymentLink }) => paymentLink ?? []))].sort()

/** Returns the event of each link. Call it in the transaction in which the payments became `succeeded`. */
export async function completeLinks(tx: Tx, context: Context, payments: readonly Payment[]): Promise<NewEvent[]> {
  const events = await completeFullLinks(tx, context, listLinks(payments))
  return events.map(({ linkId, ...event }) => ({
    ...event,
    paymentId: payments.findLast(({ paymentLink }) => paymentLink === linkId)?.id ?? null,
  }))
}

const idRow = z.object({ id: z.string() })

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

import { z } from 'zod'
import type { PaymentLink } from '../../domain/link/link.ts'
import { execute, many, sql, type Tx } from '../db.ts'
import { linkColumns, linkRow } from './links.ts'

/** In one order. Links are locked before the sequences of events. */
export async function lockLinks(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await execute(tx, sql`select from payment_link where id = any(${[...ids]}) order by id for no key update`)
}

const idRow = z.object({ id: z.string() })

/** Completes those of the links that have all their payments. Returns them. */
export async function completeLinks(tx: Tx, ids: readonly string[], at: string): Promise<PaymentLink[]> {
  if (ids.length === 0) return []
  // One after the other: of two transactions with the last two payments, the second counts both.
  const open = await many(
    tx,
    idRow,
    sql`select id from payment_link where id = any(${[...ids]}) and max_payments is not null and completed_at is null
        order by id for no key update`,
  )
  if (open.length === 0) return []
  return many(
    tx,
    linkRow,
    sql`update payment_link set completed_at = ${at}::timestamptz
        where id = any(${open.map(({ id }) => id)}) and max_payments <=
          (select count(*) from payment p where p.payment_link = payment_link.id and p.status = 'succeeded')
        returning ${linkColumns}`,
  )
}

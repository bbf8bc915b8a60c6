import { z } from 'zod'
import { many, sql, type Tx } from '../db.ts'

const idRow = z.object({ id: z.string() })

/** Payments of the link that give way to another buyer, the oldest first. */
export async function listIdlePayments(tx: Tx, linkId: string): Promise<string[]> {
  const rows = await many(
    tx,
    idRow,
    sql`select id from payment where payment_link = ${linkId} and gives_way(status, created_at) order by created_at, id`,
  )
  return rows.map(({ id }) => id)
}

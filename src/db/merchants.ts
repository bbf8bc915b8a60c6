import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql } from './db.ts'

/** A merchant that is there already keeps its name. */
export async function insertMerchant(db: Queryable, merchant: { id: string; name: string }): Promise<void> {
  await execute(
    db,
    sql`insert into merchant (id, name) values (${merchant.id}, ${merchant.name}) on conflict (id) do nothing`,
  )
}

/** The name that buyers see at the checkout; null for a merchant that does not exist. */
export async function readMerchantName(db: Queryable, merchantId: string): Promise<string | null> {
  const row = await maybeOne(
    db,
    z.object({ name: z.string() }),
    sql`select name from merchant where id = ${merchantId}`,
  )
  return row?.name ?? null
}

import { z } from 'zod'
import { execute, one, type Queryable, sql, type Tx } from '../db.ts'

/** The name that buyers see. */
export async function readMerchantName(db: Queryable, merchantId: string): Promise<string> {
  const row = await one(db, z.object({ name: z.string() }), sql`select name from merchant where id = ${merchantId}`)
  return row.name
}

/** Stores a merchant. One that is there already keeps its name. */
export async function insertMerchant(db: Queryable, merchant: { id: string; name: string }): Promise<void> {
  await execute(
    db,
    sql`insert into merchant (id, name) values (${merchant.id}, ${merchant.name}) on conflict (id) do nothing`,
  )
}

/** Locks the merchant until the transaction ends: whoever counts its things before adding one begins with this. */
export async function lockMerchant(tx: Tx, merchantId: string): Promise<void> {
  await execute(tx, sql`select 1 from merchant where id = ${merchantId} for no key update`)
}

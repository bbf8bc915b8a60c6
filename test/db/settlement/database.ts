import { createTestDatabase } from '../../../scripts/test/services/databases.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import type { Hex } from '../../../src/domain/hex.ts'

export const CHAIN_ID = 31337

/** A new database with one merchant. */
export async function openDatabase(): Promise<{ db: Db; close: () => Promise<void> }> {
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false })
  await db.query(`insert into merchant (id, name) values ('mer_1', 'shop')`)
  return {
    db,
    close: async () => {
      await db.close()
      await database.drop()
    },
  }
}

/** A payment of the merchant, for a payout to belong to. */
export async function addPayment(db: Db, id: string, to: { token: Hex; destination: Hex }): Promise<void> {
  await db.query(
    `insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, fallback, checkout_token,
       destination, chain_id, token, quote, created_at, updated_at, expires_at)
     values ($1, 'mer_1', false, '1.00', 100, 'USD', 'none', $1, $2, $3, $4, '{}', now(), now(), now())`,
    [id, to.destination, CHAIN_ID, to.token],
  )
}

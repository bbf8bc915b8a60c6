import pg from 'pg'
import { API_SCOPES, createApiKey } from '../../../src/api/auth/api-key.ts'
import { createDb, type Tenant } from '../../../src/db/db.ts'
import { insertApiKey } from '../../../src/db/merchants/api-keys.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { setWallet } from '../../../src/db/merchants/wallets.ts'

const NEIGHBOR: Tenant = { merchantId: 'mer_01nei000000000000000000000', livemode: false }
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

/** Stores a second merchant. Returns the API key. */
export async function addNeighbor(databaseUrl: string, pepper: string): Promise<string> {
  const db = createDb({ url: databaseUrl, livemode: false, pool: 1 })
  try {
    await insertMerchant(db, { id: NEIGHBOR.merchantId, name: 'Next Door' })
    await setWallet(db, NEIGHBOR, WALLET)
    const { id, text, ...made } = createApiKey(false, pepper)
    await insertApiKey(db, NEIGHBOR, { id, ...made, name: 'Next door', scopes: API_SCOPES })
    return text
  } finally {
    await db.close()
  }
}

/** Stores payments of the demo merchant that expired long ago, by one statement, so that it takes seconds. */
export async function fillMerchant(databaseUrl: string, payments: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      `insert into payment (id, merchant_id, livemode, status, amount_text, amount_minor, currency, fallback, checkout_token,
          destination, chain_id, token, quote, reference, description, created_at, updated_at, expires_at, closed_at)
        select 'pay_' || lpad(n::text, 26, '0'), sample.merchant_id, false, 'expired', '1', 100, 'EUR', 'picker', 'stored-' || n,
          sample.wallet, 1, 't', '{"rate":"1","rateSource":"t","netMicro":"1","expiresAt":"2026-01-01T00:00:00.000Z"}',
          'order-' || n, 'Ticket ' || md5(n::text), at, at, at, at
        from generate_series(1, $1) n,
          lateral (select now() - n * interval '1 minute' as at) moments,
          (select merchant_id, address as wallet from wallet where merchant_id <> $2 limit 1) sample`,
      [payments, NEIGHBOR.merchantId],
    )
    await client.query('vacuum analyze payment, payment_words')
  } finally {
    await client.end()
  }
}

import { randomBytes } from 'node:crypto'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import type { Tenant } from '../../src/db/db.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { recordEvent } from '../../src/db/webhooks/events.ts'
import { insertEndpoint, type WebhookEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { newId } from '../../src/ids.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'

export const secretBox = createSecretBox(randomBytes(32).toString('base64'))

export type Seeded = Awaited<ReturnType<typeof seedDatabase>>

/** A database with one merchant, and helpers for the tests of webhooks. */
export async function seedDatabase(pool = 10) {
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false, pool })
  const tenant = await addMerchant(db)
  return {
    db,
    url: database.url,
    tenant,
    async close() {
      await db.close()
      await database.drop()
    },
  }
}

export async function addMerchant(db: Db, livemode = false): Promise<Tenant> {
  const merchantId = newId('merchant')
  await db.query('insert into merchant (id, name) values ($1, $2)', [merchantId, 'Shop'])
  return { merchantId, livemode }
}

export type SeedEndpoint = { url?: string; enabledEvents?: string[] }

export async function addEndpoint(
  db: Db,
  tenant: Tenant,
  { url = 'https://shop.example/hooks', enabledEvents = ['payment.succeeded'] }: SeedEndpoint = {},
): Promise<WebhookEndpoint & { secret: string }> {
  const [id, secret] = [newId('endpoint'), newWebhookSecret()]
  const sealedSecret = secretBox.seal(secret, id)
  const endpoint = await insertEndpoint(db, tenant, { id, url, description: null, enabledEvents, sealedSecret })
  return { ...endpoint, secret }
}

export type SeedEvent = { type?: string; at?: string; object?: object }

/** Records an event about a new object; returns its id, with or without subscribers. */
export async function addEvent(
  db: Db,
  tenant: Tenant,
  {
    type = 'payment.succeeded',
    at = '2026-11-20T21:00:00.000Z',
    object = { id: 'pay_1', amount: '49.99' },
  }: SeedEvent = {},
): Promise<string | null> {
  return db.transaction((tx) => recordEvent(tx, { ...tenant, type, paymentId: null, object, at }))
}

export async function rows<T>(db: Db, text: string, values: unknown[] = []): Promise<T[]> {
  return (await db.query(text, values)).rows as T[]
}

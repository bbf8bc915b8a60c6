import { API_SCOPES, createApiKey, digestOf, parseApiKey, sameDigest } from '../../src/api/auth/api-key.ts'
import { findOrInsertPerson, insertMembership } from '../../src/db/accounts/people.ts'
import type { Tenant } from '../../src/db/db.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { findApiKey, insertApiKey } from '../../src/db/merchants/api-keys.ts'
import { insertMerchant } from '../../src/db/merchants/merchants.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { findEndpoint, insertEndpoint, updateEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { DEFAULT_EVENT_TYPES } from '../../src/domain/webhook.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { DEMO_EMAIL } from './environment.ts'

export type DemoMerchant = {
  readonly apiKeyPepper: string
  readonly webhookEncryptionKey: string
  readonly webhookSecret: string
  readonly webhookUrl: string
  readonly wallet: string
  /** The key that an earlier start made; a new one is made when it is null or unknown here. */
  readonly secretKey: string | null
}

/** Ids of the demo merchant: fixed, so that seeding again finds what is there. */
const DEMO: Tenant = { merchantId: 'mer_01demo00000000000000000000', livemode: false }
const DEMO_PERSON = 'per_01demo00000000000000000000'
const DEMO_ENDPOINT = 'we_01demo00000000000000000000'

/** Makes a merchant with a wallet, a test key and a webhook endpoint. Idempotent. */
export async function seedDemo(demo: DemoMerchant, databaseUrl: string): Promise<{ secretKey: string }> {
  const db = createDb({ url: databaseUrl, livemode: DEMO.livemode, pool: 1 })
  try {
    await insertMerchant(db, { id: DEMO.merchantId, name: 'Demo Shop' })
    await setWallet(db, DEMO, demo.wallet)
    await seedPerson(db)
    await seedEndpoint(db, demo)
    return { secretKey: await seedKey(db, demo) }
  } finally {
    await db.close()
  }
}

/** The demo merchant's owner, who signs in with one press. */
async function seedPerson(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    const person = await findOrInsertPerson(tx, { id: DEMO_PERSON, email: DEMO_EMAIL })
    await insertMembership(tx, { merchantId: DEMO.merchantId, personId: person.id, role: 'owner' })
  })
}

async function seedEndpoint(db: Db, demo: DemoMerchant): Promise<void> {
  const existing = await findEndpoint(db, DEMO, DEMO_ENDPOINT)
  if (existing === null)
    await insertEndpoint(db, DEMO, {
      id: DEMO_ENDPOINT,
      url: demo.webhookUrl,
      description: 'The inbox of npm start',
      enabledEvents: DEFAULT_EVENT_TYPES,
      sealedSecret: createSecretBox(demo.webhookEncryptionKey).seal(demo.webhookSecret, DEMO_ENDPOINT),
    })
  else if (existing.url !== demo.webhookUrl)
    await updateEndpoint(db, DEMO, { id: DEMO_ENDPOINT, changes: { url: demo.webhookUrl } })
}

async function seedKey(db: Db, demo: DemoMerchant): Promise<string> {
  const parsed = demo.secretKey === null ? null : parseApiKey(demo.secretKey)
  const stored = parsed === null ? null : await findApiKey(db, parsed.id)
  const works = stored !== null && stored.revokedAt === null && stored.expiresAt === null
  if (parsed !== null && works && sameDigest(stored.digest, digestOf(parsed.text, demo.apiKeyPepper)))
    return parsed.text
  const key = createApiKey(false, demo.apiKeyPepper)
  await insertApiKey(db, DEMO, {
    id: key.id,
    name: 'Demo key',
    digest: key.digest,
    last4: key.last4,
    pepperId: key.pepperId,
    scopes: API_SCOPES,
  })
  return key.text
}

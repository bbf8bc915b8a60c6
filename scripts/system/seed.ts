import { API_SCOPES, createApiKey, digestApiKey, parseApiKey } from '../../src/api/auth/api-key.ts'
import { findOrInsertPerson, insertMembership } from '../../src/db/accounts/people.ts'
import type { Tenant } from '../../src/db/db.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { findApiKey, insertApiKey } from '../../src/db/merchants/api-keys.ts'
import { insertMerchant } from '../../src/db/merchants/merchants.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { insertChannel } from '../../src/db/notifications/channels.ts'
import { findEndpoint, insertEndpoint, updateEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { DEFAULT_NOTIFICATION_EVENTS } from '../../src/domain/notification/channel.ts'
import { DEFAULT_EVENT_TYPES } from '../../src/domain/webhook.ts'
import { isSameSecret } from '../../src/runtime/constant-time.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { DEMO_EMAIL } from './environment.ts'

export type DemoMerchant = {
  readonly apiKeyPepper: string
  readonly webhookEncryptionKey: string
  readonly webhookSecret: string
  readonly webhookUrl: string
  readonly wallet: string
  /** The inbox that replaces mail and chat, whose channels the merchant gets; absent: none. */
  readonly channelsAt?: string
  /** The key that an earlier start created; a new one is created if it is null or unknown here. */
  readonly secretKey: string | null
}

/** Ids of the demo merchant: fixed, so that seeding again finds what is there. */
const DEMO: Tenant = { merchantId: 'mer_01demo00000000000000000000', livemode: false }
const DEMO_PERSON = 'per_01demo00000000000000000000'
const DEMO_ENDPOINT = 'we_01demo00000000000000000000'
const DEMO_CHANNELS = ['nch_01dem000000000000000000001', 'nch_01dem000000000000000000002'] as const

/** Creates a merchant with a wallet, a test key and a webhook endpoint. Idempotent. */
export async function seedDemo(demo: DemoMerchant, databaseUrl: string): Promise<{ secretKey: string }> {
  const db = createDb({ url: databaseUrl, livemode: DEMO.livemode, pool: 1 })
  try {
    await insertMerchant(db, { id: DEMO.merchantId, name: 'Demo Shop' })
    await setWallet(db, DEMO, demo.wallet)
    const personId = await seedPerson(db)
    if (demo.channelsAt !== undefined) await seedChannels(db, { ...demo, channelsAt: demo.channelsAt, personId })
    await seedEndpoint(db, demo)
    return { secretKey: await seedKey(db, demo) }
  } finally {
    await db.close()
  }
}

/** Creates the demo merchant's owner, who signs in with one press. */
function seedPerson(db: Db): Promise<string> {
  return db.transaction(async (tx) => {
    const person = await findOrInsertPerson(tx, { id: DEMO_PERSON, email: DEMO_EMAIL })
    await insertMembership(tx, { merchantId: DEMO.merchantId, personId: person.id, role: 'owner' })
    return person.id
  })
}

type Channels = Pick<DemoMerchant, 'webhookEncryptionKey'> & { readonly channelsAt: string; readonly personId: string }

/** Creates one by mail and one in a chat. A channel that was removed is not created again. */
async function seedChannels(db: Db, { webhookEncryptionKey, channelsAt, personId }: Channels): Promise<void> {
  const box = createSecretBox(webhookEncryptionKey)
  const wanted = [
    { id: DEMO_CHANNELS[0], kind: 'email', name: DEMO_EMAIL, address: '' },
    { id: DEMO_CHANNELS[1], kind: 'slack', name: '#demo-shop', address: `${channelsAt}/services/TDEMO/BDEMO/inbox` },
  ] as const
  const at = new Date().toISOString()
  for (const { id, kind, name, address } of wanted) {
    const sealed = box.seal(address, id)
    const { rows } = await db.query('select removed_at from channel where id = $1', [id])
    if (rows.length === 0)
      await insertChannel(db, DEMO, {
        id,
        kind,
        name,
        sealed,
        at,
        person_id: personId,
        events: [...DEFAULT_NOTIFICATION_EVENTS],
        language: 'en',
        quiet: null,
      })
    // Another start has other ports.
    else await db.query(`update channel set sealed = $2 where id = $1 and removed_at is null`, [id, sealed])
  }
}

async function seedEndpoint(db: Db, demo: DemoMerchant): Promise<void> {
  const existing = await findEndpoint(db, DEMO, DEMO_ENDPOINT)
  if (existing === null)
    await insertEndpoint(db, DEMO, {
      id: DEMO_ENDPOINT,
      url: demo.webhookUrl,
      description: 'The inbox of npm start',
      enabledEvents: [...DEFAULT_EVENT_TYPES, 'payment.chargeback'],
      sealedSecret: createSecretBox(demo.webhookEncryptionKey).seal(demo.webhookSecret, DEMO_ENDPOINT),
    })
  else if (existing.url !== demo.webhookUrl)
    await updateEndpoint(db, DEMO, { id: DEMO_ENDPOINT, changes: { url: demo.webhookUrl } })
}

async function seedKey(db: Db, demo: DemoMerchant): Promise<string> {
  const parsed = demo.secretKey === null ? null : parseApiKey(demo.secretKey)
  const stored = parsed === null ? null : await findApiKey(db, parsed.id)
  const works = stored !== null && stored.revokedAt === null && stored.expiresAt === null
  if (parsed !== null && works && isSameSecret(stored.digest, digestApiKey(parsed.text, demo.apiKeyPepper)))
    return parsed.text
  const key = createApiKey(false, demo.apiKeyPepper)
  await insertApiKey(db, DEMO, { ...key, name: 'Demo key', scopes: API_SCOPES })
  return key.text
}

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { aLink } from '../../scripts/test/new-link.ts'
import type { Tenant } from '../../src/db/db.ts'
import { listLinks } from '../../src/db/links/link-list.ts'
import { findLink, insertLink, lockLink, updateLink } from '../../src/db/links/links.ts'
import {
  countActiveKeys,
  expireApiKey,
  findOwnApiKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../src/db/merchants/api-keys.ts'
import { readWallet, readWalletSetting, setWallet } from '../../src/db/merchants/wallets.ts'
import { listPayments } from '../../src/db/payments/payment-list.ts'
import { insertPayment, readIdempotentAnswer, readPayment } from '../../src/db/payments/payments.ts'
import { readTimeline } from '../../src/db/payments/timeline.ts'
import { listDeliveries, listEvents, readEvent, reviveDelivery, reviveFailed } from '../../src/db/webhooks/event-log.ts'
import {
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  rotateSecret,
  updateEndpoint,
} from '../../src/db/webhooks/webhook-endpoints.ts'
import { newId } from '../../src/ids.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, seedDatabase } from '../webhooks/seed.ts'

/**
 * The filter by merchant: every repository function filters by owner. It is tested on a connection without row-level
 * security, so that the security does not hide a missing filter.
 */

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

const page = { limit: 10, after: null, before: null }

/** One object of every type, and the number that each function finds for a tenant, or false. */
async function furnish() {
  const { db, tenant } = seeded
  const payment = newId('payment')
  const now = new Date().toISOString()
  const claim = { route: 'r', key: 'k', fingerprint: Buffer.alloc(32), status: 201, location: null, body: '{}' }
  await insertPayment(db, tenant, {
    claim,
    publicUrl: 'http://127.0.0.1:9',
    payment: {
      id: payment,
      amountText: '1',
      amount: { minor: '100', currency: 'EUR' },
      provider: null,
      fallback: 'picker',
      description: null,
      reference: null,
      metadata: null,
      invoice: null,
      successUrl: null,
      cancelUrl: null,
      checkoutToken: payment,
      paymentLink: null,
      tolerancePercent: 1,
      fillTolerancePercent: 2,
      feePercent: '4.5',
      reserve: null,
      destination: `0x${'1'.repeat(40)}`,
      chainId: 1,
      token: 't',
      createdAt: now,
      expiresAt: now,
      quote: { rate: '1', rateSource: 'test', netMicro: '1', expiresAt: now },
    },
  })
  await setWallet(db, tenant, `0x${'1'.repeat(40)}`)
  const link = newId('link')
  await insertLink(db, tenant, aLink({ id: link }))
  const key = { id: 'abcdefabcdef', name: 'k', digest: Buffer.alloc(32), pepperId: 'p', last4: 'abcd', scopes: [] }
  await insertApiKey(db, tenant, key)
  const endpoint = (await addEndpoint(db, tenant)).id
  const event = String(await addEvent(db, tenant))
  await db.query("update delivery set status = 'exhausted' where event_id = $1", [event])
  const target = { endpointId: endpoint, eventId: event }
  const since = '2000-01-01T00:00:00Z'
  // Functions that end something come last.
  const asked: Record<string, (as: Tenant) => Promise<unknown>> = {
    readPayment: (as) => readPayment(db, as, payment),
    listPayments: async (as) => (await listPayments(db, as, { filters: {}, page }))?.rows,
    readTimeline: async (as) => (await readTimeline(db, as, { paymentId: payment, page, reader: 'operator' })).rows,
    'listPayments from a cursor': (as) => listPayments(db, as, { filters: {}, page: { ...page, before: payment } }),
    findLink: (as) => findLink(db, as, link),
    listLinks: async (as) => (await listLinks(db, as, { filters: {}, page }))?.rows,
    lockLink: (as) => db.transaction((tx) => lockLink(tx, as, link)),
    updateLink: (as) => updateLink(db, as, { id: link, changes: { title: 'mine' } }),
    readIdempotentAnswer: (as) => readIdempotentAnswer(db, as, claim),
    readWallet: (as) => readWallet(db, as),
    readWalletSetting: (as) => readWalletSetting(db, as),
    readEvent: (as) => readEvent(db, as, event),
    listEvents: async (as) => (await listEvents(db, as, { filters: {}, page, afterSequence: 0 }))?.rows,
    'listEvents from a cursor': (as) =>
      listEvents(db, as, { filters: {}, page: { ...page, before: event }, afterSequence: null }),
    listDeliveries: async (as) => (await listDeliveries(db, as, { endpointId: endpoint, filters: {}, page }))?.rows,
    reviveFailed: (as) => reviveFailed(db, as, { endpointId: endpoint, since }),
    reviveDelivery: (as) => reviveDelivery(db, as, target),
    findEndpoint: (as) => findEndpoint(db, as, endpoint),
    listEndpoints: (as) => listEndpoints(db, as),
    updateEndpoint: (as) => updateEndpoint(db, as, { id: endpoint, changes: { description: 'mine' } }),
    rotateSecret: (as) => rotateSecret(db, as, { id: endpoint, sealedSecret: 's', previousExpiresAt: null }),
    findOwnApiKey: (as) => findOwnApiKey(db, as, key.id),
    listApiKeys: async (as) => (await listApiKeys(db, as, page))?.rows,
    countActiveKeys: (as) => db.transaction((tx) => countActiveKeys(tx, as, now)),
    expireApiKey: (as) => db.transaction((tx) => expireApiKey(tx, as, { id: key.id, at: now })),
    revokeApiKey: (as) => revokeApiKey(db, as, { id: key.id, at: now }),
    deleteEndpoint: (as) => deleteEndpoint(db, as, endpoint),
  }
  return asked
}

const isNothing = (found: unknown): boolean =>
  found === null || found === 0 || found === false || (Array.isArray(found) && found.length === 0)

it('every function that serves a merchant finds and changes only the merchant’s own objects, in its own mode', async () => {
  const other = await addMerchant(seeded.db)
  const live = { ...seeded.tenant, livemode: true }
  for (const [name, ask] of Object.entries(await furnish())) {
    for (const stranger of [other, live]) expect([name, isNothing(await ask(stranger))]).toEqual([name, true])
    expect([name, isNothing(await ask(seeded.tenant))]).toEqual([name, false])
  }
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { createPaymentActivities, type PaymentActivities } from '../../src/activities/payment/payment.ts'
import type { PaymentDeps } from '../../src/activities/payment/payment-deps.ts'
import { createAnnounceActivities } from '../../src/activities/webhooks/announce.ts'
import { createWebhookDeliveryActivities } from '../../src/activities/webhooks/webhook-delivery.ts'
import type { DeliveryDeps } from '../../src/activities/webhooks/webhook-try.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { listUntried } from '../../src/db/webhooks/deliveries.ts'
import { createDepositBook } from '../../src/deps/deposits.ts'
import { newId } from '../../src/ids.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { type Planted, plant, storedOf } from '../deps/two-modes.ts'

/** A test system whose database holds a payment of live mode: to its activities there is no such payment. */

let database: TestDatabase
let db: Db
let tenant: { merchantId: string; livemode: boolean }
let own: Planted
let other: Planted
let nobody: Planted
let stored: string
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 4 })
  tenant = { merchantId: newId('merchant'), livemode: false }
  await db.query("insert into merchant (id, name) values ($1, 'Shop')", [tenant.merchantId])
  own = await plant(db, tenant)
  other = await plant(db, { ...tenant, livemode: true })
  nobody = { ...own, id: newId('payment'), attemptId: newId('attempt') }
  stored = await storedOf(db, other)
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

const untouched = async (): Promise<void> => expect(await storedOf(db, other)).toBe(stored)

describe('the activities refuse, before anybody outside is asked:', () => {
  const asked: string[] = []
  /** Whoever is called is noted, and does not answer. */
  const outside = (name: string) =>
    new Proxy(
      {},
      {
        get: (_target, method) => async () => {
          asked.push(`${name}.${String(method)}`)
          throw new Error('no answer')
        },
      },
    )
  const activities = (): PaymentActivities => {
    const partner = outside('partner') as PaymentDeps['partners']['crypto']
    return createPaymentActivities({
      db,
      context: { publicUrl: 'http://127.0.0.1', now: Date.now },
      partners: {
        wallet_app: partner,
        card_partner: partner,
        local_partner: partner,
        crypto: partner,
      },
      accounts: { wallet_app: 'a', card_partner: 'a', local_partner: 'a', crypto: 'a' },
      converter: outside('converter') as PaymentDeps['converter'],
      rates: outside('rates') as PaymentDeps['rates'],
      tolerancePercent: 1,
      conversionTolerancePercent: 2,
      payouts: {
        treasury: `0x${'b'.repeat(40)}`,
        queue: async () => void asked.push('queue'),
        release: async () => asked.push('release') > 0,
        hold: async () => asked.push('hold') > 0,
        void: async () => {
          asked.push('void')
          return 'voiding'
        },
        exists: async () => false,
        forgotten: async () => null,
      },
    })
  }
  const note = { operator: 'ada', reason: 'a test' }
  const run = (work: (all: PaymentActivities) => Promise<unknown>): Promise<unknown> =>
    new MockActivityEnvironment().run(() => work(activities()))

  test.each<[string, (all: PaymentActivities, of: Planted) => Promise<unknown>]>([
    [
      'openPartnerOrder',
      (all, { id }) =>
        all.openPartnerOrder({
          paymentId: id,
          attemptId: newId('attempt'),
          provider: 'wallet_app',
          method: 'banking_app',
        }),
    ],
    ['readPartnerOrder', (all, of) => all.readPartnerOrder({ paymentId: of.id, attemptId: of.attemptId })],
    ['closeUnpaid', (all, { id }) => all.closeUnpaid({ paymentId: id, as: 'expired', expiresAt: 0 })],
    ['convertToUsdc', (all, { id }) => all.convertToUsdc({ paymentId: id, last: false })],
    ['transferUsdc', (all, { id }) => all.transferUsdc(id)],
    ['loadPayment', (all, { id }) => all.loadPayment(id)],
    ['markDelayed', (all, { id }) => all.markDelayed(id)],
    ['decide', (all, { id }) => all.decide({ paymentId: id, decision: 'hold', ...note })],
    ['refundAttempt', (all, of) => all.refundAttempt({ paymentId: of.id, attemptId: of.attemptId, ...note })],
  ])('%s', async (_name, call) => {
    asked.length = 0
    for (const planted of [other, nobody])
      await expect(run((all) => call(all, planted))).rejects.toThrow(`no payment ${planted.id}`)
    expect(asked).toEqual([])
    await untouched()
    const answer = await run((all) => call(all, own)).catch((error: unknown) => error)
    expect(String(answer)).not.toContain('no payment')
  })

  test('somebody outside is asked about a payment of its own mode', async () => {
    asked.length = 0
    const { id } = await plant(db, tenant)
    await expect(run((all) => all.convertToUsdc({ paymentId: id, last: false }))).rejects.toThrow('no answer')
    expect(asked).toContain('converter.convert')
  })

  test('announce and deliverWebhook', async () => {
    const sent: string[] = []
    const deps: DeliveryDeps = {
      db,
      secretBox: { open: () => newWebhookSecret() },
      sender: {
        send: async ({ endpointId }) => {
          sent.push(endpointId)
          throw new Error('no answer')
        },
      },
      now: Date.now,
    }
    const announced = new MockActivityEnvironment()
    expect(await announced.run(() => createAnnounceActivities(deps).announce(other.eventId))).toEqual({ failed: [] })
    const deliver = ({ eventId, endpointId }: Planted) =>
      new MockActivityEnvironment().run(() =>
        createWebhookDeliveryActivities(deps).deliverWebhook({ eventId, endpointId, attempt: 1, step: 1 }),
      )
    expect(await deliver(other)).toEqual({ kind: 'stopped', last: null })
    expect(sent).toEqual([])
    await untouched()
    expect(await listUntried(db, other.id)).toEqual([])
    expect(await listUntried(db, own.id)).toContain(own.eventId)
    await expect(deliver(own)).rejects.toThrow('no answer')
    expect(sent).toEqual([own.endpointId])
  })

  test('a deposit address', async () => {
    const book = createDepositBook({
      db,
      chainId: 31337,
      token: `0x${'3'.repeat(40)}`,
      watchDays: 30,
      keys: { addressOf: (id: string) => (id === own.id ? `0x${'1'.repeat(40)}` : `0x${'2'.repeat(40)}`) } as never,
    })
    const rate = { currency: 'EUR', rate: '1.25', source: 'test', asOf: new Date().toISOString() } as const
    const open = ({ attemptId }: Planted) => book.open({ attemptId, askedMicro: '1', rate, expiresAt: 4_000_000_000 })
    await expect(open(other)).rejects.toThrow('expected one row')
    await untouched()
    await open(own)
    expect(await book.read(own.attemptId)).toMatchObject({ paymentId: own.id })
    await db.query(
      `insert into deposit (payment_id, attempt_id, livemode, chain_id, token, address, asked_micro, rate, rate_source,
         rate_as_of, expires_at, watch_until)
       select $1, $2, true, chain_id, token, $3, asked_micro, rate, rate_source, rate_as_of, expires_at, watch_until
       from deposit where payment_id = $4`,
      [other.id, other.attemptId, `0x${'2'.repeat(40)}`, own.id],
    )
    expect(await book.read(other.attemptId)).toBeNull()
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { MockActivityEnvironment } from '@temporalio/testing'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { createPaymentActivities, type PaymentActivities } from '../../src/activities/payment/payment.ts'
import type { PaymentDeps } from '../../src/activities/payment/payment-deps.ts'
import { createAnnounceActivities } from '../../src/activities/webhooks/announce.ts'
import { createWebhookDeliveryActivities } from '../../src/activities/webhooks/webhook-delivery.ts'
import type { DeliveryDeps } from '../../src/activities/webhooks/webhook-try.ts'
import { createApiKey } from '../../src/api/auth/api-key.ts'
import { readApiConfig, readWorkerConfig } from '../../src/config/config.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { loadPaymentWithEvents } from '../../src/db/payments/payments.ts'
import type { SettlementHooks } from '../../src/db/settlement/context.ts'
import { finishSweep } from '../../src/db/settlement/deposits.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { readQueue } from '../../src/db/settlement/observer/standing.ts'
import {
  payoutInsert,
  queuePayout,
  readPayout,
  requestVoid,
  resumePayout,
  stopPayout,
} from '../../src/db/settlement/payouts.ts'
import { listOwing, listTreasuries } from '../../src/db/settlement/rebuild.ts'
import { composeApi } from '../../src/deps/api.ts'
import { createDepositBook } from '../../src/deps/deposits.ts'
import { connectRefunds, loadStart } from '../../src/deps/shared.ts'
import { composeWorker } from '../../src/deps/worker.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { deliveryWorkflowId, paymentWorkflowId } from '../../src/domain/ids.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { newId } from '../../src/ids.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { createDeliverySweep } from '../../src/worker/delivery-sweep.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { type AskOptions, openTestApi, type TestApi } from '../api/support/test-api.ts'
import { foundLogs, takeLane, takeLease } from '../chain/lead.ts'
import { DESTINATION, type Planted, plant, readStored } from './two-modes.ts'

describe('The entrances of a system', () => {
  /**
   * A test system whose database has payments of live mode: the rows existed before it was stamped. At every entrance a
   * live payment is treated as unknown, and one of test mode is accepted.
   */
  const SAME_SITE = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }

  let testApi: TestApi
  let connection: Connection
  let client: Client
  let other: Planted
  let own: Planted
  let nobody: Planted
  let stored: string
  beforeAll(async () => {
    testApi = await openTestApi({
      // The callback is authentic: its order decides.
      deps: () => ({
        readCallback: (_provider, { body }) => {
          const attemptId = Buffer.from(body).toString()
          return { kind: 'order', eventId: `callback for ${attemptId}`, subject: { attemptId } }
        },
      }),
    })
    connection = await Connection.connect({ address: testApi.temporal.address })
    client = new Client({ connection, namespace: testApi.temporal.namespace })
    own = await plant(testApi.db, testApi.tenant)
    other = await plant(testApi.db, { ...testApi.tenant, livemode: true })
    nobody = {
      id: newId('payment'),
      token: 'checkout-of-nobody',
      attemptId: newId('attempt'),
      eventId: newId('event'),
      endpointId: newId('endpoint'),
    }
    stored = await readStored(testApi.db, other)
  }, 60_000)
  afterAll(async () => {
    await connection?.close()
    await testApi?.close()
  })

  const untouched = async (): Promise<void> => expect(await readStored(testApi.db, other)).toBe(stored)

  /** The response as a client reads it, except for its own input and the request’s own id. */
  async function seen(method: string, path: (of: Planted) => string, of: Planted, options: Options = {}) {
    const body = options.body?.(of)
    const answer = await testApi.ask(method, path(of), { ...options, ...(body !== undefined && { body }) })
    const ids = Object.values(of)
    const text = ids.reduce((all, id) => all.replaceAll(id, '…'), answer.text).replace(/req_[0-9a-z]+/g, 'req_')
    const kept = ['date', 'request-id', 'ratelimit', 'retry-after']
    return { status: answer.status, text, headers: [...answer.headers].filter(([name]) => !kept.includes(name)) }
  }
  type Options = Omit<AskOptions, 'body'> & { readonly body?: (of: Planted) => string }

  describe('Live objects are answered as unknown ones', () => {
    const page = { key: null, headers: SAME_SITE }
    const form = { ...page, body: () => 'provider=wallet_app&method=banking_app' }
    const callback = { key: null, body: ({ attemptId }: Planted) => attemptId }
    test.each<[string, number, string, (of: Planted) => string, Options]>([
      ['a payment', 404, 'GET', ({ id }) => `/v1/payments/${id}`, {}],
      ['a timeline', 404, 'GET', ({ id }) => `/v1/payments/${id}/timeline`, {}],
      ['a cancellation', 404, 'POST', ({ id }) => `/v1/payments/${id}/cancel`, {}],
      ['an event', 404, 'GET', ({ eventId }) => `/v1/events/${eventId}`, {}],
      ['an endpoint', 404, 'GET', ({ endpointId }) => `/v1/webhook_endpoints/${endpointId}`, {}],
      ['the checkout', 404, 'GET', ({ token }) => `/c/${token}`, page],
      ['the live status', 404, 'GET', ({ token }) => `/c/${token}/status`, page],
      ['the code of the link', 404, 'GET', ({ token }) => `/c/${token}/code.svg`, page],
      ['Continue', 404, 'POST', ({ token }) => `/c/${token}/continue`, form],
      ['the country', 404, 'POST', ({ token }) => `/c/${token}/country`, { ...page, body: () => 'country=DE' }],
      ['a callback of a partner', 200, 'POST', () => '/callbacks/wallet_app', callback],
    ])('a live object is answered as an unknown one: %s', async (_door, status, method, path, options) => {
      const answer = await seen(method, path, other, options)
      expect(answer).toEqual(await seen(method, path, nobody, options))
      expect(answer.status).toBe(status)
      await untouched()
      if (method === 'GET' || path(own).startsWith('/callbacks'))
        expect((await seen(method, path, own, options)).status).toBeLessThan(400)
    })

    test('a live key is answered as an unknown one', async () => {
      const live = await testApi.addKey({ ...testApi.tenant, livemode: true })
      const path = (): string => '/v1/providers'
      const answer = await seen('GET', path, other, { key: live.key })
      expect(answer.status).toBe(401)
      for (const key of [unknownKey(true), unknownKey(false), 'garbage'])
        expect(await seen('GET', path, nobody, { key })).toEqual(answer)
      expect((await seen('GET', path, own, {})).status).toBe(200)
      const { rows } = await testApi.db.query('select last_used_at from api_key where id = $1', [live.keyId])
      expect(rows).toEqual([{ last_used_at: null }])
    })

    test('live objects are absent from the lists', async () => {
      for (const path of ['/v1/payments', '/v1/events', '/v1/webhook_endpoints']) {
        const { text } = await testApi.ask('GET', path)
        expect([path, Object.values(other).some((id) => text.includes(id))]).toEqual([path, false])
        expect([path, Object.values(own).some((id) => text.includes(id))]).toEqual([path, true])
      }
    })
  })

  /** A well-formed key that is in no table. */
  function unknownKey(livemode: boolean): string {
    return createApiKey(livemode, 'another pepper').text
  }

  describe('A process of the other mode', () => {
    const refusal = 'This process is in live mode, but its database belongs to a test deployment.'
    const environment = () => ({
      ...LIVE_ENVIRONMENT,
      DATABASE_URL: testApi.databaseUrl,
      TEMPORAL_ADDRESS: testApi.temporal.address,
      TEMPORAL_NAMESPACE: testApi.temporal.namespace,
    })

    test('the api of the other mode refuses to start on this database', async () => {
      await expect(composeApi(readApiConfig(environment()), testApi.log)).rejects.toThrow(refusal)
    })

    test('the worker of the other mode refuses to start on this database', async () => {
      await expect(composeWorker(readWorkerConfig(environment()), testApi.log)).rejects.toThrow(refusal)
    })

    test('the api refuses to start if its lists would come from a database of the other mode', async () => {
      const database = await createTestDatabase()
      try {
        const env = { ...environment(), DATABASE_URL: database.url, DATABASE_READ_URL: testApi.databaseUrl }
        await expect(composeApi(readApiConfig(env), testApi.log)).rejects.toThrow(`DATABASE_READ_URL: ${refusal}`)
      } finally {
        await database.drop()
      }
    })
  })

  test('behind a pooler no process starts whose database user has no limit for statements', async () => {
    const pooled = {
      ...TEST_ENVIRONMENT,
      DATABASE_URL: testApi.databaseUrl,
      DATABASE_POOLER: 'transaction',
      TEMPORAL_ADDRESS: testApi.temporal.address,
      TEMPORAL_NAMESPACE: testApi.temporal.namespace,
    }
    await expect(composeApi(readApiConfig(pooled), testApi.log)).rejects.toThrow('alter role')
  })

  describe('Objects that the worker skips', () => {
    const parts = () => {
      const { db, taskQueue, log } = testApi
      const workflows = createPaymentWorkflows({ client, taskQueue, load: loadStart(db) })
      const refunds = connectRefunds(db, client, taskQueue)
      const relay = createRelay({ db, client, workflows, refunds, clock: Date.now, log, graceMs: 0 })
      const sweep = createDeliverySweep({ db, client, now: Date.now, taskQueue })
      return { workflows, relay, sweep }
    }
    const exists = (workflowId: string): Promise<boolean> =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => true,
          () => false,
        )

    test.each<[string, () => Promise<number>]>([
      ['a start that is not made', () => parts().relay.startPayments()],
      [
        'a change of a payout',
        () =>
          parts()
            .relay.relayChanges()
            .then(({ sent }) => sent),
      ],
      ['a callback of a partner', () => parts().relay.relayCallbacks()],
      ['a delivery that is overdue', () => parts().sweep.tick()],
    ])('the worker skips %s of the other mode', async (_what, round) => {
      expect(await round()).toBe(1)
      expect(await round()).toBe(0)
      await untouched()
      expect(await exists(paymentWorkflowId(other.id))).toBe(false)
      expect(await exists(deliveryWorkflowId(other.eventId, other.endpointId))).toBe(false)
    })

    test('the worker skips a payment of the other mode without a workflow', async () => {
      const orphan = await plant(testApi.db, testApi.tenant)
      await parts().relay.adoptOrphans()
      expect(await exists(paymentWorkflowId(orphan.id))).toBe(true)
      expect(await exists(paymentWorkflowId(other.id))).toBe(false)
      await untouched()
    })

    test('the worker skips a message of the other mode that would start a run', async () => {
      const { workflows } = parts()
      const request = { attemptId: newId('attempt'), provider: 'wallet_app', method: 'banking_app' } as const
      const messages = [
        (id: string) => workflows.openAttempt(id, request),
        (id: string) => workflows.cancel(id),
        (id: string) => workflows.signalOrderChanged(id, other.attemptId),
        (id: string) => workflows.signalRowChanged(id),
      ]
      for (const send of messages)
        for (const { id } of [other, nobody]) await expect(send(id)).rejects.toThrow(`no payment ${id}`)
      expect(await exists(paymentWorkflowId(other.id))).toBe(false)
    })
  })
})

describe('activities', () => {
  /** A test system whose database has a payment of live mode: its activities treat that payment as unknown. */
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
    stored = await readStored(db, other)
  })
  afterAll(async () => {
    await db?.close()
    await database?.drop()
  })

  const untouched = async (): Promise<void> => expect(await readStored(db, other)).toBe(stored)

  describe('Activities refuse a payment of the other mode before they call another party', () => {
    const asked: string[] = []
    /** Records each call, and does not answer. */
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
        float: null,
        converter: outside('converter') as PaymentDeps['converter'],
        rates: outside('rates') as PaymentDeps['rates'],
        payouts: {
          getTreasury: () => `0x${'b'.repeat(40)}`,
          queue: (payout) => (asked.push('queue'), payoutInsert(payout)),
          stop: async () => asked.push('stop') > 0,
          void: async () => {
            asked.push('void')
            return 'voiding'
          },
          open: async () => null,
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
      ['closeUnpaid', (all, { id }) => all.closeUnpaid({ paymentId: id, as: 'expired', now: Date.UTC(2100, 0, 1) })],
      ['settle', (all, { id }) => all.settle(id)],
      ['loadPayment', (all, { id }) => all.loadPayment(id)],
      ['markPassedTime', (all, { id }) => all.markPassedTime({ paymentId: id, now: Date.UTC(2100, 0, 1) })],
      ['decide', (all, { id }) => all.decide({ paymentId: id, say: 'hold', ...note })],
      ['giveBack', (all, of) => all.giveBack({ paymentId: of.id, attemptId: of.attemptId })],
    ])('the activity refuses a payment of the other mode: %s', async (_name, call) => {
      asked.length = 0
      for (const planted of [other, nobody])
        await expect(run((all) => call(all, planted))).rejects.toThrow(`no payment ${planted.id}`)
      expect(asked).toEqual([])
      await untouched()
      const answer = await run((all) => call(all, own)).catch((error: unknown) => error)
      expect(String(answer)).not.toContain('no payment')
    })

    test('an activity calls another party about a payment of the same mode', async () => {
      asked.length = 0
      const { id } = await plant(db, tenant)
      await expect(run((all) => all.settle(id))).rejects.toThrow('no answer')
      expect(asked).toEqual(['partner.readOrder'])
    })

    test('announce and deliverWebhook refuse an event of the other mode', async () => {
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
      await expect(loadPaymentWithEvents(db, other.id)).rejects.toThrow('no payment')
      expect((await loadPaymentWithEvents(db, own.id)).events).toContain(own.eventId)
      await expect(deliver(own)).rejects.toThrow('no answer')
      expect(sent).toEqual([own.endpointId])
    })

    test('the activity refuses a deposit address of the other mode', async () => {
      const book = createDepositBook({
        db,
        chainId: 31337,
        token: `0x${'3'.repeat(40)}`,
        watchDays: 30,
        keys: {
          deriveAddress: (id: string) => (id === own.id ? `0x${'1'.repeat(40)}` : `0x${'2'.repeat(40)}`),
        } as never,
      })
      const rate = { currency: 'EUR', rate: '1.25', source: 'test', asOf: new Date().toISOString() } as const
      const open = ({ attemptId }: Planted) => book.open({ attemptId, askedMicro: '1', rate, expiresAt: 4_000_000_000 })
      await expect(open(other)).rejects.toThrow('expected one row')
      await untouched()
      await open(own)
      expect(await book.read(own.attemptId)).toMatchObject({ paymentId: own.id })
      await db.query(
        `insert into deposit (owner_id, payment_id, attempt_id, livemode, chain_id, token, address, asked_micro, rate, rate_source,
         rate_as_of, expires_at, watch_until)
       select $1, $1, $2, true, chain_id, token, $3, asked_micro, rate, rate_source, rate_as_of, expires_at, watch_until
       from deposit where payment_id = $4`,
        [other.id, other.attemptId, `0x${'2'.repeat(40)}`, own.id],
      )
      expect(await book.read(other.attemptId)).toBeNull()
    })
  })
})

describe('settlement', () => {
  /** A payout of test mode and one of live mode with the same chain, token and treasury, in a test deployment. */
  const TOKEN: Hex = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
  const TREASURY: Hex = `0x${'b'.repeat(40)}`
  const FOREIGN_TREASURY: Hex = `0x${'d'.repeat(40)}`
  const RECIPIENT: Hex = `0x${'c'.repeat(40)}`
  const hash = (digit: number | string): Hex => `0x${String(digit).repeat(64)}`
  const SCOPE = { livemode: false, chainId: 31337, token: TOKEN }

  let database: TestDatabase
  let db: Db
  let own: Planted
  let other: Planted
  let stored: string
  const received: string[] = []
  const hooks: SettlementHooks = {
    onSettled: async (_tx, settlements) => void received.push(...settlements.map(({ ownerId }) => ownerId)),
    onStopped: async (_tx, { ownerId }) => void received.push(ownerId),
    onResumed: async (_tx, { ownerId }) => void received.push(ownerId),
    onVoided: async (_tx, { ownerId }) => void received.push(ownerId),
    onDeposit: async () => undefined,
    onReturned: async () => undefined,
    onTreasuryMovement: async () => undefined,
    onBalanceDifference: async () => undefined,
    onGas: async () => undefined,
  }

  const createPayout = ({ id }: Planted, livemode: boolean, treasury = TREASURY) =>
    ({ paymentId: id, ...SCOPE, livemode, treasury, recipient: RECIPIENT, microUsdc: '1000000' }) as const
  const getNonce = ({ id }: Planted): Hex => payoutNonce({ ...SCOPE, treasury: TREASURY, ownerId: id })
  const readState = async ({ id }: Planted) =>
    (await db.query('select state from payout where payment_id = $1', [id])).rows[0]?.state
  const journal = () => createSettlementJournal({ db, scope: SCOPE, hooks })

  beforeEach(async () => {
    received.length = 0
    database = await createTestDatabase()
    db = createDb({ url: database.url, livemode: false, pool: 4 })
    const tenant = { merchantId: newId('merchant'), livemode: false }
    await db.query("insert into merchant (id, name) values ($1, 'Shop')", [tenant.merchantId])
    own = await plant(db, tenant)
    other = await plant(db, { ...tenant, livemode: true })
    await db.transaction((tx) => queuePayout(tx, createPayout(own, false)))
    await db.transaction((tx) => queuePayout({ ...tx, livemode: true }, createPayout(other, true)))
    stored = await readStored(db, other)
  })
  afterEach(async () => {
    await db?.close()
    await database?.drop()
  })

  const untouched = async (): Promise<void> => expect(await readStored(db, other)).toBe(stored)

  describe('A payout of the other mode', () => {
    test('a payout of the other mode is not queued: its payment is unknown', async () => {
      const third = await plant(db, { merchantId: await merchant(), livemode: true })
      const ask = createPayout(third, true)
      for (const livemode of [true, false]) {
        const queued = db.transaction((tx) => queuePayout(tx, { ...ask, livemode }))
        await expect(queued).rejects.toThrow(`no payment ${third.id}`)
      }
      await db.query("update payment set status = 'refunded' where id = $1", [third.id])
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at, known_as, nonce_of)
       values ($1, $2, 0, $3, $4, 'out', $5, 1000000, $6, 1, $2, now(), 'payment', $7)`,
        [SCOPE.chainId, hash(8), TOKEN, TREASURY, RECIPIENT, getNonce(third), third.id],
      )
      expect(await journal().queueForgotten()).toBe(0)
      expect(await readState(third)).toBeUndefined()
    })

    test('a payout of the other mode is neither signed nor sent', async () => {
      const signature = { kind: 'transfer', validBefore: 4_000_000_000, signature: `0x${'1b'.repeat(65)}` } as const
      const { payouts } = await journal().readPayable({ keys: [TREASURY], limit: 10, after: null })
      expect(payouts.map(({ ownerId }) => ownerId)).toEqual([own.id])
      const signed = [own, other].map(({ id: paymentId }) => ({ ownerId: paymentId, treasury: TREASURY, signature }))
      await journal().storeSignatures(signed, { maxMicroPerDay: 10n ** 12n })
      expect([await readState(own), await readState(other)]).toEqual(['authorized', 'queued'])
      const assignable = await journal().readAssignable({ limit: 10, resting: [] })
      expect(assignable.map(({ ownerId }) => ownerId)).toEqual([own.id])

      await db.query("update payout set state = 'authorized' where payment_id = $1", [other.id])
      const lane = await takeLane(journal(), { owner: 'me', wallet: RECIPIENT })
      const carried = assignable.flatMap((payout) => [payout, { ...payout, ownerId: other.id }])
      const encode = () => ({ target: TOKEN, calldata: '0x' as const, gasLimit: 1n })
      expect(await journal().reserve(lane, { payouts: carried, encode })).toMatchObject({ items: 1 })
      expect([await readState(own), await readState(other)]).toEqual(['assigned', 'authorized'])
      await journal().requeue([other.id])
      expect(await readState(other)).toBe('authorized')
    })

    test('a payout of the other mode is not stopped, released or voided, by the engine or by an operator', async () => {
      await journal().stop({ ownerId: other.id, reason: 'policy', detail: '' })
      await untouched()
      const changes = [
        (id: string) => db.transaction((tx) => stopPayout(tx, id, 'why')),
        (id: string) => db.transaction((tx) => resumePayout(tx, id)),
        (id: string) => db.transaction((tx) => requestVoid(tx, id)),
      ]
      for (const change of changes) expect([await change(other.id), await change(own.id)]).toEqual([false, true])
      await db.query("update payout set state = 'stopped', stop_reason = 'operator' where payment_id = $1", [other.id])
      expect(await db.transaction((tx) => resumePayout(tx, other.id))).toBe(false)
      expect(await readPayout(db, other.id)).toBeNull()
      expect(received).toEqual([])
    })

    test('a payout of the other mode does not end by the chain’s logs', async () => {
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at)
       select 31337, $1, n.place, $2, $3, 'out', $4, 1000000, n.nonce, 1, $1, now()
       from unnest($5::text[]) with ordinality as n(nonce, place)`,
        [hash(1), TOKEN, TREASURY, RECIPIENT, [getNonce(own), getNonce(other)]],
      )
      expect(await journal().applyProven(10)).toEqual({ ended: 1, failed: [] })
      expect(received).toEqual([own.id])
      await untouched()
    })

    test('a payout of the other mode does not become mined, and a mined one does not go back', async () => {
      const lease = await takeLease(journal(), { owner: 'me' })
      const ids = [own.id, other.id]
      await journal().markMined(lease, { number: 1, mined: ids, gone: [] })
      expect(await readState(own)).toBe('mined')
      await untouched()
      await db.query("update payout set state = 'mined', mined_number = 1 where payment_id = $1", [other.id])
      expect((await journal().readSent(9)).map(({ ownerId }) => ownerId)).toEqual([own.id])
      await journal().markMined(lease, { number: 2, mined: [], gone: ids })
      expect(await readState(own)).not.toBe('mined')
      expect(await readState(other)).toBe('mined')
    })

    test('a payout of the other mode does not explain a transfer out of the treasury, which pauses the lanes', async () => {
      const third = await plant(db, { merchantId: await merchant(), livemode: true })
      const mine = await plant(db, { merchantId: await merchant(), livemode: false })
      const place = { kind: 'out', treasury: TREASURY, txHash: hash(1), blockNumber: 1, blockHash: hash(1) } as const
      const sum = { counterparty: RECIPIENT, microUsdc: '1000000', gasShare: null }
      const logs = [own, other, third, mine].map((of, logIndex) => ({
        ...place,
        ...sum,
        logIndex,
        authNonce: getNonce(of),
        ...(of === mine && { counterparty: DESTINATION }),
      }))
      const lease = await takeLease(journal(), { owner: 'me' })
      const unknown = await journal().recordLogs(lease, foundLogs([TREASURY], logs))
      expect(unknown.map(({ authNonce }) => authNonce)).toEqual([getNonce(other), getNonce(third)])
    })

    test('a payout of the other mode is not counted, and its treasury is unknown, when settlements are rebuilt', async () => {
      await db.query('delete from payout where payment_id = $1', [other.id])
      await db.transaction((tx) => queuePayout({ ...tx, livemode: true }, createPayout(other, true, FOREIGN_TREASURY)))
      const owing: string[] = []
      for await (const { ownerId } of listOwing(db, SCOPE)) owing.push(ownerId)
      expect(owing).toEqual([own.id])
      expect(await listTreasuries(db, SCOPE)).toEqual([TREASURY])
      expect(await readQueue(db, SCOPE)).toEqual([
        { state: 'queued', reason: null, count: 1, micro: '1000000', oldestSeconds: expect.any(Number) },
      ])
    })

    test('a deposit address of the other mode is neither watched nor swept', async () => {
      const [mine, theirs]: Hex[] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
      await db.query(
        `insert into deposit (owner_id, payment_id, attempt_id, livemode, chain_id, token, address, asked_micro, rate, rate_source,
         rate_as_of, expires_at, watch_until, unswept_micro)
       select d.id, d.id, d.attempt, d.livemode, 31337, $1, d.address, 1, '1', 't', '', now(), now() + interval '1 day', 1000000
       from (values ($2, $3, false, $4), ($5, $6, true, $7)) as d(id, attempt, livemode, address)`,
        [TOKEN, own.id, own.attemptId, mine, other.id, other.attemptId, theirs],
      )
      const before = await readStored(db, other)
      await takeLease(journal(), { owner: 'me' })
      expect((await journal().readWatchedDeposits('watched')).map(({ address }) => address)).toEqual([mine])
      expect((await journal().readUnswept({ after: '', limit: 10 })).map(({ ownerId }) => ownerId)).toEqual([own.id])
      const movement = { chainId: 31337, direction: 'in', fate: 'final', micro: '1000000', treasury: TREASURY } as const
      const from = (counterparty: Hex) => ({ ...movement, counterparty, txHash: hash(1), logIndex: 0, blockNumber: 1 })
      expect(await db.transaction((tx) => finishSweep(tx, from(theirs!)))).toBeNull()
      expect(await db.transaction((tx) => finishSweep(tx, from(mine!)))).toBe(own.id)
      expect(await readStored(db, other)).toBe(before)

      for (const { id: ownerId } of [own, other]) {
        const sender = ownerId === own.id ? mine! : theirs!
        const sweep = { ownerId, index: 1, micro: '1', recipient: TREASURY, authNonce: hash(1), sender }
        await journal().storeSweep({ ...sweep, validBefore: 4_000_000_000, signature: `0x${'1b'.repeat(65)}` })
      }
      const sendable = await journal().readSendableSweeps({ treasury: TREASURY, validAt: 1, limit: 10 })
      expect(sendable.map(({ ownerId }) => ownerId)).toEqual([own.id])
      const lane = await takeLane(journal(), { owner: 'me', wallet: RECIPIENT })
      const encode = () => ({ target: TOKEN, calldata: '0x' as const, gasLimit: 1n })
      const reserved = await journal().reserveSweeps(lane, {
        sweeps: [own, other].map(({ id: ownerId }) => ({ ownerId, index: 1 })),
        encode,
      })
      expect(reserved).toMatchObject({ items: 1 })
    })
  })

  async function merchant(): Promise<string> {
    const id = newId('merchant')
    await db.query("insert into merchant (id, name) values ($1, 'Shop')", [id])
    return id
  }
})

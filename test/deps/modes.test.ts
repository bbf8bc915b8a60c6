import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { LIVE_ENVIRONMENT, TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { createApiKey } from '../../src/api/auth/api-key.ts'
import { readApiConfig, readWorkerConfig } from '../../src/config.ts'
import { composeApi } from '../../src/deps/api.ts'
import { loadStart } from '../../src/deps/shared.ts'
import { composeWorker } from '../../src/deps/worker.ts'
import { deliveryWorkflowId, lateMoneyWorkflowId, paymentWorkflowId } from '../../src/domain/ids.ts'
import { newId } from '../../src/ids.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { createDeliverySweep } from '../../src/worker/delivery-sweep.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { type AskOptions, openShop, type Shop } from '../api/support/shop.ts'
import { type Planted, plant, storedOf } from './two-modes.ts'

/**
 * A test system whose database holds payments of live mode: the rows were there before it was stamped. At every door
 * a live payment is answered and treated as one that does not exist, and one of test mode goes through.
 */

const SAME_SITE = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }

let shop: Shop
let connection: Connection
let client: Client
let other: Planted
let own: Planted
let nobody: Planted
let stored: string
beforeAll(async () => {
  shop = await openShop({
    // The callback is authentic: what it names decides.
    deps: () => ({
      readCallback: (_provider, { body }) => {
        const attemptId = Buffer.from(body).toString()
        return { kind: 'news', eventId: `callback for ${attemptId}`, attemptId }
      },
    }),
  })
  connection = await Connection.connect({ address: shop.temporal.address })
  client = new Client({ connection, namespace: shop.temporal.namespace })
  own = await plant(shop.db, shop.tenant)
  other = await plant(shop.db, { ...shop.tenant, livemode: true })
  nobody = {
    id: newId('payment'),
    token: 'checkout-of-nobody',
    attemptId: newId('attempt'),
    eventId: newId('event'),
    endpointId: newId('endpoint'),
  }
  stored = await storedOf(shop.db, other)
}, 60_000)
afterAll(async () => {
  await connection?.close()
  await shop?.close()
})

const untouched = async (): Promise<void> => expect(await storedOf(shop.db, other)).toBe(stored)

/** As a client sees it, but for what it asked for itself and the request's own id. */
async function seen(method: string, path: (of: Planted) => string, of: Planted, options: Options = {}) {
  const body = options.body?.(of)
  const answer = await shop.ask(method, path(of), { ...options, ...(body !== undefined && { body }) })
  const ids = Object.values(of)
  const text = ids.reduce((all, id) => all.replaceAll(id, '…'), answer.text).replace(/req_[0-9a-z]+/g, 'req_')
  const kept = ['date', 'request-id', 'ratelimit', 'retry-after']
  return { status: answer.status, text, headers: [...answer.headers].filter(([name]) => !kept.includes(name)) }
}
type Options = Omit<AskOptions, 'body'> & { readonly body?: (of: Planted) => string }

describe('answers as for what is unknown:', () => {
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
    ['the hand-off', 404, 'GET', ({ token }) => `/c/${token}/go`, page],
    ['Continue', 404, 'POST', ({ token }) => `/c/${token}/continue`, form],
    ['the country', 404, 'POST', ({ token }) => `/c/${token}/country`, { ...page, body: () => 'country=DE' }],
    ['a callback of a partner', 404, 'POST', () => '/callbacks/wallet_app', callback],
  ])('%s', async (_door, status, method, path, options) => {
    const answer = await seen(method, path, other, options)
    expect(answer).toEqual(await seen(method, path, nobody, options))
    expect(answer.status).toBe(status)
    await untouched()
    if (method === 'GET' || path(own).startsWith('/callbacks'))
      expect((await seen(method, path, own, options)).status).toBeLessThan(400)
  })

  test('a key', async () => {
    const live = await shop.addKey({ ...shop.tenant, livemode: true })
    const path = (): string => '/v1/providers'
    const answer = await seen('GET', path, other, { key: live.key })
    expect(answer.status).toBe(401)
    for (const key of [unknownKey(true), unknownKey(false), 'garbage'])
      expect(await seen('GET', path, nobody, { key })).toEqual(answer)
    expect((await seen('GET', path, own, {})).status).toBe(200)
    const { rows } = await shop.db.query('select last_used_at from api_key where id = $1', [live.keyId])
    expect(rows).toEqual([{ last_used_at: null }])
  })

  test('the lists', async () => {
    for (const path of ['/v1/payments', '/v1/events', '/v1/webhook_endpoints']) {
      const { text } = await shop.ask('GET', path)
      expect([path, Object.values(other).some((id) => text.includes(id))]).toEqual([path, false])
      expect([path, Object.values(own).some((id) => text.includes(id))]).toEqual([path, true])
    }
  })
})

/** A key of a right form that is in no table. */
function unknownKey(livemode: boolean): string {
  return createApiKey(livemode, 'another pepper').text
}

describe('a process of the other mode refuses to start on this database:', () => {
  const refusal = 'This process is in live mode, but its database belongs to a test deployment.'
  const environment = () => ({
    ...LIVE_ENVIRONMENT,
    DATABASE_URL: shop.databaseUrl,
    TEMPORAL_ADDRESS: shop.temporal.address,
    TEMPORAL_NAMESPACE: shop.temporal.namespace,
  })

  test('the api', async () => {
    await expect(composeApi(readApiConfig(environment()), shop.log)).rejects.toThrow(refusal)
  })

  test('the worker', async () => {
    await expect(composeWorker(readWorkerConfig(environment()), shop.log)).rejects.toThrow(refusal)
  })

  test('the api, when the lists would come from it', async () => {
    const database = await createTestDatabase()
    try {
      const env = { ...environment(), DATABASE_URL: database.url, DATABASE_READ_URL: shop.databaseUrl }
      await expect(composeApi(readApiConfig(env), shop.log)).rejects.toThrow(`DATABASE_READ_URL: ${refusal}`)
    } finally {
      await database.drop()
    }
  })
})

test('behind a pooler no process starts whose database user has no limit for statements', async () => {
  const pooled = {
    ...TEST_ENVIRONMENT,
    DATABASE_URL: shop.databaseUrl,
    DATABASE_POOLER: 'transaction',
    TEMPORAL_ADDRESS: shop.temporal.address,
    TEMPORAL_NAMESPACE: shop.temporal.namespace,
  }
  await expect(composeApi(readApiConfig(pooled), shop.log)).rejects.toThrow('alter role')
})

describe('the worker leaves alone', () => {
  const parts = () => {
    const { db, taskQueue, log } = shop
    const workflows = createPaymentWorkflows({ client, taskQueue, load: loadStart(db) })
    const relay = createRelay({ db, client, workflows, clock: Date.now, log, graceMs: 0 })
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
    ['news of a payout', () => parts().relay.completeTransfers()],
    ['news of a partner', () => parts().relay.tellPartnerNews()],
    ['a delivery that is overdue', () => parts().sweep.tick()],
  ])('%s', async (_what, round) => {
    expect(await round()).toBe(1)
    expect(await round()).toBe(0)
    await untouched()
    expect(await exists(paymentWorkflowId(other.id))).toBe(false)
    expect(await exists(deliveryWorkflowId(other.eventId, other.endpointId))).toBe(false)
  })

  test('a payment without a workflow', async () => {
    const orphan = await plant(shop.db, shop.tenant)
    await parts().relay.adoptOrphans()
    expect(await exists(paymentWorkflowId(orphan.id))).toBe(true)
    expect(await exists(paymentWorkflowId(other.id))).toBe(false)
    await untouched()
  })

  test('late money without a workflow', async () => {
    const [mine, others] = [own, other].map(({ attemptId }) => attemptId)
    await shop.db.query("update part set state = 'late' where attempt_id = any($1)", [[mine, others]])
    await parts().relay.adoptOrphans()
    expect(await exists(lateMoneyWorkflowId(mine ?? ''))).toBe(true)
    expect(await exists(lateMoneyWorkflowId(others ?? ''))).toBe(false)
    await shop.db.query("update part set state = 'counted' where attempt_id = any($1)", [[mine, others]])
    await untouched()
  })

  test('a message that would start a run', async () => {
    const { workflows } = parts()
    const request = { attemptId: newId('attempt'), provider: 'wallet_app', method: 'banking_app' } as const
    const messages = [
      (id: string) => workflows.openAttempt(id, request),
      (id: string) => workflows.cancel(id),
      (id: string) => workflows.tellPartnerNews(id, other.attemptId),
      (id: string) => workflows.tellRowChanged(id),
    ]
    for (const send of messages)
      for (const { id } of [other, nobody]) await expect(send(id)).rejects.toThrow(`no payment ${id}`)
    expect(await exists(paymentWorkflowId(other.id))).toBe(false)
  })
})

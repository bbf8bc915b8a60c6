import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { countBacklog, countPayments, countSettled } from '../../src/db/books.ts'
import { listDown } from '../../src/db/partners/standing.ts'
import { countAttention } from '../../src/db/payments/attention.ts'
import { createInternalServer, listenInternally } from '../../src/observe/internal-server.ts'
import { createRegistry, watchBooks } from '../../src/observe/metrics.ts'
import { furnish } from '../api/support/furnished.ts'
import { expectProblem, openShop, type Shop } from '../api/support/shop.ts'

let shop: Shop
let internal: Server
let url = ''
beforeAll(async () => {
  shop = await openShop({ temporalDown: true, deps: ({ healthChecks }) => ({ healthChecks }) })
  const { db } = shop
  const registry = createRegistry(db.poolUse)
  watchBooks(registry, {
    payments: () => countPayments(db),
    attention: () => countAttention(db),
    backlog: () => countBacklog(db),
    settled: () => countSettled(db),
    partners: () => listDown(db),
  })
  internal = createInternalServer({ checks: shop.healthChecks, registry })
  await listenInternally(internal, { INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: 0 })
  url = `http://127.0.0.1:${(internal.address() as AddressInfo).port}`
}, 60_000)
afterAll(async () => {
  internal?.close()
  await shop?.close()
})

const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()

describe('readiness', () => {
  test('without Temporal is degraded and says so, and the api stays where requests reach it', async () => {
    for (const base of [url, shop.url]) {
      const answer = await fetch(`${base}/readyz`)
      const checks = { postgres: 'ok', temporal: expect.stringMatching(/failed|no answer/) }
      expect([answer.status, await answer.json()]).toEqual([200, { status: 'degraded', checks }])
    }
    expect((await shop.ask('POST', '/v1/payments', { body: { amount: '10', currency: 'EUR' } })).status).toBe(201)
  }, 30_000)

  test('without a part that every request needs is 503 and names the part; the process is alive all the same', async () => {
    const down = { name: 'postgres', needed: true, check: () => Promise.reject(new Error('gone')) }
    const server = createInternalServer({ checks: [down], registry: shop.registry })
    await listenInternally(server, { INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: 0 })
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const answer = await fetch(`${base}/readyz`)
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'not ready', checks: { postgres: 'failed' } }])
    expect((await fetch(`${base}/healthz`)).status).toBe(200)
    server.close()
    server.closeAllConnections()
  })
})

describe('metrics', () => {
  test('are not on the public port', async () => {
    expectProblem(await shop.ask('GET', '/metrics', { key: null }), 404, 'route_missing')
  })

  test('count what is open by state and method, what waits to be passed on, what settled, and the connections', async () => {
    const { payment } = await furnish(shop)
    await shop.db.query(
      `update payment set status = 'succeeded', method_used = 'banking_app', gross_micro = 1000000, fee_micro = 45000,
         net_micro = 955000, succeeded_at = now(), closed_at = now() where id = $1`,
      [payment],
    )
    const text = await metrics()
    expect(text).toMatch(/pinrail_payments\{status="created",method="any"\} [1-9]/)
    expect(text).toMatch(/pinrail_payments_oldest_seconds\{status="created",method="any"\} \d/)
    // Temporal is down, so nothing was started; the event of the shop was not sent.
    expect(text).toMatch(/pinrail_backlog\{queue="start_payment"\} [1-9]/)
    expect(text).toMatch(/pinrail_backlog\{queue="deliveries"\} 1/)
    expect(text).toContain('pinrail_backlog{queue="partner_news"} 0')
    expect(text).toContain('pinrail_settled_payments_day 1')
    expect(text).toContain('pinrail_fee_usdc_day 0.045')
    expect(text).toMatch(/pinrail_database_connections\{state="total"\} [1-9]/)
    expect(text).toContain('pinrail_database_connections{state="waiting"} 0')
    expect(text).toContain('pinrail_books_readable 1')
    expect(text).not.toMatch(/pay_|mer_/)
  })

  test('say when the books cannot be read, and show no old number', async () => {
    const registry = createRegistry(shop.db.poolUse)
    let asked = 0
    const gone = async (): Promise<never> => {
      asked += 1
      throw new Error('gone')
    }
    watchBooks(registry, { payments: gone, attention: gone, backlog: gone, settled: gone, partners: gone })
    const text = await registry.metrics()
    expect(text).toContain('pinrail_books_readable 0')
    // Once for each of the five, however many numbers come from it.
    expect(asked).toBe(5)
    expect(text).not.toMatch(/^pinrail_(?:payments|backlog|attention)\{/m)
  })
})

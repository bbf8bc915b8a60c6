import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { countBacklog, countPayments, countSettled } from '../../src/db/books.ts'
import { listDown } from '../../src/db/partners/standing.ts'
import { countAttention } from '../../src/db/payments/attention.ts'
import { createHealth } from '../../src/observe/health.ts'
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

describe('whoever asks whether a process is ready', () => {
  test('costs one question to each part, however many ask at once, and none for half a second', async () => {
    let [asked, now] = [0, 0]
    const check = async (): Promise<void> => void (asked += 1)
    const health = createHealth([{ name: 'postgres', needed: true, check }], () => now)
    const ready = { status: 'ready', checks: { postgres: 'ok' } }
    expect(await Promise.all(Array.from({ length: 1000 }, health))).toEqual(Array(1000).fill(ready))
    now = 499
    await health()
    expect(asked).toBe(1)
    now = 500
    await health()
    expect(asked).toBe(2)
  })

  test('learns within half a second that a part is down, and that it is back', async () => {
    let [isDown, now] = [false, 0]
    const check = (): Promise<void> => (isDown ? Promise.reject(new Error('gone')) : Promise.resolve())
    const health = createHealth([{ name: 'postgres', needed: true, check }], () => now)
    const said: string[] = []
    for (isDown of [false, true, false]) {
      said.push((await health()).status)
      now += 500
    }
    expect(said).toEqual(['ready', 'not ready', 'ready'])
  })

  test('from outside reaches no part more often than that', async () => {
    let asked = 0
    const check = async (): Promise<void> => void (asked += 1)
    const other = await openShop({ deps: () => ({ healthChecks: [{ name: 'postgres', needed: true, check }] }) })
    try {
      const began = Date.now()
      const answers = await Promise.all(Array.from({ length: 200 }, () => fetch(`${other.url}/readyz`)))
      expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200))
      expect(asked).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - began) / 500))
    } finally {
      await other.close()
    }
  }, 30_000)
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
    expect(text).toMatch(/pinrail_backlog\{queue="mails"\} [1-9]/)
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

describe('a database that takes the question and never answers', () => {
  /** As one whose machine is gone: no error comes, and no end. */
  const silent = (): Promise<never> => new Promise(() => undefined)
  let asked = 0
  const sources = {
    payments: () => {
      asked += 1
      return silent()
    },
    attention: silent,
    backlog: async () => [{ queue: 'deliveries', count: 2, oldest_seconds: 3 }],
    settled: silent,
    partners: silent,
  }

  test('is told as one that cannot be read, beside what is known, before Prometheus gives the page up', async () => {
    const registry = createRegistry(() => ({ total: 10, idle: 0, waiting: 5 }))
    watchBooks(registry, sources, 100)
    for (const _scrape of [1, 2]) {
      const text = await registry.metrics()
      expect(text).toContain('pinrail_books_readable 0')
      expect(text).toContain('pinrail_backlog{queue="deliveries"} 2')
      expect(text).toContain('pinrail_database_connections{state="waiting"} 5')
      expect(text).not.toMatch(/^pinrail_payments\{/m)
    }
    // Questions do not pile up behind one that has no answer.
    expect(asked).toBe(1)
  })

  test('keeps nobody waiting for longer than half of what Prometheus waits', async () => {
    const registry = createRegistry(() => ({ total: 0, idle: 0, waiting: 0 }))
    watchBooks(registry, sources)
    const began = performance.now()
    expect(await registry.metrics()).toContain('pinrail_books_readable 0')
    expect(performance.now() - began).toBeLessThan(9000)
  }, 20_000)
})

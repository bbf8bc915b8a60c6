import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import express from 'express'
import { pino } from 'pino'
import { until } from '../../scripts/test/until.ts'
import { accessLog } from '../../src/api/http/metrics.ts'
import { createApiServer } from '../../src/api/http/server.ts'
import { countApplicants, countBacklog, countPayments, countSettled } from '../../src/db/books.ts'
import { countViolations, readAge } from '../../src/db/invariants/violations.ts'
import { listDown } from '../../src/db/partners/standing.ts'
import { countAttention } from '../../src/db/payments/attention.ts'
import { createHealth } from '../../src/runtime/health.ts'
import { createInternalServer, listenInternally } from '../../src/runtime/internal-server.ts'
import { createDurations, createRegistry, watchBooks } from '../../src/runtime/metrics.ts'
import { openRegistry } from '../../src/runtime/registry.ts'
import type { ServerTimeouts } from '../../src/runtime/server-timeouts.ts'
import { NO_TRACING } from '../../src/runtime/traces.ts'
import { createPayloadCodec } from '../../src/temporal/codec.ts'
import { createCodecServer } from '../../src/temporal/codec-server.ts'
import { seedApi } from '../api/support/seeded-api.ts'
import { expectProblem, openTestApi, type TestApi } from '../api/support/test-api.ts'

describe('the internal port', () => {
  let testApi: TestApi
  let internal: Server
  let url = ''
  beforeAll(async () => {
    testApi = await openTestApi({ temporalDown: true, deps: ({ healthChecks }) => ({ healthChecks }) })
    const { db } = testApi
    const registry = createRegistry('pinrail-test', db.poolUse)
    watchBooks(registry, {
      payments: () => countPayments(db),
      attention: () => countAttention(db),
      backlog: () => countBacklog(db),
      settled: () => countSettled(db),
      applicants: () => countApplicants(db),
      partners: () => listDown(db),
      invariants: () => countViolations(db),
      reconciled: async () => [await readAge(db)],
    })
    internal = createInternalServer({ checks: testApi.healthChecks, registry })
    await listenInternally(internal, { INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: 0 })
    url = `http://127.0.0.1:${(internal.address() as AddressInfo).port}`
  }, 60_000)
  afterAll(async () => {
    internal?.close()
    await testApi?.close()
  })

  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()

  describe('The readiness of a process', () => {
    test('readiness without Temporal is degraded and says so, and the api stays in the balancer', async () => {
      const checks = { postgres: 'ok', temporal: expect.stringMatching(/failed|no answer/) }
      for (const answer of await Promise.all([fetch(`${url}/readyz`), fetch(`${testApi.url}/readyz`)]))
        expect([answer.status, await answer.json()]).toEqual([200, { status: 'degraded', checks }])
      expect((await testApi.ask('POST', '/v1/payments', { body: { amount: '10', currency: 'EUR' } })).status).toBe(201)
    }, 30_000)

    test('readiness without a part that every request needs is 503 and names the part, although the process is alive', async () => {
      const down = { name: 'postgres', needed: true, check: () => Promise.reject(new Error('gone')) }
      const server = createInternalServer({ checks: [down], registry: testApi.registry })
      await listenInternally(server, { INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: 0 })
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const answer = await fetch(`${base}/readyz`)
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { status: 'not ready', checks: { postgres: 'failed' } },
      ])
      expect((await fetch(`${base}/healthz`)).status).toBe(200)
      server.close()
      server.closeAllConnections()
    })
  })

  describe('Requests for the readiness', () => {
    test('requests for the readiness cost one question to each part, however many arrive at once, and none for half a second', async () => {
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

    test('a request for the readiness shows within half a second that a part is down, and that it is up again', async () => {
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

    test('a request for the readiness from outside reaches no part more often than that', async () => {
      let asked = 0
      const check = async (): Promise<void> => void (asked += 1)
      const other = await openTestApi({ deps: () => ({ healthChecks: [{ name: 'postgres', needed: true, check }] }) })
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

  describe('Metrics of a process', () => {
    test('metrics are not on the public port', async () => {
      expectProblem(await testApi.ask('GET', '/metrics', { key: null }), 404, 'route_missing')
    })

    test('metrics count open payments by state and method, waiting messages, settled payments, and connections', async () => {
      // One payment with a refund has succeeded already.
      const { payment } = await seedApi(testApi)
      await testApi.db.query(
        `update payment set status = 'succeeded', method_used = 'banking_app', gross_micro = 1000000, fee_micro = 45000,
         net_micro = 955000, succeeded_at = now(), closed_at = now() where id = $1`,
        [payment],
      )
      const text = await metrics()
      expect(text).toMatch(/pinrail_payments\{status="created",method="any"\} [1-9]/)
      expect(text).toMatch(/pinrail_payments_oldest_seconds\{status="created",method="any"\} \d/)
      // Temporal is down, so nothing was started; the event of the merchant was not sent.
      expect(text).toMatch(/pinrail_backlog\{queue="start_payment"\} [1-9]/)
      expect(text).toMatch(/pinrail_backlog\{queue="deliveries"\} 1/)
      expect(text).toContain('pinrail_backlog{queue="callbacks"} 0')
      expect(text).toMatch(/pinrail_backlog\{queue="mails"\} [1-9]/)
      expect(text).toContain('pinrail_settled_payments_day 2')
      expect(text).toContain('pinrail_fee_usdc_day 0.045')
      expect(text).toMatch(/pinrail_database_connections\{state="total"\} [1-9]/)
      expect(text).toContain('pinrail_database_connections{state="waiting"} 0')
      expect(text).toContain('pinrail_books_readable 1')
      expect(text).not.toMatch(/pay_|mer_/)
    })

    test('metrics report that the books cannot be read, and show no old number', async () => {
      const registry = createRegistry('pinrail-test', testApi.db.poolUse)
      let asked = 0
      const gone = async (): Promise<never> => {
        asked += 1
        throw new Error('gone')
      }
      watchBooks(registry, {
        payments: gone,
        attention: gone,
        backlog: gone,
        settled: gone,
        applicants: gone,
        partners: gone,
        invariants: gone,
        reconciled: gone,
      })
      const text = await registry.page()
      expect(text).toContain('pinrail_books_readable 0')
      // Once for each of the eight, however many series come from it.
      expect(asked).toBe(8)
      expect(text).not.toMatch(/^pinrail_(?:payments|backlog|attention)\{/m)
    })
  })

  describe('A database that accepts the query and never answers', () => {
    /** Like a machine that has disappeared: no error arrives, and no end. */
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
      applicants: silent,
      partners: silent,
      invariants: silent,
      reconciled: silent,
    }

    test('a silent database is reported as unreadable, with all other metrics, before Prometheus’s timeout', async () => {
      const registry = createRegistry('pinrail-test', () => ({ total: 10, idle: 0, waiting: 5 }))
      watchBooks(registry, sources, 100)
      for (const _scrape of [1, 2]) {
        const text = await registry.page()
        expect(text).toContain('pinrail_books_readable 0')
        expect(text).toContain('pinrail_backlog{queue="deliveries"} 2')
        expect(text).toContain('pinrail_database_connections{state="waiting"} 5')
        expect(text).not.toMatch(/^pinrail_payments\{/m)
      }
      // Queries do not pile up behind one without an answer.
      expect(asked).toBe(1)
    })
  })
})

describe('Clients that leave before the response', () => {
  const registry = openRegistry('pinrail-test')
  const lines: { status: number; msg: string; route: string }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })

  /** Called for each request that has arrived. */
  let came: () => void = () => undefined
  let server: Server
  beforeAll(async () => {
    const app = express()
    app.use(accessLog({ durations: createDurations(registry), tracing: NO_TRACING, log }))
    app.get('/v1/payments', () => came())
    app.get('/v1/providers', (_request, response) => void response.json({}))
    app.get('/c/:token/live', (_request, response) => {
      response.type('text/event-stream').flushHeaders()
      came()
    })
    server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })

  /** Sends a request, and leaves when it has arrived. */
  async function leave(path: string): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      came = resolve
    })
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await arrived
    socket.destroy()
  }

  test('a client that leaves before the response is counted as having waited, with its own status', async () => {
    await leave('/v1/payments')
    await until(
      () => registry.page(),
      (text) =>
        text.includes('http_request_duration_seconds_count{method="GET",route="/v1/payments",status="499"} 1') &&
        lines.some(({ status, msg }) => status === 499 && msg === 'left before the answer'),
    )
  })

  test('a response is counted once, and an open page’s stream never', async () => {
    const { port } = server.address() as AddressInfo
    await leave('/c/a/live')
    expect((await fetch(`http://127.0.0.1:${port}/v1/providers`, { headers: { connection: 'close' } })).status).toBe(
      200,
    )
    await until(
      async () => lines,
      (all) => all.some(({ route }) => route === '/v1/providers'),
    )
    // Another one has ended by then.
    await leave('/v1/payments')
    await until(
      async () => lines.filter(({ status }) => status === 499).length,
      (count) => count === 2,
    )
    const text = await registry.page()
    expect(text).toContain('_count{method="GET",route="/v1/providers",status="200"} 1')
    expect(text).not.toContain('/c/:token/live')
  })
})

describe('Slow clients', () => {
  /** Each of the platform's servers, with clients that send a byte now and then and never finish. */
  const codec = createPayloadCodec([{ id: 'a', key: randomBytes(32) }])
  const signed = { token: randomBytes(32).toString('base64'), allowedOrigins: [], secure: true, clock: Date.now }

  const SERVERS: Readonly<Record<string, (patience?: ServerTimeouts) => Server>> = {
    'the public port': (patience) =>
      createApiServer((request, response) => void request.resume().on('end', () => response.end()), {
        publicUrl: 'http://127.0.0.1',
        newRequestId: () => 'req_1',
        ...(patience !== undefined && { patience }),
      }),
    'the internal port': (patience) =>
      createInternalServer({
        checks: [],
        registry: openRegistry('pinrail-test'),
        ...(patience !== undefined && { patience }),
      }),
    'the codec server': (patience) =>
      createCodecServer({ codec, ...signed, ...(patience !== undefined && { patience }) }),
  }

  describe.each(Object.entries(SERVERS))('%s', (_name, create) => {
    const patience = { headersMs: 300, requestMs: 900 }
    const server = create(patience)
    beforeAll(async () => {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    })
    afterAll(() => {
      server.close()
      server.closeAllConnections()
    })

    /**
     * Sends the beginning and then a byte now and then. Returns the time until it was cut off (ms), and the response.
     */
    async function drip(beginning: string): Promise<{ took: number; said: string }> {
      const began = performance.now()
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      let said = ''
      socket.on('data', (bytes) => {
        said += bytes
      })
      socket.on('error', () => undefined)
      socket.write(beginning)
      const drop = setInterval(() => socket.write('x'), 50)
      await once(socket, 'close')
      clearInterval(drop)
      return { took: performance.now() - began, said }
    }

    test('a client that does not finish its headers in time is cut off', async () => {
      const { took, said } = await drip('POST /encode HTTP/1.1\r\nhost: x\r\na: ')
      expect(said).toMatch(/^HTTP\/1\.1 408 /)
      // Node's default check would be 30 s later.
      expect(took).toBeGreaterThan(patience.headersMs * 0.9)
      expect(took).toBeLessThan(patience.headersMs + 5000)
    })

    test('a server waits 10 seconds for the headers by default', () => {
      const usual = create()
      expect([usual.headersTimeout, usual.requestTimeout]).toEqual([10_000, 30_000])
      usual.close()
    })
  })
})

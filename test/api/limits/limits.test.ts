import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import express, { type ErrorRequestHandler } from 'express'
import { createTestDatabase, type TestDatabase } from '../../../scripts/test/services/databases.ts'
import { Problem } from '../../../src/api/http/problems.ts'
import { createApiServer } from '../../../src/api/http/server.ts'
import { createBackground } from '../../../src/api/limits/background.ts'
import { createCounter } from '../../../src/api/limits/counter.ts'
import { holding, PROMPT_REFUSALS } from '../../../src/api/limits/hold.ts'
import { getNetwork } from '../../../src/api/limits/network.ts'
import { createRequestLimits, type RequestLimitSettings } from '../../../src/api/limits/request-limits.ts'
import { createSharedCounters } from '../../../src/api/limits/shared-counters.ts'
import { takeTurns } from '../../../src/api/limits/turns.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import { addToLimits, forgetLimits } from '../../../src/db/limits.ts'
import { setLimits } from '../../../src/db/merchants/agreement.ts'
import { listPayments } from '../../../src/db/payments/payment-list.ts'
import { ASSETS, brandSheet } from '../../../src/web/assets.ts'
import { onceIn, openAccount } from '../site/account.ts'
import { Visitor } from '../site/visitor.ts'
import { expectProblem, openTestApi, type TestApi, WALLET } from '../support/test-api.ts'

describe('Budgets', () => {
  const ADDRESS = '198.51.100.7'
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: () => ({
        trustProxyHops: 1,
        limits: createRequestLimits({
          requests: 1000,
          windowSeconds: 60,
          refusalsPerMinute: 1000,
          signInsPerHour: 1000,
          pressesPerMinute: { address: 1000, link: 1000 },
          formsPerHour: 1000,
          sendsPerHour: 1000,
          madePerHour: { file: 4, key: 2 },
          looksPerMinute: 5,
          actsPerMinute: 3,
          clock: () => Date.UTC(2026, 0, 1),
        }),
      }),
    })
  })
  afterAll(() => testApi?.close())

  const create = async (): Promise<string> =>
    new URL(
      String(
        (await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })).body[
          'checkout_url'
        ],
      ),
    ).pathname
  const page = (path: string, init: RequestInit = {}) =>
    fetch(`${testApi.url}${path}`, {
      ...init,
      headers: { accept: 'text/html', 'x-forwarded-for': ADDRESS },
      redirect: 'manual',
    })

  describe('a link of a buyer', () => {
    test('a link that is pressed again and again gets a page that asks to wait, and no other link does', async () => {
      const [pressed, other] = [await create(), await create()]
      const press = (path: string) =>
        page(`${path}/country`, { method: 'POST', body: new URLSearchParams({ country: 'DE' }) })
      const answers = await Promise.all(Array.from({ length: 8 }, () => press(pressed)))
      const refused = answers.filter(({ status }) => status === 429)
      expect([answers.filter(({ status }) => status === 303).length, refused.length]).toEqual([3, 5])
      expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused[0]!.text()).toContain('Try again in a moment')
      // Pages have their own budget.
      expect((await page(pressed)).status).toBe(200)
      expect((await press(other)).status).toBe(303)
    })

    test('a network can make ten times as many requests as one link', async () => {
      const answers: number[] = []
      for (let round = 0; round < 52; round++) answers.push((await page('/nowhere')).status)
      expect(answers.filter((status) => status === 429).length).toBeGreaterThan(0)
      expect(answers.slice(0, 40)).not.toContain(429)
      // Neither assets nor the API count against it.
      expect((await testApi.ask('GET', '/v1/payments', { headers: { 'x-forwarded-for': ADDRESS } })).status).toBe(200)
    })
  })

  describe('Requests of a stranger without a key', () => {
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const statuses = async (count: number, ask: () => Promise<Response>): Promise<number[]> => {
      const seen = []
      for (let time = 0; time < count; time++) seen.push((await ask()).status)
      return seen
    }
    test.each([
      ['GET', `/logos/${'0'.repeat(32)}.png`, 50, 404],
      ['GET', '/v1/nowhere', 50, 404],
      ['DELETE', '/v1/payments', 50, 405],
      ['GET', '/v1/openapi.json', 50, 200],
      ['POST', '/callbacks/wallet_app', 30, 401],
      ['POST', '/callbacks/nobody', 30, 404],
      ['GET', '/callbacks/wallet_app', 50, 405],
    ])('%s %s counts against the network', async (method, path, most, usual) => {
      const address = from(`203.0.113.${100 + path.length + method.length}`)
      const seen = await statuses(most + 2, () => fetch(`${testApi.url}${path}`, { method, headers: address }))
      const allowed = seen.slice(0, most)
      expect([new Set(allowed), new Set(seen.slice(most))]).toEqual([new Set([usual]), new Set([429])])
    })
  })

  describe('Paths that no link of a buyer can have', () => {
    test.each(['x'.repeat(65), 'a%20b', '%00'])(
      'an impossible link is not counted, so that it takes no memory, and not looked up: %s',
      async (token) => {
        const answers: number[] = []
        for (let count = 0; count < 7; count++)
          answers.push(
            (await fetch(`${testApi.url}/c/${token}`, { headers: { 'x-forwarded-for': '198.51.100.77' } })).status,
          )
        expect(answers).toEqual(Array(7).fill(404))
      },
    )
  })

  test('a request for a merchant’s colors counts as a page, because the sheet is computed; a request for a static file does not', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.88' }
    const ask = async (path: string): Promise<number> => (await fetch(`${testApi.url}${path}`, { headers })).status
    for (let count = 0; count < 60; count++) expect(await ask(ASSETS.style)).toBe(200)
    const colors: number[] = []
    for (let count = 0; count < 60; count++) colors.push(await ask(brandSheet(`#1d52${(16 + count).toString(16)}`)))
    expect([colors.filter((status) => status === 200).length, colors.at(-1)]).toEqual([50, 429])
  })

  describe('A program that repeats a request at once after its refusal', () => {
    test('such a program is answered late, while everybody else is answered at once', async () => {
      const other = await create()
      const hurried = await create()
      const look = async (path: string, address: string) =>
        (await fetch(`${testApi.url}${path}`, { headers: { accept: 'text/html', 'x-forwarded-for': address } })).status
      // The limit of a network is ten times that of a link; beyond it the network is refused.
      for (let count = 0; count < 50 + PROMPT_REFUSALS; count++) await look(hurried, '203.0.113.9')
      let isAnswered = false
      const held = look(hurried, '203.0.113.9').then((status) => {
        isAnswered = true
        return status
      })
      // This request was sent later, and is answered earlier.
      expect(await look(other, '203.0.113.10')).toBe(200)
      expect(isAnswered).toBe(false)
      expect(await held).toBe(429)
    })
  })

  describe('a person with many accounts', () => {
    test('a person with many accounts has one budget for files and one for keys', async () => {
      const { owner, tenant } = await openAccount(testApi, 'many@shop.example')
      const other = await owner.submit('/dashboard/accounts', { name: 'Second shop' })
      expect(other.status).toBe(303)
      const choose = (account: string) =>
        owner.submit('/dashboard/accounts/choose', { account }).then(({ status }) => status)
      const files = ['/dashboard/payments.csv', '/dashboard/payments.json', '/dashboard/balance.csv?month=2026-01']
      const answers: number[] = []
      for (const path of files) answers.push((await owner.get(path)).status)
      expect(await choose(tenant.merchantId)).toBe(303)
      for (const path of files) answers.push((await owner.get(path)).status)
      expect(answers).toEqual([200, 200, 200, 200, 429, 429])
      // Pages have none, and other people have their own.
      expect((await owner.get('/dashboard/payments')).status).toBe(200)
      const { owner: colleague } = await openAccount(testApi, 'another@shop.example')
      expect((await colleague.get('/dashboard/payments.csv')).status).toBe(200)

      const made: number[] = []
      for (let nth = 0; nth < 3; nth++) {
        const once = await onceIn(owner, '/dashboard/keys/new')
        const form = { name: `Key ${nth}`, preset: 'sell', allowed_ips: '', days: '0', once }
        made.push((await owner.submit('/dashboard/keys', form)).status)
      }
      expect(made).toEqual([200, 200, 429])
      const { rows } = await testApi.db.query(`select count(*)::int as n from api_key where name like 'Key %'`)
      expect(rows).toEqual([{ n: 2 }])
    })
  })

  describe('a list', () => {
    test('a list is searched along an index, whether its words are rare or common', async () => {
      const { tenant } = await testApi.addMerchant()
      await testApi.db.query(
        `insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, fallback,
          checkout_token, destination, chain_id, token, quote, reference, description, created_at, updated_at, expires_at)
        select 'pay_' || lpad(n::text, 26, '0'), $1, false, '1', 100, 'EUR', 'picker', 'token-' || n, '0x' || repeat('1', 40), 1, 't', '{"rate":"1","rateSource":"t","netMicro":"1","expiresAt":"2026-01-01T00:00:00.000Z"}',
          'order-' || n, 'Ticket ' || md5(n::text), now(), now(), now() from generate_series(1, 8000) n`,
        [tenant.merchantId],
      )
      await testApi.db.query('vacuum analyze payment, payment_words')
      const search = (words: string, off: string) =>
        testApi.db.lists(tenant).transaction(async (tx) => {
          // With this few rows a sequential scan is faster; the test asks if the index could be used.
          await tx.query(off)
          const page = { limit: 2, after: null, before: null }
          const found = await listPayments(tx, tenant, { filters: { search: words }, page })
          const { rows } = await tx.query(
            `select seq_scan::int as through, idx_tup_fetch::int as read from pg_stat_xact_user_tables where relname = 'payment_words'`,
          )
          return { ...rows[0], found: found!.rows.length + Number(found!.hasMore) }
        })
      const common = await search('TICKET', 'set local enable_seqscan = off')
      expect(common).toMatchObject({ found: 3, through: 0 })
      expect(common.read).toBeLessThan(50)
      await testApi.db.query('drop index payment_words_newest')
      const off = 'set local enable_seqscan = off; set local enable_indexscan = off'
      for (const [rare, found] of [
        ['order-7999', 1],
        ['cder-7999', 0],
      ] as const) {
        const seen = await search(rare, off)
        expect(seen).toMatchObject({ found, through: 0 })
        expect(seen.read).toBeLessThan(50)
      }
    })

    test('a list that takes longer than two seconds returns a problem that says to ask for less', async () => {
      await testApi.db.query(`create policy slow on payment as restrictive for select to pinrail_tenant
        using (pg_sleep(case when livemode then 0 else 3 end)::text = '')`)
      try {
        expectProblem(await testApi.ask('GET', '/v1/payments'), 503, 'list_too_slow')
      } finally {
        await testApi.db.query('drop policy slow on payment')
      }
      expect((await testApi.ask('GET', '/v1/payments')).status).toBe(200)
    })

    test('the connection of a list cannot write', async () => {
      const write = testApi.db.lists(testApi.tenant).query("update wallet set address = 'x'")
      await expect(write).rejects.toThrow('read-only transaction')
    })
  })

  test('a client that sends its headers slowly is disconnected soon after its time', async () => {
    const server = createApiServer(() => undefined, {
      publicUrl: testApi.url,
      newRequestId: () => 'req_1',
      patience: { headersMs: 100, requestMs: 200 },
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    const dribble = setInterval(() => socket.write('x'), 20)
    const begun = performance.now()
    try {
      socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')
      await once(socket, 'close')
      expect(text).toMatch(/^HTTP\/1\.1 408 /)
      // Node checks only every 30 s by default.
      expect(performance.now() - begun).toBeLessThan(10_000)
    } finally {
      clearInterval(dribble)
      server.close()
    }
  })
})

describe('Counters', () => {
  const BEGIN = Date.UTC(2026, 0, 1)
  const SETTINGS: RequestLimitSettings = {
    requests: 20,
    windowSeconds: 1,
    refusalsPerMinute: 8,
    signInsPerHour: 8,
    pressesPerMinute: { address: 8, link: 8 },
    formsPerHour: 8,
    sendsPerHour: 8,
    madePerHour: { file: 8, key: 8 },
    looksPerMinute: 6,
    actsPerMinute: 4,
    clock: () => BEGIN,
  }

  /** Returns how many of these calls pass. */
  function passing(times: number, call: () => unknown): number {
    let passed = 0
    for (let time = 0; time < times; time++)
      try {
        call()
        passed += 1
      } catch {
        // Refused.
      }
    return passed
  }

  describe('a counter', () => {
    test('a counter gives each key its points, and again in the next window', () => {
      let now = BEGIN + 59_000
      const counter = createCounter({ points: 3, windowSeconds: 60, clock: () => now })
      expect(Array.from({ length: 5 }, () => counter.take('a').taken)).toEqual([true, true, true, false, false])
      expect(counter.take('b')).toEqual({ taken: true, remaining: 2, resetMs: 1000, refused: 0 })
      expect(counter.take('a')).toMatchObject({ taken: false, refused: 3 })
      now += 1000
      expect(counter.take('a')).toEqual({ taken: true, remaining: 2, resetMs: 60_000, refused: 0 })
    })

    test('a counter remembers a bounded number of keys, and forgets the oldest first', () => {
      const counter = createCounter({ points: 1, windowSeconds: 60, clock: () => BEGIN, keys: 3 })
      for (const key of ['a', 'b', 'c', 'd']) counter.take(key)
      expect(counter.take('d').taken).toBe(false)
      expect(counter.take('c').taken).toBe(false)
      expect(counter.take('a').taken).toBe(true)
    })
  })

  describe('requests without a key', () => {
    test('requests without a key have a budget for each link, and another for each network', () => {
      const limits = createRequestLimits(SETTINGS)
      expect(passing(10, () => limits.countLink('one', 'look'))).toBe(6)
      expect(passing(10, () => limits.countLink('one', 'act'))).toBe(4)
      expect(passing(10, () => limits.countLink('two', 'act'))).toBe(4)
      expect(passing(100, () => limits.countVisit('192.0.2.7', 'look'))).toBe(60)
      expect(passing(100, () => limits.countVisit('::ffff:192.0.2.7', 'look'))).toBe(0)
      expect(passing(100, () => limits.countVisit('192.0.2.8', 'act'))).toBe(40)
    })

    test('requests from this machine come through the platform’s proxy, and have only the budget of the link', () => {
      const limits = createRequestLimits(SETTINGS)
      for (const own of ['127.0.0.1', '::ffff:127.0.0.1', '::1'])
        expect(passing(100, () => limits.countVisit(own, 'look'))).toBe(100)
      expect(getNetwork('2001:db8:1:2ff::1')).toBe(getNetwork('2001:db8:1:200:9::'))
    })
  })

  describe('two processes', () => {
    let database: TestDatabase
    let db: Db
    beforeAll(async () => {
      database = await createTestDatabase()
      db = createDb({ url: database.url, livemode: false, pool: 4 })
    })
    afterAll(async () => {
      await db?.close()
      await database?.drop()
    })

    function replica(statements: { count: number } = { count: 0 }) {
      const limits = createRequestLimits(SETTINGS)
      const shared = createSharedCounters({
        counters: limits.counters,
        secret: 'pepper',
        add: (counts) => {
          statements.count += 1
          return addToLimits(db, counts)
        },
        forget: () => forgetLimits(db),
        onError: (error) => {
          throw error
        },
      })
      // The test exchanges the counts explicitly.
      shared.close()
      return { ...limits, exchange: shared.exchange }
    }

    test('two processes count together: a request to one counts at the other', async () => {
      const [one, two] = [replica(), replica()]
      const ask = (limits: typeof one): number => passing(2, () => limits.countSignIn('192.0.2.9'))
      let passed = 0
      for (let round = 0; round < 10; round++) {
        passed += ask(one) + ask(two)
        await one.exchange()
        await two.exchange()
      }
      // Eight are allowed; the first process received two before it knew of the second one’s.
      expect(passed).toBeLessThanOrEqual(10)
      expect(passed).toBeGreaterThanOrEqual(8)
      expect(ask(one) + ask(two)).toBe(0)
      const { rows } = await db.query('select key, count from limit_count')
      expect(rows).toEqual([{ key: expect.stringMatching(/^[\w-]{43}$/), count: passed }])
    })

    test('an account that uses a fifth of its limit needs no statement', async () => {
      const statements = { count: 0 }
      const limits = replica(statements)
      for (let request = 0; request < 4; request++) limits.count({ merchantId: 'mer_1', livemode: false }, 1)
      await limits.exchange()
      expect(statements.count).toBe(0)
      limits.count({ merchantId: 'mer_1', livemode: false }, 1)
      await limits.exchange()
      expect(statements.count).toBe(1)
    })

    test('a count is not lost when the store does not answer, and an old one is deleted', async () => {
      const limits = createRequestLimits(SETTINGS)
      let fails = true
      const shared = createSharedCounters({
        counters: limits.counters,
        secret: 'pepper',
        add: (counts) => (fails ? Promise.reject(new Error('down')) : addToLimits(db, counts)),
        forget: () => forgetLimits(db),
        onError: () => undefined,
      })
      shared.close()
      for (let time = 0; time < 7; time++) limits.countRefusal('192.0.2.77')
      await expect(shared.exchange()).rejects.toThrow('down')
      fails = false
      await shared.exchange()
      const { rows } = await db.query('select count from limit_count where count = 7')
      expect(rows).toHaveLength(1)
      await forgetLimits(db)
      expect((await db.query('select 1 from limit_count where ends_at < now()')).rows).toEqual([])
    })
  })

  test('a list is refused if too many of the account wait, and one that fails passes its slot to the next', async () => {
    const inTurn = takeTurns({ running: 1, queued: 1 })
    const first = inTurn('x', () => Promise.reject(new Error('no')))
    const second = inTurn('x', async () => 'yes')
    await expect(inTurn('x', async () => 'too many')).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(first).rejects.toThrow('no')
    expect(await second).toBe('yes')
  })
})

describe('Background work', () => {
  test('background work beyond its bounds is dropped, and work that fails is reported', async () => {
    const failed: unknown[] = []
    const done: number[] = []
    const background = createBackground({ running: 1, queued: 1 }, (error) => failed.push(error))
    background.run(() => Promise.reject(new Error('no')))
    background.run(async () => void done.push(2))
    background.run(async () => void done.push(3))
    await background.settled()
    expect([failed, done]).toEqual([[new Error('no')], [2]])
  })

  test('background work that waits is dropped when the process ends, and work that runs is awaited', async () => {
    const done: number[] = []
    const background = createBackground({ running: 1 }, () => undefined)
    const work = new EventEmitter()
    background.run(async () => {
      work.emit('begun')
      await once(work, 'end')
      done.push(1)
    })
    background.run(async () => void done.push(2))
    await once(work, 'begun')
    const closed = background.close()
    work.emit('end')
    await closed
    expect(done).toEqual([1])
  })
})

describe('Delayed responses', () => {
  let close: () => Promise<unknown> = async () => undefined
  afterEach(() => close())

  /**
   * Refuses every client for asking too often, and delays this many responses. Counts the requests, and the
   * most that waited at the same time.
   */
  async function refusing(most: number) {
    const seen = { asked: 0, answered: 0, waited: 0 }
    const app = express()
    app.use(() => {
      seen.asked += 1
      seen.waited = Math.max(seen.waited, seen.asked - seen.answered)
      throw new Problem('rate_limited', 'Ask again later.', { isHeld: true })
    })
    const answer: ErrorRequestHandler = (_error, _request, response, _next) => {
      seen.answered += 1
      response.status(429).end()
    }
    app.use(holding(answer, most))
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    close = () => new Promise((resolve) => server.close(resolve))
    return { port: (server.address() as AddressInfo).port, seen }
  }

  test('beyond the number of delayed responses, a refusal is sent at once, and its connection ends', async () => {
    const { port } = await refusing(2)
    const connections: string[] = []
    const ask = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/`)
      connections.push(response.headers.get('connection') ?? '')
      return response.status
    }
    const answers = [ask(), ask(), ask(), ask()]
    expect(await Promise.all(answers)).toEqual([429, 429, 429, 429])
    expect(connections).toEqual(['close', 'close', 'keep-alive', 'keep-alive'])
    // Their slots are free again.
    await ask()
    expect(connections.at(-1)).toBe('keep-alive')
  })

  test('one connection with thousands of open requests delays no more of them than the limit', async () => {
    const { port, seen } = await refusing(10)
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(5000))
    await once(socket, 'close')
    expect(seen.asked).toBeGreaterThan(100)
    // One of them is being answered.
    expect(seen.waited).toBe(11)
  })
})

describe('Open payments of an account', () => {
  const limits = { paymentMicro: null, dayMicro: null, openPayments: 4 }
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: () => ({ agreement: { feePercent: '4.5', reserve: { percent: '0', days: 90 }, limits } }),
    })
  })
  afterAll(() => testApi?.close())

  test('open payments are refused beyond the bound with what to do, and canceling one makes room', async () => {
    const { owner, key, pay } = await openAccount(testApi, 'open@shop.example')
    const body = { amount: '5.00', currency: 'EUR' }
    const first = await testApi.ask('POST', '/v1/payments', { key, body, headers: { 'idempotency-key': 'first' } })
    const ids = [String(first.body['id']), await pay(body), await pay(body), await pay(body)]
    const refused = await testApi.ask('POST', '/v1/payments', { key, body })
    expectProblem(refused, 409, 'limit_reached')
    expect(refused.body['detail']).toMatch(/at most 4 open payments\. Cancel those that nobody will pay/)
    const again = await testApi.ask('POST', '/v1/payments', { key, body, headers: { 'idempotency-key': 'first' } })
    expect([again.status, again.body['id']]).toEqual([201, ids[0]])
    const form = {
      ...body,
      description: '',
      reference: '',
      provider: '',
      success_url: '',
      cancel_url: '',
      once: 'full',
    }
    expect((await owner.submit('/dashboard/payments', form)).html).toContain('at most 4 open payments')
    // No worker cancels it here.
    await testApi.db.query(`update payment set status = 'canceled' where id = $1`, [ids[1]])
    await pay(body)
  })

  test('open payments of links leave half of the bound to the account, whatever their buyers press', async () => {
    const { key, pay } = await openAccount(testApi, 'presses@shop.example')
    const body = { title: 'A link', amount: '5.00', currency: 'EUR' }
    const { url } = (await testApi.ask('POST', '/v1/payment_links', { key, body })).body as { url: string }
    const { pathname } = new URL(url)
    const press = (n: number) =>
      fetch(`${testApi.url}${pathname}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: testApi.url },
        body: `press=${String(n).padStart(22, 'p')}`,
        redirect: 'manual',
      })
    expect([(await press(1)).status, (await press(2)).status]).toEqual([303, 303])
    const refused = await press(3)
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('Too many payments')])
    await pay({ amount: '5.00', currency: 'EUR' })
  })

  test('exactly as many payments as the bound are created if more are requested at once', async () => {
    const { key, tenant } = await testApi.addMerchant()
    const body = { amount: '5.00', currency: 'EUR' }
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        testApi.ask('POST', '/v1/payments', { key, body, headers: { 'idempotency-key': `at-once-${n}` } }),
      ),
    )
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(201), count(409)]).toEqual([4, 8])
    const { rows } = await testApi.db.query(
      `select (select count(*)::int from payment where merchant_id = $1) as payments,
         (select count(*)::int from idempotency_key where merchant_id = $1) as claims,
         (select open_payments from agreement where merchant_id = $1) as counted`,
      [tenant.merchantId],
    )
    expect(rows).toEqual([{ payments: 4, claims: 4, counted: 4 }])
  })
})

describe('Limits of a merchant', () => {
  let testApi: TestApi
  const clock = { now: Date.parse('2026-11-20T23:00:00.000Z') }
  beforeAll(async () => {
    testApi = await openTestApi({ deps: () => ({ clock: () => clock.now }) })
  })
  afterAll(() => testApi?.close())
  const agree = (merchantId: string, limits: Parameters<typeof setLimits>[2]) =>
    testApi.db.transaction((tx) => setLimits(tx, merchantId, limits))
  /** EUR at 1.25. */
  const create = (key: string, amount: string) =>
    testApi.ask('POST', '/v1/payments', { key, body: { amount, currency: 'EUR' } })

  test('a payment beyond the limit of one payment is refused with the limit, and one of exactly the limit is created', async () => {
    const { key, tenant } = await testApi.addMerchant()
    await agree(tenant.merchantId, { paymentMicro: '125000000' })
    expect((await create(key, '100.00')).status).toBe(201)
    const refused = await create(key, '100.01')
    expectProblem(refused, 409, 'limit_reached')
    expect(refused.body).toMatchObject({ limit: { name: 'payment_usdc', value: '125.000000' } })
    expect(refused.body['detail']).toContain('at most 125.000000 USDC. For a higher limit, ask the operator')
    await agree(tenant.merchantId, { paymentMicro: null })
    expect((await create(key, '100.01')).status).toBe(201)
  })

  test('the limit of a day counts what is open or paid, lets go of what ends unpaid, and begins again with each day', async () => {
    const { key, tenant } = await testApi.addMerchant()
    await agree(tenant.merchantId, { dayMicro: '250000000' })
    const first = await create(key, '100.00')
    expect((await create(key, '100.00')).status).toBe(201)
    const refused = await create(key, '10.00')
    expectProblem(refused, 409, 'limit_reached')
    expect(refused.body).toMatchObject({ limit: { name: 'day_usdc', value: '250.000000' } })
    await testApi.db.query(`update payment set status = 'canceled' where id = $1`, [first.body['id']])
    expect((await create(key, '10.00')).status).toBe(201)
    const { body } = await testApi.ask('GET', '/v1/account', { key })
    expect(body).toMatchObject({
      limits: { payment_usdc: null, day_usdc: '250.000000' },
      used: { day_usdc: '137.500000', open_payments: 2 },
    })
    clock.now += 2 * 3_600_000
    expect((await create(key, '200.00')).status).toBe(201)
    // The payment of yesterday does not count today, so its end makes no room.
    await testApi.db.query(`update payment set status = 'canceled' where merchant_id = $1 and amount_minor = 10000`, [
      tenant.merchantId,
    ])
    expectProblem(await create(key, '10.00'), 409, 'limit_reached')
  })

  test('a count that somebody has set too low keeps no payment from ending', async () => {
    const { key, tenant } = await testApi.addMerchant()
    const { body } = await create(key, '100.00')
    await testApi.db.query('update agreement set open_payments = 0, day_micro = 0 where merchant_id = $1', [
      tenant.merchantId,
    ])
    await testApi.db.query(`update payment set status = 'expired' where id = $1`, [body['id']])
    const { rows } = await testApi.db.query('select open_payments, day_micro from agreement where merchant_id = $1', [
      tenant.merchantId,
    ])
    expect(rows).toEqual([{ open_payments: 0, day_micro: '0' }])
  })

  test('a process whose clock is still before midnight does not begin the day again', async () => {
    const { key, tenant } = await testApi.addMerchant()
    await agree(tenant.merchantId, { dayMicro: '250000000' })
    const before = clock.now
    clock.now = Date.parse('2026-12-01T00:00:00.000Z')
    expect((await create(key, '100.00')).status).toBe(201)
    clock.now -= 1
    expect((await create(key, '60.00')).status).toBe(201)
    expectProblem(await create(key, '60.00'), 409, 'limit_reached')
    clock.now += 1
    expectProblem(await create(key, '60.00'), 409, 'limit_reached')
    clock.now = before
  })

  test('two payments at once cannot both take the rest of a day', async () => {
    const { key, tenant } = await testApi.addMerchant()
    await agree(tenant.merchantId, { dayMicro: '500000000' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key, '100.00')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
  })

  test('a link whose price is beyond the limit of one payment is refused when it is created', async () => {
    const { owner, key, tenant } = await openAccount(testApi, 'dear@shop.example')
    await agree(tenant.merchantId, { paymentMicro: '125000000' })
    const link = (prices: object) =>
      testApi.ask('POST', '/v1/payment_links', { key, body: { title: 'A sofa', currency: 'EUR', ...prices } })
    const refused = await link({ amount: '100.01' })
    expectProblem(refused, 409, 'limit_reached')
    expect(refused.body).toMatchObject({ param: 'amount', limit: { name: 'payment_usdc', value: '125.000000' } })
    expect((await link({ min_amount: '100.01' })).body).toMatchObject({ code: 'limit_reached', param: 'min_amount' })
    for (const prices of [{ amount: '100.00' }, { min_amount: '10.00', max_amount: '100.01' }])
      expect((await link(prices)).status).toBe(201)
    const once = await onceIn(owner, '/dashboard/links/new')
    const { status, html } = await owner.submit('/dashboard/links', {
      title: 'A sofa',
      kind: 'fixed',
      amount: '100.01',
      currency: 'EUR',
      once,
    })
    expect([status, html]).toEqual([400, expect.stringContaining('A payment can be worth at most 125.000000 USDC.')])
  })

  test('a link without an account has no price beyond the limit that the deployment sets for a payment', async () => {
    const limits = { paymentMicro: '125000000', dayMicro: null, openPayments: 10 }
    const strict = await openTestApi({
      deps: () => ({ agreement: { feePercent: '4.5', reserve: { percent: '0', days: 90 }, limits } }),
    })
    try {
      const visitor = new Visitor(strict)
      const make = async (amount: string) =>
        visitor.post('/links', {
          wallet: WALLET,
          title: 'A sofa',
          kind: 'fixed',
          amount,
          currency: 'EUR',
          once: await onceIn(visitor, '/links'),
        })
      const refused = await make('100.01')
      expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('at most 125.000000 USDC')])
      expect((await make('100.00')).status).toBe(200)
    } finally {
      await strict.close()
    }
  })

  test('the buyer of a link beyond a limit of amounts reads that the link is closed, and not to try again in a minute', async () => {
    const { key, tenant } = await testApi.addMerchant()
    const body = { title: 'A sofa', amount: '100.00', currency: 'EUR' }
    const { url } = (await testApi.ask('POST', '/v1/payment_links', { key, body })).body as { url: string }
    for (const limits of [{ paymentMicro: '100000000' }, { paymentMicro: null, dayMicro: '100000000' }]) {
      await agree(tenant.merchantId, limits)
      const { status, html } = await new Visitor(testApi).post(new URL(url).pathname, { press: 'p'.repeat(22) })
      expect([status, html]).toEqual([409, expect.stringContaining('Ask the person who sent it to you.')])
    }
  })

  test('buyers of links leave half of a day to the account, whatever they press', async () => {
    const { key, tenant } = await testApi.addMerchant()
    await agree(tenant.merchantId, { dayMicro: '500000000' })
    const body = { title: 'A chair', amount: '100.00', currency: 'EUR' }
    const { url } = (await testApi.ask('POST', '/v1/payment_links', { key, body })).body as { url: string }
    const press = async (n: number) =>
      (await new Visitor(testApi).post(new URL(url).pathname, { press: String(n).padStart(22, 'p') })).status
    expect([await press(1), await press(2), await press(3)]).toEqual([303, 303, 409])
    expect([(await create(key, '200.00')).status, (await create(key, '5.00')).status]).toEqual([201, 409])
  })

  test('a buyer who chooses an amount beyond the limit of one payment reads the limit in that currency', async () => {
    const { key, tenant } = await testApi.addMerchant()
    await agree(tenant.merchantId, { paymentMicro: '125000000' })
    const body = { title: 'A gift', currency: 'EUR' }
    const { url } = (await testApi.ask('POST', '/v1/payment_links', { key, body })).body as { url: string }
    const press = (amount: string) =>
      fetch(`${testApi.url}${new URL(url).pathname}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: testApi.url },
        body: new URLSearchParams({ press: amount.padStart(22, 'p').replace('.', '-'), amount }),
        redirect: 'manual',
      })
    const refused = await press('100.01')
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringMatching(/maximum here is .{0,60}100\.00/),
    ])
    expect((await press('100.00')).status).toBe(303)
  })
})

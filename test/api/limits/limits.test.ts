import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '../../../scripts/test/services/databases.ts'
import { createAtOnce } from '../../../src/api/limits/at-once.ts'
import { createCounter } from '../../../src/api/limits/counter.ts'
import { networkOf } from '../../../src/api/limits/network.ts'
import { createRequestLimits, type RequestLimitSettings } from '../../../src/api/limits/request-limits.ts'
import { createSharedCounters } from '../../../src/api/limits/shared-counters.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import { addToLimits, forgetLimits } from '../../../src/db/limits.ts'

const BEGIN = Date.UTC(2026, 0, 1)
const SETTINGS: RequestLimitSettings = {
  requests: 20,
  windowSeconds: 1,
  refusalsPerMinute: 8,
  signInsPerHour: 8,
  pressesPerMinute: { address: 8, link: 8 },
  formsPerHour: 8,
  madePerHour: { file: 8, key: 8 },
  looksPerMinute: 6,
  actsPerMinute: 4,
  clock: () => BEGIN,
}

/** How many of so many calls pass. */
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
  test('gives each key its points, and again in the next window', () => {
    let now = BEGIN + 59_000
    const counter = createCounter({ points: 3, windowSeconds: 60, clock: () => now })
    expect(Array.from({ length: 5 }, () => counter.take('a').taken)).toEqual([true, true, true, false, false])
    expect(counter.take('b')).toEqual({ taken: true, remaining: 2, resetMs: 1000, refused: 0 })
    expect(counter.take('a')).toMatchObject({ taken: false, refused: 3 })
    now += 1000
    expect(counter.take('a')).toEqual({ taken: true, remaining: 2, resetMs: 60_000, refused: 0 })
  })

  test('remembers a bounded number of keys, and forgets the oldest first', () => {
    const counter = createCounter({ points: 1, windowSeconds: 60, clock: () => BEGIN, keys: 3 })
    for (const key of ['a', 'b', 'c', 'd']) counter.take(key)
    expect(counter.take('d').taken).toBe(false)
    expect(counter.take('c').taken).toBe(false)
    expect(counter.take('a').taken).toBe(true)
  })
})

describe('requests without a key', () => {
  test('have a budget for each link, and another for each network', () => {
    const limits = createRequestLimits(SETTINGS)
    expect(passing(10, () => limits.countLink('one', 'look'))).toBe(6)
    expect(passing(10, () => limits.countLink('one', 'act'))).toBe(4)
    expect(passing(10, () => limits.countLink('two', 'act'))).toBe(4)
    expect(passing(100, () => limits.countVisit('192.0.2.7', 'look'))).toBe(60)
    expect(passing(100, () => limits.countVisit('::ffff:192.0.2.7', 'look'))).toBe(0)
    expect(passing(100, () => limits.countVisit('192.0.2.8', 'act'))).toBe(40)
  })

  test('of this machine come through our own proxy, and have the budget of the link alone', () => {
    const limits = createRequestLimits(SETTINGS)
    for (const own of ['127.0.0.1', '::ffff:127.0.0.1', '::1'])
      expect(passing(100, () => limits.countVisit(own, 'look'))).toBe(100)
    expect(networkOf('2001:db8:1:2ff::1')).toBe(networkOf('2001:db8:1:200:9::'))
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
    // The test exchanges by hand.
    shared.close()
    return { ...limits, exchange: shared.exchange }
  }

  test('count together: what one was asked, the other refuses', async () => {
    const [one, two] = [replica(), replica()]
    const ask = (limits: typeof one): number => passing(2, () => limits.countSignIn('192.0.2.9'))
    let passed = 0
    for (let round = 0; round < 10; round++) {
      passed += ask(one) + ask(two)
      await one.exchange()
      await two.exchange()
    }
    // Eight are allowed; two were asked of the first before it had heard of the second.
    expect(passed).toBeLessThanOrEqual(10)
    expect(passed).toBeGreaterThanOrEqual(8)
    expect(ask(one) + ask(two)).toBe(0)
    const { rows } = await db.query('select key, count from limit_count')
    expect(rows).toEqual([{ key: expect.stringMatching(/^[\w-]{43}$/), count: passed }])
  })

  test('an account that uses a fifth of its limit costs no statement', async () => {
    const statements = { count: 0 }
    const limits = replica(statements)
    for (let request = 0; request < 4; request++) limits.count({ merchantId: 'mer_1', livemode: false }, 1)
    await limits.exchange()
    expect(statements.count).toBe(0)
    limits.count({ merchantId: 'mer_1', livemode: false }, 1)
    await limits.exchange()
    expect(statements.count).toBe(1)
  })

  test('a count is not lost when the store does not answer, and what is over is deleted', async () => {
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

describe('work at once', () => {
  test('is bounded for each account, the rest waits in its order, and beyond that is refused', async () => {
    const atOnce = createAtOnce({ running: 2, waiting: 2 })
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const work = (key: string, name: string) =>
      atOnce(key, () => {
        begun.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      })
    const [a, b, c, d] = [work('x', 'a'), work('x', 'b'), work('x', 'c'), work('x', 'd')]
    await expect(work('x', 'e')).rejects.toMatchObject({ code: 'rate_limited' })
    const other = work('y', 'other')
    expect(begun).toEqual(['a', 'b', 'other'])
    for (const [name, ended] of [
      ['b', b],
      ['a', a],
      ['other', other],
      ['c', c],
      ['d', d],
    ] as const) {
      ends.get(name)!()
      expect(await ended).toBe(name)
    }
    expect(begun).toEqual(['a', 'b', 'other', 'c', 'd'])
    const again = work('x', 'f')
    ends.get('f')!()
    expect(await again).toBe('f')
  })

  test('that fails gives its turn to the next', async () => {
    const atOnce = createAtOnce({ running: 1, waiting: 1 })
    const first = atOnce('x', () => Promise.reject(new Error('no')))
    const second = atOnce('x', async () => 'yes')
    await expect(first).rejects.toThrow('no')
    expect(await second).toBe('yes')
  })
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { TEST_ENVIRONMENT } from '../../../scripts/test/environment.ts'
import { findTogether } from '../../../src/api/live/find-together.ts'
import { createOpenPages } from '../../../src/api/live/open-pages.ts'
import { readApiConfig } from '../../../src/config.ts'
import { readStamps } from '../../../src/db/payments/payments.ts'
import { composeApi } from '../../../src/deps/api.ts'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from '../checkout/checkout-world.ts'
import { openStream, type Stream } from './stream.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
}, 60_000)
afterAll(() => world?.close())

const follow = (path: string, knows?: string, heard?: string): Promise<Stream> =>
  openStream(`${world.url}${path}/live${knows === undefined ? '' : `?knows=${knows}`}`, heard)
const stampNow = async (id: string) => (await readStamps(world.db, [id])).get(id)

test('a page hears of each change, and of nothing that it knows', async () => {
  const payment = await world.create()
  const other = await world.create()
  const page = await follow(payment.path, await stampNow(payment.id))
  expect(page.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(page.headers.get('content-encoding')).toBeNull()
  await movePayment(world, other.id, ['pending'])
  await movePayment(world, payment.id, ['pending'])
  expect(await page.next()).toBe(await stampNow(payment.id))
  await movePayment(world, payment.id, ['processing'])
  expect(await page.next()).toBe(await stampNow(payment.id))
  expect(page.heard()).toHaveLength(2)
  await page.close()
})

test('a change of the order alone is heard too', async () => {
  const payment = await world.create()
  const attemptId = 'att_01hzy3v7t8e4a9v2b6q5r0c1d2'
  await movePayment(world, payment.id, ['pending'])
  await world.change(payment.id, (work) =>
    work.addAttempt({
      id: attemptId,
      provider: 'wallet_app',
      method: 'banking_app',
      asked: { minor: '1', currency: 'EUR' },
    }),
  )
  const page = await follow(payment.path, await stampNow(payment.id))
  await world.change(payment.id, (work) => work.saveAttempt(attemptId, { status: 'open' }))
  expect(await page.next()).toMatch(/-open$/)
  await page.close()
})

test('what has changed before the page followed is told at once, and to a browser that comes back too', async () => {
  const payment = await world.create()
  const rendered = await stampNow(payment.id)
  await movePayment(world, payment.id, ['pending'])
  const late = await follow(payment.path, rendered)
  const seen = await late.next()
  await late.close()
  await movePayment(world, payment.id, ['processing'])
  const back = await follow(payment.path, rendered, seen)
  expect(await back.next()).toBe(await stampNow(payment.id))
  await back.close()
})

test('a page that is closed is forgotten', async () => {
  const second = await createCheckoutWorld()
  const payment = await second.create()
  const pages = await Promise.all([1, 2, 3].map(() => openStream(`${second.url}${payment.path}/live`)))
  expect(second.openPages.count()).toBe(3)
  await Promise.all(pages.map((page) => page.close()))
  while (second.openPages.count() !== 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await second.close()
}, 60_000)

test('an unknown link is not found, and a crowd at one link leaves room for others', async () => {
  expect((await fetch(`${world.url}/c/unknown/live`)).status).toBe(404)
  expect((await fetch(`${world.url}/c/a%00b/live`)).status).toBe(404)
  const [crowded, other] = [await world.create(), await world.create()]
  const pages = await Promise.all(Array.from({ length: 25 }, () => follow(crowded.path)))
  const refused = await fetch(`${world.url}${crowded.path}/live`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
  pages.push(await follow(other.path))
  await Promise.all(pages.map((page) => page.close()))
})

test('a look-up that fails is made again', async () => {
  const payment = await world.create()
  const errors: unknown[] = []
  const openPages = createOpenPages({
    readStamps: async (ids) => {
      if (errors.length < 2) throw new Error('the database is away')
      return readStamps(world.db, ids)
    },
    onError: (error) => errors.push(error),
  })
  const second = await createCheckoutWorld({ db: world.db, openPages })
  const page = await openStream(`${second.url}${payment.path}/live?knows=old`)
  expect(await page.next()).toBe(await stampNow(payment.id))
  expect(errors).toHaveLength(2)
  openPages.close()
  await page.ended
  await second.close()
}, 60_000)

test('when the process stops, every page is told to come back', async () => {
  const { deps, close } = await composeApi(
    readApiConfig({ ...TEST_ENVIRONMENT, DATABASE_URL: world.databaseUrl }),
    pino({ level: 'silent' }),
  )
  const second = await createCheckoutWorld({ db: world.db, openPages: deps.openPages })
  const payment = await world.create()
  const page = await openStream(`${second.url}${payment.path}/live?knows=${await stampNow(payment.id)}`)
  expect(await deps.registry.metrics()).toContain('pinrail_open_pages 1\n')
  await movePayment(world, payment.id, ['pending'])
  expect(await page.next()).toBe(await stampNow(payment.id))
  await close()
  await page.ended
  await second.close()
}, 60_000)

test('pages that come back in one moment are found in a few statements, one at a time, each its own payment', async () => {
  const [statements, running]: [number[], { now: number; most: number }] = [[], { now: 0, most: 0 }]
  const find = findTogether(async (tokens) => {
    statements.push(tokens.length)
    running.now += 1
    running.most = Math.max(running.most, running.now)
    await new Promise(setImmediate)
    running.now -= 1
    return new Map(tokens.filter((token) => token !== 'of nothing').map((token) => [token, `payment of ${token}`]))
  })
  const tokens = Array.from({ length: 2500 }, (_token, index) => `token ${index}`)
  const found = await Promise.all([...tokens, 'of nothing'].map(find))
  expect(found).toEqual([...tokens.map((token) => `payment of ${token}`), null])
  expect(statements).toEqual([1000, 1000, 501])
  expect(running.most).toBe(1)
})

test('pages whose payment could not be looked up are told so, and the next ones are looked up', async () => {
  let isDown = true
  const find = findTogether(async (tokens) => {
    if (isDown) throw new Error('no connection')
    return new Map(tokens.map((token) => [token, token]))
  })
  await expect(Promise.all([find('a'), find('b')])).rejects.toThrow('no connection')
  isDown = false
  expect(await find('a')).toBe('a')
})

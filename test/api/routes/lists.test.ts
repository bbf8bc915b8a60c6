import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Furnished, furnish } from '../support/furnished.ts'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
let own: Furnished
beforeAll(async () => {
  shop = await openShop()
  own = await furnish(shop)
}, 60_000)
afterAll(() => shop?.close())

type Item = { id: string; message: string; data: { attempt?: number } }
const read = async (path: string) => (await shop.ask('GET', path)).body as { data: Item[]; has_more: boolean }

describe('a cursor', () => {
  const UNKNOWN = {
    '/v1/payments': 'pay_01m7z134d8fetv1hwd26y1yksm',
    '/v1/payment_links': 'plink_01m7z134d8fetv1hwd26y1yksm',
    '/v1/events': 'evt_01m7z134d8fetv1hwd26y1yksm',
    '/v1/api_keys': 'key_000000000000',
    deliveries: 'evt_01m7z134d8fetv1hwd26y1yksm',
  }

  test('that is no id is refused alike in every list, and one that the list does not have is missing alike', async () => {
    for (const [list, unknown] of Object.entries(UNKNOWN)) {
      const path = list === 'deliveries' ? `/v1/webhook_endpoints/${own.endpoint}/deliveries` : list
      for (const param of ['starting_after', 'ending_before'])
        for (const [cursor, status, code] of [
          ['x', 400, 'validation_failed'],
          [unknown, 404, 'resource_missing'],
        ] as const) {
          const answer = await shop.ask('GET', `${path}?${param}=${cursor}`)
          expectProblem(answer, status, code)
          expect([path, answer.body['param']]).toEqual([path, param])
        }
    }
  })

  test('of another merchant is as one that there is not', async () => {
    const other = await furnish(shop, await shop.addMerchant())
    for (const path of [
      `/v1/payments?starting_after=${other.payment}`,
      `/v1/payment_links?starting_after=${other.link}`,
      `/v1/events?ending_before=${other.event}`,
      `/v1/api_keys?starting_after=${other.apiKey}`,
      `/v1/webhook_endpoints/${own.endpoint}/deliveries?starting_after=${other.event}`,
    ])
      expectProblem(await shop.ask('GET', path), 404, 'resource_missing')
  })

  test('at both ends gives what lies between', async () => {
    const merchant = await shop.addMerchant()
    const ids: string[] = []
    for (let made = 0; made < 4; made++) {
      const body = { amount: '10', currency: 'EUR' }
      ids.push(String((await shop.ask('POST', '/v1/payments', { body, key: merchant.key })).body['id']))
    }
    const query = `starting_after=${ids[3]}&ending_before=${ids[0]}`
    const { body } = await shop.ask('GET', `/v1/payments?${query}`, { key: merchant.key })
    expect((body['data'] as Item[]).map(({ id }) => id)).toEqual([ids[2], ids[1]])
    expect(body['has_more']).toBe(false)
  })
})

test('a timeline of 1,150 entries is read to its end, page by page, and back', async () => {
  const path = `/v1/payments/${own.payment}/timeline`
  const tried = `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms)
    select $1, $2, n, now() + (n / 3) * interval '1 second', 1 from generate_series(1, 1150) as n`
  await shop.db.query(tried, [own.event, own.endpoint])
  const all: Item[] = []
  for (let more = true, cursor = ''; more; ) {
    const page = await read(`${path}?limit=100${cursor}`)
    all.push(...page.data)
    more = page.has_more
    cursor = `&starting_after=${all.at(-1)!.id}`
  }
  const tries = all.flatMap(({ data }) => data.attempt ?? [])
  expect(tries).toEqual(Array.from({ length: 1150 }, (_, index) => index + 1))
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  expect((await read(path)).has_more).toBe(true)
  const back = await read(`${path}?limit=2&ending_before=${all[5]!.id}`)
  expect([back.data.map(({ id }) => id), back.has_more]).toEqual([[all[3]!.id, all[4]!.id], true])
})

test('the log of a delivery shows its newest twenty tries, and how many there were', async () => {
  await shop.db.query('update delivery set attempts = 1150 where event_id = $1', [own.event])
  const list = await shop.ask('GET', `/v1/webhook_endpoints/${own.endpoint}/deliveries`)
  const [delivery] = list.body['data'] as { attempts: number; log: { number: number }[] }[]
  expect(delivery!.attempts).toBe(1150)
  expect(delivery!.log.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => 1131 + index))
  const sent = await shop.ask('POST', `/v1/webhook_endpoints/${own.endpoint}/deliveries/${own.event}/redeliver`)
  expect((sent.body['log'] as unknown[]).length).toBe(20)
})

test('a moment at the end of time is understood, whatever its offset', async () => {
  for (const time of ['9999-12-31T23:59:59-01:00', '1970-01-01T00:00:00%2B05:00', '99999999999', '0'])
    for (const filter of ['created[gte]', 'created[lt]'])
      expect((await shop.ask('GET', `/v1/payments?${filter}=${time}`)).status).toBe(200)
})

test('every list reads all that it says in one transaction, which is of one moment and of one database', async () => {
  const counted: string[] = []
  const strict = await openShop({
    deps: ({ db }) => ({
      db: {
        ...db,
        lists: (tenant) => ({
          livemode: db.livemode,
          query: () => Promise.reject(new Error('a list must not read outside of its transaction')),
          transaction: (work) => {
            counted.push(tenant.merchantId)
            return db.lists(tenant).transaction(work)
          },
        }),
      },
    }),
  })
  try {
    const made = await furnish(strict)
    const lists = [
      '/v1/payments',
      `/v1/payments/${made.payment}/timeline`,
      '/v1/payment_links',
      '/v1/events',
      '/v1/api_keys',
      '/v1/audit_log',
      `/v1/webhook_endpoints/${made.endpoint}/deliveries`,
      '/v1/exports/payments',
    ]
    for (const path of lists) expect([path, (await strict.ask('GET', path)).status]).toEqual([path, 200])
    expect(counted).toHaveLength(lists.length)
  } finally {
    await strict.close()
  }
}, 60_000)

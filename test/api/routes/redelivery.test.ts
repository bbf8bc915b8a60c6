import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

/** How much one request to send failed deliveries again may start, and how far back it may reach. */

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 20, 12)

let shop: Shop
let endpoint = ''
/** What is asked of Temporal: how many starts, and the most at the same time. */
let starts = { made: [] as string[], running: 0, most: 0 }
let reachable = true
beforeAll(async () => {
  shop = await openShop({
    deps: () => ({
      clock: () => NOW,
      deliveries: {
        deliverNow: async ({ eventId }) => {
          starts.made.push(eventId)
          starts.running += 1
          starts.most = Math.max(starts.most, starts.running)
          // The others of its wave begin before it ends.
          await new Promise((resolve) => setImmediate(resolve))
          starts.running -= 1
          return reachable
        },
      },
    }),
  })
}, 60_000)
afterAll(() => shop?.close())

beforeEach(async () => {
  const body = { url: 'https://shop.example/hooks', enabled_events: ['*'] }
  endpoint = String((await shop.ask('POST', '/v1/webhook_endpoints', { body })).body['id'])
  starts = { made: [], running: 0, most: 0 }
  reachable = true
})

/** So many deliveries of the endpoint in this state, made at this time; their events are named by the prefix. */
async function addDeliveries(
  prefix: string,
  count: number,
  made: { status?: string; at?: number } = {},
): Promise<void> {
  const { status = 'exhausted', at = NOW - 1000 } = made
  await shop.db.query(
    `with made as (insert into event (id, merchant_id, livemode, type, payment_id, sequence, body, created_at)
       select $1 || '_' || n, $2, false, 'payment.failed', null, null, '{}'::text::bytea, $6::timestamptz
       from generate_series(1, $3::int) n returning id)
     insert into delivery (event_id, endpoint_id, merchant_id, livemode, status, attempts, schedule_step, created_at)
     select id, $4, $2, false, $5, 12, 12, $6::timestamptz from made`,
    [`${prefix}_${endpoint}`, shop.tenant.merchantId, count, endpoint, status, new Date(at).toISOString()],
  )
}
const redeliver = (since: number) =>
  shop.ask('POST', `/v1/webhook_endpoints/${endpoint}/redeliver_failed`, {
    body: { since: new Date(since).toISOString() },
  })
const pending = async (): Promise<string[]> => {
  const text = `select event_id from delivery where endpoint_id = $1 and status = 'pending' order by event_id`
  return (await shop.db.query(text, [endpoint])).rows.map((row: { event_id: string }) => row.event_id)
}

test('501 failed deliveries all begin anew; the request starts 500, never more than 20 at once', async () => {
  await addDeliveries('many', 501)
  const answer = await redeliver(NOW - DAY_MS)
  expect([answer.status, answer.body['deliveries']]).toEqual([202, 501])
  expect(new Set(starts.made).size).toBe(500)
  expect(starts.made).toHaveLength(500)
  expect(starts.most).toBe(20)
  expect(await pending()).toHaveLength(501)
})

test('while Temporal does not answer, one wave is tried and the rest is left to the sweep', async () => {
  await addDeliveries('unreached', 45)
  reachable = false
  expect((await redeliver(NOW - DAY_MS)).body['deliveries']).toBe(45)
  expect(starts.made).toHaveLength(20)
  expect(await pending()).toHaveLength(45)
})

test('what failed 30 days ago is sent again, what failed a millisecond earlier is not, whatever is asked', async () => {
  await addDeliveries('edge', 1, { at: NOW - 30 * DAY_MS })
  await addDeliveries('older', 1, { at: NOW - 30 * DAY_MS - 1 })
  expect((await redeliver(NOW - 90 * DAY_MS)).body['deliveries']).toBe(1)
  expect(starts.made).toEqual([`edge_${endpoint}_1`])
})

test('what is still retried, or arrived, is left alone; what was parked with a disabled endpoint is not', async () => {
  await addDeliveries('retried', 1, { status: 'pending' })
  await addDeliveries('arrived', 1, { status: 'delivered' })
  await addDeliveries('parked', 1, { status: 'disabled' })
  expect((await redeliver(NOW - DAY_MS)).body['deliveries']).toBe(1)
  expect(starts.made).toEqual([`parked_${endpoint}_1`])
})

test('a disabled endpoint gets nothing again, of all and of one', async () => {
  await addDeliveries('off', 1)
  await shop.ask('PATCH', `/v1/webhook_endpoints/${endpoint}`, { body: { enabled: false } })
  expectProblem(await redeliver(NOW - DAY_MS), 409, 'not_possible_now')
  const one = `/v1/webhook_endpoints/${endpoint}/deliveries/off_${endpoint}_1/redeliver`
  expectProblem(await shop.ask('POST', one), 409, 'not_possible_now')
  expect([starts.made, await pending()]).toEqual([[], []])
})

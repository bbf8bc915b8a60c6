import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { pruneOld } from '../../src/db/retention.ts'
import { addEndpoint, addEvent, rows, type Seeded, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

const DAY_MS = 86_400_000
const NOW = Date.parse('2027-06-01T00:00:00.000Z')
const daysAgo = (days: number): string => new Date(NOW - days * DAY_MS).toISOString()

it('keeps attempts for 30 days, events for 90, stored answers and requests for 30, and what is still being delivered', async () => {
  const { db, tenant } = seeded
  const endpoint = await addEndpoint(db, tenant)
  const ages = [1, 29, 31, 89, 91, 200]
  const events = new Map<number, string>()
  for (const age of ages) {
    const event = String(await addEvent(db, tenant, { at: daysAgo(age) }))
    events.set(age, event)
    await db.query(
      'insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms) values ($1, $2, 1, $3, 5)',
      [event, endpoint.id, daysAgo(age)],
    )
    await db.query(
      `insert into idempotency_key (merchant_id, livemode, route, key, fingerprint, status, body, created_at)
       values ($1, false, 'r', $2, $3, 201, '', $4)`,
      [tenant.merchantId, `k${age}`, Buffer.alloc(32), daysAgo(age)],
    )
    await db.query(
      `insert into api_request (id, merchant_id, livemode, key_id, method, path, status, duration_ms, at)
       values ($1, $2, false, 'key_1', 'GET', '/v1/payments', 200, 5, $3)`,
      [`req_${age}`, tenant.merchantId, daysAgo(age)],
    )
  }
  await db.query("update delivery set status = 'delivered' where event_id <> $1", [events.get(200)])

  expect(await pruneOld(db, new Date(NOW).toISOString())).toEqual({
    attempts: 4,
    events: 1,
    idempotencyKeys: 4,
    requests: 4,
  })

  const left = await rows<{ id: string }>(db, 'select id from event')
  expect(new Set(left.map(({ id }) => id))).toEqual(new Set([1, 29, 31, 89, 200].map((age) => events.get(age))))
  expect(await rows(db, 'select key from idempotency_key order by key')).toEqual([{ key: 'k1' }, { key: 'k29' }])
  expect(await rows(db, 'select 1 from delivery_attempt')).toHaveLength(2)
  expect(await rows(db, 'select id from api_request order by id')).toEqual([{ id: 'req_1' }, { id: 'req_29' }])
  expect(await pruneOld(db, new Date(NOW).toISOString())).toEqual({
    attempts: 0,
    events: 0,
    idempotencyKeys: 0,
    requests: 0,
  })
})

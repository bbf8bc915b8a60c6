import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pruneAccounts } from '../../src/db/accounts/retention.ts'
import { pruneOld } from '../../src/db/retention.ts'
import { addEndpoint, addEvent, rows, type Seeded, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

describe('Retention of payments and webhooks', () => {
  const DAY_MS = 86_400_000
  const NOW = Date.parse('2027-06-01T00:00:00.000Z')
  const daysAgo = (days: number): string => new Date(NOW - days * DAY_MS).toISOString()

  it('attempts are kept for 30 days, events for 90, stored responses and requests for 30, and open deliveries forever', async () => {
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
      buyers: 0,
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
      buyers: 0,
    })
  })
})

describe('Retention of accounts', () => {
  it('traces of sign-ins are kept for 30 days; valid sessions, people and passkeys remain', async () => {
    const { db } = seeded
    const now = Date.parse('2027-06-01T00:00:00.000Z')
    const at = (days: number): string => new Date(now - days * 86_400_000).toISOString()
    await db.query(`insert into person (id, email, created_at) values ('per_1', 'a@shop.example', $1)`, [at(400)])
    await db.query(`insert into merchant (id, name) values ('mer_1', 'Shop')`)
    await db.query(`insert into passkey (id, person_id, public_key, counter, transports, name, created_at)
    values ('pk', 'per_1', ''::bytea, 0, '{}', 'x', '2020-01-01')`)
    for (const days of [0, 29, 31]) {
      const digest = Buffer.alloc(32, days)
      const text = String(days)
      await db.query(
        `insert into session (id, digest, person_id, how, ip, user_agent, created_at, used_at, confirmed_at)
       values ($1, $2, 'per_1', 'link', '', '', $3, $3, $3)`,
        [text, digest, at(days)],
      )
      await db.query(
        `insert into sign_in_link (id, email, digest, code_digest, browser_digest, session_id, asked_from, created_at, expires_at)
       values ($1, 'a@shop.example', $2, $2, $2, $1, 'known', $3, $3)`,
        [text, digest, at(days)],
      )
      await db.query(`insert into mail (id, sealed, created_at, expires_at, next_at) values ($1, null, $2, $2, $2)`, [
        text,
        at(days),
      ])
      await db.query(
        `insert into invitation (merchant_id, email, role, expires_at) values ('mer_1', $1, 'viewer', $2)`,
        [`g${text}@shop.example`, at(days)],
      )
      await db.query('insert into merchant_invitation (email, expires_at) values ($1, $2)', [
        `m${text}@shop.example`,
        at(days),
      ])
      await db.query(`insert into answered_challenge (digest, expires_at) values ($1, $2)`, [digest, at(days - 1)])
    }
    await pruneAccounts(db, new Date(now).toISOString())
    const left = async (table: string, column: string): Promise<unknown[]> =>
      (await db.query(`select ${column} as k from ${table} order by 1`)).rows.map(({ k }) => k)
    for (const table of ['session', 'sign_in_link', 'mail']) expect(await left(table, 'id')).toEqual(['0', '29'])
    expect(await left('invitation', 'email')).toEqual(['g0@shop.example', 'g29@shop.example'])
    expect(await left('merchant_invitation', 'email')).toEqual(['m0@shop.example', 'm29@shop.example'])
    expect(await left('answered_challenge', 'get_byte(digest, 0)')).toEqual([0])
    expect([await left('person', 'id'), await left('passkey', 'id')]).toEqual([['per_1'], ['pk']])
    expect(await pruneAccounts(db, new Date(now).toISOString())).toBe(0)
  })
})

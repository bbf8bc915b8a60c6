import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { pruneAccounts } from '../../src/db/accounts/retention.ts'
import { createDb, type Db } from '../../src/db/db.ts'

let database: TestDatabase
let db: Db
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 2 })
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

it('traces of signing in are kept for 30 days; what still counts, people and passkeys stay', async () => {
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
      `insert into sign_in_link (id, email, digest, code_digest, browser_digest, session_id, created_at, expires_at)
       values ($1, 'a@shop.example', $2, $2, $2, $1, $3, $3)`,
      [text, digest, at(days)],
    )
    await db.query(`insert into mail (id, sealed, created_at, expires_at, next_at) values ($1, null, $2, $2, $2)`, [
      text,
      at(days),
    ])
    await db.query(`insert into invitation (merchant_id, email, role, expires_at) values ('mer_1', $1, 'viewer', $2)`, [
      `g${text}@shop.example`,
      at(days),
    ])
    await db.query(`insert into answered_challenge (digest, expires_at) values ($1, $2)`, [digest, at(days - 1)])
  }
  await pruneAccounts(db, new Date(now).toISOString())
  const left = async (table: string, column: string): Promise<unknown[]> =>
    (await db.query(`select ${column} as k from ${table} order by 1`)).rows.map(({ k }) => k)
  for (const table of ['session', 'sign_in_link', 'mail']) expect(await left(table, 'id')).toEqual(['0', '29'])
  expect(await left('invitation', 'email')).toEqual(['g0@shop.example', 'g29@shop.example'])
  expect(await left('answered_challenge', 'get_byte(digest, 0)')).toEqual([0])
  expect([await left('person', 'id'), await left('passkey', 'id')]).toEqual([['per_1'], ['pk']])
  expect(await pruneAccounts(db, new Date(now).toISOString())).toBe(0)
})

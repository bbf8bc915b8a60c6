import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb, type Db, execute, many, one, type Queryable, sql } from '../../src/db/db.ts'

const MERCHANT = { merchantId: 'mer_0', livemode: false }

let database: Awaited<ReturnType<typeof createTestDatabase>>
let db: Db
let pooled: Db
beforeAll(async () => {
  database = await createTestDatabase()
  // One connection each, so that what it has kept can be asked.
  const options = { url: database.url, livemode: false, pool: 1 }
  db = createDb(options)
  pooled = createDb({ ...options, pooled: true })
}, 60_000)
afterAll(async () => {
  await db?.close()
  await pooled?.close()
  await database?.drop()
})

const Plan = z.object({ statement: z.string(), calls: z.coerce.number() })
/** What a connection has kept of a statement, and how often it used that. */
const plansLike = (on: Db, text: string) =>
  many(
    on,
    Plan,
    sql`select statement, generic_plans + custom_plans as calls from pg_prepared_statements where statement like ${`%${text}%`}`,
  ).then((plans) => plans.filter(({ statement }) => !statement.includes('pg_prepared_statements')))

const Sum = z.object({ sum: z.number() })

test('a statement is parsed once for a connection, alone and in transactions', async () => {
  const add = (right: number) => sql`select 1 + ${right}::int as sum`
  expect(await one(db, Sum, add(2))).toEqual({ sum: 3 })
  expect(await db.transaction((tx) => one(tx, Sum, add(3)))).toEqual({ sum: 4 })
  expect(await one(db.as(MERCHANT), Sum, add(4))).toEqual({ sum: 5 })
  expect(await plansLike(db, '1 + ')).toEqual([{ statement: 'select 1 + $1::int as sum', calls: 3 }])
})

test('a plan that was made for one merchant shows another one nothing of it', async () => {
  await db.query(`create table owned (merchant_id text);
    insert into owned values ('mer_0'), ('mer_1');
    grant select on owned to pinrail_tenant;
    alter table owned enable row level security;
    create policy own on owned using (merchant_id = current_setting('pinrail.merchant_id'))`)
  const Row = z.object({ merchant_id: z.string() })
  const ownersOf = (on: Queryable) =>
    many(on, Row, sql`select merchant_id from owned where merchant_id > ${''} order by 1`)
  // Postgres may keep one plan for all values from the sixth time on.
  for (let count = 0; count < 8; count++) {
    expect(await ownersOf(db)).toHaveLength(2)
    for (const merchantId of ['mer_0', 'mer_1'])
      expect(await ownersOf(db.as({ merchantId, livemode: false }))).toEqual([{ merchant_id: merchantId }])
  }
  expect(await plansLike(db, 'from owned')).toMatchObject([{ calls: 24 }])
})

test('one of a list is planned for its values each time, because filters make many texts', async () => {
  expect(await one(db.lists(MERCHANT), Sum, sql`select 2 + ${1}::int as sum`)).toEqual({ sum: 3 })
  expect(await plansLike(db, '2 + ')).toEqual([])
})

test('behind a pooler none has a name, because the next transaction has another connection', async () => {
  for (const right of [1, 2]) await one(pooled, Sum, sql`select 3 + ${right}::int as sum`)
  expect(await plansLike(pooled, '3 + ')).toEqual([])
})

test('a program that makes ever new texts fills no connection', async () => {
  const fresh = createDb({ url: database.url, livemode: false, pool: 1 })
  try {
    for (let count = 0; count < 620; count++) await fresh.query(`select ${count} + $1::int`, [1])
    const { rows } = await fresh.query('select count(*)::int as kept from pg_prepared_statements')
    expect(rows).toEqual([{ kept: 600 }])
  } finally {
    await fresh.close()
  }
})

test('a migration that changes the type of a column fails a transaction once, and a statement alone not at all', async () => {
  await db.query('create table shape (id int)')
  await execute(db, sql`insert into shape values (${7})`)
  const Shape = z.object({ id: z.coerce.number() })
  const read = () => db.transaction((tx) => many(tx, Shape, sql`select id from shape where id > ${0}`))
  const readAlone = () => many(db, Shape, sql`select id from shape where id < ${9}`)
  expect([await read(), await readAlone()]).toEqual([[{ id: 7 }], [{ id: 7 }]])
  const other = createDb({ url: database.url, livemode: false, pool: 1 })
  const changeTo = (type: string) => other.query(`alter table shape alter column id type ${type}`)
  try {
    await changeTo('bigint')
    await expect(read()).rejects.toMatchObject({ code: '0A000' })
    expect([await read(), await readAlone()]).toEqual([[{ id: 7 }], [{ id: 7 }]])
    await changeTo('int')
    expect([await readAlone(), await read()]).toEqual([[{ id: 7 }], [{ id: 7 }]])
  } finally {
    await other.close()
  }
})

test('a migration that adds a column fails no statement alone, whoever asks it', async () => {
  await db.query('create table grown (id int); grant select on grown to pinrail_tenant; insert into grown values (7)')
  const Grown = z.object({ id: z.number() })
  const read = (on: Queryable) => many(on, Grown, sql`select * from grown where id > ${0}`)
  const add = (column: string) => pooled.query(`alter table grown add column ${column} int`)
  await read(db)
  await add('more')
  expect(await read(db)).toEqual([{ id: 7 }])
  await read(db)
  await add('still_more')
  expect(await read(db.as(MERCHANT))).toEqual([{ id: 7 }])
})

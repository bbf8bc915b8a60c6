import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest, test } from '@jest/globals'
import { z } from 'zod'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { until } from '../../scripts/test/until.ts'
import {
  createDb,
  type Db,
  execute,
  identifier,
  many,
  maybeOne,
  one,
  type Queryable,
  type Statement,
  sql,
} from '../../src/db/db.ts'
import { changeMessages, deleteMessages, readChangeMessages } from '../../src/db/outbox.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { newId } from '../../src/ids.ts'
import { type Seeded, seedDatabase } from '../webhooks/seed.ts'

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

describe('Transactions', () => {
  test('work for after the commit runs when others can read the change', async () => {
    await db.query('create table seen (id int)')
    let others = Promise.resolve<unknown>(null)
    let wasCalled = false
    const answer = await db.transaction(async (tx) => {
      tx.afterCommit(() => {
        wasCalled = true
        others = db.query('select id from seen').then(({ rows }) => rows)
      })
      await tx.query('insert into seen values (1)')
      expect(wasCalled).toBe(false)
      return 'done'
    })
    expect(answer).toBe('done')
    expect(await others).toEqual([{ id: 1 }])
  })

  test('work for after the commit never runs if the transaction was rolled back', async () => {
    let calls = 0
    const refused = db.transaction((tx) => {
      tx.afterCommit(() => calls++)
      return Promise.reject(new Error('no'))
    })
    await expect(refused).rejects.toThrow('no')
    expect(calls).toBe(0)
  })

  test('a connection that breaks between two statements fails its transaction with its own reason, and ends no process', async () => {
    let reached: (pid: number) => void = () => undefined
    let goOn: () => void = () => undefined
    const pid = new Promise<number>((resolve) => {
      reached = resolve
    })
    const broken = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const work = db.transaction(async (tx) => {
      reached((await tx.query('select pg_backend_pid() as pid')).rows[0].pid)
      await broken
      await tx.query('insert into seen values (2)')
    })
    const refused = expect(work).rejects.toMatchObject({ code: '57P01' })
    const gone = await pid
    await db.query('select pg_terminate_backend($1)', [gone])
    const alive = () => db.query('select 1 from pg_stat_activity where pid = $1', [gone])
    await until(alive, ({ rowCount }) => rowCount === 0)
    // One more response on another connection: by now the process has read the server's message on the broken one.
    await db.query('select 1')
    goOn()
    await refused
    expect((await db.query('select id from seen')).rows).toEqual([{ id: 1 }])
  })

  test('a database whose connections are all in use is busy, and still answers a health check', async () => {
    let end: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    const holding = [1, 2].map(() => db.transaction(() => held))
    try {
      await until(
        async () => db.poolUse(),
        ({ total, idle }) => total - idle === 2,
      )
      const waits = db.query('select 1')
      expect(db.poolUse().waiting).toBe(1)
      await db.answers()
      expect(db.poolUse().waiting).toBe(1)
      end()
      await waits
    } finally {
      end()
      await Promise.all(holding)
    }
  })

  test('a database that is down does not answer', async () => {
    const gone = createDb({ url: 'postgres://nobody@127.0.0.1:9/none', livemode: false, pool: 1 })
    await expect(gone.answers()).rejects.toThrow('ECONNREFUSED')
    await gone.close()
  })

  test('the locks of a machine that is lost within a transaction end when Postgres has received nothing from it for a while', async () => {
    await db.query('create table locked (id int primary key)')
    await db.query('insert into locked values (1)')
    const lost = createDb({ url: database.url, livemode: false, pool: 1, idleInTransactionMs: 500 })
    let isLost = (): void => undefined
    const losing = new Promise<void>((resolve) => {
      isLost = resolve
    })
    const ended = new AbortController()
    const silent = lost.transaction(async (tx) => {
      await tx.query('update locked set id = 1')
      isLost()
      await once(ended.signal, 'abort')
    })
    await losing
    expect((await db.query('update locked set id = 2')).rowCount).toBe(1)
    ended.abort()
    await expect(silent).rejects.toThrow()
    await lost.close()
  })
})

describe('Statements', () => {
  /** The statements that are sent to Postgres, and its responses. */
  async function ask(statement: Statement) {
    const sent: { text: string; values: unknown[] }[] = []
    const watched: Queryable = {
      livemode: db.livemode,
      query: (text, values = []) => {
        sent.push({ text, values })
        return db.query(text, values)
      },
    }
    const rows = await many(watched, z.record(z.string(), z.unknown()), statement)
    return { ...sent[0]!, rows }
  }

  /** Values that an outsider can send, or that code can make of a statement by copying it. */
  const NO_STATEMENTS: Record<string, () => unknown> = {
    'a body with the keys text and values': () => JSON.parse(`{"text": "'spliced'", "values": []}`),
    'a body that brings a prototype': () =>
      JSON.parse(
        `{"text": "'spliced'", "values": [], "__proto__": {"brand": true}, "constructor": {"name": "Statement"}}`,
      ),
    'a body that says how it becomes JSON': () => ({
      text: "'spliced'",
      values: [],
      toJSON: () => ({ text: "'spliced'", values: [] }),
    }),
    'an object with the prototype of a statement': () =>
      Object.assign(Object.create(Object.getPrototypeOf(sql``)), { text: "'spliced'", values: [] }),
    'an object whose prototype is a statement': () => Object.create(sql`'spliced'`),
    'a statement that went through JSON': () => JSON.parse(JSON.stringify(sql`'spliced'`)),
    'a structured clone of a statement': () => structuredClone(sql`'spliced'`),
    'a copy of the keys of a statement': () => Object.assign({}, sql`'spliced'`),
    'a proxy of a statement': () => new Proxy(sql`'spliced'`, {}),
  }

  describe('Values that are no statement', () => {
    it.each(Object.entries(NO_STATEMENTS))('%s becomes a parameter and not SQL', async (_name, make) => {
      const value = make()
      const { text, values, rows } = await ask(sql`select ${value}::jsonb as value`)
      expect(text).toBe('select $1::jsonb as value')
      expect(values).toHaveLength(1)
      expect(values[0]).toBe(value)
      expect(rows).toEqual([{ value: JSON.parse(JSON.stringify(value)) }])
    })

    it.each(Object.entries(NO_STATEMENTS))('%s is not run', async (_name, make) => {
      const value = make() as Statement
      const refused = 'a statement must be made by the tag sql'
      await expect(execute(db, value)).rejects.toThrow(refused)
      for (const read of [many, maybeOne, one]) await expect(read(db, z.unknown(), value)).rejects.toThrow(refused)
    })
  })

  describe('A nested statement', () => {
    it('a nested statement has its parameters numbered again', async () => {
      const inner = sql`(${'b'}::text || ${'c'}::text)`
      const middle = sql`${'a'}::text || ${inner} || ${inner}`
      const { text, values, rows } = await ask(sql`select ${'first'}::text as f, ${middle} as m, ${'last'}::text as l`)
      expect(text).toBe(
        'select $1::text as f, $2::text || ($3::text || $4::text) || ($5::text || $6::text) as m, $7::text as l',
      )
      expect(values).toEqual(['first', 'a', 'b', 'c', 'b', 'c', 'last'])
      expect(rows).toEqual([{ f: 'first', m: 'abcbc', l: 'last' }])
    })

    it('a nested statement keeps numbers of two digits apart', async () => {
      const eleven = Array.from({ length: 11 }, (_, index) => sql`${index}::int`)
      const list = eleven.reduce((left, right) => sql`${left}, ${right}`)
      const { values, rows } = await ask(sql`select ${'x'}::text as x, array[${list}] as list`)
      expect(values).toEqual(['x', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect(rows).toEqual([{ x: 'x', list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }])
    })
  })

  describe('An identifier', () => {
    it('an identifier is a name in the statement, also if it is a keyword', async () => {
      const { text, values, rows } = await ask(
        sql`select 1 as ${identifier('user')}, ${2}::int as ${identifier('b_2')}`,
      )
      expect([text, values]).toEqual(['select 1 as "user", $1::int as "b_2"', [2]])
      expect(rows).toEqual([{ user: 1, b_2: 2 }])
    })

    it.each(['', 'Status', '1st', 'a b', 'a"b', 'a;b', 'a.b', 'a-b', 'a\n', '$1', 'ä', 'a'.repeat(64)])(
      'an invalid identifier is refused: %j',
      (name) => expect(() => identifier(name)).toThrow('an identifier must be lower-case letters, digits and _'),
    )
  })
})

describe('Prepared statements', () => {
  const MERCHANT = { merchantId: 'mer_0', livemode: false }
  // One connection each, so that its prepared statements can be read.
  let db: Db
  let pooled: Db
  beforeAll(() => {
    const options = { url: database.url, livemode: false, pool: 1 }
    db = createDb(options)
    pooled = createDb({ ...options, pooled: true })
  })
  afterAll(async () => {
    await db?.close()
    await pooled?.close()
  })

  const Plan = z.object({ statement: z.string(), calls: z.coerce.number() })
  /** The prepared statements of a connection, and how often it used each. */
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

  test('a plan that was made for one merchant shows another one none of its rows', async () => {
    await db.query(`create table owned (merchant_id text);
    insert into owned values ('mer_0'), ('mer_1');
    grant select on owned to pinrail_tenant;
    alter table owned enable row level security;
    create policy own on owned using (merchant_id = current_setting('pinrail.merchant_id'))`)
    const Row = z.object({ merchant_id: z.string() })
    const listOwners = (on: Queryable) =>
      many(on, Row, sql`select merchant_id from owned where merchant_id > ${''} order by 1`)
    // Postgres may keep one plan for all values from the sixth time on.
    for (let count = 0; count < 8; count++) {
      expect(await listOwners(db)).toHaveLength(2)
      for (const merchantId of ['mer_0', 'mer_1'])
        expect(await listOwners(db.as({ merchantId, livemode: false }))).toEqual([{ merchant_id: merchantId }])
    }
    expect(await plansLike(db, 'from owned')).toMatchObject([{ calls: 24 }])
  })

  const Kinds = z.object({ generic_plans: z.coerce.number(), custom_plans: z.coerce.number() })
  test('Postgres plans a statement once, for all values', async () => {
    for (const right of [1, 2, 3]) await one(db, Sum, sql`select 4 + ${right}::int as sum`)
    const plans = sql`select generic_plans, custom_plans from pg_prepared_statements where statement like ${'select 4 + %'}`
    expect(await one(db, Kinds, plans)).toEqual({ generic_plans: 3, custom_plans: 0 })
  })

  test('a statement of a list is planned for its values each time, because filters make many texts', async () => {
    expect(await one(db.lists(MERCHANT), Sum, sql`select 2 + ${1}::int as sum`)).toEqual({ sum: 3 })
    expect(await plansLike(db, '2 + ')).toEqual([])
    const { rows } = await db.lists(MERCHANT).query(`select current_setting('plan_cache_mode') as mode`)
    expect(rows).toEqual([{ mode: 'auto' }])
  })

  test('an idle connection is kept for an hour, because a new one would plan all statements again', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })
    const fresh = createDb({ url: database.url, livemode: false, pool: 1 })
    const readPid = async () => (await fresh.query('select pg_backend_pid() as pid')).rows[0].pid as number
    try {
      const first = await readPid()
      jest.advanceTimersByTime(59 * 60_000)
      expect(await readPid()).toBe(first)
      jest.advanceTimersByTime(60_000)
      expect(await readPid()).not.toBe(first)
    } finally {
      jest.useRealTimers()
      await fresh.close()
    }
  })

  test('a statement behind a pooler has no name, because the next transaction has another connection', async () => {
    for (const right of [1, 2]) await one(pooled, Sum, sql`select 3 + ${right}::int as sum`)
    expect(await plansLike(pooled, '3 + ')).toEqual([])
  })

  test('a program that makes endless new texts fills no connection', async () => {
    const fresh = createDb({ url: database.url, livemode: false, pool: 1 })
    try {
      for (let count = 0; count < 620; count++) await fresh.query(`select ${count} + $1::int`, [1])
      const { rows } = await fresh.query('select count(*)::int as kept from pg_prepared_statements')
      expect(rows).toEqual([{ kept: 600 }])
    } finally {
      await fresh.close()
    }
  })

  test('a migration that changes the type of a column fails a transaction once, and a single statement never', async () => {
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

  test('a migration that adds a column fails no single statement, in any process', async () => {
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
})

describe('The outbox', () => {
  let seeded: Seeded
  beforeAll(async () => {
    seeded = await seedDatabase()
  })
  afterAll(() => seeded?.close())

  let subject = ''
  beforeEach(async () => {
    await seeded.db.query('delete from outbox')
    subject = newId('payment')
    const payment = newPayment({ id: subject, createdAt: new Date().toISOString() })
    await insertPayment(seeded.db, seeded.tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
  })

  const put = () => execute(seeded.db, sql`with done as (select) ${changeMessages([subject])}`)
  const read = () => readChangeMessages(seeded.db, 10)

  describe('A message to Temporal', () => {
    test('a message is there until it was sent, and then deleted', async () => {
      await put()
      const messages = await read()
      expect(messages).toMatchObject([{ state: { payment: { id: subject } }, events: [] }])
      await deleteMessages(seeded.db, messages)
      expect(await read()).toEqual([])
    })

    test('a second message about the same payment replaces the first one', async () => {
      await put()
      await put()
      expect(await read()).toHaveLength(1)
    })

    test('a message that is replaced between read and delete stays: the payment has changed since it was read', async () => {
      await put()
      const messages = await read()
      await put()
      await deleteMessages(seeded.db, messages)
      expect(await read()).toHaveLength(1)
    })

    test('a message of another kind is not touched', async () => {
      await put()
      await deleteMessages(seeded.db, await read())
      const { rows: left } = await seeded.db.query('select kind, subject from outbox')
      expect(left).toEqual([{ kind: 'start_payment', subject }])
    })
  })
})

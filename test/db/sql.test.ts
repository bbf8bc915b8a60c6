import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
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

/** What is sent to Postgres, and what it answers. */
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

/** What somebody outside may send, or code may make of a statement by copying it. */
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

describe('what is no statement', () => {
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

describe('a nested statement', () => {
  it('has its parameters numbered anew', async () => {
    const inner = sql`(${'b'}::text || ${'c'}::text)`
    const middle = sql`${'a'}::text || ${inner} || ${inner}`
    const { text, values, rows } = await ask(sql`select ${'first'}::text as f, ${middle} as m, ${'last'}::text as l`)
    expect(text).toBe(
      'select $1::text as f, $2::text || ($3::text || $4::text) || ($5::text || $6::text) as m, $7::text as l',
    )
    expect(values).toEqual(['first', 'a', 'b', 'c', 'b', 'c', 'last'])
    expect(rows).toEqual([{ f: 'first', m: 'abcbc', l: 'last' }])
  })

  it('keeps numbers of two digits apart', async () => {
    const eleven = Array.from({ length: 11 }, (_, index) => sql`${index}::int`)
    const list = eleven.reduce((left, right) => sql`${left}, ${right}`)
    const { values, rows } = await ask(sql`select ${'x'}::text as x, array[${list}] as list`)
    expect(values).toEqual(['x', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(rows).toEqual([{ x: 'x', list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }])
  })
})

describe('an identifier', () => {
  it('is a name in the statement, also when it is a keyword', async () => {
    const { text, values, rows } = await ask(sql`select 1 as ${identifier('user')}, ${2}::int as ${identifier('b_2')}`)
    expect([text, values]).toEqual(['select 1 as "user", $1::int as "b_2"', [2]])
    expect(rows).toEqual([{ user: 1, b_2: 2 }])
  })

  it.each(['', 'Status', '1st', 'a b', 'a"b', 'a;b', 'a.b', 'a-b', 'a\n', '$1', 'ä', 'a'.repeat(64)])(
    'is refused when it is none: %j',
    (name) => expect(() => identifier(name)).toThrow('an identifier must be lower-case letters, digits and _'),
  )
})

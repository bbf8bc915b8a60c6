import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { furnish } from '../support/furnished.ts'
import { bodies } from '../support/refused/fields.ts'
import { requests } from '../support/refused/requests.ts'
import type { Refused } from '../support/refused/values.ts'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
let cases: readonly Refused[]
beforeAll(async () => {
  shop = await openShop()
  cases = [...bodies(await furnish(shop)), ...requests()]
}, 60_000)
afterAll(() => shop?.close())

/** All that is stored. */
async function stored(): Promise<string> {
  const tables = [
    'payment',
    'timeline_entry',
    'outbox',
    'idempotency_key',
    'webhook_endpoint',
    'event',
    'delivery',
    'wallet',
  ]
  const counted = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await shop.db.query(
        `select '${table}' as name, count(*), md5(string_agg(t::text, '|' order by t::text)) from ${table} t`,
      )
      return JSON.stringify(rows)
    }),
  )
  const keys = await shop.db.query('select id, revoked_at, expires_at from api_key order by id')
  return [...counted, JSON.stringify(keys.rows)].join('\n')
}

test('more than 600 requests that are not right are each refused as a problem, and nothing is stored', async () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  expect(cases.length).toBeGreaterThan(600)
  const before = await stored()
  const wrong: string[] = []
  for (const { name, method, path, options, statuses } of cases) {
    try {
      const answer = await shop.ask(method, path, options)
      if (!statuses.includes(answer.status)) wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`)
      if (/\bat .*\.ts:\d|node_modules|syntax error/.test(answer.text)) wrong.push(`${name}: tells what went on inside`)
    } catch (error) {
      wrong.push(`${name}: ${String(error).slice(0, 300)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(await stored()).toBe(before)
  process.stdout.write(`negative corpus: ${cases.length} cases, all refused\n`)
}, 180_000)

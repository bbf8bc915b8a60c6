import { expect } from '@jest/globals'
import { seedApi } from '../seeded-api.ts'
import type { TestApi } from '../test-api.ts'
import { bodies } from './fields.ts'
import { requests } from './requests.ts'
import type { Refused } from './values.ts'

/** More than 600 invalid requests, for a merchant with an object of every type. */
export async function readCorpus(testApi: TestApi): Promise<readonly Refused[]> {
  const cases = [...bodies(await seedApi(testApi)), ...requests()]
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  expect(cases.length).toBeGreaterThan(600)
  return cases
}

/** Sends each request. Fails unless each one is answered by a problem, and nothing is stored. */
export async function expectAllRefused(testApi: TestApi, cases: readonly Refused[]): Promise<void> {
  const before = await stored(testApi)
  const wrong: string[] = []
  for (const { name, method, path, options, statuses } of cases) {
    try {
      const answer = await testApi.ask(method, path, options)
      if (!statuses.includes(answer.status)) wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`)
      if (/\bat .*\.ts:\d|node_modules|syntax error/.test(answer.text))
        wrong.push(`${name}: reveals what happened inside`)
    } catch (error) {
      wrong.push(`${name}: ${String(error).slice(0, 300)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(await stored(testApi)).toBe(before)
}

/** The count and hash of all rows, by table. */
async function stored(testApi: TestApi): Promise<string> {
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
      const { rows } = await testApi.db.query(
        `select '${table}' as name, count(*), md5(string_agg(t::text, '|' order by t::text)) from ${table} t`,
      )
      return JSON.stringify(rows)
    }),
  )
  const keys = await testApi.db.query('select id, revoked_at, expires_at from api_key order by id')
  return [...counted, JSON.stringify(keys.rows)].join('\n')
}

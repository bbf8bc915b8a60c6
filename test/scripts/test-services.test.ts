import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { startDevServer, startTimeSkipping } from '../../scripts/test/services/temporal.ts'

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

describe('The services of a test run', () => {
  test('a test database has the schema, is empty, and is deleted when dropped', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()])
    expect(first.url).not.toBe(second.url)
    expect(await query(first.url, 'select count(*)::int as n from payment')).toEqual([{ n: 0 }])
    await query(first.url, 'create table only_here ()')
    expect(await query(second.url, `select to_regclass('only_here') as name`)).toEqual([{ name: null }])
    await first.drop()
    await expect(query(first.url, 'select 1')).rejects.toThrow('does not exist')
    await second.drop()
  })

  test('the time-skipping server skips a day', async () => {
    const environment = await startTimeSkipping()
    try {
      const before = await environment.currentTimeMs()
      await environment.sleep('24h')
      expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(86_400_000)
    } finally {
      await environment.teardown()
    }
  })

  test('every caller of the real server gets the same one', async () => {
    expect(await startDevServer()).toEqual(await startDevServer())
  })
})

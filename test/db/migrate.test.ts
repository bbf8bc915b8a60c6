import { afterEach, beforeEach, expect, test } from '@jest/globals'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { migrate } from '../../src/db/migrate.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database?.drop())

async function change(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

test('migrate refuses a database with migrations of another version in one line that names `npm run reset`', async () => {
  await change(`delete from migration; insert into migration (name, run_on) values ('0001_init', now())`)
  await expect(migrate(database.url)).rejects.toThrow(
    /^This database is of another version .*0001_init.* `npm run reset`\.$/,
  )
})

test('migrate changes nothing in a database of a newer version', async () => {
  await change(`insert into migration (name, run_on) values ('9999_of_a_newer_version', now())`)
  await migrate(database.url)
})

import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { assertSessionAt, DatabaseRefusal } from './assert-session.ts'
import { NO_LIMITS } from './connection/limits.ts'
import { directConnection } from './connection/session.ts'

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))

/** Thrown if this version of Pinrail cannot migrate the database, because it belongs to another version. */
export class OtherVersion extends DatabaseRefusal {}

/**
 * Migrates the database to the newest schema; safe if several processes start at once (advisory lock). Before it
 * writes, it throws SessionRefusal, or OtherVersion if the database has migrations that this version does not know, and
 * lacks some that this version has.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await assertSessionAt({ url: databaseUrl, pooled: false })
  const client = new pg.Client(directConnection(databaseUrl, NO_LIMITS))
  await client.connect()
  try {
    await refuseOtherVersion(client)
    await runner({
      dbClient: client,
      dir: MIGRATIONS,
      direction: 'up',
      migrationsTable: 'migration',
      // Two processes that start together both call this; the second waits for the first instead of failing.
      lockValue: 7_241_901,
      advisoryLockMode: 'wait',
      log: () => undefined,
      checkOrder: true,
    })
  } finally {
    await client.end()
  }
}

export async function listMigrations(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).map((file) => file.replace(/\.sql$/, '')).sort()
}

/** A database of a newer version has all migrations of this one, and more: it needs no migration. */
async function refuseOtherVersion(client: pg.Client): Promise<void> {
  const [migrated, known] = [await readMigrated(client), await listMigrations()]
  const unknown = migrated.find((name) => !known.includes(name))
  if (unknown === undefined || known.every((name) => migrated.includes(name))) return
  throw new OtherVersion(
    `This database is of another version of Pinrail (it has the migration ${unknown}), and this version cannot use it. ` +
      'Create a new database; for a data folder of `npm start`, run `npm run reset`.',
  )
}

async function readMigrated(client: pg.Client): Promise<string[]> {
  const { rowCount } = await client.query(`select where to_regclass('migration') is not null`)
  if (rowCount === 0) return []
  const { rows } = await client.query('select name from migration order by id')
  return rows.map(({ name }) => String(name))
}

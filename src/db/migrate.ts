import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import { assertSessionAt } from './assert-session.ts'
import { NO_LIMITS } from './connection/limits.ts'
import { directConnection } from './connection/session.ts'

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))

/**
 * Brings the database to the newest schema; safe when several processes start at once (advisory lock). Throws
 * SessionRefusal before it writes anything.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await assertSessionAt({ url: databaseUrl, pooled: false })
  await runner({
    databaseUrl: directConnection(databaseUrl, NO_LIMITS),
    dir: MIGRATIONS,
    direction: 'up',
    migrationsTable: 'migration',
    // Two processes that start together both call this; the second waits for the first instead of failing.
    lockValue: 7_241_901,
    advisoryLockMode: 'wait',
    log: () => undefined,
    checkOrder: true,
  })
}

/** The names of the migrations of this version, the oldest first. */
export async function listMigrations(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).map((file) => file.replace(/\.sql$/, '')).sort()
}

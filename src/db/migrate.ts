import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))

/** Brings the database to the newest schema; safe when several processes start at once (advisory lock). */
export async function migrate(databaseUrl: string): Promise<void> {
  await runner({
    databaseUrl,
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

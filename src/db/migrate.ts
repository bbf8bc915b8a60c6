import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'

/** Brings the database to the newest schema; safe when several processes start at once (advisory lock). */
export async function migrate(databaseUrl: string): Promise<void> {
  await runner({
    databaseUrl,
    dir: fileURLToPath(new URL('./migrations', import.meta.url)),
    direction: 'up',
    migrationsTable: 'migration',
    // Two processes that start together both call this; the second waits for the first instead of failing.
    lockValue: 7_241_901,
    advisoryLockMode: 'wait',
    log: () => undefined,
    checkOrder: true,
  })
}

import pg from 'pg'

/**
 * Milliseconds beyond the limit of a statement after which its connection counts as dead: Postgres itself would have given
 * up by then. A server that goes away without a word is else waited for until TCP gives up, a quarter of an hour later.
 */
export const SILENT_MS = 5000

/** What the driver says when there was no answer in time. On such a connection nothing is to be asked any more. */
const SILENT = 'Query read timeout'
export const isSilent = (error: unknown): error is Error => error instanceof Error && error.message === SILENT

/**
 * A new connection logs in and plans every statement again, so it is kept while the process is idle. After an hour it is
 * replaced: memory and plans that fit the tables of long ago have an end.
 */
const KEPT = { idleTimeoutMillis: 0, maxLifetimeSeconds: 3600 }

/** Firewalls forget a silent connection after some minutes, without telling its ends. */
const PROBED = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 }

/** A statement is sent at once, without waiting for the answers to those before it. */
export function openPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ connectionTimeoutMillis: 5000, pipeline: true, ...KEPT, ...PROBED, ...options })
  // Without a listener an idle connection that breaks (Postgres restarted) would end the process.
  pool.on('error', () => undefined)
  return pool
}

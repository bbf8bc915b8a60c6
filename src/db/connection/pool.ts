import pg from 'pg'

/**
 * Milliseconds beyond a statement's limit after which its connection counts as dead: Postgres would have given up by
 * then. Without it, the wait for a server that disappears lasts until TCP gives up, a quarter of an hour later.
 */
export const SILENT_MS = 5000

/** The driver's message if no answer arrives in time. Such a connection must not be used again. */
const SILENT = 'Query read timeout'
export const isSilent = (error: unknown): error is Error => error instanceof Error && error.message === SILENT

/**
 * A new connection logs in and plans every statement again, so it stays open while the process is idle. It is replaced
 * after an hour, which limits its memory, and plans that were made for tables as they were long ago.
 */
const LIFETIME = { idleTimeoutMillis: 0, maxLifetimeSeconds: 3600 }

/** Firewalls drop a silent connection after some minutes, and notify neither end. */
const PROBED = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 }

/** Opens a pool that sends a statement immediately, without waiting for the answers to earlier ones. */
export function openPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ connectionTimeoutMillis: 5000, pipeline: true, ...LIFETIME, ...PROBED, ...options })
  // Without a listener an idle connection that breaks (Postgres restarted) would end the process.
  pool.on('error', () => undefined)
  return pool
}

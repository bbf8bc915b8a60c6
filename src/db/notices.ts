import pg from 'pg'
import type { Queryable } from './db.ts'

/**
 * Postgres tells other processes that there is something to do. Nothing depends on it: a pooler that shares connections
 * between transactions keeps notices back, and then everybody looks a few seconds later.
 */

/** Time in which several reasons to tell become one notice: each is a commit that no other one may overtake. */
const TOGETHER_MS = 50
const RECONNECT_MS = 5000

/** Tells soon after it is called, in a transaction of its own: the caller's has been committed by then. */
export function createNotifier(db: Queryable, channel: string): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      db.query('select pg_notify($1, $2)', [channel, '']).catch(() => undefined)
    }, TOGETHER_MS)
    timer.unref()
  }
}

/** Calls `heard` for each notice, and when the connection was made anew: some may have been missed. */
export function listen(url: string, channel: string, heard: () => void): { close(): Promise<void> } {
  let closed = false
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined

  function connect(): void {
    const fresh = new pg.Client({ connectionString: url })
    client = fresh
    const again = (): void => {
      if (client !== fresh || closed) return
      client = null
      fresh.end().catch(() => undefined)
      timer = setTimeout(connect, RECONNECT_MS)
      timer.unref()
    }
    fresh.on('notification', heard)
    fresh.on('error', again)
    fresh.on('end', again)
    fresh
      .connect()
      .then(() => fresh.query(`listen ${fresh.escapeIdentifier(channel)}`))
      .then(heard, again)
  }

  connect()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.end().catch(() => undefined)
    },
  }
}

import pg from 'pg'
import type { Queryable } from './db.ts'

/**
 * Notices of Postgres to other processes about new work. They are not required: a pooler that shares connections
 * between transactions delays them, and then each process polls a few seconds later.
 */

/** Milliseconds in which calls are joined into one notice: Postgres runs commits with notices one after the other. */
const TOGETHER_MS = 50
const RECONNECT_MS = 5000

export const PAYOUTS_CHANNEL = 'pinrail_payouts'
/** A notice has the ids of the changed payments. */
export const PAYMENTS_CHANNEL = 'pinrail_payments'
export const PARTNERS_CHANNEL = 'pinrail_partners'

/** Postgres refuses a notice of 8,000 bytes. An id has 30 bytes and a space. */
const IDS_OF_NOTICE = 250

/** Sends in a separate transaction: the caller's must have been committed by then. Each id is sent once. */
export function createNotifier(db: Queryable, channel: string, togetherMs = TOGETHER_MS): (id?: string) => void {
  let timer: NodeJS.Timeout | undefined
  const waitingIds = new Set<string>()
  return (id) => {
    if (id !== undefined) waitingIds.add(id)
    timer ??= setTimeout(() => {
      timer = undefined
      const ids = [...waitingIds]
      waitingIds.clear()
      const notices: string[] = []
      for (let from = 0; from < Math.max(ids.length, 1); from += IDS_OF_NOTICE)
        notices.push(ids.slice(from, from + IDS_OF_NOTICE).join(' '))
      db.query('select pg_notify($1, notice) from unnest($2::text[]) as notice', [channel, notices]).catch(
        () => undefined,
      )
    }, togetherMs)
    timer.unref()
  }
}

/** Receives the words of each notice, and null after a new connection: notices might have been missed. */
export type Listener = (words: readonly string[] | null) => void

export function listen(url: string, listeners: Readonly<Record<string, Listener>>): { close(): Promise<void> } {
  const channels = Object.keys(listeners)
  let closed = false
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined

  function connect(): void {
    const fresh = new pg.Client({ connectionString: url })
    client = fresh
    const reconnect = (): void => {
      if (client !== fresh || closed) return
      client = null
      fresh.end().catch(() => undefined)
      timer = setTimeout(connect, RECONNECT_MS)
      timer.unref()
    }
    fresh.on('notification', ({ channel, payload = '' }) => listeners[channel]?.(payload.split(' ')))
    fresh.on('error', reconnect)
    fresh.on('end', reconnect)
    fresh
      .connect()
      .then(() => fresh.query(channels.map((channel) => `listen ${fresh.escapeIdentifier(channel)}`).join('; ')))
      .then(() => channels.forEach((channel) => listeners[channel]?.(null)), reconnect)
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

import pg from 'pg'
import type { Queryable } from './db.ts'

/**
 * Postgres tells other processes that there is something to do. Nothing depends on it: a pooler that shares connections
 * between transactions keeps notices back, and then everybody looks a few seconds later.
 */

/** Time in which several reasons to tell become one notice: each is a commit that no other one may overtake. */
const TOGETHER_MS = 50
const RECONNECT_MS = 5000

/** Something of a payout has changed. */
export const PAYOUTS_CHANNEL = 'pinrail_payouts'
/** Payments have changed: their ids. */
export const PAYMENTS_CHANNEL = 'pinrail_payments'
/** A partner is down, or works again. */
export const PARTNERS_CHANNEL = 'pinrail_partners'

/** Postgres refuses a notice of 8,000 bytes. An id of ours has 30 and a space. */
const IDS_OF_NOTICE = 250

/**
 * Tells soon after it is called, in a transaction of its own: the caller's must have been committed by then. The ids that
 * were given meanwhile, each once, are what the notice says.
 */
export function createNotifier(db: Queryable, channel: string, togetherMs = TOGETHER_MS): (id?: string) => void {
  let timer: NodeJS.Timeout | undefined
  const told = new Set<string>()
  return (id) => {
    if (id !== undefined) told.add(id)
    timer ??= setTimeout(() => {
      timer = undefined
      const ids = [...told]
      told.clear()
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

/** Receives the words of each notice, and null when the connection is new: notices may have been missed. */
export type Listener = (words: readonly string[] | null) => void

/** Listens to channels by one connection. */
export function listen(url: string, listeners: Readonly<Record<string, Listener>>): { close(): Promise<void> } {
  const channels = Object.keys(listeners)
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
    fresh.on('notification', ({ channel, payload = '' }) => listeners[channel]?.(payload.split(' ')))
    fresh.on('error', again)
    fresh.on('end', again)
    fresh
      .connect()
      .then(() => fresh.query(channels.map((channel) => `listen ${fresh.escapeIdentifier(channel)}`).join('; ')))
      .then(() => channels.forEach((channel) => listeners[channel]?.(null)), again)
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

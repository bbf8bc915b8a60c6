import pg from 'pg'
import type { z } from 'zod'
import type { ShopApi } from '../domain/webhook.ts'
import { type LimitOptions, settings, toLimits } from './connection/limits.ts'
import { isSilent, openPool, SILENT_MS } from './connection/pool.ts'
import { type Asking, askAlone, askOnce, createPrepared, keepsStalePlan } from './connection/prepared.ts'
import { createReplica, doubting, type EitherDatabase } from './connection/replica.ts'
import { type Connection, directConnection } from './connection/session.ts'

/**
 * SQL with separate values. Only this file makes one. The private field is the brand: no object from outside has it,
 * whatever its keys or its prototype are, and a copy loses it.
 */
class Statement {
  readonly #text: string
  readonly #values: readonly unknown[]

  constructor(text: string, values: readonly unknown[]) {
    this.#text = text
    this.#values = values
  }

  static open(part: unknown): { readonly text: string; readonly values: readonly unknown[] } | null {
    return typeof part === 'object' && part !== null && #text in part
      ? { text: part.#text, values: part.#values }
      : null
  }
}

export type { Statement }

export type Queryable = {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  /**
   * The mode of the deployment. A statement that reads a payment, key, event or payout by anything but its tenant must
   * have the mode in its condition, because rows of the other mode must not be seen.
   */
  readonly livemode: boolean
}

/** The client of a running transaction: functions that need a transaction require it. */
export type Tx = Queryable & {
  readonly inTransaction: true
  /** Runs `work` after the commit of the transaction, never after a rollback. It must not throw. */
  readonly afterCommit: (work: () => void) => void
}

export type Session = Queryable & {
  /** Runs `work` in one transaction: commits when it resolves, rolls back when it throws. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}

/** The merchant and mode whose rows a request can see: every function that serves a merchant takes one. */
export type Tenant = {
  readonly merchantId: string
  readonly livemode: boolean
  /** A request by this API of shops creates and finds only its own payments; absent: a request that finds all. */
  readonly shopApi?: ShopApi
}

export type Db = Session & {
  /**
   * Returns the database as this merchant sees it in this mode: row-level security hides all other rows, even from a
   * statement without the condition. Throws for a tenant of the other mode, which a request cannot have: that is a bug.
   */
  readonly as: (tenant: Tenant) => Session
  /**
   * Like `as`, to read lists: it cannot write, and a statement that takes longer than two seconds throws TooSlow. It
   * uses the replica if one is configured, so recent writes might be missing. A transaction reads one moment of one
   * database; if it throws on a replica that only lacks a row, it runs again on the main database.
   */
  readonly lists: (tenant: Tenant) => Session
  /** Uses a dedicated connection: if all others are in use the database is busy, not down. */
  readonly answers: () => Promise<void>
  /** Connections of this process: all, the idle ones, and the number of requests that wait for one. */
  readonly poolUse: () => { readonly total: number; readonly idle: number; readonly waiting: number }
  close(): Promise<void>
}

export type DbOptions = LimitOptions & {
  url: string
  readUrl?: string | undefined
  livemode: boolean
  pool?: number
  /**
   * True if a pooler shares connections between transactions. It accepts no session settings, so each transaction sets
   * its limits, and the database user must have every other setting (`assertSession`).
   */
  pooled?: boolean
  /** Milliseconds. The replica rests by this clock after a failure. */
  clock?: () => number
}

/** As in `sql\`select … where id = ${id}\``: nested statements are spliced in, anything else becomes a parameter. */
export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Statement {
  const values: unknown[] = []
  let text = strings[0] ?? ''
  for (const [index, part] of parts.entries()) {
    const nested = Statement.open(part)
    if (nested === null) {
      values.push(part)
      text += `$${values.length}`
    } else {
      const isPlaced = values.length === 0 || nested.values.length === 0
      text += isPlaced
        ? nested.text
        : nested.text.replace(/\$(\d+)/g, (_, place: string) => `$${+place + values.length}`)
      values.push(...nested.values)
    }
    text += strings[index + 1] ?? ''
  }
  return new Statement(text, values)
}

/** Makes an identifier from a table or column name. The name must come from this code, never from a request. */
export function identifier(name: string): Statement {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new RangeError(`an identifier must be lower-case letters, digits and _, at most 63: ${JSON.stringify(name)}`)
  // In quotes, so that a keyword is a name too.
  return new Statement(`"${name}"`, [])
}

function run(db: Queryable, statement: Statement): Promise<pg.QueryResult> {
  const opened = Statement.open(statement)
  if (opened === null) throw new TypeError('a statement must be made by the tag sql')
  return db.query(opened.text, [...opened.values])
}

/** Returns all rows, each parsed by `row`. Throws if a row has another shape. */
export async function many<T extends z.ZodType>(db: Queryable, row: T, statement: Statement): Promise<z.infer<T>[]> {
  const result = await run(db, statement)
  return result.rows.map((value) => row.parse(value))
}

/** Returns the only row, or null. Throws if there are more: that is a bug. */
export async function maybeOne<T extends z.ZodType>(
  db: Queryable,
  row: T,
  statement: Statement,
): Promise<z.infer<T> | null> {
  const rows = await many(db, row, statement)
  if (rows.length > 1) throw new Error(`expected at most one row, got ${rows.length}`)
  return rows[0] ?? null
}

/** Returns the only row. Throws if there is none or more than one: that is a bug. */
export async function one<T extends z.ZodType>(db: Queryable, row: T, statement: Statement): Promise<z.infer<T>> {
  const found = await maybeOne(db, row, statement)
  if (found === null) throw new Error('expected one row, got none')
  return found
}

/** Thrown if a list was not read in time. The caller must ask for less. */
export class TooSlow extends Error {}

/** Milliseconds. Lists are read along indexes in a few; a longer query uses no index. */
const LIST_TIMEOUT_MS = 2000

/** Returns the number of changed rows. */
export async function execute(db: Queryable, statement: Statement): Promise<number> {
  const result = await run(db, statement)
  return result.rowCount ?? 0
}

export function createDb(options: DbOptions): Db {
  const { livemode, pooled = false } = options
  const limits = toLimits(options)
  const connect = (url: string): Connection => (pooled ? { connectionString: url } : directConnection(url, limits))
  const main = connect(options.url)
  const max = options.pool ?? 10
  const pool = openPool({ ...main, max, query_timeout: limits.statement_timeout + SILENT_MS })
  // Lists have less time, even on the main database.
  const quick = { max, query_timeout: LIST_TIMEOUT_MS + SILENT_MS }
  const readPool = options.readUrl === undefined ? null : openPool({ ...connect(options.readUrl), ...quick })
  const ownPool = openPool({ ...main, max: 1, query_timeout: SILENT_MS })
  const either = createReplica(TooSlow, options.clock)
  const begin = `begin${pooled ? settings(limits) : ''}`
  // Behind a pooler the next transaction has another connection, which has no prepared statements.
  const asking = pooled ? askOnce : createPrepared()
  const asTenant = (tenant: Tenant): string => {
    if (tenant.livemode !== livemode) throw new RangeError(`${tenant.merchantId} was asked for in the other mode`)
    const [merchantId, mode] = [tenant.merchantId, String(tenant.livemode)].map((value) => pg.escapeLiteral(value))
    // A single statement, because every request begins with it. `true`: for this transaction.
    return `; select set_config('role', 'pinrail_tenant', true), set_config('pinrail.merchant_id', ${merchantId}, true),
      set_config('pinrail.livemode', ${mode}, true)`
  }
  return {
    livemode,
    query: (text, values) => askAlone(asking, (by) => pool.query(by(text, values))),
    transaction: (work) => transaction(pool, { begin, livemode, asking }, work),
    as: (tenant) => openSession(pool, { begin: `${begin}${asTenant(tenant)}`, livemode, asking }),
    lists: (tenant) => {
      const reading = `begin isolation level repeatable read, read only${settings({ ...limits, statement_timeout: LIST_TIMEOUT_MS })}`
      // Filters make many texts, and the best plan depends on the values.
      const list = {
        begin: `${reading}; set local plan_cache_mode = auto${asTenant(tenant)}`,
        livemode,
        asking: askOnce,
        slow: TooSlow,
      }
      const onMain = openSession(pool, list)
      return readPool === null ? onMain : openEither(openSession(readPool, list), onMain, either)
    },
    answers: async () => void (await ownPool.query('select 1')),
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await Promise.all([pool.end(), readPool?.end(), ownPool.end()])
    },
  }
}

/** `begin` opens a transaction; `slow` is thrown instead of the error of a canceled statement. */
type Beginning = {
  readonly begin: string
  readonly livemode: boolean
  readonly asking: Asking
  readonly slow?: new () => Error
}

/** Role and tenant are set for one transaction, so they leave nothing on the connection, whatever the pooler. */
function openSession(pool: pg.Pool, beginning: Beginning): Session {
  return {
    livemode: beginning.livemode,
    query: (text, values) =>
      askAlone(beginning.asking, (asking) => transactionOfOne(pool, beginning, asking(text, values))),
    transaction: (work) => transaction(pool, beginning, work),
  }
}

/** Its work can run twice, because it only reads. */
const openEither = (replica: Session, main: Session, either: EitherDatabase): Session => ({
  livemode: main.livemode,
  query: (text, values) =>
    either(
      () => replica.query(text, values),
      () => main.query(text, values),
    ),
  transaction: (work) =>
    either(
      () => replica.transaction((tx) => doubting(tx, work)),
      () => main.transaction(work),
    ),
})

export const sessionIn = (tx: Tx): Session => ({ ...tx, transaction: (work) => work(tx) })

/** True if a lock was not available in time (55P03, lock_not_available): the transaction has changed nothing. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03'

/** True if the statement was undone because something that it relies on has changed (40001, serialization_failure). */
export const isSerializationFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '40001'

/** Postgres' code for a canceled statement. */
const CANCELED = '57014'

/** Sends the first statement of `work` together with `begin`; if that fails, Postgres refuses all that follow. */
function transaction<T>(
  pool: pg.Pool,
  { begin, livemode, asking, slow }: Beginning,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return onClient(pool, slow, async (client) => {
    const after: (() => void)[] = []
    const begun = client.query(begin)
    begun.catch(() => undefined)
    const result = await work({
      query: (text, values) => client.query(asking(text, values)),
      livemode,
      inTransaction: true,
      afterCommit: (next) => void after.push(next),
    }).catch(async (error: unknown) => {
      // If `begin` failed, its error is the reason for the refused statements.
      await begun
      throw error
    })
    await begun
    await client.query('commit')
    for (const next of after) next()
    return result
  })
}

/** One round trip. Resolves after the commit. `commit` rolls back a failed statement. */
function transactionOfOne(
  pool: pg.Pool,
  { begin, slow }: Beginning,
  statement: pg.QueryConfig,
): Promise<pg.QueryResult> {
  return onClient(pool, slow, async (client) => {
    const { stream } = client.connection
    stream.cork()
    const sent = [client.query(begin), client.query(statement), client.query('commit')] as const
    stream.uncork()
    await Promise.allSettled(sent)
    const [, result] = await Promise.all(sent)
    return result
  })
}

/** After an error it rolls back, and closes a connection that cannot be used again. */
async function onClient<T>(
  pool: pg.Pool,
  slow: Beginning['slow'],
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  // A connection that breaks between two statements emits only this event, which ends the process if there is no
  // listener. The next statement, at the latest the commit, fails only with the message that there is no connection.
  let lost: Error | undefined
  const lose = (error: Error): void => {
    lost ??= error
  }
  client.on('error', lose)
  let broken: Error | boolean = false
  try {
    return await work(client)
  } catch (error) {
    broken = isSilent(error)
      ? error
      : await client.query('rollback').then(
          () => keepsStalePlan(error),
          (failure: Error) => failure,
        )
    if (slow !== undefined && error instanceof Error && 'code' in error && error.code === CANCELED) throw new slow()
    throw lost ?? error
  } finally {
    client.off('error', lose)
    client.release(broken)
  }
}

import { z } from 'zod'
import { type Db, execute, many, sql, type Tx } from '../db.ts'
import type { Difference, Question } from './invariant.ts'
import { QUESTIONS } from './invariants.ts'

export type Scope =
  /** Those that changed since the time (ISO 8601), those that are still open, and those that differed before. */
  { readonly since: string } | { readonly payment: string } | 'all'

export type Reconciliation = {
  readonly payments: number
  /** True if more payments have changed than one run compares: then it compared the newest. */
  readonly isCut: boolean
  readonly differences: readonly Difference[]
  /** Invariants whose query failed, for example because it took too long, and why. */
  readonly unread: readonly { readonly invariant: string; readonly why: string }[]
}

/** Payments that one statement compares, which takes about 20 milliseconds. */
const PAGE = 1000
export const MOST_PAYMENTS = 100_000
/** Milliseconds: a statement that takes longer is a bug, and must not delay payments. */
const STATEMENT_TIMEOUT_MS = 10_000

/** Compares the rows. It writes nothing, and its statements block no others. */
export async function reconcile(db: Db, scope: Scope): Promise<Reconciliation> {
  const differences: Difference[] = []
  const unread = new Map<string, string>()
  const ask = async (questions: readonly Question[], payments: readonly string[]): Promise<void> => {
    for (const { about, ask } of questions.filter(({ about }) => !about.some((name) => unread.has(name))))
      try {
        differences.push(...(await readOnly(db, (tx) => ask(tx, payments))))
      } catch (error) {
        for (const name of about) unread.set(name, error instanceof Error ? error.message : String(error))
      }
  }
  const ofPayments = QUESTIONS.filter(({ isOfPayments }) => isOfPayments)
  let payments = 0
  for await (const page of listPages(db, scope)) {
    payments += page.length
    await ask(ofPayments, page)
  }
  const ofTheWhole = QUESTIONS.filter(({ isOfPayments }) => !isOfPayments)
  await ask(ofTheWhole, [])
  return {
    payments,
    isCut: scope !== 'all' && payments >= MOST_PAYMENTS,
    differences,
    unread: [...unread].map(([invariant, why]) => ({ invariant, why })),
  }
}

/**
 * Runs the work at one moment of the database, for an invariant with several queries. Statements are planned for their
 * values: how much of a table has changed since a time decides how it is read.
 */
function readOnly<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await execute(tx, sql`set transaction isolation level repeatable read, read only`)
    await execute(
      tx,
      sql`select set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true),
            set_config('plan_cache_mode', 'force_custom_plan', true)`,
    )
    return work(tx)
  })
}

async function* listPages(db: Db, scope: Scope): AsyncGenerator<readonly string[]> {
  if (scope === 'all') yield* listAll(db)
  else {
    const ids = 'payment' in scope ? await listOne(db, scope.payment) : await listChanged(db, scope.since)
    for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE)
  }
}

const idRow = z.object({ id: z.string() })

async function listOne(db: Db, payment: string): Promise<string[]> {
  const rows = await many(db, idRow, sql`select id from payment where id = ${payment} and livemode = ${db.livemode}`)
  return rows.map(({ id }) => id)
}

async function* listAll(db: Db): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const rows = await many(
      db,
      idRow,
      sql`select id from payment where id > ${after} and livemode = ${db.livemode} order by id limit ${PAGE}`,
    )
    if (rows.length > 0) yield rows.map(({ id }) => id)
    after = rows.at(-1)?.id ?? after
    if (rows.length < PAGE) return
  }
}

/** Every change of money is in timeline or ledger. Payments that differed stay violations until they agree. */
async function listChanged(db: Db, since: string): Promise<string[]> {
  const rows = await readOnly(db, (tx) =>
    many(
      tx,
      idRow,
      sql`with
          candidate as (
            select subject as id, 3 as rank from violation
            union all (select id, 2 from payment where closed_at is null order by id limit ${MOST_PAYMENTS})
            union all select payment_id, 1 from timeline_entry where at >= ${since}::timestamptz
            union all select payment_id, 1 from ledger_transaction where booked_at >= ${since}::timestamptz)
        select payment.id from (select id, max(rank) as rank from candidate group by id) found
          join payment on payment.id = found.id
        where payment.livemode = ${tx.livemode} order by found.rank desc, payment.created_at desc limit ${MOST_PAYMENTS}`,
    ),
  )
  return rows.map(({ id }) => id)
}

import { z } from 'zod'
import { type Db, execute, many, maybeOne, one, type Queryable, sql } from '../db.ts'
import { time } from '../payments/payment-rows.ts'
import { INVARIANTS } from './invariants.ts'
import type { Reconciliation } from './reconcile.ts'

/** The differences of the workers' last comparison, for metrics and operators. */

const runRow = z.object({ done_at: time })

/** Takes the run that is due now, for one worker. Returns when all invariants were last compared; null: none is due. */
export async function takeRun(db: Queryable, everyMs: number): Promise<string | null> {
  const row = await maybeOne(
    db,
    runRow,
    sql`update reconciliation set due_at = now() + ${everyMs} * interval '1 millisecond'
        where due_at <= now() returning done_at`,
  )
  return row?.done_at ?? null
}

/** Replaces the stored differences by new ones. Those of an invariant whose query failed stay. */
export function storeRun(db: Db, { differences, unread }: Reconciliation): Promise<void> {
  return db.transaction(async (tx) => {
    await execute(
      tx,
      sql`with
          found as (select * from jsonb_to_recordset(${JSON.stringify(differences)}::jsonb)
            as f(invariant text, subject text, difference text)),
          gone as (
            delete from violation v where v.invariant <> all(${unread.map(({ invariant }) => invariant)}::text[])
              and not exists (select from found f where (f.invariant, f.subject) = (v.invariant, v.subject)))
        insert into violation (invariant, subject, difference) select invariant, subject, difference from found
        on conflict (invariant, subject) do update set difference = excluded.difference`,
    )
    if (unread.length === 0) await execute(tx, sql`update reconciliation set done_at = now()`)
  })
}

const violationsRow = z.object({ invariant: z.string(), count: z.coerce.number() })

/** It includes invariants that hold. */
export async function countViolations(db: Queryable): Promise<{ invariant: string; count: number }[]> {
  const rows = await many(db, violationsRow, sql`select invariant, count(*) as count from violation group by invariant`)
  const counts = new Map(rows.map(({ invariant, count }) => [invariant, count]))
  return INVARIANTS.map(({ name }) => ({ invariant: name, count: counts.get(name) ?? 0 }))
}

const ageRow = z.object({ age_seconds: z.coerce.number() })

export function readAge(db: Queryable): Promise<{ age_seconds: number }> {
  return one(db, ageRow, sql`select extract(epoch from now() - done_at) as age_seconds from reconciliation`)
}

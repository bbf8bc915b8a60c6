import { z } from 'zod'
import { execute, many, type Queryable, sql } from './db.ts'

/** Counts of all processes together towards limits of requests. Their loss affects only the limits of one window. */

/** `endsAt`: when its window ends, in Unix milliseconds. */
export type Counted = { readonly key: string; readonly endsAt: number; readonly count: number }

const limitRow = z.object({ key: z.string(), count: z.number() })

/** Adds the counts, and returns by key the total of all processes in the window. A key must not occur twice. */
export async function addToLimits(db: Queryable, counts: readonly Counted[]): Promise<ReadonlyMap<string, number>> {
  // In one order, so that two processes do not block each other.
  const sorted = counts.toSorted((left, right) => (left.key < right.key ? -1 : 1))
  const rows = await many(
    db,
    limitRow,
    sql`insert into limit_count as stored (key, ends_at, count)
        select key, to_timestamp(ends_at / 1000.0), count
        from unnest(${sorted.map(({ key }) => key)}::text[], ${sorted.map(({ endsAt }) => endsAt)}::float8[],
          ${sorted.map(({ count }) => count)}::integer[]) as counted (key, ends_at, count)
        on conflict (key, ends_at) do update set count = stored.count + excluded.count
        returning key, count`,
  )
  return new Map(rows.map(({ key, count }) => [key, count]))
}

export function forgetLimits(db: Queryable): Promise<number> {
  return execute(db, sql`delete from limit_count where ends_at < now() - interval '1 minute'`)
}

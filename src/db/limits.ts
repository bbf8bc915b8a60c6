import { z } from 'zod'
import { execute, many, type Queryable, sql } from './db.ts'

/** What processes have counted together towards limits of requests. Losing it costs nothing but a window's limit. */

/** `endsAt`: when its window ends, in Unix milliseconds. */
export type Counted = { readonly key: string; readonly endsAt: number; readonly count: number }

const limitRow = z.object({ key: z.string(), count: z.number() })

/** Adds, and answers by key what was counted in the window by all. Each key must come once. */
export async function addToLimits(db: Queryable, counts: readonly Counted[]): Promise<ReadonlyMap<string, number>> {
  // In one order, so that two processes do not wait for each other.
  const sorted = counts.toSorted((left, right) => (left.key < right.key ? -1 : 1))
  const rows = await many(
    db,
    limitRow,
    sql`insert into limit_count as stored (key, ends_at, count)
        select key, to_timestamp(ends_at / 1000.0), count
        from unnest(${sorted.map(({ key }) => key)}::text[], ${sorted.map(({ endsAt }) => endsAt)}::float8[],
          ${sorted.map(({ count }) => count)}::integer[]) as told (key, ends_at, count)
        on conflict (key, ends_at) do update set count = stored.count + excluded.count
        returning key, count`,
  )
  return new Map(rows.map(({ key, count }) => [key, count]))
}

/** Deletes the counts of windows that are over. */
export function forgetLimits(db: Queryable): Promise<number> {
  return execute(db, sql`delete from limit_count where ends_at < now() - interval '1 minute'`)
}

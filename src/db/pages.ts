import { z } from 'zod'
import { storedText } from '../domain/text.ts'
import { one, type Queryable, type Statement, sql } from './db.ts'

/**
 * How many rows of a list, newest first, and between which cursors: those older than `after`, those newer than `before`.
 */
export type PageOf = { readonly limit: number; readonly after: string | null; readonly before: string | null }

/** With `before` alone the rows next to it are wanted, so they are read in the other direction. */
const isBackwards = (page: PageOf): boolean => page.before !== null && page.after === null

/** What puts the rows of a list in order, the newest having the greatest, and where the item of a cursor is in it. */
type Place = { readonly column: Statement; readonly of: (cursor: string) => Statement }

/** Order and limit of the page. Reads one row more than was asked for, which tells whether there are more. */
export function pageClause(place: Place, page: PageOf): Statement {
  const direction = isBackwards(page) ? sql`asc` : sql`desc`
  return sql`${between(place, page)} order by ${place.column} ${direction} limit ${page.limit + 1}`
}

export function between({ column, of }: Place, { after, before }: PageOf): Statement {
  const older = after === null ? sql`` : sql`and ${column} < ${of(after)}`
  const newer = before === null ? sql`` : sql`and ${column} > ${of(before)}`
  return sql`${older} ${newer}`
}

/** Ids that are in the order of their making are their own place. */
export const byId = (column: Statement): Place => ({ column, of: (cursor) => sql`${cursor}` })

/** Takes the extra row away and puts the newest row first. */
export function cutPage<T>(rows: readonly T[], page: PageOf): { rows: T[]; hasMore: boolean } {
  const kept = rows.slice(0, page.limit)
  return { rows: isBackwards(page) ? kept.reverse() : kept, hasMore: rows.length > page.limit }
}

const countRow = z.object({ count: z.coerce.number() })

/** Whether every cursor is an item of the list, or the empty one, before which nothing stands; `list` is `from … where …`, `id` the column of the cursor. */
export async function hasCursors(
  db: Queryable,
  { after, before }: PageOf,
  { id, list }: { id: Statement; list: Statement },
): Promise<boolean> {
  const cursors = new Set([after, before].filter((cursor) => cursor !== null && cursor !== ''))
  if (cursors.size === 0) return true
  const asked = sql`select count(*) as count ${list} and ${id} = any(${[...cursors]}::text[])`
  return (await one(db, countRow, asked)).count === cursors.size
}

/** The pattern of `like` for text that has these words in it. */
export const containing = (words: string): string => `%${storedText(words).replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`

import { z } from 'zod'
import { storedText } from '../domain/text.ts'
import { one, type Queryable, type Statement, sql } from './db.ts'

/** The rows older than `after` and newer than `before`, at most `limit`, newest first. */
export type ListPage = { readonly limit: number; readonly after: string | null; readonly before: string | null }

/** With `before` alone the page has the rows next to it, so they are read in the other direction. */
const isBackwards = (page: ListPage): boolean => page.before !== null && page.after === null

/** The value that orders a list, greatest for the newest row, and the value of a cursor's row. */
type Place = { readonly column: Statement; readonly of: (cursor: string) => Statement }

/** Returns order and limit of the page. It reads one extra row, which shows whether there are more. */
export function pageClause(place: Place, page: ListPage): Statement {
  const direction = isBackwards(page) ? sql`asc` : sql`desc`
  return sql`${between(place, page)} order by ${place.column} ${direction} limit ${page.limit + 1}`
}

export function between({ column, of }: Place, { after, before }: ListPage): Statement {
  const older = after === null ? sql`` : sql`and ${column} < ${of(after)}`
  const newer = before === null ? sql`` : sql`and ${column} > ${of(before)}`
  return sql`${older} ${newer}`
}

/** The place of a row whose ids are in the order of creation is its id. */
export const byId = (column: Statement): Place => ({ column, of: (cursor) => sql`${cursor}` })

/** Removes the extra row and puts the newest row first. */
export function cutPage<T>(rows: readonly T[], page: ListPage): { rows: T[]; hasMore: boolean } {
  const wanted = rows.slice(0, page.limit)
  return { rows: isBackwards(page) ? wanted.reverse() : wanted, hasMore: rows.length > page.limit }
}

const countRow = z.object({ count: z.coerce.number() })

/** The empty cursor precedes all items. `list` is `from … where …`, `id` the column of the cursor. */
export async function hasCursors(
  db: Queryable,
  { after, before }: ListPage,
  { id, list }: { id: Statement; list: Statement },
): Promise<boolean> {
  const cursors = new Set([after, before].filter((cursor) => cursor !== null && cursor !== ''))
  if (cursors.size === 0) return true
  const asked = sql`select count(*) as count ${list} and ${id} = any(${[...cursors]}::text[])`
  return (await one(db, countRow, asked)).count === cursors.size
}

export const containing = (words: string): string => `%${storedText(words).replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`

import { type Statement, sql } from './db.ts'

/** How many rows of a list, newest first, and after or before which cursor. */
export type PageOf = { readonly limit: number; readonly after: string | null; readonly before: string | null }

/** Order and limit of the page. Reads one row more than was asked for, which tells whether there are more. */
export function pageClause(column: Statement, page: PageOf): Statement {
  if (page.before !== null) return sql`and ${column} > ${page.before} order by ${column} asc limit ${page.limit + 1}`
  const after = page.after === null ? sql`` : sql`and ${column} < ${page.after}`
  return sql`${after} order by ${column} desc limit ${page.limit + 1}`
}

/** Takes the extra row away and puts the newest row first. */
export function cutPage<T>(rows: readonly T[], page: PageOf): { rows: T[]; hasMore: boolean } {
  const kept = rows.slice(0, page.limit)
  return { rows: page.before === null ? kept : kept.reverse(), hasMore: rows.length > page.limit }
}

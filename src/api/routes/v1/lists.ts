import { z } from 'zod'

/** Lists are newest first, a page at a time. A cursor is the id of an item, so new items do not shift the pages. */

/** Query parameters are text, so the number is checked as text. */
const limit = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .default(20)
  .meta({ description: 'How many, 1 to 100.', override: { type: 'string' } })

/** An id of any kind. Anything else is refused before the database is asked. */
export const anyId = z.string().regex(/^\w{1,100}$/, 'must be an id: 1 to 100 letters, digits or underscores')

const cursor = anyId.optional()

export const pageQuery = {
  limit,
  starting_after: cursor.meta({ description: 'Items after the one with this id.' }),
  ending_before: cursor.meta({ description: 'Items before the one with this id.' }),
}

type Cursors = { starting_after?: string | undefined; ending_before?: string | undefined }

export const hasOneCursor = (query: Cursors): boolean =>
  query.starting_after === undefined || query.ending_before === undefined

export const ONE_CURSOR = {
  path: ['ending_before'],
  message: 'must not stand beside starting_after: send one of the two',
}

export type Page = {
  readonly limit: number
  readonly after: string | null
  readonly before: string | null
}

export function pageOf(query: Cursors & { limit: number }): Page {
  return { limit: query.limit, after: query.starting_after ?? null, before: query.ending_before ?? null }
}

export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })
}

export function listAnswer<T>(data: readonly T[], hasMore: boolean) {
  return { status: 200, body: { object: 'list', data, has_more: hasMore } }
}

/** Milliseconds since 1970. */
const YEAR_10000 = Date.UTC(10_000, 0)

/** A time: ISO 8601, or whole seconds since 1970. Parsed to ISO 8601 in UTC. */
export const since = z
  .string()
  .refine((text) => /^\d{1,11}$/.test(text) || z.iso.datetime({ offset: true }).safeParse(text).success, {
    abort: true,
    message: 'must be a time such as 2026-11-21T10:00:00Z, or whole seconds since 1970',
  })
  .transform((text) => (/^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)))
  // An offset of more than a day is no time, and Postgres has no year 0.
  .refine((time) => time >= 0 && time < YEAR_10000, { abort: true, message: 'must be a time from 1970 to 9999' })
  .transform((time) => new Date(time).toISOString())

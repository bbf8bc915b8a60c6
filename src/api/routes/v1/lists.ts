import { z } from 'zod'
import { TIMELINE_ID } from '../../../db/payments/timeline.ts'
import { typeId } from '../../../domain/ids.ts'
import { Problem } from '../../http/problems.ts'
import { extendJsonSchema, MOMENT, SEARCHED } from './patterns.ts'

/** A cursor is the id of an item, so new items do not shift the pages. */

/** Query parameters are text. The OpenAPI document describes the number. */
export const wholeNumber = ({ pattern, must, ...bounds }: WholeNumber) =>
  z
    .string()
    .regex(pattern, must)
    .transform(Number)
    .meta(extendJsonSchema({ type: 'integer', pattern: undefined, ...bounds }))

type WholeNumber = {
  readonly pattern: RegExp
  readonly must: string
  readonly minimum: number
  readonly maximum: number
}

const limit = (otherwise: number) =>
  wholeNumber({
    pattern: /^(?:[1-9]\d?|100)$/,
    must: 'must be a whole number from 1 to 100',
    minimum: 1,
    maximum: 100,
  })
    .default(otherwise)
    .meta({ description: 'The number of items, 1 to 100.' })

/** Any other cursor is refused without a query. */
const CURSORS = {
  payment: typeId('payment'),
  refund: typeId('refund'),
  dispute: typeId('dispute'),
  link: typeId('link'),
  event: typeId('event'),
  key: /^key_[0-9A-Za-z]{12}$/,
  entry: TIMELINE_ID,
  audit: typeId('auditEntry'),
  request: typeId('request'),
} as const
type Listed = keyof typeof CURSORS

export function cursorSchema(kind: Listed) {
  const words = {
    payment: 'a payment',
    refund: 'a refund',
    dispute: 'a dispute',
    link: 'a payment link',
    event: 'an event',
    key: 'a key',
    entry: 'an entry',
    audit: 'an entry',
    request: 'a request',
  }
  return z.string().regex(CURSORS[kind], `must be the id of ${words[kind]}`)
}

export function pageQuery(kind: Listed, otherwise = 20) {
  const cursor = cursorSchema(kind).optional()
  return {
    limit: limit(otherwise),
    starting_after: cursor.meta({ description: 'Items after the one with this id.' }),
    ending_before: cursor.meta({ description: 'Items before the one with this id.' }),
  }
}

type Cursors = { starting_after?: string | undefined; ending_before?: string | undefined }

export type Page = {
  readonly limit: number
  readonly after: string | null
  readonly before: string | null
}

export function readPage(query: Cursors & { limit: number }): Page {
  return { limit: query.limit, after: query.starting_after ?? null, before: query.ending_before ?? null }
}

export function noCursor(page: Page): Problem {
  const param = page.after === null ? 'ending_before' : 'starting_after'
  return new Problem('resource_missing', `${param}: the list has no item with this id.`, { param })
}

export function listSchema<T extends z.ZodType>(item: T) {
  return z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })
}

export function listAnswer<T>(data: T[], hasMore: boolean) {
  return { status: 200, body: { object: 'list' as const, data, has_more: hasMore } }
}

export const searched = z
  .string()
  .min(1)
  .max(200)
  .regex(SEARCHED, 'must not contain control characters')
  .refine((text) => text.isWellFormed(), 'must not contain broken Unicode')

/** Milliseconds since 1970. */
const YEAR_10000 = Date.UTC(10_000, 0)

/** ISO 8601, or whole seconds since 1970. Parsed to ISO 8601 in UTC. */
export const since = z
  .string()
  .regex(MOMENT, 'must be a time such as 2026-11-21T10:00:00Z, or whole seconds since 1970')
  .transform((text) => (/^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)))
  // An offset can lead out of the range of Postgres at both ends. No stored time is that old or that new.
  .transform((time) => new Date(Math.min(Math.max(time, 0), YEAR_10000 - 1)).toISOString())

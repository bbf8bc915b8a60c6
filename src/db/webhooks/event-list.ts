import { z } from 'zod'
import { storedReference } from '../../domain/text.ts'
import { many, maybeOne, one, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

const listRow = z.object({
  id: z.string(),
  sequence: z.coerce.number().nullable(),
  type: z.string(),
  payment_id: z.string().nullable(),
  about: z.string().nullable(),
  created_at: time,
  endpoints: z.coerce.number(),
  delivered: z.coerce.number(),
  given_up: z.coerce.number(),
  retrying: z.coerce.number(),
})
export type ListedEvent = z.output<typeof listRow>

export type EventSearch = {
  readonly id?: string | undefined
  readonly payment?: string | undefined
  readonly types?: readonly string[] | undefined
  readonly reference?: string | undefined
  /** Only events that an endpoint has not received, or not yet. */
  readonly undelivered?: boolean
}

const owned = (tenant: Tenant, table: Statement): Statement =>
  sql`${table}.merchant_id = ${tenant.merchantId} and ${table}.livemode = ${tenant.livemode}`

/** Selects events that wait for an endpoint, or failed. It begins at the endpoints, so that an index finds them. */
const waiting = (tenant: Tenant): Statement => sql`select event_id from delivery
  where endpoint_id in (select id from webhook_endpoint where ${owned(tenant, sql`webhook_endpoint`)})
    and status in ('pending', 'exhausted', 'disabled')`

const listed = sql`select event.id, event.sequence, event.type, event.payment_id, event.created_at,
    coalesce(payment.reference, payment.description) as about, sent.*
  from event left join payment on payment.id = event.payment_id
  cross join lateral (
    select count(*) as endpoints, count(*) filter (where status = 'delivered') as delivered,
      count(*) filter (where status in ('exhausted', 'disabled')) as given_up,
      count(*) filter (where status = 'pending' and attempts > 0) as retrying
    from delivery where event_id = event.id) as sent`

/** Newest first. Null if a cursor is no event of the merchant. */
export async function listEventRows(
  db: Queryable,
  tenant: Tenant,
  { search, page }: { search: EventSearch; page: ListPage },
): Promise<{ rows: ListedEvent[]; hasMore: boolean } | null> {
  const own = sql`${owned(tenant, sql`event`)} and event.sequence is not null`
  const { id, payment, types, reference, undelivered = false } = search
  if (!(await hasCursors(db, page, { id: sql`event.id`, list: sql`from event where ${own}` }))) return null
  const place = { column: sql`event.sequence`, of: (at: string) => sql`(select sequence from event where id = ${at})` }
  const of = (wanted: string): Statement =>
    sql`and payment_id in (select id from payment where ${owned(tenant, sql`payment`)} and reference = ${storedReference(wanted)})`
  const found = await many(
    db,
    listRow,
    sql`${listed} where ${own}
        ${id === undefined ? sql`` : sql`and event.id = ${id}`}
        ${payment === undefined ? sql`` : sql`and event.payment_id = ${payment}`}
        ${types === undefined ? sql`` : sql`and event.type = any(${types}::text[])`}
        ${reference === undefined ? sql`` : of(reference)}
        ${undelivered ? sql`and event.id in (${waiting(tenant)})` : sql``}
        ${pageClause(place, page)}`,
  )
  return cutPage(found, page)
}

const eventCountRow = z.object({ events: z.coerce.number() })

/** Up to `most`. */
export async function countUndelivered(db: Queryable, tenant: Tenant, most: number): Promise<number> {
  const row = await one(
    db,
    eventCountRow,
    sql`select count(*) as events from (select distinct event_id from (${waiting(tenant)}) as open limit ${most}) as counted`,
  )
  return row.events
}

const sentRow = z.object({
  endpoint_id: z.string(),
  url: z.string(),
  endpoint_disabled: z.boolean(),
  status: z.enum(['pending', 'delivered', 'exhausted', 'disabled']),
  attempts: z.number(),
  last_attempt_at: time.nullable(),
})
export type SentEvent = z.output<typeof sentRow>

export async function readEventRow(
  db: Queryable,
  tenant: Tenant,
  id: string,
): Promise<{ event: ListedEvent; sent: SentEvent[] } | null> {
  const event = await maybeOne(db, listRow, sql`${listed} where ${owned(tenant, sql`event`)} and event.id = ${id}`)
  if (event === null) return null
  const sent = await many(
    db,
    sentRow,
    sql`select endpoint_id, url, disabled_at is not null as endpoint_disabled, status, attempts, last_attempt_at
        from delivery join webhook_endpoint on webhook_endpoint.id = endpoint_id
        where event_id = ${id} and ${owned(tenant, sql`delivery`)} order by endpoint_id`,
  )
  return { event, sent }
}

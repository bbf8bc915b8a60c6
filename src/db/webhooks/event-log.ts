import { z } from 'zod'
import { isId } from '../../domain/ids.ts'
import { newId } from '../../ids.ts'
import { execute, many, maybeOne, one, type Queryable, type Statement, sql, type Tenant, type Tx } from '../db.ts'
import { between, byId, cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

const bodyRow = z.object({ body: z.instanceof(Buffer) })

export type EventFilters = { readonly type?: string | undefined; readonly payment?: string | undefined }

/** Newest first, or with `afterSequence` oldest first from there. Null if a cursor is no event of the merchant. */
export async function listEvents(
  db: Queryable,
  tenant: Tenant,
  { filters, page, afterSequence }: { filters: EventFilters; page: ListPage; afterSequence: number | null },
): Promise<{ rows: Buffer[]; hasMore: boolean } | null> {
  const list = sql`from event where ${ownedBy(tenant)} and sequence is not null`
  if (!(await hasCursors(db, page, { id: sql`id`, list }))) return null
  const place = { column: sql`sequence`, of: (id: string) => sql`(select sequence from event where id = ${id})` }
  const found = await many(
    db,
    bodyRow,
    sql`select body ${list}
        ${filters.type === undefined ? sql`` : sql`and type = ${filters.type}`}
        ${filters.payment === undefined ? sql`` : sql`and payment_id = ${filters.payment}`}
        ${
          afterSequence === null
            ? pageClause(place, page)
            : sql`and sequence > ${afterSequence} ${between(place, page)} order by sequence asc limit ${page.limit + 1}`
        }`,
  )
  const { rows, hasMore } = cutPage(
    found,
    afterSequence === null ? page : { limit: page.limit, after: null, before: null },
  )
  return { rows: rows.map(({ body }) => body), hasMore }
}

const lastRow = z.object({ merchantId: z.string(), livemode: z.boolean(), last: z.coerce.number() })

/** The sequence number of the last event of each of these accounts that has any. */
export function readLastSequences(db: Queryable, tenants: readonly Tenant[]): Promise<z.output<typeof lastRow>[]> {
  const asked = sql`select * from unnest(${tenants.map(({ merchantId }) => merchantId)}::text[],
    ${tenants.map(({ livemode }) => livemode)}::boolean[])`
  return many(
    db,
    lastRow,
    sql`select merchant_id as "merchantId", livemode, last from event_sequence where (merchant_id, livemode) in (${asked})`,
  )
}

export async function readEvent(db: Queryable, tenant: Tenant, id: string): Promise<Buffer | null> {
  const row = await maybeOne(db, bodyRow, sql`select body from event where id = ${id} and ${ownedBy(tenant)}`)
  return row?.body ?? null
}

const TEST_TYPE = 'webhook.test'

const eventIdRow = z.object({ event_id: z.string() })

/** It takes no number of the merchant's sequence. Null if one is still pending; a concurrent call waits. */
export async function recordTestEvent(
  tx: Tx,
  tenant: Tenant,
  { endpointId, at, apiVersion }: { endpointId: string; at: string; apiVersion: string },
): Promise<string | null> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`test event ${endpointId}`}, 0))`)
  const open = sql`select event_id from delivery join event on event.id = event_id
    where endpoint_id = ${endpointId} and status = 'pending' and type = ${TEST_TYPE} limit 1`
  if ((await maybeOne(tx, eventIdRow, open)) !== null) return null
  const id = newId('event')
  const body = JSON.stringify({
    id,
    type: TEST_TYPE,
    timestamp: at,
    api_version: apiVersion,
    livemode: tenant.livemode,
    sequence: null,
    data: { object: { object: 'webhook_test', endpoint: endpointId } },
  })
  await one(
    tx,
    eventIdRow,
    sql`with recorded as (
        insert into event (id, merchant_id, livemode, sequence, type, payment_id, body, created_at)
        values (${id}, ${tenant.merchantId}, ${tenant.livemode}, null, ${TEST_TYPE}, null, ${Buffer.from(body)}, ${at}::timestamptz)
        returning id, created_at)
      insert into delivery (event_id, endpoint_id, merchant_id, livemode, created_at)
      select id, ${endpointId}, ${tenant.merchantId}, ${tenant.livemode}, created_at from recorded
      returning event_id`,
  )
  return id
}

const tryRow = z.object({
  number: z.number(),
  at: z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString()),
  duration_ms: z.number(),
  response_status: z.number().nullable(),
  response_headers: z.record(z.string(), z.string()).nullable(),
  response_body: z.string().nullable(),
  error: z.string().nullable(),
})

const deliveryRow = z.object({
  event_id: z.string(),
  endpoint_id: z.string(),
  type: z.string(),
  payment_id: z.string().nullable(),
  reference: z.string().nullable(),
  status: z.enum(['pending', 'delivered', 'exhausted', 'disabled']),
  attempts: z.number(),
  schedule_step: z.number(),
  created_at: time,
  last_attempt_at: time.nullable(),
  delivered_at: time.nullable(),
  log: z.array(tryRow),
})
export type DeliveryEntry = z.output<typeof deliveryRow>

export type DeliveryFilters = { readonly status?: string | undefined; readonly event?: string | undefined }

/** Null: the endpoint has no delivery of this event. */
export async function readDelivery(
  db: Queryable,
  tenant: Tenant,
  { endpointId, eventId }: { readonly endpointId: string; readonly eventId: string },
): Promise<DeliveryEntry | null> {
  if (!isId('event', eventId)) return null
  const page = { limit: 1, after: null, before: null }
  const found = await listDeliveries(db, tenant, { endpointId, filters: { event: eventId }, page })
  return found?.rows[0] ?? null
}

/** The newest tries that a log shows: the schedule has 12, and each redelivery adds some. */
export const TRIES_SHOWN = 20

/** Newest event first; a cursor is an event's id. Null if a cursor is no delivery to the endpoint. */
export async function listDeliveries(
  db: Queryable,
  tenant: Tenant,
  question: { endpointId: string; filters: DeliveryFilters; page: ListPage },
): Promise<{ rows: DeliveryEntry[]; hasMore: boolean } | null> {
  const { endpointId, filters, page } = question
  const list = sql`from delivery join event on event.id = delivery.event_id
    where delivery.endpoint_id = ${endpointId} and delivery.merchant_id = ${tenant.merchantId}
      and delivery.livemode = ${tenant.livemode}`
  const id = sql`delivery.event_id`
  if (!(await hasCursors(db, page, { id, list }))) return null
  const found = await many(
    db,
    deliveryRow,
    sql`select delivery.event_id, delivery.endpoint_id, event.type, event.payment_id,
          (select reference from payment where payment.id = event.payment_id) as reference, delivery.status, delivery.attempts, schedule_step,
          delivery.created_at, last_attempt_at, delivered_at,
          (select coalesce(jsonb_agg(to_jsonb(tried) - 'event_id' - 'endpoint_id' order by number), '[]')
            from (select * from delivery_attempt
              where delivery_attempt.event_id = delivery.event_id and delivery_attempt.endpoint_id = delivery.endpoint_id
              order by number desc limit ${TRIES_SHOWN}) as tried) as log
        ${list}
          ${filters.status === undefined ? sql`` : sql`and delivery.status = ${filters.status}`}
          ${filters.event === undefined ? sql`` : sql`and delivery.event_id = ${filters.event}`}
          ${pageClause(byId(id), page)}`,
  )
  return cutPage(found, page)
}

const revivedRow = z.object({ event_id: z.string(), attempts: z.number() })
export type RevivedDelivery = z.output<typeof revivedRow>

/** Restarts the schedule of a delivery, even of a delivered one; null if there is none. */
export function reviveDelivery(
  db: Queryable,
  tenant: Tenant,
  { endpointId, eventId }: { endpointId: string; eventId: string },
): Promise<RevivedDelivery | null> {
  return maybeOne(
    db,
    revivedRow,
    sql`update delivery set status = 'pending', schedule_step = 0, swept_at = null
        where endpoint_id = ${endpointId} and event_id = ${eventId} and ${ownedBy(tenant)}
        returning event_id, attempts`,
  )
}

/** Restarts the schedule of every failed delivery that was created at `since` (ISO 8601) or later. */
export function reviveFailed(
  db: Queryable,
  tenant: Tenant,
  { endpointId, since }: { endpointId: string; since: string },
): Promise<RevivedDelivery[]> {
  return many(
    db,
    revivedRow,
    sql`update delivery set status = 'pending', schedule_step = 0, swept_at = null
        where endpoint_id = ${endpointId} and status in ('exhausted', 'disabled') and created_at >= ${since}::timestamptz
          and ${ownedBy(tenant)}
        returning event_id, attempts`,
  )
}

function ownedBy(tenant: Tenant): Statement {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
}

import { z } from 'zod'
import { ALL_EVENT_TYPES, type ShopApi } from '../../domain/webhook.ts'
import { newId } from '../../ids.ts'
import { many, type Statement, sql, type Tx } from '../db.ts'

export type NewEvent = {
  readonly merchantId: string
  readonly livemode: boolean
  readonly type: string
  readonly paymentId: string | null
  /** As the row of the payment, which the statement that creates it cannot read yet; absent: read from the row. */
  readonly shopApi?: ShopApi | null
  /** The object of the event, as the API shows it. No personal data. */
  readonly object: object
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string
}

const API_VERSION = 'v1'

/**
 * Writes the event, a delivery for each endpoint that subscribes to it, and a notification for each such channel.
 * Returns the event's id, or null if no endpoint subscribes to it. Call it last in the transaction: the merchant's
 * sequence stays locked until the commit, so that it has no gaps.
 */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<string | null> {
  const [id] = await recordEvents(tx, [event])
  return id ?? null
}

const eventIdRow = z.object({ event_id: z.string() })

/** In the order of the merchants' sequences. Returns for each its id, or null if no endpoint subscribes to it. */
export async function recordEvents(tx: Tx, events: readonly NewEvent[]): Promise<(string | null)[]> {
  if (events.length === 0) return []
  const rows = events.map(eventRow)
  const announced = await many(
    tx,
    eventIdRow,
    sql`with ${recordedEvents(rows, sql`true`)} select distinct event_id from delivery_of`,
  )
  const subscribedIds = new Set(announced.map((row) => row.event_id))
  return rows.map(({ id }) => (subscribedIds.has(id) ? id : null))
}

export type EventRow = ReturnType<typeof eventRow>

/** Builds the body once, around the sequence that the statement takes, so that it is never serialised again. */
export function eventRow({ merchantId, livemode, type, at, paymentId, shopApi, object }: NewEvent, place = 0) {
  const id = newId('event')
  const head = JSON.stringify({ id, type, timestamp: at, api_version: API_VERSION, livemode }).slice(0, -1)
  const before = `${head},"sequence":`
  const after = `,"data":${JSON.stringify({ object })}}`
  return { place, id, merchantId, livemode, type, paymentId, shopApi: shopApi ?? null, at, before, after }
}

/** Writes only if the condition holds, as its last change. Part `delivery_of`: new deliveries by event and endpoint. */
export function recordedEvents(rows: readonly EventRow[], condition: Statement): Statement {
  return sql`given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(place int, id text, "merchantId" text,
        livemode boolean, type text, "paymentId" text, "shopApi" text, at timestamptz, before text, after text) where ${condition}),
    counted as (select "merchantId", livemode, count(*) as size from given group by 1, 2),
    -- Locked until the commit, so that the sequence has no gap. In one order, so that no two statements wait for each other.
    sequence as (
      insert into event_sequence as counter (merchant_id, livemode, last)
      select "merchantId", livemode, size from counted order by 1, 2
      on conflict (merchant_id, livemode) do update set last = counter.last + excluded.last
      returning merchant_id, livemode, last),
    numbered as (
      select g.*, s.last - c.size + row_number() over (partition by g."merchantId", g.livemode order by g.place) as number
      from given g join counted c using ("merchantId", livemode)
        join sequence s on (s.merchant_id, s.livemode) = (g."merchantId", g.livemode)),
    -- The body has the sequence in it, so it is put together here.
    recorded as (
      insert into event (id, merchant_id, livemode, sequence, type, payment_id, body, created_at)
      select id, "merchantId", livemode, number, type, "paymentId",
        convert_to(before || number || after, 'UTF8'), at
      from numbered),
    -- Locked against being deleted, which would make the insert below fail the whole transaction.
    subscribed as (
      select e.* from counted c, lateral (
        select id, merchant_id, livemode, format, enabled_events from webhook_endpoint
        where merchant_id = c."merchantId" and livemode = c.livemode and disabled_at is null for key share) e),
    -- An event without a delivery needs no announcement.
    delivery_of as (
      insert into delivery (event_id, endpoint_id, merchant_id, livemode, created_at)
      select g.id, s.id, g."merchantId", g.livemode, g.at
      from given g join subscribed s on (s.merchant_id, s.livemode) = (g."merchantId", g.livemode)
        and s.enabled_events && array[g.type, ${ALL_EVENT_TYPES}]::text[]
        -- A shop fails at each event of a payment that it does not know, until its endpoint would be disabled.
        and (s.format = 'standard'
          or s.format = coalesce(g."shopApi", (select shop_api from payment where payment.id = g."paymentId")))
      returning event_id, endpoint_id),
    -- The worker's sweep finds these: a channel that is notified later, or never, must not hold up what happened.
    notified as (
      insert into notification (channel_id, merchant_id, livemode, kind, event_id, urgent, created_at, due_at)
      select c.id, g."merchantId", g.livemode, g.type, g.id, false, g.at,
        case when c.broken_at is null then g.at else 'infinity' end
      from given g join channel c on (c.merchant_id, c.livemode) = (g."merchantId", g.livemode)
        and c.removed_at is null and c.events && array[g.type]
      -- People receive a notice about it, which gives the reason.
      where g.type <> 'webhook_endpoint.disabled')`
}

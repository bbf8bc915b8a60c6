import { z } from 'zod'
import { ALL_EVENT_TYPES } from '../../domain/webhook.ts'
import { newId } from '../../ids.ts'
import { one, sql, type Tx } from '../db.ts'

export type NewEvent = {
  readonly merchantId: string
  readonly livemode: boolean
  readonly type: string
  readonly paymentId: string | null
  /** What the event is about, as the API shows it. No personal data. */
  readonly object: object
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string
}

const API_VERSION = 'v1'

/**
 * Writes the event and a delivery for each endpoint that subscribes to it; answers the event's id, or null when nobody
 * does. Call it last in the transaction: the merchant's sequence stays locked until the commit, which is what makes it
 * contiguous.
 *
 * The body is put together here once, around the sequence that the same statement takes, and never serialised again.
 */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<string | null> {
  const id = newId('event')
  const { merchantId, livemode, type, at } = event
  const head = JSON.stringify({ id, type, timestamp: at, api_version: API_VERSION, livemode }).slice(0, -1)
  const beforeSequence = `${head},"sequence":`
  const afterSequence = `,"data":${JSON.stringify({ object: event.object })}}`
  const { deliveries } = await one(
    tx,
    z.object({ deliveries: z.coerce.number() }),
    sql`with
    -- Locked until the commit, so that the sequence has no gap.
    sequence as (
      insert into event_sequence as counter (merchant_id, livemode, last) values (${merchantId}, ${livemode}, 1)
      on conflict (merchant_id, livemode) do update set last = counter.last + 1
      returning last
    ),
    -- The body has the sequence in it, so it is put together here.
    recorded as (
      insert into event (id, merchant_id, livemode, sequence, type, payment_id, body, created_at)
      select ${id}, ${merchantId}, ${livemode}, last, ${type}, ${event.paymentId},
        convert_to(${beforeSequence}::text || last || ${afterSequence}::text, 'UTF8'), ${at}::timestamptz
      from sequence
      returning id, created_at
    ),
    -- Locked against being deleted, which would make the insert below fail the whole transaction.
    subscribed as (
      select id from webhook_endpoint
      where merchant_id = ${merchantId} and livemode = ${livemode} and disabled_at is null
        and enabled_events && array[${type}, ${ALL_EVENT_TYPES}]::text[]
      for key share
    ),
    -- Counted, because an event without a delivery needs no announcement.
    delivery_of as (
      insert into delivery (event_id, endpoint_id, merchant_id, livemode, created_at)
      select recorded.id, subscribed.id, ${merchantId}, ${livemode}, recorded.created_at from recorded, subscribed
      returning 1
    )
    select count(*) as deliveries from delivery_of`,
  )
  return deliveries > 0 ? id : null
}

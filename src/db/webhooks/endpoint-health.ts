import { z } from 'zod'
import { many, one, type Queryable, sql, type Tenant } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

const owned = (tenant: Tenant) =>
  sql`delivery.merchant_id = ${tenant.merchantId} and delivery.livemode = ${tenant.livemode}`

const healthRow = z.object({
  tried: z.coerce.number(),
  delivered: z.coerce.number(),
  median_ms: z.coerce.number().nullable(),
  slowest_ms: z.coerce.number().nullable(),
  waiting: z.coerce.number(),
  oldest_waiting: time.nullable(),
  failed: z.coerce.number(),
})
export type EndpointHealth = z.output<typeof healthRow>

/** `failed` counts failures that can still be sent again (since `replayable`). */
export function readHealth(
  db: Queryable,
  tenant: Tenant,
  { endpointId, since, replayable }: { endpointId: string; since: string; replayable: string },
): Promise<EndpointHealth> {
  const of = sql`from delivery where endpoint_id = ${endpointId} and ${owned(tenant)}`
  return one(
    db,
    healthRow,
    sql`with recent as (select status, event_id ${of} and created_at >= ${since}::timestamptz),
        tries as (select duration_ms from delivery_attempt
          where endpoint_id = ${endpointId} and at >= ${since}::timestamptz),
        waits as (select count(*) as waiting, min(created_at) as oldest_waiting ${of} and status = 'pending')
        select (select count(*) from recent) as tried,
          (select count(*) from recent where status = 'delivered') as delivered,
          (select percentile_disc(0.5) within group (order by duration_ms) from tries) as median_ms,
          (select max(duration_ms) from tries) as slowest_ms, waiting, oldest_waiting,
          (select count(*) ${of} and status in ('exhausted', 'disabled') and created_at >= ${replayable}::timestamptz) as failed
        from waits`,
  )
}

const hourRow = z.object({ hour: z.coerce.number(), ok: z.coerce.number(), bad: z.coerce.number() })
export type HourOfTries = z.output<typeof hourRow>

/** Hours without tries are left out. */
export function triesByHour(db: Queryable, endpointId: string, since: string): Promise<HourOfTries[]> {
  const arrived = sql`error is null and response_status between 200 and 299`
  return many(
    db,
    hourRow,
    sql`select least(23, floor(extract(epoch from at - ${since}::timestamptz) / 3600)) as hour,
          count(*) filter (where ${arrived}) as ok, count(*) filter (where not coalesce(${arrived}, false)) as bad
        from delivery_attempt where endpoint_id = ${endpointId} and at >= ${since}::timestamptz
        group by 1 order by 1`,
  )
}

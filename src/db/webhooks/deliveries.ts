import { z } from 'zod'
import {
  DELIVERY_DELAYS_SECONDS,
  type DeliveryVerdict,
  DISABLE_AFTER_SECONDS,
  DISABLE_NEEDS_FAILING_SECONDS,
  isScheduleUsedUp,
  longestDelaySeconds,
  renderEndpoint,
  type SendError,
  WEBHOOK_FORMATS,
} from '../../domain/webhook.ts'
import { type Db, execute, many, type Queryable, type Statement, sql, type Tx } from '../db.ts'
import { recordEvents } from './events.ts'
import { readEndpoints, sealedSecretRow } from './webhook-endpoints.ts'

const deliveryStatus = z.enum(['pending', 'delivered', 'exhausted', 'disabled'])
export type DeliveryStatus = z.infer<typeof deliveryStatus>

const deliveryRow = z.object({
  endpoint_id: z.string(),
  merchant_id: z.string(),
  status: deliveryStatus,
  attempts: z.number(),
  schedule_step: z.number(),
  body: z.instanceof(Buffer),
  url: z.string(),
  format: z.enum(WEBHOOK_FORMATS),
  secrets: z.array(sealedSecretRow).min(1),
  endpoint_disabled: z.boolean(),
  endpoint_failing: z.boolean(),
})

export type Delivery = z.infer<typeof deliveryRow>

export function loadDeliveries(db: Queryable, eventId: string, endpointId?: string): Promise<Delivery[]> {
  return many(
    db,
    deliveryRow,
    sql`select endpoint_id, delivery.merchant_id, status, attempts, schedule_step, body, url, format, secrets,
        disabled_at is not null as endpoint_disabled, failing_since is not null as endpoint_failing
      from delivery
      join event on event.id = event_id
      join webhook_endpoint on webhook_endpoint.id = endpoint_id
      where event_id = ${eventId} and delivery.livemode = ${db.livemode}
        and (${endpointId ?? null}::text is null or endpoint_id = ${endpointId ?? null})
      order by endpoint_id`,
  )
}

export const untriedEvents = (paymentId: Statement, which = sql``): Statement =>
  sql`select distinct event_id from event join delivery on event_id = event.id
      where event.payment_id = ${paymentId} and delivery.status = 'pending' and delivery.attempts = 0 ${which}
      order by event_id`

export type TryRecord = {
  readonly eventId: string
  readonly endpointId: string
  readonly number: number
  /** How much of the schedule is used up after it. */
  readonly step: number
  readonly verdict: DeliveryVerdict
  /** ISO 8601 UTC. */
  readonly at: string
  readonly durationMs: number
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly bodyExcerpt: string
  readonly error: SendError | null
}

const recordedRow = z.object({ endpoint_id: z.string(), status: deliveryStatus, switched_off: z.boolean() })
type Recorded = z.infer<typeof recordedRow>

/**
 * Records tries of one event: the log, the deliveries, and the consequences for their endpoints (failing since,
 * disabled after 410 or after days without a success), with the event of each endpoint that is disabled. Returns the
 * status of each delivery. A delivery whose endpoint was deleted since is left out; a delivered one stays so. A test
 * event is tried once, because its sender watches the response.
 */
export async function recordTries(db: Db, tries: readonly TryRecord[]): Promise<ReadonlyMap<string, DeliveryStatus>> {
  if (tries.length === 0) return new Map()
  // Successful tries disable nothing, and need only one statement.
  const recorded = tries.every(({ verdict }) => verdict === 'delivered')
    ? await record(db, tries)
    : await db.transaction(async (tx) => {
        const all = await record(tx, tries)
        await recordDisabled(tx, all)
        return all
      })
  return new Map(recorded.map((row) => [row.endpoint_id, row.status]))
}

/** Records an event for the other endpoints; the worker's sweep starts these deliveries. */
async function recordDisabled(tx: Tx, recorded: readonly Recorded[]): Promise<void> {
  const ids = recorded.filter((row) => row.switched_off).map((row) => row.endpoint_id)
  if (ids.length === 0) return
  const endpoints = await readEndpoints(tx, ids)
  await recordEvents(
    tx,
    endpoints.map((endpoint) => ({
      merchantId: endpoint.merchant_id,
      livemode: endpoint.livemode,
      type: 'webhook_endpoint.disabled',
      paymentId: null,
      object: renderEndpoint(endpoint),
      at: (endpoint.disabled_at ?? endpoint.updated_at).toISOString(),
    })),
  )
}

function record(db: Queryable, tries: readonly TryRecord[]): Promise<Recorded[]> {
  const rows = tries.map((made) => ({
    event_id: made.eventId,
    endpoint_id: made.endpointId,
    number: made.number,
    step: made.step,
    verdict: made.verdict,
    used_up: isScheduleUsedUp(made.step),
    at: made.at,
    duration_ms: made.durationMs,
    response_status: made.status,
    response_headers: made.headers,
    response_body: made.bodyExcerpt,
    error: made.error,
  }))
  return many(db, recordedRow, recordStatement(JSON.stringify(rows)))
}

function recordStatement(rows: string) {
  return sql`with
    -- One JSON value, so that the statement has one text for any number of tries.
    made as (
      select * from jsonb_to_recordset(${rows}::jsonb) as made (event_id text, endpoint_id text, number int, step int,
        verdict text, used_up boolean, at timestamptz, duration_ms int, response_status int, response_headers jsonb,
        response_body text, error text)
    ),
    -- Leaves out what was deleted since. Locked in order, so that two statements cannot deadlock.
    known as (
      select made.*, delivery.created_at from made join delivery using (event_id, endpoint_id)
      order by endpoint_id for no key update of delivery
    ),
    -- A try may be recorded twice, but is logged once.
    log as (
      insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status, response_headers,
        response_body, error)
      select event_id, endpoint_id, number, at, duration_ms, response_status, response_headers, response_body, error
      from known
      on conflict do nothing
    ),
    -- Judged once, so that endpoint and delivery say the same.
    judged as (
      select known.*, verdict = 'gone' or (verdict = 'failed'
        and at - failing_since >= make_interval(secs => ${DISABLE_AFTER_SECONDS})
        and at - known.created_at >= make_interval(secs => ${DISABLE_NEEDS_FAILING_SECONDS})) as disables,
        disabled_at is null as was_enabled
      from known join webhook_endpoint on webhook_endpoint.id = endpoint_id
    ),
    -- With the try that shows it, so that no further one is sent to an endpoint that is gone.
    endpoint as (
      update webhook_endpoint set updated_at = case when disables then at else updated_at end,
        failing_since = case when verdict = 'delivered' then null else coalesce(failing_since, at) end,
        disabled_at = case when disables then coalesce(disabled_at, at) else disabled_at end,
        disabled_reason = case when not coalesce(disables, false) then disabled_reason
          when verdict = 'gone' then 'gone' else coalesce(disabled_reason, 'failing') end
      from judged
      where webhook_endpoint.id = judged.endpoint_id
        -- Written only when it changes: an endpoint in good health costs nothing.
        and (disables or (verdict = 'delivered') = (failing_since is not null))
      -- The first of two tries that show it at once; and only once if it is recorded again.
      returning webhook_endpoint.id, was_enabled and disables and disabled_at = at as switched_off
    )
    update delivery set
      attempts = greatest(delivery.attempts, number), schedule_step = step, last_attempt_at = at,
      delivered_at = case when verdict = 'delivered' then coalesce(delivered_at, at) else delivered_at end,
      status = case when verdict = 'delivered' or delivery.status = 'delivered' then 'delivered'
        when disables then 'disabled'
        when used_up or (select type = 'webhook.test' from event where id = judged.event_id) then 'exhausted'
        else 'pending' end
    from judged
    where delivery.event_id = judged.event_id and delivery.endpoint_id = judged.endpoint_id
    returning delivery.endpoint_id, delivery.status,
      coalesce((select switched_off from endpoint where id = delivery.endpoint_id), false) as switched_off`
}

/** Disables pending deliveries whose endpoint is disabled; they can be redelivered later. */
export async function parkDeliveries(db: Queryable, eventId: string, endpointIds: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`update delivery set status = 'disabled'
      where event_id = ${eventId} and endpoint_id = any(${endpointIds}::text[]) and status = 'pending'`,
  )
}

const overdueRow = z.object({
  event_id: z.string(),
  endpoint_id: z.string(),
  merchant_id: z.string(),
  attempts: z.number(),
  schedule_step: z.number(),
})
export type OverdueDelivery = z.infer<typeof overdueRow>

export type OverdueQuestion = {
  /** ISO 8601 UTC. */
  readonly now: string
  /** Seconds after the event in which its announcement can still make the first try. */
  readonly firstTryWithin: number
  /** Seconds beyond the latest moment of the schedule after which the next try counts as lost. */
  readonly grace: number
  /** At least `least` seconds. For a delivery with a workflow half of its age when taken, at most `most`. */
  readonly again: { readonly least: number; readonly most: number }
  readonly limit: number
}

const LATEST = DELIVERY_DELAYS_SECONDS.map((_delay, step) => longestDelaySeconds(step))

/**
 * Takes pending deliveries that seem to have no workflow: without a try although the event is old enough, or later than
 * the schedule allows. A delivery that is found to have a workflow is left for longer and longer, because thousands
 * can wait for a receiver that hangs. None is taken twice before each was taken once.
 */
export function takeOverdueDeliveries(db: Queryable, question: OverdueQuestion): Promise<OverdueDelivery[]> {
  const before = (seconds: number) => sql`${question.now}::timestamptz - make_interval(secs => ${seconds})`
  const { least, most } = question.again
  const grown = sql`least((swept_at - created_at) / 2, make_interval(secs => ${most}))`
  const rest = sql`greatest(case when looked_after_at = swept_at then ${grown} end, make_interval(secs => ${least}))`
  const notTaken = sql`livemode = ${db.livemode} and (swept_at is null or swept_at + ${rest} <= ${question.now}::timestamptz)`
  return many(
    db,
    overdueRow,
    sql`with
      -- Apart from the late ones: each has its own index.
      untried as (
        select event_id, endpoint_id from delivery
        where status = 'pending' and attempts = 0 and created_at <= ${before(question.firstTryWithin)} and ${notTaken}
        order by swept_at nulls first, created_at limit ${question.limit} for no key update skip locked
      ),
      -- The first condition on the time is for the index, the second is the schedule.
      late as (
        select event_id, endpoint_id from delivery
        where status = 'pending' and attempts > 0 and last_attempt_at <= ${before(question.grace)}
          and last_attempt_at + make_interval(secs => (${LATEST}::float8[])[schedule_step + 1])
            <= ${before(question.grace)}
          and ${notTaken}
        order by swept_at nulls first, last_attempt_at limit ${question.limit} for no key update skip locked
      )
      update delivery set swept_at = ${question.now}::timestamptz
      from (select * from untried union all select * from late) as taken
      where delivery.event_id = taken.event_id and delivery.endpoint_id = taken.endpoint_id
      returning delivery.event_id, delivery.endpoint_id, delivery.merchant_id, attempts, schedule_step`,
  )
}

/** Marks deliveries that have a workflow, as Temporal has reported since they were taken. */
export async function markLookedAfter(db: Queryable, deliveries: readonly OverdueDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const [events, endpoints] = [deliveries.map((row) => row.event_id), deliveries.map((row) => row.endpoint_id)]
  await execute(
    db,
    sql`with known as (
          select event_id, endpoint_id from delivery
          where (event_id, endpoint_id) in (select * from unnest(${events}::text[], ${endpoints}::text[]))
          -- Locked in order, as where tries are recorded.
          order by event_id, endpoint_id for no key update)
        update delivery set looked_after_at = swept_at from known
        where delivery.event_id = known.event_id and delivery.endpoint_id = known.endpoint_id`,
  )
}

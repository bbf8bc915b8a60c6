import { execute, type Queryable, type Statement, sql } from './db.ts'
import { forgetMailboxes } from './payments/buyer-mails.ts'
import { forgetBuyers } from './payments/buyers.ts'

/** Days for which rows are stored. The guide to webhooks promises merchants the first two, the dashboard the last. */
const ATTEMPTS_DAYS = 30
const EVENTS_DAYS = 90
const IDEMPOTENCY_DAYS = 30
const REQUESTS_DAYS = 30

/** Rows in one statement, so that it does not keep its locks for long; the rest waits for the next round. */
export const PRUNED_AT_ONCE = 5000

export type Pruned = {
  readonly attempts: number
  readonly events: number
  readonly idempotencyKeys: number
  readonly requests: number
  /** Buyers whose address and tax id were deleted. */
  readonly buyers: number
}

/**
 * Deletes tries of webhooks, events, stored answers, recorded requests and data of buyers that are older than promised. `now` is ISO
 * 8601 UTC. Each table is read in the order of age: Postgres would search the whole table if it did not know how few
 * rows are old.
 */
export async function pruneOld(db: Queryable, now: string): Promise<Pruned> {
  const before = (days: number): Statement => sql`${now}::timestamptz - make_interval(days => ${days})`
  const attempts = await execute(
    db,
    sql`delete from delivery_attempt where ctid = any(array(
          select ctid from delivery_attempt where at < ${before(ATTEMPTS_DAYS)} order by at limit ${PRUNED_AT_ONCE}))`,
  )
  const events = await execute(
    db,
    sql`with
      -- Both deletes must mean the same events. A delivery that is still being tried keeps its event.
      old as (
        select id from event where created_at < ${before(EVENTS_DAYS)}
          and not exists (select 1 from delivery where event_id = event.id and status = 'pending')
        order by created_at limit ${PRUNED_AT_ONCE}),
      -- A delivery refers to its event, so it must go with it.
      gone as (delete from delivery where event_id = any(array(select id from old)))
      delete from event where id = any(array(select id from old))`,
  )
  const idempotencyKeys = await execute(
    db,
    sql`delete from idempotency_key where ctid = any(array(
          select ctid from idempotency_key where created_at < ${before(IDEMPOTENCY_DAYS)}
          order by created_at limit ${PRUNED_AT_ONCE}))`,
  )
  const requests = await execute(
    db,
    sql`delete from api_request where ctid = any(array(
          select ctid from api_request where at < ${before(REQUESTS_DAYS)} order by at limit ${PRUNED_AT_ONCE}))`,
  )
  const buyers = await forgetBuyers(db, now, PRUNED_AT_ONCE)
  await forgetMailboxes(db, now, PRUNED_AT_ONCE)
  return { attempts, events, idempotencyKeys, requests, buyers }
}

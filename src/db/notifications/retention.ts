import { execute, type Queryable, sql } from '../db.ts'
import { PRUNED_AT_ONCE } from '../retention.ts'

/** Days. Notifications that still wait for a broken channel are deleted then, too. */
const RETENTION_DAYS = 30

/** Returns the larger of the two counts. `now` is ISO 8601 UTC. */
export async function pruneNotifications(db: Queryable, now: string): Promise<number> {
  const before = sql`${now}::timestamptz - make_interval(days => ${RETENTION_DAYS})`
  const statements = [
    sql`delete from notification where ctid = any(array(
          select ctid from notification where created_at < ${before} order by created_at limit ${PRUNED_AT_ONCE}))`,
    sql`delete from channel_message where ctid = any(array(
          select ctid from channel_message where created_at < ${before} order by created_at limit ${PRUNED_AT_ONCE}))`,
  ]
  let most = 0
  for (const statement of statements) most = Math.max(most, await execute(db, statement))
  return most
}

import { execute, type Queryable, sql } from '../db.ts'
import { PRUNED_AT_ONCE } from '../retention.ts'

/** Days for which traces of sign-ins are stored: long enough to examine a complaint of last month. */
const TRACES_DAYS = 30

/**
 * Deletes sessions, links, mails, invitations, notices and stop links that ended long ago, answered challenges, and
 * requests that no longer wait for a confirmation. `now` is ISO 8601 UTC.
 */
export async function pruneAccounts(db: Queryable, now: string): Promise<number> {
  const before = sql`${now}::timestamptz - make_interval(days => ${TRACES_DAYS})`
  const statements = [
    sql`delete from sign_in_link where ctid = any(array(
          select ctid from sign_in_link where created_at < ${before} order by created_at limit ${PRUNED_AT_ONCE}))`,
    sql`delete from session where ctid = any(array(
          select ctid from session where created_at < ${before} order by created_at limit ${PRUNED_AT_ONCE}))`,
    sql`delete from mail where ctid = any(array(
          select ctid from mail where created_at < ${before} and expires_at < ${now}::timestamptz
          order by created_at limit ${PRUNED_AT_ONCE}))`,
    sql`delete from invitation where ctid = any(array(
          select ctid from invitation where expires_at < ${before} limit ${PRUNED_AT_ONCE}))`,
    sql`delete from account_claim where ctid = any(array(
          select ctid from account_claim where ends_at < ${before} limit ${PRUNED_AT_ONCE}))`,
    sql`delete from merchant_invitation where ctid = any(array(
          select ctid from merchant_invitation where expires_at < ${before} limit ${PRUNED_AT_ONCE}))`,
    sql`delete from wallet_stop where ctid = any(array(
          select ctid from wallet_stop where next_at < ${before} limit ${PRUNED_AT_ONCE}))`,
    sql`delete from notice where ctid = any(array(
          select ctid from notice where sent_at < ${before} limit ${PRUNED_AT_ONCE}))`,
    sql`delete from confirmation where ctid = any(array(
          select ctid from confirmation where expires_at < ${now}::timestamptz limit ${PRUNED_AT_ONCE}))`,
    sql`delete from answered_challenge where ctid = any(array(
          select ctid from answered_challenge where expires_at < ${now}::timestamptz limit ${PRUNED_AT_ONCE}))`,
  ]
  let deleted = 0
  for (const statement of statements) deleted += await execute(db, statement)
  return deleted
}

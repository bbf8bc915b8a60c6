import { type Statement, sql } from '../db.ts'

/** The first day (UTC) on which a payment's reserve can be released. */
export const dueOn = sql`reserve_due_on(finalized_at, reserve_days)`

/** As in the indexes payment_reserved and payment_reserve_due, word for word. */
export const isHeldBack = sql`(reserved_micro > 0 and finalized_at is not null)`

/**
 * The amounts that payments hold back and that will be released, as `held` (payment_id, of, merchant_id, livemode, chain_id, token,
 * due_on, micro): reserves, and what was deducted for refunds that have not taken it, from the end of the refund on.
 */
export const releasable = sql`(
  select id as payment_id, 'reserve' as of, merchant_id, livemode, chain_id, lower(token) as token, ${dueOn} as due_on, reserved_micro as micro
  from payment where ${isHeldBack}
  union all
  select p.id, 'deduction', p.merchant_id, p.livemode, p.chain_id, lower(p.token),
    greatest((p.finalized_at at time zone 'UTC')::date, (r.updated_at at time zone 'UTC')::date), p.deducted_micro
  from payment p join refund r on r.id = p.deducted_for
  where p.deduction_release_id is null and p.payout = 'paid' and p.finalized_at is not null
    and r.status in ('failed', 'canceled', 'expired')) held`

/** Seconds: a signature is valid for 55 minutes at most, and the rest is for its block to become final and to be read. */
const RESTORED_SECONDS = 7200

/** True while the chain might not have shown yet what a restored backup lacks. */
export const isFreshlyRestored = (restoredAt: Statement): Statement =>
  sql`${restoredAt} > now() - ${RESTORED_SECONDS} * interval '1 second'`

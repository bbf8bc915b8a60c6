import { z } from 'zod'
import { many, type Queryable, sql } from './db.ts'

/** Numbers for the metrics: of this deployment's mode, without ids, read by indexes of open rows. */

const waiting = { count: z.coerce.number(), oldest_seconds: z.coerce.number() }

const waitingPaymentsRow = z.object({ status: z.string(), method: z.string(), ...waiting })

export function countPayments(db: Queryable) {
  return many(
    db,
    waitingPaymentsRow,
    sql`select status, coalesce(method_used, provider, 'any') as method, count(*) as count,
          -- A payout that an operator withholds is not late.
          coalesce(extract(epoch from now() - min(updated_at) filter (where status <> 'settling'
            or merchant_id not in (select merchant_id from agreement where holds_payouts))), 0) as oldest_seconds
        from payment where closed_at is null and livemode = ${db.livemode} group by 1, 2 order by 1, 2`,
  )
}

const waitingMessagesRow = z.object({ queue: z.string(), ...waiting })

/** An empty queue has the count 0. */
export function countBacklog(db: Queryable) {
  return many(
    db,
    waitingMessagesRow,
    sql`select queue, count(since) as count, coalesce(extract(epoch from now() - min(since)), 0) as oldest_seconds from (
          select unnest(array['start_payment', 'payment_changed', 'callbacks', 'deliveries', 'mails']) as queue,
            null::timestamptz as since
          union all select kind, created_at from outbox
          union all select 'callbacks', due_at from partner_callback where applied_at is null
          union all select 'deliveries', created_at from delivery where status = 'pending' and livemode = ${db.livemode}
          union all select 'mails', created_at from mail where sealed is not null and expires_at > now()
        ) as open group by queue order by queue`,
  )
}

const applicantsRow = z.object(waiting)

/** Merchants that have applied and wait for approval. */
export function countApplicants(db: Queryable) {
  return many(
    db,
    applicantsRow,
    sql`select count(*), coalesce(extract(epoch from now() - min(applied_at)), 0) as oldest_seconds
        from agreement where status = 'pending' and applied_at is not null`,
  )
}

const settledRow = z.object({ count: z.coerce.number(), fee_usdc: z.coerce.number() })

/** In the last 24 hours; amounts in USDC. */
export function countSettled(db: Queryable) {
  return many(
    db,
    settledRow,
    sql`select count(*) as count, coalesce(sum(fee_micro), 0) / 1000000 as fee_usdc
        from payment where succeeded_at > now() - interval '1 day' and livemode = ${db.livemode}`,
  )
}

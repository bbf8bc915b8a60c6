import { z } from 'zod'
import { isCurrency } from '../../domain/currencies.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { many, one, type Queryable, sql, type Tenant } from '../db.ts'
import { ownedBy } from '../owned.ts'
import { time } from '../payments/payment-rows.ts'

/** Figures of the dashboard about a whole account. Days are those of UTC. */

const dayRow = z.object({ day: z.string(), payments: z.coerce.number(), net_micro: z.string() })
export type DayReceived = z.output<typeof dayRow>

/** By the day of their block, oldest first, including days without payments. `now` is ISO 8601. */
export function receivedByDay(
  db: Queryable,
  tenant: Tenant,
  { now, days }: { now: string; days: number },
): Promise<DayReceived[]> {
  return many(
    db,
    dayRow,
    sql`with span as (
          select generate_series(date_trunc('day', ${now}::timestamptz at time zone 'UTC') - make_interval(days => ${days - 1}),
            date_trunc('day', ${now}::timestamptz at time zone 'UTC'), interval '1 day') as day),
        received as (
          select date_trunc('day', finalized_at at time zone 'UTC') as day, sum(payments) as payments, sum(micro) as net from (
            select finalized_at, 1 as payments, payout_micro(net_micro, reserve_percent, deducted_micro) as micro from payment where ${ownedBy(tenant)} and status = 'succeeded'
              and finalized_at >= (select min(day) from span) at time zone 'UTC'
            union all select finalized_at, 0, micro_usdc from reserve_release where ${ownedBy(tenant)}
              and finalized_at >= (select min(day) from span) at time zone 'UTC') line group by 1)
        select to_char(span.day, 'YYYY-MM-DD') as day, coalesce(payments, 0) as payments, coalesce(net, 0)::text as net_micro
        from span left join received using (day) order by span.day`,
  )
}

const endedRow = z.object({ succeeded: z.coerce.number(), ended: z.coerce.number() })

/**
 * Counts payments that a buyer tried to pay and that ended since the time, and how many of them succeeded. An ended
 * payment is written again, for example when late money is no longer awaited: its timeline has the time of its end.
 */
export function countEnded(db: Queryable, tenant: Tenant, since: string): Promise<z.output<typeof endedRow>> {
  return one(
    db,
    endedRow,
    sql`select count(*) filter (where status = 'succeeded') as succeeded, count(*) as ended
        from payment where ${ownedBy(tenant)} and status in ('succeeded', 'failed', 'expired', 'canceled', 'refunded')
          and updated_at >= ${since}::timestamptz
          and exists (select 1 from attempt where attempt.payment_id = payment.id)
          and exists (select 1 from timeline_entry where timeline_entry.payment_id = payment.id
            and to_status = payment.status and at >= ${since}::timestamptz)`,
  )
}

const statusRow = z.object({ status: z.enum(PAYMENT_STATUSES), payments: z.coerce.number() })

export async function countByStatus(db: Queryable, tenant: Tenant): Promise<ReadonlyMap<PaymentStatus, number>> {
  const rows = await many(
    db,
    statusRow,
    sql`select status, count(*) as payments from payment where ${ownedBy(tenant)} group by status`,
  )
  return new Map(rows.map(({ status, payments }) => [status, payments]))
}

const waitingRow = z.object({
  kind: z.string(),
  /** The reason of a review. The rest of its text is for operators. */
  reason: z.string().nullable(),
  status: z.enum(PAYMENT_STATUSES),
  payout: z.custom<Payment['payout']>(),
  payment_id: z.string(),
  since: time,
  amount_minor: z.string(),
  currency: z.string().refine(isCurrency),
  order: z.string().nullable(),
})
export type Waiting = z.output<typeof waitingRow>

/** The longest wait first. */
export function listWaiting(db: Queryable, tenant: Tenant, limit: number): Promise<Waiting[]> {
  return many(
    db,
    waitingRow,
    sql`select kind, case when kind = 'review' then split_part(detail, ':', 1) end as reason, status, payout, payment_id, since, amount_minor::text as amount_minor, currency,
          coalesce(reference, description) as order
        from (select * from attention where ${ownedBy(tenant)}) as waiting join payment on payment.id = payment_id
        order by since limit ${limit}`,
  )
}

const healthRow = z.object({ delivered: z.coerce.number(), tried: z.coerce.number(), waiting: z.coerce.number() })

export function countDeliveries(db: Queryable, tenant: Tenant, since: string): Promise<z.output<typeof healthRow>> {
  return one(
    db,
    healthRow,
    sql`select count(*) filter (where delivery.status = 'delivered') as delivered, count(*) as tried,
          count(*) filter (where delivery.status = 'pending') as waiting
        from delivery join event on event.id = delivery.event_id
        where event.merchant_id = ${tenant.merchantId} and event.livemode = ${tenant.livemode}
          and event.created_at >= ${since}::timestamptz`,
  )
}

const paymentCountRow = z.object({ payments: z.coerce.number() })

export async function countPaidTo(db: Queryable, tenant: Tenant, address: string): Promise<number> {
  const row = await one(
    db,
    paymentCountRow,
    sql`select count(*) as payments from payment
        where ${ownedBy(tenant)} and status = 'succeeded' and lower(destination) = lower(${address})`,
  )
  return row.payments
}

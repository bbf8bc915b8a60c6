import { z } from 'zod'
import { many, one, type Queryable, sql, type Tenant } from '../db.ts'
import { ownedBy } from '../owned.ts'
import { time } from '../payments/payment-rows.ts'

/**
 * The USDC that an account received, was charged, and will receive, and that is held back: in micro-USDC, by the time of
 * the paying block. Refunds count when the partner has paid the buyer back, as in the books (`refund_taken`).
 */

const lineRow = z.object({
  period: z.string(),
  payments: z.coerce.number(),
  gross_micro: z.string(),
  fee_micro: z.string(),
  reserved_micro: z.string(),
  /** The USDC that payouts lack for refunds, whether they have taken it or not. */
  deducted_micro: z.string(),
  released_micro: z.string(),
  /** The USDC that chargebacks took of reserves, less what was won back. */
  charged_back_micro: z.string(),
  received_micro: z.string(),
  refunds: z.coerce.number(),
  /** The USDC of wallets that the refunds have taken. What they did not take has gone back. */
  refunds_micro: z.string(),
})
export type StatementLine = z.output<typeof lineRow>

/** `from` is included, `to` is not (ISO 8601). Days and months are those of UTC; empty ones are left out. */
export type StatementSpan = { readonly from: string; readonly to: string; readonly by: 'day' | 'month' }

/** Oldest first. */
export function readStatement(db: Queryable, tenant: Tenant, span: StatementSpan): Promise<StatementLine[]> {
  const form = span.by === 'day' ? 'YYYY-MM-DD' : 'YYYY-MM'
  return many(
    db,
    lineRow,
    sql`with line as (
          select finalized_at, 1 as payments, gross_micro, fee_micro, net_micro - payout_micro(net_micro, reserve_percent, 0) as reserved_micro, deducted_micro,
            0 as released_micro, payout_micro(net_micro, reserve_percent, deducted_micro) as received_micro
          from payment where ${ownedBy(tenant)} and status = 'succeeded'
            and finalized_at >= ${span.from}::timestamptz and finalized_at < ${span.to}::timestamptz
          union all
          select finalized_at, 0, 0, 0, 0, 0, micro_usdc, micro_usdc from reserve_release where ${ownedBy(tenant)}
            and finalized_at >= ${span.from}::timestamptz and finalized_at < ${span.to}::timestamptz),
        received as (
          select to_char(finalized_at at time zone 'UTC', ${form}) as period, sum(payments) as payments, sum(gross_micro) as gross,
            sum(fee_micro) as fee, sum(reserved_micro) as reserved, sum(deducted_micro) as deducted, sum(released_micro) as released, sum(received_micro) as received
          from line group by 1),
        refunded as (
          select to_char(succeeded_at at time zone 'UTC', ${form}) as period, count(*) as refunds,
            coalesce(sum(required_micro) filter (where fund_from = 'wallet'), 0) as taken
          from refund where ${ownedBy(tenant)} and status = 'succeeded' and fund_from <> 'payment'
            and succeeded_at >= ${span.from}::timestamptz and succeeded_at < ${span.to}::timestamptz
          group by 1),
        charged_back as (
          select to_char(t.booked_at at time zone 'UTC', ${form}) as period, -sum(e.amount) as charged_back
          from ledger_entry e join ledger_transaction t on t.id = e.transaction_id join payment p on p.id = t.payment_id
          where e.account = 'chargeback_loss' and e.asset = 'USDC' and p.merchant_id = ${tenant.merchantId} and p.livemode = ${tenant.livemode}
            and t.booked_at >= ${span.from}::timestamptz and t.booked_at < ${span.to}::timestamptz
          group by 1)
        select period, coalesce(payments, 0) as payments, coalesce(gross, 0)::text as gross_micro, coalesce(fee, 0)::text as fee_micro,
          coalesce(reserved, 0)::text as reserved_micro, coalesce(deducted, 0)::text as deducted_micro, coalesce(released, 0)::text as released_micro,
          coalesce(charged_back, 0)::text as charged_back_micro,
          coalesce(received, 0)::text as received_micro, coalesce(refunds, 0) as refunds, coalesce(taken, 0)::text as refunds_micro
        from received full join refunded using (period) full join charged_back using (period) order by period`,
  )
}

const comingRow = z.object({ payments: z.coerce.number(), net_micro: z.string(), oldest: time.nullable() })
export type Coming = z.output<typeof comingRow>

export function readComing(db: Queryable, tenant: Tenant): Promise<Coming> {
  return one(
    db,
    comingRow,
    sql`select count(*) as payments, coalesce(sum(payout_micro(net_micro, reserve_percent, deducted_micro)), 0)::text as net_micro, min(paid_at) as oldest
        from payment where ${ownedBy(tenant)} and status = 'settling'`,
  )
}

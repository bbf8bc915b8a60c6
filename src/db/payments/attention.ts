import { z } from 'zod'
import { many, type Queryable, sql } from '../db.ts'
import { time } from './payment-rows.ts'

const attentionRow = z
  .object({
    kind: z.string(),
    detail: z.string().nullable(),
    payment_id: z.string(),
    attempt_id: z.string().nullable(),
    merchant_id: z.string(),
    amount: z.string(),
    currency: z.string(),
    since: time,
  })
  .transform(({ payment_id: paymentId, attempt_id: attemptId, merchant_id: merchantId, ...row }) => ({
    ...row,
    paymentId,
    attemptId,
    merchantId,
  }))
export type Attention = z.output<typeof attentionRow>

/**
 * The view, and payments whose rows differ from the chain: those are only for operators, and merchants read the view.
 */
export const operatorAttention = sql`(
  select livemode, payment_id, attempt_id, kind, detail, since from attention
  union all
  select p.livemode, p.id, null, f.kind, f.detail, f.found_at from settlement_finding f join payment p on p.id = f.subject)`

/** The longest wait first. */
export function listAttention(db: Queryable, limit: number): Promise<Attention[]> {
  return many(
    db,
    attentionRow,
    sql`select kind, payment_id, attempt_id, payment.merchant_id, amount_text as amount, currency, since,
          coalesce(detail || ' (' || unpaid || ')', unpaid, detail) as detail
        from ${operatorAttention} waiting join payment on payment.id = payment_id,
          lateral (select case when kind in ('review', 'settlement_overdue') then coalesce(
            (select stop_reason || ': ' || stop_detail from payout o where o.owner_id = payment.id and o.state = 'stopped'),
            (select 'no worker pays in ' || o.token || ' on chain ' || o.chain_id from unserved_payout o
              where o.payment_id = payment.id)) end as unpaid) as why
        where waiting.livemode = ${db.livemode} order by since limit ${limit}`,
  )
}

const attentionCountRow = z.object({ kind: z.string(), count: z.coerce.number(), oldest_seconds: z.coerce.number() })

/** Counts the entries of each kind, with the age of the oldest in seconds. A kind without entries is absent. */
export function countAttention(db: Queryable): Promise<{ kind: string; count: number; oldest_seconds: number }[]> {
  return many(
    db,
    attentionCountRow,
    sql`select kind, count(*) as count, extract(epoch from now() - min(since)) as oldest_seconds from ${operatorAttention} waiting
        where livemode = ${db.livemode} group by kind order by kind`,
  )
}

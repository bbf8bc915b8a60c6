import { z } from 'zod'
import { execute, many, sql, type Tenant, type Tx } from '../db.ts'

/** Notices that an account receives without a subscription. Each is written in one transaction with its cause. */

export type NewNotice = { readonly kind: string; readonly data: Readonly<Record<string, unknown>> }

export async function leaveNotice(tx: Tx, tenant: Tenant, notice: NewNotice): Promise<void> {
  await execute(
    tx,
    sql`insert into notice (merchant_id, livemode, kind, data)
        values (${tenant.merchantId}, ${tenant.livemode}, ${notice.kind}, ${JSON.stringify(notice.data)}::jsonb)`,
  )
}

const noticeRow = z
  .object({
    id: z.coerce.string(),
    merchant_id: z.string(),
    merchant_name: z.string(),
    kind: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .transform(({ merchant_id: merchantId, merchant_name: account, ...row }) => ({ ...row, merchantId, account }))
export type Notice = z.output<typeof noticeRow>

/**
 * Takes unsent notices, which are sent when the transaction commits: the oldest of each account, then the second ones,
 * so that an account with many notices does not block others. The accounts have their turns in one order, in which they
 * are returned, beginning after `after`: new notices can fill each round without end.
 */
export function takeNotices(
  tx: Tx,
  now: string,
  { limit, after }: { limit: number; after: string },
): Promise<Notice[]> {
  const next = sql`select merchant_id from notice where sent_at is null and livemode = ${tx.livemode}`
  return many(
    tx,
    noticeRow,
    sql`with recursive
        -- One step along the index for each account: what one of them has left costs no more than what is taken of it.
        walk(merchant_id) as (
          (${next} order by merchant_id limit 1)
          union all
          select (${next} and merchant_id > walk.merchant_id order by merchant_id limit 1)
          from walk where walk.merchant_id is not null),
        oldest as (
          select id, row_number() over (partition by walk.merchant_id order by created_at, id) as place,
            walk.merchant_id <= ${after} as had_turn, walk.merchant_id as account
          from walk cross join lateral (
            select id, created_at from notice
            where sent_at is null and livemode = ${tx.livemode} and notice.merchant_id = walk.merchant_id
            order by created_at, id limit ${limit}) as unsent),
        taken as (
          update notice set sent_at = ${now}::timestamptz from merchant
          where merchant.id = merchant_id and notice.id = any(array(
            select id from notice where sent_at is null and id = any(array(
              select id from oldest order by place, had_turn, account limit ${limit}))
            for update skip locked))
          returning notice.id, merchant_id, merchant.name as merchant_name, kind, data)
        select taken.* from taken join oldest using (id) order by place, had_turn, account`,
  )
}

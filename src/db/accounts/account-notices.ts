import { z } from 'zod'
import { execute, many, sql, type Tenant, type Tx } from '../db.ts'

/** What an account must be told although nobody asked. It is written with its reason, in one transaction. */

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
 * Takes notices that nobody was told of: the oldest of each account, then the second ones, so that an account with any number
 * of them holds up no other. They are told when the transaction commits.
 */
export function takeNotices(tx: Tx, now: string, limit: number): Promise<Notice[]> {
  return many(
    tx,
    noticeRow,
    sql`update notice set sent_at = ${now}::timestamptz from merchant
        where merchant.id = merchant_id and notice.id = any(array(
          select id from notice where sent_at is null and id = any(array(
            select id from (
              select id, created_at, row_number() over (partition by merchant_id order by created_at, id) as place
              from notice where sent_at is null and livemode = ${tx.livemode}) as unsent
            where place <= ${limit} order by place, created_at, id limit ${limit}))
          for update skip locked))
        returning notice.id, merchant_id, merchant.name as merchant_name, kind, data`,
  )
}

import { z } from 'zod'
import { execute, many, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

export type Signed = { readonly operator: string; readonly reason: string }

/** `merchantId` is null for an action that concerns the whole deployment. */
export async function recordAction(
  tx: Tx,
  { merchantId, livemode }: { readonly merchantId: string | null; readonly livemode: boolean },
  { operator, reason, kind, data }: Signed & { kind: string; data: Readonly<Record<string, unknown>> },
): Promise<void> {
  await execute(
    tx,
    sql`insert into operator_action (merchant_id, livemode, operator, reason, kind, data)
        values (${merchantId}, ${livemode}, ${operator}, ${reason}, ${kind}, ${JSON.stringify(data)}::jsonb)`,
  )
}

const actionRow = z.object({
  at: time,
  operator: z.string(),
  reason: z.string(),
  kind: z.string(),
  data: z.record(z.string(), z.unknown()),
})
export type OperatorAction = z.output<typeof actionRow>

export function listActions(db: Queryable, tenant: Tenant, limit: number): Promise<OperatorAction[]> {
  return many(
    db,
    actionRow,
    sql`select at, operator, reason, kind, data from operator_action
        where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode} order by id desc limit ${limit}`,
  )
}

/** Lists the actions on settlement in this mode, newest first. `subject`: only for this payment; null: all. */
export function listSettlementActions(
  db: Queryable,
  { subject, limit }: { readonly subject: string | null; readonly limit: number },
): Promise<OperatorAction[]> {
  return many(
    db,
    actionRow,
    sql`select at, operator, reason, kind, data from operator_action
        where kind like 'settlement.%' and livemode = ${db.livemode}
          and (${subject}::text is null or data ->> 'subject' = ${subject}) order by id desc limit ${limit}`,
  )
}

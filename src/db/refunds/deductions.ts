import { z } from 'zod'
import type { MicroUsdc } from '../../domain/money.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import type { Claim } from '../../domain/refund/deduction.ts'
import type { Refund } from '../../domain/refund/refund.ts'
import { execute, many, one, type Queryable, type Statement, sql, type Tx } from '../db.ts'
import { currentAddress } from '../merchants/wallets.ts'
import { isFreshlyRestored } from '../reserves/held-back.ts'

/** The USDC that payouts lack because they pay for refunds. Each payment stores its own deduction. */

type Payee = Pick<Payment, 'merchantId' | 'livemode' | 'chainId' | 'token'>

/** The refunds of the payee that wait for deductions. `now`: ISO 8601. */
const claiming = ({ merchantId, livemode, chainId, token }: Payee, now: string): Statement =>
  sql`r.merchant_id = ${merchantId} and r.livemode = ${livemode} and r.chain_id = ${chainId} and r.token = ${token.toLowerCase()}
      and r.fund_from = 'next_payouts' and r.status = 'awaiting_funds' and r.opened_at is not null and r.expires_at > ${now}::timestamptz`

export const hasClaims = async (db: Queryable, payee: Payee, now: string): Promise<boolean> =>
  (await execute(db, sql`select 1 from refund r where ${claiming(payee, now)} limit 1`)) > 0

const idRow = z.object({ id: z.string() })

const claimRow = z
  .object({ id: z.string(), needed: z.string() })
  .transform(({ id, needed }): Claim => ({ refundId: id, neededMicro: needed }))

/** Locks them, the oldest first, so that of two payouts the second one sees what the first one deducts. */
export async function lockClaims(tx: Tx, payee: Payee, now: string): Promise<Claim[]> {
  const locked = await many(
    tx,
    idRow,
    sql`select r.id from refund r where ${claiming(payee, now)} order by r.id for update`,
  )
  // A refund that was opened since then is not locked, so this payout does not pay for it.
  return many(
    tx,
    claimRow,
    sql`select r.id, (r.required_micro
            - coalesce((select sum(deducted_micro) from payment where deducted_for = r.id), 0))::text as needed
        from refund r where r.id = any(${locked.map(({ id }) => id)}::text[]) and ${claiming(payee, now)} order by r.id`,
  )
}

const sumRow = z.object({ micro: z.string() })

/** Returns the micro-USDC that payouts which are final lack for the refund. */
export async function readDeducted(db: Queryable, refundId: string): Promise<MicroUsdc> {
  const { micro } = await one(
    db,
    sumRow,
    sql`select coalesce(sum(deducted_micro), 0)::text as micro from payment where deducted_for = ${refundId} and payout = 'paid'`,
  )
  return micro
}

const standingRow = z.object({ is_released: z.boolean(), is_unsure: z.boolean() })

/**
 * Returns `released` if the merchant has, or might have, what was deducted for the refund: a release that a restored
 * backup lacks could contain it. `unsure`: the chain has not shown yet what the backup lacks.
 */
export async function findDeductions(
  db: Queryable,
  { id, merchantId, livemode, chainId, token }: Pick<Refund, 'id' | 'merchantId' | 'livemode' | 'chainId' | 'token'>,
): Promise<'there' | 'unsure' | 'released'> {
  const row = await one(
    db,
    standingRow,
    sql`select exists (select from payment where deducted_for = ${id} and deduction_release_id is not null)
          or exists (select from treasury_log l join wallet on (wallet.merchant_id, wallet.livemode) = (${merchantId}, ${livemode})
            where l.kind = 'out' and l.owner_id is null and l.known_as = 'release' and l.chain_id = ${chainId} and l.token = ${token}
              and l.counterparty = lower(${currentAddress})) as is_released,
          exists (select from chain_cursor c where c.chain_id = ${chainId} and c.token = ${token}
            and ${isFreshlyRestored(sql`c.restored_at`)}) as is_unsure`,
  )
  if (row.is_unsure) return 'unsure'
  return row.is_released ? 'released' : 'there'
}

const deductionRow = z
  .object({ id: z.string(), micro: z.string() })
  .transform(({ id, micro }) => ({ paymentId: id, micro }))

/** Lists the payments whose payouts pay for the refund, also those that are not final. */
export const listDeductions = (db: Queryable, refundId: string) =>
  many(
    db,
    deductionRow,
    sql`select id, deducted_micro::text as micro from payment where deducted_for = ${refundId} order by id`,
  )

/** Wakes the workflow of the refund. For a change of a payment: it writes only if the part `done` has a row. */
export const wakeDeducting = (refundId: string): Statement =>
  sql`update refund set due_at = now() from done where id = ${refundId} and status = 'awaiting_funds'`

const limitRow = z.object({ micro: z.string().nullable() })

/** Returns what open refunds can require of payouts together, in micro-USDC; null: payouts pay for none. */
export async function readDeductionLimit(db: Queryable, merchantId: string): Promise<MicroUsdc | null> {
  return (
    await one(db, limitRow, sql`select deduction_limit_micro::text as micro from merchant where id = ${merchantId}`)
  ).micro
}

export async function setDeductionLimit(db: Queryable, merchantId: string, micro: MicroUsdc | null): Promise<void> {
  await execute(db, sql`update merchant set deduction_limit_micro = ${micro}::numeric where id = ${merchantId}`)
}

import { z } from 'zod'
import type { PossibleRelease } from '../../domain/settlement/transfers.ts'
import { releaseId } from '../../evm/release-id.ts'
import { many, type Queryable, sql } from '../db.ts'
import { currentAddress } from '../merchants/wallets.ts'
import type { SettlementScope } from '../settlement/context.ts'
import { hex } from '../settlement/payouts.ts'
import { dueOn, isHeldBack } from './held-back.ts'

/** Releases that a restored backup might lack. */

const possibleRow = z.object({ merchant_id: z.string(), day: z.string(), recipient: hex.nullable(), micro: z.string() })

/** Days of merchants that are searched, the newest first. */
const SEARCHED_DAYS = 200_000

/**
 * Lists each day up to `today` under which reserves that are held back here could have been released, with what was due
 * by then, also of merchants without a wallet. Days that have a release are left out.
 */
export async function listPossibleReleases(
  db: Queryable,
  { livemode, chainId, token }: SettlementScope,
  today: string,
): Promise<PossibleRelease[]> {
  const rows = await many(
    db,
    possibleRow,
    sql`select due.merchant_id, day::date::text as day, lower(${currentAddress}) as recipient, sum(due.micro)::text as micro
        from (select merchant_id, due_on, sum(micro) as micro from (
              select merchant_id, ${dueOn} as due_on, reserved_micro as micro from payment
              where livemode = ${livemode} and ${dueOn} <= ${today}::date and ${isHeldBack}
                and chain_id = ${chainId} and lower(token) = ${token}
              -- The refund might have ended after the backup.
              union all select p.merchant_id, (p.finalized_at at time zone 'UTC')::date, p.deducted_micro
              from payment p join refund r on r.id = p.deducted_for and r.status <> 'succeeded'
              where p.livemode = ${livemode} and p.deduction_release_id is null and p.finalized_at is not null
                and p.chain_id = ${chainId} and lower(p.token) = ${token}) held group by 1, 2) due
          left join wallet on (wallet.merchant_id, wallet.livemode) = (due.merchant_id, ${livemode})
          cross join lateral generate_series(due.due_on, ${today}::date, interval '1 day') as day
        where not exists (select from reserve_release r
          where (r.merchant_id, r.livemode, r.due_on) = (due.merchant_id, ${livemode}, day::date))
        group by due.merchant_id, day, recipient order by day desc limit ${SEARCHED_DAYS}`,
  )
  return rows.map(({ merchant_id: merchantId, day, recipient, micro }) => ({
    id: releaseId({ merchantId, livemode, day }),
    recipient,
    mostMicro: BigInt(micro),
  }))
}

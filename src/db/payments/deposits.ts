import { z } from 'zod'
import { CURRENCIES } from '../../domain/currencies.ts'
import type { Hex } from '../../domain/hex.ts'
import { add, type MicroUsdc } from '../../domain/money.ts'
import { type Deposit, isDust } from '../../domain/settlement/deposit.ts'
import { execute, maybeOne, one, type Queryable, sql } from '../db.ts'
import { knownIndex } from '../settlement/observer/moved-transfers.ts'
import { hex } from '../settlement/payouts.ts'

export type NewDeposit = {
  readonly attemptId: string
  readonly deriveAddress: (ownerId: string) => Hex
  readonly chainId: number
  readonly token: Hex
  readonly askedMicro: MicroUsdc
  readonly rate: { readonly rate: string; readonly source: string; readonly asOf: string }
  /** Unix seconds. */
  readonly expiresAt: number
  readonly watchSeconds: number
}

const paymentIdRow = z.object({ payment_id: z.string() })

/** Opens the payment's address for the attempt, once: a second call changes nothing, not even the rate. */
export async function openDeposit(db: Queryable, deposit: NewDeposit): Promise<void> {
  const { payment_id: paymentId } = await one(
    db,
    paymentIdRow,
    sql`select payment_id from attempt a join payment m on m.id = a.payment_id
        where a.id = ${deposit.attemptId} and m.livemode = ${db.livemode}`,
  )
  await execute(
    db,
    sql`insert into deposit (owner_id, payment_id, attempt_id, livemode, chain_id, token, address, asked_micro, rate, rate_source,
          rate_as_of, expires_at, watch_until)
        select p.id, p.id, ${deposit.attemptId}, p.livemode, ${deposit.chainId}, ${deposit.token}, ${deposit.deriveAddress(paymentId)},
          ${deposit.askedMicro}, ${deposit.rate.rate}, ${deposit.rate.source}, ${deposit.rate.asOf},
          to_timestamp(${deposit.expiresAt}), to_timestamp(${deposit.expiresAt + deposit.watchSeconds})
        from payment p where p.id = ${paymentId} on conflict (owner_id) do nothing`,
  )
}

const oldDepositRow = z.object({ owner_id: z.string(), address: hex })

/** Reads one of the oldest deposits: its address shows whether the deposit seed was changed. Null if there is none. */
export async function readOldDeposit(
  db: Queryable,
  scope: { readonly chainId: number; readonly livemode: boolean },
): Promise<{ ownerId: string; address: Hex } | null> {
  const row = await maybeOne(
    db,
    oldDepositRow,
    sql`select owner_id, address from deposit where chain_id = ${scope.chainId} and livemode = ${scope.livemode}
        order by watch_until limit 1`,
  )
  return row && { ownerId: row.owner_id, address: row.address }
}

const depositRow = z.object({
  payment_id: z.string(),
  attempt_id: z.string(),
  address: hex,
  chain_id: z.number(),
  token: hex,
  amount_minor: z.string(),
  currency: z.enum(CURRENCIES),
  asked_micro: z.string(),
  rate: z.string(),
  rate_source: z.string(),
  rate_as_of: z.string(),
  expires_at: z.date(),
  receipts: z.array(z.object({ key: z.string(), micro: z.string() })),
  others: z.array(z.object({ token: hex, units: z.string() })),
})

export async function readDeposit(db: Queryable, attemptId: string): Promise<Deposit | null> {
  const row = await maybeOne(
    db,
    depositRow,
    sql`select d.payment_id, d.attempt_id, d.address, d.chain_id, d.token, a.amount_minor::text, a.currency,
          d.asked_micro::text, d.rate, d.rate_source, d.rate_as_of,
          -- Whoever was given more time may complete a part until then.
          greatest(d.expires_at, p.expires_at) as expires_at,
          coalesce(jsonb_agg(jsonb_build_object('key', l.chain_id || ':' || l.tx_hash || ':' || ${knownIndex},
              'micro', l.units::text) order by l.block_number, l.log_index, l.tx_hash)
            filter (where l.token = d.token), '[]') as receipts,
          coalesce(jsonb_agg(jsonb_build_object('token', l.token, 'units', l.units::text))
            filter (where l.token <> d.token), '[]') as others
        from deposit d join attempt a on a.id = d.attempt_id join payment p on p.id = d.payment_id left join deposit_log l on l.owner_id = d.owner_id
        where d.attempt_id = ${attemptId} and d.livemode = ${db.livemode} group by d.owner_id, a.id, p.id`,
  )
  if (row === null) return null
  return {
    paymentId: row.payment_id,
    attemptId: row.attempt_id,
    address: row.address,
    chainId: row.chain_id,
    token: row.token,
    asked: { minor: row.amount_minor, currency: row.currency },
    askedMicro: row.asked_micro,
    rate: row.rate,
    rateSource: row.rate_source,
    rateAsOf: row.rate_as_of,
    expiresAt: Math.floor(row.expires_at.getTime() / 1000),
    receivedMicro: row.receipts.reduce((sum, { micro }) => add(sum, micro), '0'),
    receipts: row.receipts,
    wrongToken: !row.others.every(isDust),
  }
}

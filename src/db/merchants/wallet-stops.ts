import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

export type NewWalletStop = Tenant & {
  readonly digest: Uint8Array
  readonly personId: string
  /** When the change that it stops would take effect (ISO 8601). */
  readonly nextAt: string
}

export async function insertWalletStop(tx: Tx, stop: NewWalletStop): Promise<void> {
  await execute(
    tx,
    sql`insert into wallet_stop (digest, merchant_id, livemode, person_id, next_at)
        values (${stop.digest}, ${stop.merchantId}, ${stop.livemode}, ${stop.personId}, ${stop.nextAt}::timestamptz)`,
  )
}

const stopRow = z
  .object({
    merchant_id: z.string(),
    merchant_name: z.string(),
    person_id: z.string(),
    address: z.string(),
    next_address: z.string(),
    next_at: time,
  })
  .transform((row) => ({
    merchantId: row.merchant_id,
    account: row.merchant_name,
    personId: row.person_id,
    address: row.address,
    nextAddress: row.next_address,
    nextAt: row.next_at,
  }))
export type WalletStop = z.output<typeof stopRow>

/** Null if the change was stopped, replaced or carried out. */
export function findWalletStop(db: Queryable, digest: Uint8Array): Promise<WalletStop | null> {
  return maybeOne(
    db,
    stopRow,
    sql`select wallet_stop.merchant_id, merchant.name as merchant_name, person_id, wallet.address, wallet.next_address,
          wallet.next_at
        from wallet_stop join wallet using (merchant_id, livemode, next_at) join merchant on merchant.id = merchant_id
        where digest = ${digest} and livemode = ${db.livemode} and wallet.next_at > now()`,
  )
}

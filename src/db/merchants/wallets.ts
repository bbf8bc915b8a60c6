import { z } from 'zod'
import { execute, maybeOne, one, type Queryable, sql, type Tenant } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

/** The address a merchant is paid to in this mode; null when none is set. */
export async function readWallet(db: Queryable, tenant: Tenant): Promise<string | null> {
  const row = await maybeOne(
    db,
    z.object({ address: z.string() }),
    sql`select address from wallet where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`,
  )
  return row?.address ?? null
}

/** Sets the address for new payments. Payments that exist keep the one they were created with. */
export async function setWallet(db: Queryable, tenant: Tenant, address: string): Promise<void> {
  await execute(
    db,
    sql`insert into wallet (merchant_id, livemode, address) values (${tenant.merchantId}, ${tenant.livemode}, ${address})
        on conflict (merchant_id, livemode) do update set address = excluded.address, created_at = now()
        where wallet.address <> excluded.address`,
  )
}

const walletRow = z.object({ address: z.string(), created_at: time })

/** The address, and since when payments go there (ISO 8601); null when none is set. */
export function readWalletSetting(db: Queryable, tenant: Tenant): Promise<z.output<typeof walletRow> | null> {
  return maybeOne(
    db,
    walletRow,
    sql`select address, created_at from wallet
        where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`,
  )
}

/** Whether the address is one of ours: a treasury or a relayer, which must never pay themselves. */
export async function isOwnAddress(db: Queryable, { chainId, address }: { chainId: number; address: string }) {
  const { own } = await one(
    db,
    z.object({ own: z.boolean() }),
    sql`select exists (select 1 from lane where chain_id = ${chainId} and wallet = ${address.toLowerCase()})
        or exists (select 1 from treasury_hour where chain_id = ${chainId} and treasury = ${address.toLowerCase()}) as own`,
  )
  return own
}

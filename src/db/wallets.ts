import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql } from './db.ts'
import type { Tenant } from './payments.ts'

/** The address a merchant is paid to in this mode; null when none is set. */
export async function readWallet(db: Queryable, tenant: Tenant): Promise<string | null> {
  const row = await maybeOne(
    db,
    z.object({ address: z.string() }),
    sql`select address from wallet where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`,
  )
  return row?.address ?? null
}

/** Payments that exist keep the address they were created with. */
export async function setWallet(db: Queryable, tenant: Tenant, address: string): Promise<void> {
  await execute(
    db,
    sql`insert into wallet (merchant_id, livemode, address) values (${tenant.merchantId}, ${tenant.livemode}, ${address})
        on conflict (merchant_id, livemode) do update set address = excluded.address`,
  )
}

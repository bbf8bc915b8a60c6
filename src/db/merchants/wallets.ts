import { z } from 'zod'
import { execute, maybeOne, one, type Queryable, type Statement, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

/** A change that is due counts immediately: nothing has to carry it out. */
const isDue = sql`next_at <= now()`
/** The address of a row of `wallet`. */
export const currentAddress = sql`case when ${isDue} then next_address else address end`
const currentProved = sql`case when ${isDue} then next_proved else proved end`
const currentSince = sql`case when ${isDue} then next_at else created_at end`

const addressRow = z.object({ address: z.string().nullable() })

export const selectWallet = (tenant: Tenant): Statement =>
  sql`(select ${currentAddress} from wallet where ${ownedBy(tenant)})`

export async function readWallet(db: Queryable, tenant: Tenant): Promise<string | null> {
  return (await one(db, addressRow, sql`select ${selectWallet(tenant)} as address`)).address
}

export function isPaidTo(tenant: Tenant, address: string): Statement {
  return sql`exists (select 1 from wallet where ${ownedBy(tenant)} and ${currentAddress} = ${address})`
}

/** Drops a planned change. Existing payments keep the address that they were created with. */
export async function setWallet(db: Queryable, tenant: Tenant, address: string): Promise<void> {
  await execute(
    db,
    sql`insert into wallet (merchant_id, livemode, address) values (${tenant.merchantId}, ${tenant.livemode}, ${address})
        on conflict (merchant_id, livemode) do update
        set address = excluded.address, created_at = now(), next_address = null, next_at = null, next_proved = false,
          proved = wallet.proved and wallet.address = excluded.address
        where wallet.address <> excluded.address or wallet.next_at is not null`,
  )
}

const plannedRow = z.object({ next_at: time })

/**
 * Plans the address for payments that are created after `waitSeconds`, and returns that time (ISO 8601). A change that
 * was planned before is replaced, or first carried out if it was due. Null if no wallet is set: then there is nothing
 * to change.
 */
export async function planWallet(
  tx: Tx,
  tenant: Tenant,
  { address, waitSeconds }: { address: string; waitSeconds: number },
): Promise<string | null> {
  const row = await maybeOne(
    tx,
    plannedRow,
    sql`update wallet set address = ${currentAddress}, created_at = ${currentSince}, proved = ${currentProved},
          next_address = ${address}, next_proved = false,
          -- To the millisecond, as it is reported: the links that stop it name it.
          next_at = date_trunc('milliseconds', now() + make_interval(secs => ${waitSeconds}))
        where ${ownedBy(tenant)} returning next_at`,
  )
  return row?.next_at ?? null
}

/** Drops a planned change: any, or the one that would take effect `at` (ISO 8601). False if it does not wait. */
export async function dropPlannedWallet(tx: Tx, tenant: Tenant, at: string | null = null): Promise<boolean> {
  const dropped = sql`update wallet set next_address = null, next_at = null, next_proved = false
    where ${ownedBy(tenant)} and next_at > now() and (${at}::timestamptz is null or next_at = ${at}::timestamptz)`
  return (await execute(tx, dropped)) === 1
}

export async function proveWallet(tx: Tx, tenant: Tenant, address: string): Promise<void> {
  await execute(
    tx,
    sql`update wallet set proved = proved or address = ${address},
          next_proved = next_proved or coalesce(next_address = ${address}, false)
        where ${ownedBy(tenant)}`,
  )
}

const walletRow = z.object({
  address: z.string(),
  proved: z.boolean(),
  created_at: time,
  next_address: z.string().nullable(),
  next_at: time.nullable(),
  next_proved: z.boolean(),
})
export type WalletSetting = z.output<typeof walletRow>

/** Returns the address, since when payments go there, and the planned change (ISO 8601); null if none is set. */
export function readWalletSetting(db: Queryable, tenant: Tenant): Promise<WalletSetting | null> {
  return maybeOne(
    db,
    walletRow,
    sql`select ${currentAddress} as address, ${currentSince} as created_at, ${currentProved} as proved, next_proved,
          case when ${isDue} then null else next_address end as next_address,
          case when ${isDue} then null else next_at end as next_at
        from wallet where ${ownedBy(tenant)}`,
  )
}

const ownRow = z.object({ own: z.boolean() })

/** True for a relayer, a treasury of any time or a deposit address, in upper or lower case. */
export async function isOwnAddress(db: Queryable, address: string): Promise<boolean> {
  const { own } = await one(db, ownRow, sql`select is_own_address(${address}) as own`)
  return own
}

function ownedBy(tenant: Tenant) {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
}

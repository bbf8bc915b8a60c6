import { z } from 'zod'
import {
  type Agreement,
  type Application,
  MERCHANT_STATUSES,
  type MerchantLimits,
  type MerchantStatus,
  type StandardAgreement,
  type UsedLimits,
} from '../../domain/account/agreement.ts'
import type { Percent } from '../../domain/money.ts'
import { DUST_MICRO } from '../../domain/payment/funds/account.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { execute, many, one, type Queryable, type Statement, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'
import { selectWallet } from './wallets.ts'

const getFee = (tenant: Tenant, standard: Percent): Statement =>
  sql`(select coalesce(fee_percent, ${standard}::numeric) from agreement where merchant_id = ${tenant.merchantId})`

const selectStatus = ({ merchantId }: Tenant): Statement =>
  sql`(select status from agreement where merchant_id = ${merchantId})`

/** The terms that a new payment gets; `wallet` is null if none is set. */
export type PaymentTerms = { readonly wallet: string | null } & Pick<Payment, 'feePercent' | 'reserve'>

const termsRow = z
  .object({
    wallet: z.string().nullable(),
    fee_percent: z.string(),
    reserve_percent: z.string(),
    reserve_days: z.number(),
  })
  .transform(({ wallet, ...row }): PaymentTerms => ({ wallet, feePercent: row.fee_percent, reserve: toReserve(row) }))

/** Null: nothing is held back. */
const toReserve = (row: {
  readonly reserve_percent: string
  readonly reserve_days: number
}): PaymentTerms['reserve'] =>
  row.reserve_percent === '0' ? null : { percent: row.reserve_percent, days: row.reserve_days }

const reserveColumns = ({ reserve: { percent, days } }: Pick<StandardAgreement, 'reserve'>): Statement =>
  sql`coalesce(reserve_percent, ${percent}::numeric)::text as reserve_percent, coalesce(reserve_days, ${days}) as reserve_days`

export const readPaymentTerms = (
  db: Queryable,
  tenant: Tenant,
  standard: Pick<StandardAgreement, 'feePercent' | 'reserve'>,
): Promise<PaymentTerms> =>
  one(
    db,
    termsRow,
    sql`select ${selectWallet(tenant)} as wallet, coalesce(fee_percent, ${standard.feePercent}::numeric)::text as fee_percent,
          ${reserveColumns(standard)} from agreement where merchant_id = ${tenant.merchantId}`,
  )

const feeRow = z.object({ fee_percent: z.string() })

export async function readFee(db: Queryable, tenant: Tenant, standard: Percent): Promise<Percent> {
  return (await one(db, feeRow, sql`select ${getFee(tenant, standard)} as fee_percent`)).fee_percent
}

/** Null: the fee of the deployment. Payments that exist keep their fee. */
export async function setFee(tx: Tx, merchantId: string, fee: Percent | null): Promise<void> {
  await execute(tx, sql`update agreement set fee_percent = ${fee}::numeric where merchant_id = ${merchantId}`)
}

/** An absent one stays; null: that of the deployment. Payments that exist keep their reserve. */
export async function setReserve(
  tx: Tx,
  merchantId: string,
  { percent, days }: { readonly percent?: Percent | null; readonly days?: number | null },
): Promise<void> {
  await execute(
    tx,
    sql`update agreement set
          reserve_percent = case when ${percent === undefined} then reserve_percent else ${percent ?? null}::numeric end,
          reserve_days = case when ${days === undefined} then reserve_days else ${days ?? null}::int end
        where merchant_id = ${merchantId}`,
  )
}

const status = z.enum(MERCHANT_STATUSES)
const storedAgreement = z.object({
  status,
  status_message: z.string().nullable(),
  status_since: time,
  holds_payouts: z.boolean(),
  web_address: z.string().nullable(),
  sells: z.string().nullable(),
  applied_at: time.nullable(),
  fee_percent: z.string(),
  reserve_percent: z.string(),
  reserve_days: z.number(),
  payment_limit: z.string().nullable(),
  day_limit: z.string().nullable(),
  open_limit: z.number(),
})

const agreementRow = storedAgreement.transform(
  (row): Agreement => ({
    status: row.status,
    statusMessage: row.status_message,
    statusSince: row.status_since,
    holdsPayouts: row.holds_payouts,
    application: toApplication(row),
    feePercent: row.fee_percent,
    reserve: { percent: row.reserve_percent, days: row.reserve_days },
    limits: { paymentMicro: row.payment_limit, dayMicro: row.day_limit, openPayments: row.open_limit },
  }),
)

type ApplicationRow = Pick<z.output<typeof storedAgreement>, 'web_address' | 'sells' | 'applied_at'>

function toApplication({ web_address: webAddress, sells, applied_at: at }: ApplicationRow): Application | null {
  return webAddress === null || sells === null || at === null ? null : { webAddress, sells, at }
}

export const readAgreement = (db: Queryable, merchantId: string, standard: StandardAgreement): Promise<Agreement> =>
  one(
    db,
    agreementRow,
    sql`select status, status_message, status_since, holds_payouts, web_address, sells, applied_at,
          coalesce(fee_percent, ${standard.feePercent}::numeric)::text as fee_percent,
          ${reserveColumns(standard)},
          coalesce(payment_limit_micro, ${standard.limits.paymentMicro}::numeric)::text as payment_limit,
          coalesce(day_limit_micro, ${standard.limits.dayMicro}::numeric)::text as day_limit,
          coalesce(open_limit, ${standard.limits.openPayments}) as open_limit
        from agreement where merchant_id = ${merchantId}`,
  )

const usedRow = z
  .object({ day_micro: z.string(), open_payments: z.number() })
  .transform((row): UsedLimits => ({ dayMicro: row.day_micro, openPayments: row.open_payments }))

/** `now`: ISO 8601. */
export const readUsedLimits = (db: Queryable, merchantId: string, now: string): Promise<UsedLimits> =>
  one(
    db,
    usedRow,
    sql`select case when day = (${now}::timestamptz at time zone 'UTC')::date then day_micro else 0 end::text as day_micro, open_payments
        from agreement where merchant_id = ${merchantId}`,
  )

/** An absent limit stays; null: that of the deployment. Payments that exist stay. */
export async function setLimits(
  tx: Tx,
  merchantId: string,
  limits: { readonly [name in keyof MerchantLimits]?: MerchantLimits[name] | null },
): Promise<void> {
  const { paymentMicro, dayMicro, openPayments } = limits
  await execute(
    tx,
    sql`update agreement set
          payment_limit_micro = case when ${paymentMicro === undefined} then payment_limit_micro else ${paymentMicro ?? null}::numeric end,
          day_limit_micro = case when ${dayMicro === undefined} then day_limit_micro else ${dayMicro ?? null}::numeric end,
          open_limit = case when ${openPayments === undefined} then open_limit else ${openPayments ?? null}::int end
        where merchant_id = ${merchantId}`,
  )
}

const statusRow = z.object({ status })

export async function readStatus(db: Queryable, tenant: Tenant): Promise<MerchantStatus> {
  return (await one(db, statusRow, sql`select ${selectStatus(tenant)} as status`)).status
}

export async function lockStatus(tx: Tx, merchantId: string): Promise<MerchantStatus> {
  const locked = sql`select status from agreement where merchant_id = ${merchantId} for update`
  return (await one(tx, statusRow, locked)).status
}

const heldRow = z.object({ holds_payouts: z.boolean() })

/**
 * `message`: what the merchant reads about it; null: nothing. `holdsPayouts`: null keeps what is stored. Returns
 * true if payouts are held now.
 */
export async function setStatus(
  tx: Tx,
  merchantId: string,
  {
    status,
    message,
    holdsPayouts = false,
  }: { readonly status: MerchantStatus; readonly message: string | null; readonly holdsPayouts?: boolean | null },
): Promise<boolean> {
  const set = sql`update agreement set status = ${status}, status_message = ${message}, status_since = now(),
      holds_payouts = coalesce(${holdsPayouts}::boolean, holds_payouts)
    where merchant_id = ${merchantId} returning holds_payouts`
  return (await one(tx, heldRow, set)).holds_payouts
}

/** A merchant that was rejected waits for the operator again. Another keeps its status. */
export async function storeApplication(
  tx: Tx,
  merchantId: string,
  { webAddress, sells, at }: Application,
): Promise<void> {
  await execute(
    tx,
    sql`update agreement set web_address = ${webAddress}, sells = ${sells}, applied_at = ${at}::timestamptz,
          status_since = case status when 'rejected' then now() else status_since end,
          status_message = case status when 'rejected' then null else status_message end,
          status = case status when 'rejected' then 'pending' else status end
        where merchant_id = ${merchantId}`,
  )
}

const applicantRow = storedAgreement
  .pick({ web_address: true, sells: true, applied_at: true })
  .extend({ merchant_id: z.string(), name: z.string() })
  .transform(({ merchant_id: merchantId, name, ...row }) => ({ merchantId, name, application: toApplication(row) }))
export type Applicant = z.output<typeof applicantRow>

/** Merchants that have applied and wait for the operator, the longest wait first. */
export function listApplicants(db: Queryable, limit: number): Promise<Applicant[]> {
  return many(
    db,
    applicantRow,
    sql`select merchant_id, name, web_address, sells, applied_at from agreement
        join merchant on merchant.id = merchant_id
        where status = 'pending' and applied_at is not null order by applied_at limit ${limit}`,
  )
}

const openRow = z.object({ id: z.string() })

/**
 * Open payments of suspended merchants, in the order of their ids, without those of which money is at a partner: these
 * cannot be canceled.
 */
export async function listOpenOfSuspended(
  db: Queryable,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await many(
    db,
    openRow,
    sql`select payment.id from agreement join payment using (merchant_id)
        where agreement.status = 'suspended' and open_payments > 0 and payment.livemode = ${db.livemode}
          and payment.status in ('created', 'pending') and closed_at is null
          -- As isOwedToBuyer: dust at an address, which anybody can send, keeps no payment open.
          and not exists (select from attempt where payment_id = payment.id
            and held - outside >= case when asked_micro is null then 1 else ${DUST_MICRO.toString()}::numeric end)
          and payment.id > ${after}
        order by payment.id limit ${limit}`,
  )
  return rows.map(({ id }) => id)
}

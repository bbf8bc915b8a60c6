import { z } from 'zod'
import { type AddressSource, CUSTOMER_DAYS, type Customer } from '../../domain/payment/buyer.ts'
import { execute, many, type Queryable, type Statement, sql, type Tenant } from '../db.ts'

/** The people who pay. Times are ISO 8601. */

/** Part of a statement: inserts what the merchant gave of the buyer. `made` has the id of the payment, or no row. */
export function customerInsert(
  made: Statement,
  tenant: Tenant,
  customer: Customer & { readonly at: string },
): Statement {
  const { email, taxId, at } = customer
  return sql`insert into payment_buyer (payment_id, merchant_id, livemode, email, source, tax_id, given_at)
    select id, ${tenant.merchantId}, ${tenant.livemode}, ${email}, 'merchant', ${taxId}, ${at}::timestamptz from ${made}`
}

const customerRow = z.object({
  payment_id: z.string(),
  shown_email: z.string().nullable(),
  tax_id: z.string().nullable(),
})

/** Returns what the merchant has of the buyers, by payment. Buyers of whom it has nothing are left out. */
export async function readCustomers(
  db: Queryable,
  tenant: Tenant,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, Customer>> {
  if (paymentIds.length === 0) return new Map()
  const rows = await many(
    db,
    customerRow,
    sql`select payment_id, shown_email, tax_id from payment_buyer
        where payment_id = any(${[...paymentIds]}::text[]) and merchant_id = ${tenant.merchantId}
          and livemode = ${tenant.livemode}`,
  )
  return new Map(rows.map((row) => [row.payment_id, { email: row.shown_email, taxId: row.tax_id }]))
}

/** A new address must not keep a tax id longer: the older of the two decides when both are deleted. */
const givenAt = (row: Statement, at: string): Statement =>
  sql`case when ${row}.tax_id is null then ${at}::timestamptz else ${row}.given_at end`

/** The merchant sets, corrects or deletes (null) the address, also one that the buyer gave. */
export async function setCustomerEmail(
  db: Queryable,
  tenant: Tenant,
  { paymentId, email, at }: { readonly paymentId: string; readonly email: string | null; readonly at: string },
): Promise<void> {
  const own = sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
  const changes = sql`email = ${email}::text, source = 'merchant', given_at = ${givenAt(sql`payment_buyer`, at)}`
  await execute(
    db,
    email === null
      ? sql`update payment_buyer set ${changes} where payment_id = ${paymentId} and ${own}`
      : sql`insert into payment_buyer (payment_id, merchant_id, livemode, email, source, given_at)
          select id, merchant_id, livemode, ${email}, 'merchant', ${at}::timestamptz from payment
          where id = ${paymentId} and ${own}
          on conflict (payment_id) do update set ${changes}`,
  )
}

export type TypedAddress = {
  readonly paymentId: string
  readonly email: string
  readonly source: Exclude<AddressSource, 'merchant'>
  readonly language: string
  readonly at: string
}

/**
 * Stores the address that the buyer typed. It changes nothing if the merchant gave one, or if a mail was written: then
 * nobody can have further mails sent to other people.
 */
export async function saveTypedAddress(db: Queryable, typed: TypedAddress): Promise<void> {
  const { paymentId, email, source, language, at } = typed
  await execute(
    db,
    sql`insert into payment_buyer as known (payment_id, merchant_id, livemode, email, source, language, given_at)
        select id, merchant_id, livemode, ${email}, ${source}, ${language}, ${at}::timestamptz from payment
        where id = ${paymentId} and livemode = ${db.livemode}
          and not exists (select from buyer_mail where payment_id = ${paymentId} and written_at is not null)
        on conflict (payment_id) do update
          set email = excluded.email, source = excluded.source, language = excluded.language,
            given_at = ${givenAt(sql`known`, at)}
          where known.email is null or known.source <> 'merchant'`,
  )
}

/** The language of the mails to an address that the merchant gave. */
export async function noteBuyerLanguage(db: Queryable, paymentId: string, language: string): Promise<void> {
  await execute(
    db,
    sql`update payment_buyer set language = ${language} where payment_id = ${paymentId} and language <> ${language}`,
  )
}

/** Returns the number of buyers whose data was deleted, at most `most`. `now` is ISO 8601 UTC. */
export function forgetBuyers(db: Queryable, now: string, most: number): Promise<number> {
  return execute(
    db,
    sql`update payment_buyer set email = null, tax_id = null where ctid = any(array(
          select ctid from payment_buyer
          where (email is not null or tax_id is not null)
            and given_at < ${now}::timestamptz - make_interval(days => ${CUSTOMER_DAYS})
          order by given_at limit ${most}))`,
  )
}

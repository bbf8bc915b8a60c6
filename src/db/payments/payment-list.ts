import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { many, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { byId, cutPage, hasCursors, type PageOf, pageClause } from '../pages.ts'
import { attemptRow, paymentRow } from './payment-rows.ts'

export type PaymentFilters = {
  readonly status?: readonly string[] | undefined
  readonly provider?: string | undefined
  readonly currency?: string | undefined
  readonly reference?: string | undefined
  readonly tx_hash?: string | undefined
  /** The id of the link that they were made by. */
  readonly paymentLink?: string | undefined
  /** ISO 8601. */
  readonly createdFrom?: string | undefined
  readonly createdBefore?: string | undefined
  /** In id, reference, description or transaction. */
  readonly search?: string | undefined
}

/** Newest first. Null when a cursor is no payment of the merchant. */
export async function listPayments(
  db: Queryable,
  tenant: Tenant,
  { filters, page }: { filters: PaymentFilters; page: PageOf },
): Promise<{ rows: Pick<PaymentWithAttempts, 'payment' | 'attempts'>[]; hasMore: boolean } | null> {
  const list = sql`from payment where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
  if (!(await hasCursors(db, page, { id: sql`id`, list }))) return null
  const found = await many(
    db,
    paymentRow,
    sql`select * ${list} ${matching(filters)} ${pageClause(byId(sql`id`), page)}`,
  )
  const { rows, hasMore } = cutPage(found, page)
  const attempts = await attemptsOf(
    db,
    rows.map(({ id }) => id),
  )
  return { rows: rows.map((payment) => ({ payment, attempts: attempts.get(payment.id) ?? [] })), hasMore }
}

function matching(filters: PaymentFilters): Statement {
  const { status, provider, currency, reference, tx_hash: txHash, createdFrom, createdBefore, search } = filters
  const { paymentLink } = filters
  const clauses = [
    ...(status === undefined ? [] : [sql`and status = any(${status}::text[])`]),
    ...(provider === undefined ? [] : [sql`and coalesce(provider_used, provider) = ${provider}`]),
    ...(currency === undefined ? [] : [sql`and currency = ${currency}`]),
    ...(reference === undefined ? [] : [sql`and reference = ${reference}`]),
    ...(txHash === undefined ? [] : [sql`and tx_hash = ${txHash.toLowerCase()}`]),
    ...(paymentLink === undefined ? [] : [sql`and payment_link = ${paymentLink}`]),
    ...(createdFrom === undefined ? [] : [sql`and created_at >= ${createdFrom}::timestamptz`]),
    ...(createdBefore === undefined ? [] : [sql`and created_at < ${createdBefore}::timestamptz`]),
    ...(search === undefined ? [] : [searchFor(search)]),
  ]
  return clauses.reduce((left, right) => sql`${left} ${right}`, sql``)
}

function searchFor(text: string): Statement {
  const pattern = `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  return sql`and (id = ${text} or tx_hash = ${text.toLowerCase()} or reference ilike ${pattern} or description ilike ${pattern})`
}

async function attemptsOf(db: Queryable, paymentIds: readonly string[]): Promise<Map<string, Attempt[]>> {
  const byPayment = new Map<string, Attempt[]>()
  if (paymentIds.length === 0) return byPayment
  const all = await many(
    db,
    attemptRow,
    sql`select * from attempt where payment_id = any(${paymentIds}::text[]) order by created_at, id`,
  )
  for (const attempt of all) byPayment.set(attempt.paymentId, [...(byPayment.get(attempt.paymentId) ?? []), attempt])
  return byPayment
}

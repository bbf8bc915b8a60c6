import { readEmail } from '../../domain/account/email.ts'
import { isId } from '../../domain/ids.ts'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { storedReference } from '../../domain/text.ts'
import { many, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { byId, containing, cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { attemptRow, paymentRow } from './payment-rows.ts'

export type PaymentFilters = {
  readonly status?: readonly string[] | undefined
  readonly provider?: string | undefined
  readonly currency?: string | undefined
  readonly reference?: string | undefined
  /** As `readEmail` returns it. Finds payments whose merchant has the address. */
  readonly customerEmail?: string | undefined
  readonly tx_hash?: string | undefined
  readonly paymentLink?: string | undefined
  readonly shopApi?: string | undefined
  /** ISO 8601. */
  readonly createdFrom?: string | undefined
  readonly createdBefore?: string | undefined
  /** A payment's id, a transaction, the buyer's address, or words of reference and description. */
  readonly search?: string | undefined
}

/** Null if a cursor is no payment of the merchant. The search for words works only in a merchant's own session. */
export async function listPayments(
  db: Queryable,
  tenant: Tenant,
  { filters, page }: { filters: PaymentFilters; page: ListPage },
): Promise<{ rows: Pick<PaymentWithAttempts, 'payment' | 'attempts'>[]; hasMore: boolean } | null> {
  const list = sql`from payment where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
  const { words, ...known } = searchIn({ ...filters, shopApi: tenant.shopApi })
  if (!(await hasCursors(db, page, { id: sql`id`, list }))) return null
  const ids = words === null ? sql`` : sql`and (${findByWords(tenant, words, { known, page })})`
  const wanted = sql`${matching(tenant, known)} ${ids}`
  const found = await many(db, paymentRow, sql`select * ${list} ${wanted} ${pageClause(byId(sql`id`), page)}`)
  const { rows, hasMore } = cutPage(found, page)
  const attempts = await readAttempts(
    db,
    rows.map(({ id }) => id),
  )
  return { rows: rows.map((payment) => ({ payment, attempts: attempts.get(payment.id) ?? [] })), hasMore }
}

type Known = Omit<PaymentFilters, 'search'> & { readonly id?: string }

/** Text in the form of an id or a transaction is read as one, so that most searches read one row of an index. */
function searchIn({ search, ...filters }: PaymentFilters): Known & { readonly words: string | null } {
  if (search === undefined) return { ...filters, words: null }
  if (isId('payment', search)) return { ...filters, id: search, words: null }
  return isTransaction(search) && filters.tx_hash === undefined
    ? { ...filters, tx_hash: search, words: null }
    : { ...filters, words: search }
}

const isTransaction = (text: string): boolean => /^0x[0-9a-fA-F]{64}$/.test(text)

function findByWords(tenant: Tenant, words: string, { known, page }: { known: Known; page: ListPage }): Statement {
  const found = sql`id = any(array(select ${matchingWords(words, known, page)}))`
  const email = readEmail(words)
  return email === null ? found : sql`${found} or ${hasAddress(tenant, email)}`
}

/** A buyer has few payments at one merchant. */
const hasAddress = ({ merchantId, livemode }: Tenant, email: string): Statement =>
  sql`id in (select payment_id from payment_buyer
        where merchant_id = ${merchantId} and livemode = ${livemode} and shown_email = ${email})`

function matching(tenant: Tenant, { id, ...filters }: Known): Statement {
  const { status, provider, currency, reference, tx_hash: txHash, createdFrom, createdBefore } = filters
  const { paymentLink, shopApi, customerEmail } = filters
  const clauses = [
    ...(id === undefined ? [] : [sql`and id = ${id}`]),
    ...(status === undefined ? [] : [sql`and status = any(${status}::text[])`]),
    ...(provider === undefined ? [] : [sql`and coalesce(provider_used, provider) = ${provider}`]),
    ...(currency === undefined ? [] : [sql`and currency = ${currency}`]),
    ...(reference === undefined ? [] : [sql`and reference = ${storedReference(reference)}`]),
    ...(customerEmail === undefined ? [] : [sql`and ${hasAddress(tenant, customerEmail)}`]),
    ...(txHash === undefined ? [] : [sql`and tx_hash = ${txHash.toLowerCase()}`]),
    ...(paymentLink === undefined ? [] : [sql`and payment_link = ${paymentLink}`]),
    ...(shopApi === undefined ? [] : [sql`and shop_api = ${shopApi}`]),
    ...(createdFrom === undefined ? [] : [sql`and created_at >= ${createdFrom}::timestamptz`]),
    ...(createdBefore === undefined ? [] : [sql`and created_at < ${createdBefore}::timestamptz`]),
  ]
  return clauses.reduce((left, right) => sql`${left} ${right}`, sql``)
}

/** Postgres finds words by three letters or digits in a row; shorter words are searched among this many payments. */
const SHORT_AMONG = 10_000
const HAS_THREE = /[\p{L}\p{N}]{3}/u

/** The ids of the page, and of one more payment. */
function matchingWords(words: string, { tx_hash: txHash, ...filters }: Known, page: ListPage): Statement {
  const { after, before, limit } = page
  const rest = JSON.stringify({
    ...filters,
    reference: filters.reference && storedReference(filters.reference),
    among: HAS_THREE.test(words) ? null : SHORT_AMONG,
    tx_hash: txHash?.toLowerCase(),
    ...(after !== null && { after }),
    ...(before !== null && { before }),
  })
  return sql`matching_payments(${containing(words)}, ${rest}::jsonb, ${limit + 1})`
}

async function readAttempts(db: Queryable, paymentIds: readonly string[]): Promise<Map<string, Attempt[]>> {
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

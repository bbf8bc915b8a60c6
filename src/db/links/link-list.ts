import type { PaymentLink } from '../../domain/link/link.ts'
import { storedReference } from '../../domain/text.ts'
import { many, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { byId, containing, cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { linkColumns, linkRow } from './links.ts'

export type LinkFilters = {
  /** True: its owner has it active, and no operator has stopped it. */
  readonly active?: boolean | undefined
  readonly reference?: string | undefined
  readonly search?: string | undefined
}

/** Newest first. Null if a cursor is no link of the merchant. */
export async function listLinks(
  db: Queryable,
  tenant: Tenant,
  { filters, page }: { filters: LinkFilters; page: ListPage },
): Promise<{ rows: PaymentLink[]; hasMore: boolean } | null> {
  const list = sql`from payment_link where merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
  if (!(await hasCursors(db, page, { id: sql`id`, list }))) return null
  const found = await many(
    db,
    linkRow,
    sql`select ${linkColumns} ${list} ${matching(filters)} ${pageClause(byId(sql`id`), page)}`,
  )
  return cutPage(found, page)
}

function matching({ active, reference, search }: LinkFilters): Statement {
  const clauses = [
    ...(active === undefined ? [] : [sql`and (active and stopped_at is null) = ${active}`]),
    ...(reference === undefined ? [] : [sql`and reference = ${storedReference(reference)}`]),
    ...(search === undefined ? [] : [searchFor(search)]),
  ]
  return clauses.reduce((left, right) => sql`${left} ${right}`, sql``)
}

function searchFor(text: string): Statement {
  const pattern = containing(text)
  return sql`and (id = ${text} or code = ${text} or title ilike ${pattern} or reference ilike ${pattern})`
}

import { z } from 'zod'
import { execute, many, type Queryable, sql } from '../db.ts'
import { byId, cutPage, hasCursors, type PageOf, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

export type AuditNote = {
  readonly merchantId: string
  readonly actor: string
  readonly action: string
  /** Ids and settings; no secret, no name. */
  readonly data: object
  readonly ip: string
}

/** In the transaction of the change, so that neither is without the other. */
export async function writeAudit(db: Queryable, note: AuditNote): Promise<void> {
  await execute(
    db,
    sql`insert into audit_entry (merchant_id, actor, action, data, ip)
        values (${note.merchantId}, ${note.actor}, ${note.action}, ${JSON.stringify(note.data)}::jsonb, ${note.ip})`,
  )
}

const auditRow = z.object({
  id: z.coerce.string(),
  actor: z.string(),
  action: z.string(),
  data: z.record(z.string(), z.unknown()),
  ip: z.string(),
  at: time,
})
export type AuditEntry = z.output<typeof auditRow>

/** Newest first; of these actions alone when they are named. */
export function listAudit(
  db: Queryable,
  merchantId: string,
  { limit, actions }: { limit: number; actions?: readonly string[] },
): Promise<AuditEntry[]> {
  return many(
    db,
    auditRow,
    sql`select id, actor, action, data, ip, at from audit_entry where merchant_id = ${merchantId}
        ${actions === undefined ? sql`` : sql`and action = any(${actions}::text[])`} order by id desc limit ${limit}`,
  )
}

export type AuditFilters = {
  readonly action?: string | undefined
  readonly actor?: string | undefined
  /** ISO 8601. */
  readonly from?: string | undefined
  readonly before?: string | undefined
}

/** Newest first. Null when a cursor is no entry of the account. */
export async function pageOfAudit(
  db: Queryable,
  merchantId: string,
  { filters: { action, actor, from, before }, page }: { filters: AuditFilters; page: PageOf },
): Promise<{ rows: AuditEntry[]; hasMore: boolean } | null> {
  const list = sql`from audit_entry where merchant_id = ${merchantId}`
  if (!(await hasCursors(db, page, { id: sql`id::text`, list }))) return null
  const wanted = [
    ...(action === undefined ? [] : [sql`and action = ${action}`]),
    ...(actor === undefined ? [] : [sql`and actor = ${actor}`]),
    ...(from === undefined ? [] : [sql`and at >= ${from}::timestamptz`]),
    ...(before === undefined ? [] : [sql`and at < ${before}::timestamptz`]),
  ].reduce((left, right) => sql`${left} ${right}`, sql``)
  const found = await many(
    db,
    auditRow,
    sql`select id, actor, action, data, ip, at ${list} ${wanted} ${pageClause(byId(sql`id`), page)}`,
  )
  return cutPage(found, page)
}

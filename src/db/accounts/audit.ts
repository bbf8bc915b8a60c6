import { z } from 'zod'
import { newId } from '../../ids.ts'
import { execute, many, one, type Queryable, sql, type Tx } from '../db.ts'
import { cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

export type AuditNote = {
  readonly merchantId: string
  readonly actor: string
  readonly action: string
  /** Ids and settings: no secret, no name, and only the masked form of an invited address. */
  readonly data: object
  readonly ip: string
}

/** Call it in the transaction of the change, so that neither exists without the other. */
export async function writeAudit(db: Queryable, note: AuditNote): Promise<void> {
  await execute(
    db,
    sql`insert into audit_entry (public_id, merchant_id, actor, action, data, ip)
        values (${newId('auditEntry')}, ${note.merchantId}, ${note.actor}, ${note.action},
          ${JSON.stringify(note.data)}::jsonb, ${note.ip})`,
  )
}

const countRow = z.object({ count: z.coerce.number() })

/** Skips an entry like one of the last hour from any address: an action that people repeat does not fill the log. */
export async function writeAuditHourly(tx: Tx, note: AuditNote): Promise<void> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`audit_entry ${note.actor}`}, 0))`)
  const { count } = await one(
    tx,
    countRow,
    sql`select count(*) as count from audit_entry where merchant_id = ${note.merchantId} and actor = ${note.actor}
          and action = ${note.action} and data = ${JSON.stringify(note.data)}::jsonb and at > now() - interval '1 hour'`,
  )
  if (count === 0) await writeAudit(tx, note)
}

const failedSignInRow = z.object({ merchantId: z.string(), actor: z.string() })

export async function writeFailedSignIn(
  tx: Tx,
  person: { readonly personId: string } | { readonly email: string },
  { how, ip }: { readonly how: 'code' | 'passkey'; readonly ip: string },
): Promise<void> {
  const [column, value] = 'personId' in person ? [sql`person.id`, person.personId] : [sql`person.email`, person.email]
  const memberships = await many(
    tx,
    failedSignInRow,
    sql`select membership.merchant_id as "merchantId", person.id as actor
        from membership join person on person.id = membership.person_id where ${column} = ${value}`,
  )
  for (const member of memberships)
    await writeAuditHourly(tx, { ...member, action: 'person.sign_in_failed', data: { how }, ip })
}

export async function writeAuditEverywhere(
  db: Queryable,
  memberships: readonly { readonly merchantId: string }[],
  note: Omit<AuditNote, 'merchantId'>,
): Promise<void> {
  for (const { merchantId } of memberships) await writeAudit(db, { ...note, merchantId })
}

const auditRow = z.object({
  /** Reveals nothing about other accounts; the number that orders the entries counts those of all accounts. */
  id: z.string(),
  actor: z.string(),
  action: z.string(),
  data: z.record(z.string(), z.unknown()),
  ip: z.string(),
  at: time,
})
export type AuditEntry = z.output<typeof auditRow>

/** Newest first; only those of `actions` if it is given. */
export function listAudit(
  db: Queryable,
  merchantId: string,
  { limit, actions }: { limit: number; actions?: readonly string[] },
): Promise<AuditEntry[]> {
  return many(
    db,
    auditRow,
    sql`select public_id as id, actor, action, data, ip, at from audit_entry where merchant_id = ${merchantId}
        ${actions === undefined ? sql`` : sql`and action = any(${actions}::text[])`} order by audit_entry.id desc limit ${limit}`,
  )
}

export type AuditFilters = {
  readonly action?: string | undefined
  readonly actor?: string | undefined
  /** ISO 8601. */
  readonly from?: string | undefined
  readonly before?: string | undefined
}

/** Newest first. Null if a cursor is no entry of the account. */
export async function listAuditPage(
  db: Queryable,
  merchantId: string,
  { filters: { action, actor, from, before }, page }: { filters: AuditFilters; page: ListPage },
): Promise<{ rows: AuditEntry[]; hasMore: boolean } | null> {
  const list = sql`from audit_entry where merchant_id = ${merchantId}`
  if (!(await hasCursors(db, page, { id: sql`public_id`, list }))) return null
  const place = {
    column: sql`audit_entry.id`,
    of: (cursor: string) => sql`(select place.id from audit_entry place where place.public_id = ${cursor})`,
  }
  const wanted = [
    ...(action === undefined ? [] : [sql`and action = ${action}`]),
    ...(actor === undefined ? [] : [sql`and actor = ${actor}`]),
    ...(from === undefined ? [] : [sql`and at >= ${from}::timestamptz`]),
    ...(before === undefined ? [] : [sql`and at < ${before}::timestamptz`]),
  ].reduce((left, right) => sql`${left} ${right}`, sql``)
  const found = await many(
    db,
    auditRow,
    sql`select public_id as id, actor, action, data, ip, at ${list} ${wanted} ${pageClause(place, page)}`,
  )
  return cutPage(found, page)
}

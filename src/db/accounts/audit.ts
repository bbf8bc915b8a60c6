import { z } from 'zod'
import { execute, many, type Queryable, sql } from '../db.ts'
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

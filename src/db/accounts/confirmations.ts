import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql, type Tx } from '../db.ts'

/** The most confirmations of a session: each can contain a picture. */
const MOST_PER_SESSION = 10

export type NewConfirmation = {
  readonly id: string
  readonly sessionId: string
  readonly sealed: string
  /** ISO 8601. */
  readonly now: string
  readonly expiresAt: string
}

export async function insertConfirmation(tx: Tx, asked: NewConfirmation): Promise<void> {
  await execute(
    tx,
    sql`insert into confirmation (id, session_id, sealed, created_at, expires_at)
        values (${asked.id}, ${asked.sessionId}, ${asked.sealed}, ${asked.now}::timestamptz,
          ${asked.expiresAt}::timestamptz)`,
  )
  await execute(
    tx,
    sql`delete from confirmation where id in (
          select id from confirmation where session_id = ${asked.sessionId} order by created_at desc offset ${MOST_PER_SESSION})`,
  )
}

const sealedRow = z.object({ sealed: z.string() })

/** Returns the sealed request; null: the session did not make this request, or too long ago. */
export async function findConfirmation(
  db: Queryable,
  { id, sessionId, now }: Pick<NewConfirmation, 'id' | 'sessionId' | 'now'>,
): Promise<string | null> {
  const found = await maybeOne(
    db,
    sealedRow,
    sql`select sealed from confirmation
        where id = ${id} and session_id = ${sessionId} and expires_at > ${now}::timestamptz`,
  )
  return found?.sealed ?? null
}

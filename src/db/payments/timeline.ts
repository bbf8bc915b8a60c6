import type { Actor } from '../../domain/timeline.ts'
import { execute, type Queryable, sql } from '../db.ts'

export type TimelineNote = {
  readonly paymentId: string
  /** ISO 8601. */
  readonly at: string
  readonly kind: string
  readonly actor: Actor
  readonly message: string
  readonly data: object
}

/**
 * Writes an entry that comes with no change of the payment. False when the schema knows the note as one that is
 * written once, and it is there already.
 */
export async function addTimelineNote(db: Queryable, note: TimelineNote): Promise<boolean> {
  const written = await execute(
    db,
    sql`insert into timeline_entry (payment_id, at, kind, actor, message, data)
        values (${note.paymentId}, ${note.at}::timestamptz, ${note.kind}, ${note.actor}, ${note.message},
                ${JSON.stringify(note.data)}::jsonb)
        on conflict do nothing`,
  )
  return written === 1
}

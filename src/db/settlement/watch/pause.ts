import { execute, sql } from '../../db.ts'
import type { JournalContext } from '../context.ts'
import { here } from '../record.ts'

/** Stops every lane until an operator ends it. The first reason stays. */
export async function pause(context: JournalContext, reason: string): Promise<void> {
  await execute(
    context.db,
    sql`update chain_cursor set paused_reason = coalesce(paused_reason, ${reason}) where ${here(context)}`,
  )
}

import { execute, sql } from '../../db.ts'
import type { JournalContext } from '../context.ts'
import { here } from '../record.ts'

/**
 * Stops every lane. With `untilFinal`, a block that is not final has shown the reason: the pause ends by itself when the
 * final blocks have passed it without the reason. Otherwise an operator ends it. The first reason stays.
 */
export async function pause(
  context: JournalContext,
  { reason, untilFinal }: { reason: string; untilFinal: number | null },
): Promise<void> {
  await execute(
    context.db,
    sql`update chain_cursor set paused_reason = case when ${untilFinal}::bigint is null and paused_until_final is not null
            then ${reason} else coalesce(paused_reason, ${reason}) end,
          paused_until_final = case when ${untilFinal}::bigint is null then null
            when paused_reason is null then ${untilFinal}::bigint
            when paused_until_final is not null then greatest(paused_until_final, ${untilFinal}::bigint) end
        where ${here(context)}`,
  )
}

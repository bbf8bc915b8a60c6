import type { Hex } from '../../../domain/hex.ts'
import { REVERSAL_PAUSE } from '../../../domain/settlement/payout.ts'
import { execute, type Queryable, sql } from '../../db.ts'
import type { JournalContext } from '../context.ts'

/** The first reason stays. */
export async function pause({ db, scope }: JournalContext, reason: string): Promise<void> {
  await execute(
    db,
    sql`update chain_cursor set paused_reason = coalesce(paused_reason, ${reason})
        where chain_id = ${scope.chainId} and token = ${scope.token}`,
  )
}

/**
 * Ends the pause for unknown transfers once none is left. The pause for a replaced block ends with its repair, even if
 * that was begun and has not ended. Returns true if there was a pause to end.
 */
export async function endTransferPause(
  on: Queryable,
  { chainId, token }: { readonly chainId: number; readonly token: Hex },
): Promise<boolean> {
  const ended = await execute(
    on,
    sql`update chain_cursor set paused_reason = null where chain_id = ${chainId} and token = ${token}
          and paused_reason not like ${`${REVERSAL_PAUSE}%`} and not exists (select 1 from treasury_log l
            where l.chain_id = ${chainId} and l.token = ${token} and l.kind = 'out' and l.known_as is null)`,
  )
  return ended > 0
}

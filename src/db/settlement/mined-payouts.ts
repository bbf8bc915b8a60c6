import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { Lease } from '../../domain/settlement/payout.ts'
import { execute, many, sql } from '../db.ts'
import { isInScope, type JournalContext } from './context.ts'
import { fence } from './cursor.ts'
import { hex } from './payouts.ts'
import { seen } from './queue.ts'

const sentRow = z.object({ owner_id: z.string(), treasury: hex, auth_nonce: hex, is_mined: z.boolean() })

export async function readSent(
  context: JournalContext,
  limit: number,
): Promise<{ ownerId: string; treasury: Hex; authNonce: Hex; isMined: boolean }[]> {
  const rows = await many(
    context.db,
    sentRow,
    sql`select p.owner_id, p.treasury, p.auth_nonce, p.mined_number is not null as is_mined from payout p
          where ${isInScope(context)} and p.lane_wallet is not null
        union select p.owner_id, p.treasury, p.auth_nonce, true from payout p where ${isInScope(context)} and ${seen}
        limit ${limit}`,
  )
  return rows.map((row) => ({
    ownerId: row.owner_id,
    treasury: row.treasury,
    authNonce: row.auth_nonce,
    isMined: row.is_mined,
  }))
}

/** Payouts that the newest block no longer shows return to their previous state. */
export function markMined(
  context: JournalContext,
  lease: Lease,
  { number, mined, gone }: { number: number; mined: readonly string[]; gone: readonly string[] },
): Promise<void> {
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    const shown = sql`update payout p set mined_number = ${number}, updated_at = now(),
            state = case when p.state in ('queued', 'authorized', 'assigned') then 'mined' else p.state end
          where ${isInScope(context)} and p.owner_id = any(${[...mined]}) and p.state not in ('settled', 'voided')`
    const hidden = sql`update payout p set mined_number = null, updated_at = now(),
            state = case when p.state <> 'mined' then p.state when p.lane_wallet is not null then 'assigned'
              when exists (select 1 from payout_signature s where s.owner_id = p.owner_id and s.kind = 'transfer')
                then 'authorized'
              else 'queued' end
          where ${isInScope(context)} and p.owner_id = any(${[...gone]}) and ${seen}
            and not exists (select 1 from treasury_log l where l.chain_id = p.chain_id and l.token = p.token
              and l.treasury = p.treasury and l.auth_nonce = p.auth_nonce)`
    if (mined.length > 0) await execute(tx, shown)
    if (gone.length > 0) await execute(tx, hidden)
  })
}

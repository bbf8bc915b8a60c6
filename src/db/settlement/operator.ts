import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { ABANDONED, type TreasuryMovement } from '../../domain/settlement/payout.ts'
import { execute, maybeOne, type Queryable, sql, type Tx } from '../db.ts'
import { leaveEnvelopes } from './envelopes.ts'
import { unclaimed } from './observer/known-logs.ts'
import { endTransferPause } from './observer/pause.ts'
import { listMovements } from './observer/pending-logs.ts'

/** An operator must examine its foreign nonces first. False if the lane was not quarantined. */
export async function releaseLane(db: Queryable, lane: { chainId: number; wallet: Hex }): Promise<boolean> {
  const changed = await execute(
    db,
    sql`update lane set status = 'open', status_reason = null where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
          and status = 'quarantined'`,
  )
  return changed === 1
}

/**
 * Abandons a lane: it sends nothing more, and other lanes send its payouts immediately. Its sent transactions might
 * still be mined; the token accepts each authorization once. Returns how many payouts left it; null for an unknown
 * lane.
 */
export async function abandonLane(tx: Tx, lane: { chainId: number; wallet: Hex }): Promise<number | null> {
  const changed = await execute(
    tx,
    sql`update lane set status = 'quarantined', status_reason = ${ABANDONED}
        where chain_id = ${lane.chainId} and wallet = ${lane.wallet}`,
  )
  if (changed === 0) return null
  const left = await leaveEnvelopes(tx, lane.chainId, sql`l.wallet = ${lane.wallet}`)
  return left.reduce((sum, { count }) => sum + count, 0)
}

type Place = { readonly chainId: number; readonly token: Hex }

export async function listUnclaimed(
  tx: Tx,
  { chainId, token }: Place,
  txHash: Hex,
): Promise<{ readonly all: readonly TreasuryMovement[]; readonly unbooked: readonly TreasuryMovement[] }> {
  const these = sql`l.chain_id = ${chainId} and l.token = ${token} and l.tx_hash = ${txHash} and ${unclaimed}`
  const unbooked = await listMovements(tx, chainId, sql`${these} and l.applied_at is null`)
  return { all: await listMovements(tx, chainId, these), unbooked }
}

const countRow = z.object({ count: z.coerce.number() })

/**
 * Declares the unclaimed transfers of a transaction known and, if no unknown one is left, ends the pause. Returns how
 * many unknown transfers remain; null if the transaction had none and no other is unknown.
 */
export async function acknowledgeTransfers(tx: Tx, scope: Place, txHash: Hex): Promise<number | null> {
  const known = await execute(
    tx,
    sql`update treasury_log l set known_as = 'operator', applied_at = coalesce(l.applied_at, now())
        where l.chain_id = ${scope.chainId} and l.token = ${scope.token} and l.tx_hash = ${txHash} and ${unclaimed}`,
  )
  const left = await maybeOne(
    tx,
    countRow,
    sql`select count(*) from treasury_log where chain_id = ${scope.chainId} and token = ${scope.token}
          and kind = 'out' and known_as is null`,
  )
  const remaining = left?.count ?? 0
  if (remaining > 0) return remaining
  const isEnded = await endTransferPause(tx, scope)
  return known === 0 && !isEnded ? null : 0
}

import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { execute, many, maybeOne, type Queryable, sql, type Tx } from '../db.ts'
import { leaveEnvelopes } from './envelopes.ts'
import { hex, shownState } from './payouts.ts'

/** What an operator may do to lanes and to the pause of the solvency watch, and what status shows. */

/** Opens a quarantined lane again, after its foreign nonces were looked into. False when it was not quarantined. */
export async function releaseLane(db: Queryable, lane: { chainId: number; wallet: Hex }): Promise<boolean> {
  const changed = await execute(
    db,
    sql`update lane set status = 'open', status_reason = null where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
          and status = 'quarantined'`,
  )
  return changed === 1
}

/**
 * Gives a lane up: it sends nothing more, and what it carries goes out by the other lanes at once. What it has sent may
 * still be mined; the token accepts each authorization once. Answers how many payouts left it; null for an unknown lane.
 */
export async function abandonLane(tx: Tx, lane: { chainId: number; wallet: Hex }): Promise<number | null> {
  const changed = await execute(
    tx,
    sql`update lane set status = 'quarantined', status_reason = 'abandoned by an operator'
        where chain_id = ${lane.chainId} and wallet = ${lane.wallet}`,
  )
  if (changed === 0) return null
  const left = await leaveEnvelopes(tx, lane.chainId, sql`l.wallet = ${lane.wallet}`)
  return left.reduce((sum, { count }) => sum + count, 0)
}

/**
 * Declares the unknown transfers of a transaction known and, when no unknown one is left, ends the pause. Answers how
 * many unknown transfers remain.
 */
export async function acknowledgeTransfers(
  tx: Tx,
  scope: { chainId: number; token: Hex },
  txHash: Hex,
): Promise<number> {
  await execute(
    tx,
    sql`update treasury_log set known_as = 'operator' where chain_id = ${scope.chainId} and token = ${scope.token}
          and tx_hash = ${txHash} and kind = 'out' and known_as is null`,
  )
  const left = await maybeOne(
    tx,
    z.object({ count: z.coerce.number() }),
    sql`select count(*) from treasury_log where chain_id = ${scope.chainId} and token = ${scope.token}
          and kind = 'out' and known_as is null`,
  )
  const remaining = left?.count ?? 0
  if (remaining === 0)
    await execute(
      tx,
      sql`update chain_cursor set paused_reason = null, paused_until_final = null where chain_id = ${scope.chainId} and token = ${scope.token}`,
    )
  return remaining
}

const laneRow = z.object({
  wallet: hex,
  status: z.string(),
  status_reason: z.string().nullable(),
  next_nonce: z.string(),
  open: z.coerce.number(),
})
const stateRow = z.object({
  state: z.string(),
  reason: z.string().nullable(),
  count: z.coerce.number(),
  micro: z.string(),
})
const attentionRow = z.object({ kind: z.string(), subject: z.string(), detail: z.string().nullable() })
const cursorRow = z.object({ number: z.string(), hash: hex, paused_reason: z.string().nullable() })

export type SettlementStatus = {
  readonly cursor: z.infer<typeof cursorRow> | null
  readonly lanes: readonly z.infer<typeof laneRow>[]
  readonly payouts: readonly z.infer<typeof stateRow>[]
  /** What waits for a person, or fails and is tried again; the oldest first. */
  readonly attention: readonly z.infer<typeof attentionRow>[]
}

/** Lanes, payouts by state, and how far the chain has been read. */
export async function readSettlementStatus(
  db: Queryable,
  scope: { chainId: number; token: Hex },
): Promise<SettlementStatus> {
  const cursor = await maybeOne(
    db,
    cursorRow,
    sql`select scanned_number::text as number, scanned_hash as hash, paused_reason from chain_cursor
        where chain_id = ${scope.chainId} and token = ${scope.token}`,
  )
  const lanes = await many(
    db,
    laneRow,
    sql`select l.wallet, l.status, l.status_reason, l.next_nonce::text,
          (select count(*) from lane_tx t where (t.chain_id, t.wallet) = (l.chain_id, l.wallet)
            and t.state in ('reserved', 'signed', 'broadcast')) as open
        from lane l where l.chain_id = ${scope.chainId} order by l.wallet`,
  )
  const payouts = await many(
    db,
    stateRow,
    sql`select ${shownState} as state, p.hold_reason as reason, count(*), sum(p.micro_usdc)::text as micro from payout p
        where p.chain_id = ${scope.chainId} and p.token = ${scope.token} and p.livemode = ${db.livemode} group by 1, 2 order by 1, 2`,
  )
  const attention = await many(
    db,
    attentionRow,
    sql`select kind, subject, detail from settlement_attention where livemode is null or livemode = ${db.livemode}
        order by since nulls first limit 50`,
  )
  return { cursor, lanes, payouts, attention }
}

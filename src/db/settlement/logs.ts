import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { describeTransfer, type FinalizedScan, type Lease, type TreasuryLog } from '../../domain/settlement/payout.ts'
import { many, one, type Statement, sql, type Tx } from '../db.ts'
import type { JournalContext, SettlementScope } from './context.ts'
import { FINAL_MARGIN } from './deposits.ts'
import { hex } from './payouts.ts'
import { changeCursor, fence } from './record.ts'
import { explain, type Known, keyOf } from './watch/known.ts'
import { cameAgain, countAlike, toldIndex } from './watch/moved.ts'

/**
 * Stores finalized logs and moves the cursor; a second reading leaves the cursor where it is. A log that was stored
 * before changes nothing. What the logs mean for payments and books is applied later (watch/pending.ts), so that none of
 * them can stop the cursor. A transfer out of the treasury that nobody knows pauses every lane in the same transaction;
 * such transfers are answered.
 */
export async function recordFinalized(
  context: JournalContext,
  lease: Lease,
  scan: FinalizedScan,
): Promise<TreasuryLog[]> {
  if (scan.logs.length === 0) {
    if (scan.again !== true) await changeCursor(context.db, context, { lease, set: moved(context, scan, null) })
    return []
  }
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    const known = await explain(tx, context.scope, scan)
    const booked = scan.paid.length === 0 ? new Set() : await storePaid(tx, context.scope, scan.paid)
    const logs = scan.logs.map((log) => (booked.has(log.txHash) ? { ...log, gasShare: null } : log))
    const fresh = await insertLogs(tx, context.scope, { scan: { ...scan, logs }, known })
    const unknown = scan.logs.filter((log) => log.kind === 'out' && fresh.has(keyOf(log)) && !known.has(keyOf(log)))
    const reason = unknown[0] === undefined ? null : describeTransfer(unknown[0])
    await changeCursor(tx, context, { lease, set: moved(context, scan, reason) })
    return unknown
  })
}

/** The first reason stays until an operator ends it. */
function moved(context: JournalContext, scan: FinalizedScan, reason: string | null): Statement {
  const isAgain = scan.again === true
  return sql`
    paused_reason = coalesce(paused_reason, ${reason}::text),
    scanned_number = case when ${isAgain} then scanned_number else ${scan.number}::bigint end,
    scanned_hash = case when ${isAgain} then scanned_hash else ${scan.hash}::text end,
    scanned_at = case when ${isAgain} then scanned_at else now() end,
    -- Without a seed nobody reads what comes to addresses. The blocks in which one was watched are read when it is back. What
    -- is behind already has such blocks, unless there is no address.
    deposits_number = case when ${!isAgain && scan.deposits === false} and not exists (select 1 from deposit
        where chain_id = ${context.scope.chainId} and livemode = ${context.scope.livemode}
          and watch_until > case when chain_cursor.deposits_number < chain_cursor.scanned_number then '-infinity'::timestamptz
            else chain_cursor.scanned_at - ${FINAL_MARGIN} * interval '1 second' end)
        then ${scan.number}::bigint else deposits_number end`
}

/** True for what changes the books as a movement: what came in, and what left without a payout that claims it. */
function isMovement(log: TreasuryLog, treasuries: readonly string[], known: Known | undefined): boolean {
  if (log.kind === 'cancel' || known?.as === 'payout') return false
  // From one treasury of ours to another: together they hold what they held.
  return log.counterparty !== null && !treasuries.includes(log.counterparty)
}

/** Returns the keys of the logs that were not stored before. */
async function insertLogs(
  tx: Tx,
  scope: SettlementScope,
  found: { scan: FinalizedScan; known: ReadonlyMap<string, Known> },
): Promise<Set<string>> {
  const { scan, known } = found
  if (scan.logs.length === 0) return new Set()
  const alikeBefore = countAlike()
  const logs = scan.logs.map((log) => {
    const { txHash, kind, treasury, counterparty, microUsdc } = log
    const why = known.get(keyOf(log))
    // Null: it ends by its nonce. Of the others the first index matters.
    const nth =
      kind === 'cancel' || why?.as === 'payout' ? null : alikeBefore([txHash, kind, treasury, counterparty, microUsdc])
    const isTold = isMovement(log, scan.treasuries, why)
    const { as: knownAs = null, nonceOf = null } = why ?? {}
    return { ...log, gasShare: log.gasShare?.toString() ?? null, knownAs, nonceOf, nth, isTold }
  })
  const rows = await many(
    tx,
    z.object({ tx_hash: z.string(), log_index: z.number() }),
    sql`with stored as (
          insert into treasury_log (chain_id, tx_hash, log_index, told_index, token, treasury, kind, counterparty, micro_usdc,
            auth_nonce, block_number, block_hash, gas_share, finalized_at, known_as, nonce_of, applied_at)
          select ${scope.chainId}, g."txHash", g."logIndex", ${toldIndex('treasury_log', scope.chainId)}, ${scope.token}, g.treasury, g.kind,
            g.counterparty, g."microUsdc", g."authNonce", g."blockNumber", g."blockHash", g."gasShare",
            ${scan.at}::timestamptz, g."knownAs", g."nonceOf", case when g."isTold" then null else now() end
          from jsonb_to_recordset(${JSON.stringify(logs)}::jsonb) as g("txHash" text, "logIndex" int, treasury text,
              kind text, counterparty text, "microUsdc" numeric, "authNonce" text, "blockNumber" bigint,
              "blockHash" text, "gasShare" numeric, "knownAs" text, "nonceOf" text, nth int, "isTold" boolean)
            left join gone_transfer gone on gone.stored_as = 'treasury_log' and gone.chain_id = ${scope.chainId}
              and (gone.tx_hash, gone.token, gone.units, gone.nth) = (g."txHash", ${scope.token}, g."microUsdc", g.nth)
              and (gone.sender, gone.recipient) = (case g.kind when 'in' then g.counterparty else g.treasury end,
                case g.kind when 'in' then g.treasury else g.counterparty end)
          on conflict do nothing returning chain_id, tx_hash, log_index, told_index),
        came_again as (${cameAgain('treasury_log')})
        select tx_hash, log_index from stored`,
  )
  return new Set(rows.map((row) => keyOf({ txHash: row.tx_hash, logIndex: row.log_index })))
}

/**
 * Stores what final blocks show of transactions that lanes have signed: their envelopes end by it. Returns those whose envelope
 * had ended before their logs were read, as when nodes had the block and not its logs yet: the gas was booked for the lane then,
 * and the payouts have no share in it.
 */
async function storePaid(tx: Tx, { chainId }: SettlementScope, paid: FinalizedScan['paid']): Promise<Set<string>> {
  const rows = paid.map(({ txHash, blockNumber, gasUsed, gasPrice }) => ({
    txHash,
    blockNumber,
    gasUsed: gasUsed.toString(),
    gasPrice: gasPrice.toString(),
  }))
  const stored = await many(
    tx,
    z.object({ tx_hash: hex, booked: z.boolean() }),
    sql`update lane_tx_attempt a set final_block = g."blockNumber", gas_used = g."gasUsed", gas_price = g."gasPrice"
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as g("txHash" text, "blockNumber" bigint, "gasUsed" bigint, "gasPrice" numeric)
        -- By its index, whatever Postgres believes of how many are given.
        where a.tx_hash = any(${paid.map(({ txHash }) => txHash)}) and a.tx_hash = g."txHash" and a.chain_id = ${chainId}
        -- The final chain has one transaction of a nonce: if the envelope is finalized, it is this one.
        returning a.tx_hash, exists (select 1 from lane_tx t
            where (t.chain_id, t.wallet, t.nonce, t.state) = (a.chain_id, a.wallet, a.nonce, 'finalized'))
          and not exists (select 1 from treasury_log l
            where (l.chain_id, l.tx_hash) = (a.chain_id, a.tx_hash) and l.gas_share is not null) as booked`,
  )
  return new Set(stored.filter(({ booked }) => booked).map((row) => row.tx_hash))
}

/** Whether each of these logs is stored. */
export async function areStored(
  { db, scope }: JournalContext,
  logs: readonly Pick<TreasuryLog, 'txHash' | 'logIndex'>[],
): Promise<boolean> {
  const { missing } = await one(
    db,
    z.object({ missing: z.boolean() }),
    sql`select exists (select 1 from unnest(${logs.map(({ txHash }) => txHash)}::text[],
          ${logs.map(({ logIndex }) => logIndex)}::int[]) as g(tx_hash, log_index) where not exists (
            select 1 from treasury_log l where l.chain_id = ${scope.chainId} and l.tx_hash = g.tx_hash
              and l.log_index = g.log_index)) as missing`,
  )
  return !missing
}

/**
 * Final transactions, the newest first, that lanes may have sent and that this journal does not know as its own: payouts
 * and cancellations whose gas a lane paid, and sweeps. There are such ones after a backup was restored.
 */
export async function readForgottenTransactions({ db, scope }: JournalContext, limit: number): Promise<Hex[]> {
  const rows = await many(
    db,
    z.object({ tx_hash: hex }),
    sql`select l.tx_hash from treasury_log l where l.chain_id = ${scope.chainId} and l.token = ${scope.token}
          and (l.gas_share is not null or l.kind = 'in' and exists (select 1 from deposit d
            where d.address = l.counterparty and d.chain_id = l.chain_id))
          and not exists (select 1 from lane_tx_attempt a where a.tx_hash = l.tx_hash)
        group by l.tx_hash order by max(l.block_number) desc, max(l.log_index) desc limit ${limit}`,
  )
  return rows.map(({ tx_hash }) => tx_hash)
}

import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { describeTransfer, type FinalLogs, type Lease, type TreasuryLog } from '../../domain/settlement/payout.ts'
import { execute, many, sql, type Tx } from '../db.ts'
import type { JournalContext, SettlementScope } from './context.ts'
import { fence } from './cursor.ts'
import { explain, getLogKey, type Known } from './observer/known-logs.ts'
import { countAlike, deleteReturned, firstIndex } from './observer/moved-transfers.ts'
import { hex } from './payouts.ts'

/** Stores logs of a range of final blocks; known logs change nothing. Returns the unknown transfers. */
export function recordLogs(context: JournalContext, lease: Lease, found: FinalLogs): Promise<TreasuryLog[]> {
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    return storeLogs(tx, context, found)
  })
}

/**
 * Stores logs inside the caller's transaction. Their meaning for payments and books is applied later
 * (observer/pending-logs.ts), so that no log can stop the reading. An unknown transfer out of a treasury pauses every lane in
 * the same transaction. Returns the unknown transfers.
 */
export async function storeLogs(tx: Tx, { scope }: JournalContext, found: FinalLogs): Promise<TreasuryLog[]> {
  if (found.logs.length === 0) return []
  const known = await explain(tx, scope, found)
  const fresh = await insertLogs(tx, scope, { found, known })
  const unknown = found.logs.filter(
    (log) => log.kind === 'out' && fresh.has(getLogKey(log)) && !known.has(getLogKey(log)),
  )
  if (unknown[0] !== undefined)
    await execute(
      tx,
      // The first reason stays until an operator ends it.
      sql`update chain_cursor set paused_reason = coalesce(paused_reason, ${describeTransfer(unknown[0])})
          where chain_id = ${scope.chainId} and token = ${scope.token}`,
    )
  return unknown
}

/** True if the log changes the books as a movement: USDC arrived, or left without a payout that claims it. */
function isMovement(log: TreasuryLog, treasuries: readonly string[], known: Known | undefined): boolean {
  if (log.kind === 'cancel' || known?.as === 'payout') return false
  // Between two treasuries of the platform: their sum does not change.
  return log.counterparty !== null && !treasuries.includes(log.counterparty)
}

const logKeyRow = z.object({ tx_hash: z.string(), log_index: z.number() })

/** Stores the logs, and returns the keys of those that were not stored before. */
async function insertLogs(
  tx: Tx,
  scope: SettlementScope,
  { found, known }: { found: FinalLogs; known: ReadonlyMap<string, Known> },
): Promise<Set<string>> {
  const alikeBefore = countAlike()
  const logs = found.logs.map((log) => {
    const { txHash, kind, treasury, counterparty, microUsdc } = log
    const why = known.get(getLogKey(log))
    // Null: it is ended by its nonce. For the others the first index matters.
    const nth =
      kind === 'cancel' || why?.as === 'payout' ? null : alikeBefore([txHash, kind, treasury, counterparty, microUsdc])
    const mustApply = isMovement(log, found.treasuries, why)
    const { as: knownAs = null, nonceOf = null } = why ?? {}
    const [gasShare, at] = [log.gasShare?.toString() ?? null, found.blockTimes.get(log.blockHash)]
    return { ...log, gasShare, at, knownAs, nonceOf, nth, mustApply }
  })
  const rows = await many(
    tx,
    logKeyRow,
    sql`with stored as (
          insert into treasury_log (chain_id, tx_hash, log_index, known_index, token, treasury, kind, counterparty, micro_usdc,
            auth_nonce, block_number, block_hash, gas_share, finalized_at, known_as, nonce_of, applied_at)
          select ${scope.chainId}, g."txHash", g."logIndex", ${firstIndex('treasury_log', scope.chainId)}, ${scope.token}, g.treasury, g.kind,
            g.counterparty, g."microUsdc", g."authNonce", g."blockNumber", g."blockHash", g."gasShare",
            g.at, g."knownAs", g."nonceOf", case when g."mustApply" then null else now() end
          from jsonb_to_recordset(${JSON.stringify(logs)}::jsonb) as g("txHash" text, "logIndex" int, treasury text,
              kind text, counterparty text, "microUsdc" numeric, "authNonce" text, "blockNumber" bigint,
              "blockHash" text, "gasShare" numeric, "knownAs" text, "nonceOf" text, at timestamptz, nth int, "mustApply" boolean)
            left join gone_transfer gone on gone.stored_as = 'treasury_log' and gone.chain_id = ${scope.chainId}
              and (gone.tx_hash, gone.token, gone.units, gone.nth) = (g."txHash", ${scope.token}, g."microUsdc", g.nth)
              and (gone.sender, gone.recipient) = (case g.kind when 'in' then g.counterparty else g.treasury end,
                case g.kind when 'in' then g.treasury else g.counterparty end)
          on conflict do nothing returning chain_id, tx_hash, log_index, known_index),
        came_again as (${deleteReturned('treasury_log')})
        select tx_hash, log_index from stored`,
  )
  return new Set(rows.map((row) => getLogKey({ txHash: row.tx_hash, logIndex: row.log_index })))
}

const nonceRow = z.object({ nonce: hex })

export async function listStrange({ db, scope }: JournalContext, nonces: readonly Hex[]): Promise<Set<Hex>> {
  const rows = await many(
    db,
    nonceRow,
    sql`select nonce from unnest(${[...nonces]}::text[]) as given(nonce) where not exists (select 1 from payout p
          where p.auth_nonce = given.nonce and p.chain_id = ${scope.chainId} and p.token = ${scope.token})`,
  )
  return new Set(rows.map(({ nonce }) => nonce))
}

const txHashRow = z.object({ tx_hash: hex })

/** Payouts, cancellations and sweeps that lanes might have sent, newest first: only a restored backup lacks them. */
export async function readForgottenTransactions({ db, scope }: JournalContext, limit: number): Promise<Hex[]> {
  const rows = await many(
    db,
    txHashRow,
    sql`select l.tx_hash from treasury_log l where l.chain_id = ${scope.chainId} and l.token = ${scope.token}
          and (l.auth_nonce is not null or l.kind = 'in' and exists (select 1 from deposit d
            where d.address = l.counterparty and d.chain_id = l.chain_id))
          and not exists (select 1 from lane_tx_attempt a where a.tx_hash = l.tx_hash)
        group by l.tx_hash order by max(l.block_number) desc, max(l.log_index) desc limit ${limit}`,
  )
  return rows.map(({ tx_hash }) => tx_hash)
}

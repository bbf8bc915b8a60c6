import { z } from 'zod'
import {
  describeTransfer,
  type FinalizedScan,
  type Lease,
  type TreasuryLog,
  type TreasuryMovement,
} from '../../domain/settlement/payout.ts'
import { payoutNonce } from '../../evm/payout-nonce.ts'
import { execute, many, type Queryable, sql, type Tx } from '../db.ts'
import type { JournalContext, SettlementScope } from './context.ts'
import { insertDeposits } from './deposits.ts'
import { fence, here } from './record.ts'

type KnownAs = 'payout' | 'payment' | 'movement' | 'own_lane'

/** Payments looked through for one nonce that no payout has: only after a backup was restored is there such a nonce. */
const SEARCHED_PAYMENTS = 200_000

/**
 * Stores finalized logs and moves the cursor. A log that was stored before changes nothing. A transfer out of the
 * treasury that nobody knows pauses every lane in the same transaction; such transfers are answered.
 */
export function recordFinalized(context: JournalContext, lease: Lease, scan: FinalizedScan): Promise<TreasuryLog[]> {
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    const known = await explain(tx, context.scope, scan)
    const deposits = { logs: scan.deposits ?? [], at: scan.at }
    for (const deposit of await insertDeposits(tx, context, deposits)) await context.hooks.onDeposit(tx, deposit)
    const fresh = await insertLogs(tx, context.scope, { scan, known })
    const unknown: TreasuryLog[] = []
    for (const log of scan.logs.filter((entry) => fresh.has(keyOf(entry)))) {
      const why = known.get(keyOf(log)) ?? null
      // A transfer of our own that this database has forgotten waits for its payment to be queued again.
      const movement = why === null || why === 'movement' ? toMovement(context.scope, log, scan.treasuries) : null
      if (movement !== null) await context.hooks.onTreasuryMovement(tx, movement)
      if (why === null && log.kind === 'out') unknown.push(log)
    }
    const reason = unknown[0] === undefined ? null : describeTransfer(unknown[0])
    await execute(
      tx,
      sql`update chain_cursor set scanned_number = ${scan.number}, scanned_hash = ${scan.hash},
            paused_reason = coalesce(paused_reason, ${reason}) where ${here(context)}`,
    )
    return unknown
  })
}

/** Which transfers out of a treasury, in blocks that need not be final, nobody knows. */
export async function findUnknown(
  context: JournalContext,
  scan: Pick<FinalizedScan, 'logs' | 'ownTransactions' | 'treasuries'>,
): Promise<TreasuryLog[]> {
  const known = await explain(context.db, context.scope, scan)
  return scan.logs.filter((log) => log.kind === 'out' && !known.has(keyOf(log)))
}

const keyOf = (log: { txHash: string; logIndex: number }): string => `${log.txHash}:${log.logIndex}`

/** Why each log is known: a payout with that recipient and amount, a payment's nonce, one of our lanes, a movement. */
async function explain(
  db: Queryable,
  scope: SettlementScope,
  scan: Pick<FinalizedScan, 'logs' | 'ownTransactions' | 'treasuries'>,
): Promise<Map<string, KnownAs>> {
  const nonces = scan.logs.flatMap((log) => log.authNonce ?? [])
  const rows = await many(
    db,
    z.object({ auth_nonce: z.string(), treasury: z.string(), recipient: z.string(), micro: z.string() }),
    sql`select auth_nonce, treasury, recipient, micro_usdc::text as micro from payout
        where chain_id = ${scope.chainId} and token = ${scope.token} and livemode = ${scope.livemode}
          and auth_nonce = any(${nonces})`,
  )
  const payouts = new Map(rows.map((row) => [row.auth_nonce, row]))
  const own = new Set(scan.ownTransactions)
  const known = new Map<string, KnownAs>()
  for (const log of scan.logs) {
    const payout = log.authNonce === null ? undefined : payouts.get(log.authNonce)
    const asAgreed =
      log.kind === 'cancel' || (payout?.recipient === log.counterparty && payout?.micro === log.microUsdc)
    if (payout !== undefined) {
      if (asAgreed) known.set(keyOf(log), 'payout')
    } else if (log.kind === 'in' || scan.treasuries.some((treasury) => treasury === log.counterparty))
      known.set(keyOf(log), 'movement')
    else if (log.authNonce !== null && (log.kind === 'cancel' || own.has(log.txHash))) known.set(keyOf(log), 'own_lane')
    else if (log.authNonce !== null && (await hasPayment(db, scope, log))) known.set(keyOf(log), 'payment')
  }
  return known
}

/** Whether the nonce is that of a payment without a payout on this treasury: a restored backup has forgotten it. */
async function hasPayment(db: Queryable, scope: SettlementScope, log: TreasuryLog): Promise<boolean> {
  const payments = await many(
    db,
    z.object({ id: z.string() }),
    sql`select id from payment m
        where m.livemode = ${scope.livemode} and not exists (select 1 from payout p where p.payment_id = m.id and p.treasury = ${log.treasury})
        order by created_at desc limit ${SEARCHED_PAYMENTS}`,
  )
  return payments.some(
    ({ id }) =>
      payoutNonce({ chainId: scope.chainId, token: scope.token, treasury: log.treasury, paymentId: id }) ===
      log.authNonce,
  )
}

function toMovement(scope: SettlementScope, log: TreasuryLog, treasuries: readonly string[]): TreasuryMovement | null {
  if (log.kind === 'cancel' || log.counterparty === null || log.microUsdc === null) return null
  // From one treasury of ours to another: together they hold what they held.
  if (treasuries.includes(log.counterparty)) return null
  return {
    chainId: scope.chainId,
    direction: log.kind,
    micro: log.microUsdc,
    treasury: log.treasury,
    counterparty: log.counterparty,
    txHash: log.txHash,
    logIndex: log.logIndex,
    blockNumber: log.blockNumber,
  }
}

/** Answers the keys of the logs that were not stored before. */
async function insertLogs(
  tx: Tx,
  scope: SettlementScope,
  found: { scan: FinalizedScan; known: ReadonlyMap<string, KnownAs> },
): Promise<Set<string>> {
  const { scan, known } = found
  if (scan.logs.length === 0) return new Set()
  const logs = scan.logs.map((log) => ({
    ...log,
    gasShare: log.gasShare?.toString() ?? null,
    knownAs: known.get(keyOf(log)) ?? null,
  }))
  const rows = await many(
    tx,
    z.object({ tx_hash: z.string(), log_index: z.number() }),
    sql`insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
          block_number, block_hash, gas_share, finalized_at, known_as)
        select ${scope.chainId}, g."txHash", g."logIndex", ${scope.token}, g.treasury, g.kind, g.counterparty,
          g."microUsdc", g."authNonce", g."blockNumber", g."blockHash", g."gasShare", ${scan.at}::timestamptz, g."knownAs"
        from jsonb_to_recordset(${JSON.stringify(logs)}::jsonb) as g("txHash" text, "logIndex" int, treasury text, kind text,
          counterparty text, "microUsdc" numeric, "authNonce" text, "blockNumber" bigint, "blockHash" text,
          "gasShare" numeric, "knownAs" text)
        on conflict do nothing returning tx_hash, log_index`,
  )
  return new Set(rows.map((row) => keyOf({ txHash: row.tx_hash, logIndex: row.log_index })))
}

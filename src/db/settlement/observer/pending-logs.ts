import { z } from 'zod'
import type { RecordedDeposit } from '../../../domain/settlement/deposit.ts'
import type { TreasuryMovement } from '../../../domain/settlement/payout.ts'
import { execute, many, type Statement, sql, type Tx } from '../../db.ts'
import { bookMovement } from '../balance.ts'
import { attempt, type JournalContext, lockPaymentsFirst } from '../context.ts'
import { here } from '../cursor.ts'
import { hex } from '../payouts.ts'
import { bookGas, RETRY_SECONDS, readUnbookedGas } from './gas.ts'
import { knownIndex } from './moved-transfers.ts'

/** A stored log, or spent gas, whose meaning could not be recorded. It is tried again. */
export type FailedLog = (
  | { readonly txHash: string; readonly logIndex: number }
  | { readonly wallet: string; readonly nonce: number }
) & { readonly error: Error }

const placeRow = z.object({ tx_hash: hex, log_index: z.number(), block_number: z.coerce.number(), block_hash: hex })

const depositRow = placeRow.extend({
  payment_id: z.string(),
  attempt_id: z.string().nullable(),
  refund_id: z.string().nullable(),
  address: hex,
  token: hex,
  sender: hex,
  units: z.string(),
  expected: z.boolean(),
})

const movementRow = placeRow.extend({
  kind: z.enum(['in', 'out']),
  treasury: hex,
  counterparty: hex,
  micro: z.string(),
})

const due = sql`l.applied_at is null and (l.hook_retry_at is null or l.hook_retry_at <= now())`

/**
 * Applies the meaning of stored logs to payments and books: deposits first, then movements of the treasury, in the
 * order of the chain; then gas that could not be booked before. Each has a separate savepoint, so that a failure delays
 * no other. Returns how many were applied and which failed.
 */
export function applyPending(
  context: JournalContext,
  limit: number,
): Promise<{ applied: number; failed: FailedLog[] }> {
  return context.db.transaction(async (tx) => {
    const deposits = await readDeposits(tx, context, limit)
    await lockPaymentsFirst(
      tx,
      deposits.map(({ paymentId }) => paymentId),
    )
    const movements = await readMovements(tx, context, limit)
    const failed = [
      ...(await applyEach(tx, deposits, {
        table: sql`deposit_log`,
        apply: (deposit) => context.hooks.onDeposit(tx, deposit),
        chainId: context.scope.chainId,
      })),
      ...(await applyEach(tx, movements, {
        table: sql`treasury_log`,
        apply: (movement) => bookMovement(tx, context, movement),
        chainId: context.scope.chainId,
      })),
    ]
    const spent = await readUnbookedGas(tx, context, limit)
    failed.push(...(await bookGas(tx, context, spent)))
    return { applied: deposits.length + movements.length + spent.length - failed.length, failed }
  })
}

async function readDeposits(tx: Tx, { scope }: JournalContext, limit: number): Promise<RecordedDeposit[]> {
  const rows = await many(
    tx,
    depositRow,
    sql`select l.tx_hash, ${knownIndex} as log_index, l.block_number, l.block_hash, d.payment_id, d.attempt_id, d.refund_id, d.address, l.token,
          l.sender, l.units::text, l.token = d.token as expected
        from deposit_log l join deposit d using (owner_id)
        where ${due} and l.chain_id = ${scope.chainId} and d.livemode = ${scope.livemode}
        order by l.block_number, l.log_index limit ${limit} for update of l skip locked`,
  )
  return rows.map((row) => ({
    ...toPlace(row),
    paymentId: row.payment_id,
    owner: row.attempt_id === null ? { refundId: row.refund_id ?? '' } : { attemptId: row.attempt_id },
    address: row.address,
    token: row.token,
    sender: row.sender,
    units: row.units,
    expected: row.expected,
  }))
}

function readMovements(tx: Tx, context: JournalContext, limit: number): Promise<TreasuryMovement[]> {
  const which = sql`${due} and ${here(context)} order by l.block_number, l.log_index limit ${limit}
    for update of l skip locked`
  return listMovements(tx, context.scope.chainId, which)
}

/** `which`: a condition on stored logs of the treasury (`l`) of this chain, and the clauses after it. */
export async function listMovements(tx: Tx, chainId: number, which: Statement): Promise<TreasuryMovement[]> {
  const rows = await many(
    tx,
    movementRow,
    sql`select l.tx_hash, ${knownIndex} as log_index, l.block_number, l.block_hash, l.kind, l.treasury, l.counterparty,
          l.micro_usdc::text as micro
        from treasury_log l where ${which}`,
  )
  return rows.map((row) => ({
    chainId,
    direction: row.kind,
    fate: 'final',
    micro: row.micro,
    treasury: row.treasury,
    counterparty: row.counterparty,
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: row.block_number,
  }))
}

const toPlace = (row: z.infer<typeof placeRow>) => ({
  txHash: row.tx_hash,
  logIndex: row.log_index,
  blockNumber: row.block_number,
  blockHash: row.block_hash,
})

async function applyEach<T extends { readonly txHash: string; readonly logIndex: number }>(
  tx: Tx,
  logs: readonly T[],
  { table, apply, chainId }: { table: Statement; apply: (log: T) => Promise<void>; chainId: number },
): Promise<FailedLog[]> {
  const failed: FailedLog[] = []
  for (const log of logs) {
    const { txHash, logIndex } = log
    const error = await attempt(tx, () => apply(log))
    if (error !== null) failed.push({ txHash, logIndex, error })
    await execute(
      tx,
      sql`update ${table} l set hook_error = ${error?.message ?? null},
            applied_at = case when ${error === null} then now() end,
            hook_retry_at = now() + ${RETRY_SECONDS} * interval '1 second'
          where chain_id = ${chainId} and tx_hash = ${txHash} and ${knownIndex} = ${logIndex}`,
    )
  }
  return failed
}

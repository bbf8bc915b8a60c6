import { z } from 'zod'
import type { Settlement, VoidProof } from '../../domain/settlement/payout.ts'
import { execute, many, type Queryable, type Statement, sql, type Tx } from '../db.ts'
import { attempt, change, type FailedHook, type JournalContext, type SettlementScope } from './context.ts'
import { endTransferPause } from './observer/pause.ts'
import { hex } from './payouts.ts'

const HOOK_RETRY_SECONDS = 30

const provenRow = z.object({
  owner_id: z.string(),
  /** Only payments have receipts. */
  has_receipt: z.boolean(),
  kind: z.enum(['out', 'cancel']),
  micro_usdc: z.string(),
  recipient: hex,
  tx_hash: hex,
  log_index: z.number(),
  block_number: z.coerce.number(),
  block_hash: hex,
  finalized_at: z.date(),
  gas_share: z.string().nullable(),
  claimed_from: z.enum(['suspense', 'exchange']).nullable(),
  is_unknown: z.boolean(),
  failed_before: z.boolean(),
})
type Proven = z.infer<typeof provenRow>

const toPlace = (row: Proven) => ({
  ownerId: row.owner_id,
  txHash: row.tx_hash,
  logIndex: row.log_index,
  blockNumber: row.block_number,
  blockHash: row.block_hash,
})

const toGas = (row: Proven): bigint | null => (row.gas_share === null ? null : BigInt(row.gas_share))

const toSettlement = (row: Proven): Settlement => ({
  ...toPlace(row),
  finalizedAt: row.finalized_at,
  microUsdc: row.micro_usdc,
  recipient: row.recipient,
  gasWei: toGas(row),
  claimedFrom: row.claimed_from,
})

type ProvenAsk = { readonly owner: Statement; readonly locks: Statement; readonly limit: number }

const readProven = ({ scope }: JournalContext, { owner, locks, limit }: ProvenAsk): Statement =>
  sql`select p.owner_id, p.payment_id is not null as has_receipt, l.kind, p.micro_usdc::text, p.recipient, l.tx_hash, l.log_index,
        l.block_number, l.block_hash, l.finalized_at, l.gas_share::text, p.hook_error is not null as failed_before,
        -- It was booked as nobody's before its payout was known.
        case when l.known_as is distinct from 'payout' and l.applied_at is not null
          then case l.known_as when 'operator' then 'exchange' else 'suspense' end end as claimed_from,
        l.kind = 'out' and l.known_as is null as is_unknown
      from treasury_log l join payout p on p.auth_nonce = l.auth_nonce and p.treasury = l.treasury join ${owner}
      where l.chain_id = ${scope.chainId} and l.token = ${scope.token} and l.owner_id is null
        and p.livemode = ${scope.livemode} and l.auth_nonce is not null and p.state <> 'settled'
        and (l.kind = 'cancel' and p.state <> 'voided' or l.kind = 'out' and (l.counterparty, l.micro_usdc) = (p.recipient, p.micro_usdc))
        and (p.hook_retry_at is null or p.hook_retry_at <= now())
      order by l.block_number, l.log_index limit ${limit} for update of ${locks} skip locked`

/**
 * Ends up to `limit` payouts of payments, and as many of reserves, that the finalized chain proves: settled by their
 * transfer, voided by their cancellation. State, proof and all writes of the hooks are one transaction. If the hook throws
 * for a group, each payout is tried alone under a savepoint, and one that fails keeps its proof and is tried again after
 * half a minute. A voided payout that is paid nevertheless stays voided, and its owner gets the proof. Returns how many
 * ended and which failed.
 */
export function applyProven(context: JournalContext, limit: number): Promise<{ ended: number; failed: FailedHook[] }> {
  return context.db.transaction(async (tx) => {
    // With their payments: a decision locks those first, and would wait for a payout that waits for its payment.
    const ofPayments = readProven(context, {
      owner: sql`payment on payment.id = p.owner_id`,
      locks: sql`payment, p, l`,
      limit,
    })
    const ofReserves = readProven(context, {
      owner: sql`reserve_release r on r.id = p.owner_id`,
      locks: sql`p, l`,
      limit,
    })
    const rows = await many(
      tx,
      provenRow,
      sql`with of_payments as (${ofPayments}), of_reserves as (${ofReserves})
          select * from of_payments union all select * from of_reserves order by block_number, log_index`,
    )
    const failed: FailedHook[] = []
    const settle = async (batch: readonly Proven[]): Promise<void> => {
      await end(tx, context.scope, { rows: batch, state: 'settled' })
      await context.hooks.onSettled(tx, batch.map(toSettlement))
    }
    const tryAlone = async (row: Proven, work: () => Promise<void>): Promise<void> => {
      const error = await attempt(tx, work)
      if (error === null) return
      failed.push({ ownerId: row.owner_id, error })
      await delayHook(tx, row.owner_id, error)
    }
    const paid = rows.filter((row) => row.kind === 'out')
    // A payout that has failed before would undo the work of the others again.
    const sound = paid.filter((row) => !row.failed_before)
    const isDone = sound.length > 0 && (await attempt(tx, () => settle(sound))) === null
    for (const row of isDone ? paid.filter((one) => one.failed_before) : paid) await tryAlone(row, () => settle([row]))
    for (const row of rows.filter(({ kind }) => kind === 'cancel'))
      await tryAlone(row, async () => {
        await end(tx, context.scope, { rows: [row], state: 'voided' })
        const proof: VoidProof = { kind: 'canceled', ...toPlace(row), gasWei: toGas(row) }
        await context.hooks.onVoided(tx, proof)
      })
    // The transfer that paused everything has its payout now.
    if (rows.some((row) => row.is_unknown)) await endTransferPause(tx, context.scope)
    return { ended: rows.length - failed.length, failed }
  })
}

async function end(
  tx: Tx,
  scope: SettlementScope,
  ending: { rows: readonly Proven[]; state: 'settled' | 'voided' },
): Promise<void> {
  const ids = ending.rows.map((row) => row.owner_id)
  const rows = ids.length
  await change(
    tx,
    sql`update payout set state = case state when 'voided' then state else ${ending.state} end, stop_reason = null, stop_detail = null, lane_wallet = null,
          lane_nonce = null, hook_error = null, hook_retry_at = null, updated_at = now()
        where owner_id = any(${ids})`,
    { rows, what: `payouts that are ${ending.state}` },
  )
  await change(
    tx,
    sql`update treasury_log l set owner_id = p.owner_id, known_as = 'payout', applied_at = coalesce(l.applied_at, now()),
          receipt_due_at = case when p.has_receipt then l.receipt_due_at end
        from unnest(${ids}::text[], ${ending.rows.map((row) => row.tx_hash)}::text[],
          ${ending.rows.map((row) => row.log_index)}::int[], ${ending.rows.map((row) => row.has_receipt)}::bool[])
          as p(owner_id, tx_hash, log_index, has_receipt)
        where l.chain_id = ${scope.chainId} and l.tx_hash = p.tx_hash and l.log_index = p.log_index`,
    { rows, what: 'their proofs' },
  )
}

/** Until the next try the error is shown. */
export async function delayHook(on: Queryable, ownerId: string, error: Error): Promise<void> {
  await execute(
    on,
    sql`update payout set hook_error = ${error.message}, updated_at = now(),
          hook_retry_at = now() + ${HOOK_RETRY_SECONDS} * interval '1 second'
        where owner_id = ${ownerId}`,
  )
}

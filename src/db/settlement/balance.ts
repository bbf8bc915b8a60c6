import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { BalanceDifference, Lease, TreasuryMovement } from '../../domain/settlement/payout.ts'
import { execute, many, one, sql, type Tx } from '../db.ts'
import { isInScope, type JournalContext, type SettlementScope } from './context.ts'
import { changeCursor, fence } from './cursor.ts'
import { hex } from './payouts.ts'
import { seen, sendable } from './queue.ts'

/** The equation of the treasury: its balance on chain equals its balance in the books. */

/** Rows of `treasury_change` above which they are merged into one, and those of `exposure_change` by day. */
const FOLDED_ROWS = 64

export type TreasuryBooks = {
  readonly number: number
  /** Micro-USDC in the ledger's account `treasury`, with the logs that are stored and not booked yet. */
  readonly micro: bigint
  /**
   * The given treasuries, and every other that an engine has recorded: one that is no longer configured still counts.
   */
  readonly treasuries: readonly Hex[]
  /** Micro-USDC of payouts that are signed and have not ended: they might have left the treasuries since. */
  readonly promised: bigint
  /** True if the books do not contain yet the balance that one of them had before its transfers were read. */
  readonly isOpening: boolean
  /** Micro-USDC that were missing at the last comparison; null: none. */
  readonly missing: bigint | null
  /** True if no comparison was recorded for a minute. */
  readonly isStale: boolean
}

const booksRow = z.object({
  number: z.coerce.number(),
  micro: z.string(),
  promised: z.string(),
  rows: z.coerce.number(),
  known: z.array(hex).nullable(),
  opened: z.coerce.number(),
  missing: z.string().nullable(),
  stale: z.boolean(),
})

export async function readTreasuryBooks(context: JournalContext, given: readonly Hex[]): Promise<TreasuryBooks> {
  const { db, scope } = context
  const { chainId, token } = scope
  const row = await one(
    db,
    booksRow,
    sql`select c.scanned_number as number, (booked.micro + stored.micro + taken_back.micro)::text as micro, booked.rows, c.missing_micro::text as missing, signed.micro::text as promised,
          t.known, t.opened, c.compared_at < now() - interval '1 minute' as stale
        from (select coalesce(sum(micro), 0) as micro, count(*) as rows from treasury_change) booked,
          (select coalesce(sum(case kind when 'in' then micro_usdc else -micro_usdc end), 0) as micro from treasury_log
            where chain_id = ${chainId} and token = ${token} and kind <> 'cancel' and (applied_at is null
              or owner_id is null and auth_nonce is not null and known_as = 'payout')) stored,
          -- Booked, taken back by a repair of finality, and not paid again yet.
          (select coalesce(sum(p.micro_usdc), 0) as micro from payout p where ${isInScope(context)}
            and p.state not in ('settled', 'voided')
            and p.owner_id in (select f.owner_id from finality_reversal f)) taken_back,
          -- By the indexes of what is on its way: a long queue is not looked through.
          (select coalesce(sum(micro_usdc), 0) as micro from (
            select p.micro_usdc from payout p where ${isInScope(context)} and ${sendable} and p.lane_wallet is null
            union all select p.micro_usdc from payout p where ${isInScope(context)} and p.lane_wallet is not null
            union all select p.micro_usdc from payout p where ${isInScope(context)} and ${seen} and p.state = 'mined'
              and p.lane_wallet is null) sent) signed,
          (select array_agg(address::text) as known, count(opened_number) as opened from treasury
            where chain_id = ${chainId} and token = ${token}) t,
          chain_cursor c
        where c.chain_id = ${chainId} and c.token = ${token}`,
  )
  if (row.rows > FOLDED_ROWS)
    await execute(
      db,
      sql`with
          folded as (delete from treasury_change returning micro, owed_micro),
          folded_exposure as (delete from exposure_change returning currency, day, units, cost_micro),
          exposed as (insert into exposure_change (currency, day, units, cost_micro)
            select currency, day, sum(units), sum(cost_micro) from folded_exposure group by 1, 2)
        insert into treasury_change (micro, owed_micro) select sum(micro), sum(owed_micro) from folded`,
    )
  const treasuries = [...new Set([...given, ...(row.known ?? [])])]
  return {
    number: row.number,
    treasuries,
    micro: BigInt(row.micro),
    promised: BigInt(row.promised),
    isOpening: row.opened < treasuries.length,
    missing: row.missing === null ? null : BigInt(row.missing),
    isStale: row.stale,
  }
}

/** Books what the treasuries have beyond the books, and marks them as opened. `number`: the block that was compared. */
export function bookMore(
  context: JournalContext,
  lease: Lease,
  more: { readonly micro: bigint; readonly number: number; readonly treasuries: readonly Hex[] },
): Promise<void> {
  const { chainId, token } = context.scope
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    const difference = { micro: more.micro, chainId, blockNumber: more.number }
    if (more.micro > 0n) await storeDifference(tx, context, difference)
    await execute(
      tx,
      sql`update treasury set opened_number = ${more.number} where chain_id = ${chainId} and token = ${token}
            and address = any(${[...more.treasuries]}) and opened_number is null`,
    )
  })
}

export const noteComparison = (context: JournalContext, lease: Lease): Promise<void> =>
  changeCursor(context.db, context, { lease, set: sql`compared_at = now()` })

/** Stores how much is missing, which pauses everything; null: nothing is missing. */
export const storeMissing = (context: JournalContext, lease: Lease, micro: bigint | null): Promise<void> =>
  changeCursor(context.db, context, { lease, set: sql`missing_micro = ${micro?.toString() ?? null}::numeric` })

type Booking = Pick<JournalContext, 'hooks'> & { readonly scope: Pick<SettlementScope, 'chainId' | 'token'> }

/** Books a difference, and stores it for the transfers that might explain it later. */
export async function storeDifference(tx: Tx, { scope, hooks }: Booking, difference: BalanceDifference): Promise<void> {
  await hooks.onBalanceDifference(tx, difference)
  await execute(
    tx,
    sql`insert into treasury_difference as d (chain_id, token, block_number, micro)
        values (${scope.chainId}, ${scope.token}, ${difference.blockNumber}, ${difference.micro.toString()})
        on conflict (chain_id, token, block_number) do update set micro = d.micro + excluded.micro`,
  )
}

export async function bookMovement(tx: Tx, booking: Booking, movement: TreasuryMovement): Promise<void> {
  await booking.hooks.onTreasuryMovement(tx, movement)
  await explainDifference(tx, booking, movement)
}

const usedRow = z.object({ used: z.string() })

/** Books back as much of a difference as the transfer explains. The transfer was in an earlier block or the same. */
async function explainDifference(
  tx: Tx,
  { scope, hooks }: Booking,
  { txHash, logIndex, blockNumber, direction, micro }: TreasuryMovement,
): Promise<void> {
  const { chainId, token } = scope
  const sign = direction === 'in' ? 1 : -1
  const rows = await many(
    tx,
    usedRow,
    sql`with open as (select d.block_number, abs(d.micro) as micro from treasury_difference d
          where d.chain_id = ${chainId} and d.token = ${token} and d.block_number >= ${blockNumber} and sign(d.micro) = ${sign} for update),
          -- The oldest first, as much of each as the transfer leaves for it.
          found as (select block_number, least(micro, greatest(0, ${micro}::numeric - (sum(micro) over (order by block_number) - micro)))
            * ${sign} as used from open)
        update treasury_difference d set micro = d.micro - f.used from found f
        where d.chain_id = ${chainId} and d.token = ${token} and d.block_number = f.block_number and f.used <> 0
        returning f.used::text as used`,
  )
  const used = rows.reduce((sum, row) => sum + BigInt(row.used), 0n)
  if (used === 0n) return
  await hooks.onBalanceDifference(tx, { chainId, blockNumber, micro: used, explainedBy: `${txHash}:${logIndex}` })
}

const missingRow = z.object({ number: z.coerce.number(), micro: z.string().nullable() })

/** Books the missing amount as spent, and ends its pause. Null if nothing is missing. */
export async function acknowledgeMissing(
  tx: Tx,
  { chainId, token }: Pick<SettlementScope, 'chainId' | 'token'>,
): Promise<{ micro: bigint; blockNumber: number } | null> {
  const where = sql`chain_id = ${chainId} and token = ${token}`
  const row = await one(
    tx,
    missingRow,
    sql`select scanned_number as number, missing_micro::text as micro from chain_cursor where ${where} for update`,
  )
  if (row.micro === null) return null
  await execute(tx, sql`update chain_cursor set missing_micro = null where ${where}`)
  return { micro: BigInt(row.micro), blockNumber: row.number }
}

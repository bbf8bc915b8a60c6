import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import { type Lease, REVERSAL_PAUSE, type TreasuryMovement } from '../../../domain/settlement/payout.ts'
import { execute, many, type Queryable, sql, type Tx } from '../../db.ts'
import { isInScope, type JournalContext, type SettlementScope } from '../context.ts'
import { fence, here } from '../cursor.ts'
import { hex } from '../payouts.ts'
import { knownIndex, remember } from './moved-transfers.ts'

/** Reversals of finality: the proofs of a final block that was replaced, and how they are taken back. */

/**
 * How many blocks back blocks are compared, and how many blocks before the oldest replaced one the chain is read again.
 * The deepest reorganization of Polygon was 187 blocks.
 */
export const COMPARED_BLOCKS = 4096
export const READ_AGAIN = 256
export const REVERSIBLE_BLOCKS = COMPARED_BLOCKS + READ_AGAIN

type Block = { readonly number: number; readonly hash: Hex }

const proofBlockRow = z.object({ number: z.coerce.number(), hash: hex })

/** The newest first. */
export function listProofBlocks(db: Queryable, scope: SettlementScope, from: number): Promise<Block[]> {
  return many(
    db,
    proofBlockRow,
    sql`select block_number as number, block_hash as hash from treasury_log
          where chain_id = ${scope.chainId} and token = ${scope.token} and block_number >= ${from}
        union select block_number, block_hash from deposit_log
          where chain_id = ${scope.chainId} and block_number >= ${from}
        union select returned_block, returned_block_hash from deposit_sweep
          where chain_id = ${scope.chainId} and token = ${scope.token} and returned_block >= ${from}
        union select v.block_number, v.block_hash from void_proof v join payout p using (owner_id)
          where p.chain_id = ${scope.chainId} and p.token = ${scope.token} and v.block_number >= ${from}
        order by 1 desc`,
  )
}

export type TakenBack = {
  /** Owners whose payout is sent again, or is canceled again, unless the new chain shows it. */
  readonly ownerIds: readonly string[]
  /** Transactions that cannot be sent again, because their bytes were dropped. */
  readonly unsendable: readonly { readonly wallet: Hex; readonly nonce: number }[]
}

const ownerIdRow = z.object({ owner_id: z.string() })

const reopenedRow = z.object({ wallet: hex, nonce: z.coerce.number(), dropped: z.boolean() })

/**
 * Takes back everything that depends on blocks that have left the chain, stores a record of each lost proof, and lets
 * the observer read again after `to`. Payouts return to the queue: their nonce is the same, so the token decides
 * whether they are paid.
 */
export async function takeBack(
  tx: Tx,
  context: JournalContext,
  ask: { lease: Lease; gone: readonly Hex[]; to: Block },
): Promise<TakenBack> {
  const gone = sql`any(${[...ask.gone]}::text[])`
  const [first] = ask.gone
  const begun = first === undefined ? null : `${REVERSAL_PAUSE}${first} has left the chain, and its repair is not over`
  await fence(context, tx, ask.lease)
  const ended = await many(
    tx,
    ownerIdRow,
    sql`insert into finality_reversal (owner_id, tx_hash, log_index, block_hash)
        select owner_id, tx_hash, log_index, block_hash from treasury_log
          where ${here(context)} and block_hash = ${gone} and owner_id is not null
        union all select v.owner_id, v.block_hash, 0, v.block_hash from void_proof v
          join payout p using (owner_id) where ${isInScope(context)} and v.block_hash = ${gone}
        on conflict do nothing returning owner_id`,
  )
  const ownerIds = ended.map((row) => row.owner_id)
  await takeSweepsBack(tx, context, ask.gone)
  await takeReturnsBack(tx, context, ask.gone)
  await removeLogs(tx, context, ask.gone)
  await execute(tx, sql`delete from void_proof where owner_id = any(${ownerIds}) and block_hash = ${gone}`)
  await execute(
    tx,
    sql`update payout p set state = case state when 'settled' then 'queued' else 'voiding' end, updated_at = now(),
          mined_number = null
        where ${isInScope(context)} and owner_id = any(${ownerIds}) and state in ('settled', 'voided')
          -- One that was voided and paid after all may have lost the transfer alone.
          and not exists (select 1 from void_proof v where v.owner_id = p.owner_id)`,
  )
  // Their stored bytes are sent again: otherwise the lane's next nonces would wait forever.
  const lanes = await many(
    tx,
    reopenedRow,
    sql`update lane_tx set state = 'broadcast', block_number = null, gas_used = null, gas_price = null,
          ended_at = null, gas_error = null, gas_retry_at = null
        where chain_id = ${context.scope.chainId} and state = 'finalized' and block_number > ${ask.to.number}
        returning wallet, nonce, dropped_at is not null as dropped`,
  )
  await removeDeposits(tx, context, ask.gone)
  await execute(
    tx,
    sql`update chain_cursor set scanned_number = ${ask.to.number}, scanned_hash = ${ask.to.hash},
          logs_number = least(logs_number, ${ask.to.number}), deposits_number = least(deposits_number, ${ask.to.number}),
          -- No worker may have seen the reversal, and from here on none does: killed now, the repair must be gone on with.
          paused_reason = case when ${begun}::text is null or paused_reason like ${`${REVERSAL_PAUSE}%`} then paused_reason
            else ${begun} end
        where ${here(context)}`,
  )
  return { ownerIds, unsendable: lanes.filter(({ dropped }) => dropped) }
}

/**
 * Returns swept money to its address, unless the new chain shows the sweep. The sweep is made again with the same
 * nonce, so the token decides. If a backup lacks the sweep, its signature is lost: the money gets another one.
 */
async function takeSweepsBack(tx: Tx, context: JournalContext, gone: readonly Hex[]): Promise<void> {
  const { chainId, livemode } = context.scope
  await execute(
    tx,
    sql`with
          lost as (select d.owner_id, l.tx_hash, sum(l.micro_usdc) as micro from treasury_log l
            join deposit d on d.address = l.counterparty and d.chain_id = ${chainId} and d.livemode = ${livemode}
            where l.chain_id = ${chainId} and l.token = ${context.scope.token} and l.kind = 'in' and l.applied_at is not null
              and l.block_hash = any(${[...gone]}::text[]) group by 1, 2),
          owed as (update deposit d set unswept_micro = d.unswept_micro + o.micro, taken_micro = d.taken_micro - o.micro
            from (select owner_id, sum(micro) as micro from lost group by 1) o where o.owner_id = d.owner_id),
          undone as (select s.owner_id, s.idx, s.signature is not null and s.idx = min(s.idx)
              filter (where s.signature is not null) over (partition by s.owner_id) and not exists (
                select 1 from deposit_sweep o where o.owner_id = s.owner_id and o.state in ('signed', 'assigned')) as again
            from deposit_sweep s join lost l on (l.owner_id, l.tx_hash) = (s.owner_id, s.tx_hash) where s.state = 'done')
        -- An address has one open sweep: what is left after it is found by what is unswept.
        update deposit_sweep s set tx_hash = null, state = case when u.again then 'signed' else 'abandoned' end
        from undone u where (u.owner_id, u.idx) = (s.owner_id, s.idx)`,
  )
}

/** Returns USDC that had gone back to a merchant to its address. The books keep it: its sweep is made again. */
async function takeReturnsBack(tx: Tx, { scope }: JournalContext, gone: readonly Hex[]): Promise<void> {
  await execute(
    tx,
    sql`with lost as (
          select s.owner_id, s.idx, s.micro_usdc as micro, s.signature is not null and not exists (select 1 from deposit_sweep o
              where o.owner_id = s.owner_id and o.state in ('signed', 'assigned')) as again
          from deposit_sweep s where s.chain_id = ${scope.chainId} and s.token = ${scope.token}
            and s.returned_block_hash = any(${[...gone]}::text[])),
        owed as (update deposit d set unswept_micro = d.unswept_micro + o.micro
          from (select owner_id, sum(micro) as micro from lost group by 1) o where o.owner_id = d.owner_id)
        update deposit_sweep s set tx_hash = null, returned_block = null, returned_block_hash = null,
          state = case when l.again then 'signed' else 'abandoned' end
        from lost l where (l.owner_id, l.idx) = (s.owner_id, s.idx)`,
  )
}

/** Payments and books know only movements: other logs, a cancellation or a payout, are deleted without a record. */
async function removeLogs(tx: Tx, context: JournalContext, gone: readonly Hex[]): Promise<void> {
  await execute(
    tx,
    sql`with removed as (
          delete from treasury_log l where ${here(context)} and block_hash = any(${[...gone]}::text[])
          returning chain_id, token, kind, treasury, counterparty, micro_usdc, tx_hash, ${knownIndex} as known_index,
            block_number, known_as)
        ${remember(
          'treasury_log',
          sql`select chain_id, tx_hash, known_index, token, micro_usdc as units, kind as direction, block_number,
                case kind when 'in' then counterparty else treasury end as sender,
                case kind when 'in' then treasury else counterparty end as recipient
              from removed where kind <> 'cancel' and known_as is distinct from 'payout'`,
        )}`,
  )
}

async function removeDeposits(tx: Tx, { scope }: JournalContext, gone: readonly Hex[]): Promise<void> {
  await execute(
    tx,
    sql`with removed as (
          delete from deposit_log l where chain_id = ${scope.chainId} and block_hash = any(${[...gone]}::text[])
          returning chain_id, owner_id, token, units, tx_hash, sender, block_number, ${knownIndex} as known_index),
        remembered as (${remember(
          'deposit_log',
          sql`select r.chain_id, r.tx_hash, r.known_index, r.token, r.units, r.block_number, r.sender,
                d.address as recipient, null as direction
              from removed r join deposit d using (owner_id)`,
        )})
        update deposit d set unswept_micro = d.unswept_micro - r.units
        from (select owner_id, token, sum(units) as units from removed group by 1, 2) r
        where r.owner_id = d.owner_id and r.token = d.token`,
  )
}

export type LostTransfer =
  | { readonly movement: TreasuryMovement }
  | { readonly paymentId: string; readonly units: string; readonly token: Hex; readonly txHash: Hex }

const goneRow = z.object({
  tx_hash: hex,
  known_index: z.number(),
  block_number: z.coerce.number(),
  token: hex,
  sender: hex,
  recipient: hex,
  units: z.string(),
  direction: z.enum(['in', 'out']).nullable(),
  payment_id: z.string().nullable(),
})

/** Ends the wait for transfers that the new chain, read again, has not shown. Returns each of them once. */
export async function concludeLost(tx: Tx, { chainId, token, livemode }: SettlementScope): Promise<LostTransfer[]> {
  const rows = await many(
    tx,
    goneRow,
    sql`with concluded as (
          update gone_transfer set concluded_at = now() where chain_id = ${chainId} and concluded_at is null
            and (token = ${token} or stored_as = 'deposit_log') returning *)
        select g.tx_hash, g.known_index, g.block_number, g.token, g.sender, g.recipient, g.units::text, g.direction,
          d.payment_id
        from concluded g left join deposit d on g.direction is null and d.address = g.recipient and d.chain_id = g.chain_id
          and d.livemode = ${livemode}
        order by g.block_number, g.known_index`,
  )
  return rows.flatMap(
    ({ direction, payment_id: paymentId, sender, recipient, units, tx_hash: txHash, ...row }): LostTransfer[] => {
      if (direction === null) return paymentId === null ? [] : [{ paymentId, units, token: row.token, txHash }]
      const [treasury, counterparty] = direction === 'in' ? [recipient, sender] : [sender, recipient]
      const place = { chainId, txHash, logIndex: row.known_index, blockNumber: row.block_number }
      return [{ movement: { ...place, direction, fate: 'gone', micro: units, treasury, counterparty } }]
    },
  )
}

/** Ends the pause of a reversal. Returns true if an unknown transfer that was read since keeps everything paused. */
export async function endPause(tx: Tx, context: JournalContext): Promise<boolean> {
  const unknown = await execute(
    tx,
    sql`select 1 from treasury_log where ${here(context)} and kind = 'out' and known_as is null limit 1`,
  )
  const reason = unknown === 0 ? null : 'unknown transfers left the treasury: see settlement status'
  await execute(tx, sql`update chain_cursor set paused_reason = ${reason} where ${here(context)}`)
  return unknown > 0
}

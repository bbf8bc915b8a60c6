import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { DepositLog, Sweep, Unswept, WatchKind } from '../../domain/settlement/deposit.ts'
import type { BlockTimes, Lane, Lease, Reserved, Sending, TreasuryMovement } from '../../domain/settlement/payout.ts'
import { execute, many, maybeOne, one, type Statement, sql, type Tx } from '../db.ts'
import type { JournalContext } from './context.ts'
import { changeCursor, fence } from './cursor.ts'
import { fenced, nextEnvelope } from './lanes.ts'
import { countAlike, deleteReturned, firstIndex } from './observer/moved-transfers.ts'
import { hex } from './payouts.ts'

/** A sweep of less than 0.01 USDC costs more than it is worth. */
const MIN_SWEEP_MICRO = 10_000

/** An address of a payment, with its balance by its stored transfers and sweeps. */
export type WatchedDeposit = {
  readonly address: Hex
  readonly micro: bigint
  /** Units of other tokens, which stay there. */
  readonly others: ReadonlyMap<string, bigint>
  readonly isListed: boolean
}

/** Seconds by which the clocks of database, API and chain can differ, and a block can be final later. */
const WATCH_MARGIN = 3600

const watchedRow = z.object({
  address: hex,
  micro: z.coerce.bigint(),
  others: z.record(z.string(), z.coerce.bigint()).nullable(),
  listed: z.boolean(),
})

/** Reads the addresses that were watched at any time since their last comparison, or those whose watch had ended. */
export async function readWatchedDeposits({ db, scope }: JournalContext, kind: WatchKind): Promise<WatchedDeposit[]> {
  const rows = await many(
    db,
    watchedRow,
    sql`select d.address, d.unswept_micro::text as micro, (
            select jsonb_object_agg(o.token, o.units) from (select l.token, sum(l.units)::text as units from deposit_log l
              where l.payment_id = d.payment_id and l.token <> d.token group by 1) o) as others,
          exists (select 1 from settlement_finding f where (f.chain_id, f.token, f.kind, f.subject)
            = (d.chain_id, c.token, 'deposit_difference', d.payment_id)) as listed
        from deposit d join chain_cursor c on c.chain_id = d.chain_id and c.token = ${scope.token}
        where d.chain_id = ${scope.chainId} and d.livemode = ${scope.livemode}
          and d.watch_until ${kind === 'watched' ? sql`>` : sql`<=`} c.deposits_at - ${WATCH_MARGIN} * interval '1 second'
        order by d.address`,
  )
  return rows.map(({ others, listed, ...row }) => ({
    ...row,
    others: new Map(Object.entries(others ?? {})),
    isListed: listed,
  }))
}

const addressRow = z.object({ address: hex })

export async function listDepositAddresses({ db, scope }: JournalContext): Promise<Hex[]> {
  const rows = await many(
    db,
    addressRow,
    sql`select address from deposit where chain_id = ${scope.chainId} and livemode = ${scope.livemode} order by address`,
  )
  return rows.map(({ address }) => address)
}

type FoundDeposits = { readonly logs: readonly DepositLog[]; readonly blockTimes: BlockTimes }

export async function recordDeposits(context: JournalContext, lease: Lease, found: FoundDeposits): Promise<void> {
  if (found.logs.length === 0) return
  await context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    await insertDeposits(tx, context, found)
  })
}

/** `timestamp`: the Unix seconds of the block at which all addresses have what their logs show; null: not yet. */
export const moveDeposits = (
  context: JournalContext,
  lease: Lease,
  { number, timestamp }: { number: number; timestamp: number | null },
): Promise<void> =>
  changeCursor(context.db, context, {
    lease,
    set: sql`deposits_number = ${number}, deposits_at = coalesce(to_timestamp(${timestamp}), deposits_at)`,
  })

/** Stores final transfers to deposit addresses. Their payments are changed later (observer/pending-logs.ts). */
export async function insertDeposits(tx: Tx, context: JournalContext, found: FoundDeposits): Promise<void> {
  if (found.logs.length === 0) return
  const { chainId } = context.scope
  const alikeBefore = countAlike()
  const logs = found.logs.map((log) => {
    const { txHash, token, sender, address, units } = log
    const at = found.blockTimes.get(log.blockHash)
    return { ...log, at, nth: alikeBefore([txHash, token, sender, address, units]) }
  })
  await execute(
    tx,
    sql`with
        -- Answers only new logs, so that nothing is counted twice.
        stored as (
          insert into deposit_log (chain_id, tx_hash, log_index, told_index, payment_id, token, sender, units, block_number,
            block_hash, finalized_at, applied_at)
          select ${chainId}, g."txHash", g."logIndex", ${firstIndex('deposit_log', chainId)}, d.payment_id, g.token, g.sender, g.units,
            g."blockNumber", g."blockHash", g.at, null
          from jsonb_to_recordset(${JSON.stringify(logs)}::jsonb) as g("txHash" text, "logIndex" int, address text,
              token text, sender text, units numeric, "blockNumber" bigint, "blockHash" text, at timestamptz, nth int)
            join deposit d on d.address = g.address and d.chain_id = ${chainId} and d.livemode = ${context.scope.livemode}
            left join gone_transfer gone on gone.stored_as = 'deposit_log' and gone.chain_id = ${chainId}
              and (gone.tx_hash, gone.token, gone.sender, gone.recipient, gone.units, gone.nth)
                = (g."txHash", g.token, g.sender, g.address, g.units, g.nth)
          on conflict do nothing returning payment_id, token, units, chain_id, tx_hash, told_index),
        came_again as (${deleteReturned('deposit_log')})
        -- Summed up on the deposit, so that a sweep finds the few with money without reading the logs.
        update deposit d set unswept_micro = d.unswept_micro + c.units
        from (select payment_id, token, sum(units) as units from stored group by 1, 2) c
        where c.payment_id = d.payment_id and c.token = d.token`,
  )
}

/** Smaller amounts stay at the address: strangers send dust. The first condition matches the index. */
export const worthSweeping = ({ scope }: JournalContext): Statement => sql`
  d.unswept_micro > 0 and d.unswept_micro >= ${MIN_SWEEP_MICRO} and d.chain_id = ${scope.chainId}
    and d.livemode = ${scope.livemode} and d.token = ${scope.token}`

const unsweptRow = z.object({ payment_id: z.string(), address: hex, idx: z.coerce.number(), micro: z.string() })

/** Deposits with money at the address that no sweep is bringing to the treasury, in the order of their payments. */
export async function readUnswept(context: JournalContext, ask: { after: string; limit: number }): Promise<Unswept[]> {
  const rows = await many(
    context.db,
    unsweptRow,
    sql`select d.payment_id, d.address, d.unswept_micro::text as micro,
          (select count(*) from deposit_sweep s where s.payment_id = d.payment_id) as idx
        from deposit d where ${worthSweeping(context)}
          and not exists (select 1 from deposit_sweep s where s.payment_id = d.payment_id and s.state in ('signed', 'assigned'))
          and d.payment_id > ${ask.after} order by d.payment_id limit ${ask.limit}`,
  )
  return rows.map((row) => ({ paymentId: row.payment_id, address: row.address, index: row.idx, micro: row.micro }))
}

/** Stores a signed sweep. Call it before the sweep is sent. Another engine might have been faster. */
export async function storeSweep({ db, scope }: JournalContext, sweep: Sweep): Promise<void> {
  await execute(
    db,
    sql`insert into deposit_sweep (payment_id, idx, chain_id, token, treasury, micro_usdc, auth_nonce, signature, valid_before, state)
        values (${sweep.paymentId}, ${sweep.index}, ${scope.chainId}, ${scope.token}, ${sweep.treasury}, ${sweep.micro},
          ${sweep.authNonce}, ${Buffer.from(sweep.signature.slice(2), 'hex')}, ${sweep.validBefore}, 'signed')
        on conflict do nothing`,
  )
}

/** Renews a signature of a sweep that is in no transaction. Its nonce is the same: the token accepts only one. */
export async function renewSweep({ db }: JournalContext, sweep: Sweep): Promise<void> {
  await execute(
    db,
    sql`update deposit_sweep set treasury = ${sweep.treasury}, valid_before = ${sweep.validBefore}, micro_usdc = ${sweep.micro},
          signature = ${Buffer.from(sweep.signature.slice(2), 'hex')}
        where payment_id = ${sweep.paymentId} and idx = ${sweep.index} and state = 'signed'`,
  )
}

const sweepRow = z.object({
  payment_id: z.string(),
  idx: z.number(),
  address: hex,
  treasury: hex,
  micro: z.string(),
  auth_nonce: hex,
  signature: hex,
  valid_before: z.coerce.number(),
})

const selectSweeps = (where: Statement, micro: Statement = sql`s.micro_usdc`) => sql`
  select s.payment_id, s.idx, d.address, s.treasury, ${micro}::text as micro, s.auth_nonce,
    '0x' || encode(s.signature, 'hex') as signature, s.valid_before
  from deposit_sweep s join deposit d using (payment_id) where ${where}`

const toSweep = (row: z.infer<typeof sweepRow>): Sweep => ({
  paymentId: row.payment_id,
  address: row.address,
  index: row.idx,
  micro: row.micro,
  treasury: row.treasury,
  authNonce: row.auth_nonce,
  signature: row.signature,
  validBefore: row.valid_before,
})

/**
 * Reads signed sweeps in no transaction that go to another treasury, expire before the Unix second, or exceed the
 * balance of the address because blocks were replaced. They are signed again for the present balance, which would
 * otherwise wait behind them forever.
 */
export async function readStaleSweeps(
  { db, scope }: JournalContext,
  ask: { treasury: Hex; validUntil: number; after: string; limit: number },
): Promise<Sweep[]> {
  // A sweep of an empty address stays as it is: the deposit, or another one, might still arrive.
  const tooMuch = sql`d.unswept_micro >= ${MIN_SWEEP_MICRO} and d.unswept_micro < s.micro_usdc`
  const where = sql`s.state = 'signed' and s.chain_id = ${scope.chainId} and s.token = ${scope.token}
    and (s.treasury <> ${ask.treasury} or s.valid_before < ${ask.validUntil} or ${tooMuch})
    and d.livemode = ${scope.livemode} and s.payment_id > ${ask.after} order by s.payment_id limit ${ask.limit}`
  const micro = sql`case when ${tooMuch} then d.unswept_micro else s.micro_usdc end`
  return (await many(db, sweepRow, selectSweeps(where, micro))).map(toSweep)
}

/** Signed sweeps in no transaction that are valid at the Unix second. */
export async function readSendableSweeps(
  { db, scope }: JournalContext,
  ask: { treasury: Hex; validAt: number; limit: number },
): Promise<Sweep[]> {
  const where = sql`s.state = 'signed' and s.chain_id = ${scope.chainId} and s.token = ${scope.token}
    and s.treasury = ${ask.treasury} and s.valid_before > ${ask.validAt}
    and d.livemode = ${scope.livemode} order by s.created_at, s.payment_id limit ${ask.limit}`
  return (await many(db, sweepRow, selectSweeps(where))).map(toSweep)
}

const nonceRow = z.object({ nonce: z.coerce.number() })

/** Takes the lane's next nonce for the sweeps that are still free. Null if none is, or if sending is stopped. */
export function reserveSweeps(
  context: JournalContext,
  lane: Lane,
  ask: {
    paymentIds: readonly string[]
    encode: (sweeps: readonly Sweep[]) => Sending
  },
): Promise<Reserved | null> {
  return fenced(context, lane, async (tx, stopped) => {
    if (stopped !== null) return null
    const free = sql`d.livemode = ${context.scope.livemode} and s.state = 'signed' and s.payment_id = any(${[...ask.paymentIds]}) for update of s skip locked`
    const sweeps = (await many(tx, sweepRow, selectSweeps(free))).map(toSweep)
    if (sweeps.length === 0) return null
    const sending = ask.encode(sweeps)
    const { nonce } = await one(
      tx,
      nonceRow,
      sql`with ${nextEnvelope(lane, sending)},
          -- From here on no other envelope may carry them.
          moved as (update deposit_sweep s set state = 'assigned', lane_wallet = ${lane.wallet}, lane_nonce = n.nonce
            from n where s.state = 'signed' and s.payment_id = any(${sweeps.map(({ paymentId }) => paymentId)}))
          select nonce from n`,
    )
    return { ...sending, nonce, items: sweeps.length }
  })
}

/** If a restored database lacks the sweep, the logs show it. */
export async function abandonSweep({ db }: JournalContext, sweep: Pick<Sweep, 'paymentId' | 'index'>): Promise<void> {
  await execute(
    db,
    sql`update deposit_sweep set state = 'abandoned' where payment_id = ${sweep.paymentId} and idx = ${sweep.index}
          and state = 'signed'`,
  )
}

/**
 * Ends the sweep of this movement: a final transfer from a deposit address to a treasury. The database might lack the
 * sweep after a restore: only the platform has the key. Returns the payment's id, or null if the money is from
 * elsewhere.
 */
export async function finishSweep(tx: Tx, movement: TreasuryMovement): Promise<string | null> {
  const id = await sweptFrom(tx, movement)
  if (id === null) return null
  const known = await execute(
    tx,
    sql`update deposit_sweep s set state = 'done', tx_hash = ${movement.txHash}, lane_wallet = null, lane_nonce = null
        where s.payment_id = ${id} and s.idx = (select min(idx) from deposit_sweep o where o.payment_id = ${id}
          and o.state <> 'done' and o.micro_usdc = ${movement.micro})`,
  )
  if (known === 0)
    await execute(
      tx,
      sql`insert into deposit_sweep (payment_id, idx, chain_id, token, treasury, micro_usdc, auth_nonce, state, tx_hash)
          select payment_id, (select coalesce(max(idx) + 1, 0) from deposit_sweep where payment_id = ${id}), chain_id,
            token, ${movement.treasury}, ${movement.micro}, ${movement.txHash}, 'done', ${movement.txHash}
          from deposit where payment_id = ${id}`,
    )
  await execute(tx, sql`update deposit_sweep set state = 'abandoned' where payment_id = ${id} and state = 'signed'`)
  await execute(
    tx,
    sql`update deposit set unswept_micro = unswept_micro - ${movement.micro}::numeric where payment_id = ${id}`,
  )
  return id
}

const paymentIdRow = z.object({ payment_id: z.string() })

/** Locks the deposit. Null: the movement is from elsewhere, or left the treasury. */
export async function sweptFrom(tx: Tx, movement: TreasuryMovement): Promise<string | null> {
  const { direction, counterparty, chainId } = movement
  if (direction !== 'in') return null
  const deposit = await maybeOne(
    tx,
    paymentIdRow,
    sql`select payment_id from deposit where address = ${counterparty} and chain_id = ${chainId}
          and livemode = ${tx.livemode} for update`,
  )
  return deposit?.payment_id ?? null
}

import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { MicroUsdc } from '../../domain/money.ts'
import { readFundingRefusal } from '../../domain/refund/refund.ts'
import {
  type DepositLog,
  type Funding,
  MINED_IN_VAIN,
  type ReturnLog,
  type Sweep,
  type Unswept,
  type WatchKind,
} from '../../domain/settlement/deposit.ts'
import type { BlockTimes, Lane, Lease, Reserved, Sending, TreasuryMovement } from '../../domain/settlement/payout.ts'
import { execute, many, maybeOne, one, type Statement, sql, type Tx } from '../db.ts'
import { type JournalContext, lockPaymentsFirst } from './context.ts'
import { changeCursor, fence, here } from './cursor.ts'
import { fenced, nextEnvelope } from './lanes.ts'
import { countAlike, deleteReturned, firstIndex } from './observer/moved-transfers.ts'
import { hex } from './payouts.ts'

/** A sweep of less than 0.01 USDC costs more than it is worth. */
const MIN_SWEEP_MICRO = 10_000

/** A deposit address, with its balance by its stored transfers and sweeps. */
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
              where l.owner_id = d.owner_id and l.token <> d.token group by 1) o) as others,
          exists (select 1 from settlement_finding f where (f.chain_id, f.token, f.kind, f.subject)
            = (d.chain_id, c.token, 'deposit_difference', d.owner_id)) as listed
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
          insert into deposit_log (chain_id, tx_hash, log_index, known_index, owner_id, token, sender, units, block_number,
            block_hash, finalized_at, applied_at)
          select ${chainId}, g."txHash", g."logIndex", ${firstIndex('deposit_log', chainId)}, d.owner_id, g.token, g.sender, g.units,
            g."blockNumber", g."blockHash", g.at, null
          from jsonb_to_recordset(${JSON.stringify(logs)}::jsonb) as g("txHash" text, "logIndex" int, address text,
              token text, sender text, units numeric, "blockNumber" bigint, "blockHash" text, at timestamptz, nth int)
            join deposit d on d.address = g.address and d.chain_id = ${chainId} and d.livemode = ${context.scope.livemode}
            left join gone_transfer gone on gone.stored_as = 'deposit_log' and gone.chain_id = ${chainId}
              and (gone.tx_hash, gone.token, gone.sender, gone.recipient, gone.units, gone.nth)
                = (g."txHash", g.token, g.sender, g.address, g.units, g.nth)
          on conflict do nothing returning owner_id, token, sender, units, chain_id, tx_hash, known_index),
        -- The authorization by which a merchant's wallet has paid.
        paid as (
          update deposit_sweep s set state = 'done', tx_hash = c.tx_hash, lane_wallet = null, lane_nonce = null
          from stored c where s.owner_id = c.owner_id and s.state in ('signed', 'assigned')
            and (s.token, s.sender, s.micro_usdc) = (c.token, c.sender, c.units)),
        came_again as (${deleteReturned('deposit_log')})
        -- Summed up on the deposit, so that a sweep finds the few with money without reading the logs.
        update deposit d set unswept_micro = d.unswept_micro + c.units
        from (select owner_id, token, sum(units) as units from stored group by 1, 2) c
        where c.owner_id = d.owner_id and c.token = d.token`,
  )
}

/** Smaller amounts stay at the address: strangers send dust. The first condition matches the index. */
export const worthSweeping = ({ scope }: JournalContext): Statement => sql`
  d.unswept_micro > 0 and d.unswept_micro >= ${MIN_SWEEP_MICRO} and d.chain_id = ${scope.chainId}
    and d.livemode = ${scope.livemode} and d.token = ${scope.token}
    and (d.refund_id is null or d.treasury_micro is not null)`

/** The treasury's share of the USDC at the address `d`: of a refund's what its end has left to it, else all. */
const treasuryShare = sql`case when d.refund_id is null then d.unswept_micro
  else least(d.unswept_micro, d.treasury_micro - d.taken_micro) end`

const unsweptRow = z.object({
  owner_id: z.string(),
  address: hex,
  idx: z.coerce.number(),
  micro: z.string(),
  return_to: hex.nullable(),
})

const toUnswept = (row: z.infer<typeof unsweptRow>): Unswept => ({
  ownerId: row.owner_id,
  address: row.address,
  index: row.idx,
  micro: row.micro,
  returnTo: row.return_to,
})

/**
 * The treasury's share of a refund is swept under this index alone and never abandoned: no log that is not read yet, and
 * no restored backup, can make the treasury take it twice.
 */
const SHARE_INDEX = 0

/** The index of the next other sweep of the address `d`. */
export const nextIndex = sql`coalesce((select max(o.idx) + 1 from deposit_sweep o where o.owner_id = d.owner_id),
  case when d.refund_id is null then 0 else ${SHARE_INDEX} + 1 end)`

/**
 * Addresses with money that no sweep is moving, in the order of their owners. The share of the treasury is swept first,
 * and the rest goes back by the next sweep.
 */
export async function readUnswept(context: JournalContext, ask: { after: string; limit: number }): Promise<Unswept[]> {
  const rows = await many(
    context.db,
    unsweptRow,
    sql`select d.owner_id, d.address, case when share.micro > 0 then share.micro else d.unswept_micro end::text as micro,
          case when share.micro > 0 then null else d.return_to end as return_to,
          case when d.refund_id is not null and share.micro > 0 then ${SHARE_INDEX} else ${nextIndex} end as idx
        from deposit d, lateral (select ${treasuryShare} as micro) share where ${worthSweeping(context)}
          and not exists (select 1 from deposit_sweep s
            where s.owner_id = d.owner_id and s.sender = d.address and s.state in ('signed', 'assigned'))
          and d.owner_id > ${ask.after} order by d.owner_id limit ${ask.limit}`,
  )
  return rows.map(toUnswept)
}

/** Stores a signed sweep. Call it before the sweep is sent. Another engine might have been faster. */
export async function storeSweep({ db, scope }: JournalContext, sweep: Sweep): Promise<void> {
  await execute(
    db,
    sql`insert into deposit_sweep (owner_id, idx, chain_id, token, sender, recipient, micro_usdc, auth_nonce, signature, valid_before, state)
        values (${sweep.ownerId}, ${sweep.index}, ${scope.chainId}, ${scope.token}, ${sweep.sender}, ${sweep.recipient}, ${sweep.micro},
          ${sweep.authNonce}, ${Buffer.from(sweep.signature.slice(2), 'hex')}, ${sweep.validBefore}, 'signed')
        on conflict do nothing`,
  )
}

/** Renews a signature of a sweep that is in no transaction. Its nonce is the same: the token accepts only one. */
export async function renewSweep({ db }: JournalContext, sweep: Sweep): Promise<void> {
  await execute(
    db,
    sql`update deposit_sweep set recipient = ${sweep.recipient}, valid_before = ${sweep.validBefore}, micro_usdc = ${sweep.micro},
          signature = ${Buffer.from(sweep.signature.slice(2), 'hex')}
        where owner_id = ${sweep.ownerId} and idx = ${sweep.index} and state = 'signed'`,
  )
}

const sweepRow = z.object({
  owner_id: z.string(),
  idx: z.number(),
  sender: hex,
  recipient: hex,
  micro: z.string(),
  auth_nonce: hex,
  signature: hex,
  valid_before: z.coerce.number(),
})

const selectSweeps = (where: Statement) => sql`
  select s.owner_id, s.idx, s.sender, s.recipient, s.micro_usdc::text as micro, s.auth_nonce, s.refused,
    '0x' || encode(s.signature, 'hex') as signature, s.valid_before
  from deposit_sweep s join deposit d using (owner_id) where ${where}`

const toSweep = (row: z.infer<typeof sweepRow>): Sweep => ({
  ownerId: row.owner_id,
  index: row.idx,
  micro: row.micro,
  sender: row.sender,
  recipient: row.recipient,
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
): Promise<Unswept[]> {
  // A sweep of an empty address stays as it is: the deposit, or another one, might still arrive.
  const tooMuch = sql`d.unswept_micro >= ${MIN_SWEEP_MICRO} and d.unswept_micro < s.micro_usdc`
  const where = sql`s.state = 'signed' and s.chain_id = ${scope.chainId} and s.token = ${scope.token} and s.sender = d.address
    and (s.recipient <> ${ask.treasury} and s.recipient is distinct from d.return_to or s.valid_before < ${ask.validUntil} or ${tooMuch})
    and d.livemode = ${scope.livemode} and s.owner_id > ${ask.after} order by s.owner_id limit ${ask.limit}`
  const rows = await many(
    db,
    unsweptRow,
    sql`select s.owner_id, d.address, s.idx, case when ${tooMuch} then d.unswept_micro else s.micro_usdc end::text as micro,
          case when s.recipient = d.return_to then d.return_to end as return_to
        from deposit_sweep s join deposit d using (owner_id) where ${where}`,
  )
  return rows.map(toUnswept)
}

/** Signed sweeps in no transaction that are valid at the Unix second. */
export async function readSendableSweeps(
  { db, scope }: JournalContext,
  ask: { treasury: Hex; validAt: number; limit: number },
): Promise<Sweep[]> {
  const where = sql`s.state = 'signed' and s.chain_id = ${scope.chainId} and s.token = ${scope.token} and s.sender = d.address
    and (s.recipient = ${ask.treasury} or s.recipient = d.return_to) and s.valid_before > ${ask.validAt}
    and d.livemode = ${scope.livemode} order by ${leastTried} limit ${ask.limit}`
  return (await many(db, sweepRow, selectSweeps(where))).map(toSweep)
}

/** Sweeps that the token refuses each time must not keep others waiting. */
const leastTried = sql`s.refused_at nulls first, s.created_at, s.owner_id`

/** Records that the token would refuse these sweeps now. They are tried again after those that were not refused. */
export async function refuseSweeps(
  { db }: JournalContext,
  refused: readonly (Pick<Sweep, 'ownerId' | 'index'> & { readonly reason: string })[],
): Promise<void> {
  await execute(
    db,
    sql`update deposit_sweep s set refused = g.reason, refused_at = now()
        from jsonb_to_recordset(${JSON.stringify(refused)}::jsonb) as g("ownerId" text, index int, reason text)
        where (s.owner_id, s.idx) = (g."ownerId", g.index) and s.state = 'signed'`,
  )
}

/** A merchant's authorization that the token would refuse now is looked at again after this time. */
const REFUSED_SECONDS = 30

/**
 * Merchants' authorizations to pay for refunds that are not over, of which none is in a transaction. One that was refused
 * waits until the transfers to all addresses are read up to then: it may have been made.
 */
export const signedFundings = (context: JournalContext): Statement => sql`
  s.state = 'signed' and s.chain_id = ${context.scope.chainId} and s.token = ${context.scope.token} and s.sender <> d.address
    and d.livemode = ${context.scope.livemode} and d.treasury_micro is null and s.valid_before > extract(epoch from now())
    and (s.refused_at is null or s.refused_at < least(now() - ${REFUSED_SECONDS} * interval '1 second',
      (select deposits_at from chain_cursor where ${here(context)})))`

const fundingRow = sweepRow.extend({ refused: z.string().nullable() })

export async function readFundings(
  context: JournalContext,
  ask: { validAt: number; limit: number },
): Promise<Funding[]> {
  const where = sql`${signedFundings(context)} and s.valid_before > ${ask.validAt} order by ${leastTried} limit ${ask.limit}`
  const rows = await many(context.db, fundingRow, selectSweeps(where))
  return rows.map(({ refused, ...row }) => ({ ...toSweep(row), refused }))
}

/**
 * Keeps why the token refuses a merchant's authorization, for the merchant. It is tried again: the wallet may have too
 * little USDC yet, or may sign again. It is over if its nonce is used, or its transaction has moved nothing; the merchant
 * learns that by the second try, when a transfer that was made is known.
 */
export async function refuseFunding(
  { db }: JournalContext,
  { ownerId, index, refused }: Pick<Funding, 'ownerId' | 'index' | 'refused'>,
  reason: string,
): Promise<void> {
  const refusal = readFundingRefusal(reason)
  const isLast = refusal === 'nonce_used' || reason === MINED_IN_VAIN
  const isOver = isLast && refused === reason
  await execute(
    db,
    sql`with refused as (
          update deposit_sweep set state = ${isOver ? 'abandoned' : 'signed'}, refused = ${reason}, refused_at = now()
          where owner_id = ${ownerId} and idx = ${index} and state = 'signed' returning owner_id)
        update refund set funding_refusal = ${refusal} from refused
        where id = refused.owner_id and status = 'awaiting_funds' and ${isOver || !isLast}`,
  )
}

const nonceRow = z.object({ nonce: z.coerce.number() })

/** Takes the lane's next nonce for the sweeps that are still free. Null if none is, or if sending is stopped. */
export function reserveSweeps(
  context: JournalContext,
  lane: Lane,
  ask: {
    sweeps: readonly Pick<Sweep, 'ownerId' | 'index'>[]
    encode: (sweeps: readonly Sweep[]) => Sending
  },
): Promise<Reserved | null> {
  return fenced(context, lane, async (tx, stopped) => {
    if (stopped !== null) return null
    const among = (sweeps: typeof ask.sweeps): Statement =>
      sql`s.state = 'signed' and (s.owner_id, s.idx) in (
        select owner_id, idx from unnest(${sweeps.map(({ ownerId }) => ownerId)}::text[], ${sweeps.map(({ index }) => index)}::int[])
          as g(owner_id, idx))`
    const free = sql`d.livemode = ${context.scope.livemode} and ${among(ask.sweeps)} for update of s skip locked`
    const sweeps = (await many(tx, sweepRow, selectSweeps(free))).map(toSweep)
    if (sweeps.length === 0) return null
    const sending = ask.encode(sweeps)
    const { nonce } = await one(
      tx,
      nonceRow,
      sql`with ${nextEnvelope(lane, sending)},
          -- From here on no other envelope may carry them.
          moved as (update deposit_sweep s set state = 'assigned', lane_wallet = ${lane.wallet}, lane_nonce = n.nonce
            from n where ${among(sweeps)})
          select nonce from n`,
    )
    return { ...sending, nonce, items: sweeps.length }
  })
}

/**
 * Abandons a sweep whose nonce is used. What is at its address then is swept under the next index: it belongs to one
 * party, whatever the sweep has moved. Only the treasury's share of a refund waits, until the log of its transfer is read.
 */
export async function abandonSweep(
  { db }: JournalContext,
  { ownerId, index, reason }: Pick<Sweep, 'ownerId' | 'index'> & { readonly reason: string },
): Promise<void> {
  await execute(
    db,
    sql`update deposit_sweep s set refused = ${reason}, refused_at = now(),
          state = case when d.refund_id is not null and s.idx = ${SHARE_INDEX} then s.state else 'abandoned' end
        from deposit d where d.owner_id = s.owner_id and s.owner_id = ${ownerId} and s.idx = ${index} and s.state = 'signed'`,
  )
}

/**
 * Ends the sweep of this movement: a final transfer from a deposit address to a treasury. The database might lack the
 * sweep after a restore: only the platform has the key. Returns the payment's id, or null if the money is from
 * elsewhere.
 */
export async function finishSweep(tx: Tx, movement: TreasuryMovement): Promise<string | null> {
  const swept = await lockSender(tx, movement)
  if (swept === null) return null
  const { micro, txHash, treasury } = movement
  await endSweep(tx, swept, { micro, txHash, recipient: treasury, returned: null })
  await execute(
    tx,
    sql`update deposit set unswept_micro = unswept_micro - ${micro}::numeric, taken_micro = taken_micro + ${micro}::numeric
        where owner_id = ${swept.owner_id}`,
  )
  return swept.payment_id
}

/** Returns the payment whose address, or whose refund's, the movement is from. Null: it is from elsewhere. */
export async function sweptFrom(tx: Tx, movement: TreasuryMovement): Promise<string | null> {
  return (await lockSender(tx, movement))?.payment_id ?? null
}

const ownerRow = z.object({ owner_id: z.string(), payment_id: z.string(), address: hex, return_to: hex.nullable() })
type Owner = z.infer<typeof ownerRow>

/** Locks the deposit. Null: the movement is from elsewhere, or left the treasury. */
async function lockSender(tx: Tx, { direction, counterparty, chainId }: TreasuryMovement): Promise<Owner | null> {
  if (direction !== 'in') return null
  return maybeOne(
    tx,
    ownerRow,
    sql`select owner_id, payment_id, address, return_to from deposit where address = ${counterparty} and chain_id = ${chainId}
          and livemode = ${tx.livemode} for update`,
  )
}

type EndedSweep = {
  readonly micro: MicroUsdc
  readonly txHash: Hex
  readonly recipient: Hex
  /** The block of a transfer back to the merchant. */
  readonly returned: { readonly number: number; readonly hash: Hex } | null
}

const indexRow = z.object({ idx: z.number() })

/** Returns the index of the sweep that the transfer has ended: it is the same in whatever block the transfer is. */
async function endSweep(tx: Tx, owner: Owner, ended: EndedSweep): Promise<number> {
  const { owner_id: ownerId, return_to: returnTo, address } = owner
  const { micro, txHash, recipient, returned } = ended
  const done = sql`state = 'done', tx_hash = ${txHash}, returned_block = ${returned?.number ?? null},
    returned_block_hash = ${returned?.hash ?? null}`
  const known = await maybeOne(
    tx,
    indexRow,
    sql`update deposit_sweep s set ${done}, lane_wallet = null, lane_nonce = null
        where s.owner_id = ${ownerId} and s.idx = (select min(idx) from deposit_sweep o where o.owner_id = ${ownerId}
          and o.state <> 'done' and o.micro_usdc = ${micro} and o.sender = ${address}
          and (o.recipient is not distinct from ${returnTo}) = ${returned !== null})
        returning s.idx`,
  )
  const found =
    known ??
    (await one(
      tx,
      indexRow,
      sql`insert into deposit_sweep (owner_id, idx, chain_id, token, sender, recipient, micro_usdc, auth_nonce, state, tx_hash,
            returned_block, returned_block_hash)
          select d.owner_id, ${nextIndex}, d.chain_id, d.token, d.address, ${recipient}, ${micro}, ${txHash}, 'done', ${txHash},
            ${returned?.number ?? null}, ${returned?.hash ?? null}
          from deposit d where d.owner_id = ${ownerId} returning idx`,
    ))
  await execute(
    tx,
    sql`update deposit_sweep set state = 'abandoned' where owner_id = ${ownerId} and state = 'signed' and sender = ${address}
          and (${returnTo === null} or idx <> ${SHARE_INDEX})`,
  )
  return found.idx
}

/**
 * Returns those of the addresses from which USDC may go back to a merchant, also of refunds that are not over: a restored
 * backup may have forgotten that they were.
 */
export async function listReturning({ db, scope }: JournalContext, addresses: readonly Hex[]): Promise<Hex[]> {
  const rows = await many(
    db,
    addressRow,
    sql`select address from deposit where refund_id is not null and chain_id = ${scope.chainId}
          and livemode = ${scope.livemode} and address = any(${[...addresses]}::text[])`,
  )
  return rows.map(({ address }) => address)
}

/** Records final transfers from addresses of refunds back to merchants, with the books. Each is recorded once. */
export async function recordReturns(context: JournalContext, lease: Lease, logs: readonly ReturnLog[]): Promise<void> {
  if (logs.length === 0) return
  await context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    const { chainId, livemode } = context.scope
    const found = sql`from deposit where chain_id = ${chainId} and livemode = ${livemode} and refund_id is not null
      and address = any(${logs.map(({ sender }) => sender)}::text[])`
    const owners = await many(tx, ownerRow, sql`select owner_id, payment_id, address, return_to ${found}`)
    await lockPaymentsFirst(
      tx,
      owners.map((owner) => owner.payment_id),
    )
    for (const log of logs) {
      const owner = owners.find(({ address }) => address === log.sender)
      if (owner !== undefined) await recordReturn(context, tx, { owner, log })
    }
  })
}

async function recordReturn(
  { hooks }: JournalContext,
  tx: Tx,
  { owner, log }: { readonly owner: Owner; readonly log: ReturnLog },
): Promise<void> {
  const { owner_id: refundId, payment_id: paymentId } = owner
  const { micro, txHash, recipient, blockNumber: number, blockHash: hash } = log
  const isKnown = sql`select 1 from deposit_sweep where owner_id = ${refundId} and tx_hash = ${txHash}
    and returned_block is not null`
  if ((await execute(tx, isKnown)) > 0) return
  const index = await endSweep(tx, owner, { micro, txHash, recipient, returned: { number, hash } })
  await execute(
    tx,
    sql`update deposit set unswept_micro = unswept_micro - ${micro}::numeric where owner_id = ${refundId}`,
  )
  await hooks.onReturned(tx, { refundId, paymentId, index, micro, txHash })
}

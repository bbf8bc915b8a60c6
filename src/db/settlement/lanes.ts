import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import {
  type Lane,
  LeaseLostError,
  type Reservation,
  type Reserved,
  type Sending,
  type TopUpRefusal,
} from '../../domain/settlement/payout.ts'
import { execute, many, maybeOne, one, type Statement, sql, type Tx } from '../db.ts'
import { isInScope, type JournalContext } from './context.ts'
import { concludeEnvelopes, type EnvelopesEnded, readUnsharedGas } from './envelopes.ts'
import { storeLogs } from './logs.ts'
import { bookGas } from './observer/gas.ts'
import { hex } from './payouts.ts'

const bytes = (value: Hex): Buffer => Buffer.from(value.slice(2), 'hex')

/** Why a lane sends nothing new: its own status, or a pause of everything. */
type Stopped = 'quarantined' | 'paused' | null

const fenceRow = z.object({ status: z.enum(['open', 'paused_gas', 'quarantined']), paused: z.boolean() })

/** Locks the lane. No row if another engine leads. */
const lockLane = ({ scope }: JournalContext, { chainId, wallet, lease }: Lane): Statement =>
  sql`select l.status, c.pause is not null as paused from lane l join chain_cursor c using (chain_id)
      where l.chain_id = ${chainId} and l.wallet = ${wallet} and c.token = ${scope.token}
        and c.owner = ${lease.owner} and c.epoch = ${lease.epoch} for update of l`

const lost = ({ wallet, lease }: Lane): LeaseLostError =>
  new LeaseLostError(`lane ${wallet}: another engine leads since epoch ${lease.epoch}`)

/**
 * Locks the lane for this transaction and proves that this engine still leads: a newer epoch makes every write fail.
 * Returns what stops the lane now, because an operator or the solvency watch can have stopped it since the round began.
 */
async function fence(tx: Tx, context: JournalContext, lane: Lane): Promise<Stopped> {
  const owned = await maybeOne(tx, fenceRow, lockLane(context, lane))
  if (owned === null) throw lost(lane)
  if (owned.status === 'quarantined') return 'quarantined'
  return owned.paused ? 'paused' : null
}

/** Runs `work` in a transaction that owns the lane's lock. Throws LeaseLostError if another engine leads. */
export function fenced<T>(
  context: JournalContext,
  lane: Lane,
  work: (tx: Tx, stopped: Stopped) => Promise<T>,
): Promise<T> {
  return context.db.transaction(async (tx) => work(tx, await fence(tx, context, lane)))
}

/** `change`: the parts of a `with`, each of which reads from `owned` and so waits for the lane's lock. */
async function changeFenced(context: JournalContext, lane: Lane, change: Statement): Promise<void> {
  const statement = sql`with owned as materialized (${lockLane(context, lane)}), ${change} select 1 from owned`
  if ((await execute(context.db, statement)) !== 1) throw lost(lane)
}

/** Opens a lane for a wallet that has none. `nextNonce`: how many nonces the wallet has used. */
export async function openLane({ db, scope }: JournalContext, wallet: Hex, nextNonce: number): Promise<void> {
  await execute(
    db,
    sql`insert into lane (chain_id, wallet, next_nonce) values (${scope.chainId}, ${wallet}, ${nextNonce})
        on conflict do nothing`,
  )
}

/** Sets the lane's status. It does not open a quarantined lane: only an operator can. */
export function setLaneStatus(
  context: JournalContext,
  lane: Lane,
  change: { status: Lane['status']; reason: string | null },
): Promise<void> {
  return fenced(context, lane, async (tx) => {
    await execute(
      tx,
      sql`update lane set status = ${change.status}, status_reason = ${change.reason}
          where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
            and (status <> 'quarantined' or ${change.status} = 'quarantined')`,
    )
  })
}

/** Skips nonces that the chain has used without this database: after a restore, or by a foreign user of the key. */
export function adoptNonces(context: JournalContext, lane: Lane, nextNonce: number): Promise<void> {
  return fenced(context, lane, async (tx) => {
    await execute(
      tx,
      sql`insert into lane_tx (chain_id, wallet, nonce, kind, target, calldata, gas_limit, state, ended_at)
          select chain_id, wallet, n, 'foreign', wallet, ''::bytea, 0, 'foreign', now()
          from lane, generate_series(next_nonce, ${nextNonce - 1}::bigint) n
          where chain_id = ${lane.chainId} and wallet = ${lane.wallet}`,
    )
    await execute(
      tx,
      sql`update lane set next_nonce = ${nextNonce} where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
            and next_nonce < ${nextNonce}`,
    )
  })
}

/** The first two parts of every statement that takes a nonce: `n`, the lane's next nonce, and its reserved row. */
export function nextEnvelope(
  lane: Lane,
  sending: Sending & { readonly kind?: 'batch' | 'topup'; readonly value?: bigint },
): Statement {
  const { kind = 'batch', target, calldata, gasLimit, value = 0n } = sending
  return sql`
          -- The update locks the lane: two statements cannot take one nonce.
          n as (update lane set next_nonce = next_nonce + 1
            where chain_id = ${lane.chainId} and wallet = ${lane.wallet} returning next_nonce - 1 as nonce),
          -- A nonce without its row would be a gap that stops the lane.
          envelope as (insert into lane_tx (chain_id, wallet, nonce, kind, target, calldata, gas_limit, value, state)
            select ${lane.chainId}, ${lane.wallet}, nonce, ${kind}, ${target}, ${bytes(calldata)}, ${gasLimit.toString()}::bigint,
              ${value.toString()}::numeric, 'reserved' from n)`
}

const payoutStateRow = z.object({ owner_id: z.string(), state: z.string() })

const nonceRow = z.object({ nonce: z.coerce.number() })

/**
 * Takes the lane's next nonce for these payouts, in the statement that writes the envelope, its items and the payouts'
 * new state, so that a nonce always has its row. `encode` receives the payouts that were still free, which can be
 * fewer. Null if none was, if the lane is quarantined, or if everything is paused.
 */
export function reserve(
  context: JournalContext,
  lane: Lane,
  { payouts, encode }: Reservation,
): Promise<Reserved | null> {
  return fenced(context, lane, async (tx, stopped) => {
    if (stopped !== null) return null
    const asked = payouts.map(({ ownerId }) => ownerId)
    const rows = await many(
      tx,
      payoutStateRow,
      sql`select p.owner_id, p.state from payout p where ${isInScope(context)} and p.owner_id = any(${asked}) and p.lane_wallet is null
            and p.state in ('authorized', 'voiding') for update of p skip locked`,
    )
    const states = new Map(rows.map((row) => [row.owner_id, row.state]))
    const free = payouts.filter(({ ownerId, state }) => states.get(ownerId) === state)
    if (free.length === 0) return null
    const ids = free.map(({ ownerId }) => ownerId)
    const sending = encode(free)
    const { nonce } = await one(
      tx,
      nonceRow,
      sql`with ${nextEnvelope(lane, sending)},
          -- A payout may leave for another envelope; its item still says what this one carried.
          items as (insert into lane_tx_item (chain_id, wallet, nonce, idx, owner_id, kind)
            select ${lane.chainId}, ${lane.wallet}, n.nonce, i.idx - 1, i.owner_id, i.kind
            from n, unnest(${ids}::text[], ${free.map((payout) => payout.signed.kind)}::text[]) with ordinality
              as i(owner_id, kind, idx)),
          -- No other envelope carries them unless their lane gets stuck.
          moved as (update payout p set lane_wallet = ${lane.wallet}, lane_nonce = n.nonce, updated_at = now(),
              state = case p.state when 'authorized' then 'assigned' else p.state end
            from n where p.owner_id = any(${ids}))
          select nonce from n`,
    )
    return { ...sending, nonce, items: free.length }
  })
}

const roomRow = z.object({ refused: z.enum(['pending', 'quarantined']).nullable(), left: z.string() })

/**
 * Takes the funding lane's next nonce for gas money to `target`, reduced to what `maxWeiPerDay` leaves of it within 24
 * hours. Refused while earlier gas money to it was not mined by the block at which `mined` nonces were used, if
 * less than `least` is left, while everything is paused, or if one of the two lanes is quarantined: a stranger with its
 * key would take the money.
 */
export function reserveTopUp(
  context: JournalContext,
  lane: Lane,
  ask: { target: Hex; value: bigint; least: bigint; gasLimit: bigint; maxWeiPerDay: bigint; mined: number },
): Promise<{ nonce: number; value: bigint } | { refused: TopUpRefusal }> {
  return fenced(context, lane, async (tx, stopped) => {
    if (stopped !== null) return { refused: stopped }
    const { refused, left } = await one(
      tx,
      roomRow,
      sql`select case
            when count(*) filter (where t.wallet = ${lane.wallet} and t.nonce >= ${ask.mined}
              and t.state in ('reserved', 'signed', 'broadcast')) > 0
              then 'pending'
            when exists (select 1 from lane l where l.chain_id = ${lane.chainId} and l.wallet = ${ask.target}
              and l.status = 'quarantined') then 'quarantined' end as refused,
            (${ask.maxWeiPerDay.toString()}::numeric
              - coalesce(sum(t.value) filter (where t.created_at > now() - interval '24 hours'), 0))::text as left
          from lane_tx t where t.chain_id = ${lane.chainId} and t.target = ${ask.target} and t.kind = 'topup'`,
    )
    if (refused !== null) return { refused }
    const value = BigInt(left) < ask.value ? BigInt(left) : ask.value
    if (value < ask.least) return { refused: 'limit' }
    const { nonce } = await one(
      tx,
      nonceRow,
      sql`with ${nextEnvelope(lane, { ...ask, value, kind: 'topup', calldata: '0x' })} select nonce from n`,
    )
    return { nonce, value }
  })
}

/** Stores a signed transaction. Call it before the transaction is sent. */
export function storeAttempt(
  context: JournalContext,
  lane: Lane,
  attempt: { nonce: number; txHash: Hex; raw: Hex; maxFee: bigint; tip: bigint; signedBlock: number },
): Promise<void> {
  return changeFenced(
    context,
    lane,
    sql`kept as (
          insert into lane_tx_attempt (chain_id, wallet, nonce, attempt, tx_hash, raw, max_fee, tip, signed_block)
          select ${lane.chainId}, ${lane.wallet}, ${attempt.nonce}::bigint, known.attempt + 1, ${attempt.txHash},
            ${bytes(attempt.raw)}, ${attempt.maxFee.toString()}::numeric, ${attempt.tip.toString()}::numeric,
            ${attempt.signedBlock}::bigint
          from owned, lateral (select coalesce(max(attempt), 0) as attempt from lane_tx_attempt
            where chain_id = ${lane.chainId} and wallet = ${lane.wallet} and nonce = ${attempt.nonce}) known),
        signed as (update lane_tx t set state = 'signed' from owned
          where t.chain_id = ${lane.chainId} and t.wallet = ${lane.wallet} and t.nonce = ${attempt.nonce}
            and t.state = 'reserved')`,
  )
}

/** The state changes only if a node accepted the transaction. */
export function markSent(
  context: JournalContext,
  lane: Lane,
  sent: { nonce: number; txHash: Hex; at: Date; answer: string; accepted: boolean },
): Promise<void> {
  return changeFenced(
    context,
    lane,
    sql`answered as (update lane_tx_attempt set last_broadcast_at = ${sent.at}, last_answer = ${sent.answer} from owned
          where tx_hash = ${sent.txHash}),
        sent as (update lane_tx t set state = 'broadcast' from owned
          where t.chain_id = ${lane.chainId} and t.wallet = ${lane.wallet} and t.nonce = ${sent.nonce}
            and t.state = 'signed' and ${sent.accepted})`,
  )
}

const calldataRow = z.object({ calldata: hex })

export async function readCalldata(context: JournalContext, lane: Lane, nonce: number): Promise<Hex> {
  const row = await one(
    context.db,
    calldataRow,
    sql`select '0x' || encode(calldata, 'hex') as calldata from lane_tx
        where chain_id = ${lane.chainId} and wallet = ${lane.wallet} and nonce = ${nonce}`,
  )
  return row.calldata
}

const rawRow = z.object({ raw: hex })

export async function readRaw(context: JournalContext, txHash: Hex): Promise<Hex> {
  const row = await one(
    context.db,
    rawRow,
    sql`select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt where tx_hash = ${txHash}`,
  )
  return row.raw
}

/**
 * Stores the effects of final transactions of the lane, and ends their envelopes. Payouts of them that the chain
 * neither paid nor canceled are free again: their authorization is unused, so another envelope can send them. Returns
 * those that were in a transaction of the platform and are not paid. If gas cannot be booked now, no envelope stays
 * open.
 */
export function endEnvelopes(context: JournalContext, lane: Lane, ended: EnvelopesEnded): Promise<string[]> {
  return fenced(context, lane, async (tx) => {
    await storeLogs(tx, context, ended.found)
    const unshared = await readUnsharedGas(tx, lane, ended.ends)
    const refused = await concludeEnvelopes(tx, lane, ended)
    await bookGas(tx, context, unshared)
    return refused
  })
}

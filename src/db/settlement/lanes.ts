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
import { type JournalContext, type LeaseAsk, type LeaseName, ours } from './context.ts'
import { concludeEnvelopes, type EnvelopesEnded, readUnsharedGas } from './envelopes.ts'
import { hex } from './payouts.ts'
import { bookGas } from './watch/gas.ts'

const bytes = (value: Hex): Buffer => Buffer.from(value.slice(2), 'hex')

const leaseRow = z.object({
  epoch: z.string(),
  next_nonce: z.coerce.number(),
  status: z.enum(['open', 'paused_gas', 'quarantined']),
})

/** What keeps a lane from sending anything new: its own state, or a pause of everything. */
type Stopped = 'quarantined' | 'paused' | null

/**
 * Locks the lane for this transaction and proves that the lease still holds: a newer epoch makes every write fail.
 * Answers what stops it now: an operator or the solvency watch may have done so since the round began.
 */
async function fence(tx: Tx, { scope }: JournalContext, lane: Lane): Promise<Stopped> {
  const held = await maybeOne(
    tx,
    leaseRow.pick({ status: true }).extend({ paused: z.boolean() }),
    sql`select status, exists (select 1 from chain_cursor c where c.chain_id = lane.chain_id and c.token = ${scope.token}
            and c.pause is not null) as paused
        from lane where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
          and owner = ${lane.lease.owner} and epoch = ${lane.lease.epoch} for update`,
  )
  if (held === null) throw new LeaseLostError(`lane ${lane.wallet} has a newer owner than epoch ${lane.lease.epoch}`)
  if (held.status === 'quarantined') return 'quarantined'
  return held.paused ? 'paused' : null
}

/** Runs `work` in a transaction that holds the lane's lock. Throws LeaseLostError when the lease is no longer held. */
export function fenced<T>(
  context: JournalContext,
  lane: Lane,
  work: (tx: Tx, stopped: Stopped) => Promise<T>,
): Promise<T> {
  return context.db.transaction(async (tx) => work(tx, await fence(tx, context, lane)))
}

/** The answer for a wallet without a lane. */
const noLane = z.object({ epoch: z.null() })

/** Takes or renews the lane; null while another owner's lease runs. A change of owner is a new epoch. */
export async function leaseLane(
  context: JournalContext,
  wallet: Hex,
  ask: LeaseAsk & { firstNonce: () => Promise<number> },
): Promise<Lane | null> {
  const { chainId } = context.scope
  const row = await maybeOne(
    context.db,
    z.union([leaseRow, noLane]),
    sql`with taken as (
          update lane set owner = ${ask.owner}, lease_until = now() + ${ask.leaseMs} * interval '1 millisecond',
            epoch = epoch + case when owner = ${ask.owner} then 0 else 1 end
          where chain_id = ${chainId} and wallet = ${wallet}
            and (owner = ${ask.owner} or owner is null or lease_until <= now())
          returning epoch::text, next_nonce, status)
        select epoch, next_nonce, status from taken
        union all select null, null, null
          where not exists (select 1 from lane where chain_id = ${chainId} and wallet = ${wallet})`,
  )
  if (row === null) return null
  if (row.epoch === null) {
    await execute(
      context.db,
      sql`insert into lane (chain_id, wallet, next_nonce) values (${chainId}, ${wallet}, ${await ask.firstNonce()})
          on conflict do nothing`,
    )
    return leaseLane(context, wallet, ask)
  }
  const lease = { owner: ask.owner, epoch: row.epoch }
  return { chainId, wallet, lease, nextNonce: row.next_nonce, status: row.status }
}

const isOver = sql`owner = null, lease_until = '-infinity'`

/** Gives every lease of this owner back, so that the next engine need not wait for it to run out. */
export async function releaseLeases(context: JournalContext, owner: string): Promise<void> {
  await execute(context.db, sql`update lane set ${isOver} where owner = ${owner}`)
  await execute(context.db, sql`update chain_cursor set ${isOver} where owner = ${owner}`)
  await execute(context.db, sql`update signing_lease set ${isOver} where owner = ${owner}`)
}

/** Gives one lease back, if it is this owner's still. */
export async function giveBack({ db, scope }: JournalContext, owner: string, lease: LeaseName): Promise<void> {
  const table = lease === 'observer' ? sql`chain_cursor` : lease === 'signing' ? sql`signing_lease` : sql`lane`
  const which = typeof lease === 'string' ? sql`token = ${scope.token}` : sql`wallet = ${lease.lane}`
  await execute(
    db,
    sql`update ${table} set ${isOver} where chain_id = ${scope.chainId} and ${which} and owner = ${owner}`,
  )
}

/** Only an operator opens a quarantined lane. */
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

/** Takes nonces that the chain has used without us (a restored backup, or a foreign user of the key) out of play. */
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
            where chain_id = ${lane.chainId} and wallet = ${lane.wallet} and epoch = ${lane.lease.epoch}
            returning next_nonce - 1 as nonce),
          -- A nonce without its row would be a gap that stops the lane.
          envelope as (insert into lane_tx (chain_id, wallet, nonce, kind, target, calldata, gas_limit, value, state)
            select ${lane.chainId}, ${lane.wallet}, nonce, ${kind}, ${target}, ${bytes(calldata)}, ${gasLimit.toString()}::bigint,
              ${value.toString()}::numeric, 'reserved' from n)`
}

/**
 * Takes the lane's next nonce for these payouts, in the statement that writes the envelope, its items and the
 * payouts' new state; so a nonce without its row cannot exist. `encode` gets the payouts that were still free, which
 * may be fewer. Null when none was, or when the lane is quarantined or everything is paused.
 */
export function reserve(
  context: JournalContext,
  lane: Lane,
  { payouts, encode }: Reservation,
): Promise<Reserved | null> {
  return fenced(context, lane, async (tx, stopped) => {
    if (stopped !== null) return null
    const asked = payouts.map(({ paymentId }) => paymentId)
    const rows = await many(
      tx,
      z.object({ payment_id: z.string(), state: z.string() }),
      sql`select p.payment_id, p.state from payout p where ${ours(context)} and p.payment_id = any(${asked}) and p.lane_wallet is null
            and p.state in ('authorized', 'voiding') for update of p skip locked`,
    )
    const states = new Map(rows.map((row) => [row.payment_id, row.state]))
    const free = payouts.filter(({ paymentId, state }) => states.get(paymentId) === state)
    if (free.length === 0) return null
    const ids = free.map(({ paymentId }) => paymentId)
    const sending = encode(free)
    const { nonce } = await one(
      tx,
      z.object({ nonce: z.coerce.number() }),
      sql`with ${nextEnvelope(lane, sending)},
          -- A payout may leave for another envelope; its item still says what this one carried.
          items as (insert into lane_tx_item (chain_id, wallet, nonce, idx, payment_id, kind)
            select ${lane.chainId}, ${lane.wallet}, n.nonce, i.idx - 1, i.payment_id, i.kind
            from n, unnest(${ids}::text[], ${free.map((payout) => payout.signed.kind)}::text[]) with ordinality
              as i(payment_id, kind, idx)),
          -- Until their lane does not get through, no other envelope carries them.
          moved as (update payout p set lane_wallet = ${lane.wallet}, lane_nonce = n.nonce, updated_at = now(),
              state = case p.state when 'authorized' then 'assigned' else p.state end
            from n where p.payment_id = any(${ids}))
          select nonce from n`,
    )
    return { ...sending, nonce, items: free.length }
  })
}

/**
 * Takes the funding lane's next nonce for gas money to `target`, or for what `maxWeiPerDay` leaves of it within 24 hours. Refused
 * while some is on its way there, in no block up to the one at which `mined` nonces were used, when less than `least` is left, while everything is paused, or when one of the two lanes is
 * quarantined: whoever else has its key would take the money.
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
      z.object({ refused: z.enum(['pending', 'quarantined']).nullable(), left: z.string() }),
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
      z.object({ nonce: z.coerce.number() }),
      sql`with ${nextEnvelope(lane, { ...ask, value, kind: 'topup', calldata: '0x' })} select nonce from n`,
    )
    return { nonce, value }
  })
}

/** Stores a signed transaction, which must be done before it is sent. */
export function storeAttempt(
  context: JournalContext,
  lane: Lane,
  attempt: { nonce: number; txHash: Hex; raw: Hex; maxFee: bigint; tip: bigint; signedBlock: number },
): Promise<void> {
  return fenced(context, lane, async (tx) => {
    await execute(
      tx,
      sql`with kept as (
            insert into lane_tx_attempt (chain_id, wallet, nonce, attempt, tx_hash, raw, max_fee, tip, signed_block)
            select ${lane.chainId}, ${lane.wallet}, ${attempt.nonce}::bigint, coalesce(max(attempt) + 1, 1), ${attempt.txHash},
              ${bytes(attempt.raw)}, ${attempt.maxFee.toString()}::numeric, ${attempt.tip.toString()}::numeric,
              ${attempt.signedBlock}::bigint
            from lane_tx_attempt where chain_id = ${lane.chainId} and wallet = ${lane.wallet} and nonce = ${attempt.nonce})
          update lane_tx set state = 'signed' where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
            and nonce = ${attempt.nonce} and state = 'reserved'`,
    )
  })
}

/** Records what the nodes answered. Only when one accepted the transaction does the state change. */
export function markSent(
  context: JournalContext,
  lane: Lane,
  sent: { nonce: number; txHash: Hex; at: Date; answer: string; accepted: boolean },
): Promise<void> {
  return fenced(context, lane, async (tx) => {
    await execute(
      tx,
      sql`with sent as (update lane_tx_attempt set last_broadcast_at = ${sent.at}, last_answer = ${sent.answer}
            where tx_hash = ${sent.txHash})
          update lane_tx set state = 'broadcast' where chain_id = ${lane.chainId} and wallet = ${lane.wallet}
            and nonce = ${sent.nonce} and state = 'signed' and ${sent.accepted}`,
    )
  })
}

export async function readCalldata(context: JournalContext, lane: Lane, nonce: number): Promise<Hex> {
  const row = await one(
    context.db,
    z.object({ calldata: hex }),
    sql`select '0x' || encode(calldata, 'hex') as calldata from lane_tx
        where chain_id = ${lane.chainId} and wallet = ${lane.wallet} and nonce = ${nonce}`,
  )
  return row.calldata
}

export async function readRaw(context: JournalContext, txHash: Hex): Promise<Hex> {
  const row = await one(
    context.db,
    z.object({ raw: hex }),
    sql`select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt where tx_hash = ${txHash}`,
  )
  return row.raw
}

/**
 * Ends envelopes whose nonces are consumed in the finalized chain. Payouts of them that the chain neither paid nor
 * cancelled are free again: their authorization is unused, so another envelope may carry them. Answers those that were
 * in a transaction of ours and are not paid. Gas that cannot be booked now keeps no envelope open.
 */
export function endEnvelopes(context: JournalContext, lane: Lane, ended: EnvelopesEnded): Promise<string[]> {
  return fenced(context, lane, async (tx) => {
    const unshared = await readUnsharedGas(tx, lane, ended.ends)
    const refused = await concludeEnvelopes(tx, lane, ended)
    await bookGas(tx, context, unshared)
    return refused
  })
}

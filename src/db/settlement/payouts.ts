import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { MicroUsdc } from '../../domain/money.ts'
import {
  PAYOUT_STATES,
  PAYOUT_STOP_REASONS,
  type PayoutState,
  type PayoutStopReason,
} from '../../domain/settlement/payout.ts'
import { payoutNonce } from '../../evm/payout-nonce.ts'
import { execute, many, maybeOne, one, type Queryable, type Statement, sql, type Tx } from '../db.ts'

/** The payout of a payment. A release of reserves queues its own (../reserves/releases.ts). */
export type NewPayout = {
  readonly paymentId: string
  readonly livemode: boolean
  readonly chainId: number
  readonly token: string
  readonly treasury: string
  readonly recipient: string
  readonly microUsdc: MicroUsdc
}

export const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value))
const ADDRESS = /^0x[0-9a-f]{40}$/

function address(value: string): Hex {
  const lower = value.toLowerCase()
  if (!ADDRESS.test(lower)) throw new RangeError(`not an address: ${value}`)
  return lower as Hex
}

/**
 * Returns the statement that queues the payout of a payment; it writes only if the part `done` has a row. A stopped
 * payout returns to the queue, where every check is made again. A repetition with another recipient, amount or token is
 * a bug and throws: the first one is what will be paid. A payment of the other mode is not found.
 */
export function payoutInsert(payout: NewPayout): Statement {
  const [token, treasury, recipient] = [payout.token, payout.treasury, payout.recipient].map(address) as [Hex, Hex, Hex]
  const authNonce = payoutNonce({ chainId: payout.chainId, token, treasury, ownerId: payout.paymentId })
  return sql`insert into payout as p (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce)
    select id, livemode, ${payout.chainId}, ${token}, ${treasury}, ${recipient}, ${payout.microUsdc}, ${authNonce}
    from payment, done where id = ${payout.paymentId} and livemode = ${payout.livemode}
    on conflict (owner_id) do update set (chain_id, token, recipient, micro_usdc)
        = (excluded.chain_id, excluded.token, excluded.recipient, excluded.micro_usdc),
      (state, stop_reason, stop_detail, refusals, updated_at) = (select 'queued', null, null, 0, now() where p.state = 'stopped'
        union all select p.state, p.stop_reason, p.stop_detail, p.refusals, p.updated_at where p.state <> 'stopped')`
}

export async function queuePayout(tx: Tx, payout: NewPayout): Promise<void> {
  if (payout.livemode !== tx.livemode) throw new Error(`no payment ${payout.paymentId}`)
  const queued = await execute(tx, sql`with done as (select) ${payoutInsert(payout)}`)
  if (queued !== 1) throw new Error(`no payment ${payout.paymentId}`)
}

const payoutView = z.object({
  owner_id: z.string(),
  state: z.enum(PAYOUT_STATES),
  stop_reason: z.enum(PAYOUT_STOP_REASONS).nullable(),
  stop_detail: z.string().nullable(),
  recipient: hex,
  treasury: hex,
  micro_usdc: z.string(),
  auth_nonce: hex,
  lane_wallet: hex.nullable(),
  lane_nonce: z.coerce.number().nullable(),
  sent_hash: hex.nullable(),
  hook_error: z.string().nullable(),
  tx_hash: hex.nullable(),
  log_index: z.number().nullable(),
  block_number: z.coerce.number().nullable(),
  block_hash: hex.nullable(),
  finalized_at: z.date().nullable(),
  gas_share: z.string().nullable(),
})

export type PayoutView = {
  readonly ownerId: string
  readonly state: PayoutState
  readonly stopReason: (typeof PAYOUT_STOP_REASONS)[number] | null
  readonly stopDetail: string | null
  readonly recipient: Hex
  readonly treasury: Hex
  readonly microUsdc: MicroUsdc
  readonly authNonce: Hex
  /** The transaction that settled or voided it; before that the newest one that was sent for it. */
  readonly txHash: Hex | null
  readonly lane: { readonly wallet: Hex; readonly nonce: number } | null
  readonly hookError: string | null
  /** The place in the finalized chain at which it was paid (settled) or canceled (voided). */
  readonly proof: {
    readonly txHash: Hex
    readonly logIndex: number
    readonly blockNumber: number
    readonly blockHash: Hex
    readonly finalizedAt: Date
    readonly gasWei: bigint | null
  } | null
}

export const shownState = sql`case when p.state = 'assigned' and exists (
  select 1 from lane_tx t where (t.chain_id, t.wallet, t.nonce) = (p.chain_id, p.lane_wallet, p.lane_nonce)
    and t.state = 'broadcast') then 'broadcast' else p.state end`

export async function readPayout(db: Queryable, ownerId: string): Promise<PayoutView | null> {
  const row = await maybeOne(
    db,
    payoutView,
    sql`select p.owner_id, ${shownState} as state, p.stop_reason, p.stop_detail, p.recipient, p.treasury, p.micro_usdc::text,
          p.auth_nonce, p.lane_wallet, p.lane_nonce, p.hook_error, l.tx_hash, l.log_index, l.block_number, l.block_hash,
          l.finalized_at, l.gas_share::text,
          (select a.tx_hash from lane_tx_attempt a where a.chain_id = p.chain_id and a.wallet = p.lane_wallet
             and a.nonce = p.lane_nonce order by a.attempt desc limit 1) as sent_hash
        from payout p left join treasury_log l on l.owner_id = p.owner_id
        where p.owner_id = ${ownerId} and p.livemode = ${db.livemode}`,
  )
  if (row === null) return null
  const { tx_hash, log_index, block_number, block_hash, finalized_at } = row
  const proven =
    tx_hash !== null && log_index !== null && block_number !== null && block_hash !== null && finalized_at !== null
  return {
    ownerId: row.owner_id,
    state: row.state,
    stopReason: row.stop_reason,
    stopDetail: row.stop_detail,
    recipient: row.recipient,
    treasury: row.treasury,
    microUsdc: row.micro_usdc,
    authNonce: row.auth_nonce,
    txHash: tx_hash ?? row.sent_hash,
    lane: row.lane_wallet && row.lane_nonce !== null ? { wallet: row.lane_wallet, nonce: row.lane_nonce } : null,
    hookError: row.hook_error,
    proof: proven
      ? {
          txHash: tx_hash,
          logIndex: log_index,
          blockNumber: block_number,
          blockHash: block_hash,
          finalizedAt: finalized_at,
          gasWei: row.gas_share === null ? null : BigInt(row.gas_share),
        }
      : null,
  }
}

const merchantRow = z.object({ merchant_id: z.string() })

/** Returns the merchant that the payout pays. */
export async function readMerchant(db: Queryable, ownerId: string): Promise<string> {
  const { merchant_id } = await one(
    db,
    merchantRow,
    sql`select merchant_id from payment where id = ${ownerId}
        union all select merchant_id from reserve_release where id = ${ownerId}`,
  )
  return merchant_id
}

const ownerIdRow = z.object({ owner_id: z.string() })

/** Lists the payments, the oldest payout first. A release of reserves is resumed alone. */
export async function listStopped(
  db: Queryable,
  { reason, limit }: { reason: PayoutStopReason; limit: number },
): Promise<string[]> {
  const rows = await many(
    db,
    ownerIdRow,
    sql`select owner_id from payout where state = 'stopped' and stop_reason = ${reason} and livemode = ${db.livemode}
          and payment_id is not null
        order by created_at, owner_id limit ${limit}`,
  )
  return rows.map((row) => row.owner_id)
}

/**
 * Requests that the payout's authorization is canceled on chain, which makes a refund safe. False if it has ended
 * already. A transfer that is on its way might still win: then the payout settles. The payout leaves the envelope of
 * that transfer, so that the cancellation need not wait for a lane that does not get through.
 */
export async function requestVoid(tx: Tx, ownerId: string): Promise<boolean> {
  const changed = await execute(
    tx,
    sql`with before as (select owner_id, chain_id, state, lane_wallet, lane_nonce from payout
            where owner_id = ${ownerId} and livemode = ${tx.livemode} and state not in ('settled', 'voided') for update),
          items as (update lane_tx_item i set outcome = 'moved' from before b where b.state <> 'voiding'
            and (i.chain_id, i.wallet, i.nonce, i.owner_id) = (b.chain_id, b.lane_wallet, b.lane_nonce, b.owner_id))
        update payout p set state = 'voiding', stop_reason = null, stop_detail = null, mined_number = null,
          -- Asked for again it is as old as before.
          updated_at = case b.state when 'voiding' then p.updated_at else now() end,
          lane_wallet = case b.state when 'voiding' then p.lane_wallet end,
          lane_nonce = case b.state when 'voiding' then p.lane_nonce end
        from before b where p.owner_id = b.owner_id`,
  )
  return changed === 1
}

/** Seconds for blocks that the observer has not read yet and that could contain it. */
const UNREAD_SECONDS = 60

/** A sent authorization is public until it expires. One that was signed after the envelope was not in it. */
const canBeSentByAnybody = (ownerId: string): Statement => sql`exists (
  select 1 from payout_signature s join lane_tx_item i using (owner_id) join lane_tx t using (chain_id, wallet, nonce)
    join lane_tx_attempt a using (chain_id, wallet, nonce)
  where s.owner_id = ${ownerId} and s.kind = 'transfer' and i.kind = 'transfer' and s.signed_at <= t.created_at
    and s.valid_before > extract(epoch from now()) - ${UNREAD_SECONDS})`

/** False if it is on its way, voiding or ended, or if anybody can send it again: only a void prevents that. */
export async function stopPayout(tx: Tx, ownerId: string, detail: string): Promise<boolean> {
  const changed = await execute(
    tx,
    sql`update payout set state = 'stopped', stop_reason = 'operator', stop_detail = ${detail}, updated_at = now()
        where owner_id = ${ownerId} and livemode = ${tx.livemode} and state in ('queued', 'authorized', 'stopped')
          and lane_wallet is null and not exists (select 1 from lane_tx_item i join lane_tx t using (chain_id, wallet, nonce)
            where i.owner_id = ${ownerId} and t.state in ('reserved', 'signed', 'broadcast'))
          and not ${canBeSentByAnybody(ownerId)}`,
  )
  return changed === 1
}

/** Returns a stopped payout to the queue, where every check is made again. False if it was not stopped. */
export async function resumePayout(tx: Tx, ownerId: string): Promise<boolean> {
  const changed = await execute(
    tx,
    sql`update payout set state = 'queued', stop_reason = null, stop_detail = null, refusals = 0, updated_at = now()
        where owner_id = ${ownerId} and livemode = ${tx.livemode} and state = 'stopped'`,
  )
  return changed === 1
}

import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import {
  PAYOUT_STATES,
  PAYOUT_STOP_REASONS,
  type Payout,
  type PayoutSignature,
  type SignedPayout,
  type StoppedPayout,
} from '../../domain/settlement/payout.ts'
import { execute, many, one, type Queryable, type Statement, sql, type Tx } from '../db.ts'
import { type FailedHook, isInScope, type JournalContext } from './context.ts'
import { hex } from './payouts.ts'
import { delayHook } from './proven-payouts.ts'

const payoutRow = z.object({
  owner_id: z.string(),
  livemode: z.boolean(),
  chain_id: z.number(),
  token: hex,
  treasury: hex,
  recipient: hex,
  micro_usdc: z.string(),
  auth_nonce: hex,
  state: z.enum(PAYOUT_STATES),
  stop_reason: z.enum(PAYOUT_STOP_REASONS).nullable(),
  refusals: z.number(),
  created_at: z.date(),
})

const signedRow = payoutRow.extend({
  kind: z.enum(['transfer', 'cancel']),
  valid_before: z.coerce.number().nullable(),
  signature: hex,
})

const payoutColumns = sql`p.owner_id, p.livemode, p.chain_id, p.token, p.treasury, p.recipient,
  p.micro_usdc::text, p.auth_nonce, p.state, p.stop_reason, p.refusals, p.created_at`

function toPayout(row: z.infer<typeof payoutRow>): Payout {
  return {
    ownerId: row.owner_id,
    livemode: row.livemode,
    chainId: row.chain_id,
    token: row.token,
    treasury: row.treasury,
    recipient: row.recipient,
    microUsdc: row.micro_usdc,
    authNonce: row.auth_nonce,
    state: row.state,
    stopReason: row.stop_reason,
    refusals: row.refusals,
    createdAt: row.created_at,
  }
}

function toSigned(row: z.infer<typeof signedRow>): SignedPayout {
  const signed: PayoutSignature = { kind: row.kind, validBefore: row.valid_before, signature: row.signature }
  return { ...toPayout(row), signed }
}

/** Reads signed payouts, each with the newest signature of the kind that its state requires. */
export async function readSigned(db: Queryable, where: Statement, limit: number): Promise<SignedPayout[]> {
  const rows = await many(
    db,
    signedRow,
    sql`select ${payoutColumns}, s.kind, s.valid_before, '0x' || encode(s.signature, 'hex') as signature
        from payout p
        join lateral (select kind, valid_before, signature from payout_signature s
          where s.owner_id = p.owner_id and s.kind = case p.state when 'voiding' then 'cancel' else 'transfer' end
          order by seq desc limit 1) s on true
        where ${where} order by p.created_at, p.owner_id limit ${limit}`,
  )
  return rows.map(toSigned)
}

/** Stopped for one of PASSING_STOPS, as in the index payout_payable, word for word. */
export const passing = sql`p.state = 'stopped' and p.stop_reason in ('funds', 'limit')`

/** As in the index payout_payable, word for word. */
export const payable = sql`(p.state = 'queued' or ${passing})`

/** Excludes payouts of merchants that an operator has suspended with their payouts. Usually there is none. */
export const isReleased = (ownerId: Statement): Statement =>
  sql`(not exists (select 1 from agreement where holds_payouts) or not exists (select 1 from agreement a where a.holds_payouts
  and a.merchant_id in (select m.merchant_id from payment m where m.id = ${ownerId}
    union all select r.merchant_id from reserve_release r where r.id = ${ownerId})))`

export const released = isReleased(sql`p.owner_id`)

/** As in the index payout_sendable, word for word. */
export const sendable = sql`(p.state = 'voiding' or p.state = 'authorized' and p.lane_wallet is null)`

/** As in the index payout_seen, word for word. */
export const seen = sql`(p.mined_number is not null and p.state not in ('settled', 'voided'))`

/** Excludes payouts that were found waiting for a proof a moment ago. */
export const rested = sql`(p.rests_until is null or p.rests_until <= now())`

/** True if its treasury was taken over, and it has not ended. */
export const onLostTreasury = sql`(p.state not in ('settled', 'voided') and exists (
  select 1 from treasury t where (t.chain_id, t.token, t.address) = (p.chain_id, p.token, p.treasury)
    and t.lost_at is not null))`

/** Payouts whose turn it is, and the recipient after which the next turn begins; null: it begins with the first one. */
export type Turn = { readonly payouts: Payout[]; readonly next: Hex | null }

const furthest = (payouts: readonly Payout[]): Hex | null =>
  payouts
    .map(({ recipient }) => recipient)
    .toSorted()
    .at(-1) ?? null

/**
 * Reads payouts that wait for their first or next transfer signature, in turn from the recipients after `after` and
 * then from the first ones, the oldest of each first: a merchant with a long queue does not delay the others, and
 * payouts that cannot continue yet block no others. Only payouts of treasuries whose keys are given and that were not
 * taken over. The rows read do not grow with the queue.
 */
export async function readPayable(
  context: JournalContext,
  ask: { keys: readonly Hex[]; limit: number; after: Hex | null },
): Promise<Turn> {
  const { keys, limit, after } = ask
  const later = await payableBetween(context, { keys, limit, after: after ?? '', upTo: null })
  const room = limit - later.length
  const first =
    after === null || room === 0 ? [] : await payableBetween(context, { keys, limit: room, after: '', upTo: after })
  const payouts = [...later, ...first]
  // As many recipients as requested: there can be more of them.
  const isFull = new Set(payouts.map(({ recipient }) => recipient)).size === limit
  return { payouts, next: isFull ? (furthest(first) ?? furthest(later)) : null }
}

/** Walks from recipient to recipient along the index, and reads from each its share of the limit. */
async function payableBetween(
  context: JournalContext,
  { keys, limit, after, upTo }: { keys: readonly Hex[]; limit: number; after: string; upTo: string | null },
): Promise<Payout[]> {
  const waiting = sql`from payout p where ${isInScope(context)} and ${payable} and ${released} and p.treasury = any(${[...keys]}::text[])
    and not ${onLostTreasury}`
  const next = (previous: Statement): Statement =>
    sql`select p.recipient ${waiting} and p.recipient > ${previous} order by p.recipient limit 1`
  const rows = await many(
    context.db,
    payoutRow,
    sql`with recursive
        -- One step along the index for each recipient, so that a long queue of one of them costs no more.
        walk(recipient, place) as (
          (select recipient::text, 1 from (${next(sql`${after}::text`)}) first)
          union all
          select (${next(sql`w.recipient`)})::text, w.place + 1 from walk w where w.recipient is not null and w.place < ${limit}),
        -- The walk ends with a null, and may go further than was asked.
        recipients as (select recipient from walk where recipient is not null
          and (${upTo}::text is null or recipient <= ${upTo}::text)),
        -- With few recipients each gets more, so that the limit is used up.
        share as (select greatest(1, ceil(${limit}::numeric / greatest(1, count(*))))::int as size from recipients)
        select ${payoutColumns} from (
          select p.*, row_number() over (partition by p.recipient order by p.created_at, p.owner_id) as turn
          from recipients r, share, lateral (
            select p.* ${waiting} and p.recipient = r.recipient order by p.created_at, p.owner_id limit share.size) p
        ) p order by p.turn, p.created_at, p.owner_id limit ${limit}`,
  )
  return rows.map(toPayout)
}

const countRow = z.object({ count: z.coerce.number() })

export async function countWaiting(context: JournalContext, resting: readonly Hex[]): Promise<number> {
  const row = await one(
    context.db,
    countRow,
    sql`select count(*) from payout p where ${isInScope(context)} and ${sendable} and p.state = 'authorized'
          and p.treasury <> all(${[...resting]}::text[])`,
  )
  return row.count
}

export async function readUncanceled(
  context: JournalContext,
  ask: { keys: readonly Hex[]; limit: number },
): Promise<Payout[]> {
  const rows = await many(
    context.db,
    payoutRow,
    sql`select ${payoutColumns} from payout p where ${isInScope(context)} and p.state = 'voiding' and ${rested}
          and p.treasury = any(${[...ask.keys]}::text[]) and not exists (
            select 1 from payout_signature s where s.owner_id = p.owner_id and s.kind = 'cancel')
        order by p.rests_until nulls first, p.created_at limit ${ask.limit}`,
  )
  return rows.map(toPayout)
}

export function readAssignable(
  context: JournalContext,
  { limit, resting }: { limit: number; resting: readonly Hex[] },
): Promise<SignedPayout[]> {
  const isAwake = sql`(p.state = 'voiding' or p.treasury <> all(${[...resting]}::text[]))`
  return readSigned(
    context.db,
    sql`${isInScope(context)} and ${sendable} and p.lane_wallet is null and ${isAwake}`,
    limit,
  )
}

/** `unchanged`: stopped for this reason already, locked by another transaction, or waiting for another try. */
export type StopResult = 'stopped' | 'unchanged' | FailedHook

/**
 * Stops a payout that is in no envelope, and calls the hook in the same transaction. Only a new reason is reported: a
 * payout that is still short of funds is not announced again. One whose hook throws stays as it was, is tried again
 * after half a minute, and delays no other; nor does one that another transaction has locked.
 */
export async function stop(context: JournalContext, stopped: StoppedPayout): Promise<StopResult> {
  const { ownerId } = stopped
  try {
    return (await context.db.transaction((tx) => stopIn(tx, context, stopped))) ? 'stopped' : 'unchanged'
  } catch (failure) {
    const error = failure instanceof Error ? failure : new Error(String(failure))
    await delayHook(context.db, ownerId, error)
    return { ownerId, error }
  }
}

async function stopIn(tx: Tx, context: JournalContext, { ownerId, reason, detail }: StoppedPayout): Promise<boolean> {
  const mayBeStopped = sql`${isInScope(context)} and p.owner_id = ${ownerId} and p.lane_wallet is null
    and (p.state in ('queued', 'authorized')
      or ${passing} and p.stop_reason <> ${reason})
    and (p.hook_retry_at is null or p.hook_retry_at <= now())`
  // As `lockPaymentsFirst`. Most payouts that are short of funds have no new reason: then nothing is locked.
  const found = sql`with of_payments as (select 1 from payment join payout p on p.owner_id = payment.id where ${mayBeStopped}
        for update of payment, p skip locked),
      of_reserves as (select 1 from payout p where ${mayBeStopped} and p.reserve_release_id is not null for update skip locked)
    select 1 from of_payments union all select 1 from of_reserves`
  if ((await execute(tx, found)) === 0) return false
  await execute(
    tx,
    sql`update payout set state = 'stopped', stop_reason = ${reason}, stop_detail = ${detail}, updated_at = now(),
          hook_error = null, hook_retry_at = null
        where owner_id = ${ownerId}`,
  )
  await context.hooks.onStopped(tx, { ownerId, reason, detail })
  return true
}

/** Returns authorized payouts to the queue, where funds and lists are checked again before the next signature. */
export async function requeue(context: JournalContext, ownerIds: readonly string[]): Promise<void> {
  await execute(
    context.db,
    sql`update payout p set state = 'queued', updated_at = now()
        where ${isInScope(context)} and owner_id = any(${[...ownerIds]}) and state = 'authorized' and lane_wallet is null`,
  )
}

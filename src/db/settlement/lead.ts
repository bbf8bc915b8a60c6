import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { Lead } from '../../domain/settlement/lead.ts'
import { maybeOne, type Statement, sql } from '../db.ts'
import { isInScope, type JournalContext, type LeaseAsk } from './context.ts'
import { CURSOR_COLUMNS, cursorRow, here, toCursor } from './cursor.ts'
import { signedFundings, worthSweeping } from './deposits.ts'
import { envelopeList, envelopeRow, toEnvelope } from './envelopes.ts'
import { hex } from './payouts.ts'
import { onLostTreasury, payable, released, rested, seen, sendable } from './queue.ts'

const laneRow = z.object({
  wallet: hex,
  next_nonce: z.coerce.number(),
  status: z.enum(['open', 'paused_gas', 'quarantined']),
  envelopes: z.array(envelopeRow),
})

const workRow = z.object({
  sign: z.boolean(),
  send: z.boolean(),
  sweep: z.boolean(),
  sent: z.boolean(),
  voiding: z.boolean(),
  pending: z.boolean(),
  proven: z.boolean(),
  again: z.boolean(),
})

const sheetRow = cursorRow.extend({ epoch: z.string(), lanes: z.array(laneRow) }).extend(workRow.shape)

/** Seconds between two records that a leader has checked a lane. */
const NOTED_SECONDS = 60

const msRow = z.object({ ms: z.coerce.number() })

/**
 * Takes or renews the lead, and returns how far the chain was read, the lanes of these wallets and those with open
 * envelopes, and the work that waits. It is one statement, the only one of an idle engine. If another engine leads,
 * returns the milliseconds that its lease still runs; null: nothing was read yet.
 */
export async function lead(
  context: JournalContext,
  ask: LeaseAsk & { readonly wallets: readonly Hex[]; readonly treasuries: readonly Hex[] },
): Promise<Lead | { readonly othersMs: number } | null> {
  const { db, scope } = context
  const row = await maybeOne(
    db,
    sheetRow,
    sql`with
          mine as (update chain_cursor c set owner = ${ask.owner}, lease_until = now() + ${ask.leaseMs} * interval '1 millisecond',
              epoch = c.epoch + case when c.owner = ${ask.owner} then 0 else 1 end
            where ${here(context)} and (c.owner = ${ask.owner} or c.owner is null or c.lease_until <= now())
            returning epoch::text, ${CURSOR_COLUMNS}),
          noted as (update lane l set led_at = now() from mine where l.chain_id = ${scope.chainId}
            and l.wallet = any(${[...ask.wallets]}::text[]) and l.led_at < now() - ${NOTED_SECONDS} * interval '1 second')
        select mine.*, ${selectLanes(context, ask.wallets)} as lanes, ${selectWork(context, ask.treasuries)} from mine`,
  )
  if (row !== null) return toLead(context, ask.owner, row)
  const other = await maybeOne(
    db,
    msRow,
    // Another part of this engine might have opened the cursor and taken the lead since.
    sql`select case when owner = ${ask.owner} then 0 else greatest(0, extract(epoch from lease_until - now()) * 1000) end as ms
        from chain_cursor where ${here(context)}`,
  )
  return other && { othersMs: other.ms }
}

const selectLanes = ({ scope }: JournalContext, wallets: readonly Hex[]): Statement => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('wallet', l.wallet, 'next_nonce', l.next_nonce, 'status', l.status,
    'envelopes', e.envelopes) order by l.wallet), '[]')
  from lane l, lateral (${envelopeList}) e
  where l.chain_id = ${scope.chainId} and (l.wallet = any(${[...wallets]}::text[]) or e.envelopes <> '[]'))`

function selectWork(context: JournalContext, treasuries: readonly Hex[]): Statement {
  const { chainId } = context.scope
  const cancellation = sql`select 1 from payout_signature s where s.owner_id = p.owner_id and s.kind = 'cancel'`
  const keyed = sql`p.treasury = any(${[...treasuries]}::text[])`
  const voiding = sql`select 1 from payout p where ${isInScope(context)} and p.state = 'voiding' and ${rested}`
  return sql`
    -- In the order of its index, or a queue that has become short is looked for in the whole table.
    exists (select 1 from (select 1 from payout p where ${isInScope(context)} and ${payable} and ${released} and ${keyed} and not ${onLostTreasury}
        order by p.recipient limit 1) next)
      or exists (${voiding} and ${keyed} and not exists (${cancellation})) as sign,
    exists (select 1 from payout p where ${isInScope(context)} and ${sendable} and p.lane_wallet is null
      and (p.state <> 'voiding' or exists (${cancellation}))) as send,
    exists (select 1 from deposit d where ${worthSweeping(context)})
      or exists (select 1 from deposit_sweep s join deposit d using (owner_id) where ${signedFundings(context)}) as sweep,
    exists (select 1 from payout p where ${isInScope(context)} and p.lane_wallet is not null)
      or exists (select 1 from payout p where ${isInScope(context)} and ${seen}) as sent,
    exists (${voiding}) or exists (select 1 from treasury t where ${here(context)} and t.lost_at is not null and exists (
      select 1 from payout p where ${isInScope(context)} and p.treasury = t.address and p.state not in ('settled', 'voided')
        and ${rested})) as voiding,
    exists (select 1 from treasury_log where ${here(context)} and applied_at is null)
      or exists (select 1 from deposit_log where chain_id = ${chainId} and applied_at is null)
      or exists (select 1 from lane_tx where chain_id = ${chainId} and gas_error is not null) as pending,
    exists (select 1 from treasury_log where ${here(context)} and owner_id is null and auth_nonce is not null) as proven,
    exists (select 1 from gone_transfer where chain_id = ${chainId} and concluded_at is null) as again`
}

function toLead({ scope }: JournalContext, owner: string, row: z.output<typeof sheetRow>): Lead {
  const lease = { owner, epoch: row.epoch }
  return {
    lease,
    cursor: toCursor(row),
    lanes: row.lanes.map(({ wallet, next_nonce, status, envelopes }) => ({
      lane: { chainId: scope.chainId, wallet, lease, nextNonce: next_nonce, status },
      envelopes: envelopes.map(toEnvelope),
    })),
    work: workRow.parse(row),
  }
}

import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { Lease, VoidProof } from '../../domain/settlement/payout.ts'
import { execute, many, sql } from '../db.ts'
import { attempt, type FailedHook, isInScope, type JournalContext, lockPaymentsFirst } from './context.ts'
import { fence } from './cursor.ts'
import { hex } from './payouts.ts'
import { onLostTreasury, rested } from './queue.ts'

/** Payouts whose treasury has lost its key. A proof that it can no longer pay ends or moves them. */

const expiringRow = z.object({
  owner_id: z.string(),
  treasury: hex,
  auth_nonce: hex,
  successor: hex.nullable(),
  is_void: z.boolean(),
  valid_before: z.coerce.number(),
  is_stolen: z.boolean(),
})

export type Expiring = {
  readonly ownerId: string
  readonly treasury: Hex
  readonly authNonce: Hex
  readonly isVoid: boolean
  /** The treasury that takes over from its own; null: none, and it is to be voided. */
  readonly successor: Hex | null
  /** Unix seconds after which none of its signatures is valid. */
  readonly validBefore: number
  /** True if a final transfer other than the payout has used its nonce: its treasury can no longer pay it. */
  readonly isStolen: boolean
}

/**
 * Reads payouts to be voided whose cancellation no engine here can sign, and those of lost treasuries. No transfer is
 * signed after either was requested. A standby or a recent backup might lack the last signatures before that, so each
 * payout is dead one validity after the request; and, if its payment or the day of its reserves is older than a restore, one validity after the
 * restore. Payouts that rest are left out.
 */
export async function readExpiring(
  context: JournalContext,
  ask: { keys: readonly Hex[]; validity: number; limit: number },
): Promise<Expiring[]> {
  const rows = await many(
    context.db,
    expiringRow,
    sql`select p.owner_id, p.treasury, p.auth_nonce, p.state = 'voiding' as is_void,
          (select t.successor from treasury t where (t.chain_id, t.token, t.address) = (p.chain_id, p.token, p.treasury)),
          greatest((select max(s.valid_before) from payout_signature s where s.owner_id = p.owner_id),
            ceil(extract(epoch from case when p.state = 'voiding' then p.updated_at else (select t.lost_at from treasury t
              where (t.chain_id, t.token, t.address) = (p.chain_id, p.token, p.treasury)) end))::bigint + ${ask.validity}::bigint,
            (select ceil(extract(epoch from c.restored_at))::bigint + ${ask.validity}::bigint from chain_cursor c
              where c.chain_id = p.chain_id and c.token = p.token and c.restored_at >= coalesce(
                (select m.created_at from payment m where m.id = p.payment_id),
                (select r.due_on from reserve_release r where r.id = p.reserve_release_id)))) as valid_before,
          exists (select 1 from treasury_log l where l.kind = 'out' and (l.auth_nonce, l.treasury, l.token, l.chain_id)
              = (p.auth_nonce, p.treasury, p.token, p.chain_id)
            and (l.counterparty, l.micro_usdc) <> (p.recipient, p.micro_usdc)) as is_stolen
        from payout p where ${isInScope(context)} and ${rested}
          and (p.state = 'voiding' and p.treasury <> all(${[...ask.keys]}::text[]) or ${onLostTreasury})
        order by p.rests_until nulls first, p.created_at limit ${ask.limit}`,
  )
  return rows.map((row) => ({
    ownerId: row.owner_id,
    treasury: row.treasury,
    authNonce: row.auth_nonce,
    isVoid: row.is_void,
    successor: row.successor,
    validBefore: row.valid_before,
    isStolen: row.is_stolen,
  }))
}

/** Lets other payouts go first. A payout that another transaction is changing is checked in the next round. */
export async function rest(
  context: JournalContext,
  waiting: readonly { ownerId: string; seconds: number }[],
): Promise<void> {
  if (waiting.length === 0) return
  await execute(
    context.db,
    sql`with waiting as (select p.owner_id, w.seconds
            from jsonb_to_recordset(${JSON.stringify(waiting)}::jsonb) as w("ownerId" text, seconds int)
            join payout p on p.owner_id = w."ownerId"
            where ${isInScope(context)} and p.state not in ('settled', 'voided') for update of p skip locked)
        update payout p set rests_until = now() + w.seconds * interval '1 second' from waiting w where p.owner_id = w.owner_id`,
  )
}

export type ExpiryProof = { readonly number: number; readonly hash: Hex; readonly timestamp: number }

/** A payout whose treasury can no longer pay it, with the treasury and the nonce that replace the old ones. */
export type Moving = Expiring & { readonly to: Hex; readonly toNonce: Hex }

const ownerIdRow = z.object({ owner_id: z.string() })

/**
 * Moves payouts whose nonce is unused at a final block that is later than all their signatures. A stopped payout stays
 * stopped, and one that is to be voided stays so. Returns how many were moved: a payout with a signature that was
 * stored since is not.
 */
export function moveDead(
  context: JournalContext,
  lease: Lease,
  found: { block: ExpiryProof; dead: readonly Moving[] },
): Promise<number> {
  const { block } = found
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    const ids = found.dead.map(({ ownerId }) => ownerId)
    await lockPaymentsFirst(tx, ids)
    // The next statement must see the signatures that were being stored.
    await execute(tx, sql`select 1 from payout where owner_id = any(${ids}) order by owner_id for update`)
    const rows = await many(
      tx,
      ownerIdRow,
      sql`with signed as (select p.owner_id, g.treasury, g."authNonce", g."to", g."toNonce",
              greatest(g."validBefore", (select max(s.valid_before) from payout_signature s where s.owner_id = p.owner_id)) as dead,
              (select coalesce(jsonb_agg(jsonb_build_object('kind', s.kind, 'valid_before', s.valid_before, 'signed_at', s.signed_at,
                  'signature', encode(s.signature, 'hex')) order by s.seq), '[]')
                from payout_signature s where s.owner_id = p.owner_id) as signatures
            from jsonb_to_recordset(${JSON.stringify(found.dead)}::jsonb)
              as g("ownerId" text, treasury text, "authNonce" text, "to" text, "toNonce" text, "validBefore" bigint)
            join payout p on p.owner_id = g."ownerId" and p.treasury = g.treasury
            where ${isInScope(context)} and p.state not in ('settled', 'voided'))
          insert into payout_takeover (owner_id, from_treasury, from_nonce, to_treasury, to_nonce, block_number, block_hash,
            block_time, valid_before, signatures)
          select owner_id, treasury, "authNonce", "to", "toNonce", ${block.number}, ${block.hash}, ${block.timestamp}, dead,
            signatures
          from signed where dead <= ${block.timestamp} returning owner_id`,
    )
    const moved = rows.map((row) => row.owner_id)
    await execute(
      tx,
      sql`with given as (select * from jsonb_to_recordset(${JSON.stringify(found.dead)}::jsonb)
              as g("ownerId" text, "to" text, "toNonce" text) where "ownerId" = any(${moved})),
            -- They are in the proof. The new treasury has signed nothing yet.
            dropped as (delete from payout_signature where owner_id = any(${moved})),
            items as (update lane_tx_item i set outcome = 'moved' from payout p where p.owner_id = any(${moved})
              and (i.chain_id, i.wallet, i.nonce, i.owner_id) = (p.chain_id, p.lane_wallet, p.lane_nonce, p.owner_id))
          update payout p set treasury = g."to", auth_nonce = g."toNonce", lane_wallet = null, lane_nonce = null,
            mined_number = null, rests_until = null, refusals = 0, updated_at = now(),
            state = case when p.state in ('stopped', 'voiding') then p.state else 'queued' end
          from given g where p.owner_id = g."ownerId"`,
    )
    return moved.length
  })
}

export function voidExpired(
  context: JournalContext,
  lease: Lease,
  found: { block: ExpiryProof; unused: readonly Expiring[] },
): Promise<FailedHook[]> {
  const { block } = found
  return context.db.transaction(async (tx) => {
    await fence(context, tx, lease)
    await lockPaymentsFirst(
      tx,
      found.unused.map(({ ownerId }) => ownerId),
    )
    const failed: FailedHook[] = []
    for (const { ownerId, validBefore } of found.unused) {
      const error = await attempt(tx, async () => {
        await execute(
          tx,
          sql`insert into void_proof (owner_id, block_number, block_hash, block_time, valid_before)
              values (${ownerId}, ${block.number}, ${block.hash}, ${block.timestamp}, ${validBefore})`,
        )
        const voided = await execute(
          tx,
          sql`update payout set state = 'voided', lane_wallet = null, lane_nonce = null, updated_at = now()
              where owner_id = ${ownerId} and state = 'voiding'`,
        )
        if (voided !== 1) throw new Error(`${ownerId} is not voiding any more`)
        const proof: VoidProof = {
          kind: 'expired',
          ownerId,
          validBefore,
          blockTime: block.timestamp,
          blockNumber: block.number,
          blockHash: block.hash,
        }
        await context.hooks.onVoided(tx, proof)
      })
      if (error !== null) failed.push({ ownerId, error })
    }
    return failed
  })
}

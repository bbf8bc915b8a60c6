import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import type { Lease, VoidProof } from '../../domain/settlement/payout.ts'
import { execute, many, sql } from '../db.ts'
import { attempt, type FailedHook, type JournalContext, lockPaymentsFirst, ours } from './context.ts'
import { fence } from './cursor.ts'
import { hex } from './payouts.ts'
import { rested } from './queue.ts'

const expiringRow = z.object({
  payment_id: z.string(),
  treasury: hex,
  auth_nonce: hex,
  valid_before: z.coerce.number(),
})

export type Expiring = {
  readonly paymentId: string
  readonly treasury: Hex
  readonly authNonce: Hex
  /** Unix seconds after which no signature of it is worth anything. */
  readonly validBefore: number
}

/**
 * Payouts to be voided of which nobody here can sign a cancellation. A restored backup may have forgotten a signature, but
 * none was made after the void was asked for: so each is dead one lease after that. Those that rest are left out.
 */
export async function readExpiring(
  context: JournalContext,
  ask: { keys: readonly Hex[]; leaseSeconds: number; limit: number },
): Promise<Expiring[]> {
  const rows = await many(
    context.db,
    expiringRow,
    sql`select p.payment_id, p.treasury, p.auth_nonce,
          greatest(extract(epoch from p.updated_at)::bigint + ${ask.leaseSeconds}::bigint,
            (select max(s.valid_before) from payout_signature s where s.payment_id = p.payment_id)) as valid_before
        from payout p where ${ours(context)} and p.state = 'voiding' and ${rested} and p.treasury <> all(${[...ask.keys]}::text[])
        order by p.rests_until nulls first, p.created_at limit ${ask.limit}`,
  )
  return rows.map((row) => ({
    paymentId: row.payment_id,
    treasury: row.treasury,
    authNonce: row.auth_nonce,
    validBefore: row.valid_before,
  }))
}

/**
 * Has voids that wait looked at again so many seconds later, and others before them. One that somebody else is changing is
 * looked at in the next round.
 */
export async function restVoids(
  context: JournalContext,
  waiting: readonly { paymentId: string; seconds: number }[],
): Promise<void> {
  if (waiting.length === 0) return
  await execute(
    context.db,
    sql`with waiting as (select p.payment_id, w.seconds
            from jsonb_to_recordset(${JSON.stringify(waiting)}::jsonb) as w("paymentId" text, seconds int)
            join payout p on p.payment_id = w."paymentId" where ${ours(context)} and p.state = 'voiding' for update of p skip locked)
        update payout p set rests_until = now() + w.seconds * interval '1 second' from waiting w where p.payment_id = w.payment_id`,
  )
}

export type ExpiryProof = { readonly number: number; readonly hash: Hex; readonly timestamp: number; readonly at: Date }

/** Voids payouts whose nonce is unused at a final block that is later than all their signatures. */
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
      found.unused.map(({ paymentId }) => paymentId),
    )
    const failed: FailedHook[] = []
    for (const { paymentId, validBefore } of found.unused) {
      const error = await attempt(tx, async () => {
        await execute(
          tx,
          sql`insert into void_proof (payment_id, block_number, block_hash, block_time, valid_before)
              values (${paymentId}, ${block.number}, ${block.hash}, ${block.timestamp}, ${validBefore})`,
        )
        const voided = await execute(
          tx,
          sql`update payout set state = 'voided', lane_wallet = null, lane_nonce = null, updated_at = now()
              where payment_id = ${paymentId} and state = 'voiding'`,
        )
        if (voided !== 1) throw new Error(`${paymentId} is not voiding any more`)
        const proof: VoidProof = {
          kind: 'expired',
          paymentId,
          validBefore,
          blockTime: block.timestamp,
          blockNumber: block.number,
          blockHash: block.hash,
          finalizedAt: block.at,
        }
        await context.hooks.onVoided(tx, proof)
      })
      if (error !== null) failed.push({ paymentId, error })
    }
    return failed
  })
}

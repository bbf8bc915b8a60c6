import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import { payoutNonce } from '../../../evm/payout-nonce.ts'
import { many, maybeOne, sql, type Tx } from '../../db.ts'
import { attempt, doOrTry, type FailedHook, type JournalContext, lockPaymentsFirst, ours } from '../context.ts'
import { hex } from '../payouts.ts'
import type { Elsewhere } from './treasuries.ts'

/** `waits`: its payment stands before an operator, and before it goes on the partner is asked whether the money is there. */
export type Open = Elsewhere & { readonly waits: boolean }

/** Open payouts of the treasury after the id, in the order of their ids. What is to be voided ends by itself. */
export async function readOpenOf(
  context: JournalContext,
  ask: { treasury: Hex; after: string; limit: number },
): Promise<Open[]> {
  const rows = await many(
    context.db,
    z.object({ payment_id: z.string(), auth_nonce: hex, waits: z.boolean() }),
    sql`select p.payment_id, p.auth_nonce, ${waits} as waits from payout p where ${ours(context)} and p.treasury = ${ask.treasury}
          and p.state in ('queued', 'authorized', 'assigned', 'mined', 'held') and p.payment_id > ${ask.after}
        order by p.payment_id limit ${ask.limit}`,
  )
  return rows.map(({ payment_id: paymentId, auth_nonce: authNonce, ...row }) => ({
    ...row,
    paymentId,
    treasury: ask.treasury,
    authNonce,
  }))
}

const waits = sql`exists (select 1 from payment m where m.id = p.payment_id and m.status = 'under_review')`

/** The final block at which the nonces are unused, and the Unix second after which the treasury can have signed nothing. */
export type TakeoverProof = {
  readonly number: number
  readonly hash: Hex
  readonly time: number
  readonly dead: number
}

/**
 * Moves payouts to another treasury, each with its proof: queued there, unless something else than the missing key holds
 * it, or its payment waits for a decision. Answers which moved. Not those of which a signature is known that is valid
 * after the block, and not those whose payment refuses: these are answered as failed. A dry run does the same and takes it
 * back.
 */
export function takeOver(
  context: JournalContext,
  moving: { payouts: readonly Elsewhere[]; to: Hex; proof: TakeoverProof; dryRun?: boolean },
): Promise<{ moved: string[]; failed: FailedHook[] }> {
  return doOrTry(context.db, moving.dryRun === true, async (tx) => {
    const moved: string[] = []
    const failed: FailedHook[] = []
    await lockPaymentsFirst(
      tx,
      moving.payouts.map(({ paymentId }) => paymentId),
    )
    for (const payout of moving.payouts) {
      const error = await attempt(tx, async () => {
        const before = await moveOne(tx, context, { ...moving, payout })
        if (before === null) return
        if (before.held === 'policy' && !before.waits)
          await context.hooks.onReleased(tx, { paymentId: payout.paymentId })
        moved.push(payout.paymentId)
      })
      if (error !== null) failed.push({ paymentId: payout.paymentId, error })
    }
    return { moved, failed }
  })
}

const WAITS = 'taken over by the current treasury; waits for a decision of its payment: retry'

/** Answers what held the payout, and whether its payment waits; null when it was not moved. */
async function moveOne(
  tx: Tx,
  { scope }: JournalContext,
  { payout, to, proof }: { payout: Elsewhere; to: Hex; proof: TakeoverProof },
): Promise<{ held: string | null; waits: boolean } | null> {
  const { paymentId, treasury: from } = payout
  const nonce = payoutNonce({ ...scope, treasury: to, paymentId })
  // Locked first: a signature that is being stored now is seen below.
  const before = await maybeOne(
    tx,
    z.object({ held: z.string().nullable(), waits: z.boolean() }),
    sql`select p.hold_reason as held, ${waits} as waits from payout p
        where p.payment_id = ${paymentId} and p.livemode = ${tx.livemode} and p.treasury = ${from}
          and p.state in ('queued', 'authorized', 'assigned', 'mined', 'held') for update of p`,
  )
  if (before === null) return null
  const proved = await maybeOne(
    tx,
    z.object({ payment_id: z.string() }),
    sql`with signed as (select coalesce(max(s.valid_before), 0) as valid_before,
            coalesce(jsonb_agg(jsonb_build_object('kind', s.kind, 'valid_before', s.valid_before, 'signed_at', s.signed_at,
              'signature', encode(s.signature, 'hex')) order by s.seq), '[]') as signatures
          from payout_signature s where s.payment_id = ${paymentId})
        insert into payout_takeover (payment_id, from_treasury, from_nonce, to_treasury, to_nonce, block_number, block_hash,
          block_time, valid_before, signatures)
        select ${paymentId}, ${from}, ${payout.authNonce}, ${to}, ${nonce}, ${proof.number}, ${proof.hash}, ${proof.time},
          greatest(${proof.dead}, valid_before), signatures
        from signed where greatest(${proof.dead}, valid_before) <= ${proof.time} returning payment_id`,
  )
  if (proved === null) return null
  const isFreed = sql`(hold_reason = 'policy' and ${!before.waits})`
  await many(
    tx,
    z.object({ payment_id: z.string() }),
    sql`with
          -- They are in the proof. The new treasury has signed nothing yet.
          forgotten as (delete from payout_signature where payment_id = ${paymentId}),
          seen as (insert into payout_elsewhere (payment_id, treasury, auth_nonce)
            values (${paymentId}, ${from}, ${payout.authNonce}) on conflict do nothing),
          items as (update lane_tx_item i set outcome = 'moved' from payout p where p.payment_id = ${paymentId}
            and (i.chain_id, i.wallet, i.nonce, i.payment_id) = (p.chain_id, p.lane_wallet, p.lane_nonce, p.payment_id))
        update payout set treasury = ${to}, auth_nonce = ${nonce}, lane_wallet = null, lane_nonce = null,
          mined_number = null, refusals = 0, updated_at = now(),
          state = case when hold_reason is null or ${isFreed} then 'queued' else state end,
          hold_detail = case when ${isFreed} then null when hold_reason = 'policy' then ${WAITS} else hold_detail end,
          hold_reason = case when ${isFreed} then null else hold_reason end
        where payment_id = ${paymentId} returning payment_id`,
  )
  return before
}

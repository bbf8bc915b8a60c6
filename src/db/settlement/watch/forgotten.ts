import { z } from 'zod'
import { CLOSED } from '../../../domain/payment/payment.ts'
import type { Forgotten } from '../../../domain/settlement/payout.ts'
import { execute, maybeOne, type Queryable, sql, type Tx } from '../../db.ts'
import type { JournalContext, SettlementScope } from '../context.ts'
import { here } from '../cursor.ts'
import { hex } from '../payouts.ts'

/** What a restored backup has forgotten: payouts that were handed over after it was made. */

/** Most seconds by which a payment may look younger than the moment of the restoration, by another clock. */
const CLOCK_MARGIN = 600

/** From now on this database counts as a backup that was just restored: what the current treasury has signed until now it may not know. */
export async function markRestored(on: Queryable, { chainId, token }: SettlementScope): Promise<void> {
  await execute(
    on,
    sql`update chain_cursor set restored_at = now(), may_forget = true where chain_id = ${chainId} and token = ${token}`,
  )
}

/** Everything that was signed before the Unix second is dead, and has been read if it was paid. */
export async function endRestored(context: JournalContext, before: number): Promise<void> {
  await execute(
    context.db,
    sql`update chain_cursor set may_forget = false where ${here(context)} and restored_at <= to_timestamp(${before})`,
  )
}

/**
 * Queues what final transfers have paid of payments that hand nothing over any more; their logs end the payouts, and the
 * payments are told. A payment that is on its way is left alone: it hands its payout over itself, once its money is converted and
 * booked. Answers how many were queued.
 */
export function queueForgotten({ db, scope }: JournalContext): Promise<number> {
  return execute(
    db,
    sql`insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce)
        select m.id, m.livemode, l.chain_id, l.token, l.treasury, l.counterparty, l.micro_usdc, l.auth_nonce
        from treasury_log l join payment m on m.id = l.nonce_of
        where l.nonce_of is not null and l.payment_id is null and l.kind = 'out' and l.chain_id = ${scope.chainId}
          and l.token = ${scope.token} and m.livemode = ${scope.livemode}
          -- For money that never came nothing is owed: whoever has the treasury's key may have used the nonce.
          and (m.net_micro is not null or exists (select 1 from part t where t.payment_id = m.id))
          and (m.status = any(${[...CLOSED]}) or m.status in ('under_review', 'settling') and m.net_micro = l.micro_usdc)
        on conflict (payment_id) do nothing`,
  )
}

/** Names the payments of logs that were stored by their nonces alone. */
export async function nameForgotten(
  db: Queryable,
  { chainId, token }: SettlementScope,
  found: readonly { readonly paymentId: string; readonly txHash: string; readonly logIndex: number }[],
): Promise<void> {
  await execute(
    db,
    sql`update treasury_log l set nonce_of = f."paymentId",
          known_as = case l.known_as when 'operator' then l.known_as else 'payment' end
        from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as f("paymentId" text, "txHash" text, "logIndex" int)
        where l.chain_id = ${chainId} and l.token = ${token} and l.payment_id is null
          and (l.tx_hash, l.log_index) = (f."txHash", f."logIndex")`,
  )
}

/** What must be known before the money of a payment goes back although no payout of it is known; null: it was never handed over. */
export async function readForgotten(tx: Tx, paymentId: string): Promise<Forgotten | null> {
  const row = await maybeOne(
    tx,
    z.object({ tx_hash: hex.nullable(), until: z.date().nullable() }),
    sql`select l.tx_hash, c.restored_at + interval '1 hour' as until from payment m
          left join treasury_log l on l.nonce_of = m.id and l.payment_id is null and l.kind = 'out'
          left join chain_cursor c on c.chain_id = m.chain_id and c.token = lower(m.token) and c.may_forget
            and m.created_at <= c.restored_at + ${CLOCK_MARGIN} * interval '1 second'
        where m.id = ${paymentId} and m.livemode = ${tx.livemode}
          and not exists (select 1 from payout p where p.payment_id = m.id)
        limit 1`,
  )
  if (row?.tx_hash != null) return { kind: 'paid', txHash: row.tx_hash }
  return row?.until == null ? null : { kind: 'unsure', until: row.until.toISOString() }
}

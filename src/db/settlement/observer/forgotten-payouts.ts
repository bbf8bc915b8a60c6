import { z } from 'zod'
import { CLOSED } from '../../../domain/payment/payment.ts'
import type { OpenPayout } from '../../../domain/settlement/payout.ts'
import { execute, maybeOne, one, type Queryable, sql, type Tx } from '../../db.ts'
import type { JournalContext, SettlementScope } from '../context.ts'
import { hex, queuePayout } from '../payouts.ts'
import { findTreasury } from '../signing/treasuries.ts'

/** Payouts that a restored backup lacks, because they were handed over after it was made. */

/** The database might lack signatures of older payments from then on. */
export async function markRestored(on: Queryable, { chainId, token }: SettlementScope): Promise<void> {
  await execute(on, sql`update chain_cursor set restored_at = now() where chain_id = ${chainId} and token = ${token}`)
}

/**
 * Queues payouts for final transfers that paid for payments that no longer hand over a payout; the logs end these
 * payouts, and the hooks notify their payments. A payment in progress is not changed: it hands its payout over, once
 * its money is converted and booked. Returns how many were queued.
 */
export function queueForgotten({ db, scope }: JournalContext): Promise<number> {
  return execute(
    db,
    sql`insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce)
        select m.id, m.livemode, l.chain_id, l.token, l.treasury, l.counterparty, l.micro_usdc, l.auth_nonce
        from treasury_log l join payment m on m.id = l.nonce_of
        where l.nonce_of is not null and l.owner_id is null and l.kind = 'out' and l.chain_id = ${scope.chainId}
          and l.token = ${scope.token} and m.livemode = ${scope.livemode}
          -- For money that never came nothing is owed: whoever has the treasury's key may have used the nonce.
          and (m.net_micro is not null or exists (select 1 from attempt t join reading r on r.attempt_id = t.id where t.payment_id = m.id and r.held > 0))
          and (m.status = any(${[...CLOSED]}) or m.status in ('under_review', 'settling')
            and (payout_micro(m.net_micro, m.reserve_percent, m.deducted_micro) = l.micro_usdc or m.payout = 'voiding'))
        on conflict (owner_id) do nothing`,
  )
}

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
        where l.chain_id = ${chainId} and l.token = ${token} and l.owner_id is null
          and (l.tx_hash, l.log_index) = (f."txHash", f."logIndex")`,
  )
}

const openPayoutRow = z.object({
  has_payout: z.boolean(),
  is_open: z.boolean(),
  tx_hash: hex.nullable(),
  is_older: z.boolean(),
})

/** Reads why the money of a payment must not go back; null: it can. A converted payment knows its payout. */
export async function readOpenPayout(tx: Tx, paymentId: string): Promise<OpenPayout | null> {
  const row = await maybeOne(
    tx,
    openPayoutRow,
    sql`select p.owner_id is not null as has_payout,
          m.net_micro is null and p.state is distinct from 'settled' and p.state is distinct from 'voided' as is_open, l.tx_hash, c.restored_at is not null as is_older from payment m
          left join payout p on p.owner_id = m.id
          left join treasury_log l on l.nonce_of = m.id and l.owner_id is null and l.kind = 'out'
          left join chain_cursor c on c.chain_id = m.chain_id and c.token = lower(m.token)
            and m.created_at <= c.restored_at
        where m.id = ${paymentId} and m.livemode = ${tx.livemode} limit 1`,
  )
  if (row === null) return null
  if (row.has_payout) return row.is_open ? { kind: 'open' } : null
  if (row.tx_hash !== null) return { kind: 'paid', txHash: row.tx_hash }
  return row.is_older ? { kind: 'unsure' } : null
}

const unsureRow = z.object({ chain_id: z.number(), token: hex, recipient: z.string(), micro: z.string() })

/** Queues the payout that a restored backup might lack, as the payment would have handed it over. */
export async function queueUnsurePayout(tx: Tx, paymentId: string): Promise<void> {
  const {
    chain_id: chainId,
    token,
    recipient,
    micro,
  } = await one(
    tx,
    unsureRow,
    sql`select chain_id, lower(token) as token, destination as recipient, coalesce(payout_micro(net_micro, reserve_percent, deducted_micro)::text, quote ->> 'netMicro') as micro
        from payment where id = ${paymentId}`,
  )
  const treasury = await findTreasury(tx, { chainId, token }, paymentId)
  if (treasury === null) throw new Error('no treasury is known: start a worker first')
  const { livemode } = tx
  await queuePayout(tx, { paymentId, livemode, chainId, token, treasury, recipient, microUsdc: micro })
}

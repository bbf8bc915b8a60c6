import { z } from 'zod'
import type { Envelope, EnvelopeEnd, Lane } from '../../domain/payout.ts'
import { execute, many, type Queryable, sql, type Tx } from '../db.ts'
import { hex } from '../payouts.ts'

const envelopeRow = z.object({
  nonce: z.coerce.number(),
  kind: z.enum(['batch', 'noop']),
  target: hex,
  gas_limit: z.string(),
  state: z.enum(['reserved', 'signed', 'broadcast']),
  live: z.coerce.number(),
  attempts: z.array(
    z.object({
      attempt: z.number(),
      tx_hash: hex,
      max_fee: z.string(),
      tip: z.string(),
      signed_block: z.number(),
      last_broadcast_at: z.coerce.date().nullable(),
    }),
  ),
})

/** The lane's envelopes that are not final, lowest nonce first, each with its attempts. */
export async function listEnvelopes(db: Queryable, lane: Lane): Promise<Envelope[]> {
  const rows = await many(
    db,
    envelopeRow,
    sql`select t.nonce, t.kind, t.target, t.gas_limit::text, t.state,
          (select count(*) from lane_tx_item i join payout p using (payment_id)
            where (i.chain_id, i.wallet, i.nonce) = (t.chain_id, t.wallet, t.nonce) and p.state not in ('settled', 'voided'))
          + (select count(*) from deposit_sweep s where (s.chain_id, s.lane_wallet, s.lane_nonce) = (t.chain_id, t.wallet, t.nonce)) as live,
          coalesce((select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'tx_hash', a.tx_hash, 'max_fee', a.max_fee::text,
              'tip', a.tip::text, 'signed_block', a.signed_block, 'last_broadcast_at', a.last_broadcast_at) order by a.attempt)
            from lane_tx_attempt a where (a.chain_id, a.wallet, a.nonce) = (t.chain_id, t.wallet, t.nonce)), '[]') as attempts
        from lane_tx t where t.chain_id = ${lane.chainId} and t.wallet = ${lane.wallet}
          and t.state in ('reserved', 'signed', 'broadcast') order by t.nonce`,
  )
  return rows.map((row) => ({
    nonce: row.nonce,
    kind: row.kind,
    target: row.target,
    gasLimit: BigInt(row.gas_limit),
    state: row.state,
    live: row.live,
    attempts: row.attempts.map((attempt) => ({
      attempt: attempt.attempt,
      txHash: attempt.tx_hash,
      maxFee: BigInt(attempt.max_fee),
      tip: BigInt(attempt.tip),
      signedBlock: attempt.signed_block,
      lastBroadcastAt: attempt.last_broadcast_at,
    })),
  }))
}

/** Ends an envelope inside the caller's fenced transaction; answers the payouts that it did not move. */
export async function concludeEnvelope(
  tx: Tx,
  lane: Lane,
  ending: { nonce: number; end: EnvelopeEnd },
): Promise<{ refused: string[] }> {
  const { nonce, end } = ending
  const won = end.state === 'finalized' ? end : null
  await execute(
    tx,
    sql`update lane_tx set state = ${end.state}, won_hash = ${won?.txHash ?? null}, block_number = ${won?.blockNumber ?? null},
          gas_used = ${won?.gasUsed.toString() ?? null}, gas_price = ${won?.gasPrice.toString() ?? null}, ended_at = now()
        where chain_id = ${lane.chainId} and wallet = ${lane.wallet} and nonce = ${nonce}`,
  )
  const refused = await many(
    tx,
    z.object({ payment_id: z.string() }),
    sql`update payout p set lane_wallet = null, lane_nonce = null, mined_number = null, mined_hash = null, updated_at = now(),
          state = case when p.state in ('assigned', 'broadcast', 'mined') then 'authorized' else p.state end,
          refusals = p.refusals + ${won === null ? 0 : 1}
        where p.chain_id = ${lane.chainId} and p.lane_wallet = ${lane.wallet} and p.lane_nonce = ${nonce}
          and p.state in ('assigned', 'broadcast', 'mined', 'voiding')
          and not exists (select 1 from treasury_log l where l.chain_id = p.chain_id and l.token = p.token
            and l.treasury = p.treasury and l.auth_nonce = p.auth_nonce)
        returning p.payment_id`,
  )
  await releaseSweeps(tx, lane, nonce)
  await execute(
    tx,
    sql`update lane_tx_item i set outcome = case p.state when 'settled' then 'settled' when 'voided' then 'voided'
          else ${won === null ? 'replaced' : 'refused'} end
        from payout p where p.payment_id = i.payment_id and i.chain_id = ${lane.chainId} and i.wallet = ${lane.wallet}
          and i.nonce = ${nonce}`,
  )
  return { refused: refused.map((row) => row.payment_id) }
}

/** Sweeps of an envelope that has ended without moving them are free again. */
async function releaseSweeps(tx: Tx, lane: Lane, nonce: number): Promise<void> {
  await execute(
    tx,
    sql`update deposit_sweep set state = 'signed', lane_wallet = null, lane_nonce = null
        where chain_id = ${lane.chainId} and lane_wallet = ${lane.wallet} and lane_nonce = ${nonce} and state = 'assigned'`,
  )
}

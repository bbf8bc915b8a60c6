import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import { one, type Queryable, sql } from '../../db.ts'
import { REVERSIBLE_BLOCKS } from './reversal.ts'

/** Envelopes in one statement: with full batches 5,000 items, and as many signatures. */
export const ENVELOPES_AT_ONCE = 50

/**
 * Envelopes that are further behind the cursor are never taken back: a reversal is repaired once, and once more from
 * where the first repair has set the cursor, and there is room for two others.
 */
const SAFE_BLOCKS = 4 * REVERSIBLE_BLOCKS

const countRow = z.object({ count: z.coerce.number() })

/**
 * Deletes the data that were needed to send an envelope again: calldata, signed bytes, the list of its items, and the
 * signatures of settled payouts. Only of envelopes that ended more than `days` ago, and so many blocks before the
 * cursor that no repair of finality takes them back: while the chain is stuck, days pass and blocks do not. Hashes,
 * prices, logs, proofs and receipts stay. Returns the number of envelopes, at most a batch. `now` is ISO 8601 UTC.
 */
export async function dropBytes(
  db: Queryable,
  { chainId, token }: { readonly chainId: number; readonly token: Hex },
  { now, days }: { readonly now: string; readonly days: number },
): Promise<number> {
  const { count } = await one(
    db,
    countRow,
    sql`with
        safe as (select scanned_number - ${SAFE_BLOCKS} as block from chain_cursor
          where chain_id = ${chainId} and token = ${token}),
        old as (select t.chain_id, t.wallet, t.nonce from lane_tx t, safe
          where t.chain_id = ${chainId} and t.ended_at < ${now}::timestamptz - make_interval(days => ${days})
            and t.dropped_at is null and coalesce(t.block_number, 0) < safe.block
          order by t.ended_at limit ${ENVELOPES_AT_ONCE} for update of t skip locked),
        attempts as (update lane_tx_attempt a set raw = ''
          from old where (a.chain_id, a.wallet, a.nonce) = (old.chain_id, old.wallet, old.nonce)),
        items as (delete from lane_tx_item i using old
          where (i.chain_id, i.wallet, i.nonce) = (old.chain_id, old.wallet, old.nonce) returning i.owner_id),
        -- A payout may have been settled by a later envelope, which may be taken back. Then its signatures count.
        signatures as (delete from payout_signature s using items i, payout p, treasury_log l, safe
          where s.owner_id = i.owner_id and p.owner_id = i.owner_id and p.state = 'settled'
            and l.owner_id = p.owner_id and l.block_number < safe.block),
        dropped as (update lane_tx t set calldata = '', dropped_at = now()
          from old where (t.chain_id, t.wallet, t.nonce) = (old.chain_id, old.wallet, old.nonce) returning 1)
        select count(*) from dropped`,
  )
  return count
}

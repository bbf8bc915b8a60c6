import { z } from 'zod'
import type { Hex } from '../../../domain/hex.ts'
import type { Standing } from '../../../domain/settlement/standing.ts'
import { many, maybeOne, type Queryable, sql } from '../../db.ts'
import { hex, shownState } from '../payouts.ts'
import { payable, released } from '../queue.ts'

/** Reads for the status page and for metrics, by indexes of open rows: their cost does not grow with history. */

type Scope = { readonly chainId: number; readonly token: Hex }

/** It waits because its merchant is suspended with its payouts. */
const isWithheld = sql`(${payable} and not ${released})`

const queueRow = z.object({
  state: z.string(),
  reason: z.string().nullable(),
  count: z.coerce.number(),
  micro: z.string(),
  oldestSeconds: z.coerce.number(),
})

export function readQueue(db: Queryable, { chainId, token }: Scope): Promise<Standing['queue'][number][]> {
  return many(
    db,
    queueRow,
    sql`select case when ${isWithheld} then 'stopped' else ${shownState} end as state,
          case when ${isWithheld} then 'merchant' else p.stop_reason end as reason, count(*), sum(p.micro_usdc)::text as micro,
          extract(epoch from now() - min(p.created_at)) as "oldestSeconds" from payout p
        where p.chain_id = ${chainId} and p.token = ${token} and p.livemode = ${db.livemode}
          and p.state not in ('settled', 'voided')
          -- A release that an operator must decide about has its own entry in the attention list.
          and not (p.reserve_release_id is not null and p.state = 'stopped' and p.stop_reason not in ('funds', 'limit'))
        group by 1, 2 order by 1, 2`,
  )
}

const wantingRow = z.object({ treasury: hex, state: z.enum(['stopped', 'queued', 'authorized']), micro: z.string() })

/** Reads the USDC that payouts wait for, by treasury. A treasury whose key is lost or missing needs a key first. */
export function readWanting(db: Queryable, { chainId, token }: Scope): Promise<Standing['wanting'][number][]> {
  return many(
    db,
    wantingRow,
    sql`select p.treasury, p.state, sum(p.micro_usdc)::text as micro from payout p
        where p.chain_id = ${chainId} and p.token = ${token} and p.livemode = ${db.livemode}
          and (p.state in ('queued', 'authorized') or p.stop_reason = 'funds')
          and not exists (select 1 from treasury t where (t.chain_id, t.token, t.address) = (p.chain_id, p.token, p.treasury)
            and (t.lost_at is not null or not t.has_key))
        group by 1, 2 order by 1, 2`,
  )
}

const takeOverRow = z.object({
  from: hex,
  to: hex,
  count: z.coerce.number(),
  sinceSeconds: z.coerce.number(),
})

export function readTakeOvers(db: Queryable, { chainId, token }: Scope): Promise<Standing['takeOvers'][number][]> {
  return many(
    db,
    takeOverRow,
    sql`select t.address as "from", t.successor as "to", count(*),
          extract(epoch from now() - min(greatest(t.lost_at, p.created_at))) as "sinceSeconds"
        from treasury t join payout p on (p.chain_id, p.token, p.treasury) = (t.chain_id, t.token, t.address)
        where t.chain_id = ${chainId} and t.token = ${token} and p.livemode = ${db.livemode}
          and t.lost_at is not null and p.state not in ('settled', 'voiding', 'voided')
        group by t.address, t.successor order by t.address`,
  )
}

const cursorRow = z.object({
  number: z.coerce.number(),
  hash: hex,
  ageSeconds: z.coerce.number(),
  comparedSeconds: z.coerce.number(),
  depositsBehind: z.coerce.number(),
  isObserved: z.boolean(),
  pausedReason: z.string().nullable(),
})

/** The leading engine renews its lease every few seconds. */
const OBSERVED_SECONDS = 60

export function readChainCursor(db: Queryable, { chainId, token }: Scope): Promise<Standing['cursor']> {
  return maybeOne(
    db,
    cursorRow,
    sql`select scanned_number as number, scanned_hash as hash, extract(epoch from now() - scanned_at) as "ageSeconds", extract(epoch from now() - compared_at) as "comparedSeconds",
          case when exists (select 1 from deposit where chain_id = ${chainId}) then scanned_number - deposits_number else 0 end
            as "depositsBehind",
          greatest(lease_until, (select reported_at from settlement_part p where p.chain_id = ${chainId} and p.token = ${token}
            and p.part = 'observing')) > now() - ${OBSERVED_SECONDS} * interval '1 second' as "isObserved",
          pause as "pausedReason"
        from chain_cursor where chain_id = ${chainId} and token = ${token}`,
  )
}

const laneRow = z.object({
  wallet: hex,
  status: z.enum(['open', 'paused_gas', 'quarantined']),
  reason: z.string().nullable(),
  nextNonce: z.coerce.number(),
  open: z.coerce.number(),
  unminedSeconds: z.coerce.number().nullable(),
  isFunding: z.boolean(),
})

export function readLanes(db: Queryable, { chainId }: Pick<Scope, 'chainId'>): Promise<Standing['lanes'][number][]> {
  return many(
    db,
    laneRow,
    sql`select l.wallet, l.status, l.status_reason as reason, l.next_nonce as "nextNonce", t.open,
          t.seconds as "unminedSeconds",
          l.wallet in (select g.wallet from lane_tx g where g.chain_id = ${chainId} and g.kind = 'topup') as "isFunding"
        from known_lane l, lateral (
          select count(*) as open, extract(epoch from now() - min(t.created_at) filter (where not exists (
              select 1 from payout p where p.chain_id = t.chain_id and p.lane_wallet = t.wallet and p.lane_nonce = t.nonce
                and p.mined_number is not null))) as seconds
          from lane_tx t where t.chain_id = l.chain_id and t.wallet = l.wallet
            and t.state in ('reserved', 'signed', 'broadcast')) t
        where l.chain_id = ${chainId} order by l.wallet`,
  )
}

const attentionRow = z.object({ kind: z.string(), subject: z.string(), detail: z.string().nullable() })

/** The oldest first. */
export function listSettlementAttention(db: Queryable): Promise<Standing['attention'][number][]> {
  return many(
    db,
    attentionRow,
    sql`select kind, subject, detail from settlement_attention where livemode is null or livemode = ${db.livemode}
        order by since nulls first limit 50`,
  )
}

const countRow = z.object({ kind: z.string(), count: z.coerce.number(), oldestSeconds: z.coerce.number() })

/** An entry without a time counts as new. */
export function countSettlementAttention(db: Queryable): Promise<z.infer<typeof countRow>[]> {
  return many(
    db,
    countRow,
    sql`select kind, count(*), coalesce(extract(epoch from now() - min(since)), 0) as "oldestSeconds"
        from settlement_attention where livemode is null or livemode = ${db.livemode} group by kind order by kind`,
  )
}

const latelySettledRow = z.object({ count: z.coerce.number(), secondsAgo: z.coerce.number().nullable() })

/** In the last ten minutes. */
export async function readLatelySettled(db: Queryable): Promise<Standing['settled']> {
  const row = await maybeOne(
    db,
    latelySettledRow,
    sql`select (select count(*) from payment where succeeded_at > now() - interval '10 minutes' and livemode = ${db.livemode}),
          (select extract(epoch from now() - succeeded_at) from payment
            where succeeded_at is not null and livemode = ${db.livemode} order by succeeded_at desc limit 1) as "secondsAgo"`,
  )
  return row ?? { count: 0, secondsAgo: null }
}

import { z } from 'zod'
import { USED_PROVIDER_NAMES } from '../../domain/methods.ts'
import type { MeasuredTimes } from '../../domain/partner/offering.ts'
import { type Db, many, sql } from '../db.ts'

/** Fewer payments show chance, and perhaps the payments of one merchant. */
const MIN_PAYMENTS = 50
const DAYS = 30
/** The newest payments of the period. */
const MAX_PAYMENTS = 5000

const timesRow = z.object({ provider: z.enum(USED_PROVIDER_NAMES), p50: z.number(), p95: z.number() })

/** Reads how long payments took from the moment at which their buyers continued to the final transfer. */
export async function readSettlementTimes(db: Db): Promise<MeasuredTimes> {
  const rows = await many(
    db,
    timesRow,
    sql`select provider, round(percentile_cont(0.5) within group (order by seconds))::int as p50,
          round(percentile_cont(0.95) within group (order by seconds))::int as p95
        from (select a.provider, extract(epoch from p.succeeded_at - a.created_at)::float8 as seconds
          from payment p join attempt a on a.id = p.paid_attempt_id
          where p.succeeded_at > now() - ${DAYS} * interval '1 day' and p.livemode = ${db.livemode}
          order by p.succeeded_at desc limit ${MAX_PAYMENTS}) newest
        group by provider having count(*) > ${MIN_PAYMENTS}`,
  )
  return Object.fromEntries(rows.map(({ provider, ...seconds }) => [provider, seconds]))
}

import { PROVIDERS } from '../../../../src/domain/methods.ts'
import { rateAt } from '../../../../src/sandbox/converter/market.ts'
import type { Facts } from './facts.ts'

/** The reports of other parties, and their effects in time. */

const MINUTE_MS = 60_000
/** A rate may be ten minutes old when it is locked, and the activity that locks it half a minute older. */
const OLDEST_RATE_MS = 11 * MINUTE_MS
/** The simulated market changes its direction at this interval. */
const LEG_MS = 5 * MINUTE_MS
const SEED = 'sandbox'

/** Another token at an address of the platform is in no book: an operator sees it, whatever becomes of the payment. */
export async function checkTokens({ testPayment, row, listed }: Facts): Promise<string[]> {
  const { rows } = await testPayment.db.query(
    'select 1 from deposit_log l join deposit d using (owner_id) where payment_id = $1 and l.token <> d.token',
    [row.payment.id],
  )
  const isListed = listed.some(({ detail }) => detail?.startsWith('other_token: ') === true)
  const isDone = row.attempts.some(
    ({ misfit, misfitAnswer }) => misfit?.why === 'token' && misfitAnswer === 'dismissed',
  )
  return rows.length > 0 && !isListed && !isDone
    ? [`another token is there, and no notification was sent (${row.payment.status})`]
    : []
}

/** Money that the partner withholds is not sold. A run that was lost may have asked before it was read. */
export function checkWithheld({ testPayment, row: { payment } }: Facts): string[] {
  if (payment.takenSale === null || payment.paidAttemptId === null || testPayment.hasLost()) return []
  const isHeld = testPayment.troubles.heldWhenAsked().has(payment.paidAttemptId)
  return isHeld ? ['converted, and its partner had said that it holds the money back'] : []
}

/** The locked rate is one of the market's last minutes. */
export function checkRate({ row }: Facts): string[] {
  const { rate, confirmed, providerUsed } = row.payment
  if (rate === null || confirmed === null || providerUsed === 'crypto') return []
  // By the locking process's clock, which can be wrong.
  const last = Date.parse(rate.lockedAt) + MINUTE_MS
  const first = last - 2 * MINUTE_MS - OLDEST_RATE_MS
  const moments = [first, last]
  for (let at = Math.ceil(first / LEG_MS) * LEG_MS; at < last; at += LEG_MS) moments.push(at)
  const market = moments.map((at) => Number(rateAt(confirmed.currency, at, SEED)))
  const isOfNow = Number(rate.rate) >= Math.min(...market) && Number(rate.rate) <= Math.max(...market)
  return isOfNow ? [] : [`the locked rate ${rate.rate} is none of the last ten minutes`]
}

/** No payment expires before the end that the buyer reads, which can have been moved. By the writer's clock. */
export function checkExpiry({ row, notes }: Facts): string[] {
  const expired = notes.get('payment.expired')
  const isEarly = expired !== undefined && expired + MINUTE_MS < Date.parse(row.payment.expiresAt)
  return isEarly ? ['it expired before its end'] : []
}

/** A settlement that takes too long is marked on time. A run that was lost could not. */
export async function checkDelay({ testPayment, row, notes }: Facts): Promise<string[]> {
  const marked = notes.get('payment.settlement_delayed')
  if (marked === undefined || row.payment.paidAt === null || testPayment.hasLost()) return []
  // Money that was odd, withheld or given back did not belong to the payment before. Money that was paid twice counts from the
  // second time.
  const { rows } = await testPayment.db.query(
    `select max(at) as at, jsonb_object_agg(id, at order by at) filter (where status = 'paid') as paid from (
       select at, null as id, null as status from timeline_entry
         where payment_id = $1 and (to_status = 'processing' or kind = 'refund.refused') union all
       select at, null, null from decision where payment_id = $1 union all
       select r.at, a.id, r.status from reading r join attempt a on a.id = r.attempt_id where a.payment_id = $1) known
     where at <= $2`,
    [row.payment.id, new Date(marked)],
  )
  const { at, paid } = rows[0] as { at: Date | null; paid: Record<string, string> | null }
  // The payment's money can have been that of any order that was paid by then.
  const ends = row.attempts.map(({ id, provider, paidAt }) => {
    const known = Date.parse(paidAt ?? '')
    const since = known <= marked ? known : Date.parse(paid?.[id] ?? '')
    return since + PROVIDERS[provider].delayedAfterMinutes * MINUTE_MS
  })
  const due = Math.max(at?.getTime() ?? 0, ...ends.filter((end) => !Number.isNaN(end)))
  const late = Math.round((marked - due) / MINUTE_MS)
  return late > 2 ? [`settlement_delayed was set ${late} minutes late`] : []
}

/** Half an hour, in which the last try may have begun just before its end. */
const CONVERSION_MS = 45 * MINUTE_MS

/** A conversion that is not filled is on the attention list; it must not wait unseen. */
export async function checkConversion({ testPayment, row }: Facts): Promise<string[]> {
  if (testPayment.hasLost()) return []
  const { rows } = await testPayment.db.query(
    `select c.at as done, m.to_status, greatest(m.at, (select max(g.at) from timeline_entry g
       where g.payment_id = c.payment_id and g.actor in ('partner', 'operator') and g.id < c.id)) as since
     from timeline_entry c cross join lateral (select at, to_status from timeline_entry m
       where m.payment_id = c.payment_id and m.to_status is not null and m.id < c.id order by m.id desc limit 1) m
     where c.payment_id = $1 and c.kind = 'payment.converted'`,
    [row.payment.id],
  )
  const conversions = rows as { done: Date; to_status: string; since: Date }[]
  const slow = conversions.filter(
    ({ done, to_status, since }) => to_status === 'processing' && done.getTime() - since.getTime() > CONVERSION_MS,
  )
  return slow.map(({ done, since }) => {
    const minutes = Math.round((done.getTime() - since.getTime()) / MINUTE_MS)
    return `the converter was waited for in silence, for ${minutes} minutes`
  })
}

import { PROVIDERS } from '../../../../src/domain/methods.ts'
import { atPartner } from '../../../../src/domain/payment/money/parts.ts'
import { isClosed } from '../../../../src/domain/payment/payment.ts'
import { rateAt } from '../../../../src/sandbox/converter/market.ts'
import { attemptsOf, orderOf } from '../../world/books.ts'
import type { Facts } from './facts.ts'

/** What other parties report, and what was made of it. */

const MINUTE_MS = 60_000
/** A rate may be ten minutes old when it is locked, and the activity that locks it half a minute older. */
const OLDEST_RATE_MS = 11 * MINUTE_MS
/** As often as the simulated market takes another way. */
const LEG_MS = 5 * MINUTE_MS
const SEED = 'sandbox'

/** What the partner says now of money that fits no order stands, or stood, before an operator, and has an owner. */
export async function checkMisfits({ shop, row, notes }: Facts): Promise<string[]> {
  const { rows } = await shop.db.query(
    `select attempt_id, misfit #>> '{amount,minor}' as minor, misfit #>> '{received,minor}' as received, closed_at is null as open
     from incident where payment_id = $1 and kind = 'misfit' and misfit is not null and not gone`,
    [row.payment.id],
  )
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    const { asked, acknowledgedMinor, status } = row.attempts.find(({ id }) => id === attempt.id) ?? {}
    const isMisfit =
      order?.status === 'paid' &&
      (order.receivedMinor === null || (order.minor !== asked?.minor && order.minor !== acknowledgedMinor))
    const seen = rows.filter(({ attempt_id: of }) => of === attempt.id)
    // What the partner has no more of than is known is nothing to look at.
    const mayGoOn = attempt.id === row.payment.paidAttemptId && !isClosed(row.payment.status)
    const isKnown = !mayGoOn && order?.receivedMinor === atPartner(row.parts, attempt.id)
    if (
      isMisfit &&
      !isKnown &&
      !seen.some(({ minor, received }) => minor === order.minor && (received ?? '0') === (order.receivedMinor ?? '0'))
    )
      return [`money that does not fit its order was seen by nobody (${row.payment.status})`]
    // Once it was rejected, money that does not fit is dealt with beside the payment.
    const isRejected = notes.has('An operator rejected it before any money arrived')
    const isOver = !isRejected && (row.payment.status === 'refunded' || row.payment.usdc !== null)
    if (isOver && status === 'on_hold' && seen.some(({ open }) => open))
      return [`${row.payment.status}, and money of another order that does not fit is still there`]
  }
  return []
}

/** Another token at an address of our own is no part of any book: an operator sees it, whatever becomes of the payment. */
export async function checkTokens({ shop, row }: Facts): Promise<string[]> {
  const { rows } = await shop.db.query(
    `select 1 from deposit_log l join deposit d using (payment_id) where payment_id = $1 and l.token <> d.token
       and not exists (select 1 from incident i where i.attempt_id = d.attempt_id and i.kind = 'misfit' and not i.gone)`,
    [row.payment.id],
  )
  return rows.length > 0 ? [`another token is there, and nobody was told (${row.payment.status})`] : []
}

/** What the buyer was given back from elsewhere, and the partner took back too, stands or stood before an operator. */
export function checkOutside({ row, incidents }: Facts): string[] {
  const isTaken = row.parts.some(({ kind }) => kind === 'reversal_outside')
  return isTaken === incidents.includes('outside_reversed') ? [] : ['given back twice, and seen by nobody']
}

/**
 * What an operator has closed stays closed until the partner says something else, or says it of the own money of a payment
 * that has not ended. What went by itself is new.
 */
export async function checkClosedMisfits({ shop, row }: Facts): Promise<string[]> {
  const { rows } = await shop.db.query(
    `select 1 from (select attempt_id, misfit, lag(misfit) over attempt as before, lag(gone) over attempt as went from incident
       where payment_id = $1 and kind = 'misfit' window attempt as (partition by attempt_id order by id)) as said
     where misfit = before and not went and (attempt_id is distinct from coalesce($2, attempt_id) or (
       select m.to_status in ('succeeded', 'failed', 'expired', 'canceled', 'refunded') from timeline_entry m
       where m.payment_id = $1 and m.to_status is not null and m.id < (
         select max(n.id) from timeline_entry n where n.payment_id = $1 and n.kind = 'payment.misfit'
           and n.data->>'attempt_id' = said.attempt_id and n.data - 'attempt_id' = said.misfit)
       order by m.id desc limit 1))`,
    [row.payment.id, row.payment.paidAttemptId],
  )
  return rows.length > 0 ? ['a misfit that was closed was opened again, and nothing had changed'] : []
}

/** Too little is settled only when an operator has approved it. */
export function checkApproved({ shop, row }: Facts): string[] {
  const { payment, attempts } = row
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  if (payment.usdc === null || payment.confirmed === null || paid === undefined) return []
  const isTooLittle = BigInt(payment.confirmed.minor) * 100n < BigInt(paid.asked.minor) * 99n
  const isApproved = shop.asks.some(({ what, answer }) => what === 'approve' && answer?.startsWith('{') === true)
  return isTooLittle && !isApproved ? ['too little was converted, and nobody has approved it'] : []
}

/**
 * A payment does not fail by itself while a partner holds its money, as far as its news have come. Time that is skipped
 * stands still during the steps, so what was heard after the end is told by the order of the entries.
 */
export async function checkHeldThere({ shop, row: { payment, attempts }, notes }: Facts): Promise<string[]> {
  const { status, failedAt } = payment
  if (status !== 'failed' || failedAt === null || notes.has('An operator rejected it before any money arrived'))
    return []
  const { rows } = await shop.db.query(
    `select h.data->>'attempt_id' as id from timeline_entry h join timeline_entry f using (payment_id)
     where payment_id = $1 and f.kind = 'payment.failed' and h.kind = 'attempt.on_hold' and h.id > f.id`,
    [payment.id],
  )
  const after = new Set(rows.map(({ id }) => id))
  const isHeld = attempts.some(
    (attempt) => attempt.status === 'on_hold' && attempt.updatedAt <= failedAt && !after.has(attempt.id),
  )
  return isHeld ? ['failed, and a partner holds money for it'] : []
}

/** What the partner was heard to hold back is not sold. A run that was lost may have asked before it was heard. */
export function checkWithheld({ shop, row: { payment } }: Facts): string[] {
  if (payment.usdc === null || payment.paidAttemptId === null || shop.hasLost()) return []
  const isHeld = shop.troubles.heldWhenAsked().has(payment.paidAttemptId)
  return isHeld ? ['converted, and its partner had said that it holds the money back'] : []
}

/** The locked rate is one of the market's last minutes. */
export function checkRate({ row }: Facts): string[] {
  const { rate, confirmed, providerUsed } = row.payment
  if (rate === null || confirmed === null || providerUsed === 'crypto') return []
  // By the clock of who locked it, which may be off.
  const last = Date.parse(rate.lockedAt) + MINUTE_MS
  const first = last - 2 * MINUTE_MS - OLDEST_RATE_MS
  const moments = [first, last]
  for (let at = Math.ceil(first / LEG_MS) * LEG_MS; at < last; at += LEG_MS) moments.push(at)
  const market = moments.map((at) => Number(rateAt(confirmed.currency, at, SEED)))
  const isOfNow = Number(rate.rate) >= Math.min(...market) && Number(rate.rate) <= Math.max(...market)
  return isOfNow ? [] : [`the locked rate ${rate.rate} is none of the last ten minutes`]
}

/** Nobody is too late before the end that the buyer reads, which may have been moved. By the clock of who writes it. */
export function checkExpiry({ row, notes }: Facts): string[] {
  const expired = notes.get('payment.expired')
  const isEarly = expired !== undefined && expired + MINUTE_MS < Date.parse(row.payment.expiresAt)
  return isEarly ? ['it expired before its end'] : []
}

/** A settlement that takes too long is marked on time. A run that was lost could not. */
export function checkDelay({ shop, row, notes }: Facts): string[] {
  const marked = notes.get('payment.settlement_delayed')
  const { paidAt, providerUsed } = row.payment
  if (marked === undefined || paidAt === null || providerUsed === null || shop.hasLost()) return []
  const due = Date.parse(paidAt) + PROVIDERS[providerUsed].delayedAfterMinutes * MINUTE_MS
  const late = Math.round((marked - due) / MINUTE_MS)
  return late > 2 ? [`settlement_delayed was set ${late} minutes late`] : []
}

/** Half an hour, in which the last try may have begun just before its end. */
const CONVERSION_MS = 45 * MINUTE_MS

/** A conversion that does not come stands before an operator; nobody waits for it in silence. */
export async function checkConversion({ shop, row }: Facts): Promise<string[]> {
  if (shop.hasLost()) return []
  const { rows } = await shop.db.query(
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

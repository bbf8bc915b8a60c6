import { type Currency, isCurrency } from '../../../../src/domain/currencies.ts'
import { add, formatAmount, formatUsdc, parseUsdc } from '../../../../src/domain/money.ts'
import { type AttemptStatus, getReport, isClosed, type PaymentStatus } from '../../../../src/domain/payment/payment.ts'
import { isWebhookEventType } from '../../../../src/domain/webhook.ts'
import { type Facts, findSold, getAsset, getRefundedUnits, lastThere } from './facts.ts'
import { computeLoss } from './money.ts'

/** The responses to operators, and the payment that merchants read. */

export function checkAnswers({ testPayment }: Facts): string[] {
  return testPayment.asks.flatMap(({ what, answer }) => {
    if (answer === null) return [`no answer: ${what}`]
    // A lost run loses its responses; a continued one does not.
    if (answer.includes('ended before it answered') && !testPayment.hasLost()) return [`${what}: ${answer}`]
    return /TypeError|no transition|undefined/.test(answer) ? [`${what}: ${answer}`] : []
  })
}

type Settlement = {
  readonly confirmed: { readonly amount_minor: number; readonly currency: string } | null
  readonly gross_usdc: string | null
  readonly fee_usdc: string | null
  readonly net_usdc: string | null
  readonly deduction: { readonly usdc: string } | null
  readonly tx_hash: string | null
}
type EventObject = {
  readonly status: string
  readonly exception: string | null
  readonly amount_minor: number
  readonly currency: string
  readonly settlement: Settlement
  readonly chargeback?: {
    readonly attempt: string
    readonly amount: string
    readonly lost: string
    readonly currency: string
  }
}
/**
 * SQL: true if money of the attempt `a` was given back before the entry. What it gets after that is not the payment's: an
 * operator gives it back by hand.
 */
const wentBack = (entry: string): string =>
  `exists (select 1 from timeline_entry b where b.payment_id = ${entry}.payment_id and b.at <= ${entry}.at
     and b.kind = 'refund.requested' and b.data ->> 'attempt_id' = a.id)`

type Event = { readonly type: string; readonly object: EventObject }

const isLoss = ({ type }: Event): boolean => type === 'payment.chargeback' || type === 'payment.chargeback_won'

/**
 * A run that closes a payment asks the partners first: money that one of them had before, and still has, is not new
 * after the end. An order that its partner has ended is not asked about.
 */
export async function checkClosing({ testPayment, row, orders }: Facts): Promise<string[]> {
  const { rows } = await testPayment.db.query(
    `select a.id, max(t.at) as at, (select status from reading where attempt_id = a.id and at < max(t.at)
         order by revision desc limit 1) as said
     from timeline_entry t join attempt a using (payment_id)
     where t.payment_id = $1 and t.kind in ('payment.canceled', 'payment.expired') and t.from_status in ('created', 'pending')
       and not ${wentBack('t')}
     group by a.id`,
    [row.payment.id],
  )
  const ends = rows as { id: string; at: Date; said: AttemptStatus | null }[]
  const isEarly = ends.some(({ id, at, said }) => {
    const isPaid = orders.some(({ attempt, order }) => attempt.id === id && order?.status === 'paid')
    // By the closing process’s clock, which can be wrong.
    const isBefore = (testPayment.paidSince.get(id) ?? Infinity) + MINUTE_MS < at.getTime()
    return isPaid && isBefore && getReport(said ?? 'opening') !== 'over'
  })
  return isEarly && !testPayment.troubles.wasSilent() && !testPayment.hasLost()
    ? ['closed, and a partner had been paid before']
    : []
}

const MINUTE_MS = 60_000

/** The amounts that the merchant reads as received and charged. */
function checkAmounts(events: readonly Event[], paidOut: string | null): string[] {
  return events.flatMap(({ type, object: { status, settlement } }) => {
    const { fee_usdc: fee, net_usdc: net, deduction, tx_hash: txHash } = settlement
    if (status === 'refunded' && txHash === null && (fee !== null || net !== null))
      return [`${type} names a fee of ${fee} and a net of ${net}, and nothing was paid out`]
    const isPaid = paidOut !== null && net === formatUsdc(add(paidOut, parseUsdc(deduction?.usdc ?? '0.000000')))
    return status === 'succeeded' && !isPaid ? [`${type} names a net of ${net}, and ${paidOut} was paid out`] : []
  })
}

/** The price is what was asked for, and the amounts are those of the sale that is paid out, at the locked rate. */
function checkPrices(events: readonly Event[], facts: Facts): string[] {
  const { payment } = facts.row
  const sold = findSold(facts)
  const micro = (usdc: string | null) => BigInt((usdc ?? '0').replace('.', ''))
  return events.flatMap(({ type, object: { amount_minor: minor, currency, status, settlement } }) => {
    const { confirmed, gross_usdc: gross, fee_usdc: fee, net_usdc: net } = settlement
    if (String(minor) !== payment.amount.minor || currency !== payment.amount.currency)
      return [`${type} names a price of ${minor} ${currency}`]
    if (micro(gross) !== micro(fee) + micro(net)) return [`${type}: ${gross} is not ${fee} and ${net}`]
    if (status !== 'succeeded') return []
    if (sold?.sale.gross !== micro(gross)) return [`${type} names ${gross}, and nothing was sold for that`]
    const isFiat = sold.attempt.provider !== 'crypto'
    const isSold =
      confirmed?.currency === sold.attempt.asked.currency && BigInt(confirmed.amount_minor) === sold.sale.units
    return isFiat && !isSold
      ? [`${type} names ${confirmed?.amount_minor} ${confirmed?.currency}, and ${sold.sale.units} were sold`]
      : []
  })
}

/** The events about losses sum to the loss by the partners’ own books. */
function checkChargebacks(events: readonly Event[], facts: Facts): string[] {
  const sold = findSold(facts)
  const order = facts.orders.find(({ attempt }) => attempt.id === sold?.attempt.id)
  if (facts.paidOut === null || order === undefined || facts.testPayment.engine.wasUnexpected()) return []
  const { attempt } = order
  const losses = events.filter((each) => isLoss(each) && each.object.chargeback?.attempt === attempt.id)
  const write = (units: bigint): string => {
    const [minor, asset] = [units.toString(), getAsset(attempt)]
    return isCurrency(asset) ? formatAmount({ minor, currency: asset as Currency }) : formatUsdc(minor)
  }
  const lost = write(computeLoss(facts, order))
  const last = losses.at(-1)?.object.chargeback?.lost ?? write(0n)
  if (last !== lost) return [`${lost} are lost, the merchant received ${last}`]
  const units = (text: string): bigint => BigInt(text.replace('.', ''))
  const sums = losses.map(({ type, object }) => {
    const amount = units(object.chargeback?.amount ?? '0')
    return type === 'payment.chargeback' ? amount : -amount
  })
  const total = sums.reduce((sum, each) => sum + each, 0n)
  // The first money was not won back.
  const won = losses.filter(({ type }) => type === 'payment.chargeback_won').length
  if (won > 0 && won >= (facts.testPayment.came.get(attempt.id) ?? 0)) return ['what did not come again was won back']
  return total === units(lost) ? [] : [`${lost} are lost, the events of it add up to ${total}`]
}

/** The exception that the merchant reads agrees with the partners’ money. */
function checkException(facts: Facts): string[] {
  const { exception, status } = facts.row.payment
  const sold = findSold(facts)
  if (sold === null || status !== 'succeeded') return []
  const { attempt } = sold
  const asked = BigInt(attempt.provider === 'crypto' ? (attempt.askedMicro ?? '0') : attempt.asked.minor)
  const { units } = sold.sale
  if (units > asked && exception === null)
    return [`${units} of ${asked} were settled, and the merchant reads nothing of it`]
  if (units * 100n < asked * 99n && exception === null)
    return ['too little was settled, and the merchant reads nothing']
  if (units === asked && (exception === 'underpaid' || exception === 'overpaid'))
    return [`exactly the price was settled, and the merchant reads ${exception}`]
  const others = facts.orders.filter((order) => order.attempt.id !== attempt.id && order.order?.status === 'paid')
  const isTwice = others.some((other) => lastThere(other) > BigInt(other.attempt.outside))
  if (isTwice && exception !== 'duplicate_payment') return [`the buyer paid twice, and the merchant reads ${exception}`]
  return !isTwice && exception === 'duplicate_payment' && !hasMore(facts)
    ? ['the second payment is gone, and the merchant reads duplicate_payment']
    : []
}

/** True if the settled order has more money, or USDC arrived in addition. */
const hasMore = (facts: Facts): boolean => {
  const sold = findSold(facts)
  return facts.orders.some((order) => {
    const settled = order.attempt.id === sold?.attempt.id ? sold.sale.units : 0n
    return lastThere(order) + getRefundedUnits(facts, order) - settled - BigInt(order.attempt.outside) > 0n
  })
}

/** A closed payment is not open to a buyer again; an expired one only for a moment, and then expires. */
async function checkClosedAgain({ testPayment, row }: Pick<Facts, 'testPayment' | 'row'>): Promise<string[]> {
  const { rows } = await testPayment.db.query(
    `select o.from_status as before from (
       select id, to_status, lead(to_status) over moves as next, lag(to_status) over moves as from_status,
         bool_or(to_status in ('canceled', 'failed')) over moves as was_closed
       from timeline_entry where payment_id = $1 and to_status is not null window moves as (order by id)) o
     where was_closed and to_status = 'pending' and next is distinct from 'canceled'`,
    [row.payment.id],
  )
  return rows.map(({ before }) => `closed before, and open again after ${before}`)
}

/**
 * The merchant must not read that nothing was paid while money is known that counts: the least of all readings since the last
 * one that is older than a minute. Several readings can have the same time.
 */
async function checkNotEmpty({ testPayment, row }: Facts): Promise<string[]> {
  const { rows } = await testPayment.db.query(
    `select e.kind from timeline_entry e where e.payment_id = $1 and e.kind in ('payment.canceled', 'payment.expired')
       and e.from_status in ('created', 'pending') and ((e.data ->> 'free')::numeric >= case e.data ->> 'asset' when 'USDC' then 10000 else 1 end
         or exists (
         select 1 from attempt a cross join lateral (
           select min(r.held) as held from reading r where r.attempt_id = a.id and r.at <= e.at and r.at >= (
             select max(at) from reading where attempt_id = a.id and at < e.at - interval '1 minute')) known
           where a.payment_id = e.payment_id
             and not ${wentBack('e')} and known.held - a.outside > case when a.provider = 'crypto' then 9999 else 0 end))`,
    [row.payment.id],
  )
  return rows.map(({ kind }) => `${kind}, and a part of the price had come`)
}

/** The events for the merchant agree with the row. */
export async function checkEvents(facts: Facts): Promise<string[]> {
  const { testPayment, row, paidOut } = facts
  const { rows } = await testPayment.db.query(
    "select type, convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' as object from event where payment_id = $1 and type like 'payment.%' order by sequence",
    [row.payment.id],
  )
  const events = rows as Event[]
  const moves = events.filter((each) => !isLoss(each))
  const wrong = [
    ...checkStatuses(moves, row.payment.status),
    ...checkAmounts(events, paidOut),
    ...checkPrices(events, facts),
    ...checkChargebacks(events, facts),
    ...checkException(facts),
    ...(await checkClosedAgain({ testPayment, row })),
    ...(await checkNotEmpty(facts)),
  ]
  for (const read of [row.payment, ...moves.map(({ object }) => object)]) {
    if (['settling', 'succeeded', 'refunded'].includes(read.status) && read.exception === 'verification_required')
      wrong.push(`${read.status}, and the merchant reads that the buyer is being checked`)
    if (isClosed(read.status as PaymentStatus) && read.exception === 'settlement_delayed')
      wrong.push(`${read.status}, and the merchant reads that the settlement is delayed`)
  }
  const paid = events.filter(({ type }) => type === 'payment.succeeded').length
  if (paid > 1) wrong.push(`succeeded was announced ${paid} times`)
  if (paid === 1 && paidOut === null) wrong.push('succeeded was announced, and nothing was paid')
  // The sweep of overdue deliveries announces what a killed process had committed.
  const unsent = await testPayment.db.query(
    'select type from event e where payment_id = $1 and not exists (select 1 from delivery d where d.event_id = e.id)',
    [row.payment.id],
  )
  for (const { type } of unsent.rows) wrong.push(`${type} has no delivery`)
  return wrong
}

function checkStatuses(moves: readonly Event[], status: PaymentStatus): string[] {
  const last = moves.at(-1)?.type
  const isAnnounced = !isWebhookEventType(`payment.${status}`) || last === `payment.${status}`
  const others = moves.filter(({ type, object }) => type !== `payment.${object.status}`)
  return [
    ...(isAnnounced ? [] : [`the row is ${status}, the merchant received ${last}`]),
    ...others.map(({ type, object }) => `${type} shows ${object.status}`),
  ]
}

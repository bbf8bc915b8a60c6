import { formatUsdc } from '../../../../src/domain/money.ts'
import { isClosed, type PaymentStatus } from '../../../../src/domain/payment/payment.ts'
import { isWebhookEventType } from '../../../../src/domain/webhook.ts'
import { attemptsOf, orderOf } from '../../world/books.ts'
import { type Facts, HERE, sum } from './facts.ts'

/** What operators were answered, and merchants told. */

export function checkAnswers({ shop }: Facts): string[] {
  return shop.asks.flatMap(({ what, answer }) => {
    if (answer === null) return [`no answer: ${what}`]
    // A run that is lost takes its answers with it; one that is continued does not.
    if (answer.includes('ended before it answered') && !shop.hasLost()) return [`${what}: ${answer}`]
    return /TypeError|no transition|undefined/.test(answer) ? [`${what}: ${answer}`] : []
  })
}

/** What is given back stays given back: the payment ends with it, and the same money goes back but once. */
export async function checkGivenBack({ shop, row, notes, intents }: Facts): Promise<string[]> {
  const { status, parkReason } = row.payment
  const isHere = row.parts.some(({ state }) => HERE.includes(state))
  const isAwaited = row.attempts.some((attempt) => ['on_hold', 'confirming'].includes(attempt.status))
  const isOurs = intents.some(({ kind, state }) => kind === 'refund' && state === 'done')
  const isEmpty = status === 'under_review' && !isHere && !isAwaited && isOurs && row.incidents.length === 0
  const wrong = isEmpty ? [`the money went back by our refund, and it waits: ${parkReason}`] : []
  const asked = notes.get('refund.requested')
  const rejected = notes.get('An operator rejected it before any money arrived')
  if (
    status === 'failed' &&
    asked !== undefined &&
    rejected !== undefined &&
    asked <= rejected &&
    (notes.get('attempt.refunded') ?? 0) > rejected &&
    !notes.has('refund.refused')
  )
    wrong.push('rejected while its refund was being carried out')
  const { rows } = await shop.db.query(
    `select 1 from timeline_entry back join timeline_entry asked using (payment_id)
     where payment_id = $1 and back.message = 'The money went back to the buyer outside of the partner'
       and asked.kind = 'refund.requested' and asked.id > back.id and asked.data->>'attempt_id' = back.data->>'attempt_id'`,
    [row.payment.id],
  )
  if (rows.length > 0) wrong.push('given back from elsewhere, and through the partner')
  return [...wrong, ...(await checkReturnedOnce(shop, row))]
}

/** Nobody is given back more than has come. */
async function checkReturnedOnce(shop: Facts['shop'], row: Facts['row']): Promise<string[]> {
  const wrong: string[] = []
  for (const attempt of await attemptsOf(shop)) {
    const order = await orderOf(shop, attempt)
    const unitsOf = (what: readonly string[]) =>
      sum(
        row.parts
          .filter(({ attemptId, kind }) => attemptId === attempt.id && what.includes(kind))
          .map(({ units }) => units),
      )
    const given = -unitsOf(['return', 'return_outside'])
    const came = order === null ? 0n : BigInt(order.receivedMinor ?? '0')
    const isBoth = unitsOf(['return']) !== 0n && unitsOf(['return_outside']) !== 0n
    if (isBoth && given > came) wrong.push(`given back ${given}, and ${came} had come`)
  }
  return wrong
}

type Settlement = {
  readonly gross_usdc: string | null
  readonly fee_usdc: string | null
  readonly net_usdc: string | null
  readonly tx_hash: string | null
}
type Told = {
  readonly status: string
  readonly exception: string | null
  readonly amount_minor: number
  readonly currency: string
  readonly settlement: Settlement
}
type Event = { readonly type: string; readonly object: Told }

/** Whoever closes a payment goes by what the partners answer to it: their money is not news after the end. */
export async function checkClosing({ shop, row, notes }: Facts): Promise<string[]> {
  const ends = ['payment.canceled', 'payment.expired'].flatMap((kind) => notes.get(kind) ?? [])
  const { rows } = await shop.db.query('select attempt_id, min(at) as at from part where payment_id = $1 group by 1', [
    row.payment.id,
  ])
  const firstMoney = rows as { attempt_id: string; at: Date }[]
  return ends.flatMap((end) => {
    const heard = shop.troubles.heardPaidBy(end)
    const late = firstMoney.filter(({ attempt_id, at }) => heard.includes(attempt_id) && at.getTime() > end)
    return late.map(() => 'closed, and its partner had said that it was paid')
  })
}

/** What the merchant reads that it has received and is charged. */
function checkAmounts(events: readonly Event[], paidOut: string | null): string[] {
  return events.flatMap(({ type, object: { status, settlement } }) => {
    const { fee_usdc: fee, net_usdc: net, tx_hash: txHash } = settlement
    if (status === 'refunded' && txHash === null && (fee !== null || net !== null))
      return [`${type} names a fee of ${fee} and a net of ${net}, and nothing was paid out`]
    const isPaid = paidOut !== null && net === formatUsdc(paidOut)
    return status === 'succeeded' && !isPaid ? [`${type} names a net of ${net}, and ${paidOut} was paid out`] : []
  })
}

/** The price is what was asked for, and the amounts are those of the sale that is paid out, at the locked rate. */
function checkPrices(events: readonly Event[], { payment, sales }: Facts['row']): string[] {
  const micro = (usdc: string | null) => BigInt((usdc ?? '0').replace('.', ''))
  return events.flatMap(({ type, object: { amount_minor: minor, currency, status, settlement } }) => {
    const { gross_usdc: gross, fee_usdc: fee, net_usdc: net } = settlement
    if (String(minor) !== payment.amount.minor || currency !== payment.amount.currency)
      return [`${type} names a price of ${minor} ${currency}`]
    if (micro(gross) !== micro(fee) + micro(net)) return [`${type}: ${gross} is not ${fee} and ${net}`]
    const isOfSale = sales.some((sale) => sale.gross === micro(gross))
    return status === 'succeeded' && !isOfSale ? [`${type} names ${gross}, and nothing was sold for that`] : []
  })
}

/** The exception that the merchant reads agrees with what the partners hold. */
async function checkException({ shop, row }: Facts): Promise<string[]> {
  const { exception, status, paidAttemptId, confirmed, usdc } = row.payment
  const own = row.attempts.find(({ id }) => id === paidAttemptId)
  if (own === undefined || confirmed === null || usdc === null || status !== 'succeeded') return []
  const [asked, received] = [BigInt(own.asked.minor), BigInt(confirmed.minor)]
  if (received > asked && exception === null)
    return [`${received} of ${asked} came, and the merchant reads nothing of it`]
  if (received * 100n < asked * 99n && exception === null)
    return ['too little was settled, and the merchant reads nothing']
  if (received === asked && (exception === 'underpaid' || exception === 'overpaid'))
    return [`exactly the price came, and the merchant reads ${exception}`]
  for (const attempt of await attemptsOf(shop)) {
    const order = attempt.id === paidAttemptId ? null : await orderOf(shop, attempt)
    const isThere = order?.status === 'paid' && BigInt(order.receivedMinor ?? '0') > 0n
    const isKnown = row.parts.some(({ attemptId, state }) => attemptId === attempt.id && state === 'surplus')
    if (isThere && isKnown && exception === null) return ['the buyer paid twice, and the merchant reads nothing of it']
  }
  return []
}

/** What had been closed is not open to a buyer again; what had expired is so for a moment alone, and then expires. */
async function checkClosedAgain({ shop, row }: Pick<Facts, 'shop' | 'row'>): Promise<string[]> {
  const { rows } = await shop.db.query(
    `select o.from_status as before from (
       select id, to_status, lead(to_status) over moves as next, lag(to_status) over moves as from_status,
         bool_or(to_status in ('canceled', 'failed')) over moves as was_closed
       from timeline_entry where payment_id = $1 and to_status is not null window moves as (order by id)) o
     where was_closed and to_status = 'pending' and next is distinct from 'canceled'`,
    [row.payment.id],
  )
  return rows.map(({ before }) => `closed before, and open again after ${before}`)
}

/** What the merchant was told agrees with the row. */
export async function checkEvents(facts: Facts): Promise<string[]> {
  const { shop, row, paidOut, incidents } = facts
  const { rows } = await shop.db.query(
    "select type, convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' as object from event where payment_id = $1 order by sequence",
    [row.payment.id],
  )
  const events = rows as Event[]
  const wrong: string[] = []
  const moves = events.filter(({ type }) => type !== 'payment.chargeback')
  const { status } = row.payment
  const last = moves.at(-1)
  if (isWebhookEventType(`payment.${status}`) && last?.type !== `payment.${status}`)
    wrong.push(`the row is ${status}, the merchant was told ${last?.type}`)
  for (const { type, object } of events)
    if (type !== 'payment.chargeback' && type !== `payment.${object.status}`)
      wrong.push(`${type} shows ${object.status}`)
  wrong.push(...checkAmounts(events, paidOut), ...checkPrices(events, row), ...(await checkException(facts)))
  for (const read of [row.payment, ...moves.map(({ object }) => object)]) {
    if (['settling', 'succeeded', 'refunded'].includes(read.status) && read.exception === 'verification_required')
      wrong.push(`${read.status}, and the merchant reads that the buyer is being checked`)
    if (isClosed(read.status as PaymentStatus) && read.exception === 'settlement_delayed')
      wrong.push(`${read.status}, and the merchant reads that the settlement is delayed`)
  }
  wrong.push(...(await checkClosedAgain({ shop, row })))
  const paid = events.filter(({ type }) => type === 'payment.succeeded').length
  if (paid > 1) wrong.push(`succeeded was told ${paid} times`)
  if (paid === 1 && paidOut === null) wrong.push('succeeded was told, and nothing was paid')
  if (incidents.includes('chargeback') !== events.some(({ type }) => type === 'payment.chargeback'))
    wrong.push('a chargeback and its event do not go together')
  // Money that was known, and that counts: the merchant must not read that there is none.
  const empty = await shop.db.query(
    `select e.kind from timeline_entry e where e.payment_id = $1 and e.kind in ('payment.canceled', 'payment.expired')
       and exists (select 1 from timeline_entry before where before.payment_id = e.payment_id
         and before.kind = 'payment.money_came' and before.id < e.id)
       and exists (select 1 from part p where p.payment_id = e.payment_id and p.state = 'counted' and p.at <= e.at
         having sum(p.charge_minor) > 0)`,
    [row.payment.id],
  )
  for (const { kind } of empty.rows) wrong.push(`${kind}, and a part of the price had come`)
  // What was committed by a process that was killed then is announced by the sweep of overdue deliveries.
  const unsent = await shop.db.query(
    'select type from event e where payment_id = $1 and not exists (select 1 from delivery d where d.event_id = e.id)',
    [row.payment.id],
  )
  for (const { type } of unsent.rows) wrong.push(`${type} has no delivery`)
  return wrong
}

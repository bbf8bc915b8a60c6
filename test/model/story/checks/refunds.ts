import { isRefundOver, REFUND_FINALITY_MS } from '../../../../src/domain/refund/refund.ts'
import { CHAIN } from '../../fixture/chain.ts'
import { balance, type Facts, getRefundedUnits, type RefundFact } from './facts.ts'

/** Refunds: the buyer gets the money once, and each micro-USDC of the merchant has one owner. */

/** Less than this stays at an address. */
const DUST_MICRO = 10_000n
/** Clocks of processes can differ by this time. */
const CLOCKS_MS = 60_000

/** The partner is asked only for refunds whose USDC is there, and that have not given it back. */
export function checkAsked({ refunds }: Facts): string[] {
  return refunds.flatMap(({ refund: { status, fundFrom, requiredMicro, amount }, received, back, made }) => {
    if (made === null) return []
    // Before the settlement the partner gives back what it has then: some may have been reversed or added in between.
    const isOfAmount = fundFrom === 'payment' || made.minor === amount.minor
    const isPaid = received - back >= BigInt(requiredMicro)
    return [
      ...(isPaid ? [] : [`the partner has a refund, and ${received - back} of ${requiredMicro} are there`]),
      ...(isOfAmount ? [] : [`the partner refunds ${made.minor} instead of ${amount.minor}`]),
      ...(status === 'canceled' || status === 'expired' ? [`${status}, and the partner has the refund`] : []),
    ]
  })
}

/** Each refund is over, and is what its partner, its payment and the events show. */
export async function checkRefunds(facts: Facts): Promise<string[]> {
  const { testPayment, refunds, row } = facts
  const wrong = checkAsked(facts)
  for (const fact of refunds) {
    const { id, status } = fact.refund
    if (!isRefundOver(status)) wrong.push(`after all that time a refund is ${status}`)
    if (testPayment.server.running(id) !== null) wrong.push(`a refund is ${status}, and its workflow runs on`)
    const isMade = fact.made?.isDone === true
    const isOtherwise = isGivenOtherwise(facts, fact)
    if (status === 'succeeded' ? !isMade && !isOtherwise : isMade)
      wrong.push(`a refund is ${status}, and the partner has ${fact.made === null ? 'none' : 'one'}`)
    // A partner that has given everything back otherwise never ends the request.
    if (fact.made?.isDone === false && !isOtherwise) wrong.push(`a refund is ${status}, and is pending at the partner`)
  }
  const isOpen = refunds.some(({ refund }) => !isRefundOver(refund.status))
  if (!isOpen) wrong.push(...checkSums(facts))
  wrong.push(...checkEnds(facts), ...(await checkRefundEvents(facts)))
  const due = await testPayment.db.query('select 1 from refund where payment_id = $1 and due_at is not null', [
    row.payment.id,
  ])
  if (due.rows.length > 0 && !isOpen) wrong.push('a refund that is over is to be woken')
  return wrong
}

/** True if the partner has given an unsettled payment back without the request, or the buyer got it from elsewhere. */
const isGivenOtherwise = ({ orders }: Facts, { refund }: RefundFact): boolean =>
  refund.fundFrom === 'payment' &&
  orders.some(
    ({ attempt, order }) =>
      attempt.id === refund.attemptId && (attempt.outside !== '0' || order?.status === 'refunded'),
  )

/** Over all refunds and chargebacks no more goes back than was paid. */
function checkSums(facts: Facts): string[] {
  const { row, orders, refunds } = facts
  const { payment } = row
  const wrong: string[] = []
  for (const order of orders) {
    const { attempt } = order
    const refunded = getRefundedUnits(facts, order)
    if (BigInt(attempt.refunded) !== refunded || attempt.refunding !== '0')
      wrong.push(`${refunded} are refunded, the order has ${attempt.refunded}, and ${attempt.refunding} under way`)
  }
  const taken = refunds.reduce(
    (total, { refund }) =>
      refund.fundFrom === 'wallet' && refund.status === 'succeeded' ? total + BigInt(refund.amount.minor) : total,
    0n,
  )
  if (BigInt(payment.refundsMinor) !== taken)
    wrong.push(`${taken} are refunded, the payment has ${payment.refundsMinor}`)
  if (payment.refundsCount !== refunds.length)
    wrong.push(`${refunds.length} refunds, counted as ${payment.refundsCount}`)
  if (refunds.length > 0 && taken > BigInt(payment.confirmed?.minor ?? '0'))
    wrong.push(`${taken} are refunded, and ${payment.confirmed?.minor} were paid`)
  return wrong
}

/** A refund whose USDC was recorded in time does not end without asking the partner. */
function checkEnds({ testPayment, refunds }: Facts): string[] {
  return refunds.flatMap(({ refund: { id, status, requiredMicro, expiresAt, fundedAt } }) => {
    if (status === 'canceled' && fundedAt !== null) return ['a refund is canceled, and its USDC was there']
    if (status !== 'expired') return []
    const end = Date.parse(expiresAt) + REFUND_FINALITY_MS
    const before = testPayment.chain.transfers
      .filter((one) => one.refundId === id && one.kind === 'received' && (one.recordedAt ?? Infinity) + CLOCKS_MS < end)
      .reduce((total, { micro }) => total + micro, 0n)
    return before >= BigInt(requiredMicro) ? [`a refund has expired, and ${before} had arrived before`] : []
  })
}

/** The treasury has what succeeded refunds required, and the wallet everything else: each transfer was made once. */
export function checkUsdc(facts: Facts): string[] {
  const { refunds, testPayment, row } = facts
  const wallet = row.payment.destination.toLowerCase()
  const wrong = refunds.flatMap((fact) => checkAddress(fact))
  for (const { kind, recipient } of testPayment.chain.transfers) {
    if (kind === 'taken' && recipient !== CHAIN.treasury) wrong.push(`the USDC of a refund went to ${recipient}`)
    if (kind === 'back' && recipient.toLowerCase() !== wallet) wrong.push(`USDC went back to ${recipient}`)
  }
  const dust = DUST_MICRO * BigInt(refunds.length)
  const crypto = facts.orders.some(({ attempt }) => attempt.provider === 'crypto')
  const left = balance(facts, 'deposits', 'USDC')
  return crypto || left <= dust ? wrong : [...wrong, `${left} micro-USDC of refunds stay in the books`]
}

function checkAddress({ refund, received, taken, back }: RefundFact): string[] {
  const { status, requiredMicro, receivedMicro } = refund
  const due = status === 'succeeded' ? BigInt(requiredMicro) : 0n
  const wrong: string[] = []
  if (received !== BigInt(receivedMicro)) wrong.push(`${received} arrived for a refund, the row has ${receivedMicro}`)
  if (taken > due || due - taken >= DUST_MICRO) wrong.push(`${status}: the treasury has ${taken} instead of ${due}`)
  const rest = received - due
  if (back > rest || rest - back >= DUST_MICRO) wrong.push(`${status}: ${back} went back instead of ${rest}`)
  return wrong
}

/** The merchant learns each step once, in its order. */
async function checkRefundEvents({ testPayment, refunds, row }: Facts): Promise<string[]> {
  const { rows } = await testPayment.db.query(
    `select type, convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' ->> 'id' as id,
       exists (select 1 from delivery d where d.event_id = e.id) as delivered
     from event e where payment_id = $1 and type like 'refund.%' order by sequence`,
    [row.payment.id],
  )
  return refunds.flatMap(({ refund }) => {
    const events = rows.filter(({ id }) => id === refund.id)
    const got = events.map(({ type }) => type).join(' ')
    const expected = [
      ...((refund.fundFrom === 'wallet' ? refund.place : refund.askedAt) === null ? [] : ['refund.created']),
      ...(refund.fundedAt === null ? [] : ['refund.funded']),
      ...(isRefundOver(refund.status) ? [`refund.${refund.status}`] : []),
    ].join(' ')
    return [
      ...(got === expected ? [] : [`the merchant received "${got}" of a refund that is ${refund.status}`]),
      ...(events.every(({ delivered }) => delivered === true) ? [] : ['an event of a refund has no delivery']),
    ]
  })
}

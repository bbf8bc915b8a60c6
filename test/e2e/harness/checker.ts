import pg from 'pg'
import { TREASURY_START } from '../../../scripts/system/prepare.ts'
import type { SystemInfo } from '../../../scripts/system.ts'
import { chainFacts } from './chain-facts.ts'
import { inboxFacts } from './inbox-facts.ts'
import { partnerFacts } from './partner-facts.ts'
import { type RefundRow, rowFacts } from './row-facts.ts'

/**
 * The independent checker: reads the partners' journals, the chain's logs, the merchant's inbox and Postgres, each with
 * its own tools and none of the service's code, and compares them payment by payment.
 */

export type Subject = { readonly id: string; readonly checkout_url: string }

export type Watched = { readonly info: SystemInfo; readonly sandboxUrl: string }

export type Verdict = {
  /** The differences, in words; empty if there are none. */
  readonly problems: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

/**
 * Every payment must have been paid once, and settled once, to the micro-USDC, or given back whole before; each of its
 * refunds must be over, with the partner as with the USDC; and each must be announced under one id.
 */
export async function checkSucceeded({ info, sandboxUrl }: Watched, subjects: readonly Subject[]): Promise<Verdict> {
  const client = new pg.Client({ connectionString: info.database_url })
  await client.connect()
  try {
    const rows = await rowFacts(client)
    const [partner, chain, inbox] = await Promise.all([
      partnerFacts(sandboxUrl),
      chainFacts(info, rows.treasury),
      inboxFacts(info),
    ])
    const facts = { rows, partner, chain, inbox }
    const problems = [...subjects.flatMap((subject) => findProblems(subject, facts)), ...booksProblems(facts)]
    const refunds = listRefunds(facts).filter(isGiven)
    const figures = {
      payments: subjects.length,
      transfers: chain.settlements.length,
      events: rows.events.filter(({ type }) => type === 'payment.succeeded').length,
      deliveries: inbox.deliveries.length,
      repeated_deliveries: inbox.deliveries.length - new Set(inbox.deliveries.map(({ eventId }) => eventId)).size,
      attempts: partner.orders.length,
      refunds: refunds.length,
      refunds_before_settlement: refunds.filter(({ fundFrom }) => fundFrom === 'payment').length,
      ledger_entries: rows.ledgerEntries,
    }
    return { problems, figures }
  } finally {
    await client.end()
  }
}

type Facts = {
  readonly rows: Awaited<ReturnType<typeof rowFacts>>
  readonly partner: Awaited<ReturnType<typeof partnerFacts>>
  readonly chain: Awaited<ReturnType<typeof chainFacts>>
  readonly inbox: Awaited<ReturnType<typeof inboxFacts>>
}

const isGiven = ({ status }: RefundRow): boolean => status === 'succeeded'

const listRefunds = ({ rows }: Facts): RefundRow[] => [...rows.payments.values()].flatMap(({ refunds }) => refunds)

type Say = (condition: boolean, problem: string) => string[]

function findProblems({ id, checkout_url: checkoutUrl }: Subject, facts: Facts): string[] {
  const { rows, partner, chain, inbox } = facts
  const say: Say = (condition, problem) => (condition ? [] : [`${id}: ${problem}`])
  const row = rows.payments.get(id)
  if (row === undefined) return [`${id}: no row, although its creation was answered`]
  const paid = partner.orders.filter(
    ({ returnUrl, status }) => returnUrl === checkoutUrl && ['paid', 'refunded'].includes(status),
  )
  const given = row.refunds.filter(isGiven)
  const isGivenBack = given.some(({ fundFrom }) => fundFrom === 'payment')
  const end = isGivenBack ? 'refunded' : 'succeeded'
  const fills = partner.fills.filter((fill) => fill.key.startsWith(id))
  const settled = chain.settlements.filter((settlement) => settlement.nonce === chain.deriveNonce(id))
  const events = rows.events.filter((event) => event.paymentId === id && event.type === `payment.${end}`)
  const others = rows.events.filter(
    (event) => event.paymentId === id && ['payment.refunded', 'payment.succeeded'].includes(event.type),
  )
  const delivered = inbox.deliveries.filter(
    (delivery) => delivery.paymentId === id && delivery.type === events[0]?.type,
  )
  const { gross, fee, net } = row
  return [
    say(row.status === end, `is ${row.status}`),
    say(paid.length === 1, `${paid.length} partner orders are paid`),
    refundProblems(say, row.refunds, paid[0]),
    say(countPaid(paid[0]) === row.confirmedMinor, `the partner received ${countPaid(paid[0])}`),
    // Money may be sold, and its payout voided, before it goes back.
    say(fills.length === 1 || (isGivenBack && fills.length === 0), `${fills.length} conversions`),
    say(
      fills.every(({ minor }) => minor === row.confirmedMinor),
      'a conversion of another amount',
    ),
    say(isGivenBack || (gross !== null && net !== null), 'no USDC'),
    say(gross === null || gross === (fee ?? 0n) + (net ?? 0n), `${gross} is not ${fee} + ${net}`),
    say(gross === null || fee === (gross * 45n) / 1000n, `a fee of ${fee} from ${gross}`),
    say(settled.length === (isGivenBack ? 0 : 1), `${settled.length} transfers`),
    say(
      settled.every((one) => one.micro === net && one.to === row.destination),
      'a transfer of another amount or to another wallet',
    ),
    say((settled[0]?.txHash ?? null) === row.txHash, 'the recorded transaction is another one'),
    say(events.length === 1 && others.length === 1, `${others.length} events of its end`),
    say(countEvents(facts, id, 'refund.succeeded') === given.length, 'a refund was not announced once'),
    say(
      delivered.some(({ status }) => status >= 200 && status < 300),
      'no delivery was taken',
    ),
    say(
      delivered.every(({ eventId }) => eventId === events[0]?.id),
      'a delivery under another id',
    ),
    say(new Set(delivered.map(({ body }) => body)).size <= 1, 'deliveries with different bytes'),
    say(
      delivered.every(({ authentic }) => authentic),
      'a delivery with a wrong signature',
    ),
    say(row.way === null, `an impossible way: ${row.way}`),
  ].flat()
}

type Order = Facts['partner']['orders'][number]

const sumMinor = (parts: readonly { readonly minor: string }[]): bigint =>
  parts.reduce((sum, { minor }) => sum + BigInt(minor), 0n)

const listDone = (order: Order | undefined): Order['refunds'] => (order?.refunds ?? []).filter(({ isDone }) => isDone)

/** Returns what the partner has and what it gave back. A refunded order still names its last sum. */
function countPaid(order: Order | undefined): string {
  const left = order?.status === 'paid' ? BigInt(order.receivedMinor ?? '0') : 0n
  return (left + sumMinor(listDone(order))).toString()
}

/** The partner has given back each refund that succeeded, once, and nothing else. */
function refundProblems(say: Say, refunds: readonly RefundRow[], order: Order | undefined): string[] {
  const done = listDone(order)
  return [
    ...refunds.flatMap(({ id, status, key, minor }) => [
      ...say(['succeeded', 'failed', 'canceled', 'expired'].includes(status), `${id} is ${status}`),
      ...say(
        done.filter((each) => each.key === key && each.minor === minor).length === (status === 'succeeded' ? 1 : 0),
        `${id} is ${status}, and the partner has given back ${done.map((each) => `${each.key} ${each.minor}`).join()}`,
      ),
    ]),
    ...say(sumMinor(done) === sumMinor(refunds.filter(isGiven)), `the partner has given back ${sumMinor(done)}`),
  ]
}

const countEvents = ({ rows }: Facts, paymentId: string, type: string): number =>
  rows.events.filter((event) => event.paymentId === paymentId && event.type === type).length

/** The treasury has taken the required USDC of each refund that succeeded, and nothing of any other. */
function sweepProblems(facts: Facts): string[] {
  return listRefunds(facts).flatMap(({ id, status, address, requiredMicro }) => {
    const swept = facts.chain.received.filter(({ from }) => from === address)
    const taken = swept.reduce((sum, { micro }) => sum + micro, 0n)
    const due = status === 'succeeded' ? requiredMicro : 0n
    return taken === due ? [] : [`the treasury has ${taken} micro-USDC of ${id}, and ${due} are due`]
  })
}

/** The books and the chain as a whole: nothing except the payments and their refunds. */
function booksProblems(facts: Facts): string[] {
  const { rows, chain } = facts
  const problems = [...rows.problems, ...sweepProblems(facts)]
  const addresses = new Set(listRefunds(facts).map(({ address }) => address))
  const topUps = chain.received.filter(({ from }) => !addresses.has(from ?? null))
  const nonces = new Set([...rows.payments.keys()].map((id) => chain.deriveNonce(id)))
  for (const { nonce, txHash } of chain.settlements)
    if (!nonces.has(nonce)) problems.push(`the treasury paid in ${txHash} for no payment`)
  if (chain.paidOut !== chain.settlements.reduce((sum, { micro }) => sum + micro, 0n))
    problems.push('USDC left the treasury without an authorization')
  const unbooked = topUps.filter(({ reference }) => !rows.topUps.has(reference))
  // The play money of the first start may have arrived before the books were opened.
  const opening = unbooked.filter(({ micro }) => micro === BigInt(TREASURY_START)).slice(0, 1)
  if (unbooked.length > opening.length) problems.push(`${unbooked.length - opening.length} top-ups are not booked`)
  const opened = opening.reduce((sum, { micro }) => sum + micro, 0n)
  if (chain.treasuryBalance !== rows.treasuryBalance + opened)
    problems.push(`the treasury has ${chain.treasuryBalance}, the ledger says ${rows.treasuryBalance + opened}`)
  return problems
}

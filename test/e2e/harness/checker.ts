import pg from 'pg'
import { TREASURY_START } from '../../../scripts/system/prepare.ts'
import type { SystemInfo } from '../../../scripts/system.ts'
import { chainFacts } from './chain-facts.ts'
import { inboxFacts } from './inbox-facts.ts'
import { partnerFacts } from './partner-facts.ts'
import { rowFacts } from './row-facts.ts'

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

/** Every payment must have been paid once, settled once, to the micro-USDC, and announced under one id. */
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
    const figures = {
      payments: subjects.length,
      transfers: chain.settlements.length,
      events: rows.events.filter(({ type }) => type === 'payment.succeeded').length,
      deliveries: inbox.deliveries.length,
      repeated_deliveries: inbox.deliveries.length - new Set(inbox.deliveries.map(({ eventId }) => eventId)).size,
      attempts: partner.orders.length,
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

function findProblems({ id, checkout_url: checkoutUrl }: Subject, facts: Facts): string[] {
  const { rows, partner, chain, inbox } = facts
  const say = (condition: boolean, problem: string): string[] => (condition ? [] : [`${id}: ${problem}`])
  const row = rows.payments.get(id)
  if (row === undefined) return [`${id}: no row, although its creation was answered`]
  const paid = partner.orders.filter((order) => order.returnUrl === checkoutUrl && order.status === 'paid')
  const fills = partner.fills.filter((fill) => fill.key.startsWith(id))
  const settled = chain.settlements.filter((settlement) => settlement.nonce === chain.deriveNonce(id))
  const events = rows.events.filter((event) => event.paymentId === id && event.type === 'payment.succeeded')
  const delivered = inbox.deliveries.filter(
    (delivery) => delivery.paymentId === id && delivery.type === events[0]?.type,
  )
  const { gross, fee, net } = row
  return [
    say(row.status === 'succeeded', `is ${row.status}`),
    say(paid.length === 1, `${paid.length} partner orders are paid`),
    say(paid[0]?.receivedMinor === row.confirmedMinor, `the partner received ${paid[0]?.receivedMinor}`),
    say(fills.length === 1 && fills[0]?.minor === row.confirmedMinor, `${fills.length} conversions`),
    say(gross !== null && fee !== null && net !== null && gross === fee + net, `${gross} is not ${fee} + ${net}`),
    say(gross === null || fee === (gross * 45n) / 1000n, `a fee of ${fee} from ${gross}`),
    say(settled.length === 1, `${settled.length} transfers`),
    say(
      settled.every((one) => one.micro === net && one.to === row.destination),
      'a transfer of another amount or to another wallet',
    ),
    say(settled[0]?.txHash === row.txHash, 'the recorded transaction is another one'),
    say(events.length === 1, `${events.length} success events`),
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

/** The books and the chain as a whole: nothing except the payments. */
function booksProblems({ rows, chain }: Facts): string[] {
  const problems = [...rows.problems]
  const nonces = new Set([...rows.payments.keys()].map((id) => chain.deriveNonce(id)))
  for (const { nonce, txHash } of chain.settlements)
    if (!nonces.has(nonce)) problems.push(`the treasury paid in ${txHash} for no payment`)
  if (chain.paidOut !== chain.settlements.reduce((sum, { micro }) => sum + micro, 0n))
    problems.push('USDC left the treasury without an authorization')
  const unbooked = chain.topUps.filter(({ reference }) => !rows.topUps.has(reference))
  // The play money of the first start may have arrived before the books were opened.
  const opening = unbooked.filter(({ micro }) => micro === BigInt(TREASURY_START)).slice(0, 1)
  if (unbooked.length > opening.length) problems.push(`${unbooked.length - opening.length} top-ups are not booked`)
  const opened = opening.reduce((sum, { micro }) => sum + micro, 0n)
  if (chain.treasuryBalance !== rows.treasuryBalance + opened)
    problems.push(`the treasury has ${chain.treasuryBalance}, the ledger says ${rows.treasuryBalance + opened}`)
  return problems
}

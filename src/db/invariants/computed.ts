import { z } from 'zod'
import { many, sql, type Tx } from '../db.ts'
import { readPayments } from '../payments/payments.ts'
import * as booksAreThePositions from './books_are_the_positions.ts'
import type { Computed, Difference, Invariant, Question } from './invariant.ts'
import * as paymentIsAsComputed from './payment_is_as_computed.ts'

/** The invariants that compute with the domain's rules: each payment is read once for all of them. */

const FILES: Readonly<Record<string, Computed>> = {
  books_are_the_positions: booksAreThePositions,
  payment_is_as_computed: paymentIsAsComputed,
}

export const COMPUTED: readonly Invariant[] = Object.entries(FILES).map(([name, { RULE, TODO }]) => ({
  name,
  rule: RULE,
  todo: TODO,
}))

/** Payments that are computed without a pause for other work of the process: that takes 50 milliseconds. */
const TOGETHER = 100

export const COMPUTING: Question = {
  about: Object.keys(FILES),
  isOfPayments: true,
  async ask(tx, payments) {
    const differences: Difference[] = []
    for (let at = 0; at < payments.length; at += TOGETHER)
      differences.push(...(await compareSome(tx, payments.slice(at, at + TOGETHER))))
    return differences
  },
}

async function compareSome(tx: Tx, payments: readonly string[]): Promise<Difference[]> {
  const booked = await readBooks(tx, payments)
  const states = await readPayments(tx, payments)
  return states.flatMap((state) => {
    const subject = state.payment.id
    const books = booked.get(subject) ?? new Map<string, bigint>()
    return Object.entries(FILES).flatMap(([invariant, { compare }]) => {
      const difference = compare({ state, books })
      return difference === null ? [] : [{ invariant, subject, difference }]
    })
  })
}

/** Deposits, sweeps and what refunds took of them are in no position. */
const OF_THE_CHAIN = ['deposited', 'swept', 'returned', 'refund_taken']

const lineRow = z.object({ payment_id: z.string(), key: z.string(), units: z.string().transform(BigInt) })

async function readBooks(tx: Tx, payments: readonly string[]): Promise<Map<string, Map<string, bigint>>> {
  const rows = await many(
    tx,
    lineRow,
    sql`select t.payment_id, e.account || ' ' || e.asset as key, sum(e.amount)::text as units
        from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
        where t.payment_id = any(${[...payments]}) and t.kind <> all(${OF_THE_CHAIN}) group by 1, 2`,
  )
  const books = new Map<string, Map<string, bigint>>()
  for (const { payment_id: id, key, units } of rows) books.set(id, (books.get(id) ?? new Map()).set(key, units))
  return books
}

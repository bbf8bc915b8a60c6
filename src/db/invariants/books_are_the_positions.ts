import { z } from 'zod'
import { computePositions, listLinesBetween } from '../../domain/payment/funds/positions.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import { many, sql, type Tx } from '../db.ts'
import { readPayments } from '../payments/payments.ts'
import type { Difference } from './invariant.ts'

export const RULE = 'The ledger has of a payment what its orders, its sales and its payout make of it.'
export const TODO =
  'A change of the payment was not booked, or booked otherwise. Compare its timeline with its bookings, and book the difference that is named.'

/** Deposits and sweeps are facts of the chain, which no position has. */
const OF_THE_CHAIN = ['deposited', 'swept']

export async function find(tx: Tx, payments: readonly string[]): Promise<Difference[]> {
  const booked = await readBooks(tx, payments)
  return (await readPayments(tx, payments)).flatMap((state) => {
    const { id } = state.payment
    const lines = listLinesBetween(booked.get(id) ?? new Map(), computePositions(toFunds(state)))
    const missing = lines.map(({ account, asset, amount }) => `${amount} of ${account} ${asset}`)
    return missing.length === 0 ? [] : [{ subject: id, difference: `the ledger lacks ${missing.join(', ')}` }]
  })
}

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

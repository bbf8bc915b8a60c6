import { z } from 'zod'
import type { Booking } from '../domain/ledger.ts'
import { execute, many, type Queryable, sql, type Tx } from './db.ts'

/** Books a fact once: false when it was booked before. The commit fails when the lines do not balance. */
export async function book(tx: Tx, booking: Booking, at: string): Promise<boolean> {
  if (booking.lines.length === 0) return false
  const lines = booking.lines.map((line, index) => ({ line: index, ...line }))
  const written = await execute(
    tx,
    sql`with made as (
          insert into ledger_transaction (kind, reference, payment_id, booked_at)
          values (${booking.kind}, ${booking.reference}, ${booking.paymentId}, ${at}::timestamptz)
          on conflict (kind, reference) do nothing returning id)
        insert into ledger_entry (transaction_id, line, account, asset, amount)
        select made.id, l.line, l.account, l.asset, l.amount
        from made, jsonb_to_recordset(${JSON.stringify(lines)}::jsonb)
          as l(line int, account text, asset text, amount numeric)`,
  )
  return written > 0
}

/** Whether the fact is in the books. */
export async function isBooked(tx: Tx, kind: Booking['kind'], reference: string): Promise<boolean> {
  const found = await execute(
    tx,
    sql`select 1 from ledger_transaction where kind = ${kind} and reference = ${reference}`,
  )
  return found === 1
}

const balance = z.object({ account: z.string(), asset: z.string(), amount: z.string() })

/** The balance of every account, in the smallest unit of each asset. Debits are positive. */
export function readBalances(db: Queryable): Promise<z.infer<typeof balance>[]> {
  return many(
    db,
    balance,
    sql`select account, asset, sum(amount)::text as amount from ledger_entry group by account, asset order by 1, 2`,
  )
}

/** Transactions that do not balance in some asset, with the excess. The database refuses them, so there is none. */
export function findImbalances(db: Queryable): Promise<{ transaction_id: string; asset: string; amount: string }[]> {
  return many(
    db,
    z.object({ transaction_id: z.string(), asset: z.string(), amount: z.string() }),
    sql`select transaction_id::text, asset, sum(amount)::text as amount from ledger_entry
        group by transaction_id, asset having sum(amount) <> 0`,
  )
}

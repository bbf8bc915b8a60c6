import { z } from 'zod'
import type { Booking } from '../domain/ledger.ts'
import { execute, many, type Queryable, type Statement, sql, type Tx } from './db.ts'

/** Books a fact once. Returns false if it was booked before. Throws if the lines do not balance. */
export async function book(tx: Tx, booking: Booking, at: string): Promise<boolean> {
  if (booking.lines.length === 0) return false
  return (await execute(tx, bookedWith(sql`select 1`, booking, at))) > 0
}

export async function isBooked(tx: Tx, { kind, reference }: Pick<Booking, 'kind' | 'reference'>): Promise<boolean> {
  return (
    (await execute(tx, sql`select 1 from ledger_transaction where (kind, reference) = (${kind}, ${reference})`)) > 0
  )
}

/** Throws if the lines of one do not balance. */
export async function bookAll(tx: Tx, bookings: readonly Booking[], at: string): Promise<void> {
  if (bookings.length === 0) return
  const facts = bookings.filter(({ lines }) => lines.length > 0)
  const given = facts.map(({ kind, reference, paymentId }) => ({ kind, reference, paymentId }))
  // Keyed by fact, so that its lines are looked up: a join would compare each fact with every line.
  const lines = Object.fromEntries(
    facts.map((fact) => [
      `${fact.kind} ${fact.reference}`,
      fact.lines.map((line, index) => ({ line: index, ...line })),
    ]),
  )
  await execute(
    tx,
    sql`with
      -- In one order everywhere, so that no two statements wait for each other.
      given as (select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        as f(kind text, reference text, "paymentId" text) order by kind, reference),
      made as (
        insert into ledger_transaction (kind, reference, payment_id, booked_at)
        select kind, reference, "paymentId", ${at}::timestamptz from given
        on conflict (kind, reference) do nothing returning id, kind, reference)
      insert into ledger_entry (transaction_id, line, account, asset, amount)
      select made.id, l.line, l.account, l.asset, l.amount
      from made, jsonb_to_recordset(${JSON.stringify(lines)}::jsonb -> (made.kind || ' ' || made.reference))
        as l(line int, account text, asset text, amount numeric)`,
  )
}

/**
 * Returns bookings as parts of a larger statement, whose part `done` has a row if they are to be made. The statement
 * fails if a booking was made before, or if the lines of one do not balance.
 */
export function bookedParts(bookings: readonly Booking[], at: string): Statement {
  const facts = bookings.map(({ lines, ...fact }) => ({
    ...fact,
    lines: lines.map((line, index) => ({ line: index, ...line })),
  }))
  return sql`given_booking as (
      select * from jsonb_to_recordset(${JSON.stringify(facts)}::jsonb)
        as f(kind text, reference text, "paymentId" text, lines jsonb), done),
    booked as (
      insert into ledger_transaction (kind, reference, payment_id, booked_at)
      select kind, reference, "paymentId", ${at}::timestamptz from given_booking order by kind, reference
      returning id, kind, reference),
    entered as (
      insert into ledger_entry (transaction_id, line, account, asset, amount)
      select booked.id, l.line, l.account, l.asset, l.amount from booked join given_booking using (kind, reference),
        jsonb_to_recordset(lines) as l(line int, account text, asset text, amount numeric))`
}

/** Returns the booking as a part of a larger statement: it books nothing if `source` returns no row. */
export function bookedWith(source: Statement, booking: Booking, at: string): Statement {
  const lines = booking.lines.map((line, index) => ({ line: index, ...line }))
  return sql`with
    source as (${source}),
    -- The kind and the reference are the identity of the fact.
    made as (
      insert into ledger_transaction (kind, reference, payment_id, booked_at)
      select ${booking.kind}, ${booking.reference}, ${booking.paymentId}, ${at}::timestamptz from source
      on conflict (kind, reference) do nothing returning id)
    insert into ledger_entry (transaction_id, line, account, asset, amount)
    select made.id, l.line, l.account, l.asset, l.amount
    from made, jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as l(line int, account text, asset text, amount numeric)`
}

const balance = z.object({ account: z.string(), asset: z.string(), amount: z.string() })

/** Returns the balance of every account, in the smallest unit of each asset. Debits are positive. */
export function readBalances(db: Queryable): Promise<z.infer<typeof balance>[]> {
  return many(
    db,
    balance,
    sql`select account, asset, sum(amount)::text as amount from ledger_entry group by account, asset order by 1, 2`,
  )
}

const imbalanceRow = z.object({ transaction_id: z.string(), asset: z.string(), amount: z.string() })

/** The database refuses transactions that do not balance, so there should be none. */
export function findImbalances(db: Queryable): Promise<{ transaction_id: string; asset: string; amount: string }[]> {
  return many(
    db,
    imbalanceRow,
    sql`select transaction_id::text, asset, sum(amount)::text as amount from ledger_entry
        group by transaction_id, asset having sum(amount) <> 0`,
  )
}

import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import type { Tx } from '../db.ts'

/**
 * A rule that must always hold between rows: a file for each. A file of SQL is one query, which returns what does not hold as
 * `subject` (a payment's id) and `difference` (for operators). `$1` are the ids of the payments that it is asked about; one
 * without `$1` is about the whole. Its first comment is the rule, and what an operator does when it is broken. A file of
 * TypeScript compares a payment with what the domain makes of it.
 */
export type Invariant = {
  /** The name of the file. */
  readonly name: string
  readonly rule: string
  readonly todo: string
}

/** A payment has one difference for each invariant, with everything that differs. */
export type Difference = { readonly invariant: string; readonly subject: string; readonly difference: string }

/** A question about one moment of the database. */
export type Question = {
  /** The names of the invariants that it asks about. */
  readonly about: readonly string[]
  /** False: it is asked once, and not for each page of payments. */
  readonly isOfPayments: boolean
  readonly ask: (tx: Tx, payments: readonly string[]) => Promise<Difference[]>
}

/** A payment with what the ledger has of it, by account and asset. */
export type Booked = { readonly state: PaymentWithAttempts; readonly books: ReadonlyMap<string, bigint> }

export type Computed = {
  readonly RULE: string
  readonly TODO: string
  /** Describes the difference; null: there is none. */
  readonly compare: (payment: Booked) => string | null
}

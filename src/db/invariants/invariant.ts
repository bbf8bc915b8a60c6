import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import type { Tx } from '../db.ts'

/**
 * A rule that must always hold between rows: one file for each. An SQL file is one query, which returns violations as
 * `subject` (a payment's id) and `difference` (for operators). `$1` are the ids of the payments to check; a query
 * without `$1` checks the whole database. Its first comment is the rule, and what an operator does if it is broken. A
 * TypeScript file compares a payment with what the domain computes of it.
 */
export type Invariant = {
  readonly name: string
  readonly rule: string
  readonly todo: string
}

/** A payment has one difference for each invariant, with all its deviations. */
export type Difference = { readonly invariant: string; readonly subject: string; readonly difference: string }

/** A query about one moment of the database. */
export type Question = {
  readonly about: readonly string[]
  /** False: it runs once, and not for each page of payments. */
  readonly isOfPayments: boolean
  readonly ask: (tx: Tx, payments: readonly string[]) => Promise<Difference[]>
}

export type Booked = { readonly state: PaymentWithAttempts; readonly books: ReadonlyMap<string, bigint> }

export type Computed = {
  readonly RULE: string
  readonly TODO: string
  /** Describes the difference; null: there is none. */
  readonly compare: (payment: Booked) => string | null
}

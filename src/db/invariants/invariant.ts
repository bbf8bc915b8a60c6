import type { Tx } from '../db.ts'

/**
 * What must always hold between rows: a file for each. A file of SQL is one query, which returns what does not hold as
 * `subject` (a payment's id) and `difference` (for operators). `$1` are the ids of the payments that it is asked about; one
 * without `$1` is about the whole. Its first comment is the rule, and what an operator does when it is broken.
 */
export type Invariant = {
  /** The name of the file. */
  readonly name: string
  readonly rule: string
  readonly todo: string
  /** False: it is asked once, and not for each page of payments. */
  readonly isOfPayments: boolean
  readonly find: (tx: Tx, payments: readonly string[]) => Promise<Difference[]>
}

/** Of one payment there is one difference for each invariant, with everything that differs. */
export type Difference = { readonly subject: string; readonly difference: string }

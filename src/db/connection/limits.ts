/** How long things in Postgres may take, in milliseconds. */

export type LimitOptions = {
  statementTimeoutMs?: number
  /** Without it a lock is waited for as long as a statement may take. */
  lockTimeoutMs?: number
  /** How long a transaction may ask nothing before Postgres ends it. */
  idleInTransactionMs?: number
}

/** As Postgres' settings; 0 is no limit. */
export type Limits = {
  readonly statement_timeout: number
  readonly idle_in_transaction_session_timeout: number
  readonly lock_timeout: number
}

export const limitsOf = ({ statementTimeoutMs, lockTimeoutMs, idleInTransactionMs }: LimitOptions): Limits => ({
  // A statement that takes longer is a bug or a lock; the caller's retry is better than a pool that is used up.
  statement_timeout: statementTimeoutMs ?? 15_000,
  // Our transactions ask again within milliseconds. A machine that is lost within one says nothing, and TCP gives up after two
  // hours: until then its locks would keep payouts of everybody from being signed, and deposits from being told.
  idle_in_transaction_session_timeout: idleInTransactionMs ?? 30_000,
  lock_timeout: lockTimeoutMs ?? 0,
})

/** A migration takes as long as its tables are large. */
export const NO_LIMITS: Limits = { statement_timeout: 0, idle_in_transaction_session_timeout: 0, lock_timeout: 0 }

/** For one transaction. */
export const settings = (limits: Limits): string =>
  Object.entries(limits)
    .map(([name, ms]) => `; set local ${name} = ${ms}`)
    .join('')

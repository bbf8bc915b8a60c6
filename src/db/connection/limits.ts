/** Time limits in Postgres, in milliseconds. */

export type LimitOptions = {
  statementTimeoutMs?: number
  /** Without it, a statement waits for a lock until its own limit. */
  lockTimeoutMs?: number
  /** Postgres ends a transaction that sends no statement for this time. */
  idleInTransactionMs?: number
}

/** The settings of Postgres; 0 is no limit. */
export type Limits = {
  readonly statement_timeout: number
  readonly idle_in_transaction_session_timeout: number
  readonly lock_timeout: number
}

export const toLimits = ({ statementTimeoutMs, lockTimeoutMs, idleInTransactionMs }: LimitOptions): Limits => ({
  // A longer statement is a bug or waits for a lock. The caller must try again, so that it does not use up the pool.
  statement_timeout: statementTimeoutMs ?? 15_000,
  // A transaction of this code sends its next statement within milliseconds. A machine that is lost during a
  // transaction does not close it, and TCP gives up after two hours. Until then its locks would stop all payouts and
  // deposits.
  idle_in_transaction_session_timeout: idleInTransactionMs ?? 30_000,
  lock_timeout: lockTimeoutMs ?? 0,
})

/** For migrations: the larger a table, the longer they take. */
export const NO_LIMITS: Limits = { statement_timeout: 0, idle_in_transaction_session_timeout: 0, lock_timeout: 0 }

export const settings = (limits: Limits): string =>
  Object.entries(limits)
    .map(([name, ms]) => `; set local ${name} = ${ms}`)
    .join('')

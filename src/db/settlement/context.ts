import type { Hex } from '../../domain/hex.ts'
import type { RecordedDeposit, ReturnedUsdc } from '../../domain/settlement/deposit.ts'
import type {
  BalanceDifference,
  GasSpent,
  Settlement,
  StoppedPayout,
  TreasuryMovement,
  VoidProof,
} from '../../domain/settlement/payout.ts'
import { type Db, execute, type Statement, sql, type Tx } from '../db.ts'

export type SettlementScope = { readonly livemode: boolean; readonly chainId: number; readonly token: Hex }

/**
 * The writes in the transaction that changes payouts. A hook that throws undoes only its own writes. `onStopped`
 * receives every new reason, `onResumed` each payout whose stop has ended automatically.
 */
export type SettlementHooks = {
  onSettled(tx: Tx, settlements: readonly Settlement[]): Promise<void>
  onStopped(tx: Tx, stopped: StoppedPayout): Promise<void>
  onResumed(tx: Tx, resumed: { ownerId: string }): Promise<void>
  onVoided(tx: Tx, proof: VoidProof): Promise<void>
  onDeposit(tx: Tx, deposit: RecordedDeposit): Promise<void>
  /** Receives each sweep back to a merchant, again after a reversal of finality. */
  onReturned(tx: Tx, returned: ReturnedUsdc): Promise<void>
  onTreasuryMovement(tx: Tx, movement: TreasuryMovement): Promise<void>
  /** The treasuries have more than the books; negative: less, which an operator has acknowledged. */
  onBalanceDifference(tx: Tx, difference: BalanceDifference): Promise<void>
  /** Gas of a final transaction without a settlement to share it: a sweep, an empty replacement, a refused batch. */
  onGas(tx: Tx, spent: GasSpent): Promise<void>
}

export type JournalContext = { readonly db: Db; readonly scope: SettlementScope; readonly hooks: SettlementHooks }

/** The payouts (alias `p`) that this engine handles. */
export const isInScope = ({ scope }: JournalContext): Statement =>
  sql`p.chain_id = ${scope.chainId} and p.token = ${scope.token} and p.livemode = ${scope.livemode}`

export type LeaseAsk = { readonly owner: string; readonly leaseMs: number }

export type FailedHook = { readonly ownerId: string; readonly error: Error }

/** Makes a change of exactly `rows` rows. Throws if it affects others, because the data differ from what was read. */
export async function change(
  tx: Tx,
  statement: Statement,
  expected: { readonly rows: number; readonly what: string },
): Promise<void> {
  const changed = await execute(tx, statement)
  if (changed !== expected.rows)
    throw new Error(`${expected.what}: ${changed} rows changed instead of ${expected.rows}`)
}

/**
 * Locks payments before anything is written to their payouts. A decision locks in this order, and would otherwise wait
 * for a payout whose hook waits for the payment. The order of ids keeps two such locks from blocking each other.
 * Releases of reserves need no lock: nothing else writes to their rows.
 */
export async function lockPaymentsFirst(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await execute(tx, sql`select 1 from payment where id = any(${[...ids]}) order by id for update`)
}

/** Runs the work in a transaction, and returns its result. A dry run does the same and rolls it back. */
export async function doOrTry<T>(db: Db, dryRun: boolean, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tried: { readonly answer: T }[] = []
  const onlyTried = new Error('only tried')
  try {
    return await db.transaction(async (tx) => {
      const answer = await work(tx)
      if (!dryRun) return answer
      tried.push({ answer })
      throw onlyTried
    })
  } catch (error) {
    const [last] = tried
    if (error !== onlyTried || last === undefined) throw error
    return last.answer
  }
}

/** Runs `work` under a savepoint. Returns null, or the failure after which everything that it did is undone. */
export async function attempt(tx: Tx, work: () => Promise<void>): Promise<Error | null> {
  await tx.query('savepoint hook')
  try {
    await work()
    await tx.query('release savepoint hook')
    return null
  } catch (failure) {
    await tx.query('rollback to savepoint hook')
    await tx.query('release savepoint hook')
    return failure instanceof Error ? failure : new Error(String(failure))
  }
}

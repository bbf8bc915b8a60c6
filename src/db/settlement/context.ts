import type { Hex } from '../../domain/hex.ts'
import type { RecordedDeposit } from '../../domain/settlement/deposit.ts'
import type {
  BalanceDifference,
  GasSpent,
  HoldReason,
  Settlement,
  TreasuryMovement,
  VoidProof,
} from '../../domain/settlement/payout.ts'
import { type Db, execute, type Statement, sql, type Tx } from '../db.ts'

/** Whose payouts an engine handles: one mode, one chain, one token. */
export type SettlementScope = { readonly livemode: boolean; readonly chainId: number; readonly token: Hex }

/**
 * What else is written in the transaction that changes payouts. A hook that throws undoes only its own payments.
 * `onHeld` learns every new reason, `onReleased` that a payout whose hold has ended automatically continues.
 */
export type SettlementHooks = {
  onSettled(tx: Tx, settlements: readonly Settlement[]): Promise<void>
  onHeld(tx: Tx, held: { paymentId: string; reason: HoldReason; detail: string }): Promise<void>
  onReleased(tx: Tx, released: { paymentId: string }): Promise<void>
  onVoided(tx: Tx, proof: VoidProof): Promise<void>
  /** A final transfer to the address of a payment. */
  onDeposit(tx: Tx, deposit: RecordedDeposit): Promise<void>
  onTreasuryMovement(tx: Tx, movement: TreasuryMovement): Promise<void>
  /** The treasuries hold more than the books say; negative: less, which an operator has acknowledged. */
  onBalanceDifference(tx: Tx, difference: BalanceDifference): Promise<void>
  /** Gas of a final transaction of ours that no settlement shares: a sweep, an empty replacement, a refused batch. */
  onGas(tx: Tx, spent: GasSpent): Promise<void>
}

export type JournalContext = { readonly db: Db; readonly scope: SettlementScope; readonly hooks: SettlementHooks }

/** The payouts (alias `p`) that this engine handles. */
export const ours = ({ scope }: JournalContext): Statement =>
  sql`p.chain_id = ${scope.chainId} and p.token = ${scope.token} and p.livemode = ${scope.livemode}`

/** Who asks for a lease, and for how long it holds unless renewed. */
export type LeaseAsk = { readonly owner: string; readonly leaseMs: number }

export type FailedHook = { readonly paymentId: string; readonly error: Error }

/** Makes a change that reaches exactly so many rows. Throws when it does not: what it rests on is not as it was read. */
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
 * Locks payments before anything is written to their payouts: a decision locks in this order, and would wait for a payout
 * whose hook waits for the payment. In the order of their ids, so that no two such locks wait for each other.
 */
export async function lockPaymentsFirst(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await execute(tx, sql`select 1 from payment where id = any(${[...ids]}) order by id for update`)
}

/** Does the work in a transaction, and answers what it answers. A dry run does the same and takes it back. */
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

/** Runs `work` under a savepoint: null, or the failure after which everything that it did is undone. */
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

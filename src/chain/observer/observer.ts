import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { isRecent, type SettlementDeps, watchedTreasuries } from '../context.ts'
import { createDepositScan } from '../deposits/scan.ts'
import { createBalanceWatch } from './balance.ts'
import { proveExpired } from './expired.ts'
import { createMinedWatch } from './mined.ts'
import { createReconciliation } from './reconcile.ts'
import { createScan } from './scan.ts'

/** Most payouts that are ended in one database transaction. */
const ENDED_AT_ONCE = 200
/** Of these transactions: one is prepared while another waits for the database, which settles a tenth more a second. */
const GROUPS_AT_ONCE = 2
/** Most deposits, and most movements of a treasury, that are told in one. */
const APPLIED_AT_ONCE = 500

/** While it is not known what there is to do, all of it is tried. */
const EVERYTHING = { pending: true, proven: true, sent: true, voiding: true }

/**
 * In milliseconds. Nodes that show no new block for so long may have stopped, and those of another engine may go on: Polygon
 * makes one every two seconds.
 */
const STILL_MS = 30_000

/**
 * The observer of one engine. In memory it keeps only which block it saw last; losing that does no harm.
 */
export function createObserver(deps: SettlementDeps) {
  const { journal, token, log, clock } = deps
  const { scanFinalized, isAnswered } = createScan(deps)
  let isHeard = true
  let newest = { number: -1, at: Number.NEGATIVE_INFINITY }
  const scanDeposits = createDepositScan(deps)
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const reconcile = createReconciliation(deps, scope)
  const balance = createBalanceWatch(deps, scope)
  const watchMined = createMinedWatch(deps, balance)

  async function applyPending(): Promise<void> {
    const { failed } = await journal.applyPending(APPLIED_AT_ONCE)
    for (const { error, ...place } of failed)
      log.error({ ...place, err: error }, 'a log is stored, but what it means could not be recorded; tried again')
  }

  /** Ends what is proved, group after group, until a group is not full. Answers how many payouts have ended. */
  async function applyGroups(): Promise<number> {
    let sum = 0
    for (let ended = ENDED_AT_ONCE; ended === ENDED_AT_ONCE; ) {
      const result = await journal.applyProven(ENDED_AT_ONCE)
      ended = result.ended
      sum += ended
      for (const { paymentId, error } of result.failed)
        log.error({ paymentId, err: error }, 'proved on chain, but recording it for the payment failed; tried again')
    }
    return sum
  }

  /** Several groups at the same time: each takes payouts that no other has locked. Throws the first failure when all are over. */
  async function applyProven(): Promise<number> {
    const results = await Promise.allSettled(Array.from({ length: GROUPS_AT_ONCE }, applyGroups))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return results.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0)
  }

  /** `seen`: the newest block that the round has shown. */
  function noteHeard(seen: number, isQuorum: boolean): void {
    const at = clock().getTime()
    if (seen > newest.number) newest = { number: seen, at }
    isHeard = isQuorum && isRecent(newest.at, at, STILL_MS)
  }

  return {
    /**
     * Whether a quorum of nodes said in the last round what is final, or what is new, and something lately was: finality may
     * stand still for all.
     */
    isAnswered: () => isHeard,

    /** Reads what came to the addresses of payments, and tells them. */
    async observeDeposits(lease: Lease, cursor: ChainCursor): Promise<void> {
      if (await scanDeposits(lease, cursor)) await applyPending()
    },

    /**
     * The parts do not wait for each other: what one cannot read now, another may. Throws the first failure. Answers how
     * many payouts have ended.
     */
    async observe(lease: Lease, start: ChainCursor): Promise<number> {
      let cursor = start
      let due = EVERYTHING
      let ended = 0
      let seen: number | null = null
      const failures: unknown[] = []
      const parts = [
        async () => void (cursor = await scanFinalized(lease, start)),
        async () => void (due = await journal.readDue()),
        async () => due.pending && applyPending(),
        async () => due.proven && void (ended = await applyProven()),
        () => reconcile(lease, cursor),
        async () => due.voiding && proveExpired(deps, lease, cursor),
        async () => void (seen = await watchMined(lease, { cursor, isSent: due.sent })),
        () => balance.compareFinal(lease, cursor, seen),
      ]
      for (const part of parts) await part().catch((error: unknown) => failures.push(error))
      noteHeard(Math.max(cursor.number, seen ?? 0), seen !== null || isAnswered())
      if (failures.length > 0) throw failures[0]
      return ended
    },
  }
}

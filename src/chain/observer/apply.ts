import type { SettlementDeps } from '../context.ts'
import { waitForAll } from './wait-for-all.ts'

/** Maximum number of payouts that are ended in one database transaction. */
const ENDED_AT_ONCE = 200
/**
 * Number of such transactions at the same time: one is prepared while another waits for the database. That settles a
 * tenth more a second.
 */
const GROUPS_AT_ONCE = 2
/** Maximum number of deposits, and of movements of a treasury, that are recorded in one. */
const APPLIED_AT_ONCE = 500

export function createApplier({ journal, log }: Pick<SettlementDeps, 'journal' | 'log'>) {
  async function applyPending(): Promise<void> {
    const { failed } = await journal.applyPending(APPLIED_AT_ONCE)
    for (const { error, ...place } of failed)
      log.error({ ...place, err: error }, 'a log is stored, but what it means could not be recorded; tried again')
  }

  /** Ends proved payouts, group after group, until a group is not full. Returns the number ended. */
  async function applyGroups(): Promise<number> {
    let sum = 0
    for (let ended = ENDED_AT_ONCE; ended === ENDED_AT_ONCE; ) {
      const result = await journal.applyProven(ENDED_AT_ONCE)
      ended = result.ended
      sum += ended
      for (const { ownerId, error } of result.failed)
        log.error({ ownerId, err: error }, 'proved on chain, but recording it for its owner failed; tried again')
    }
    return sum
  }

  /**
   * Runs several groups at the same time, unless one is known to suffice: each takes payouts that no other has locked.
   * Throws the first failure after all groups are done. `most`: the maximum number of proved payouts; null if it is not
   * known.
   */
  async function applyProven(most: number | null): Promise<number> {
    const groups = most === null || most > ENDED_AT_ONCE ? GROUPS_AT_ONCE : 1
    const ended = await waitForAll(Array.from({ length: groups }, applyGroups))
    return ended.reduce((sum, count) => sum + count, 0)
  }

  return { applyPending, applyProven }
}

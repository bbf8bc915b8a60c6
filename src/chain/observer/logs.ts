import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { readFound, type Scope, treasuryLogs } from './facts.ts'
import { createStall } from './stall.ts'

/** Maximum number of blocks in one query of logs: within most nodes' limits. */
const LOG_RANGE = 1000

/** Milliseconds for which one round reads logs: catching up must not starve the other parts. */
export const LOG_ROUND_MS = 10_000

/**
 * The number of blocks in one query: half as many after each query that fails, and twice as many after each that is
 * answered. A range that a node refuses is queried in halves anyway; this is for nodes that ask for fewer requests.
 */
export function createRange() {
  let blocks = LOG_RANGE
  return {
    size: (): number => blocks,
    note(isAnswered: boolean): void {
      blocks = isAnswered ? Math.min(LOG_RANGE, blocks * 2) : Math.max(1, Math.floor(blocks / 2))
    },
  }
}

/**
 * Reads the logs of the treasuries in final blocks into the journal. They show who moved what, which is needed if a
 * balance differs from the books, and from time to time. Throws if an unknown transfer could not be recorded.
 */
export function createLogReader(deps: SettlementDeps, scope: Scope) {
  const { rpc, journal, log } = deps
  const stall = createStall(deps, 'the reading of logs')
  const range = createRange()

  async function readRange(lease: Lease, fromBlock: number, toBlock: number): Promise<boolean> {
    const logs = await rpc
      .agreed((node) => treasuryLogs(node, scope, { fromBlock, toBlock }))
      .catch((error: unknown) => {
        range.note(false)
        throw error
      })
    range.note(logs !== null)
    if (logs === null) return false
    const [unknown, ...more] = await journal.recordLogs(lease, await readFound(deps, logs.value, scope.treasuries))
    if (unknown !== undefined)
      log.error({ transfer: unknown, others: more.length }, 'an unknown transfer left the treasury; all lanes pause')
    return true
  }

  /**
   * Reads logs up to the cursor, within the time of one round. Returns the last block read. The last `keep` blocks
   * before the cursor are read again the next time.
   */
  return async function readLogs(lease: Lease, cursor: ChainCursor, keep: number): Promise<number> {
    const until = performance.now() + LOG_ROUND_MS
    let read = cursor.logsNumber
    while (read < cursor.number && performance.now() < until) {
      const to = Math.min(cursor.number, read + range.size())
      if (!(await readRange(lease, read + 1, to))) {
        stall.persists(`no quorum shows the logs of block ${read + 1} and those after it`)
        return read
      }
      read = to
      const storedTo = Math.min(read, cursor.number - keep)
      if (storedTo > cursor.logsNumber) await journal.moveLogs(lease, storedTo)
    }
    stall.ends()
    return read
  }
}

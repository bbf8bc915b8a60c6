import { type ChainCursor, type Lease, REVERSAL_PAUSE } from '../../domain/settlement/payout.ts'
import { type SettlementDeps, watchedTreasuries } from '../context.ts'
import type { Block } from '../rpc/node.ts'
import { readFacts, shareGas, treasuryLogs } from './facts.ts'
import { createReach } from './reach.ts'
import { createSecondReading } from './second-reading.ts'

/** Most ranges read in one round, and for how many milliseconds: catching up must not starve the other parts. */
const RANGES_PER_ROUND = 10
const ROUND_MS = 10_000

/**
 * Reads the finalized blocks after the cursor into the journal, as far as a quorum of nodes agrees on them. Payouts are
 * settled and voided by what is stored here. Returns the new cursor. In memory it keeps only what was read twice.
 */
export function createScan(deps: SettlementDeps) {
  const again = createSecondReading()
  const reach = createReach()

  /** A failure changes nothing: the next round reads the same blocks. */
  async function readAgain(lease: Lease, cursor: ChainCursor): Promise<void> {
    const due = again.due(cursor)
    if (due === null) return
    const { from, to } = due
    const read = await reach.read(to - from + 1, (blocks) =>
      readRange(deps, lease, { from, to: from + blocks - 1, again: true }),
    )
    if (read !== null) again.done(read.number)
  }

  return async function scanFinalized(lease: Lease, start: ChainCursor): Promise<ChainCursor> {
    const { rpc, journal, log } = deps
    const final = await rpc.finalized()
    if (final === null || final.number <= start.number) return start
    const known = await rpc.agreed((node) => node.block(start.number))
    if (known === null) return start
    if (known.value.hash !== start.hash) {
      const reason = `${REVERSAL_PAUSE}${start.number} was ${start.hash} and is ${known.value.hash} now`
      log.error({}, `${reason}; all lanes pause`)
      await journal.pause({ reason, untilFinal: null })
      return start
    }
    let cursor = start
    const until = performance.now() + ROUND_MS
    for (let ranges = 0; ranges < RANGES_PER_ROUND && cursor.number < final.number; ranges++) {
      if (ranges > 0 && performance.now() > until) break
      const { number } = cursor
      const next = await reach.read(final.number - number, (blocks) =>
        readRange(deps, lease, { from: number + 1, to: number + blocks, final }),
      )
      if (next === null) break
      cursor = { ...cursor, ...next }
    }
    await readAgain(lease, cursor)
    return cursor
  }
}

/** Reads one range of blocks. Null when the nodes do not agree on it now. `final`: a block that is known already. */
async function readRange(
  deps: SettlementDeps,
  lease: Lease,
  range: { from: number; to: number; final?: Block; again?: boolean },
): Promise<Pick<ChainCursor, 'number' | 'hash'> | null> {
  const { rpc, journal, token, log } = deps
  const { from, to, final, again = false } = range
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const last = to === final?.number ? { value: final } : await rpc.agreed((node) => node.block(to))
  const logs = await rpc.agreed((node) => treasuryLogs(node, scope, { fromBlock: from, toBlock: to }))
  if (last === null || logs === null) return null
  const facts = await shareGas(deps, readFacts(logs.value, scope.treasuries))
  const { hash } = last.value
  const at = { at: deps.clock(), number: to, hash }
  const scan = { ...facts, ...at, treasuries: scope.treasuries, again, deposits: deps.deposits !== null }
  const [unknown, ...more] = await journal.recordFinalized(lease, scan)
  if (unknown !== undefined)
    log.error({ transfer: unknown, others: more.length }, 'an unknown transfer left the treasury; all lanes pause')
  return { number: to, hash }
}

import { type ChainCursor, type Lease, REVERSAL_PAUSE } from '../../domain/settlement/payout.ts'
import { type SettlementDeps, watchedTreasuries } from '../context.ts'
import type { Block } from '../rpc/node.ts'
import { readFacts, shareGas, treasuryLogs } from './facts.ts'
import { type Blocks, createReach } from './reach.ts'
import { createSecondReading } from './second-reading.ts'
import { createStall } from './stall.ts'

/**
 * Reads the finalized blocks after the cursor into the journal, as far as a quorum of nodes agrees on them. Payouts are
 * settled and voided by what is stored here. In memory it keeps only what was read twice, and how the last round went.
 */
export function createScan(deps: SettlementDeps) {
  const reach = createReach()
  const secondReach = createReach()
  const again = createSecondReading()
  const stall = createStall(deps, 'the reading of final blocks')
  let isAnswered = true

  /** A failure changes nothing: the next round reads the same blocks. */
  async function readAgain(lease: Lease, cursor: ChainCursor): Promise<void> {
    const due = again.due(cursor)
    if (due === null) return
    const read = await secondReach.readOn(due, (blocks) => readRange(deps, lease, { blocks, again: true }))
    for (const { number } of read) again.done(number)
  }

  /** Returns the new cursor. */
  async function scanFinalized(lease: Lease, start: ChainCursor): Promise<ChainCursor> {
    const { rpc, journal, log } = deps
    isAnswered = false
    const final = await rpc.finalized()
    // Nodes that are behind what was read before lead to nothing: those of another engine may be further.
    isAnswered = final !== null && final.number >= start.number
    if (final === null || final.number < start.number) {
      stall.goesOn(final === null ? 'no quorum says what is final' : `a quorum calls only block ${final.number} final`)
      return start
    }
    if (final.number === start.number) {
      stall.ends()
      return start
    }
    const known = await rpc.agreed((node) => node.block(start.number))
    isAnswered = known !== null
    if (known === null) {
      stall.goesOn(`no quorum says what block ${start.number} is`)
      return start
    }
    if (known.value.hash !== start.hash) {
      const reason = `${REVERSAL_PAUSE}${start.number} was ${start.hash} and is ${known.value.hash} now`
      log.error({}, `${reason}; all lanes pause`)
      await journal.pause(reason)
      return start
    }
    const open = { from: start.number + 1, to: final.number }
    const read = await reach.readOn(open, (blocks) => readRange(deps, lease, { blocks, final }))
    if (read.length > 0) stall.ends()
    else stall.goesOn(`no quorum shows the logs of block ${open.from} and those after it`)
    const cursor = { ...start, ...read.at(-1) }
    await readAgain(lease, cursor)
    return cursor
  }

  return {
    scanFinalized,
    /** Whether a quorum of nodes that is not behind answered in the last round. */
    isAnswered: () => isAnswered,
  }
}

/** Reads one range of blocks. Null when the nodes do not agree on it now. `final`: a block that is known already. */
async function readRange(
  deps: SettlementDeps,
  lease: Lease,
  range: { blocks: Blocks; final?: Block; again?: boolean },
): Promise<Pick<ChainCursor, 'number' | 'hash'> | null> {
  const { rpc, journal, token, log } = deps
  const { final, again = false } = range
  const { from, to } = range.blocks
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const last = to === final?.number ? { value: final } : await rpc.agreed((node) => node.block(to))
  const logs = await rpc.agreed((node) => treasuryLogs(node, scope, { fromBlock: from, toBlock: to }))
  if (last === null || logs === null) return null
  const { hash } = last.value
  const read = readFacts(logs.value, scope.treasuries)
  // Almost always. Who paid for them was asked then.
  if (again && (await journal.areStored(read))) return { number: to, hash }
  const facts = await shareGas(deps, read)
  const at = { at: deps.clock(), number: to, hash }
  const { limits } = deps.options
  const scan = { ...facts, ...at, treasuries: scope.treasuries, limits, again, deposits: deps.deposits !== null }
  const [unknown, ...more] = await journal.recordFinalized(lease, scan)
  if (unknown !== undefined)
    log.error({ transfer: unknown, others: more.length }, 'an unknown transfer left the treasury; all lanes pause')
  return { number: to, hash }
}

import type { ChainCursor, Lease } from '../../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../../context.ts'
import { NodeFailure } from '../../rpc/failure.ts'
import type { Scope } from '../facts.ts'
import { createStall } from '../stall.ts'
import { createHeadLogs, type View } from './logs.ts'
import { type Hashes, replacedBlocks, walkChain } from './walk.ts'

/**
 * In blocks: deeper than any reorganization that Polygon had before milestones (187). While finality stands still for longer
 * (17 minutes of blocks), the newest ones are watched, and what older ones have shown stays as it is.
 */
const MAX_WALK = 512

/**
 * Watches the blocks that are not final. Marks payouts seen there, as a hint for people and for the order of work: it
 * ends nothing. Pauses every lane as soon as a block shows a transfer out of a treasury that we did not authorize.
 */
export function createHeadWatch(deps: SettlementDeps, scope: Scope) {
  const { journal, rpc, log } = deps
  const logs = createHeadLogs(deps, scope)
  const stall = createStall(deps, 'the watch of blocks that are not final')
  let hashes: Hashes = new Map()

  /**
   * By a quorum: nothing proves the hash that a block calls its parent's, and payouts whose block has gone are sent again.
   * Asks nothing when the head follows on what is known. Null when there is no quorum now.
   */
  async function walk(cursor: ChainCursor): Promise<Hashes | null> {
    const { block: head } = await rpc.newest(cursor.number)
    if (head.number < cursor.number) return null
    const range = { base: Math.max(cursor.number, head.number - MAX_WALK), head }
    const agreed = await rpc.agreed(async (node) => [...(await walkChain(node, range, hashes))])
    return agreed && new Map(agreed.value)
  }

  /** Null when the chain changes just now, or there is no quorum for what it shows: the next round looks again. */
  async function look(cursor: ChainCursor): Promise<View | null> {
    const chain = await walk(cursor)
    if (chain === null) return null
    try {
      const readings = await logs.read(chain)
      return readings && { chain, readings }
    } catch (failure) {
      if (failure instanceof NodeFailure && failure.kind === 'refused') return null
      throw failure
    }
  }

  /**
   * `isMined`: payouts are marked as seen in blocks that may have left the chain. Answers the newest block that a quorum has
   * shown; null: it has shown none.
   */
  return async function watchHead(
    lease: Lease,
    { cursor, isMined }: { cursor: ChainCursor; isMined: boolean },
  ): Promise<number | null> {
    const seen = await look(cursor)
    if (seen === null) {
      stall.goesOn('no quorum shows all of them down to the last final one')
      return null
    }
    stall.ends()
    const { chain } = seen
    const facts = seen.readings.flatMap((reading) => reading.facts)
    const replaced = replacedBlocks(hashes, chain)
    if (replaced > 0) log.warn({ replaced }, 'the chain was reorganized')
    const paid = facts.flatMap(({ kind, authNonce, blockNumber, blockHash }) =>
      kind === 'out' && authNonce !== null ? [{ authNonce, blockNumber, blockHash }] : [],
    )
    const isQuiet = paid.length === 0 && !isMined
    // A head that is lower for a moment begins and ends below what the walk remembers.
    const numbers = [...chain.keys()]
    const newest = Math.max(...numbers)
    const unseen = { above: cursor.number, upTo: Math.min(...numbers) - 1, from: newest + 1 }
    const view = { seen: paid, chain: [...chain.values()], unseen }
    const { reverted } = isQuiet ? { reverted: 0 } : await journal.markMined(lease, view)
    if (reverted > 0) log.warn({ reverted }, 'payouts are no longer in the chain and go out again')
    // Stored last, so that after a failure the same blocks are read again.
    hashes = chain
    logs.keep(seen)
    return newest
  }
}

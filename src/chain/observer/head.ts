import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Block, RpcNode } from '../rpc/node.ts'
import { type Fact, readFacts, type Scope, treasuryLogs } from './facts.ts'
import { type Blocks, createReach } from './reach.ts'
import { createTransferWatch } from './transfers.ts'
import { type Hashes, replacedBlocks, unreadBlocks, walkChain } from './walk.ts'

/**
 * In blocks: deeper than any reorganization that Polygon had before milestones (187). While finality stands still for longer
 * (17 minutes of blocks), the newest ones are watched, and what older ones have shown stays as it is.
 */
const MAX_WALK = 512

/** The blocks above the cursor, and what those of them show whose logs were read now. */
type View = { readonly chain: Hashes; readonly read: Blocks; readonly facts: readonly Fact[] }

/**
 * Watches the blocks that are not final. Marks payouts seen there, as a hint for people and for the order of work: it
 * ends nothing. Pauses every lane as soon as a block shows a transfer out of a treasury that we did not authorize.
 */
export function createHeadWatch(deps: SettlementDeps, scope: Scope) {
  const { journal, rpc, log } = deps
  const watchTransfers = createTransferWatch(deps, scope)
  const reach = createReach(MAX_WALK)
  /** Of the last walk, and those of them whose logs were read. */
  let hashes: Hashes = new Map()
  let read: Hashes = new Map()

  /** By one node: the walk itself proves only that its blocks lead up to the quorum's head. */
  async function view(node: RpcNode, range: { base: number; head: Block; count: number }): Promise<View> {
    const chain = await walkChain(node, range, hashes)
    const unread = unreadBlocks(read, chain, range.count)
    const logs = unread === null ? [] : await treasuryLogs(node, scope, { fromBlock: unread.from, toBlock: unread.to })
    if (logs.some((entry) => chain.get(entry.blockNumber) !== entry.blockHash))
      throw new NodeFailure(node.name, { kind: 'refused', answer: 'has logs of another branch' })
    return { chain, read: unread ?? NOTHING, facts: readFacts(logs, scope.treasuries) }
  }

  /** Null when the chain changes just now, or a suspicion can neither be confirmed nor dismissed: the next round looks again. */
  async function look(cursor: ChainCursor): Promise<View | null> {
    const { block: head } = await rpc.newest()
    if (head.number < cursor.number) return null
    const base = Math.max(cursor.number, head.number - MAX_WALK)
    const known = [...read.keys()].filter((number) => number > base).length
    try {
      return await reach.read(Math.max(1, head.number - base - known), async (count) => {
        const seen = await rpc.any((node) => view(node, { base, head, count }))
        return (await watchTransfers(seen.facts)) ? seen : null
      })
    } catch (failure) {
      if (failure instanceof NodeFailure && failure.kind === 'refused') return null
      throw failure
    }
  }

  /** `isMined`: payouts are marked as seen in blocks that may have left the chain. */
  return async function watchHead(
    lease: Lease,
    { cursor, isMined }: { cursor: ChainCursor; isMined: boolean },
  ): Promise<void> {
    const seen = await look(cursor)
    if (seen === null) return
    const { chain, facts } = seen
    const replaced = replacedBlocks(hashes, chain)
    if (replaced > 0) log.warn({ replaced }, 'the chain was reorganized')
    const paid = facts.flatMap(({ kind, authNonce, blockNumber, blockHash }) =>
      kind === 'out' && authNonce !== null ? [{ authNonce, blockNumber, blockHash }] : [],
    )
    const isQuiet = paid.length === 0 && !isMined
    // A head that is lower for a moment begins below what the walk remembers.
    const unseen = { above: cursor.number, upTo: Math.min(...chain.keys()) - 1 }
    const marks = { seen: paid, chain: [...chain.values()], unseen }
    const { reverted } = isQuiet ? { reverted: 0 } : await journal.markMined(lease, marks)
    if (reverted > 0) log.warn({ reverted }, 'payouts are no longer in the chain and go out again')
    // Stored last, so that after a failure the same blocks are read again.
    read = readOf(chain, { before: read, now: seen.read })
    hashes = chain
  }
}

const NOTHING: Blocks = { from: 0, to: -1 }

/** Those blocks of the chain whose logs were read, before or now. */
function readOf(chain: Hashes, { before, now }: { before: Hashes; now: Blocks }): Hashes {
  return new Map(
    [...chain].filter(([number, hash]) => before.get(number) === hash || (number >= now.from && number <= now.to)),
  )
}

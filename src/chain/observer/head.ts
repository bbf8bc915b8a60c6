import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Log, RpcNode } from '../rpc/node.ts'
import { type Fact, readFacts, type Scope, treasuryLogs } from './facts.ts'
import { type Blocks, createReach } from './reach.ts'
import { createTransferWatch } from './transfers.ts'
import { type Hashes, newestRanges, replacedBlocks, walkChain } from './walk.ts'

/**
 * In blocks: deeper than any reorganization that Polygon had before milestones (187). While finality stands still for longer
 * (17 minutes of blocks), the newest ones are watched, and what older ones have shown stays as it is.
 */
const MAX_WALK = 512

/**
 * A block is read a second time when so many have followed. A node that has the newest block but not its logs yet answers an
 * empty list; most blocks are final before, and are read anew then.
 */
const READ_AGAIN_AFTER = 8

/** The blocks above the cursor, and what those of them show whose logs were read now. */
type View = { readonly chain: Hashes; readonly ranges: readonly Blocks[]; readonly facts: readonly Fact[] }

/**
 * Watches the blocks that are not final. Marks payouts seen there, as a hint for people and for the order of work: it
 * ends nothing. Pauses every lane as soon as a block shows a transfer out of a treasury that we did not authorize.
 */
export function createHeadWatch(deps: SettlementDeps, scope: Scope) {
  const { journal, rpc, log } = deps
  const watchTransfers = createTransferWatch(deps, scope)
  const reach = createReach(MAX_WALK)
  let hashes: Hashes = new Map()
  let read: ReadTimes = new Map()

  /**
   * By a quorum: nothing proves the hash that a block calls its parent's, and payouts whose block has gone are sent again.
   * Asks nothing when the head follows on what is known. Null when the chain changes just now.
   */
  async function walk(cursor: ChainCursor): Promise<Hashes | null> {
    const { block: head } = await rpc.newest()
    if (head.number < cursor.number) return null
    const range = { base: Math.max(cursor.number, head.number - MAX_WALK), head }
    const agreed = await rpc.agreed(async (node) => [...(await walkChain(node, range, hashes))])
    return agreed && new Map(agreed.value)
  }

  /** By one node. */
  async function factsOf(node: RpcNode, chain: Hashes, ranges: readonly Blocks[]): Promise<Fact[]> {
    const logs: Log[] = []
    for (const { from, to } of ranges) logs.push(...(await treasuryLogs(node, scope, { fromBlock: from, toBlock: to })))
    if (logs.some((entry) => chain.get(entry.blockNumber) !== entry.blockHash))
      throw new NodeFailure(node.name, { kind: 'refused', answer: 'has logs of another branch' })
    return readFacts(logs, scope.treasuries)
  }

  /** Null when the chain changes just now, or a suspicion can neither be confirmed nor dismissed: the next round looks again. */
  async function look(cursor: ChainCursor): Promise<View | null> {
    const chain = await walk(cursor)
    if (chain === null) return null
    const unread = unreadOf(chain, read)
    if (unread.length === 0) return { chain, ranges: [], facts: [] }
    try {
      return await reach.read(unread.length, async (count) => {
        const ranges = newestRanges(unread, count)
        const facts = await rpc.any((node) => factsOf(node, chain, ranges))
        return (await watchTransfers(facts)) ? { chain, ranges, facts } : null
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
    const view = { seen: paid, chain: [...chain.values()], unseen }
    const { reverted } = isQuiet ? { reverted: 0 } : await journal.markMined(lease, view)
    if (reverted > 0) log.warn({ reverted }, 'payouts are no longer in the chain and go out again')
    // Stored last, so that after a failure the same blocks are read again.
    hashes = chain
    read = readTimes(seen, read)
  }
}

/** By a block's hash: how often its logs were read, the second time when others had followed. */
type ReadTimes = ReadonlyMap<Hex, number>

/** How often the logs of a block should have been read. */
const dueTimes = (number: number, head: number): number => (number + READ_AGAIN_AFTER <= head ? 2 : 1)

function unreadOf(chain: Hashes, read: ReadTimes): number[] {
  const head = Math.max(...chain.keys())
  return [...chain].filter(([number, hash]) => (read.get(hash) ?? 0) < dueTimes(number, head)).map(([number]) => number)
}

function readTimes({ chain, ranges }: View, before: ReadTimes): ReadTimes {
  const head = Math.max(...chain.keys())
  return new Map(
    [...chain].map(([number, hash]) => {
      const isRead = ranges.some(({ from, to }) => number >= from && number <= to)
      return [hash, isRead ? dueTimes(number, head) : (before.get(hash) ?? 0)]
    }),
  )
}

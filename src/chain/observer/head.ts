import { type ChainCursor, describeTransfer, type Lease, type TreasuryLog } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { NodeFailure } from '../rpc/failure.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type Fact, readFacts, type Scope, shareGas, treasuryLogs } from './facts.ts'
import { createReach } from './reach.ts'
import { type Hashes, newBlocks, replacedBlocks, walkChain } from './walk.ts'

/**
 * In blocks: deeper than any reorganization that Polygon had before milestones (187). While finality stands still for longer
 * (17 minutes of blocks), the newest ones are watched, and what older ones have shown stays as it is.
 */
const MAX_WALK = 512

/** `readTo`: up to this block logs were read. */
type View = { readonly chain: Hashes; readonly readTo: number; readonly facts: readonly Fact[] }

/**
 * Watches the blocks that are not final. Marks payouts seen there, as a hint for people and for the order of work: it
 * ends nothing. Pauses every lane as soon as a block shows a transfer out of a treasury that we did not authorize.
 */
export function createHeadWatch(deps: SettlementDeps, scope: Scope) {
  const { journal, rpc, log } = deps
  let hashes: Hashes = new Map()
  const reach = createReach(MAX_WALK)

  /** What the new blocks show, by one node: the walk itself proves only that its blocks lead up to the quorum's head. */
  async function look(cursor: ChainCursor): Promise<View | null> {
    const { block: head } = await rpc.newest()
    if (head.number < cursor.number) return null
    const base = Math.max(cursor.number, head.number - MAX_WALK)
    try {
      return await reach.read(MAX_WALK, (blocks) =>
        rpc.any(async (node) => {
          const chain = await walkChain(node, { base, head }, hashes)
          const fresh = newBlocks(hashes, chain)
          if (fresh === null) return { chain, readTo: head.number, facts: [] }
          // Of more than can be read at once, the oldest first.
          const toBlock = Math.min(fresh.toBlock, fresh.fromBlock + blocks - 1)
          const logs = await treasuryLogs(node, scope, { ...fresh, toBlock })
          if (logs.some((entry) => chain.get(entry.blockNumber) !== entry.blockHash))
            throw new NodeFailure(node.name, { kind: 'refused', answer: 'has logs of another branch' })
          return { chain, readTo: toBlock, facts: readFacts(logs, scope.treasuries) }
        }),
      )
    } catch (failure) {
      // The chain changes just now. The next round looks again.
      if (failure instanceof NodeFailure && failure.kind === 'refused') return null
      throw failure
    }
  }

  /** False while a suspicion can neither be confirmed nor dismissed: then the blocks are looked at again. */
  async function watchTransfers(facts: readonly Fact[]): Promise<boolean> {
    const { treasuries } = scope
    const logs = facts.map((fact): TreasuryLog => ({ ...fact, gasShare: null }))
    const suspects = await journal.findUnknown({ logs, ownTransactions: [], treasuries })
    for (const suspect of suspects) {
      const shown = await isShown({ rpc, scope }, suspect)
      if (shown === null) return false
      if (!shown) {
        log.warn({ transfer: suspect }, 'one node shows a transfer that a quorum does not: it counts for nothing')
        continue
      }
      const [unknown] = await journal.findUnknown({ ...(await shareGas(deps, [suspect])), treasuries })
      if (unknown === undefined) continue
      log.error({ transfer: unknown }, 'an unknown transfer leaves the treasury; all lanes pause')
      await journal.pause({ reason: describeTransfer(unknown), untilFinal: unknown.blockNumber })
    }
    return true
  }

  /** `isMined`: payouts are marked as seen in blocks that may have left the chain. */
  return async function watchHead(
    lease: Lease,
    { cursor, isMined }: { cursor: ChainCursor; isMined: boolean },
  ): Promise<void> {
    const seen = await look(cursor)
    if (seen === null) return
    const { chain, readTo, facts } = seen
    const replaced = replacedBlocks(hashes, chain)
    if (replaced > 0) log.warn({ replaced }, 'the chain was reorganized')
    const isDone = await watchTransfers(facts)
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
    if (isDone) hashes = new Map([...chain].filter(([number]) => number <= readTo))
  }
}

/** Whether a quorum of nodes shows this log in this block; null when there is no quorum now. */
async function isShown({ rpc, scope }: { rpc: Rpc; scope: Scope }, fact: Fact): Promise<boolean | null> {
  const block = { fromBlock: fact.blockNumber, toBlock: fact.blockNumber }
  const logs = await rpc.agreed((node) => treasuryLogs(node, scope, block))
  if (logs === null) return null
  return logs.value.some(
    ({ txHash, logIndex, blockHash }) =>
      txHash === fact.txHash && logIndex === fact.logIndex && blockHash === fact.blockHash,
  )
}

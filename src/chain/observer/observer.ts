import { type ChainCursor, describeTransfer, type Lease, type TreasuryLog } from '../../domain/settlement/payout.ts'
import { type SettlementDeps, watchedTreasuries } from '../context.ts'
import type { Block, RpcNode } from '../rpc/node.ts'
import { proveExpired } from './expired.ts'
import { type Fact, readFacts, shareGas, treasuryLogs } from './facts.ts'
import { scanFinalized } from './scan.ts'
import { type Hashes, newBlocks, replacedBlocks, walkChain } from './walk.ts'

/** Most payouts that are ended in one database transaction. */
const ENDED_AT_ONCE = 200
/**
 * In blocks: deeper than any reorganization that Polygon had before milestones (187). Beyond it the walk starts anew.
 */
const MAX_WALK = 512

/**
 * The observer of one engine. In memory it keeps only hashes of blocks that are not final; losing them does no harm.
 */
export function createObserver(deps: SettlementDeps) {
  const { journal, token, log } = deps
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const wallets = new Set(deps.relayers.map((relayer) => relayer.address.toLowerCase()))
  let hashes: Hashes = new Map()

  async function applyProven(): Promise<void> {
    let ended = ENDED_AT_ONCE
    while (ended === ENDED_AT_ONCE) {
      const result = await journal.applyProven(ENDED_AT_ONCE)
      ended = result.ended
      for (const { paymentId, error } of result.failed)
        log.error({ paymentId, err: error }, 'proved on chain, but recording it for the payment failed; tried again')
    }
  }

  /** Pauses every lane as soon as a block shows a transfer out of a treasury that we did not authorize. */
  async function watchTransfers(facts: readonly Fact[]): Promise<void> {
    const { treasuries } = scope
    const logs = facts.map((fact): TreasuryLog => ({ ...fact, gasShare: null }))
    const suspects = await journal.findUnknown({ logs, ownTransactions: [], treasuries })
    if (suspects.length === 0) return
    const [unknown] = await journal.findUnknown({ ...(await shareGas(deps.rpc, wallets, suspects)), treasuries })
    if (unknown === undefined) return
    log.error({ transfer: unknown }, 'an unknown transfer leaves the treasury; all lanes pause')
    await journal.pause(describeTransfer(unknown))
  }

  /** Marks payouts seen in blocks that are not final. A hint for people and for the order of work; it ends nothing. */
  async function watchHead(lease: Lease, cursor: ChainCursor, newest: { block: Block; node: RpcNode }): Promise<void> {
    const { block: head, node } = newest
    if (head.number < cursor.number || head.number - cursor.number > MAX_WALK) return
    const chain = await walkChain(node, { base: cursor.number, head }, hashes)
    if (chain === null) return
    const replaced = replacedBlocks(hashes, chain)
    if (replaced > 0) log.warn({ head: head.number, replaced }, 'the chain was reorganized')
    const fresh = newBlocks(hashes, chain)
    const logs = fresh === null ? [] : await treasuryLogs(node, scope, fresh)
    if (logs.some((entry) => chain.get(entry.blockNumber) !== entry.blockHash)) return
    const facts = readFacts(logs, scope.treasuries)
    const seen = facts.flatMap((fact) =>
      fact.kind === 'out' && fact.authNonce !== null
        ? [{ authNonce: fact.authNonce, blockNumber: fact.blockNumber, blockHash: fact.blockHash }]
        : [],
    )
    await watchTransfers(facts)
    const { reverted } = await journal.markMined(lease, { seen, chain: [...chain.values()] })
    if (reverted > 0) log.warn({ reverted }, 'payouts are no longer in the chain and go out again')
    // Stored last, so that after a failure the same blocks are read again.
    hashes = chain
  }

  return {
    async observe(lease: Lease, newest: { block: Block; node: RpcNode }): Promise<void> {
      const start = await journal.readCursor()
      if (start === null) return
      const cursor = await scanFinalized(deps, lease, start)
      await applyProven()
      await proveExpired(deps, lease, cursor)
      await watchHead(lease, cursor, newest)
    },
  }
}

import type { ChainCursor, Lease } from '../domain/payout.ts'
import type { SettlementDeps } from './context.ts'
import { readFacts, shareGas, treasuryLogs } from './facts.ts'
import type { Block, Provider } from './provider.ts'
import { type Hashes, replacedBlocks, walkChain } from './walk.ts'

/** Blocks per `eth_getLogs`: within every provider's limit. */
const LOG_RANGE = 1000
/** Ranges read in one round, so that catching up does not starve the lanes. */
const RANGES_PER_ROUND = 10
/** Payouts ended in one transaction. */
const ENDED_AT_ONCE = 200
/** Deeper than any reorganization of Polygon before milestones (187). Beyond it the walk starts anew. */
const MAX_WALK = 512

/** The observer of one engine. It keeps nothing but the hashes of blocks that are not final, and can lose them. */
export function createObserver(deps: SettlementDeps) {
  const { journal, rpc, token, treasury, log } = deps
  const scope = { token: token.address, treasury: treasury.address }
  const wallets = new Set(deps.relayers.map((relayer) => relayer.address.toLowerCase()))
  let hashes: Hashes = new Map()

  /** Reads one range that a quorum of providers calls final. Null when they do not agree now. */
  async function scanRange(lease: Lease, from: number, final: Block): Promise<ChainCursor | null> {
    const to = Math.min(final.number, from + LOG_RANGE - 1)
    const last = await rpc.agreed((provider) => provider.block(to))
    const logs = await rpc.agreed((provider) => treasuryLogs(provider, scope, { fromBlock: from, toBlock: to }))
    if (last === null || logs === null || (to === final.number && last.value.hash !== final.hash)) return null
    const { logs: facts, ownTransactions } = await shareGas(rpc, wallets, readFacts(logs.value, treasury.address))
    const at = { at: deps.clock(), number: to, hash: last.value.hash }
    const unknown = await journal.recordFinalized(lease, { logs: facts, ownTransactions, ...at })
    if (unknown.length > 0) {
      const first = unknown[0]
      const reason = `unknown transfer out of the treasury: ${first?.microUsdc} micro-USDC to ${first?.counterparty} in ${first?.txHash}`
      log.error({ transfers: unknown.map((fact) => fact.txHash) }, `${reason}; all lanes pause`)
      await journal.pause(reason)
    }
    return { number: to, hash: last.value.hash, pausedReason: null }
  }

  async function scanFinalized(lease: Lease, start: ChainCursor): Promise<ChainCursor> {
    const final = await rpc.finalized()
    if (final === null || final.number <= start.number) return start
    const known = await rpc.agreed((provider) => provider.block(start.number))
    if (known === null) return start
    if (known.value.hash !== start.hash) {
      const reason = `finalized block ${start.number} was ${start.hash} and is ${known.value.hash} now`
      log.error({}, `${reason}; all lanes pause`)
      await journal.pause(reason)
      return start
    }
    let cursor = start
    for (let range = 0; range < RANGES_PER_ROUND && cursor.number < final.number; range++) {
      const next = await scanRange(lease, cursor.number + 1, final)
      if (next === null) return cursor
      cursor = next
    }
    return cursor
  }

  async function applyProven(): Promise<void> {
    let ended = ENDED_AT_ONCE
    while (ended === ENDED_AT_ONCE) {
      const result = await journal.applyProven(ENDED_AT_ONCE)
      ended = result.ended
      for (const { paymentId, error } of result.failed)
        log.error({ paymentId, err: error }, 'proved on chain, but recording it for the payment failed; tried again')
    }
  }

  /** Marks what the blocks that are not final show. Only a hint for people and for the order of work: never an end. */
  async function watchHead(
    lease: Lease,
    cursor: ChainCursor,
    newest: { block: Block; provider: Provider },
  ): Promise<void> {
    const { block: head, provider } = newest
    if (head.number <= cursor.number || head.number - cursor.number > MAX_WALK) return
    const chain = await walkChain(provider, { base: cursor.number, head }, hashes)
    if (chain === null) return
    const replaced = replacedBlocks(hashes, chain)
    if (replaced > 0) log.warn({ head: head.number, replaced }, 'the chain was reorganized')
    hashes = chain
    const logs = await treasuryLogs(provider, scope, { fromBlock: cursor.number + 1, toBlock: head.number })
    if (logs.some((entry) => chain.get(entry.blockNumber) !== entry.blockHash)) return
    const seen = readFacts(logs, treasury.address).flatMap((fact) =>
      fact.kind === 'out' && fact.authNonce !== null
        ? [{ authNonce: fact.authNonce, blockNumber: fact.blockNumber, blockHash: fact.blockHash }]
        : [],
    )
    const { reverted } = await journal.markMined(lease, seen)
    if (reverted > 0) log.warn({ reverted }, 'payouts are no longer in the chain and go out again')
  }

  return {
    async observe(lease: Lease, newest: { block: Block; provider: Provider }): Promise<void> {
      const start = await journal.readCursor()
      if (start === null) return
      const cursor = await scanFinalized(lease, start)
      await applyProven()
      await watchHead(lease, cursor, newest)
    },
  }
}

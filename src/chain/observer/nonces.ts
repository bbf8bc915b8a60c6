import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import type { RpcNode } from '../rpc/node.ts'
import { TOPICS } from '../token/contracts.ts'
import { readToken, type TokenRead } from '../token/token-state.ts'
import { asTopic, ourLogs, readFound, type Scope } from './facts.ts'
import { createRange, LOG_ROUND_MS } from './logs.ts'

/** Nonces that are read together: six calls to each node of the quorum. */
const ASKED = 2400

/** Maximum number of nonces in one `eth_getLogs`: nodes take a thousand alternatives of a topic. */
const NONCES_PER_QUERY = 500

/** Blocks that are searched for the transaction of a nonce: about ten hours on Polygon. */
const DEPTH = 20_000

export type UsedNonce = { readonly ownerId: string; readonly authNonce: Hex; readonly micro: bigint }

export type NonceWatch = ReturnType<typeof createNonceWatch>

/**
 * Finds nonces of open payouts that the token reports as used, and whose log is not stored: somebody else has carried
 * the authorization, or this database has forgotten that it did. Searches their transactions by the nonces, from the
 * cursor back. Memory contains how far.
 */
export function createNonceWatch(deps: SettlementDeps, scope: Scope) {
  const { rpc, journal, token, log } = deps
  const range = createRange()
  let searched: { readonly key: string; readonly down: number } | null = null

  /** Reads by quorum, at the cursor. Null if no quorum answers. */
  async function findUsed({ number: at }: ChainCursor): Promise<UsedNonce[] | null> {
    const used: UsedNonce[] = []
    for (let after: string | undefined = ''; after !== undefined; ) {
      const open = await journal.readOpenNonces({ after, limit: ASKED })
      const reads = open.map(
        ({ treasury, authNonce }): TokenRead => ({ view: 'authorizationState', args: [treasury, authNonce] }),
      )
      const states = await rpc.agreed((node) => readToken(node, token.address, { reads, at }))
      if (states === null) return null
      used.push(...open.filter((_nonce, index) => states.value[index] !== 0n))
      after = open.length < ASKED ? undefined : open.at(-1)?.ownerId
    }
    return used
  }

  async function findTransactions(nonces: readonly Hex[], fromBlock: number, toBlock: number): Promise<Hex[] | null> {
    const events = [TOPICS.authorizationUsed, TOPICS.authorizationCanceled]
    const found = await rpc.agreed(async (node: RpcNode) => {
      const hashes: Hex[] = []
      for (let start = 0; start < nonces.length; start += NONCES_PER_QUERY) {
        const topics = [events, scope.treasuries.map(asTopic), nonces.slice(start, start + NONCES_PER_QUERY)]
        const logs = await node.logs({ address: scope.token, fromBlock, toBlock, topics })
        hashes.push(...logs.map(({ txHash }) => txHash))
      }
      return [...new Set(hashes)]
    })
    range.note(found !== null)
    return found?.value ?? null
  }

  /**
   * Stores what the transaction did to the treasuries, if a quorum has it in a final block. Returns the nonces it used.
   */
  async function prove(lease: Lease, txHash: Hex, final: number): Promise<Hex[]> {
    const logs = await rpc.agreed(async (node) => ourLogs((await node.receipt(txHash))?.logs ?? [], scope))
    if (!logs?.value.every(({ blockNumber }) => blockNumber <= final)) return []
    const found = await readFound(deps, logs.value, scope.treasuries)
    await journal.recordLogs(lease, found)
    return found.logs.flatMap(({ authNonce }) => authNonce ?? [])
  }

  return {
    findUsed,

    /**
     * Searches their transactions, within the time of one round. A nonce that no transaction explains is listed for
     * operators.
     */
    async search(lease: Lease, cursor: ChainCursor, used: readonly UsedNonce[]): Promise<void> {
      const left = new Set(used.map(({ authNonce }) => authNonce))
      const lowest = Math.max(cursor.firstNumber, cursor.number - DEPTH)
      const until = performance.now() + LOG_ROUND_MS
      const key = [...left].join()
      let to = searched?.key === key ? searched.down : cursor.number
      while (left.size > 0 && to > lowest && performance.now() < until) {
        const from = Math.max(lowest, to - range.size())
        const transactions = await findTransactions([...left], from + 1, to)
        if (transactions === null) break
        for (const txHash of transactions)
          for (const nonce of await prove(lease, txHash, cursor.number)) left.delete(nonce)
        to = from
      }
      searched = left.size > 0 && to > lowest ? { key, down: to } : null
      if (left.size < used.length) log.warn({ found: used.length - left.size }, 'others have carried payouts of ours')
      const missing = used.filter(({ authNonce }) => left.has(authNonce))
      if (to > lowest && missing.length > 0) return
      for (const { ownerId } of missing)
        log.error({ ownerId }, 'the token calls its nonce used, and no node shows the transfer or cancellation')
      await journal.storeFindings(missing.map(({ ownerId }) => ownerId))
    },
  }
}

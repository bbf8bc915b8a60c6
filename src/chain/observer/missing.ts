import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor } from '../../domain/settlement/payout.ts'
import { type Answer, gather } from '../rpc/gather.ts'
import type { Log, LogFilter, RpcNode } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { TOPICS } from '../token/contracts.ts'
import { asTopic, type Scope } from './facts.ts'
import { createReach } from './reach.ts'

/** Where logs are looked for that were missed when their blocks were read. */
type Chain = { readonly rpc: Rpc; readonly scope: Scope }

/** How many blocks back a missing log is looked for: about ten hours on Polygon. */
const DEPTH = 20_000

/**
 * In milliseconds: a search asks nothing more after that, and the next one goes on where it was. Beside it nothing is read.
 */
const SEARCH_MS = 15_000

/** How much longer, in milliseconds, a node is waited for when a quorum has answered. Then it is asked no more in this search. */
const GRACE_MS = 4000

type Search = { readonly nonces: readonly Hex[]; readonly prove: (txHash: Hex) => Promise<Iterable<Hex>> }

/**
 * Looks for the transactions of the nonces at every node, from the newest blocks back. What a node names only shows where
 * to look: `prove` answers the nonces that a transaction has really used. Of a node that names too much only one for each
 * nonce is looked at.
 */
export function createSearch({ rpc, scope }: Chain) {
  const reach = createReach()
  let goesOnAt: number | null = null

  const ask = (nodes: readonly RpcNode[], blocks: Pick<LogFilter, 'fromBlock' | 'toBlock'>, nonces: Iterable<Hex>) => {
    const topics = [
      [TOPICS.authorizationUsed, TOPICS.authorizationCanceled],
      scope.treasuries.map(asTopic),
      [...nonces],
    ]
    return gather<Log[], readonly Answer<Log[]>[]>({
      nodes,
      first: nodes.length,
      read: (node) => node.logs({ address: scope.token, ...blocks, topics }),
      judge: ({ answers, open }) => (answers.length >= rpc.quorum || open === 0 ? answers : undefined),
      graceMs: GRACE_MS,
    })
  }

  return async function findTransactions(cursor: ChainCursor, { nonces, prove }: Search): Promise<void> {
    const left = new Set(nonces)
    const lowest = Math.max(cursor.firstNumber, cursor.number - DEPTH)
    const until = performance.now() + SEARCH_MS
    let nodes = rpc.nodes
    let toBlock = Math.min(goesOnAt ?? cursor.number, cursor.number)
    while (left.size > 0 && toBlock > lowest && performance.now() < until) {
      const fromBlock = await reach.read(toBlock - lowest, async (blocks) => {
        const answers = await ask(nodes, { fromBlock: toBlock - blocks + 1, toBlock }, left)
        nodes = answers.map(({ node }) => node)
        const named = new Set(answers.flatMap(({ value }) => namedBy(value, left)))
        for (const txHash of named) for (const nonce of await prove(txHash)) left.delete(nonce)
        return answers.length < rpc.quorum ? null : toBlock - blocks + 1
      })
      if (fromBlock === null) break
      toBlock = fromBlock - 1
    }
    goesOnAt = left.size > 0 && toBlock > lowest ? toBlock : null
  }
}

/** By one node: of each nonce the first transaction. */
function namedBy(logs: readonly Log[], nonces: ReadonlySet<Hex>): Hex[] {
  const first = new Map<Hex, Hex>()
  for (const { txHash, topics } of logs) {
    const nonce = topics[2]
    if (nonce !== undefined && nonces.has(nonce) && !first.has(nonce)) first.set(nonce, txHash)
  }
  return [...first.values()]
}

/** The logs of the transaction about our treasuries, when a quorum has them, in a block that is final. */
export async function readProved({ rpc, scope }: Chain, txHash: Hex, final: number): Promise<Log[]> {
  const answer = await rpc.agreed((node) => node.receiptLogs(txHash))
  const logs = answer?.value ?? []
  const [first] = logs
  if (first === undefined || first.blockNumber > final) return []
  const block = await rpc.agreed((node) => node.block(first.blockNumber))
  if (block?.value.hash !== first.blockHash) return []
  const topics = new Set(scope.treasuries.map(asTopic))
  return logs.filter(
    (entry) => entry.address === scope.token && entry.topics.slice(1, 3).some((topic) => topics.has(topic)),
  )
}

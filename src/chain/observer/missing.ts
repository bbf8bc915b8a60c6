import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor } from '../../domain/settlement/payout.ts'
import { type Answer, gather } from '../rpc/gather.ts'
import type { Log, RpcNode } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { TOPICS } from '../token/contracts.ts'
import { asTopic, type Scope } from './facts.ts'
import { type Blocks, createReach } from './reach.ts'

/** Where logs are looked for that were missed when their blocks were read. */
type Chain = { readonly rpc: Rpc; readonly scope: Scope }

/** How many blocks back a missing log is looked for: about ten hours on Polygon. */
const DEPTH = 20_000

/** In milliseconds. A search ends after that, and the next one goes on where it was. */
const SEARCH_MS = 15_000

/** How much longer, in milliseconds, a node is waited for when a quorum has answered. Then it is asked no more in this search. */
const GRACE_MS = 4000

/** Most nonces in one `eth_getLogs`: nodes take a thousand alternatives of a topic. */
const NONCES_PER_QUERY = 500

type Search = {
  /** Where a search of these nonces goes on when the last one had no time left. */
  readonly page: string
  readonly nonces: readonly Hex[]
  readonly prove: (txHash: Hex) => Promise<Iterable<Hex>>
}

/**
 * Looks for the transactions of the nonces at every node, from the newest blocks back. What a node names only shows where
 * to look: `prove` answers the nonces that a transaction has really used. Of a node that names too much only one for each
 * nonce is looked at.
 */
export function createSearch({ rpc, scope }: Chain) {
  const reach = createReach()
  const nextBlocks = new Map<string, number>()

  async function logsOf(node: RpcNode, { from, to }: Blocks, nonces: ReadonlySet<Hex>): Promise<Log[]> {
    const events = [TOPICS.authorizationUsed, TOPICS.authorizationCanceled]
    const sought = [...nonces]
    const logs: Log[] = []
    for (let start = 0; start < sought.length; start += NONCES_PER_QUERY) {
      const topics = [events, scope.treasuries.map(asTopic), sought.slice(start, start + NONCES_PER_QUERY)]
      logs.push(...(await node.logs({ address: scope.token, fromBlock: from, toBlock: to, topics })))
    }
    return logs
  }

  const ask = (nodes: readonly RpcNode[], blocks: Blocks, nonces: ReadonlySet<Hex>) =>
    gather<Log[], readonly Answer<Log[]>[]>({
      nodes,
      first: nodes.length,
      read: (node) => logsOf(node, blocks, nonces),
      judge: ({ answers, open }) => (answers.length >= rpc.quorum || open === 0 ? answers : undefined),
      graceMs: GRACE_MS,
    })

  return async function findTransactions(cursor: ChainCursor, { page, nonces, prove }: Search): Promise<void> {
    const left = new Set(nonces)
    const lowest = Math.max(cursor.firstNumber, cursor.number - DEPTH)
    const until = performance.now() + SEARCH_MS
    const isOver = (): boolean => left.size === 0 || performance.now() > until
    let nodes = rpc.nodes
    let to = Math.min(nextBlocks.get(page) ?? cursor.number, cursor.number)
    while (to > lowest && !isOver()) {
      let named: Hex[] = []
      const from = await reach.read(to - lowest, async (count) => {
        const blocks = { from: to - count + 1, to }
        const answers = await ask(nodes, blocks, left)
        nodes = answers.map(({ node }) => node)
        named = namedBy(answers, left)
        return answers.length < rpc.quorum ? null : blocks.from
      })
      let open = named.length
      for (const txHash of named) {
        // At least one, however long the question took.
        if (open < named.length && isOver()) break
        for (const nonce of await prove(txHash)) left.delete(nonce)
        open--
      }
      // What could not be looked at in time is named again.
      if (from === null || open > 0) break
      to = from - 1
    }
    if (left.size > 0 && to > lowest) nextBlocks.set(page, to)
    else nextBlocks.delete(page)
  }
}

/**
 * Each transaction once, those of a nonce together. In another order each time: what is named falsely, and what it takes to
 * find that out, must not hide the rest for ever.
 */
function namedBy(answers: readonly Answer<Log[]>[], nonces: ReadonlySet<Hex>): Hex[] {
  const byNode = answers.map(({ value }) => firstOfEach(value))
  const shuffled = [...nonces].map((nonce) => ({ nonce, at: Math.random() })).toSorted((a, b) => a.at - b.at)
  return [...new Set(shuffled.flatMap(({ nonce }) => byNode.flatMap((first) => first.get(nonce) ?? [])))]
}

/** By one node: of each nonce the first transaction. */
function firstOfEach(logs: readonly Log[]): ReadonlyMap<Hex, Hex> {
  const first = new Map<Hex, Hex>()
  for (const { txHash, topics } of logs) {
    const nonce = topics[2]
    if (nonce !== undefined && !first.has(nonce)) first.set(nonce, txHash)
  }
  return first
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

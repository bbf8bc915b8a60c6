import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor } from '../../domain/settlement/payout.ts'
import type { Log } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { TOPICS } from '../token/contracts.ts'
import { asTopic, type Scope } from './facts.ts'

/** Where logs are looked for that were missed when their blocks were read. */
type Chain = { readonly rpc: Rpc; readonly scope: Scope }

/** Blocks in one question, and how many of these back a missing log is looked for: about ten hours on Polygon. */
const LOG_RANGE = 1000
const RANGES = 20

/** Milliseconds for one question. A node that has let them pass, or has failed, is asked no more in this search. */
const ANSWER_MS = 4000

/**
 * Looks for the transactions of the nonces at every node, from the newest blocks back. What a node names only shows where
 * to look: `prove` answers the nonces that a transaction has really used. Of a node that names too much only one for each
 * nonce is looked at.
 */
export async function findTransactions(
  { rpc, scope }: Chain,
  cursor: ChainCursor,
  search: { readonly nonces: readonly Hex[]; readonly prove: (txHash: Hex) => Promise<Iterable<Hex>> },
): Promise<void> {
  const left = new Set(search.nonces)
  let nodes = rpc.nodes
  const events = [TOPICS.authorizationUsed, TOPICS.authorizationCanceled]
  let toBlock = cursor.number
  for (let range = 0; range < RANGES && left.size > 0 && toBlock > cursor.firstNumber; range++) {
    const fromBlock = Math.max(cursor.firstNumber + 1, toBlock - LOG_RANGE + 1)
    const topics = [events, scope.treasuries.map(asTopic), [...left]]
    const answers = await inTime(
      nodes.map((node) => node.logs({ address: scope.token, fromBlock, toBlock, topics })),
      ANSWER_MS,
    )
    nodes = nodes.filter((_node, index) => answers[index] !== null)
    const named = new Set(answers.flatMap((logs) => namedBy(logs ?? [], left)))
    for (const txHash of named) for (const nonce of await search.prove(txHash)) left.delete(nonce)
    toBlock = fromBlock - 1
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

/** Null for each that has failed, or was not there in time. */
function inTime<T>(asked: readonly Promise<T>[], ms: number): Promise<(T | null)[]> {
  const late = new AbortController()
  const over = delay(ms, null, { signal: late.signal, ref: false }).catch(() => null)
  return Promise.all(asked.map((one) => Promise.race([one.catch(() => null), over]))).finally(() => late.abort())
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

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

/** Transactions that any node names for the nonces. What a node says here only shows where to look. */
export async function findTransactions(
  { rpc, scope }: Chain,
  cursor: ChainCursor,
  nonces: readonly Hex[],
): Promise<Set<Hex>> {
  const found = new Set<Hex>()
  const left = new Set(nonces)
  const events = [TOPICS.authorizationUsed, TOPICS.authorizationCanceled]
  let toBlock = cursor.number
  for (let range = 0; range < RANGES && left.size > 0 && toBlock > cursor.firstNumber; range++) {
    const fromBlock = Math.max(cursor.firstNumber + 1, toBlock - LOG_RANGE + 1)
    const topics = [events, scope.treasuries.map(asTopic), [...left]]
    const answers = await Promise.allSettled(
      rpc.nodes.map((node) => node.logs({ address: scope.token, fromBlock, toBlock, topics })),
    )
    for (const answer of answers)
      for (const entry of answer.status === 'fulfilled' ? answer.value : []) {
        found.add(entry.txHash)
        left.delete(entry.topics[2] ?? '0x')
      }
    toBlock = fromBlock - 1
  }
  return found
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

import type { Hex } from '../../domain/hex.ts'
import { type Block, connectNode, type RpcNode } from './node.ts'
import type { SendOutcome } from './send-outcome.ts'

/** Several nodes as one: reads fail over, broadcasts go to all, and what ends a payout needs a quorum. */
export type Rpc = {
  readonly nodes: readonly RpcNode[]
  readonly quorum: number
  /** The first answer of any node; throws when none answers. For reads that may be wrong for a moment. */
  any<T>(read: (node: RpcNode) => Promise<T>): Promise<T>
  /** The answer on which at least `quorum` nodes agree. Null when they do not: then wait, and never ask fewer nodes. */
  agreed<T>(read: (node: RpcNode) => Promise<T>): Promise<{ value: T } | null>
  /** Sends the signed transaction to every node. Returns the best outcome. */
  broadcast(raw: Hex): Promise<{ outcome: SendOutcome; answer: string }>
  /** The newest block that any node knows, with that node. */
  newest(): Promise<{ block: Block; node: RpcNode }>
  /** The highest block that a quorum of nodes calls final, with one hash; null when there is none now. */
  finalized(): Promise<Block | null>
}

const OUTCOME_RANK: readonly SendOutcome[] = [
  'accepted',
  'nonce_used',
  'underpriced_replacement',
  'underpriced',
  'no_gas_money',
  'delegated',
  'unknown',
]

const key = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)) ?? 'undefined'

export function createRpc(nodes: readonly RpcNode[], quorum: number): Rpc {
  if (quorum < 1 || quorum > nodes.length)
    throw new RangeError(`a quorum of ${quorum} needs as many nodes, there are ${nodes.length}`)

  async function answers<T>(read: (node: RpcNode) => Promise<T>): Promise<{ node: RpcNode; value: T }[]> {
    const settled = await Promise.allSettled(nodes.map(async (node) => ({ node, value: await read(node) })))
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  async function agreed<T>(read: (node: RpcNode) => Promise<T>): Promise<{ value: T } | null> {
    const given = await answers(read)
    // With a quorum of one there is nothing to compare.
    if (nodes.length === 1) return given[0] === undefined ? null : { value: given[0].value }
    const votes = new Map<string, { value: T; count: number }>()
    for (const { value } of given) {
      const vote = votes.get(key(value)) ?? { value, count: 0 }
      votes.set(key(value), { ...vote, count: vote.count + 1 })
    }
    const [first, second] = [...votes.values()].toSorted((a, b) => b.count - a.count)
    // A tie is a disagreement, even with a quorum of one.
    if (first === undefined || first.count < quorum || first.count === second?.count) return null
    return { value: first.value }
  }

  return {
    nodes,
    quorum,
    agreed,
    async any(read) {
      let failure: unknown
      for (const node of nodes) {
        try {
          return await read(node)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
    async broadcast(raw) {
      const sent = await Promise.all(nodes.map((node) => node.send(raw)))
      const best = sent.toSorted((a, b) => OUTCOME_RANK.indexOf(a.outcome) - OUTCOME_RANK.indexOf(b.outcome))[0]
      return best ?? { outcome: 'unknown', answer: 'no node' }
    },
    async newest() {
      const heads = await answers((node) => node.block('latest'))
      const best = heads.toSorted((a, b) => b.value.number - a.value.number)[0]
      if (best === undefined) throw new Error('no node answers')
      return { block: best.value, node: best.node }
    },
    async finalized() {
      const final = await answers((node) => node.block('finalized'))
      // The height that `quorum` nodes have reached: the quorum-th highest of their finalized blocks.
      const height = final.map(({ value }) => value.number).toSorted((a, b) => b - a)[quorum - 1]
      if (height === undefined) return null
      const block = await agreed((node) => node.block(height))
      return block?.value ?? null
    },
  }
}

export type RpcOptions = { readonly urls: readonly string[]; readonly quorum: number; readonly timeoutMs?: number }

/** In milliseconds: two Polygon blocks. A slower node counts as not answering. */
const NODE_TIMEOUT_MS = 4000

export function connectRpc(options: RpcOptions): Rpc {
  const timeoutMs = options.timeoutMs ?? NODE_TIMEOUT_MS
  const nodes = options.urls.map((url, index) => connectNode(url, { timeoutMs, name: `rpc${index + 1}` }))
  return createRpc(nodes, options.quorum)
}

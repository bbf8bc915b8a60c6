import type { Hex } from '../../domain/hex.ts'
import { askAny, askQuorum, sendToAll } from './ask.ts'
import type { Asked, Nodes } from './gather.ts'
import { noQuorum, readFees, readFinalized, readHead } from './heads.ts'
import type { NodeHealth } from './health.ts'
import { type Block, connectNode, type FeeHistory, type RpcNode, type Sent } from './node.ts'

/**
 * Several nodes as one. Reads continue without the slow ones, broadcasts go to all, and what matters needs a quorum:
 * more than half of the configured nodes, so that no two answers can both have one. Throws NodeFailure only.
 */
export type Rpc = {
  readonly nodes: readonly RpcNode[]
  readonly quorum: number
  /**
   * Returns the first answer of any node, the healthiest asked first; throws if none answers. For reads that may be
   * wrong.
   */
  any<T>(read: (node: RpcNode) => Promise<T>): Promise<T>
  /**
   * Returns the answer on which at least `quorum` nodes agree, as soon as they do. Null if they do not: then the caller
   * waits, and must never ask fewer nodes.
   */
  agreed<T>(read: (node: RpcNode) => Promise<T>): Promise<{ value: T } | null>
  /** Like `agreed`, but throws NodeFailure if the nodes do not agree now. `what` is for people. */
  demand<T>(what: string, read: (node: RpcNode) => Promise<T>): Promise<T>
  /** Sends the signed transaction to every node. One node can accept it; a refusal needs a quorum. */
  broadcast(raw: Hex): Promise<Sent>
  /**
   * Returns the newest block that all nodes near those of a quorum have: a node that runs ahead or is far behind does
   * not count, nor one that is behind block `floor`, which was final. Throws if no quorum agrees on it now.
   */
  newest(floor?: number): Promise<{ block: Block }>
  /** Returns the newest block that nodes call final, by the same rule; null if there is none now. */
  finalized(): Promise<Block | null>
  /** Returns the price of gas, by quorum: no single node can raise it. */
  fees(blocks: number): Promise<FeeHistory>
  health(): NodeHealth[]
}

export function createRpc(nodes: readonly RpcNode[], quorum: number): Rpc {
  const majority = Math.floor(nodes.length / 2) + 1
  if (quorum < majority || quorum > nodes.length)
    throw new RangeError(
      `a quorum of ${quorum} (FINALITY_QUORUM) with ${nodes.length} nodes: it must be more than half, ${majority} to ${nodes.length}`,
    )
  const asked = createOrder(nodes, quorum)
  const shared: Nodes = { quorum, asked, agreed: (read) => askQuorum({ quorum, ...asked() }, read) }
  return {
    nodes,
    quorum,
    agreed: (read) => shared.agreed(read),
    async demand(what, read) {
      const answer = await shared.agreed(read)
      if (answer === null) throw noQuorum(what)
      return answer.value
    },
    any: (read) => askAny(asked(), read),
    broadcast: (raw) => sendToAll({ quorum, ...asked() }, raw),
    newest: (floor = 0) => readHead(shared, floor),
    finalized: () => readFinalized(shared),
    fees: (blocks) => readFees(shared, blocks),
    health: () => nodes.map(({ health }) => health.view()),
  }
}

/** Lets equally healthy nodes take turns, so that each bears its share and the health of each is known. */
function createOrder(nodes: readonly RpcNode[], quorum: number): () => Asked {
  let turn = 0
  return () => {
    const allowed = nodes.filter(({ health }) => !health.leftOut())
    const usable = allowed.filter(({ health }) => health.usable())
    const chosen = usable.length >= quorum ? usable : allowed
    // The head of a quorum, as everywhere: one node that runs ahead would make all others look late.
    const heads = chosen.map(({ health }) => health.view().head ?? 0).toSorted((a, b) => b - a)
    const newest = heads[quorum - 1] ?? 0
    turn = (turn + 1) % nodes.length
    const rotated = [...chosen.slice(turn), ...chosen.slice(0, turn)]
    return {
      nodes: rotated.toSorted((a, b) => Math.round(a.health.rank(newest)) - Math.round(b.health.rank(newest))),
      resting: allowed.filter((node) => !chosen.includes(node)),
    }
  }
}

export type RpcOptions = {
  readonly urls: readonly string[]
  readonly quorum: number
  /** A node that serves another chain is left out. */
  readonly chainId: number
  readonly timeoutMs?: number
  readonly callsPerSecond?: number
  /** Called if a node is left out, does not answer, or is wrong again and again. */
  readonly warn?: (about: object, message: string) => void
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

/** In milliseconds: two Polygon blocks. A slower node counts as not answering. */
const NODE_TIMEOUT_MS = 4000
/** A thousand payouts a second take a fifth of this. */
const CALLS_PER_SECOND = 500

export function connectRpc(options: RpcOptions): Rpc {
  const { urls, quorum, chainId, timeoutMs = NODE_TIMEOUT_MS, callsPerSecond = CALLS_PER_SECOND } = options
  const { warn = () => undefined, now = () => performance.now() } = options
  const places = new Map<string, string>()
  const nodes = urls.map((url, index) => {
    const name = `rpc${index + 1}`
    const twin = places.get(getHost(url))
    if (twin !== undefined)
      throw new RangeError(`${name} and ${twin} of POLYGON_RPC_URLS are at one host: a quorum needs different ones`)
    places.set(getHost(url), name)
    return connectNode(url, { name, chainId, timeoutMs, callsPerSecond, warn, now })
  })
  return createRpc(nodes, quorum)
}

/** Returns who answers at a URL. On the local machine each port is another program. */
function getHost(url: string): string {
  const { hostname, host } = new URL(url)
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? host : hostname
}

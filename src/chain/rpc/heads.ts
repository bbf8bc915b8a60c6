import { NodeFailure } from './failure.ts'
import { gather, type Nodes } from './gather.ts'
import type { Block, FeeHistory, RpcNode } from './node.ts'

/**
 * Milliseconds to wait for the slower nodes after a quorum has answered, so that a fast node that is behind counts
 * less.
 */
const GRACE_MS = 150

/**
 * In blocks. Among heights this close, the lowest is used, because all of these nodes have it: if one does not answer a
 * question there, the others do. If those of a quorum are farther apart, one may be false, and all nodes are waited
 * for.
 */
const CLOSE_HEADS = 8
/** Finality advances in steps of more than a block. */
const CLOSE_FINALS = 16

/**
 * Blocks below a height at which the nodes are asked for one hash: they may be replacing the last blocks, and one might
 * not have them.
 */
const BELOW = [0, 2, 8]

/** `floor`: a block that was final. A node that is behind it does not hold the others down. */
export async function readHead(nodes: Nodes, floor: number): Promise<{ block: Block }> {
  const near = { close: CLOSE_HEADS, floor }
  const heads = await gatherAnswers(nodes, { read: (node) => node.block('latest'), isClear: areNear(nodes, near) })
  // A node that is slow now counts with the head that it reported last: it has that block too.
  const known = nodes.asked().nodes.flatMap(({ health }) => health.view().head ?? [])
  const block = await sharedBlock(nodes, heads, { ...near, known })
  if (block === null) throw noQuorum('what the newest block is')
  return { block }
}

/** Returns a block that a quorum calls final. Every block below it is final too. */
export async function readFinalized(nodes: Nodes): Promise<Block | null> {
  const near = { close: CLOSE_FINALS, floor: 0 }
  const finals = await gatherAnswers(nodes, { read: (node) => node.block('finalized'), isClear: areNear(nodes, near) })
  return sharedBlock(nodes, finals, { ...near, known: [] })
}

type Near = { readonly close: number; readonly floor: number }

/**
 * Returns true if the highest heads of a quorum are near each other and not below the floor: slower nodes change
 * little.
 */
const areNear =
  (nodes: Nodes, { close, floor }: Near) =>
  (reported: readonly Block[]): boolean => {
    const heights = reported.map(({ number }) => number)
    const reached = quorumth(nodes, heights) ?? 0
    return reached >= floor && Math.max(...heights) - reached <= close
  }

/** Returns the highest block that all nodes near the quorum's height have, if a quorum agrees; else a lower one. */
async function sharedBlock(
  nodes: Nodes,
  reported: readonly Block[],
  { close, floor, known }: Near & { readonly known: readonly number[] },
): Promise<Block | null> {
  const heights = reported.map(({ number }) => number)
  const reached = quorumth(nodes, heights)
  if (reached === null) return null
  const lowest = Math.max(reached - close, floor)
  const shared = Math.min(reached, ...[...heights, ...known].filter((height) => height >= lowest))
  const agreed = quorumBlock(nodes, reported, shared)
  if (agreed !== null) return agreed
  // A node that is far behind may be the only one to agree with.
  const lower = [...BELOW.map((below) => Math.max(0, shared - below)), ...heights.filter((other) => other < shared)]
  for (const number of [...new Set(lower)].toSorted((a, b) => b - a)) {
    const block = await nodes.agreed((node) => node.block(number))
    if (block !== null) return block.value
  }
  return null
}

/**
 * Returns the block at a height that a quorum has just reported. Usually all are at one block, and no more calls are
 * needed.
 */
function quorumBlock({ quorum }: Nodes, reported: readonly Block[], height: number): Block | null {
  const here = reported.filter(({ number }) => number === height)
  // Compares every field: with the right hash, one node could report a false parent or time.
  const isSame = (a: Block, b: Block): boolean =>
    a.hash === b.hash && a.parentHash === b.parentHash && a.timestamp === b.timestamp
  return here.find((one) => here.filter((other) => isSame(one, other)).length >= quorum) ?? null
}

/** Returns the quorum-th highest base fee and tip: one node that reports a high price has no effect. */
export async function readFees(nodes: Nodes, blocks: number): Promise<FeeHistory> {
  const histories = await gatherAnswers(nodes, { read: (node) => node.feeHistory(blocks), isClear: areAlike })
  const nextBaseFee = quorumth(
    nodes,
    histories.map((history) => history.nextBaseFee),
  )
  if (nextBaseFee === null) throw noQuorum('what gas costs')
  const tips = histories.map((history) => getMedian(history.tips))
  return { nextBaseFee, tips: [quorumth(nodes, tips) ?? 0n] }
}

/** Returns false if prices differ by more than a quarter: one may be false, and all nodes are waited for. */
const areAlike = (reported: readonly FeeHistory[]): boolean =>
  [reported.map(({ nextBaseFee }) => nextBaseFee), reported.map(({ tips }) => getMedian(tips))].every((prices) => {
    const [lowest = 0n, ...higher] = prices.toSorted(ascending)
    return (higher.at(-1) ?? lowest) * 4n <= lowest * 5n
  })

function getMedian(values: readonly bigint[]): bigint {
  const sorted = values.toSorted(ascending)
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

type Question<T> = {
  readonly read: (node: RpcNode) => Promise<T>
  /** Returns true if the answers of a quorum suffice, and the slower nodes need not be waited for. */
  readonly isClear: (values: readonly T[]) => boolean
}

/**
 * Returns the answers that arrive soon after those of a quorum; if they do not suffice, all answers that
 * arrive. They are fewer than a quorum if no more nodes answer.
 */
function gatherAnswers<T>(nodes: Nodes, { read, isClear }: Question<T>): Promise<T[]> {
  const asked = nodes.asked()
  return gather<T, T[]>({
    ...asked,
    first: asked.nodes.length,
    graceMs: GRACE_MS,
    read,
    judge({ answers, open }) {
      const values = answers.map(({ value }) => value)
      return open === 0 || (values.length >= nodes.quorum && isClear(values)) ? values : undefined
    },
  })
}

/** Returns the value that at least a quorum of the answers reaches; null if there are fewer answers. */
function quorumth<T extends number | bigint>({ quorum }: Nodes, values: readonly T[]): T | null {
  return values.toSorted(ascending).at(-quorum) ?? null
}

const ascending = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0)

export const noQuorum = (what: string): NodeFailure =>
  new NodeFailure('rpc', { kind: 'silent', answer: `no quorum of nodes says ${what} now` })

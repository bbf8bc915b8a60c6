import { NodeFailure } from './failure.ts'
import { gather, type Nodes } from './gather.ts'
import type { Block, FeeHistory, RpcNode } from './node.ts'

/** How long the slower nodes are waited for when a quorum has answered, so that a fast node that is behind tells less. */
const GRACE_MS = 150

/** In blocks. Of heights this close the quorum-th is near enough; of others one may be false, and all nodes are waited for. */
const CLOSE_HEADS = 4
/** Finality comes in steps of more than a block. */
const CLOSE_FINALS = 32

/**
 * How far below the newest block nodes are asked when they do not agree there: they may just be replacing the last blocks, one
 * may not have them yet, and another may not answer what is asked.
 */
export const BELOW_HEAD = [0, 2, 8]

export async function readHead(nodes: Nodes): Promise<{ block: Block }> {
  const heads = await everyone(nodes, { read: (node) => node.block('latest'), isClear: areClose(nodes, CLOSE_HEADS) })
  const heights = heads.map(({ number }) => number)
  const height = quorumth(nodes, heights)
  if (height === null) throw noQuorum('what the newest block is')
  const told = quorumBlock(nodes, heads, height)
  if (told !== null) return { block: told }
  // One that is far behind may be the only one to agree with.
  const lower = [
    ...BELOW_HEAD.map((below) => Math.max(0, height - below)),
    ...heights.filter((other) => other < height),
  ]
  for (const number of [...new Set(lower)].toSorted((a, b) => b - a)) {
    const block = await nodes.agreed((node) => node.block(number))
    if (block !== null) return { block: block.value }
  }
  throw noQuorum(`which block has the number ${height}`)
}

/**
 * What a quorum says at the block with this number, or at the highest of those a little below it at which there is one. Null
 * when there is none.
 */
export async function agreedNear<T>(
  nodes: Nodes,
  head: number,
  read: (node: RpcNode, at: number) => Promise<T>,
): Promise<{ value: T; at: number } | null> {
  for (const at of new Set(BELOW_HEAD.map((below) => Math.max(0, head - below)))) {
    const answer = await nodes.agreed((node) => read(node, at))
    if (answer !== null) return { value: answer.value, at }
  }
  return null
}

/** The height that a quorum of nodes has reached: the quorum-th highest of their final blocks. */
export async function readFinalized(nodes: Nodes): Promise<Block | null> {
  const isClear = areClose(nodes, CLOSE_FINALS)
  const finals = await everyone(nodes, { read: (node) => node.block('finalized'), isClear })
  const height = quorumth(
    nodes,
    finals.map(({ number }) => number),
  )
  if (height === null) return null
  const told = quorumBlock(nodes, finals, height)
  return told ?? (await nodes.agreed((node) => node.block(height)))?.value ?? null
}

/** Whether the highest of a quorum are close together: then the slower nodes make no difference. */
const areClose =
  ({ quorum }: Nodes, blocks: number) =>
  (told: readonly Block[]): boolean => {
    const heights = told.map(({ number }) => number).toSorted((a, b) => b - a)
    return (heights[0] ?? 0) - (heights[quorum - 1] ?? 0) <= blocks
  }

/** The block at a height that a quorum has just told. Mostly they are at one block, and nothing more need be asked. */
function quorumBlock({ quorum }: Nodes, told: readonly Block[], height: number): Block | null {
  const here = told.filter(({ number }) => number === height)
  // All of it: with the right hash one node could tell a false parent or time.
  const isSame = (a: Block, b: Block): boolean =>
    a.hash === b.hash && a.parentHash === b.parentHash && a.timestamp === b.timestamp
  return here.find((one) => here.filter((other) => isSame(one, other)).length >= quorum) ?? null
}

/** Of base fee and of each block's tip the quorum-th highest: a node that says a dear price is alone with it. */
export async function readFees(nodes: Nodes, blocks: number): Promise<FeeHistory> {
  const histories = await everyone(nodes, { read: (node) => node.feeHistory(blocks), isClear: areAlike })
  const nextBaseFee = quorumth(
    nodes,
    histories.map((history) => history.nextBaseFee),
  )
  if (nextBaseFee === null) throw noQuorum('what gas costs')
  const tips = histories.map((history) => medianOf(history.tips))
  return { nextBaseFee, tips: [quorumth(nodes, tips) ?? 0n] }
}

/** Of prices that differ by more than a quarter one may be false, and all nodes are waited for. */
const areAlike = (told: readonly FeeHistory[]): boolean =>
  [told.map(({ nextBaseFee }) => nextBaseFee), told.map(({ tips }) => medianOf(tips))].every((prices) => {
    const [lowest = 0n, ...higher] = prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    return (higher.at(-1) ?? lowest) * 4n <= lowest * 5n
  })

function medianOf(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

type Question<T> = {
  readonly read: (node: RpcNode) => Promise<T>
  /** Whether the answers of a quorum suffice, and the slower nodes are not waited for. */
  readonly isClear: (values: readonly T[]) => boolean
}

/**
 * Everything that is answered soon after a quorum has answered; when that does not suffice, everything that is answered.
 * Less than a quorum when no more answer at all.
 */
function everyone<T>(nodes: Nodes, { read, isClear }: Question<T>): Promise<T[]> {
  const list = nodes.asked()
  return gather<T, T[]>({
    nodes: list,
    first: list.length,
    graceMs: GRACE_MS,
    read,
    judge({ answers, open }) {
      const values = answers.map(({ value }) => value)
      return open === 0 || (values.length >= nodes.quorum && isClear(values)) ? values : undefined
    },
  })
}

/** What at least a quorum of the answers reaches; null when there are fewer answers. */
function quorumth<T extends number | bigint>({ quorum }: Nodes, values: readonly T[]): T | null {
  return values.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0))[quorum - 1] ?? null
}

export const noQuorum = (what: string): NodeFailure =>
  new NodeFailure('rpc', { kind: 'silent', answer: `no quorum of nodes says ${what} now` })

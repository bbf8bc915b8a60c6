import { NodeFailure } from './failure.ts'
import { gather, type Nodes } from './gather.ts'
import type { Block, FeeHistory, RpcNode } from './node.ts'

/** How long the slower nodes are waited for when a quorum has answered, so that a fast node that is behind tells less. */
const GRACE_MS = 150

/** How far below the newest height the nodes are asked for one hash: they may just be replacing the last blocks. */
const BELOW_HEAD = [0, 2, 8]

export async function readHead(nodes: Nodes): Promise<{ block: Block }> {
  const heads = await everyone(nodes, (node) => node.block('latest'))
  const height = quorumth(
    nodes,
    heads.map(({ number }) => number),
  )
  if (height === null) throw noQuorum('what the newest block is')
  const told = quorumBlock(nodes, heads, height)
  if (told !== null) return { block: told }
  for (const below of BELOW_HEAD) {
    const block = await nodes.agreed((node) => node.block(Math.max(0, height - below)))
    if (block !== null) return { block: block.value }
  }
  throw noQuorum(`which block has the number ${height}`)
}

/** The height that a quorum of nodes has reached: the quorum-th highest of their final blocks. */
export async function readFinalized(nodes: Nodes): Promise<Block | null> {
  const finals = await everyone(nodes, (node) => node.block('finalized'))
  const height = quorumth(
    nodes,
    finals.map(({ number }) => number),
  )
  if (height === null) return null
  const told = quorumBlock(nodes, finals, height)
  return told ?? (await nodes.agreed((node) => node.block(height)))?.value ?? null
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
  const histories = await everyone(nodes, (node) => node.feeHistory(blocks))
  const nextBaseFee = quorumth(
    nodes,
    histories.map((history) => history.nextBaseFee),
  )
  if (nextBaseFee === null) throw noQuorum('what gas costs')
  const tips = histories.map((history) => medianOf(history.tips))
  return { nextBaseFee, tips: [quorumth(nodes, tips) ?? 0n] }
}

function medianOf(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

/** Everything that is answered soon after a quorum has answered. Less than a quorum when no more answer at all. */
function everyone<T>(nodes: Nodes, read: (node: RpcNode) => Promise<T>): Promise<T[]> {
  const list = nodes.asked()
  return gather<T, T[]>({
    nodes: list,
    first: list.length,
    graceMs: GRACE_MS,
    read,
    judge: ({ answers, open }) =>
      answers.length >= nodes.quorum || open === 0 ? answers.map(({ value }) => value) : undefined,
  })
}

/** What at least a quorum of the answers reaches; null when there are fewer answers. */
function quorumth<T extends number | bigint>({ quorum }: Nodes, values: readonly T[]): T | null {
  return values.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0))[quorum - 1] ?? null
}

export const noQuorum = (what: string): NodeFailure =>
  new NodeFailure('rpc', { kind: 'silent', answer: `no quorum of nodes says ${what} now` })

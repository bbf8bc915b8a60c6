import type { Hex } from '../../../domain/hex.ts'
import { NodeFailure } from '../../rpc/failure.ts'
import type { Block, RpcNode } from '../../rpc/node.ts'
import type { Blocks } from '../reach.ts'

export type Hashes = ReadonlyMap<number, Hex>

/**
 * Most blocks asked for together: one HTTP request. A block of 140 million gas has 6,660 transfers, whose hashes are 0.46 MB:
 * sixteen such blocks are 7.4 MB, and one answer has at most 10.
 */
const TOGETHER = 16

/**
 * Walks from `head` down to `base` (not included) by parent hashes, and stops at a block of the last walk. Throws
 * NodeFailure when this node's blocks do not lead down from the head: it is on another branch, or the chain changed
 * meanwhile.
 */
export async function walkChain(node: RpcNode, range: { base: number; head: Block }, known: Hashes): Promise<Hashes> {
  const chain = new Map<number, Hex>([[range.head.number, range.head.hash]])
  let parent = range.head.parentHash
  let number = range.head.number - 1
  // Mostly a block or two are new.
  let together = Math.min(TOGETHER, Math.max(1, number - Math.max(range.base, ...known.keys())))
  while (number > range.base && known.get(number) !== parent) {
    const count = Math.min(together, number - range.base)
    const numbers = Array.from({ length: count }, (_block, below) => number - below)
    for (const block of await Promise.all(numbers.map((at) => node.block(at)))) {
      if (known.get(block.number) === parent) break
      if (block.hash !== parent)
        throw new NodeFailure(node.name, { kind: 'refused', answer: `block ${block.number} is on another branch` })
      chain.set(block.number, block.hash)
      parent = block.parentHash
      number = block.number - 1
    }
    together = TOGETHER
  }
  for (; number > range.base; number--) {
    const hash = known.get(number)
    if (hash !== undefined) chain.set(number, hash)
  }
  return chain
}

/** The number of blocks of the last walk that have another hash now. */
export function replacedBlocks(known: Hashes, chain: Hashes): number {
  return [...known].filter(([number, hash]) => chain.has(number) && chain.get(number) !== hash).length
}

/** The newest of the blocks, as one range of at most `count`. */
export function newestRange(numbers: readonly number[], count: number): Blocks {
  const to = Math.max(...numbers)
  return { from: Math.min(...numbers.filter((number) => number > to - count)), to }
}

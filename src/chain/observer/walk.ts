import type { Hex } from '../../domain/hex.ts'
import type { Block, RpcNode } from '../rpc/node.ts'

export type Hashes = ReadonlyMap<number, Hex>

/**
 * Walks from `head` down to `base` (not included) by parent hashes, and stops at a block of the last walk. Null when
 * the chain changed meanwhile; the next round walks again.
 */
export async function walkChain(
  node: RpcNode,
  range: { base: number; head: Block },
  known: Hashes,
): Promise<Hashes | null> {
  const chain = new Map<number, Hex>([[range.head.number, range.head.hash]])
  let parent = range.head.parentHash
  let number = range.head.number - 1
  while (number > range.base && known.get(number) !== parent) {
    const block = await node.block(number)
    if (block.hash !== parent) return null
    chain.set(number, block.hash)
    parent = block.parentHash
    number--
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

/** The range of blocks that are new since the last walk; null when there is none. */
export function newBlocks(known: Hashes, chain: Hashes): { fromBlock: number; toBlock: number } | null {
  const fresh = [...chain].filter(([number, hash]) => known.get(number) !== hash).map(([number]) => number)
  return fresh.length === 0 ? null : { fromBlock: Math.min(...fresh), toBlock: Math.max(...fresh) }
}

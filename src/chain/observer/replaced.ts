import type { ChainCursor } from '../../domain/settlement/payout.ts'
import type { Block } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'

type Place = Pick<ChainCursor, 'number' | 'hash'>

/**
 * The last block that was read; null when it is another one now, or no quorum says which it is. Then nothing that is asked
 * about it is final, and a transfer that was read before may be at another place, and would count twice.
 */
export async function readLastBlock(rpc: Rpc, { number, hash }: Place): Promise<Block | null> {
  const now = await rpc.agreed((node) => node.block(number))
  return now?.value.hash === hash ? now.value : null
}

export const isReplaced = async (rpc: Rpc, place: Place): Promise<boolean> => (await readLastBlock(rpc, place)) === null

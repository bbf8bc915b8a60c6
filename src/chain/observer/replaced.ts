import type { ChainCursor } from '../../domain/settlement/payout.ts'
import type { Rpc } from '../rpc/rpc.ts'

/**
 * Whether the last block that was read is another one now, or no quorum says which it is. Then nothing that is asked about
 * it is final, and a transfer that was read before may be at another place, and would count twice.
 */
export async function isReplaced(rpc: Rpc, { number, hash }: Pick<ChainCursor, 'number' | 'hash'>): Promise<boolean> {
  const now = await rpc.agreed((node) => node.block(number))
  return now?.value.hash !== hash
}

import type { Hex } from '../../../domain/hex.ts'

/**
 * Most gas of what is kept of one reading, so that a node which invents it cannot fill the memory: 170,000 transfers are
 * about 120 MB. A block of 140 million gas that a stranger fills has 24,000 of the treasury's, which take 42 million here: the
 * token's own work, some 4,000 gas each, is not counted.
 */
const MOST_GAS = 300_000_000

/** Whether there is room for so much gas more. */
export type Room = {
  takes(gas: number): boolean
}

export function createRoom(): Room {
  let left = MOST_GAS
  return {
    takes(gas) {
      left -= gas
      return left >= 0
    },
  }
}

const bytesOf = (data: Hex): number => data.length / 2 - 1

/** What a log costs at least (LOG0 to LOG4 of the Yellow Paper, appendix G). */
export const logGas = ({ topics, data }: { readonly topics: readonly Hex[]; readonly data: Hex }): number =>
  375 * (1 + topics.length) + 8 * bytesOf(data)

/** What a transaction costs at least: each byte at least 10 (EIP-7623). */
export const transactionGas = ({ input }: { readonly input: Hex }): number => 21_000 + 10 * bytesOf(input)

import type { Hex } from '../../../domain/hex.ts'

/**
 * Maximum gas of the data that is kept of one reading, so that a node that invents it cannot fill the memory: 170,000
 * transfers are about 120 MB. A block of 140 million gas that a stranger fills has 24,000 of the treasury's, which take
 * 42 million here: the token's own work, some 4,000 gas each, is not counted.
 */
const MAX_GAS = 300_000_000

/** Takes gas, and returns false if there was not enough room. */
export type Room = {
  takes(gas: number): boolean
}

export function createRoom(): Room {
  let left = MAX_GAS
  return {
    takes(gas) {
      left -= gas
      return left >= 0
    },
  }
}

const countBytes = (data: Hex): number => data.length / 2 - 1

/** Returns the minimum gas of a log (LOG0 to LOG4 of the Yellow Paper, appendix G). */
export const logGas = ({ topics, data }: { readonly topics: readonly Hex[]; readonly data: Hex }): number =>
  375 * (1 + topics.length) + 8 * countBytes(data)

/** Returns the minimum gas of a transaction: each byte costs at least 10 (EIP-7623). */
export const transactionGas = ({ input }: { readonly input: Hex }): number => 21_000 + 10 * countBytes(input)

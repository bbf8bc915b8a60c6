import { keccak256 } from 'viem/utils'
import type { Hex } from '../domain/hex.ts'

/** Returns a lower-case address in the mixed case of EIP-55. */
export function checksumAddress(address: string): Hex {
  const digits = address.slice(2)
  const hash = keccak256(new TextEncoder().encode(digits)).slice(2)
  const mixed = Array.from(digits, (digit, index) =>
    Number.parseInt(hash[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${mixed.join('')}`
}

import { createKeccak } from 'hash-wasm'
import type { Hex } from '../domain/hex.ts'

const hasher = await createKeccak(256)

/**
 * keccak256 in WebAssembly: 2 µs for an authorization and 0.2 ms for a signed batch. The JavaScript implementation
 * takes 23 µs and 4 ms, which was a quarter of all the work for a payout.
 */
export function keccak256(value: Hex): Hex {
  hasher.init()
  hasher.update(Buffer.from(value.slice(2), 'hex'))
  return `0x${hasher.digest()}`
}

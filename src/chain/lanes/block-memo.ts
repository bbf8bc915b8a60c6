import type { Hex } from '../../domain/hex.ts'

/** Returns what was read at the block with this hash; reads it the first time. */
export type BlockMemo<T> = (hash: Hex, read: () => Promise<T>) => Promise<T>

/** Keeps an answer until the next block is asked about: at one block it cannot change. Null is an answer that is missing. */
export function createBlockMemo<T>(): BlockMemo<T> {
  let known: { readonly hash: Hex; readonly value: T } | null = null
  return async (hash, read) => {
    if (known?.hash === hash) return known.value
    const value = await read()
    if (value !== null) known = { hash, value }
    return value
  }
}

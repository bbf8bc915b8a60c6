/** Returns the value for a block's hash, which may be followed by the question; reads it the first time. */
export type BlockMemo<T> = (key: string, read: () => Promise<T>) => Promise<T>

/**
 * Caches one answer until the next block: at one block it cannot change. Null is a missing answer and is not cached.
 */
export function createBlockMemo<T>(): BlockMemo<T> {
  let known: { readonly key: string; readonly value: T } | null = null
  return async (key, read) => {
    if (known?.key === key) return known.value
    const value = await read()
    if (value !== null) known = { key, value }
    return value
  }
}

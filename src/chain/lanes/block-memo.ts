/** Returns what was read at the block with this hash, which may be followed by what was asked; reads it the first time. */
export type BlockMemo<T> = (key: string, read: () => Promise<T>) => Promise<T>

/** Keeps an answer until the next block is asked about: at one block it cannot change. Null is an answer that is missing. */
export function createBlockMemo<T>(): BlockMemo<T> {
  let known: { readonly key: string; readonly value: T } | null = null
  return async (key, read) => {
    if (known?.key === key) return known.value
    const value = await read()
    if (value !== null) known = { key, value }
    return value
  }
}

/** Most blocks in one question for logs: within most nodes' limits. */
export const LOG_RANGE = 1000

export type Reach = {
  /** Reads of the first of `open` blocks as many as it is given. Null, or an error, when they could not be read. */
  read<T>(open: number, reading: (blocks: number) => Promise<T | null>): Promise<T | null>
}

/**
 * How many blocks are read at once: half as many after each reading that fails, for whatever reason, and twice as many
 * after one that does not. So blocks are read at last by nodes of any limit and speed, and also when there is more in a
 * range than can be asked in time.
 */
export function createReach(most = LOG_RANGE): Reach {
  let reach = most
  return {
    async read(open, reading) {
      const before = reach
      const blocks = Math.min(open, before)
      reach = Math.max(1, Math.floor(blocks / 2))
      const value = await reading(blocks)
      if (value !== null) reach = Math.min(most, Math.max(before, blocks * 2))
      return value
    },
  }
}

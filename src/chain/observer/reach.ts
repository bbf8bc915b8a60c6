/** Blocks from the first to the last, both included. */
export type Blocks = { readonly from: number; readonly to: number }

export type Reach = {
  /** Reads at most so many blocks as `reading` is given. Null, or an error, when they could not be read. */
  read<T>(open: number, reading: (count: number) => Promise<T | null>): Promise<T | null>
  /** Reads blocks in their order, range after range, as far as they can be read in one round. */
  readOn<T>(open: Blocks, reading: (range: Blocks) => Promise<T | null>): Promise<T[]>
}

/** Most blocks in one question for logs: within most nodes' limits. */
const LOG_RANGE = 1000
/** Readings without a failure after which is tried again what failed: a failure may take half a minute, and should be rare. */
const CALM = 8

/** Most ranges read in one round, and for how many milliseconds: catching up must not starve the other parts. */
const RANGES_PER_ROUND = 10
const ROUND_MS = 10_000

/**
 * How many blocks are read at once: half as many after each reading that fails, so that blocks are read at last by nodes of
 * any limit, and also when there is more in a range than can be asked in time. A single block that cannot be read has another
 * cause. After readings that do not fail it is twice as many, as long as that has not failed just now.
 */
export function createReach(most = LOG_RANGE): Reach {
  let reach = most
  let tooMany = Number.POSITIVE_INFINITY
  let calm = 0

  function failed(count: number): void {
    calm = 0
    const isTooMuch = count > 1
    tooMany = isTooMuch ? count : Number.POSITIVE_INFINITY
    reach = isTooMuch ? Math.floor(count / 2) : most
  }

  function worked(count: number): void {
    calm += 1
    if (calm % CALM === 0) tooMany = Number.POSITIVE_INFINITY
    if (count * 2 < tooMany) reach = Math.min(most, Math.max(reach, count * 2))
  }

  async function read<T>(open: number, reading: (count: number) => Promise<T | null>): Promise<T | null> {
    const count = Math.min(open, reach)
    const value = await reading(count).catch((error: unknown) => {
      failed(count)
      throw error
    })
    if (value === null) failed(count)
    else worked(count)
    return value
  }

  return {
    read,
    async readOn<T>(open: Blocks, reading: (range: Blocks) => Promise<T | null>): Promise<T[]> {
      const values: T[] = []
      const until = performance.now() + ROUND_MS
      for (let { from } = open; from <= open.to && values.length < RANGES_PER_ROUND; ) {
        if (values.length > 0 && performance.now() > until) break
        let to = from
        const value = await read(open.to - from + 1, (count) => {
          to = from + count - 1
          return reading({ from, to })
        })
        if (value === null) break
        values.push(value)
        from = to + 1
      }
      return values
    },
  }
}

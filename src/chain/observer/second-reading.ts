import type { Blocks } from './reach.ts'

/**
 * Every block is read a second time when so many final ones have followed: about half a minute on Polygon. A node that
 * has the block but not its logs yet answers an empty list, and so may two of three.
 */
const READ_AGAIN_AFTER = 16
/** So many together: one question for each block would be half of all that is asked while nothing happens. */
const READ_AGAIN_TOGETHER = 8
/** How far back blocks are read a second time at most: an engine that reads again after days must not read all of that. */
const READ_AGAIN_AT_MOST = 4096
/** How far back a new start reads a second time, because it does not know what was read when. */
const READ_AGAIN_AT_START = 64

/** Which blocks were read twice. In memory: a new start begins a little earlier. */
export function createSecondReading() {
  let readTwice: number | null = null
  return {
    /** The blocks to be read a second time now; null when they are too few. */
    due({ number, firstNumber }: { number: number; firstNumber: number }): Blocks | null {
      const from = Math.max(readTwice ?? number - READ_AGAIN_AT_START, number - READ_AGAIN_AT_MOST, firstNumber) + 1
      const to = number - READ_AGAIN_AFTER
      return to - from + 1 < READ_AGAIN_TOGETHER ? null : { from, to }
    },
    done(to: number): void {
      readTwice = to
    },
  }
}

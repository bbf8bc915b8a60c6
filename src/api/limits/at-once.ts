import { Problem } from '../http/problems.ts'

/** How much one account may have done for it at the same moment, in one process. The rest waits for its turn. */
export type AtOnce = <T>(key: string, work: () => Promise<T>) => Promise<T>

export type AtOnceSettings = { readonly running: number; readonly waiting: number }

type Turns = { running: number; readonly queue: (() => void)[] }

/** Throws `rate_limited` (429) when too many wait already. */
export function createAtOnce({ running, waiting }: AtOnceSettings): AtOnce {
  const turns = new Map<string, Turns>()
  return async (key, work) => {
    const mine = turns.get(key) ?? { running: 0, queue: [] }
    turns.set(key, mine)
    if (mine.running >= running) {
      if (mine.queue.length >= waiting)
        throw new Problem(
          'rate_limited',
          `Too many concurrent list requests (limit: ${running} running, ${waiting} queued). Try again in 1 s.`,
          { headers: { 'retry-after': '1' }, isHeld: true },
        )
      // Who ends passes the turn on, so nobody comes in between.
      await new Promise<void>((resolve) => mine.queue.push(resolve))
    } else mine.running += 1
    try {
      return await work()
    } finally {
      const next = mine.queue.shift()
      if (next !== undefined) next()
      else if (--mine.running === 0) turns.delete(key)
    }
  }
}

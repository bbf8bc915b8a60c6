import { setTimeout as delay } from 'node:timers/promises'

/** Shorter when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined)
}

/**
 * A bound on the calls to one node: `perSecond` on average, and as many at once. More wait for their turn. Answers
 * false when the turn would come later than `withinMs`.
 */
export type Budget = { take(withinMs: number): Promise<boolean> }

export function createBudget(perSecond: number, now: () => number): Budget {
  let left = perSecond
  let filledAt = now()
  return {
    async take(withinMs) {
      left = Math.min(perSecond, left + ((now() - filledAt) / 1000) * perSecond)
      filledAt = now()
      const waitMs = left >= 1 ? 0 : ((1 - left) / perSecond) * 1000
      if (waitMs > withinMs) return false
      // Taken at once, so that those who come later wait longer.
      left -= 1
      if (waitMs > 0) await pause(waitMs)
      return true
    },
  }
}

/** A bound on the calls to one node that are under way. More wait for their turn, the first come first. */
export type Turns = {
  /**
   * However long it takes: those before it have a deadline each, and end. Answers false when `signal` is aborted before. After
   * true, `give` must follow.
   */
  take(signal?: AbortSignal): Promise<boolean>
  give(): void
}

export function createTurns(atOnce: number): Turns {
  const waiting = new Set<() => void>()
  let free = atOnce
  return {
    take(signal) {
      if (signal?.aborted === true) return Promise.resolve(false)
      if (free > 0) {
        free -= 1
        return Promise.resolve(true)
      }
      return new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(start)
          resolve(false)
        }
        const start = (): void => {
          signal?.removeEventListener('abort', leave)
          waiting.delete(start)
          resolve(true)
        }
        waiting.add(start)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
    give() {
      const [next] = waiting
      if (next === undefined) free += 1
      else next()
    },
  }
}

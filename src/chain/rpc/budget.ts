import { setTimeout as delay } from 'node:timers/promises'

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
      if (waitMs > 0) await delay(waitMs)
      return true
    },
  }
}

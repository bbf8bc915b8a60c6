import { setTimeout as delay } from 'node:timers/promises'

/** Bounds how many calls a second this process makes to one party. More wait for their turn. */
export type Rate = {
  /** Resolves when the call can be made. Returns false if that is later than `withinMs`; it then counts for nothing. */
  readonly take: (withinMs?: number) => Promise<boolean>
}

/** `burst`: calls that can be made at once after a silence. `now`: milliseconds of a clock that only goes forward. */
export type RateRules = { readonly perSecond: number; readonly burst: number; readonly now?: () => number }

export function createRate({ perSecond, burst, now = () => performance.now() }: RateRules): Rate {
  let left = burst
  let filledAt = now()
  return {
    async take(withinMs = Number.POSITIVE_INFINITY) {
      left = Math.min(burst, left + ((now() - filledAt) / 1000) * perSecond)
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

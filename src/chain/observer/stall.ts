import { isRecent, type SettlementDeps } from '../context.ts'

/** In milliseconds. How long a part of the observer may stand before people are told, and how often they are told. */
const TOLD_EVERY_MS = 60_000

/** Tells people why a part of the observer has not come on for a minute. Failures that are thrown are told by themselves. */
export function createStall({ log, clock }: Pick<SettlementDeps, 'log' | 'clock'>, part: string) {
  let since: number | null = null
  let toldAt = Number.NEGATIVE_INFINITY
  return {
    ends(): void {
      since = null
    },
    goesOn(why: string): void {
      const now = clock().getTime()
      // Of a clock that was set back, too.
      since = Math.min(since ?? now, now)
      if (isRecent(since, now, TOLD_EVERY_MS) || isRecent(toldAt, now, TOLD_EVERY_MS)) return
      toldAt = now
      log.warn({ seconds: Math.round((now - since) / 1000) }, `${part} does not come on: ${why}`)
    },
  }
}

import { isRecent, type SettlementDeps } from '../context.ts'

/** Milliseconds for which a part of the observer may stall before that is logged, and between two log lines. */
const LOG_EVERY_MS = 60_000

/** Logs why a part of the observer has stalled for a minute. Failures that are thrown are logged separately. */
export function createStall({ log, clock }: Pick<SettlementDeps, 'log' | 'clock'>, part: string) {
  let since: number | null = null
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    ends(): void {
      since = null
    },
    persists(why: string): void {
      const now = clock().getTime()
      // Also if the clock was set back.
      since = Math.min(since ?? now, now)
      if (isRecent(since, now, LOG_EVERY_MS) || isRecent(loggedAt, now, LOG_EVERY_MS)) return
      loggedAt = now
      log.warn({ seconds: Math.round((now - since) / 1000) }, `${part} does not come on: ${why}`)
    },
  }
}

import type { Look, SettlementEngine } from '../chain/engine.ts'
import type { Lead } from '../domain/settlement/lead.ts'

/** Milliseconds for which a look for one part serves another part too. */
const FRESH_MS = 300

export type Looks = {
  take(): Promise<Look | null>
  /** Returns the latest look, once, if it is fresh; else a new one. Null for a part that has nothing to do. */
  share(isWoken: boolean): Promise<Look | null>
  /** Like `share`, as often as it is asked. */
  lead(isWoken: boolean): Promise<Lead | null>
  forget(): void
}

/**
 * Shares looks, so that there is one statement for what several parts read. A look is as old as its request.
 * `outdatedMs`: milliseconds after which a look shows nothing about what there is to do now.
 */
export function createLooks(engine: Pick<SettlementEngine, 'look' | 'lead'>, outdatedMs: number): Looks {
  let takenAt = Number.NEGATIVE_INFINITY
  let latest: { readonly look: Look; readonly at: number } | null = null
  let changedAt = Number.NEGATIVE_INFINITY
  const fresh = (): Look | null =>
    latest !== null && latest.at > changedAt && performance.now() - latest.at < FRESH_MS ? latest.look : null
  /** The part that looks for all others has woken those that have something to do, if it looked recently. */
  const hasNothing = (isWoken: boolean): boolean => !isWoken && performance.now() - takenAt < outdatedMs
  return {
    async take() {
      const at = performance.now()
      const look = await engine.look()
      latest = look && { look, at }
      takenAt = at
      return look
    },
    async share(isWoken) {
      if (hasNothing(isWoken)) return null
      const known = fresh()
      latest = null
      return known ?? engine.look()
    },
    async lead(isWoken) {
      return hasNothing(isWoken) ? null : (fresh()?.lead ?? engine.lead())
    },
    forget() {
      changedAt = performance.now()
    },
  }
}

export type SlowEndpoints = {
  /** When that time is over, the first caller tries it, and the others still leave it out. */
  readonly isLeftOut: (endpointId: string) => boolean
  readonly answered: (endpointId: string, durationMs: number) => void
}

/** Milliseconds: most receivers respond in a few hundred. */
export const SLOW_MS = 3000
/** Milliseconds until a try shows whether it has become faster. */
const LEFT_OUT_MS = 10 * 60_000
/** Limits the memory: the endpoint that was slow longest ago is dropped. */
const MOST = 10_000

/** `now`: Unix milliseconds. */
export function createSlowEndpoints(now: () => number): SlowEndpoints {
  const leftOutUntil = new Map<string, number>()

  function leaveOut(id: string): void {
    leftOutUntil.delete(id)
    leftOutUntil.set(id, now() + LEFT_OUT_MS)
    const [oldest] = leftOutUntil.keys()
    if (leftOutUntil.size > MOST && oldest !== undefined) leftOutUntil.delete(oldest)
  }

  return {
    isLeftOut(id) {
      const until = leftOutUntil.get(id)
      if (until === undefined) return false
      if (now() < until) return true
      leaveOut(id)
      return false
    },
    answered(id, durationMs) {
      if (durationMs < SLOW_MS) leftOutUntil.delete(id)
      else leaveOut(id)
    },
  }
}

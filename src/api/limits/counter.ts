/** Counts in windows of time that are the same for every process: the first begins at the Unix epoch. */
export type Counter = {
  /** Counts unless the points of this window are used up. The last cost can exceed them. */
  readonly take: (key: string, cost?: number) => Taken
  /** Returns counts of heavily used keys that the other processes do not have yet. */
  readonly listUnreported: () => CountReport[]
  readonly learn: (report: CountReport, total: number) => void
}

/** `resetMs`: until the window ends. `refused`: refusals of this process in this window. */
export type Taken = {
  readonly taken: boolean
  readonly remaining: number
  readonly resetMs: number
  readonly refused: number
}

/** `endsAt`: Unix milliseconds. */
export type CountReport = { readonly key: string; readonly endsAt: number; readonly count: number }

export type CounterSettings = {
  readonly points: number
  readonly windowSeconds: number
  /** Unix milliseconds. */
  readonly clock: () => number
  /** Keys in memory. Above this number the oldest are dropped. */
  readonly keys?: number
}

/** An entry has about 150 bytes, so this is about 15 MB, far above ordinary use. */
const KEYS = 100_000
/** Share of the points that a process counts before it reports them, so that ordinary use costs no statement. */
const SHARED_FROM = 0.25

/** `stored`: what the store has, including this process's counts. `own`: what it does not have yet. */
type Entry = { endsAt: number; stored: number; own: number; refused: number }

export function createCounter({ points, windowSeconds, clock, keys = KEYS }: CounterSettings): Counter {
  const entries = new Map<string, Entry>()
  const reportable = new Set<string>()
  const windowMs = windowSeconds * 1000

  function current(key: string): Entry {
    const endsAt = (Math.floor(clock() / windowMs) + 1) * windowMs
    const known = entries.get(key)
    if (known !== undefined && known.endsAt === endsAt) return known
    entries.delete(key)
    forgetTwo(endsAt)
    const fresh = { endsAt, stored: 0, own: 0, refused: 0 }
    entries.set(key, fresh)
    return fresh
  }

  /**
   * A map keeps its keys in insertion order. Each new key removes up to two old ones, so that no expired entries stay.
   */
  function forgetTwo(endsAt: number): void {
    let seen = 0
    for (const [key, entry] of entries) {
      seen += 1
      if (seen > 2 || (entries.size < keys && entry.endsAt === endsAt)) return
      entries.delete(key)
      reportable.delete(key)
    }
  }

  return {
    take(key, cost = 1) {
      const entry = current(key)
      const taken = entry.stored + entry.own < points
      if (taken) entry.own += cost
      else entry.refused += 1
      if (entry.stored + entry.own >= points * SHARED_FROM) reportable.add(key)
      const remaining = Math.max(0, points - entry.stored - entry.own)
      return { taken, remaining, resetMs: entry.endsAt - clock(), refused: entry.refused }
    },
    listUnreported() {
      return [...reportable].flatMap((key) => {
        const { endsAt, own } = entries.get(key) ?? { endsAt: 0, own: 0 }
        if (own > 0 && endsAt > clock()) return [{ key, endsAt, count: own }]
        reportable.delete(key)
        return []
      })
    },
    learn({ key, endsAt, count }, total) {
      const entry = entries.get(key)
      if (entry?.endsAt !== endsAt) return
      entry.stored = total
      entry.own -= count
    },
  }
}

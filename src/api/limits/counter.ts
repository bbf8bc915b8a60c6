/** Counts in windows of time that are the same for every process: the first begins at the Unix epoch. */
export type Counter = {
  /** Counts the cost for the key, unless it has had its points in this window. The last one may go beyond them. */
  readonly take: (key: string, cost?: number) => Taken
  /** What is to be told to the other processes: keys of which much is used here, and how much they have not heard of. */
  readonly untold: () => Told[]
  /** They have heard of it, and have counted so many together with us. */
  readonly learn: (told: Told, total: number) => void
}

/** `resetMs`: until the window ends. `refused`: so often in this window, by this process. */
export type Taken = {
  readonly taken: boolean
  readonly remaining: number
  readonly resetMs: number
  readonly refused: number
}

/** `endsAt`: Unix milliseconds. */
export type Told = { readonly key: string; readonly endsAt: number; readonly count: number }

export type CounterSettings = {
  readonly points: number
  readonly windowSeconds: number
  /** Unix milliseconds. */
  readonly clock: () => number
  /** Keys that are remembered; of more the oldest are forgotten. */
  readonly keys?: number
}

/** An entry is about 150 bytes, so this is about 15 MB, which nobody in ordinary life comes near. */
const KEYS = 100_000
/** Part of the points that a process lets be used before it tells the others, so that ordinary use costs no statement. */
const TOLD_FROM = 0.25

/** `told`: what the store has, ours among it. `own`: what it has not heard of yet. */
type Entry = { endsAt: number; told: number; own: number; refused: number }

export function createCounter({ points, windowSeconds, clock, keys = KEYS }: CounterSettings): Counter {
  const entries = new Map<string, Entry>()
  const much = new Set<string>()
  const windowMs = windowSeconds * 1000

  function current(key: string): Entry {
    const endsAt = (Math.floor(clock() / windowMs) + 1) * windowMs
    const known = entries.get(key)
    if (known !== undefined && known.endsAt === endsAt) return known
    entries.delete(key)
    forgetTwo(endsAt)
    const fresh = { endsAt, told: 0, own: 0, refused: 0 }
    entries.set(key, fresh)
    return fresh
  }

  /** A map has its keys in the order in which they came. Two go for one that comes, so that none of the past stay. */
  function forgetTwo(endsAt: number): void {
    let seen = 0
    for (const [key, entry] of entries) {
      seen += 1
      if (seen > 2 || (entries.size < keys && entry.endsAt === endsAt)) return
      entries.delete(key)
      much.delete(key)
    }
  }

  return {
    take(key, cost = 1) {
      const entry = current(key)
      const taken = entry.told + entry.own < points
      if (taken) entry.own += cost
      else entry.refused += 1
      if (entry.told + entry.own >= points * TOLD_FROM) much.add(key)
      const remaining = Math.max(0, points - entry.told - entry.own)
      return { taken, remaining, resetMs: entry.endsAt - clock(), refused: entry.refused }
    },
    untold() {
      return [...much].flatMap((key) => {
        const { endsAt, own } = entries.get(key) ?? { endsAt: 0, own: 0 }
        if (own > 0 && endsAt > clock()) return [{ key, endsAt, count: own }]
        much.delete(key)
        return []
      })
    },
    learn({ key, endsAt, count }, total) {
      const entry = entries.get(key)
      if (entry?.endsAt !== endsAt) return
      entry.told = total
      entry.own -= count
    },
  }
}

import { createHmac } from 'node:crypto'
import type { Counted } from '../../db/limits.ts'
import type { Counter, Told } from './counter.ts'

/**
 * Lets processes count together. Each counts in memory, so that no request waits; a few times a second it tells the
 * others what it counted where much of a limit is used, in one statement, and learns what all have counted. Until then
 * a limit may be exceeded by what came in between.
 */
export type SharedCountersDeps = {
  readonly counters: Readonly<Record<string, Counter>>
  /** Keys are addresses and tokens of links: only their HMAC with it is stored. */
  readonly secret: string
  /** Adds to what is stored, and answers what is stored then, by key. */
  readonly add: (counts: readonly Counted[]) => Promise<ReadonlyMap<string, number>>
  /** Deletes what is over. */
  readonly forget: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Milliseconds between two statements. */
const EVERY_MS = 200
const FORGET_EVERY_MS = 60_000

export type SharedCounters = {
  /** Tells and learns once. */
  readonly exchange: () => Promise<void>
  readonly close: () => void
}

export function createSharedCounters(deps: SharedCountersDeps): SharedCounters {
  let busy = false
  const whenFree = (work: () => Promise<unknown>) => (): void => {
    if (busy) return
    busy = true
    // Nothing is lost by an error: what was not told is told next time.
    void work()
      .catch(deps.onError)
      .finally(() => {
        busy = false
      })
  }
  const tell = whenFree(() => exchange(deps))
  const telling = setInterval(tell, EVERY_MS)
  const forgetting = setInterval(whenFree(deps.forget), FORGET_EVERY_MS)
  for (const timer of [telling, forgetting]) timer.unref()
  return {
    exchange: () => exchange(deps),
    close: () => {
      clearInterval(telling)
      clearInterval(forgetting)
    },
  }
}

async function exchange({ counters, secret, add }: SharedCountersDeps): Promise<void> {
  const told = Object.entries(counters).flatMap(([name, counter]) =>
    counter.untold().map((one) => ({ counter, one, counted: storedAs(one, name, secret) })),
  )
  if (told.length === 0) return
  const totals = await add(told.map(({ counted }) => counted))
  for (const { counter, one, counted } of told) counter.learn(one, totals.get(counted.key) ?? one.count)
}

function storedAs({ key, endsAt, count }: Told, name: string, secret: string): Counted {
  return { key: createHmac('sha256', secret).update(`${name} ${key}`).digest('base64url'), endsAt, count }
}

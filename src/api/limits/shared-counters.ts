import { createHmac } from 'node:crypto'
import type { Counted } from '../../db/limits.ts'
import type { Counter, CountReport } from './counter.ts'

/**
 * Lets processes count together. Each counts in memory, so that no request waits. A few times a second, each process
 * adds the counts of heavily used limits to the database in one statement, and reads the totals. A limit can be
 * exceeded between two exchanges.
 */
export type SharedCountersDeps = {
  readonly counters: Readonly<Record<string, Counter>>
  /** Keys are addresses and tokens of links: only their HMAC with this secret is stored. */
  readonly secret: string
  /** Returns the totals by key. */
  readonly add: (counts: readonly Counted[]) => Promise<ReadonlyMap<string, number>>
  readonly forget: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 200
const FORGET_EVERY_MS = 60_000

export type SharedCounters = {
  readonly exchange: () => Promise<void>
  readonly close: () => void
}

export function createSharedCounters(deps: SharedCountersDeps): SharedCounters {
  let busy = false
  const whenFree = (work: () => Promise<unknown>) => (): void => {
    if (busy) return
    busy = true
    // An error loses nothing: the next exchange sends the same counts.
    void work()
      .catch(deps.onError)
      .finally(() => {
        busy = false
      })
  }
  const runExchange = whenFree(() => exchange(deps))
  const exchanging = setInterval(runExchange, EVERY_MS)
  const forgetting = setInterval(whenFree(deps.forget), FORGET_EVERY_MS)
  for (const timer of [exchanging, forgetting]) timer.unref()
  return {
    exchange: () => exchange(deps),
    close: () => {
      clearInterval(exchanging)
      clearInterval(forgetting)
    },
  }
}

async function exchange({ counters, secret, add }: SharedCountersDeps): Promise<void> {
  const pending = Object.entries(counters).flatMap(([name, counter]) =>
    counter.listUnreported().map((one) => ({ counter, one, counted: storedAs(one, name, secret) })),
  )
  if (pending.length === 0) return
  const totals = await add(pending.map(({ counted }) => counted))
  for (const { counter, one, counted } of pending) counter.learn(one, totals.get(counted.key) ?? one.count)
}

function storedAs({ key, endsAt, count }: CountReport, name: string, secret: string): Counted {
  return { key: createHmac('sha256', secret).update(`${name} ${key}`).digest('base64url'), endsAt, count }
}

import { createLimiter, type Limits } from '../../runtime/limiter.ts'
import { Problem } from '../http/problems.ts'

/**
 * An account or person with many concurrent reads waits for their own, and others do not: a process has ten database
 * connections unless configured. `/v1` and the dashboard share the turns.
 */
export type Turns = {
  readonly lists: InTurn
  /** Files take minutes, so they have separate turns: a client that reads files can still read lists. */
  readonly files: InTurn
}

/** Throws `rate_limited` (429) if too many wait already. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

const LISTS = { running: 3, queued: 50 }
const FILES = { running: 2, queued: 10 }

export function createTurns(): Turns {
  return { lists: takeTurns(LISTS), files: takeTurns(FILES) }
}

export function takeTurns(limits: Required<Pick<Limits, 'running' | 'queued'>>): InTurn {
  const limiter = createLimiter(limits)
  return async (key, work) => {
    const free = await limiter.take({ key })
    if (free === null)
      throw new Problem(
        'rate_limited',
        `Too many concurrent list requests (limit: ${limits.running} running, ${limits.queued} queued). Try again in 1 s.`,
        { headers: { 'retry-after': '1' }, isHeld: true },
      )
    return work().finally(free)
  }
}

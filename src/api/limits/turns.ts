import { createSlots, type SlotRules } from '../../runtime/slots.ts'
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

export function createTurns(): Turns {
  return { lists: takeTurns({ inFlight: 3, waiting: 50 }), files: takeTurns({ inFlight: 2, waiting: 10 }) }
}

export function takeTurns(rules: Required<SlotRules>): InTurn {
  const slots = createSlots(rules)
  return async (key, work) => {
    const free = await slots.take(key)
    if (free === null)
      throw new Problem(
        'rate_limited',
        `Too many concurrent list requests (limit: ${rules.inFlight} running, ${rules.waiting} queued). Try again in 1 s.`,
        { headers: { 'retry-after': '1' }, isHeld: true },
      )
    return work().finally(free)
  }
}

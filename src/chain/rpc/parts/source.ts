import type { Slots } from '../../../limits/slots.ts'
import { NodeFailure, unawaited } from '../failure.ts'
import type { NodeTransport } from '../transport.ts'

/** The node that is asked, and what is known of it. */
export type Source = {
  readonly transport: NodeTransport
  readonly name: string
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Of readings transaction by transaction one at a time: of a node that invents what a block has there is one in memory. */
  readonly turns: Slots
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal | undefined
}

/** Throws when there is no time left, and those who ask then ask for less; or when nobody waits any more. */
export type AssertTime = () => void

export function deadline({ name, now, signal }: Source, ms: number, answer: string): AssertTime {
  const until = now() + ms
  return () => {
    if (signal?.aborted === true) throw unawaited(name)
    if (now() > until) throw new NodeFailure(name, { kind: 'silent', answer })
  }
}

export async function inTurn<T>({ turns, name, signal }: Source, read: () => Promise<T>): Promise<T> {
  const free = await turns.take(name, signal)
  if (free === null) throw unawaited(name)
  return read().finally(free)
}

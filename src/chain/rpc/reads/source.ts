import type { Limiter } from '../../../runtime/limiter.ts'
import { NodeFailure, unawaited } from '../failure.ts'
import type { NodeTransport } from '../transport.ts'

export type Source = {
  readonly transport: NodeTransport
  readonly name: string
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /**
   * Lets one reading transaction by transaction run at a time: memory contains at most one block that a node invents.
   */
  readonly turns: Limiter
  readonly signal: AbortSignal | undefined
}

/** Throws if no time is left, so that the caller requests less, or if the answer is no longer needed. */
export type AssertTime = () => void

export function deadline({ name, now, signal }: Source, ms: number, answer: string): AssertTime {
  const until = now() + ms
  return () => {
    if (signal?.aborted === true) throw unawaited(name)
    if (now() > until) throw new NodeFailure(name, { kind: 'silent', answer })
  }
}

export async function inTurn<T>({ turns, name, signal }: Source, read: () => Promise<T>): Promise<T> {
  const free = await turns.take({ signal })
  if (free === null) throw unawaited(name)
  return read().finally(free)
}

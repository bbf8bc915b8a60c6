import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../log.ts'

export type Loop = {
  readonly name: string
  readonly everyMs: number
  readonly tick: () => Promise<unknown>
  readonly log: Logger
}

/** Runs `tick` repeatedly until the signal aborts. A round that fails is logged, and the next one tries again. */
export async function runLoop({ name, everyMs, tick, log }: Loop, signal: AbortSignal): Promise<void> {
  let failing = false
  while (!signal.aborted) {
    try {
      await tick()
      if (failing) log.info({ loop: name }, 'works again')
      failing = false
    } catch (error) {
      if (!failing) log.error({ err: error, loop: name }, 'a round failed; the next one tries again')
      failing = true
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

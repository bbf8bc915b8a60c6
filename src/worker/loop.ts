import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../runtime/log.ts'
import { createWakeup, type Wakeup } from '../runtime/wakeup.ts'

export type Loop = {
  readonly name: string
  readonly everyMs: number
  readonly tick: () => Promise<unknown>
  /**
   * For a loop that is woken when there may be something to do: after a round that found nothing it waits for the wakeup,
   * and no longer than `everyMs` if that is given. Rounds that the wakeup starts are `apartMs` apart, for one that often
   * wakes it in vain.
   */
  readonly idle?: {
    readonly everyMs?: number
    readonly wakeup: Wakeup
    /** A round that found this many continues at once. */
    readonly pageSize?: number
    readonly apartMs?: number
  }
  readonly log: Logger
}

/** Runs `tick` repeatedly until the signal aborts. A round that fails is logged, and the next one tries again. */
export async function runLoop({ name, everyMs, tick, idle, log }: Loop, signal: AbortSignal): Promise<void> {
  const wakeup = idle?.wakeup ?? createWakeup()
  signal.addEventListener('abort', () => wakeup.wake(), { once: true })
  let failing = false
  while (!signal.aborted) {
    let found: unknown = null
    try {
      found = await tick()
      if (failing) log.info({ loop: name }, 'works again')
      failing = false
    } catch (error) {
      if (!failing) log.error({ err: error, loop: name }, 'a round failed; the next one tries again')
      failing = true
    }
    if (idle?.pageSize !== undefined && found === idle.pageSize) continue
    const pause = idle !== undefined && found === 0 ? idle.everyMs : everyMs
    const apart = Math.min(idle?.apartMs ?? 0, pause ?? Number.POSITIVE_INFINITY)
    // The signal ends it early.
    if (apart > 0) await delay(apart, null, { signal }).catch(() => undefined)
    await wakeup.wait(pause === undefined ? undefined : pause - apart)
  }
}

import { setTimeout as delay } from 'node:timers/promises'

/** Shorter when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined)
}

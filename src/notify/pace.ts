import { setTimeout as delay } from 'node:timers/promises'

/** Turns so many a second: each caller waits for the end of those before. */
export function createTurns(
  perSecond: number,
  clock: () => number = performance.now.bind(performance),
): () => Promise<void> {
  const every = 1000 / perSecond
  let next = 0
  return async () => {
    const now = clock()
    const mine = Math.max(now, next)
    next = mine + every
    if (mine > now) await delay(mine - now)
  }
}

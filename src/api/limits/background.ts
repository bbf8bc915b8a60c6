import { createLimiter, type Limits } from '../../runtime/limiter.ts'

/** Work that no response waits for, bounded in one process. Other processes do the work that finds no slot in time. */
export type Background = {
  readonly run: (work: () => Promise<void>) => void
  readonly settled: () => Promise<void>
  /** Drops the work that waits, and resolves when the rest has ended. */
  readonly close: () => Promise<void>
}

export function createBackground(limits: Limits, onError: (error: unknown) => void): Background {
  const limiter = createLimiter(limits)
  const open = new Set<Promise<void>>()
  let isClosed = false

  async function runInTurn(work: () => Promise<void>): Promise<void> {
    const free = await limiter.take()
    if (free === null) return
    if (!isClosed) await work().catch(onError)
    free()
  }

  const settled = async (): Promise<void> => {
    while (open.size > 0) await Promise.all(open)
  }

  return {
    run(work) {
      const done = runInTurn(work).finally(() => open.delete(done))
      open.add(done)
    },
    settled,
    close() {
      isClosed = true
      return settled()
    },
  }
}

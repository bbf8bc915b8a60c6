/** Work that no response waits for, bounded in one process. Other processes do the work that finds no place in time. */
export type Background = {
  readonly run: (work: () => Promise<void>) => void
  readonly settled: () => Promise<void>
  readonly close: () => Promise<void>
}

export type BackgroundRules = {
  /** Most work that runs at once. */
  readonly inFlight: number
  readonly waiting: number
  /** Milliseconds that work waits for a place before it is dropped. */
  readonly waitMs: number
  /** Milliseconds, of any monotonic clock. */
  readonly clock: () => number
  readonly onError: (error: unknown) => void
}

export function createBackground({ inFlight, waiting, waitMs, clock, onError }: BackgroundRules): Background {
  const queue: { readonly work: () => Promise<void>; readonly until: number }[] = []
  const ends: (() => void)[] = []
  let running = 0

  async function start(work: () => Promise<void>): Promise<void> {
    running += 1
    await work().catch(onError)
    running -= 1
    startNext()
    if (running === 0) for (const end of ends.splice(0)) end()
  }

  function startNext(): void {
    const now = clock()
    let next = queue.shift()
    while (next !== undefined && next.until < now) next = queue.shift()
    if (next !== undefined) void start(next.work)
  }

  const settled = (): Promise<void> =>
    running === 0 ? Promise.resolve() : new Promise((resolve) => void ends.push(resolve))

  return {
    run(work) {
      if (running < inFlight) void start(work)
      else if (queue.length < waiting) queue.push({ work, until: clock() + waitMs })
    },
    settled,
    close() {
      queue.length = 0
      return settled()
    },
  }
}

import { createSlots } from '../../limits/slots.ts'

/** Work that no response waits for, bounded in one process. What finds no place in time is left to others. */
export type Background = {
  /** Does the work when there is a place for it. */
  readonly run: (work: () => Promise<void>) => void
  /** Resolves when nothing runs and nothing waits. */
  readonly settled: () => Promise<void>
  /** Leaves what waits, and resolves when what runs has ended. */
  readonly close: () => Promise<void>
}

export type BackgroundRules = {
  /** Most that runs at once, and most that waits for a place. */
  readonly inFlight: number
  readonly waiting: number
  /** Milliseconds after which work that still waits is left. */
  readonly waitMs: number
  readonly onError: (error: unknown) => void
}

export function createBackground({ waitMs, onError, ...rules }: BackgroundRules): Background {
  const slots = createSlots(rules)
  const open = new Set<Promise<void>>()
  let isClosed = false

  async function runInPlace(work: () => Promise<void>): Promise<void> {
    const free = await slots.take('all', AbortSignal.timeout(waitMs))
    if (free === null) return
    if (!isClosed) await work().catch(onError)
    free()
  }

  const settled = async (): Promise<void> => {
    while (open.size > 0) await Promise.all(open)
  }

  return {
    run(work) {
      const ended: Promise<void> = runInPlace(work).finally(() => open.delete(ended))
      open.add(ended)
    },
    settled,
    close() {
      isClosed = true
      return settled()
    },
  }
}

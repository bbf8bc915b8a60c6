/** Bounds the work of one process, so that a party that hangs or floods does not hold up the others. */
export type Limiter = {
  /**
   * Waits for a slot, in the order of the calls. Returns what frees the slot, to be called once the work has ended; null
   * if the work must not run, because too many wait, it has waited too long, or the signal is aborted. Never throws.
   */
  readonly take: (asked?: Asked) => Promise<Free | null>
}

export type Free = () => void

/** Each key has its own slots and its own queue. The signal ends a wait, and no work that has begun. */
export type Asked = { readonly key?: string; readonly signal?: AbortSignal | undefined }

/** Each bound counts by key. Absent: there is no such bound. */
export type Limits = {
  /** Maximum that runs at once. */
  readonly running?: number
  /** Maximum that waits. With 0, what finds no slot is refused. */
  readonly queued?: number
  /** Milliseconds after which work that waits is refused. */
  readonly waitMs?: number
  /** Maximum that starts within any second, a whole number. The limiter then remembers each key: use few. */
  readonly rate?: number
}

type Line = {
  running: number
  readonly waiting: Set<() => void>
  /** The last starts, as many as `rate`, by the limiter's clock. */
  readonly starts: number[]
  timer: NodeJS.Timeout | undefined
}

const SECOND_MS = 1000
const UNBOUNDED = Number.POSITIVE_INFINITY

/** `now`: milliseconds of a clock that only goes forward, for `rate`. */
export function createLimiter(limits: Limits, now = (): number => performance.now()): Limiter {
  const { running = UNBOUNDED, queued = UNBOUNDED, waitMs = UNBOUNDED, rate = UNBOUNDED } = limits
  const isRated = rate !== UNBOUNDED
  const lines = new Map<string, Line>()

  function startNext(key: string, line: Line): void {
    for (const start of line.waiting) {
      if (line.running >= running) return
      const pauseMs = line.starts.length < rate ? 0 : (line.starts[0] ?? 0) + SECOND_MS - now()
      if (pauseMs > 0) {
        line.timer ??= setTimeout(() => {
          line.timer = undefined
          startNext(key, line)
        }, pauseMs)
        return
      }
      start()
    }
    if (line.running === 0 && !isRated) lines.delete(key)
  }

  function wait(key: string, signal: AbortSignal | undefined): Promise<Free | null> {
    const line = lines.get(key) ?? { running: 0, waiting: new Set(), starts: [], timer: undefined }
    lines.set(key, line)
    return new Promise((resolve) => {
      let deadline: NodeJS.Timeout | undefined
      const end = (free: Free | null): void => {
        clearTimeout(deadline)
        signal?.removeEventListener('abort', leave)
        line.waiting.delete(start)
        resolve(free)
      }
      const leave = (): void => end(null)
      const start = (): void => {
        line.running += 1
        if (isRated && line.starts.push(now()) > rate) line.starts.shift()
        end(() => {
          line.running -= 1
          startNext(key, line)
        })
      }
      line.waiting.add(start)
      startNext(key, line)
      if (!line.waiting.has(start)) return
      if (line.waiting.size > queued) return leave()
      signal?.addEventListener('abort', leave)
      if (waitMs !== UNBOUNDED) deadline = setTimeout(leave, waitMs)
    })
  }

  return { take: async ({ key = '', signal } = {}) => (signal?.aborted === true ? null : wait(key, signal)) }
}

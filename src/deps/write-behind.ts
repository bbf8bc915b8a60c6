/** For records that can be written a little later, or again after a crash. */
export type WriteBehind<T> = { readonly add: (item: T) => void; readonly flush: () => Promise<void> }

export type WriteBehindOptions<T> = {
  readonly everyMs: number
  /** Items above this number are dropped while writing fails. Another process must repair lost writes. */
  readonly most?: number
  readonly write: (items: T[]) => Promise<void>
  readonly onError: (error: unknown) => void
}

const MAX_WAITING = 10_000

export function createWriteBehind<T>({
  everyMs,
  most = MAX_WAITING,
  write,
  onError,
}: WriteBehindOptions<T>): WriteBehind<T> {
  let waiting: T[] = []
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const items = waiting
    waiting = []
    if (items.length === 0) return
    try {
      await write(items)
    } catch (error) {
      onError(error)
      waiting = [...items, ...waiting].slice(0, most)
    }
  }

  return {
    flush,
    add(item) {
      if (waiting.length < most) waiting.push(item)
      timer ??= setTimeout(() => void flush(), everyMs)
      timer.unref()
    },
  }
}

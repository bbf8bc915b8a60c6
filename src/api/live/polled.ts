type Polling<Value> = {
  readonly read: () => Promise<Value>
  /** The value before the first read. */
  readonly initial: Value
  readonly everyMs: number
  readonly onError: (error: unknown) => void
}

export type Polled<Value> = {
  /** Returns the value of the last read that succeeded. */
  readonly now: () => Value
  /** Reads now, unless a read is running. */
  readonly look: () => Promise<void>
  readonly close: () => void
}

/** Reads a value again and again, so that no request waits for it. */
export function createPolled<Value>({ read, initial, everyMs, onError }: Polling<Value>): Polled<Value> {
  let value = initial
  let reading = false
  const look = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      value = await read()
    } catch (error) {
      onError(error)
    } finally {
      reading = false
    }
  }
  void look()
  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  return { now: () => value, look, close: () => clearInterval(timer) }
}

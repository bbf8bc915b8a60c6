/** Repeats until the value is right, so that a test waits for a fact and not for a time. */
export async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean, patienceMs = 20_000): Promise<T> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`did not come true within ${patienceMs} ms: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

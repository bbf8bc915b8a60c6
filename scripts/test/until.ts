/** Asks until the answer is right; a test never waits for a time, always for a fact. */
export async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean, patienceMs = 20_000): Promise<T> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`did not come true within ${patienceMs} ms: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

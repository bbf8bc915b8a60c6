type Found = ReadonlyMap<string, string>
type Batch = { readonly keys: Set<string>; readonly found: Promise<Found> }

const MOST_TOGETHER = 1000

/**
 * After a restart every open page reconnects within two seconds, and one statement for each would wait for a connection
 * until it times out.
 */
export function findTogether(
  find: (keys: readonly string[]) => Promise<Found>,
): (key: string) => Promise<string | null> {
  let batch: Batch | null = null
  let last: Promise<unknown> = Promise.resolve()

  function begin(): Batch {
    const keys = new Set<string>()
    const look = async (): Promise<Found> => {
      // Includes keys that are requested in the same turn of the event loop.
      await new Promise(setImmediate)
      if (batch?.keys === keys) batch = null
      return find([...keys])
    }
    const found = last.then(look)
    last = found.catch(() => undefined)
    return { keys, found }
  }

  return async (key) => {
    if (batch === null || batch.keys.size >= MOST_TOGETHER) batch = begin()
    const { keys, found } = batch
    keys.add(key)
    return (await found).get(key) ?? null
  }
}

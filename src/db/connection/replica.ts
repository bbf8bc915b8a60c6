/** After a failure the replica is asked no more for this long (milliseconds): to see that it is gone may take seconds. */
const REST_MS = 5000

/**
 * What the work refused by itself, although the replica had answered everything: a row that it asked for may be one that the
 * replica does not have yet.
 */
class Doubtful extends Error {
  readonly refusal: unknown
  constructor(refusal: unknown) {
    super('refused on a replica')
    this.refusal = refusal
  }
}

/** Runs the first work, on the replica, or the second one, on the main database. */
export type EitherDatabase = <T>(onReplica: () => Promise<T>, onMain: () => Promise<T>) => Promise<T>

/**
 * Answers what reads from the replica. What the replica cannot say, because it is down, behind in its schema or had to
 * give way to what it replays, the main database says; also what is refused because the replica lacks a row. A `final` error
 * is not asked about again.
 */
export function createReplica(final: new () => Error, clock: () => number = Date.now): EitherDatabase {
  let restUntil = 0
  return async (onReplica, onMain) => {
    if (clock() < restUntil) return onMain()
    try {
      return await onReplica()
    } catch (error) {
      if (error instanceof final) throw error
      if (!(error instanceof Doubtful)) restUntil = clock() + REST_MS
      return onMain()
    }
  }
}

type Asked = { query(text: string, values?: unknown[]): Promise<unknown> }

/** Runs the work on a replica, and tells what the replica could not say from what the work makes of its answers. */
export async function doubting<A extends Asked, T>(replica: A, work: (replica: A) => Promise<T>): Promise<T> {
  let failed = false
  const query = async (text: string, values?: unknown[]): Promise<unknown> => {
    try {
      return await replica.query(text, values)
    } catch (error) {
      failed = true
      throw error
    }
  }
  try {
    return await work({ ...replica, query })
  } catch (error) {
    throw failed ? error : new Doubtful(error)
  }
}

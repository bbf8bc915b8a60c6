/** The replica is not used for this long after a failure (milliseconds): to detect that it is down can take seconds. */
const REST_MS = 5000

/** The work refused although the replica had answered every query: the replica might lack a row. */
class Doubtful extends Error {
  readonly refusal: unknown
  constructor(refusal: unknown) {
    super('refused on a replica')
    this.refusal = refusal
  }
}

export type EitherDatabase = <T>(onReplica: () => Promise<T>, onMain: () => Promise<T>) => Promise<T>

/**
 * Reads from the replica. The main database is used if the replica is down, has an older schema or canceled the query
 * for its replay, and also if the work refused because the replica lacks a row. A `final` error is not tried again.
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

/** Runs the work on a replica, and distinguishes failures of the replica from refusals of the work. */
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

/** After a failure the replica is asked no more for this long (milliseconds): to see that it is gone may take seconds. */
const REST_MS = 5000

/** Runs the first work, on the replica, or the second one, on the main database. */
export type EitherDatabase = <T>(onReplica: () => Promise<T>, onMain: () => Promise<T>) => Promise<T>

/**
 * Answers what reads from the replica. What the replica cannot say, because it is down, behind in its schema or had to
 * give way to what it replays, the main database says. A `final` error is not asked about again.
 */
export function createReplica(final: new () => Error, clock: () => number = Date.now): EitherDatabase {
  let restUntil = 0
  return async (onReplica, onMain) => {
    if (clock() < restUntil) return onMain()
    try {
      return await onReplica()
    } catch (error) {
      if (error instanceof final) throw error
      restUntil = clock() + REST_MS
      return onMain()
    }
  }
}

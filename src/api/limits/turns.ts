import { type AtOnce, createAtOnce } from './at-once.ts'

/**
 * Turns of what costs much for one request, in one process, which has ten connections to the database unless configured: who
 * reads many at once waits for itself, and the others not for it. `/v1` and the dashboard take the same turns.
 */
export type Turns = {
  /** Lists, and pages with lists and sums: of an account, and of a person in all accounts together. */
  readonly lists: AtOnce
  /** Files take minutes, so they are counted apart: who reads files can still read lists. */
  readonly files: AtOnce
}

const LISTS_AT_ONCE = { running: 3, waiting: 50 }
const FILES_AT_ONCE = { running: 2, waiting: 10 }

export function createTurns(): Turns {
  return { lists: createAtOnce(LISTS_AT_ONCE), files: createAtOnce(FILES_AT_ONCE) }
}

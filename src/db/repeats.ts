import { type Statement, sql } from './db.ts'

/** The first repeat of a message to a workflow is due after this time, each further one after twice the time … */
const FIRST_REPEAT_SECONDS = 3
/** … but at most this: an outage of a partner can last for days, and what waits for it must not wait as long. */
const LONGEST_REPEAT_SECONDS = 1800

/** Returns the interval until the next repeat of a message that was repeated so often. */
export const untilRepeat = (repeats: Statement): Statement =>
  sql`least(${FIRST_REPEAT_SECONDS} * 2.0 ^ least(${repeats}, 20), ${LONGEST_REPEAT_SECONDS}) * interval '1 second'`

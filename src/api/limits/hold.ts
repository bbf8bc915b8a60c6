import type { ErrorRequestHandler } from 'express'
import { Problem } from '../http/problems.ts'

/** A client that continues after this many refusals in one window ignores the responses. */
export const PROMPT_REFUSALS = 50

/** Milliseconds. `retry-after` asks for at least as long: it is 1 s or more. */
export const HELD_MS = 1000

/** Each delayed response occupies memory, and one connection can have any number of requests (RFC 9112, 9.3.2). */
const MOST_HELD = 2000

/**
 * Delays the refusals that are marked as held. Otherwise a program that repeats a refused request at once would be
 * refused thousands of times a second, and block every other account. Above `most`, the response closes the connection.
 * The handler is not called for an error after the response has begun.
 */
export function holding(handler: ErrorRequestHandler, most: number = MOST_HELD): ErrorRequestHandler {
  let held = 0
  // oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response, next) => {
    const answer = (): unknown => (response.headersSent ? next(error) : handler(error, request, response, next))
    const isHeld = error instanceof Problem && error.extras.isHeld === true
    if (isHeld && held < most) {
      held += 1
      setTimeout(() => {
        held -= 1
        answer()
      }, HELD_MS)
      return
    }
    if (isHeld && !response.headersSent) response.set('connection', 'close')
    answer()
  }
}

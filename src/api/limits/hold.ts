import type { ErrorRequestHandler } from 'express'
import { Problem } from '../http/problems.ts'

/**
 * Refusals of a key in one window of its limit that are answered at once. Who goes on asking after so many does not read the
 * answers.
 */
export const PROMPT_REFUSALS = 50

/** How long the answer waits then (ms). At least as long it says that nothing is to be asked: `retry-after` is 1 s or more. */
export const HELD_MS = 1000

/**
 * Answers that wait at the same moment. Each is a request with its answer in memory, and one connection can have any number
 * of them under way (RFC 9112, 9.3.2).
 */
const MOST_HELD = 2000

/**
 * Holds the refusals that say so, and answers everything else at once. A program that asks again the moment it is refused
 * would otherwise be refused thousands of times a second, and every other account would wait behind that. One that is held
 * costs a timer. Where too many are held already, the connection ends with the answer.
 */
export function holding(handler: ErrorRequestHandler, most: number = MOST_HELD): ErrorRequestHandler {
  let held = 0
  // oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response, next) => {
    const answer = (): unknown => handler(error, request, response, next)
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

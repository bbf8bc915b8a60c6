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
 * Holds the refusals that say so, and answers everything else at once. A program that asks again the moment it is refused
 * would otherwise be refused thousands of times a second, and every other account would wait behind that. One that is held
 * costs a timer.
 */
export function holding(handler: ErrorRequestHandler): ErrorRequestHandler {
  // oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response, next) => {
    const answer = (): unknown => handler(error, request, response, next)
    if (error instanceof Problem && error.extras.isHeld === true) setTimeout(answer, HELD_MS)
    else answer()
  }
}

import type { ErrorRequestHandler } from 'express'
import type { Logger } from '../../log.ts'
import { type CheckoutProblem, renderProblem } from '../../web/checkout/problem.tsx'
import { wordsIn } from '../../web/messages/words.ts'

const PROBLEM_STATUS: Readonly<Record<CheckoutProblem, number>> = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  internal: 500,
  unavailable: 503,
}

/** Thrown by a handler; becomes a page for people. */
export class PageProblem extends Error {
  readonly problem: CheckoutProblem
  constructor(problem: CheckoutProblem) {
    super(problem)
    this.problem = problem
  }
}

/** Every trouble on these pages is a page: for a person, in words, without what went on inside. */
export function pageProblemHandler(deps: { readonly publicUrl: string; readonly log: Logger }): ErrorRequestHandler {
  // oxlint-disable-next-line max-params -- express knows an error handler by its four parameters
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error)
      return
    }
    const problem = problemOf(error)
    // The path holds the key to the payment: it is not logged.
    if (problem === 'internal')
      deps.log.error({ err: error, request_id: response.locals['requestId'] }, 'checkout failed')
    const token = /^\/([^/]+)/.exec(request.path)?.[1]
    const back = token === undefined || problem === 'not_found' ? null : `${deps.publicUrl}/c/${token}`
    response
      .status(statusOf(problem, error))
      .type('html')
      .send(renderProblem(problem, wordsIn('en'), back))
  }
}

function problemOf(error: unknown): CheckoutProblem {
  if (error instanceof PageProblem) return error.problem
  return frameworkStatus(error) === null ? 'internal' : 'bad_request'
}

function statusOf(problem: CheckoutProblem, error: unknown): number {
  return frameworkStatus(error) ?? PROBLEM_STATUS[problem]
}

/** 400, 413 or 415 of the body parser and the router; null for anything else. */
function frameworkStatus(error: unknown): number | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null
  return error.status >= 400 && error.status < 500 ? error.status : null
}

import type { ErrorRequestHandler, Request } from 'express'
import type { Logger } from '../../runtime/log.ts'
import { type CheckoutProblem, renderProblem } from '../../web/checkout/problem.tsx'
import { wordsIn } from '../../web/messages/words.ts'
import { PROBLEMS } from '../http/problem-codes.ts'
import { asProblem } from '../http/problems.ts'
import { holding } from '../limits/hold.ts'
import { buyerLocale } from './buyer.ts'
import { SiteProblem } from './site-problem.ts'

const PROBLEM_STATUS: Readonly<Record<CheckoutProblem, number>> = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  internal: 500,
  busy: 503,
  unavailable: 503,
}

export class PageProblem extends Error {
  readonly problem: CheckoutProblem
  constructor(problem: CheckoutProblem) {
    super(problem)
    this.problem = problem
  }
}

/** Logs errors with a status of 500 or above. */
export function pageProblemHandler({ log }: { readonly log: Logger }): ErrorRequestHandler {
  // oxlint-disable-next-line max-params -- express knows an error handler by its four parameters
  return holding((error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error)
      return
    }
    const { problem, status, retryAfter } = answerFor(error)
    // The path contains the key to the payment, so it is not logged.
    if (status >= 500) log.error({ err: error, request_id: response.locals['requestId'] }, 'checkout failed')
    const token = /^\/([^/]+)/.exec(request.path)?.[1]
    const back = token === undefined || problem === 'not_found' ? null : `${request.baseUrl}/${token}`
    if (retryAfter !== undefined) response.set('retry-after', retryAfter)
    const locale = buyerLocale(request)
    response
      .status(status)
      .set('content-language', locale)
      .type('html')
      .send(renderProblem(problem, wordsIn(locale), back))
  })
}

type PageAnswer = { readonly problem: CheckoutProblem; readonly status: number; readonly retryAfter?: string }

function answerFor(error: unknown): PageAnswer {
  if (error instanceof PageProblem) return { problem: error.problem, status: PROBLEM_STATUS[error.problem] }
  if (error instanceof SiteProblem && error.problem === 'forbidden_origin') return { problem: 'forbidden', status: 403 }
  const { code, extras } = asProblem(error)
  const { status } = PROBLEMS[code]
  const retryAfter = extras.headers?.['retry-after']
  if (status < 500 && retryAfter === undefined) return { problem: 'bad_request', status }
  return retryAfter === undefined ? { problem: 'internal', status } : { problem: 'busy', status, retryAfter }
}

/** 22 characters. Old rows and test rows have a few more or less. */
const TOKEN = /^[\w-]{1,64}$/

/** An impossible token throws before it uses memory of the limits or a query. */
export function linkToken(request: Request): string {
  const token = String(request.params['token'])
  if (!TOKEN.test(token)) throw new PageProblem('not_found')
  return token
}

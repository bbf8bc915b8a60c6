import type { ErrorRequestHandler, Request } from 'express'
import type { Platform } from '../../domain/platform.ts'
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
  /** Seconds. */
  readonly retryAfter: string | undefined
  constructor(problem: CheckoutProblem, retryAfter?: string) {
    super(problem)
    this.problem = problem
    this.retryAfter = retryAfter
  }
}

export type ProblemDeps = { readonly log: Logger; readonly platform: Platform }

/** Logs errors with a status of 500 or above. */
export function pageProblemHandler({ log, platform }: ProblemDeps): ErrorRequestHandler {
  return holding((error: unknown, request, response) => {
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
      .send(renderProblem({ platform, problem, back }, wordsIn(locale)))
  })
}

type PageAnswer = Pick<PageProblem, 'problem' | 'retryAfter'> & { readonly status: number }

function answerFor(error: unknown): PageAnswer {
  if (error instanceof PageProblem) {
    const { problem, retryAfter } = error
    return { problem, retryAfter, status: PROBLEM_STATUS[problem] }
  }
  if (error instanceof SiteProblem && error.problem === 'forbidden_origin')
    return { problem: 'forbidden', retryAfter: undefined, status: 403 }
  const { code, extras } = asProblem(error)
  const { status } = PROBLEMS[code]
  const retryAfter = extras.headers?.['retry-after']
  if (retryAfter !== undefined) return { problem: 'busy', retryAfter, status }
  return { problem: status < 500 ? 'bad_request' : 'internal', retryAfter, status }
}

/** 22 characters. Old rows and test rows have a few more or less. */
const TOKEN = /^[\w-]{1,64}$/

/** An impossible token throws before it uses memory of the limits or a query. */
export function linkToken(request: Request): string {
  const token = String(request.params['token'])
  if (!TOKEN.test(token)) throw new PageProblem('not_found')
  return token
}

import type { ErrorRequestHandler } from 'express'
import { type LinkProblemName, renderLinkProblem } from '../../../web/links/problem.tsx'
import { wordsIn } from '../../../web/messages/words.ts'
import { asProblem } from '../../http/problems.ts'
import { holding } from '../../limits/hold.ts'
import { buyerLocale } from '../buyer.ts'
import { type ProblemDeps, pageProblemHandler } from '../page-problem.ts'

const STATUS: Readonly<Record<LinkProblemName, number>> = { missing: 404, too_many: 429, paused: 409 }

export class LinkProblem extends Error {
  readonly problem: LinkProblemName
  constructor(problem: LinkProblemName) {
    super(problem)
    this.problem = problem
  }
}

/** The checkout's handler answers all other problems. */
export function linkProblemHandler(deps: ProblemDeps): ErrorRequestHandler {
  const others = pageProblemHandler(deps)
  // oxlint-disable-next-line max-params -- express knows an error handler by its four parameters
  return holding((error: unknown, request, response, next) => {
    const problem = linkProblem(error)
    if (problem === null) {
      void others(error, request, response, next)
      return
    }
    const wait = error instanceof LinkProblem ? undefined : asProblem(error).extras.headers?.['retry-after']
    if (wait !== undefined) response.set('retry-after', wait)
    const locale = buyerLocale(request)
    response.status(STATUS[problem]).set('content-language', locale).type('html')
    const code = /^\/([0-9A-Za-z]{10})(?:\/|$)/.exec(request.path)?.[1]
    const back = code === undefined || problem !== 'too_many' ? null : `/l/${code}`
    response.send(renderLinkProblem({ platform: deps.platform, problem, back }, wordsIn(locale)))
  })
}

function linkProblem(error: unknown): LinkProblemName | null {
  if (error instanceof LinkProblem) return error.problem
  return ['rate_limited', 'limit_reached'].includes(asProblem(error).code) ? 'too_many' : null
}

import type { ErrorRequestHandler, Request, Response } from 'express'
import type { Platform } from '../../domain/platform.ts'
import type { Logger } from '../../runtime/log.ts'
import { PAGE_HEADERS } from '../../web/page-headers.ts'
import { renderSiteProblem, type SiteProblemName } from '../../web/site-problem.tsx'
import { PROBLEMS } from '../http/problem-codes.ts'
import { asProblem } from '../http/problems.ts'
import { holding } from '../limits/hold.ts'

const STATUS: Readonly<Record<SiteProblemName, number>> = {
  bad_request: 400,
  forbidden_origin: 403,
  forbidden_form: 403,
  forbidden_role: 403,
  last_owner: 409,
  not_found: 404,
  links_off: 404,
  not_allowed: 405,
  too_many: 429,
  internal: 500,
  busy: 503,
}

export class SiteProblem extends Error {
  readonly problem: SiteProblemName
  readonly headers: Readonly<Record<string, string>>
  constructor(problem: SiteProblemName, headers: Readonly<Record<string, string>> = {}) {
    super(problem)
    this.problem = problem
    this.headers = headers
  }
}

type Deps = { readonly log: Logger; readonly platform: Platform }

/** Logs errors with a status of 500 or above. */
export function siteProblemHandler(deps: Deps): ErrorRequestHandler {
  return holding((error: unknown, request, response) => {
    sendSiteProblem(deps, { request, response }, error)
  })
}

export function wantsPage(request: Request): boolean {
  if (request.path.startsWith('/v1') || request.path.startsWith('/callbacks')) return false
  return request.accepts(['json', 'html']) === 'html'
}

export function sendSiteProblem(
  { log, platform }: Deps,
  { request, response }: { request: Request; response: Response },
  error: unknown,
): void {
  const { problem, headers } = toSiteProblem(error)
  const status = STATUS[problem]
  const requestId = String(response.locals['requestId'])
  // Paths can contain the key to a link, so they are not logged.
  if (status >= 500) log.error({ err: error, request_id: requestId }, 'page failed')
  response.status(status).set(PAGE_HEADERS).set(headers)
  response
    .type('html')
    .send(request.method === 'HEAD' ? '' : renderSiteProblem(problem, { status, requestId, platform }))
}

function toSiteProblem(error: unknown): Pick<SiteProblem, 'problem' | 'headers'> {
  if (error instanceof SiteProblem) return error
  const { code, extras } = asProblem(error)
  const headers = extras.headers ?? {}
  const { status } = PROBLEMS[code]
  if (status === 404) return { problem: 'not_found', headers }
  if (status === 405) return { problem: 'not_allowed', headers }
  if (status === 429) return { problem: 'too_many', headers }
  if (status < 500) return { problem: 'bad_request', headers }
  return { problem: status === 503 ? 'busy' : 'internal', headers }
}

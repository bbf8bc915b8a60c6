import type { ErrorRequestHandler, Request, Response } from 'express'
import { isSilent } from '../../db/connection/pool.ts'
import { TooSlow } from '../../db/db.ts'
import type { Money } from '../../domain/money.ts'
import type { Logger } from '../../runtime/log.ts'
import { API_HEADERS } from '../../web/page-headers.ts'
import { getRoutePattern } from './metrics.ts'
import { PROBLEMS, type ProblemCode } from './problem-codes.ts'
import { noteAnswer } from './request-log.ts'

/** Every 4xx and 5xx response is RFC 9457 problem details. Codes are stable; texts can change. */

export type FieldProblem = { readonly pointer: string; readonly code: string; readonly message: string }

export type ProblemExtras = {
  readonly param?: string
  readonly errors?: readonly FieldProblem[]
  readonly headers?: Readonly<Record<string, string>>
  /** Delays the response, because the client ignores refusals (limits/hold.ts). */
  readonly isHeld?: boolean
  /** Additional members of the body, such as the limit of an amount. */
  readonly members?: Readonly<Record<string, unknown>>
  /** The limit in the currency of the amount, for the platform's own forms. The response does not contain it. */
  readonly limit?: Money
}

/** `problemHandler` turns it into the response. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly extras: ProblemExtras
  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail)
    this.code = code
    this.extras = extras
  }
}

/** A field that its schema accepts and another rule refuses. `must` continues the field's name, without a full stop. */
export function refuseField(param: string, must: string, code = 'parameter_invalid'): Problem {
  const message = `${param}: ${must}.`
  return new Problem('validation_failed', message, { param, errors: [{ pointer: `/${param}`, code, message }] })
}

/** Returns a refusal, for a page that shows it. An unknown id has no such page. */
export async function catchRefusal<T>(work: Promise<T>): Promise<T | Problem> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Problem && error.code !== 'resource_missing') return error
    throw error
  }
}

export type ProblemSettings = { readonly publicUrl: string; readonly log: Logger }

export function problemHandler({ publicUrl, log }: ProblemSettings): ErrorRequestHandler {
  // oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error)
      return
    }
    const problem = asProblem(error)
    logFailure(log, { error, problem, request, response })
    sendProblem(response, problem, { publicUrl, instance: request.originalUrl.split('?')[0] ?? '/' })
  }
}

type Failure = {
  readonly error: unknown
  readonly problem: Problem
  readonly request: Request
  readonly response: Response
}

/** Logs an error whose status is 500 or above. */
export function logFailure(log: Logger, { error, problem, request, response }: Failure): void {
  if (PROBLEMS[problem.code].status < 500) return
  log.error({ err: error, request_id: response.locals['requestId'], route: getRoutePattern(request) }, 'request failed')
}

export function sendProblem(
  response: Response,
  problem: Problem,
  { publicUrl, instance }: { publicUrl: string; instance: string },
): void {
  const { status } = PROBLEMS[problem.code]
  response.status(status).set({ ...API_HEADERS, ...problem.extras.headers })
  const requestId = String(response.locals['requestId'])
  const text = problemText(problem, { publicUrl, instance, requestId })
  noteAnswer(response, text, problem.code)
  response.type(PROBLEM_TYPE).send(text)
}

export const PROBLEM_TYPE = 'application/problem+json'

export function problemText(
  problem: Problem,
  { publicUrl, instance, requestId }: { publicUrl: string; instance: string; requestId: string },
): string {
  const { status, title } = PROBLEMS[problem.code]
  const { param, errors, members = {} } = problem.extras
  return JSON.stringify({
    type: `${publicUrl}/docs/errors#${problem.code}`,
    title,
    status,
    detail: problem.message,
    instance,
    code: problem.code,
    ...(param !== undefined && { param }),
    ...(errors !== undefined && { errors }),
    ...members,
    request_id: requestId,
  })
}

/** An unexpected error becomes `internal_error`, which reveals nothing to the client. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return (
    frameworkProblem(error) ??
    tooSlow(error) ??
    storeProblem(error) ??
    new Problem(
      'internal_error',
      'The request failed on our side. Try again; if it keeps failing, contact support with the request id.',
    )
  )
}

/** Errors of body-parser and the router. */
function frameworkProblem(error: unknown): Problem | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null
  const type = 'type' in error && typeof error.type === 'string' ? error.type : ''
  if (type === 'entity.too.large') return new Problem('body_too_large', 'The body must have at most 64 KiB.')
  if (type === 'encoding.unsupported')
    return new Problem('unsupported_media_type', 'Send the body as it is, or compressed with gzip, deflate or br.')
  if (error.status >= 400 && error.status < 500) return new Problem('invalid_request', 'The request cannot be read.')
  return null
}

function tooSlow(error: unknown): Problem | null {
  if (!(error instanceof TooSlow)) return null
  return new Problem(
    'list_too_slow',
    'The list was not read within 2 s. Ask for a shorter time by created[gte] and created[lt], or for rarer words.',
    { headers: { 'retry-after': '2' } },
  )
}

/** Postgres is unreachable or too busy, so the request can be sent again. */
function storeProblem(error: unknown): Problem | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const unavailableCodes = [
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    '57P01',
    '57P02',
    '57P03',
    '53300',
    '08006',
    '08001',
    // PgBouncer's codes if its server is unreachable or has no free connection.
    '08P01',
    '55P03',
    '57014',
  ]
  const said = error instanceof Error ? error.message : ''
  const timedOut = said.includes('timeout exceeded when trying to connect') || isSilent(error)
  if (!unavailableCodes.includes(code) && !timedOut && !said.startsWith('Connection terminated')) return null
  return new Problem('temporarily_unavailable', 'The service is temporarily unavailable. Try again.', {
    headers: { 'retry-after': '2' },
  })
}

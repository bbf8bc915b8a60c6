import type { Problem } from './api-types.ts'

/** The base of every error that the client throws. */
export class PinrailError extends Error {
  override readonly name: string = 'PinrailError'
}

/** No response arrived, so the request might have had its effect. Repeat it with the same Idempotency-Key. */
export class ConnectionError extends PinrailError {
  override readonly name = 'ConnectionError'
}

/** A response with an error status. Programs branch on `code`. */
export class ApiError extends PinrailError {
  override readonly name: string = 'ApiError'
  readonly status: number
  readonly code: Problem['code'] | 'unreadable_answer'
  readonly param: string | null
  /** The requirement for each invalid field. */
  readonly errors: readonly { pointer: string; code: string; message: string }[]
  readonly requestId: string | null
  /** The whole problem, with additional members such as `minimum`. */
  readonly problem: Readonly<Record<string, unknown>>

  constructor(status: number, problem: Partial<Problem> & Record<string, unknown>) {
    super(`${problem.code ?? status}: ${problem.detail ?? 'the response cannot be read'}`)
    this.status = status
    this.code = problem.code ?? 'unreadable_answer'
    this.param = problem.param ?? null
    this.errors = problem.errors ?? []
    this.requestId = problem.request_id ?? null
    this.problem = problem
  }
}

/** 400 and 422: the request must be changed. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError'
}
/** 401 and 403: the key is invalid, or lacks the right to do this. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError'
}
/** 404: there is no such object. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError'
}
/** 409: not possible in the current state. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError'
}
/** 429: too many requests, after all retries. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError'
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: AuthenticationError,
  404: NotFoundError,
  409: ConflictError,
  422: InvalidRequestError,
  429: RateLimitError,
}

export function errorFor(status: number, text: string): ApiError {
  const Kind = BY_STATUS[status] ?? ApiError
  return new Kind(status, readProblem(text))
}

function readProblem(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

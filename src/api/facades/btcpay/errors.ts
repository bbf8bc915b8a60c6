import type { ErrorRequestHandler } from 'express'
import { PROBLEMS, type ProblemCode } from '../../http/problem-codes.ts'
import { asProblem, logFailure, type Problem, type ProblemSettings } from '../../http/problems.ts'
import { noteAnswer } from '../../http/request-log.ts'

/** Errors in the shapes of Greenfield: `[{path, message}]` with 422 for fields, `{code, message}` for the rest. */

export type BtcpayError = {
  readonly status: number
  readonly body:
    | readonly { readonly path: string; readonly message: string }[]
    | { readonly code: string; readonly message: string }
}

/** Fields of our operations by their places in the requests of shops. */
const PATHS: Readonly<Record<string, string>> = {
  reference: 'metadata.orderId',
  customer_email: 'metadata.buyerEmail',
  success_url: 'checkout.redirectURL',
  expires_in: 'checkout.expirationMinutes',
  enabled_events: 'authorizedEvents.specificEvents',
}

const CODES: Partial<Record<ProblemCode, string>> = {
  invalid_api_key: 'unauthenticated',
  insufficient_scope: 'missing-permission',
  resource_missing: 'not-found',
  route_missing: 'not-found',
}

const OF_AMOUNT: readonly ProblemCode[] = ['amount_too_small', 'amount_too_large']

export function toBtcpayError(problem: Problem): BtcpayError {
  const { code, message, extras } = problem
  const { errors = [], param } = extras
  if (errors.length > 0)
    return { status: 422, body: errors.map((error) => ({ path: toPath(error.pointer), message: error.message })) }
  if (OF_AMOUNT.includes(code)) return { status: 422, body: [{ path: 'amount', message }] }
  if (code === 'validation_failed') return { status: 422, body: [{ path: param ?? '', message }] }
  const { status } = PROBLEMS[code]
  // A client reads a body with 422 as a list.
  return {
    status: status === 422 ? 400 : status,
    body: { code: CODES[code] ?? code.replaceAll('_', '-'), message },
  }
}

function toPath(pointer: string): string {
  const [first = '', ...rest] = pointer.split('/').slice(1)
  return [PATHS[first] ?? first, ...rest].join('.')
}

export function btcpayErrorHandler({ log }: Pick<ProblemSettings, 'log'>): ErrorRequestHandler {
  // oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error)
      return
    }
    const problem = asProblem(error)
    logFailure(log, { error, problem, request, response })
    const { status, body } = toBtcpayError(problem)
    const text = JSON.stringify(body)
    noteAnswer(response, text, problem.code)
    response
      .status(status)
      .set({ ...problem.extras.headers })
      .type('application/json')
      .send(text)
  }
}

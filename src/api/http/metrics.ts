import { AsyncLocalStorage } from 'node:async_hooks'
import type { Request, RequestHandler } from 'express'
import { isId } from '../../domain/ids.ts'
import type { Logger } from '../../runtime/log.ts'
import type { RequestDurations } from '../../runtime/metrics.ts'
import { parseCaller, type Tracing } from '../../runtime/traces.ts'

export type AccessDeps = {
  readonly durations: RequestDurations
  readonly tracing: Tracing
  readonly log: Logger
}

/** The status of a request whose client left before its response, as nginx logs it. */
const LEFT = 499

/** Notes of the request in progress, which its handlers fill in. */
const currentRequest = new AsyncLocalStorage<{ payment: string | null }>()

export function notePayment(paymentId: string): void {
  const request = currentRequest.getStore()
  if (request !== undefined) request.payment = paymentId
}

/**
 * Measures, traces and logs each response, by the pattern of its route: a path may contain the key to a payment, and
 * each id would make a series. Unmatched paths share one.
 */
export function accessLog({ durations, tracing, log }: AccessDeps): RequestHandler {
  return (request, response, next) => {
    const end = durations()
    const startedAt = Date.now()
    const about = { payment: null as string | null }
    const logResponse = (status: number): void => {
      // The time that a page was open is not the time that it waited.
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return
      const route = getRoutePattern(request)
      const method = route === 'unmatched' ? 'other' : request.method
      const seconds = end({ method, route, status: String(status) })
      const caller = request.get('traceparent')
      const trace = parseCaller(caller)?.traceId
      const payment = about.payment ?? paymentIn(request)
      log.info(
        {
          request_id: response.locals['requestId'] as unknown,
          method: request.method,
          route,
          status,
          ms: Math.round(seconds * 1000),
          ...(payment !== null && { payment_id: payment }),
          ...(trace !== undefined && { trace_id: trace }),
        },
        status === LEFT ? 'left before the answer' : 'answered',
      )
      const attributes = { 'http.route': route, 'http.response.status_code': status }
      const span = { name: `${method} ${route}`, kind: 'server', payment, attributes } as const
      tracing.ended({ ...span, startedAt, isError: status >= 500, caller })
    }
    response.once('finish', () => logResponse(response.statusCode))
    // Clients that leave have waited too. Without them, a hanging API would look fast.
    response.once('close', () => {
      if (!response.writableFinished) logResponse(LEFT)
    })
    currentRequest.run(about, next)
  }
}

/** The pattern, because the path may contain a person's address or the key to a payment. */
export function getRoutePattern(request: Request): string {
  const path = (request.route as { path?: unknown } | undefined)?.path
  return typeof path === 'string' ? path : 'unmatched'
}

function paymentIn({ params }: Request): string | null {
  const id: unknown = params?.['id']
  return typeof id === 'string' && isId('payment', id) ? id : null
}

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Request, RequestHandler } from 'express'
import type { Histogram } from 'prom-client'
import { isId } from '../../domain/ids.ts'
import type { Logger } from '../../log.ts'
import { callerOf, type Tracing } from '../../observe/traces.ts'

export type AccessDeps = {
  readonly durations: Histogram<'method' | 'route' | 'status'>
  readonly tracing: Tracing
  readonly log: Logger
}

/** The status of a request whose client has not waited for its answer, as nginx logs it. */
const LEFT = 499

/** What is learned of a request while it is answered. */
const asked = new AsyncLocalStorage<{ payment: string | null }>()

/** The request that is being answered is about this payment. */
export function notePayment(paymentId: string): void {
  const request = asked.getStore()
  if (request !== undefined) request.payment = paymentId
}

/**
 * Measures each answer, traces it and logs it: by the route's pattern, because a path may hold the key to a payment, and
 * because each id would make a series. Unmatched paths share one.
 */
export function accessLog({ durations, tracing, log }: AccessDeps): RequestHandler {
  return (request, response, next) => {
    const end = durations.startTimer()
    const startedAt = Date.now()
    const about = { payment: null as string | null }
    const ended = (status: number): void => {
      // How long a page was open is not how long it waited.
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return
      const route = routeOf(request)
      const method = route === 'unmatched' ? 'other' : request.method
      const seconds = end({ method, route, status: String(status) })
      const caller = request.get('traceparent')
      const trace = callerOf(caller)?.traceId
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
    response.once('finish', () => ended(response.statusCode))
    // Who goes away has waited too: without them an api that hangs would look quick.
    response.once('close', () => {
      if (!response.writableFinished) ended(LEFT)
    })
    asked.run(about, next)
  }
}

/** The pattern that the path fits: a path may hold an address of a person, or the key to a payment. */
export function routeOf(request: Request): string {
  const path = (request.route as { path?: unknown } | undefined)?.path
  return typeof path === 'string' ? path : 'unmatched'
}

function paymentIn({ params }: Request): string | null {
  const id: unknown = params?.['id']
  return typeof id === 'string' && isId('payment', id) ? id : null
}

import type { RequestHandler } from 'express'
import type { Histogram } from 'prom-client'
import type { Logger } from '../../log.ts'

export type AccessDeps = {
  readonly durations: Histogram<'method' | 'route' | 'status'>
  readonly log: Logger
}

/** The trace of who asks, if it has one: the second part of `traceparent` (W3C Trace Context). */
const TRACE = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Measures each answer and logs it: by the route's pattern, because a path may hold the key to a payment, and because
 * each id would make a series. Unmatched paths share one.
 */
export function accessLog({ durations, log }: AccessDeps): RequestHandler {
  return (request, response, next) => {
    const end = durations.startTimer()
    response.once('finish', () => {
      // How long a page was open is not how long it waited.
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return
      const path = (request.route as { path?: unknown } | undefined)?.path
      const route = typeof path === 'string' ? path : 'unmatched'
      const method = route === 'unmatched' ? 'other' : request.method
      const seconds = end({ method, route, status: String(response.statusCode) })
      const id: unknown = request.params?.['id']
      const trace = TRACE.exec(request.get('traceparent') ?? '')?.[1]
      log.info(
        {
          request_id: response.locals['requestId'] as unknown,
          method: request.method,
          route,
          status: response.statusCode,
          ms: Math.round(seconds * 1000),
          ...(typeof id === 'string' && PAYMENT.test(id) && { payment_id: id }),
          ...(trace !== undefined && { trace_id: trace }),
        },
        'answered',
      )
    })
    next()
  }
}

const PAYMENT = /^pay_[0-9a-z]{26}$/

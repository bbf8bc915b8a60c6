import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { describeProcess } from './registry.ts'

/**
 * A payment is one trace, whatever process works on it and however long it takes: the ids of the trace and of its root
 * are the first bytes of the SHA-256 of the payment's id. So workflows pass no ids on, and a history is the same with
 * and without traces.
 */

type About = {
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal'
  /** Null: the payment is not known. */
  readonly payment: string | null
  /** No text of a person, no URL of a page, no secret: it leaves the platform. */
  readonly attributes?: Attributes
}

type Ended = About & {
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly isError: boolean
  /** The header `traceparent` of the caller. */
  readonly caller?: string | undefined
}

export type Tracing = {
  /** Spans within `work` are below this one. It is an error if `work` throws; nothing of the error is sent. */
  span<T>(about: About, work: () => Promise<T>): Promise<T>
  /** Records a span that is already over. */
  ended(about: Ended): void
  /** Sends the remaining spans, for three seconds at most. */
  close(): Promise<void>
}

export const NO_TRACING: Tracing = {
  span: (_about, work) => work(),
  ended: () => undefined,
  close: async () => undefined,
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const
const CLOSE_MS = 3000

export type TracingSettings = {
  /** The base URL of an OTLP collector that takes HTTP. Without one, nothing is loaded and nothing is traced. */
  readonly endpoint: string | undefined
  readonly service: string
}

export async function openTracing({ endpoint, service }: TracingSettings): Promise<Tracing> {
  if (endpoint === undefined) return NO_TRACING
  const [{ TracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ])
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces`, timeoutMillis: CLOSE_MS })
  const provider = new TracerProvider({
    resource: describeProcess(service),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  return createTracing(provider.getTracer('pinrail'), () => provider.shutdown())
}

/** Separate, so that a test can read what would be sent. */
export function createTracing(tracer: Tracer, shutdown: () => Promise<void>): Tracing {
  const current = new AsyncLocalStorage<Context>()
  const getParent = ({ payment }: About): Context =>
    current.getStore() ?? (payment === null ? ROOT_CONTEXT : below(traceOfPayment(payment)))
  const createOptions = ({ kind, payment, attributes }: About): SpanOptions => ({
    kind: KINDS[kind],
    attributes: { ...attributes, ...(payment !== null && { 'pinrail.payment_id': payment }) },
  })
  return {
    span(about, work) {
      const parent = getParent(about)
      const span = tracer.startSpan(about.name, createOptions(about), parent)
      return current.run(trace.setSpan(parent, span), async () => {
        try {
          return await work()
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR })
          throw error
        } finally {
          span.end()
        }
      })
    },
    ended(about) {
      const caller = parseCaller(about.caller)
      const parent = about.payment === null && caller !== null ? below(caller) : getParent(about)
      const links = caller === null ? [] : [{ context: caller }]
      const span = tracer.startSpan(about.name, { ...createOptions(about), links, startTime: about.startedAt }, parent)
      if (about.isError) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
    close: () => Promise.race([shutdown().catch(() => undefined), delay(CLOSE_MS, undefined, { ref: false })]),
  }
}

const below = (parent: SpanContext): Context => trace.setSpanContext(ROOT_CONTEXT, parent)

export function traceOfPayment(paymentId: string): SpanContext {
  const digits = createHash('sha256').update(paymentId).digest('hex')
  const [traceId, spanId] = [digits.slice(0, 32), digits.slice(32, 48)]
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

/** Parses `traceparent` of W3C Trace Context; null if it is missing or cannot be read. */
export function parseCaller(traceparent: string | undefined): SpanContext | null {
  const [, traceId, spanId] = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return null
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return trace.isSpanContextValid(context) ? context : null
}

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { watchPartners } from '../../src/partners/decorators/watched.ts'
import { PartnerError, type PaymentPartner } from '../../src/partners/provider.ts'
import { createCallDurations, createRegistry } from '../../src/runtime/metrics.ts'
import { createTracing, parseCaller, traceOfPayment } from '../../src/runtime/traces.ts'

const PAYMENT = 'pay_01hzx3v5k8q2w9r7t4y6b1n0c3'

function openTracing() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const tracing = createTracing(provider.getTracer('test'), () => provider.shutdown())
  return { tracing, spans: () => exporter.getFinishedSpans() }
}

test('the trace of a payment is found by its id, as the operator’s page says', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [line = ''] = /^printf %s pay_.*$/m.exec(page) ?? []
  expect(line).toContain(PAYMENT)
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).trim()).toBe(traceOfPayment(PAYMENT).traceId)
})

test('work within a span is below it, and an error is a span’s error without its text', async () => {
  const { tracing, spans } = openTracing()
  const within = tracing.span({ name: 'outer', kind: 'internal', payment: PAYMENT }, () =>
    tracing.span({ name: 'inner', kind: 'client', payment: null }, () => Promise.reject(new Error('4242 4242'))),
  )
  await expect(within).rejects.toThrow('4242 4242')
  const [inner, outer] = spans()
  expect(outer?.parentSpanContext).toMatchObject({ spanId: traceOfPayment(PAYMENT).spanId })
  expect(inner?.parentSpanContext).toMatchObject({ spanId: outer?.spanContext().spanId })
  expect([inner, outer].map((span) => span?.spanContext().traceId)).toEqual(
    Array(2).fill(traceOfPayment(PAYMENT).traceId),
  )
  for (const span of [inner, outer]) expect([span?.status, span?.events]).toEqual([{ code: SpanStatusCode.ERROR }, []])
})

test('a request continues the trace of its client, unless it is about a payment: then it is linked with it', () => {
  const { tracing, spans } = openTracing()
  const caller = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const request = { name: 'GET /v1/payments', kind: 'server', startedAt: 1000, isError: false, caller } as const
  tracing.ended({ ...request, payment: null })
  tracing.ended({ ...request, payment: PAYMENT })
  const [theirs, ours] = spans()
  expect(theirs?.spanContext().traceId).toBe('a'.repeat(32))
  expect(ours?.spanContext().traceId).toBe(traceOfPayment(PAYMENT).traceId)
  expect(ours?.links).toMatchObject([{ context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) } }])
})

test.each([
  undefined,
  '',
  'garbage',
  `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
  `00-${'A'.repeat(32)}-${'b'.repeat(16)}-01`,
])('an invalid traceparent is ignored: %s', (header) => {
  expect(parseCaller(header)).toBeNull()
})

test('each call to a partner is counted by its result; a call that a partner does not support is still absent', async () => {
  const registry = createRegistry('pinrail-test', () => ({ total: 0, idle: 0, waiting: 0 }))
  const { tracing } = openTracing()
  const failures = [new PartnerError('throttled', 'later'), new Error('broken')]
  const partner: PaymentPartner = {
    name: 'wallet_app',
    openOrder: () => Promise.reject(failures.shift()),
    readOrder: async () => null,
  }
  const { wallet_app: watched } = watchPartners(
    { wallet_app: partner },
    { durations: createCallDurations(registry), tracing },
  )
  expect(['cancelOrder' in watched, 'refundOrder' in watched]).toEqual([false, false])
  const order = { attemptId: 'att_1' } as Parameters<PaymentPartner['openOrder']>[0]
  const signal = new AbortController().signal
  await expect(watched.openOrder(order, signal)).rejects.toThrow('later')
  await expect(watched.openOrder(order, signal)).rejects.toThrow('broken')
  expect(await watched.readOrder({ attemptId: 'att_1', reference: null }, signal)).toBeNull()
  const text = await registry.page()
  for (const labels of [
    'call="open",outcome="throttled"',
    'call="open",outcome="failed"',
    'call="read",outcome="answered"',
  ])
    expect(text).toContain(`pinrail_partner_call_seconds_count{partner="wallet_app",${labels}} 1`)
})

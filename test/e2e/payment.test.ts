import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { deliveredEvents, JOURNEYS, travel, until } from '../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../scripts/demo/merchant.ts'
import { curlLine } from '../../scripts/start/banner.ts'
import { traceOfPayment } from '../../src/runtime/traces.ts'
import { launchBrowser } from '../support/browser.ts'
import { findDifferences } from '../support/differences.ts'
import { walkFirstMinutes } from './first-minutes.ts'
import { startCollector } from './harness/collector.ts'
import { startTestSystem, type TestSystem, temporaryFolder } from './harness/test-system.ts'
import { expectSucceeded } from './harness/verdict.ts'

const folder = temporaryFolder()
let testSystem: TestSystem
const paid: PaymentAnswer[] = []
let collector: Awaited<ReturnType<typeof startCollector>>

beforeAll(async () => {
  collector = await startCollector()
  testSystem = await startTestSystem({ folder, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
  collector.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('One payment through each partner', () => {
  test.each(JOURNEYS)('a payment by $provider runs from POST to a verified webhook', async (journey) => {
    const { merchant, system } = testSystem
    const payment = await travel(journey, { merchant, sandboxUrl: system.sandboxUrl, say: () => undefined })
    paid.push(payment)
    const events = await deliveredEvents(merchant, payment.id)
    expect(events.map(({ type }) => type)).toEqual(['payment.succeeded'])
  })

  test('the payment’s workflow has completed and is found by a search with that status', async () => {
    for (const { id } of paid) {
      const description = await until(async () => {
        const found = await testSystem.temporal.workflow.getHandle(id).describe()
        return found.status.name === 'RUNNING' ? null : found
      }, `${id} to close`)
      expect(description.status.name).toBe('COMPLETED')
      expect(description.searchAttributes['PaymentStatus']).toEqual(['succeeded'])
      expect(description.searchAttributes['NeedsOperator']).toEqual([false])
    }
  })

  test('the payment’s trace leads from the request through the workflow and its activities to the partner', async () => {
    for (const { id } of paid) {
      const { traceId, spanId } = traceOfPayment(id)
      const mine = () => collector.spans.filter((span) => span.traceId === traceId)
      await until(async () => {
        const names = mine().map(({ name }) => name)
        return ['POST /v1/payments', 'settle', 'converter convert'].every((name) => names.includes(name)) || null
      }, 'the spans of a payment')
      const named = (name: string) => mine().find((span) => span.name === name)!
      expect(named('POST /v1/payments')).toMatchObject({ service: 'pinrail-api', parentSpanId: spanId })
      expect(named('workflow start')).toMatchObject({ service: 'pinrail-api' })
      const opening = named('openPartnerOrder')
      expect(opening).toMatchObject({ service: 'pinrail-worker', parentSpanId: spanId })
      const call = mine().find(({ name, parentSpanId }) => name.endsWith(' open') && parentSpanId === opening.spanId)
      expect(call?.name).toMatch(/^(?:wallet_app|card_partner|local_partner) open$/)
      for (const span of mine()) if (span.kind !== 3) expect(span.attributes['pinrail.payment_id']).toBe(id)
    }
    const spans = JSON.stringify(collector.spans)
    expect(spans).not.toContain('sk_test_')
    expect(spans).not.toMatch(/\/c\/[A-Za-z0-9_-]{20}/)
  })

  test('partner, converter, chain, inbox and books agree about the payment', async () => {
    expect(await expectSucceeded(testSystem, paid)).toMatchObject({ transfers: 3, events: 3, deliveries: 3 })
    expect(await findDifferences(testSystem.db)).toEqual([])
  })

  test('the outbox to Temporal is empty at the end', async () => {
    const left = await until(async () => {
      const { rows } = await testSystem.db.query('select kind, subject from outbox')
      return rows.length === 0 ? rows : null
    }, 'an empty outbox')
    expect(left).toEqual([])
  })
})

test('the curl line of the start makes a payment as it is printed', async () => {
  const { stdout } = await promisify(execFile)('sh', ['-c', curlLine(testSystem.system.info)])
  expect(JSON.parse(stdout)).toMatchObject({ object: 'payment', status: 'created', amount: 49.9, currency: 'EUR' })
})

test('a new merchant takes a payment, reads its webhook delivery and adds a passkey within 12 clicks and without a dead end', async () => {
  const browser = await launchBrowser()
  try {
    expect(await walkFirstMinutes(browser, testSystem.system)).toBeLessThanOrEqual(12)
  } finally {
    await browser.close()
  }
}, 180_000)

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import { createPaymentWorld, type PaymentWorld } from '../support/payment-world.ts'
import { startTimeSkipping } from '../support/temporal.ts'

let env: TestWorkflowEnvironment
let bundle: WorkflowBundleWithSourceMap
let world: PaymentWorld

beforeAll(async () => {
  ;[env, bundle] = await Promise.all([startTimeSkipping(), bundleWorkflows()])
  world = await createPaymentWorld(env, bundle)
}, 120_000)
afterAll(async () => {
  await world?.close()
  await env?.teardown()
})
beforeEach(async () => {
  expect(await findImbalances(world.db)).toEqual([])
})

const result = (paymentId: string) => env.client.workflow.getHandle(paymentId).result()

async function opened(body: Record<string, unknown> = {}) {
  const paymentId = await world.createPayment(body)
  const answer = await world.openAttempt(paymentId)
  if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
  return { paymentId, attemptId: answer.attemptId }
}

async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + 20_000; ; ) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`did not come true: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
const untilStatus = (paymentId: string, status: string) =>
  until(
    async () => (await world.read(paymentId)).payment,
    (payment) => payment.status === status,
  )

describe('the way of a payment', () => {
  test('paid, converted, transferred, announced', async () => {
    const { paymentId, attemptId } = await opened()
    expect((await world.read(paymentId)).payment.status).toBe('pending')
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await world.settle(paymentId)
    expect(await result(paymentId)).toBe('succeeded')
    const { payment } = await world.read(paymentId)
    expect(payment.closedAt).not.toBeNull()
    expect(payment.usdc).not.toBeNull()
    const deliveries = (await (await fetch(`${world.inboxUrl}/deliveries`)).json()) as { body: string }[]
    expect(deliveries.filter(({ body }) => body.includes(paymentId)).map(({ body }) => JSON.parse(body).type)).toEqual([
      'payment.succeeded',
    ])
  })
})

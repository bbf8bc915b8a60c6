import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createPaymentFixture, type PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import type { PaymentPartsOptions } from '../../scripts/histories/payment-parts.ts'
import { startTimeSkipping } from '../../scripts/test/services/temporal.ts'
import { until } from '../../scripts/test/until.ts'
import type { Decision, Say } from '../../src/domain/payment/requests.ts'
import type { PaymentSnapshot } from '../../src/domain/payment/snapshot.ts'
import { operatorUpdates, paymentState } from '../../src/workflows/messages.ts'

/** The system on a Temporal server that skips time, for one test file, and the steps of its stories. */

export let fixture: PaymentFixture
let env: TestWorkflowEnvironment

export function useFixture(options: PaymentPartsOptions = {}): void {
  beforeAll(async () => {
    env = await startTimeSkipping()
    fixture = await createPaymentFixture(env, options)
  }, 120_000)
  afterAll(async () => {
    await fixture?.close()
    await env?.teardown()
  })
  beforeEach(() => fixture.clearFaults())
}

export const handle = (id: string) => fixture.client.workflow.getHandle(id)
export const result = (paymentId: string) => handle(paymentId).result()
export const payment = async (paymentId: string) => (await fixture.read(paymentId)).payment
export const attempts = async (paymentId: string) =>
  (await fixture.read(paymentId)).attempts.map(({ status }) => status)
export const untilStatus = (paymentId: string, status: string) =>
  until(
    () => payment(paymentId),
    (row) => row.status === status,
  )
export const reasons = async (paymentId: string) => (await payment(paymentId)).reviews.map(({ reason }) => reason)

/** Waits until the row and its run both wait for an operator, for these reasons. */
export async function untilReviewed(paymentId: string, ...expected: string[]) {
  const isReviewed = ({ reviews }: Pick<PaymentSnapshot, 'reviews'>): boolean =>
    expected.join() === reviews.map(({ reason }) => reason).join()
  await until(() => payment(paymentId), isReviewed)
  await until(() => handle(paymentId).query(paymentState), isReviewed)
  return payment(paymentId)
}

/**
 * Waits until the run has given up reading an order for now, because all tries of the local activity failed. Time that
 * is skipped before would exceed the limit of their workflow task.
 */
export const untilReadFailed = (paymentId: string, times = 1) =>
  until(
    async () => (await handle(paymentId).fetchHistory()).events ?? [],
    (events) => events.filter(hasFailedToRead).length >= times,
  )
export const hasFailedToRead = (event: { markerRecordedEventAttributes?: { failure?: unknown } | null }): boolean =>
  Boolean(event.markerRecordedEventAttributes?.failure)

/** As if the partner had confirmed the money two minutes ago: it must be read again before the money moves. */
export async function confirmedBefore(attemptId: string): Promise<void> {
  const earlier = "update attempt set confirmed_at = confirmed_at - interval '2 minutes' where id = $1"
  expect((await fixture.db.query(earlier, [attemptId])).rowCount).toBe(1)
}

/** An operator decides about the payment in its current version. */
export async function decide(id: string, say: Say, more: Partial<Decision> = {}) {
  const { version } = await payment(id)
  return handle(id).executeUpdate(operatorUpdates[say], {
    args: [{ operator: 'ada', reason: 'looked at it', version, ...more }],
  })
}

export async function opened(body: Record<string, unknown> = {}) {
  const paymentId = await fixture.createPayment(body)
  return { paymentId, attemptId: await open(paymentId) }
}

export async function open(paymentId: string): Promise<string> {
  const answer = await fixture.openAttempt(paymentId)
  if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
  return answer.attemptId
}

/**
 * Skips time in steps of five minutes, because the worker's clock follows after each, until the payment waits for an
 * operator.
 */
export async function skipUntilReviewed(paymentId: string, reason: string) {
  await until(
    async () => {
      const isReviewed = (await reasons(paymentId)).includes(reason)
      if (!isReviewed) await fixture.skip('5 minutes')
      return isReviewed
    },
    Boolean,
    40_000,
  )
  return untilReviewed(paymentId, reason)
}

/**
 * Skips time in small steps until the money is sold, for at most a quarter of an hour: the converter may have asked for
 * a pause of ten minutes. Time stops once the transfer runs: a step in which it begins ends with the transfer.
 */
export async function skipWhileConverting(paymentId: string): Promise<void> {
  const isConverting = async () => (await payment(paymentId)).status === 'processing'
  for (let step = 0; step < 90 && (await isConverting()); step++) {
    let isOver = false
    void fixture.skip('10 seconds').finally(() => {
      isOver = true
    })
    await until(async () => isOver || !(await isConverting()), Boolean)
  }
}

export async function settled(paymentId: string) {
  await untilStatus(paymentId, 'settling')
  await fixture.settle(paymentId)
  expect(await result(paymentId)).toBe('succeeded')
  return payment(paymentId)
}

export async function listEventTypes(paymentId: string): Promise<string[]> {
  const deliveries = (await (await fetch(`${fixture.inboxUrl}/deliveries`)).json()) as { body: string }[]
  return deliveries.filter(({ body }) => body.includes(paymentId)).map(({ body }) => JSON.parse(body).type)
}

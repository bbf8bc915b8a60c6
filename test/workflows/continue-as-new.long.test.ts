import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { WithStartWorkflowOperation } from '@temporalio/client'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { createPaymentFixture, type PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import { startDevServer } from '../../scripts/test/services/temporal.ts'
import { until } from '../../scripts/test/until.ts'
import type { Decision, Say } from '../../src/domain/payment/requests.ts'
import { registerSearchAttributes } from '../../src/temporal/namespace.ts'
import { operatorUpdates, paymentState } from '../../src/workflows/messages.ts'
import type { payment } from '../../src/workflows/payment.ts'
import { PAYMENTS_QUEUE } from '../../src/workflows/queues.ts'

/** On the real server, which suggests a new run when a history has 4096 events. */

let fixture: PaymentFixture
let env: TestWorkflowEnvironment
/** The milliseconds by which the clocks of the system and of the partners are ahead: less than the limit for old requests. */
let aheadMs = 0
beforeAll(async () => {
  const { address } = await startDevServer()
  const namespace = `long-${randomUUID()}`
  const own = await TestWorkflowEnvironment.createFromExistingServer({ address, namespace })
  env = own
  await own.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  })
  await registerSearchAttributes(own.connection, namespace)
  fixture = await createPaymentFixture(own, { clock: () => Date.now() + aheadMs })
}, 120_000)
afterAll(async () => {
  await fixture?.close()
  await env?.teardown()
})

const handle = (id: string) => fixture.client.workflow.getHandle(id)
const readRunId = async (id: string): Promise<string> => (await handle(id).describe()).runId
const signed = async (id: string, reason: string): Promise<[Decision]> => [
  { operator: 'ada', reason, version: (await fixture.read(id)).payment.version },
]
const decide = async (id: string, say: Say, reason: string) =>
  handle(id).executeUpdate(operatorUpdates[say], { args: await signed(id, reason) })

async function paid(receivedMinor?: string) {
  const id = await fixture.createPayment({ amount: '100.00' })
  const answer = await fixture.openAttempt(id)
  if (answer.kind !== 'redirect') throw new Error('not opened')
  await fixture.pay('wallet_app', answer.attemptId, receivedMinor === undefined ? {} : { receivedMinor })
  return { id, attemptId: answer.attemptId }
}

/** Waits until the run waits for this reason. */
const untilReviewed = (id: string, reason: string) =>
  until(
    () => handle(id).query(paymentState),
    ({ reviews }) => reviews.some((review) => review.reason === reason),
  )

/** Signals arrive until the run has been continued as a new one; `meanwhile` is called repeatedly between them. */
async function untilContinued(id: string, meanwhile: (round: number) => Promise<unknown>): Promise<number> {
  const before = await readRunId(id)
  for (let round = 0; round < 200; round++) {
    const signals = Array.from({ length: 50 }, () => fixture.workflows.signalRowChanged(id))
    await Promise.all([...signals, meanwhile(round)])
    if ((await readRunId(id)) !== before) return round + 1
  }
  throw new Error('the run was never continued')
}

test('a give-back that is being carried out continues in the new run, and every decision is answered once', async () => {
  const { id, attemptId } = await paid('6000')
  await untilReviewed(id, 'too_little')
  await fixture.faultAt('wallet_app', { fault: 'refund_pending', seconds: 240, attemptId })
  expect(await decide(id, 'give_back', 'too little')).toMatchObject({ message: 'give_back: recorded' })
  const answers: string[] = []
  const rounds = await untilContinued(id, async (round) => {
    const answer = await decide(id, round % 2 === 0 ? 'hold' : 'release', `round ${round}`)
    answers.push(answer.message)
  })
  expect(answers).toEqual(
    Array.from({ length: rounds }, (_, round) => `${round % 2 === 0 ? 'hold' : 'release'}: recorded`),
  )
  const decided = (await fixture.timeline(id)).filter(({ kind }) => /^decision\.(hold|release)$/.test(kind))
  expect(decided).toHaveLength(rounds)
  expect((await fixture.read(id)).attempts).toMatchObject([{ id: attemptId, back: 'asked', held: '6000' }])

  aheadMs = 241_000
  await fixture.workflows.signalOrderChanged(id, attemptId)
  expect(await handle(id).result()).toBe('refunded')
  expect((await fixture.read(id)).attempts).toMatchObject([{ status: 'refunded', back: 'no', held: '0' }])
}, 240_000)

test('a payout that is stopped is awaited in the new run, and settles once', async () => {
  const { id } = await paid()
  await until(
    async () => (await fixture.read(id)).payment.status,
    (status) => status === 'settling',
  )
  await fixture.db.transaction((tx) =>
    fixture.hooks.onStopped(tx, { ownerId: id, reason: 'blacklisted', detail: 'the wallet is blacklisted' }),
  )
  await fixture.relay.relayChanges()
  await untilReviewed(id, 'payout_stopped')
  const refused: unknown[] = []
  await untilContinued(id, (round) => decide(id, 'write_off', `round ${round}`).catch((error) => refused.push(error)))
  for (const error of refused)
    expect(error).toMatchObject({ cause: { message: expect.stringContaining('Decide with settle') } })
  await fixture.settle(id)
  expect(await handle(id).result()).toBe('succeeded')
  const successes = (await fixture.timeline(id)).filter(({ to_status }) => to_status === 'succeeded')
  expect(successes).toHaveLength(1)
  expect((await fixture.read(id)).payment.transfer).not.toBeNull()
}, 240_000)

test('a decision that arrives before a run has read its row is judged by the row', async () => {
  const { id } = await paid('6000')
  await untilReviewed(id, 'too_little')
  const decideUnread = async (args: [Decision]) => {
    await handle(id).terminate('by hand')
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof payment>('payment', {
      workflowId: id,
      taskQueue: PAYMENTS_QUEUE,
      args: [{ id, expiresAt: Date.now() + 3_600_000, resume: true, amount: '60.00 EUR', merchantId: 'one' }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    })
    return fixture.client.workflow.executeUpdateWithStart(operatorUpdates.settle, { args, startWorkflowOperation })
  }
  await expect(decideUnread([{ operator: 'ada', reason: 'nobody has looked' }])).rejects.toMatchObject({
    cause: { message: expect.stringContaining('Add "version"') },
  })
  const answer = await decideUnread(await signed(id, 'what came is enough'))
  expect(answer).toMatchObject({ status: 'processing', message: 'settle: recorded' })
}, 60_000)

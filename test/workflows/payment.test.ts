import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import type { OperatorDecision } from '../../src/domain/requests.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import { operatorUpdates, paymentState } from '../../src/workflows/messages.ts'
import { createPaymentWorld, type PaymentWorld } from '../support/payment-world.ts'
import { startTimeSkipping } from '../support/temporal.ts'
import { until } from '../support/until.ts'

let env: TestWorkflowEnvironment
let world: PaymentWorld

beforeAll(async () => {
  const [environment, bundle] = await Promise.all([startTimeSkipping(), bundleWorkflows()])
  env = environment
  world = await createPaymentWorld(env, bundle)
}, 120_000)
afterAll(async () => {
  await world?.close()
  await env?.teardown()
})
beforeEach(() => world.clearFaults())

const handle = (id: string) => world.client.workflow.getHandle(id)
const result = (paymentId: string) => handle(paymentId).result()
const payment = async (paymentId: string) => (await world.read(paymentId)).payment
const attempts = async (paymentId: string) => (await world.read(paymentId)).attempts.map(({ status }) => status)
const untilStatus = (paymentId: string, status: string) =>
  until(
    () => payment(paymentId),
    (row) => row.status === status,
  )
const decide = (id: string, decision: OperatorDecision) =>
  handle(id).executeUpdate(operatorUpdates[decision], { args: [{ operator: 'ada', reason: 'looked at it' }] })

async function opened(body: Record<string, unknown> = {}) {
  const paymentId = await world.createPayment(body)
  return { paymentId, attemptId: await open(paymentId) }
}

async function open(paymentId: string): Promise<string> {
  const answer = await world.openAttempt(paymentId)
  if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
  return answer.attemptId
}

async function settled(paymentId: string) {
  await untilStatus(paymentId, 'settling')
  await world.settle(paymentId)
  expect(await result(paymentId)).toBe('succeeded')
  return payment(paymentId)
}

async function eventsOf(paymentId: string): Promise<string[]> {
  const deliveries = (await (await fetch(`${world.inboxUrl}/deliveries`)).json()) as { body: string }[]
  return deliveries.filter(({ body }) => body.includes(paymentId)).map(({ body }) => JSON.parse(body).type)
}

describe('the way of a payment', () => {
  test('paid, converted, transferred, announced', async () => {
    const { paymentId, attemptId } = await opened()
    expect((await payment(paymentId)).status).toBe('pending')
    await world.pay('wallet_app', attemptId)
    const row = await settled(paymentId)
    expect(row.closedAt).not.toBeNull()
    expect(row.exception).toBeNull()
    expect(row.usdc === null ? null : BigInt(row.usdc.fee) + BigInt(row.usdc.net)).toBe(BigInt(row.usdc?.gross ?? 0))
    expect(await eventsOf(paymentId)).toEqual(['payment.succeeded'])
    expect(await findImbalances(world.db)).toEqual([])
  })

  test('a declined attempt leaves it pending; the next one is a new partner order', async () => {
    const { paymentId, attemptId } = await opened()
    await world.atPartner('wallet_app', attemptId, { action: 'decline' })
    await until(
      () => attempts(paymentId),
      ([first]) => first === 'declined',
    )
    expect((await payment(paymentId)).status).toBe('pending')
    const second = await open(paymentId)
    expect(second).not.toBe(attemptId)
    await world.pay('wallet_app', second)
    await settled(paymentId)
    expect(await attempts(paymentId)).toEqual(['declined', 'confirmed'])
  })

  test('a double click gets the same partner order', async () => {
    const paymentId = await world.createPayment()
    const answers = await Promise.all([open(paymentId), open(paymentId), open(paymentId)])
    expect(new Set(answers).size).toBe(1)
    expect(await attempts(paymentId)).toEqual(['open'])
  })

  test('switching the method cancels the order that was open', async () => {
    const { paymentId, attemptId } = await opened({ provider: undefined, amount: '50.00' })
    const answer = await world.openAttempt(paymentId, 'card_partner', 'card')
    expect(answer.kind).toBe('redirect')
    expect(await attempts(paymentId)).toEqual(['canceled', 'open'])
    expect((await world.orderAt('wallet_app', attemptId)).status).toBe('canceled')
  })

  test('a partner that confirms slowly: processing first, settled when the money is there', async () => {
    await world.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1 })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    expect((await payment(paymentId)).usdc).toBeNull()
    await world.atPartner('wallet_app', attemptId, { action: 'confirm' })
    await settled(paymentId)
  })

  test('a confirmation that is withdrawn before the conversion brings it back to the buyer', async () => {
    await world.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1 })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilStatus(paymentId, 'pending')
    await world.pay('wallet_app', await open(paymentId))
    await settled(paymentId)
  })

  test('a callback that never comes: the poll finds the money', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.pay('wallet_app', attemptId)
    expect((await payment(paymentId)).status).toBe('pending')
    await world.skip('61 seconds')
    await settled(paymentId)
  })

  test('the partner answers nothing after it opened the order: the same order is found again', async () => {
    await world.faultAt('wallet_app', { fault: 'timeout_after_effect', operation: 'open', mode: 'close', times: 1 })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
    expect(await attempts(paymentId)).toEqual(['confirmed'])
  })
})

describe('expiry and cancellation', () => {
  test('nothing was paid in 24 hours: expired, and closed at once where no order is open', async () => {
    const paymentId = await world.createPayment()
    await world.skip('24 hours')
    expect(await result(paymentId)).toBe('expired')
    const row = await payment(paymentId)
    expect(row.closedAt).not.toBeNull()
    expect(Date.parse(row.updatedAt) - Date.parse(row.createdAt)).toBeGreaterThanOrEqual(86_400_000)
  })

  test('expiry cancels the open partner order first', async () => {
    const { paymentId, attemptId } = await opened()
    await world.skip('24 hours')
    expect(await result(paymentId)).toBe('expired')
    expect((await world.orderAt('wallet_app', attemptId)).status).toBe('canceled')
    expect(await attempts(paymentId)).toEqual(['canceled'])
  })

  test('paid wins over expiry: money that nobody told us of is found before the payment is closed', async () => {
    const { paymentId, attemptId } = await opened({ expires_in: 1800 })
    await world.skip('20 minutes')
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.pay('wallet_app', attemptId)
    await world.skip('10 minutes')
    const row = await settled(paymentId)
    expect(row.exception).toBeNull()
  })

  test('paid wins over cancellation', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.pay('wallet_app', attemptId)
    expect(await world.workflows.cancel(paymentId)).toMatchObject({ status: 'processing' })
    await settled(paymentId)
  })

  test('canceled before any money: the order is canceled, and nobody can pay any more', async () => {
    const { paymentId, attemptId } = await opened()
    expect(await world.workflows.cancel(paymentId)).toEqual({ status: 'canceled' })
    expect((await world.orderAt('wallet_app', attemptId)).status).toBe('canceled')
    expect(
      await world.workflows.openAttempt(paymentId, {
        attemptId: 'att_x',
        provider: 'wallet_app',
        method: 'banking_app',
      }),
    ).toEqual({ kind: 'not_payable', status: 'canceled' })
  })

  test('a running identity check postpones the expiry, once and by 24 hours', async () => {
    const { paymentId, attemptId } = await opened()
    await world.atPartner('wallet_app', attemptId, { action: 'require_verification', buyer: 'slow' })
    await until(
      () => payment(paymentId),
      (row) => row.exception === 'verification_required',
    )
    await world.skip('24 hours')
    const postponed = await until(
      () => payment(paymentId),
      (row) => row.expiryPostponed,
    )
    expect(postponed.status).toBe('pending')
    await world.skip('24 hours')
    expect(await result(paymentId)).toBe('expired')
    expect(Date.parse(postponed.expiresAt) - Date.parse(postponed.createdAt)).toBe(2 * 86_400_000)
  })
})

describe('late and second money', () => {
  test('late money after expiry is settled and marked', async () => {
    const { paymentId, attemptId } = await lateable()
    await world.skip('25 hours')
    await untilStatus(paymentId, 'expired')
    await world.pay('local_partner', attemptId)
    const row = await settled(paymentId)
    expect(row.exception).toBe('paid_late')
    expect(row.usdc).not.toBeNull()
  })

  test('money after cancellation is settled and marked', async () => {
    const { paymentId, attemptId } = await lateable()
    await world.workflows.cancel(paymentId)
    await untilStatus(paymentId, 'canceled')
    await world.pay('local_partner', attemptId)
    expect((await settled(paymentId)).exception).toBe('paid_late')
  })

  test('an attempt that is not proved dead is listened to for 72 hours (UPI), then the payment closes', async () => {
    const { paymentId } = await lateable()
    await world.workflows.cancel(paymentId)
    const before = await payment(paymentId)
    expect(before.closedAt).toBeNull()
    await world.skip('72 hours')
    expect(await result(paymentId)).toBe('canceled')
    const after = await payment(paymentId)
    expect(after.listenEnded).toBe(true)
    expect(Date.parse(after.closedAt ?? '') - Date.parse(after.canceledAt ?? '')).toBeGreaterThanOrEqual(72 * 3_600_000)
  })

  test('money after the workflow has closed is booked to suspense and opens a workflow for an operator', async () => {
    const { paymentId, attemptId } = await lateable()
    await world.workflows.cancel(paymentId)
    await world.skip('72 hours')
    expect(await result(paymentId)).toBe('canceled')
    await world.faultAt('local_partner', { fault: 'late_money' })
    await world.pay('local_partner', attemptId)
    await until(
      () => attempts(paymentId),
      ([status]) => status === 'late',
    )
    expect((await payment(paymentId)).status).toBe('canceled')
    const suspense = (await readBalances(world.db)).find(
      ({ account, asset }) => account === 'suspense' && asset === 'INR',
    )
    expect(BigInt(suspense?.amount ?? 0)).toBeLessThan(0n)
    const late = handle(`late_${attemptId}`)
    await until(
      () =>
        late.describe().then(
          ({ status }) => status.name,
          () => 'absent',
        ),
      (name) => name === 'RUNNING',
    )
    await late.executeUpdate(operatorUpdates.refund, { args: [{ operator: 'ada', reason: 'too late' }] })
    expect(await late.result()).toBe('refunded')
    expect(await attempts(paymentId)).toEqual(['refunded'])
  })

  test('a second payment for the same payment is kept for an operator and never settled twice', async () => {
    const { paymentId, attemptId } = await lateable()
    const other = await world.openAttempt(paymentId, 'card_partner', 'card')
    if (other.kind !== 'redirect') throw new Error('not opened')
    await world.pay('card_partner', other.attemptId)
    await untilStatus(paymentId, 'settling')
    await world.settle(paymentId)
    await untilStatus(paymentId, 'succeeded')
    await world.pay('local_partner', attemptId)
    await until(
      () => attempts(paymentId),
      (all) => all.includes('surplus'),
    )
    const row = await payment(paymentId)
    expect(row.exception).toBe('duplicate_payment')
    expect(row.paidAttemptId).toBe(other.attemptId)
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.attempts.some(({ status }) => status === 'surplus'),
    )
    await expect(decide(paymentId, 'approve')).rejects.toThrow(WorkflowUpdateFailedError)
    expect(await decide(paymentId, 'refund')).toMatchObject({ message: 'refunded' })
    expect(await result(paymentId)).toBe('succeeded')
    expect(await findImbalances(world.db)).toEqual([])
  })

  /** UPI cannot be canceled, so its order stays payable. */
  async function lateable() {
    const paymentId = await world.createPayment({ provider: undefined, amount: '50.00', currency: 'EUR' })
    const answer = await world.openAttempt(paymentId, 'local_partner', 'upi')
    if (answer.kind !== 'redirect') throw new Error('not opened')
    await world.faultAt('local_partner', { fault: 'late_money', attemptId: answer.attemptId })
    return { paymentId, attemptId: answer.attemptId }
  }
})

describe('an operator', () => {
  test('underpaid is parked; approved, what arrived is settled', async () => {
    const { paymentId, attemptId } = await opened({ amount: '100.00' })
    await world.pay('wallet_app', attemptId, { receivedMinor: '9000' })
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({
      parkReason: 'underpaid',
      exception: 'underpaid',
    })
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    await expect(decide(paymentId, 'retry')).rejects.toThrow(WorkflowUpdateFailedError)
    expect(await decide(paymentId, 'approve')).toMatchObject({ status: 'processing' })
    const row = await settled(paymentId)
    expect(row.confirmed).toEqual({ minor: '9000', currency: 'EUR' })
    expect((await world.timeline(paymentId)).filter(({ actor }) => actor === 'operator')).toHaveLength(1)
  })

  test('underpaid and refunded: the money goes back once, and nothing is settled', async () => {
    const { paymentId, attemptId } = await opened({ amount: '100.00' })
    await world.pay('wallet_app', attemptId, { receivedMinor: '100' })
    await untilStatus(paymentId, 'under_review')
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    expect(await decide(paymentId, 'refund')).toMatchObject({ status: 'refunded' })
    expect(await result(paymentId)).toBe('refunded')
    expect((await world.orderAt('wallet_app', attemptId)).status).toBe('refunded')
    expect(await findImbalances(world.db)).toEqual([])
  })

  test('a decision without a name and a reason is refused', async () => {
    const { paymentId } = await opened()
    await expect(
      handle(paymentId).executeUpdate(operatorUpdates.hold, { args: [{ operator: '', reason: '' }] }),
    ).rejects.toThrow(WorkflowUpdateFailedError)
    expect((await payment(paymentId)).held).toBe(false)
  })

  test('a hold placed before any money is a flag; the money then waits for the release', async () => {
    const { paymentId, attemptId } = await opened()
    expect(await decide(paymentId, 'hold')).toMatchObject({ status: 'pending' })
    await world.pay('wallet_app', attemptId)
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'operator_hold', usdc: null })
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    await expect(decide(paymentId, 'reject')).rejects.toThrow(WorkflowUpdateFailedError)
    expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
    await settled(paymentId)
  })

  test('a conversion that is refused parks the payment; retried, it goes on', async () => {
    await world.faultAt('converter', { fault: 'conversion_refused', times: 1 })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'conversion' })
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    await decide(paymentId, 'retry')
    await settled(paymentId)
  })

  test('a payout that is held parks the payment; paid after all, it succeeds', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await world.db.transaction((tx) =>
      world.hooks.onHeld(tx, { paymentId, reason: 'blacklisted', detail: 'the wallet is blacklisted' }),
    )
    await world.relay.completeTransfers()
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'payout_held' })
    await world.settle(paymentId)
    expect(await result(paymentId)).toBe('succeeded')
  })

  test('a payment with a payout is refunded only when the payout is voided', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await expect(decide(paymentId, 'refund')).rejects.toThrow()
    await world.voidPayout(paymentId)
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'payout_voided' })
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    expect(await decide(paymentId, 'refund')).toMatchObject({ status: 'refunded' })
    expect(await result(paymentId)).toBe('refunded')
    expect(await findImbalances(world.db)).toEqual([])
  })

  test('a settlement proved on chain that the state forbids is recorded and parked, not lost', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await world.voidPayout(paymentId)
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    await decide(paymentId, 'refund')
    await world.settle(paymentId)
    const row = await payment(paymentId)
    expect(row.status).toBe('refunded')
    expect(row.transfer).not.toBeNull()
    expect((await world.timeline(paymentId)).map(({ kind }) => kind)).toContain('payment.unexpected_settlement')
  })
})

describe('trouble at the partner', () => {
  test.each([
    ['timeout_after_effect', 'convert', 'converter'],
    ['timeout_before_effect', 'convert', 'converter'],
    ['server_error', 'convert', 'converter'],
    ['server_error', 'read', 'wallet_app'],
  ] as const)('%s of %s: tried again, with one effect', async (fault, operation, at) => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt(at, { fault, operation, times: 1, ...(fault.startsWith('timeout') && { mode: 'close' }) })
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
    expect((await world.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
  })

  test('a partner that cannot be reached at all is polled until it answers', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    // The tries are part of a workflow task; time that is skipped meanwhile would be over its limit.
    const gaveUp = (events: { markerRecordedEventAttributes?: unknown }[] | null | undefined) =>
      (events ?? []).some((event) => event.markerRecordedEventAttributes)
    await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
    await world.clearFaults()
    expect((await payment(paymentId)).status).toBe('pending')
    await world.skip('61 seconds')
    await settled(paymentId)
  })

  test('callbacks that come twice and out of order change nothing more', async () => {
    await world.faultAt('wallet_app', { fault: 'callbacks_twice' })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
    expect((await world.timeline(paymentId)).filter(({ to_status }) => to_status === 'processing')).toHaveLength(1)
  })

  test('a settlement that takes longer than a quarter of an hour is marked as delayed', async () => {
    await world.faultAt('converter', { fault: 'delay', seconds: 1200, times: 1 })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    await world.skip('16 minutes')
    await until(
      () => payment(paymentId),
      (row) => row.exception === 'settlement_delayed',
    )
    // In small steps: time stands still once the transfer runs.
    for (let step = 0; step < 100 && (await payment(paymentId)).status === 'processing'; step++)
      await world.skip('5 seconds')
    expect((await settled(paymentId)).exception).toBeNull()
  })

  test('an endpoint that fails gets a workflow of its own and keeps no payment open', async () => {
    await fetch(`${world.inboxUrl}/behaviour`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answer: 500, times: 1 }),
    })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
    expect(await eventsOf(paymentId)).toHaveLength(1)
    await world.skip('7 seconds')
    expect(
      await until(
        () => eventsOf(paymentId),
        (events) => events.length > 1,
      ),
    ).toEqual(['payment.succeeded', 'payment.succeeded'])
  })
})

describe('a lost workflow', () => {
  test('the run is terminated by hand in the middle: the next message starts one that goes on from the row', async () => {
    const { paymentId, attemptId } = await opened()
    await handle(paymentId).terminate('by hand')
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
  })

  test('a start that was lost is done by the relay', async () => {
    const paymentId = await world.createPaymentWithoutStart()
    await expect(handle(paymentId).describe()).rejects.toThrow()
    await world.relay.startPayments()
    await world.pay('wallet_app', await open(paymentId))
    await settled(paymentId)
  })

  test('a callback that was stored and not passed on is passed on by the relay', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.pay('wallet_app', attemptId)
    await world.storeCallbackOnly('wallet_app', attemptId)
    await world.relay.tellPartnerNews()
    await settled(paymentId)
    expect(await world.relay.tellPartnerNews()).toBe(0)
  })
})

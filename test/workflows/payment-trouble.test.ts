import { describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { TRANSFER_ACTIVITY_ID } from '../../src/domain/ids.ts'
import { sendDecision } from '../../src/temporal/decisions.ts'
import { paymentState } from '../../src/workflows/messages.ts'
import {
  decide,
  eventsOf,
  handle,
  open,
  opened,
  payment,
  settled,
  skipWhileConverting,
  untilStatus,
  useWorld,
  world,
} from './story.ts'

useWorld()

/** The tries are part of a workflow task; time that is skipped meanwhile would be over its limit. */
const gaveUp = (
  events: { markerRecordedEventAttributes?: { markerName?: string | null } | null }[] | null | undefined,
) => (events ?? []).some((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity')

describe('trouble at the partner', () => {
  test.each([
    ['timeout_after_effect', 'convert', 'converter'],
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
    await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
    await world.clearFaults()
    expect((await payment(paymentId)).status).toBe('pending')
    await world.skip('61 seconds')
    await settled(paymentId)
  })

  test('with rates that are old nothing is priced and no rate is locked, and the money is seen all the same; present ones settle it', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('converter', { fault: 'old_rates', seconds: 601 })
    // The rates that were fetched before are still young: they are used until ten minutes after they were made.
    await world.skip('10 minutes')
    await world.skip('1 second')
    const ask = (path: string, body?: object) =>
      fetch(`${world.api}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${world.secretKey}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    for (const answer of [
      await ask('/v1/payments', { amount: '49.99', currency: 'EUR' }),
      await ask('/v1/quotes?amount=49.99&currency=EUR'),
    ]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await answer.json()).toMatchObject({ code: 'temporarily_unavailable' })
    }
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    // The money is seen at once; what it is worth is found out when somebody knows it.
    await untilStatus(paymentId, 'processing')
    expect(await payment(paymentId)).toMatchObject({ rate: null, confirmed: { minor: '4999' }, usdc: null })
    await world.clearFaults()
    await skipWhileConverting(paymentId)
    expect((await settled(paymentId)).rate).not.toBeNull()
  })

  test('callbacks that come twice and out of order change nothing more', async () => {
    await world.faultAt('wallet_app', { fault: 'callbacks_twice' })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
    expect((await world.timeline(paymentId)).filter(({ to_status }) => to_status === 'processing')).toHaveLength(1)
  })

  test('a settlement that takes longer than a quarter of an hour is marked as delayed', async () => {
    await world.faultAt('converter', { fault: 'delay', seconds: 1000, times: 1 })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    await world.skip('16 minutes')
    await until(
      () => payment(paymentId),
      (row) => row.exception === 'settlement_delayed',
    )
    await skipWhileConverting(paymentId)
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

/** As `temporal activity fail` does, once the activity waits. */
async function failByHand(paymentId: string, activityId: string): Promise<void> {
  const failure = { message: 'by hand', applicationFailureInfo: { type: 'ByHand', nonRetryable: true } }
  const waiting = { namespace: 'default', workflowId: paymentId, activityId, identity: 'ada' }
  await until(
    () =>
      world.client.workflowService.respondActivityTaskFailedById({ ...waiting, failure }).then(
        () => true,
        () => false,
      ),
    Boolean,
  )
}

describe('what an operator does by hand in the Temporal UI', () => {
  test.each([
    ['without input', []],
    ['with null', [null]],
    ['with another input', [{ attempt: 'att_1' }]],
    ['with an id that is no text', [{ attemptId: 7 }]],
  ])('a signal %s stops no payment', async (_how, args) => {
    const { paymentId, attemptId } = await opened()
    await handle(paymentId).signal('partnerNews', ...args)
    await world.pay('wallet_app', attemptId)
    await settled(paymentId)
  })

  test('a transfer that is failed by hand is waited for again, and decisions are answered', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await failByHand(paymentId, TRANSFER_ACTIVITY_ID)
    expect(await decide(paymentId, 'hold')).toMatchObject({ message: 'hold: recorded' })
    expect(await decide(paymentId, 'release')).toMatchObject({ message: 'release: recorded' })
    await settled(paymentId)
  })

  test('a decision whose run is ended before it is answered is not told as refused', async () => {
    const { paymentId, attemptId } = await opened({ amount: '100.00' })
    await world.pay('wallet_app', attemptId, { receivedMinor: '6000' })
    await untilStatus(paymentId, 'under_review')
    await until(
      () => handle(paymentId).query(paymentState),
      (state) => state.status === 'under_review',
    )
    await world.faultAt('wallet_app', { fault: 'server_error', operation: 'refund' })
    const request = { workflowId: paymentId, decision: 'refund', note: { operator: 'ada', reason: 'x' } } as const
    const outcome = sendDecision(world.client, request)
    await until(
      async () => (await world.read(paymentId)).intents,
      ({ length }) => length > 0,
    )
    await handle(paymentId).terminate('by hand')
    expect(await outcome).toMatchObject({ kind: 'unknown' })
    await world.unlockTime()
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
    await expect(handle(paymentId).describe()).rejects.toMatchObject({ name: 'WorkflowNotFoundError' })
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

describe('a run that takes over a restored row', () => {
  /** The row is of the time before the conversion; the money was given back at the partner in the time that is forgotten. */
  async function forgotten() {
    await world.faultAt('converter', { fault: 'server_error', operation: 'convert' })
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    await handle(paymentId).terminate('database restored')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
    await world.clearFaults()
    return { paymentId, attemptId }
  }
  const payouts = async (paymentId: string) =>
    (await world.db.query('select state from payout where payment_id = $1', [paymentId])).rows

  test('asks first whether the money is still there, and pays nothing for what went back', async () => {
    const { paymentId } = await forgotten()
    await world.workflows.resume(await payment(paymentId))
    await untilStatus(paymentId, 'pending')
    expect((await payment(paymentId)).usdc).toBeNull()
    expect(await payouts(paymentId)).toEqual([])
  })

  test('lets no money go while the partner does not answer', async () => {
    const { paymentId, attemptId } = await forgotten()
    await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
    await world.workflows.resume(await payment(paymentId))
    await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
    const { status, usdc } = await payment(paymentId)
    expect([status, usdc]).toEqual(['processing', null])
    await world.clearFaults()
    await world.workflows.tellPartnerNews(paymentId, attemptId)
    await untilStatus(paymentId, 'pending')
    expect(await payouts(paymentId)).toEqual([])
  })

  test('asks a partner that did not answer again after seconds, and not only at the next poll', async () => {
    const { paymentId } = await forgotten()
    await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
    await world.workflows.resume(await payment(paymentId))
    await until(async () => (await handle(paymentId).fetchHistory()).events, gaveUp)
    await world.clearFaults()
    // The first poll is after a minute.
    await world.skip('2 seconds')
    await untilStatus(paymentId, 'pending')
  })
})

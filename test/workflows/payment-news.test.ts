import { describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { paymentState } from '../../src/workflows/messages.ts'
import { attempts, decide, handle, opened, payment, result, settled, untilStatus, useWorld, world } from './story.ts'

useWorld()

/** The partner can be called and takes the money, but its orders cannot be read. */
const unreadable = (partner: 'wallet_app' | 'local_partner') =>
  world.faultAt(partner, { fault: 'server_error', operation: 'read' })

/** The workflow has given up reading for now: all tries of the local activity failed. */
const gaveUp = (paymentId: string, times = 1) =>
  until(
    async () => (await handle(paymentId).fetchHistory()).events ?? [],
    (events) => events.filter(hasFailedToRead).length >= times,
  )
const hasFailedToRead = (event: { markerRecordedEventAttributes?: { failure?: unknown } | null }) =>
  Boolean(event.markerRecordedEventAttributes?.failure)
const startsTimer = (event: { timerStartedEventAttributes?: unknown }) => Boolean(event.timerStartedEventAttributes)

/** What an operator reads in the Temporal UI. */
async function detailsOf(paymentId: string): Promise<string | undefined> {
  const query = '__temporal_workflow_metadata'
  return (await handle(paymentId).query<{ currentDetails?: string }, []>(query)).currentDetails
}

/** The relay's next round, as if the time of every repeat had come. */
async function relayRound(): Promise<void> {
  await world.db.query('update partner_event set due_at = now() where applied_at is null')
  await world.relay.tellPartnerNews()
}

/** The row and the workflow both say so. */
async function underReview(paymentId: string): Promise<void> {
  await untilStatus(paymentId, 'under_review')
  await until(
    () => handle(paymentId).query(paymentState),
    (state) => state.status === 'under_review',
  )
}

const unread = async (attemptId: string): Promise<number> => {
  const { rowCount } = await world.db.query(
    'select 1 from partner_event where attempt_id = $1 and applied_at is null',
    [attemptId],
  )
  return rowCount ?? 0
}

describe('news that cannot be read', () => {
  test('is repeated by the relay until it is applied, without waiting for a poll', async () => {
    const { paymentId, attemptId } = await opened()
    await unreadable('wallet_app')
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await gaveUp(paymentId)
    expect(await unread(attemptId)).toBeGreaterThan(0)
    await relayRound()
    await gaveUp(paymentId, 2)
    expect((await payment(paymentId)).status).toBe('pending')
    await world.clearFaults()
    await relayRound()
    await settled(paymentId)
    expect(await unread(attemptId)).toBe(0)
  })

  test('keeps a run from ending: late money after the end is not lost', async () => {
    const paymentId = await world.createPayment({ provider: undefined, amount: '50.00', currency: 'EUR' })
    const answer = await world.openAttempt(paymentId, 'local_partner', 'upi')
    if (answer.kind !== 'redirect') throw new Error('not opened')
    await world.faultAt('local_partner', { fault: 'late_money', attemptId: answer.attemptId })
    await world.workflows.cancel(paymentId)
    await world.skip('72 hours')
    expect(await result(paymentId)).toBe('canceled')
    await world.faultAt('local_partner', { fault: 'late_money' })
    await unreadable('local_partner')
    await world.pay('local_partner', answer.attemptId)
    await gaveUp(paymentId)
    expect(await unread(answer.attemptId)).toBeGreaterThan(0)
    expect((await handle(paymentId).describe()).status.name).toBe('RUNNING')
    await world.clearFaults()
    await relayRound()
    expect(await result(paymentId)).toBe('canceled')
    expect(await attempts(paymentId)).toEqual(['late'])
    expect(await unread(answer.attemptId)).toBe(0)
  })

  test('leaves a payout that is under way as it is: it is shown as settling, and no clock asks again for the money', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await unreadable('wallet_app')
    await world.workflows.tellPartnerNews(paymentId, attemptId)
    const events = await gaveUp(paymentId)
    expect(events.slice(events.findIndex(hasFailedToRead)).filter(startsTimer)).toEqual([])
    expect(await detailsOf(paymentId)).toContain('### settling')
    await world.clearFaults()
    await world.workflows.tellPartnerNews(paymentId, attemptId)
    await settled(paymentId)
  })

  test('is repeated to a run that was terminated in between', async () => {
    const { paymentId, attemptId } = await opened()
    await unreadable('wallet_app')
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await gaveUp(paymentId)
    await handle(paymentId).terminate('lost')
    await world.clearFaults()
    await relayRound()
    await untilStatus(paymentId, 'settling')
    await settled(paymentId)
  })
})

describe('before money moves on that has waited for an operator, the order is read again', () => {
  test('money that the partner took back meanwhile, without a word, is not approved', async () => {
    const { paymentId, attemptId } = await underpaid()
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
    await expect(decide(paymentId, 'approve')).rejects.toMatchObject({
      cause: { message: 'The payment is failed and waits for no operator' },
    })
    expect(await result(paymentId)).toBe('failed')
    expect(await payment(paymentId)).toMatchObject({ usdc: null, confirmed: null, paidAttemptId: null })
  })

  test('a partner that does not answer leaves everything as it is; a later decision is carried out', async () => {
    const { paymentId } = await underpaid()
    await unreadable('wallet_app')
    await expect(decide(paymentId, 'approve')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('The partner does not answer') },
    })
    expect(await payment(paymentId)).toMatchObject({ status: 'under_review', parkReason: 'underpaid' })
    await world.clearFaults()
    expect(await decide(paymentId, 'approve')).toMatchObject({ status: 'processing' })
    await settled(paymentId)
  })

  test('a payout that is held is not retried when its money is gone: it is voided, and the payment ends as refunded', async () => {
    const { paymentId, attemptId } = await payoutHeld()
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
    await expect(decide(paymentId, 'retry')).rejects.toMatchObject({
      cause: { message: 'Parked for funds_reversed: it ends by itself' },
    })
    expect(await payment(paymentId)).toMatchObject({ status: 'under_review', parkReason: 'funds_reversed' })
    const details = await detailsOf(paymentId)
    expect(details).toContain('Ends by itself.')
    expect(details).not.toMatch(/Waits for an operator|payments decide/)
    const { rows } = await world.db.query('select state from payout where payment_id = $1', [paymentId])
    expect(rows).toEqual([{ state: 'voiding' }])
    await world.voidPayout(paymentId)
    expect(await result(paymentId)).toBe('refunded')
  })

  test('the operator’s command does not release a payout of a payment that is held', async () => {
    const { paymentId } = await payoutHeld()
    await decide(paymentId, 'hold')
    const release = world.db.transaction((tx) => world.hooks.onReleased(tx, { paymentId }))
    await expect(release).rejects.toThrow('An operator holds the payment')
    expect(await payment(paymentId)).toMatchObject({ status: 'under_review', parkReason: 'payout_held', held: true })
    await expect(decide(paymentId, 'retry')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('release it first') },
    })
    await decide(paymentId, 'release')
    await decide(paymentId, 'retry')
    await settled(paymentId)
  })

  async function payoutHeld() {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    const held = { paymentId, reason: 'blacklisted', detail: 'the wallet is on the list' } as const
    await world.db.transaction((tx) => world.hooks.onHeld(tx, held))
    const { rows: notices } = await world.db.query("select data from notice where kind = 'payout.held'")
    expect(notices).toContainEqual({ data: { id: held.paymentId, reason: held.reason } })
    await world.relay.completeTransfers()
    await underReview(paymentId)
    return { paymentId, attemptId }
  }

  async function underpaid() {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId, { receivedMinor: '3000' })
    await underReview(paymentId)
    return { paymentId, attemptId }
  }
})

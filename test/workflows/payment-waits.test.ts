import { describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import {
  decide,
  open,
  opened,
  payment,
  result,
  settled,
  skipWhileConverting,
  untilStatus,
  useWorld,
  world,
} from './story.ts'

/** Long waits, and what comes in meanwhile: a converter, a payout, a partner that take their time. */

useWorld()

describe('while the converter has not filled the order', () => {
  async function converting(seconds: number) {
    await world.faultAt('converter', { fault: 'delay', seconds, times: 1 })
    const made = await opened()
    await world.pay('wallet_app', made.attemptId)
    await untilStatus(made.paymentId, 'processing')
    return made
  }

  test('an operator’s hold takes effect at once, and after its release the same order goes on', async () => {
    const { paymentId } = await converting(100)
    expect(await decide(paymentId, 'hold')).toMatchObject({ status: 'under_review' })
    expect(await payment(paymentId)).toMatchObject({ parkReason: 'operator_hold', usdc: null })
    await world.skip('2 minutes')
    expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
    await skipWhileConverting(paymentId)
    await settled(paymentId)
    expect((await world.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
  })

  test('money that is taken back meanwhile is not waited for any more', async () => {
    const { paymentId, attemptId } = await converting(300)
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilStatus(paymentId, 'pending')
    expect(await payment(paymentId)).toMatchObject({ confirmed: null, paidAttemptId: null })
  })

  test('money that is withdrawn and paid again is late by its own time', async () => {
    const { paymentId, attemptId } = await converting(6000)
    await world.skip('2 minutes')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilStatus(paymentId, 'pending')
    await world.skip('8 minutes')
    await world.pay('wallet_app', await open(paymentId))
    await untilStatus(paymentId, 'processing')
    await world.skip('7 minutes')
    expect((await payment(paymentId)).exception).toBeNull()
    await world.skip('10 minutes')
    await until(
      () => payment(paymentId),
      (row) => row.exception === 'settlement_delayed',
    )
    await world.skip('15 minutes')
    await untilStatus(paymentId, 'under_review')
    expect(await decide(paymentId, 'refund')).toMatchObject({ status: 'refunded' })
  })

  test('money that went without a word, long before the order was filled, is not paid out', async () => {
    const { paymentId, attemptId } = await converting(1200)
    await world.skip('2 minutes')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
    await skipWhileConverting(paymentId)
    await untilStatus(paymentId, 'pending')
    expect(await payment(paymentId)).toMatchObject({ confirmed: null, paidAttemptId: null, usdc: null })
  })

  test('what was filled at a try that took long is not paid out when the money has gone meanwhile', async () => {
    const { paymentId, attemptId } = await opened()
    await world.faultAt('converter', { fault: 'timeout_after_effect', operation: 'convert', times: 1 })
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
    await skipWhileConverting(paymentId)
    await untilStatus(paymentId, 'pending')
    expect(await payment(paymentId)).toMatchObject({ confirmed: null, paidAttemptId: null, usdc: null })
  })

  test('after half an hour it is an operator’s: refunded, it ends when the converter has filled the order', async () => {
    const { paymentId } = await converting(7200)
    await world.skip('16 minutes')
    await world.skip('16 minutes')
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'conversion' })
    expect(await decide(paymentId, 'refund')).toMatchObject({ status: 'refunded' })
    expect(await payment(paymentId)).toMatchObject({ conversionOpen: true, fill: null })
    // The converter's clock follows after each jump.
    for (let quarter = 0; quarter < 8; quarter++) await world.skip('15 minutes')
    expect(await result(paymentId)).toBe('refunded')
    expect(await payment(paymentId)).toMatchObject({ conversionOpen: false, usdc: null, fill: { accepted: false } })
  })
})

describe('while the payout is awaited', () => {
  test('a hold stops it before it is signed; released, it is paid', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    expect(await decide(paymentId, 'hold')).toMatchObject({ status: 'under_review' })
    const stateOf = async () =>
      (await world.db.query('select state from payout where payment_id = $1', [paymentId])).rows[0]?.state
    expect(await stateOf()).toBe('held')
    expect(await decide(paymentId, 'release')).toMatchObject({ status: 'settling' })
    expect(await stateOf()).toBe('queued')
    await settled(paymentId)
  })

  test('money that the partner takes back voids it', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'settling')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'funds_reversed' })
    await world.voidPayout(paymentId)
    expect(await result(paymentId)).toBe('refunded')
  })
})

describe('a partner that says for ever that it is confirming', () => {
  test('is an operator’s after a day; when the money comes after all, the payment goes on', async () => {
    const { paymentId, attemptId } = await opened()
    await world.pay('wallet_app', attemptId, { seconds: 90_000 })
    await untilStatus(paymentId, 'processing')
    await world.skip('24 hours')
    await world.skip('1 minute')
    expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ parkReason: 'partner_silent' })
    await world.atPartner('wallet_app', attemptId, { action: 'confirm' })
    await settled(paymentId)
  })

  test('a clock that rings for a state that the payment has left wakes nobody, and the next decision is heard', async () => {
    const { paymentId, attemptId } = await opened()
    await decide(paymentId, 'hold')
    await world.pay('wallet_app', attemptId, { seconds: 3600 })
    await untilStatus(paymentId, 'processing')
    await world.skip('61 minutes')
    await world.atPartner('wallet_app', attemptId, { action: 'confirm' }).catch(() => undefined)
    await world.workflows.tellPartnerNews(paymentId, attemptId)
    await untilStatus(paymentId, 'under_review')
    await world.skip('25 hours')
    expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
    await settled(paymentId)
  })
})

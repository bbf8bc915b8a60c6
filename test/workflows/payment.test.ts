import { describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { findImbalances } from '../../src/db/ledger.ts'
import { attempts, eventsOf, handle, open, opened, payment, settled, untilStatus, useWorld, world } from './story.ts'

useWorld()

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

  test('a click while the order is open is answered from the row: nothing is added to the history', async () => {
    const { paymentId } = await opened()
    const { checkoutToken } = await payment(paymentId)
    const lastEvent = async () => (await handle(paymentId).fetchHistory()).events?.length
    const before = await lastEvent()
    const checkout = `${world.api}/c/${checkoutToken}`
    const click = () =>
      fetch(`${checkout}/continue`, {
        method: 'POST',
        body: new URLSearchParams({ provider: 'wallet_app', method: 'banking_app' }),
        redirect: 'manual',
      })
    const answers = await Promise.all([click(), click(), click()])
    expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual(
      answers.map(() => [303, `/c/${checkoutToken}/go`]),
    )
    expect(await lastEvent()).toBe(before)
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

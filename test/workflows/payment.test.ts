import { describe, expect, test } from '@jest/globals'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { until } from '../../scripts/test/until.ts'
import { findImbalances, readBalances } from '../../src/db/ledger.ts'
import { EXTENDABLE_MS, EXTENSION_MS } from '../../src/domain/payment/requests.ts'
import { newId } from '../../src/ids.ts'
import { extendPayment } from '../../src/payments/extend-payment.ts'
import { openAddress, send } from './deposits.ts'
import {
  attempts,
  decide,
  fixture,
  handle,
  listEventTypes,
  open,
  opened,
  payment,
  result,
  settled,
  skipUntilReviewed,
  skipWhileConverting,
  untilReadFailed,
  untilReviewed,
  untilStatus,
  useFixture,
} from './story.ts'

describe('The course of a payment', () => {
  useFixture()

  test('a payment is paid, converted, transferred and announced', async () => {
    const { paymentId, attemptId } = await opened()
    expect((await payment(paymentId)).status).toBe('pending')
    await fixture.pay('wallet_app', attemptId)
    const row = await settled(paymentId)
    expect(row.closedAt).not.toBeNull()
    expect(row.exception).toBeNull()
    expect(row.usdc === null ? null : BigInt(row.usdc.fee) + BigInt(row.usdc.net)).toBe(BigInt(row.usdc?.gross ?? 0))
    expect(await listEventTypes(paymentId)).toEqual(['payment.succeeded'])
    expect(await findImbalances(fixture.db)).toEqual([])
  })

  test('a declined attempt leaves the payment pending; the next one is a new partner order', async () => {
    const { paymentId, attemptId } = await opened()
    await fixture.atPartner('wallet_app', attemptId, { action: 'decline' })
    await until(
      () => attempts(paymentId),
      ([first]) => first === 'declined',
    )
    expect((await payment(paymentId)).status).toBe('pending')
    const second = await open(paymentId)
    expect(second).not.toBe(attemptId)
    await fixture.pay('wallet_app', second)
    await settled(paymentId)
    expect(await attempts(paymentId)).toEqual(['declined', 'paid'])
  })

  test('a suspension in the middle of payments cancels what is unpaid once, and settles what is paid', async () => {
    const merchantId = fixture.tenant.merchantId
    const created = await fixture.createPayment()
    const { paymentId: pending, attemptId: left } = await opened()
    const { paymentId: paid, attemptId } = await opened()
    const { paymentId: late, attemptId: slow } = await opened()
    await fixture.pay('wallet_app', attemptId)
    await untilStatus(paid, 'settling')
    await fixture.db.query(`update agreement set status = 'suspended' where merchant_id = $1`, [merchantId])
    const refused = await fetch(`${fixture.api}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ amount: '49.99', currency: 'EUR' }),
    })
    expect(refused.status).toBe(403)
    // Two rounds at once, as of two workers.
    await Promise.all([fixture.relay.cancelSuspended(), fixture.relay.cancelSuspended()])
    for (const id of [created, pending, late]) await untilStatus(id, 'canceled')
    expect(await fixture.relay.cancelSuspended()).toBe(0)
    for (const id of [created, pending, late]) {
      const moves = (await fixture.timeline(id)).filter(({ to_status }) => to_status === 'canceled')
      expect(moves).toMatchObject([{ actor: 'operator', message: expect.stringContaining('account is suspended') }])
    }
    expect((await fixture.orderAt('wallet_app', left)).status).toBe('canceled')
    await fixture.settle(paid)
    expect(await result(paid)).toBe('succeeded')
    // Money that arrives anyway is treated as any late money.
    await fixture.atPartner('wallet_app', slow, { action: 'late' })
    await untilStatus(late, 'settling')
    await fixture.settle(late)
    expect(await result(late)).toBe('succeeded')
    expect((await payment(late)).exception).toBe('paid_late')
    const { rows } = await fixture.db.query('select open_payments from agreement where merchant_id = $1', [merchantId])
    expect(rows).toEqual([{ open_payments: 0 }])
    await fixture.db.query(`update agreement set status = 'approved' where merchant_id = $1`, [merchantId])
    expect(await findImbalances(fixture.db)).toEqual([])
  })

  test('a buyer opens no order of a suspended merchant, before its payment is canceled by its turn', async () => {
    const { merchantId } = fixture.tenant
    const paymentId = await fixture.createPayment()
    await fixture.db.query(`update agreement set status = 'suspended' where merchant_id = $1`, [merchantId])
    expect(await fixture.openAttempt(paymentId)).toEqual({ kind: 'not_payable', status: 'canceled' })
    expect(await attempts(paymentId)).toEqual([])
    await fixture.db.query(`update agreement set status = 'approved' where merchant_id = $1`, [merchantId])
  })

  test('a double click returns the same partner order', async () => {
    const paymentId = await fixture.createPayment()
    const answers = await Promise.all([open(paymentId), open(paymentId), open(paymentId)])
    expect(new Set(answers).size).toBe(1)
    expect(await attempts(paymentId)).toEqual(['open'])
  })

  test('a click while the order is open is answered from the row, without an event in the history', async () => {
    const { paymentId } = await opened()
    const { checkoutToken } = await payment(paymentId)
    const lastEvent = async () => (await handle(paymentId).fetchHistory()).events?.length
    const before = await lastEvent()
    const checkout = `${fixture.api}/c/${checkoutToken}`
    const click = () =>
      fetch(`${checkout}/continue`, {
        method: 'POST',
        body: new URLSearchParams({ provider: 'wallet_app', method: 'banking_app' }),
        redirect: 'manual',
      })
    const answers = await Promise.all([click(), click(), click()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const pages = await Promise.all(answers.map((answer) => answer.text()))
    const led = pages.map((page) => /content="0;url=([^"]+)"/.exec(page)?.[1])
    expect([new Set(led).size, led[0]]).toEqual([1, expect.stringContaining('/pay/')])
    expect(await lastEvent()).toBe(before)
    expect(await attempts(paymentId)).toEqual(['open'])
  })

  test('switching the method cancels the order that was open', async () => {
    const { paymentId, attemptId } = await opened({ provider: undefined, amount: '50.00' })
    const answer = await fixture.openAttempt(paymentId, 'card_partner', 'card')
    expect(answer.kind).toBe('redirect')
    expect(await attempts(paymentId)).toEqual(['canceled', 'open'])
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('canceled')
  })

  test('a payment whose partner confirms slowly is processing first, and settled when the money is there', async () => {
    await fixture.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1 })
    const { paymentId, attemptId } = await opened()
    await fixture.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    expect((await payment(paymentId)).usdc).toBeNull()
    await fixture.atPartner('wallet_app', attemptId, { action: 'confirm' })
    await settled(paymentId)
  })

  test('a confirmation that is withdrawn before the conversion returns the payment to the buyer', async () => {
    await fixture.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1 })
    const { paymentId, attemptId } = await opened()
    await fixture.pay('wallet_app', attemptId)
    await untilStatus(paymentId, 'processing')
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilStatus(paymentId, 'pending')
    await fixture.pay('wallet_app', await open(paymentId))
    await settled(paymentId)
  })

  test('a poll finds the money if no callback arrives', async () => {
    const { paymentId, attemptId } = await opened()
    await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await fixture.pay('wallet_app', attemptId)
    expect((await payment(paymentId)).status).toBe('pending')
    await fixture.skip('61 seconds')
    await settled(paymentId)
  })

  test('the same order is found again if the partner does not answer after it opened the order', async () => {
    await fixture.faultAt('wallet_app', { fault: 'timeout_after_effect', operation: 'open', mode: 'close', times: 1 })
    const { paymentId, attemptId } = await opened()
    await fixture.pay('wallet_app', attemptId)
    await settled(paymentId)
    expect(await attempts(paymentId)).toEqual(['paid'])
  })
})

describe('Long waits', () => {
  useFixture()

  /** Long waits and events during them: a converter, a payout, a partner that take their time. */

  describe('While the converter has not filled the order', () => {
    async function converting(seconds: number) {
      await fixture.faultAt('converter', { fault: 'delay', seconds, times: 1 })
      const made = await opened()
      await fixture.pay('wallet_app', made.attemptId)
      await untilStatus(made.paymentId, 'processing')
      return made
    }

    test('an operator’s hold takes effect at once, and after its release the same order continues', async () => {
      const { paymentId } = await converting(100)
      expect(await decide(paymentId, 'hold')).toMatchObject({ status: 'under_review' })
      expect(await payment(paymentId)).toMatchObject({ statusReason: 'held', usdc: null })
      await fixture.skip('2 minutes')
      expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
      await skipWhileConverting(paymentId)
      await settled(paymentId)
      expect((await fixture.timeline(paymentId)).filter(({ kind }) => kind === 'payment.converted')).toHaveLength(1)
    })

    test('money that is taken back during the conversion is not awaited any more', async () => {
      const { paymentId, attemptId } = await converting(300)
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
      await untilStatus(paymentId, 'pending')
      expect(await payment(paymentId)).toMatchObject({ confirmed: null, paidAttemptId: null })
    })

    test('money that is withdrawn and paid again is late by its own time', async () => {
      const { paymentId, attemptId } = await converting(6000)
      await fixture.skip('2 minutes')
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
      await untilStatus(paymentId, 'pending')
      await fixture.skip('8 minutes')
      await fixture.pay('wallet_app', await open(paymentId))
      await untilStatus(paymentId, 'processing')
      await fixture.skip('7 minutes')
      expect((await payment(paymentId)).exception).toBeNull()
      await fixture.skip('10 minutes')
      await until(
        () => payment(paymentId),
        (row) => row.exception === 'settlement_delayed',
      )
      await skipUntilReviewed(paymentId, 'sale_stuck')
      await decide(paymentId, 'give_back')
      await untilStatus(paymentId, 'refunded')
    })

    test('money that was reversed silently, long before the order was filled, is not paid out', async () => {
      const { paymentId, attemptId } = await converting(1200)
      await fixture.skip('2 minutes')
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await skipWhileConverting(paymentId)
      await untilStatus(paymentId, 'pending')
      expect(await payment(paymentId)).toMatchObject({ confirmed: null, paidAttemptId: null, usdc: null })
    })

    test('a conversion waits for an operator after half an hour, and ends after a refund when the converter has filled the order', async () => {
      const { paymentId } = await converting(7200)
      await skipUntilReviewed(paymentId, 'sale_stuck')
      await decide(paymentId, 'give_back')
      await untilStatus(paymentId, 'refunded')
      expect((await fixture.read(paymentId)).sales).toMatchObject([{ state: 'asked', fill: null }])
      // The converter's clock follows after each jump.
      for (let quarter = 0; quarter < 8; quarter++) await fixture.skip('15 minutes')
      expect(await result(paymentId)).toBe('refunded')
      expect(await fixture.read(paymentId)).toMatchObject({ payment: { usdc: null }, sales: [{ state: 'filled' }] })
    })
  })

  describe('While the payout is awaited', () => {
    const readPayout = async (paymentId: string) =>
      (await fixture.db.query('select state from payout where payment_id = $1', [paymentId])).rows[0]?.state

    async function heldPayout() {
      const made = await opened()
      await fixture.pay('wallet_app', made.attemptId)
      await untilStatus(made.paymentId, 'settling')
      expect(await decide(made.paymentId, 'hold')).toMatchObject({ status: 'under_review' })
      expect(await readPayout(made.paymentId)).toBe('stopped')
      await fixture.relay.relayChanges()
      await fixture.skip('2 minutes')
      return made
    }

    test('a hold stops the payout before it is signed, and a release pays it', async () => {
      const { paymentId } = await heldPayout()
      expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
      await untilStatus(paymentId, 'settling')
      expect(await readPayout(paymentId)).toBe('queued')
      await settled(paymentId)
    })

    test('a release pays nothing out if the money was reversed silently during the hold', async () => {
      const { paymentId, attemptId } = await heldPayout()
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' }, 'silently')
      await decide(paymentId, 'release')
      await untilStatus(paymentId, 'under_review')
      expect([(await payment(paymentId)).statusReason, await readPayout(paymentId)]).toEqual(['voiding', 'voiding'])
      await fixture.voidPayout(paymentId)
      expect(await result(paymentId)).toBe('refunded')
    })

    test('a release pays nothing out before the partner has answered', async () => {
      const { paymentId } = await heldPayout()
      await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'read' })
      await decide(paymentId, 'release')
      await fixture.skip('10 seconds')
      expect([(await payment(paymentId)).status, await readPayout(paymentId)]).toEqual(['processing', 'stopped'])
      await fixture.clearFaults()
      await skipWhileConverting(paymentId)
      await untilStatus(paymentId, 'settling')
      await settled(paymentId)
    })

    test('money that the partner takes back voids the payout', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId)
      await untilStatus(paymentId, 'settling')
      await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
      expect(await untilStatus(paymentId, 'under_review')).toMatchObject({ statusReason: 'voiding' })
      await fixture.voidPayout(paymentId)
      expect(await result(paymentId)).toBe('refunded')
    })
  })

  describe('A partner that confirms without end', () => {
    test('a payment whose partner confirms without end waits for an operator after a day, and continues when money arrives', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.pay('wallet_app', attemptId, { seconds: 90_000 })
      await untilStatus(paymentId, 'processing')
      await fixture.skip('24 hours')
      await fixture.skip('1 minute')
      await untilReviewed(paymentId, 'silent')
      await fixture.atPartner('wallet_app', attemptId, { action: 'confirm' })
      await settled(paymentId)
    })

    test('a timer that fires for a state that the payment has left wakes no run, and the next decision is accepted', async () => {
      const { paymentId, attemptId } = await opened()
      await decide(paymentId, 'hold')
      await fixture.pay('wallet_app', attemptId, { seconds: 3600 })
      await untilStatus(paymentId, 'processing')
      await fixture.skip('61 minutes')
      await fixture.atPartner('wallet_app', attemptId, { action: 'confirm' }).catch(() => undefined)
      await fixture.workflows.signalOrderChanged(paymentId, attemptId)
      await untilStatus(paymentId, 'under_review')
      await fixture.skip('25 hours')
      expect(await decide(paymentId, 'release')).toMatchObject({ status: 'processing' })
      await settled(paymentId)
    })
  })
})

describe('The end of a payment', () => {
  useFixture()

  describe('Expiry and cancellation', () => {
    test('a payment without money expires after 24 hours, and closes at once if no order is open', async () => {
      const paymentId = await fixture.createPayment()
      await fixture.skip('24 hours')
      expect(await result(paymentId)).toBe('expired')
      const row = await payment(paymentId)
      expect(row.closedAt).not.toBeNull()
      expect(Date.parse(row.updatedAt) - Date.parse(row.createdAt)).toBeGreaterThanOrEqual(86_400_000)
    })

    test('the expiry first cancels the open partner order', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.skip('24 hours')
      expect(await result(paymentId)).toBe('expired')
      // By the partner's clock it has expired at the moment of the question: either way it cannot be paid any more.
      expect(['canceled', 'expired']).toContain((await fixture.orderAt('wallet_app', attemptId)).status)
      expect((await payment(paymentId)).closedAt).not.toBeNull()
    })

    test('a paid order wins over the expiry: unreported money is found before the payment is closed', async () => {
      const { paymentId, attemptId } = await opened({ expires_in: 1800 })
      await fixture.skip('20 minutes')
      await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
      await fixture.pay('wallet_app', attemptId)
      await fixture.skip('10 minutes')
      const row = await settled(paymentId)
      expect(row.exception).toBeNull()
    })

    test('a paid order wins over the cancellation', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
      await fixture.pay('wallet_app', attemptId)
      expect(await fixture.workflows.cancel(paymentId)).toMatchObject({ status: 'processing' })
      await settled(paymentId)
    })

    test('a payment that is canceled before any money cancels its order, and cannot be paid any more', async () => {
      const { paymentId, attemptId } = await opened()
      expect(await fixture.workflows.cancel(paymentId)).toEqual({ status: 'canceled' })
      expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('canceled')
      expect(
        await fixture.workflows.openAttempt(paymentId, {
          attemptId: 'att_x',
          provider: 'wallet_app',
          method: 'banking_app',
        }),
      ).toEqual({ kind: 'not_payable', status: 'canceled' })
    })

    test('a running identity check postpones the expiry, once and by 24 hours', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.atPartner('wallet_app', attemptId, { action: 'require_verification', buyer: 'slow' })
      await until(
        () => payment(paymentId),
        (row) => row.exception === 'verification_required',
      )
      await fixture.skip('24 hours')
      const postponed = await until(
        () => payment(paymentId),
        (row) => row.expiryPostponed,
      )
      expect(postponed.status).toBe('pending')
      await fixture.skip('24 hours')
      expect(await result(paymentId)).toBe('expired')
      expect(Date.parse(postponed.expiresAt) - Date.parse(postponed.createdAt)).toBe(2 * 86_400_000)
    })

    test.each(['is notified', 'is not notified', 'reads it with an order'])(
      'a buyer who asks for more time in the last minutes gets it once, and the workflow %s',
      async (how) => {
        const paymentId = await fixture.createPayment({ expires_in: 1800 })
        const end = Date.parse((await payment(paymentId)).expiresAt)
        const extend = (now: number) =>
          fixture.db.transaction((tx) =>
            extendPayment(tx, { publicUrl: 'https://pay.example', now: () => now }, paymentId),
          )
        // Too early, and too late.
        expect([await extend(end - EXTENDABLE_MS - 1), await extend(end)]).toEqual([false, false])
        await fixture.skip('27 minutes')
        expect([await extend(end - 60_000), await extend(end - 60_000)]).toEqual([true, false])
        if (how === 'is notified') await fixture.workflows.signalRowChanged(paymentId)
        if (how === 'reads it with an order') await open(paymentId)
        await fixture.skip('8 minutes')
        expect((await payment(paymentId)).status).toBe(how === 'reads it with an order' ? 'pending' : 'created')
        await fixture.skip('12 minutes')
        expect(await result(paymentId)).toBe('expired')
        const row = await payment(paymentId)
        expect([row.expiryExtended, Date.parse(row.expiresAt) - end]).toEqual([true, EXTENSION_MS])
        // The next poll would end it too, up to three quarters of an hour later.
        expect(Date.parse(row.updatedAt) - Date.parse(row.expiresAt)).toBeLessThan(5 * 60_000)
      },
    )
  })

  describe('Late and second money', () => {
    test('late money after expiry is settled and marked', async () => {
      const { paymentId, attemptId } = await lateable()
      await fixture.skip('25 hours')
      await untilStatus(paymentId, 'expired')
      await fixture.pay('local_partner', attemptId)
      const row = await settled(paymentId)
      expect(row.exception).toBe('paid_late')
      expect(row.usdc).not.toBeNull()
    })

    test('money after a cancellation is settled and marked', async () => {
      const { paymentId, attemptId } = await lateable()
      await fixture.workflows.cancel(paymentId)
      await untilStatus(paymentId, 'canceled')
      await fixture.pay('local_partner', attemptId)
      expect((await settled(paymentId)).exception).toBe('paid_late')
    })

    test('a UPI attempt that can still be paid is read for 72 hours, and then the payment closes', async () => {
      const { paymentId } = await lateable()
      await fixture.workflows.cancel(paymentId)
      const before = await payment(paymentId)
      expect(before.closedAt).toBeNull()
      await fixture.skip('72 hours')
      expect(await result(paymentId)).toBe('canceled')
      const after = await payment(paymentId)
      expect(after.listenEnded).toBe(true)
      expect(Date.parse(after.closedAt ?? '') - Date.parse(after.canceledAt ?? '')).toBeGreaterThanOrEqual(
        72 * 3_600_000,
      )
    })

    test('money after the time for late money is in suspense, and an operator decides about it', async () => {
      const { paymentId, attemptId } = await lateable()
      await fixture.workflows.cancel(paymentId)
      await fixture.skip('72 hours')
      expect(await result(paymentId)).toBe('canceled')
      await fixture.faultAt('local_partner', { fault: 'late_money' })
      await fixture.pay('local_partner', attemptId)
      const late = await untilReviewed(paymentId, 'excess')
      expect(late).toMatchObject({ status: 'canceled', exception: 'paid_late', usdc: null, closedAt: null })
      expect(late.reviews).toMatchObject([{ attemptId }])
      expect(await readSuspense('INR')).toBeLessThan(0n)
      await expect(decide(paymentId, 'give_back', { version: undefined as never })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('Add "version"') },
      })
      await expect(decide(paymentId, 'give_back', { version: late.version - 1 })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('has changed since you looked') },
      })
      await expect(decide(paymentId, 'settle')).rejects.toThrow(WorkflowUpdateFailedError)
      await decide(paymentId, 'give_back')
      expect(await result(paymentId)).toBe('canceled')
      expect(await attempts(paymentId)).toEqual(['refunded'])
      expect(await payment(paymentId)).toMatchObject({ exception: null, reviews: [] })
      expect(await readSuspense('INR')).toBe(0n)
    })

    test('a second payment for the same payment is kept for an operator and never settled twice', async () => {
      const { paymentId, own } = await paidTwice()
      const row = await payment(paymentId)
      expect(row.exception).toBe('duplicate_payment')
      expect(row.paidAttemptId).toBe(own)
      await expect(decide(paymentId, 'settle')).rejects.toThrow(WorkflowUpdateFailedError)
      expect(await decide(paymentId, 'give_back')).toMatchObject({ status: 'succeeded' })
      expect(await result(paymentId)).toBe('succeeded')
      expect(await payment(paymentId)).toMatchObject({ exception: null, usdc: row.usdc })
      expect(await attempts(paymentId)).toEqual(['refunded', 'paid'])
      expect(await findImbalances(fixture.db)).toEqual([])
    })

    test('a second payment that its partner took back silently needs no operator once its refund is refused', async () => {
      const { paymentId, second } = await paidTwice()
      await fixture.atPartner('local_partner', second, { action: 'reverse' }, 'silently')
      await decide(paymentId, 'give_back')
      await until(
        () => fixture.timeline(paymentId),
        (entries) => entries.some(({ kind }) => kind === 'refund.refused'),
      )
      await fixture.skip('61 seconds')
      expect(await result(paymentId)).toBe('succeeded')
      expect(await attempts(paymentId)).toEqual(['declined', 'paid'])
      expect(await payment(paymentId)).toMatchObject({ exception: null, reviews: [] })
    })

    /** Micro or minor units in suspense. */
    async function readSuspense(currency: string): Promise<bigint> {
      const rows = await readBalances(fixture.db)
      return BigInt(rows.find(({ account, asset }) => account === 'suspense' && asset === currency)?.amount ?? 0)
    }

    /** By another order, once it was paid out. */
    async function paidTwice() {
      const { paymentId, attemptId: second } = await lateable()
      const other = await fixture.openAttempt(paymentId, 'card_partner', 'card')
      if (other.kind !== 'redirect') throw new Error('not opened')
      await fixture.pay('card_partner', other.attemptId)
      await untilStatus(paymentId, 'settling')
      await fixture.settle(paymentId)
      await untilStatus(paymentId, 'succeeded')
      await fixture.pay('local_partner', second)
      await untilReviewed(paymentId, 'excess')
      return { paymentId, second, own: other.attemptId }
    }

    /** UPI cannot be canceled, so its order stays payable. */
    async function lateable() {
      const paymentId = await fixture.createPayment({ provider: undefined, amount: '50.00', currency: 'EUR' })
      const answer = await fixture.openAttempt(paymentId, 'local_partner', 'upi')
      if (answer.kind !== 'redirect') throw new Error('not opened')
      await fixture.faultAt('local_partner', { fault: 'late_money', attemptId: answer.attemptId })
      return { paymentId, attemptId: answer.attemptId }
    }
  })
})

describe('Canceling a payment', () => {
  useFixture()

  type Answer = { status: number; body: Record<string, unknown> }

  async function cancel(id: string): Promise<Answer> {
    const response = await fetch(`${fixture.api}/v1/payments/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.secretKey}` },
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  async function opened(id: string): Promise<string> {
    const answer = await fixture.openAttempt(id)
    if (answer.kind !== 'redirect') throw new Error(answer.kind)
    return answer.attemptId
  }

  test('a payment that no buyer has opened is canceled, and canceling it again changes nothing', async () => {
    const id = await fixture.createPayment()
    const first = await cancel(id)
    expect(first).toMatchObject({ status: 200, body: { id, status: 'canceled', canceled_at: expect.any(String) } })
    expect(await cancel(id)).toEqual(first)
  })

  test('a payment that the buyer has opened is canceled together with the order at the partner', async () => {
    const id = await fixture.createPayment()
    const attemptId = await opened(id)
    expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'canceled' } })
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('canceled')
  })

  test('many cancellations at the same moment cancel a payment once, and each response says so', async () => {
    const id = await fixture.createPayment()
    const attemptId = await opened(id)
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(id)))
    expect(answers).toEqual(answers.map(() => answers[0]))
    expect(answers[0]).toMatchObject({ status: 200, body: { status: 'canceled' } })
    expect((await fixture.orderAt('wallet_app', attemptId)).status).toBe('canceled')
    const { rows } = await fixture.db.query(
      "select 1 from timeline_entry where payment_id = $1 and to_status = 'canceled'",
      [id],
    )
    expect(rows.length).toBe(1)
  })

  test('unread money that the partner has confirmed wins over the cancellation', async () => {
    const id = await fixture.createPayment()
    await fixture.pay('wallet_app', await opened(id))
    const answer = await cancel(id)
    expect(answer).toMatchObject({ status: 409, body: { code: 'payment_not_cancelable' } })
    // Also so that no transfer is awaited, which would keep the time from being skipped.
    await until(
      () => fixture.read(id),
      ({ payment }) => payment.status === 'settling',
    )
    await fixture.settle(id)
  })

  // It was answered with 200 and a payment that still waited for its buyer.
  test('a payment that is paid in part cannot be canceled, and the merchant gets an error that says so', async () => {
    const { paymentId, attemptId } = await openAddress()
    await send(attemptId, '20000000')
    await until(
      () => fixture.read(paymentId),
      ({ attempts: [first] }) => first?.held === '20000000',
    )
    expect(await cancel(paymentId)).toMatchObject({
      status: 409,
      body: {
        code: 'payment_not_cancelable',
        payment_status: 'pending',
        detail: 'Too late to cancel: a part of the price has arrived.',
      },
    })
  })

  test('a part of the price that arrives unread is not canceled either', async () => {
    const { paymentId, attemptId } = await openAddress()
    await send(attemptId, '20000000')
    expect(await cancel(paymentId)).toMatchObject({ status: 409, body: { code: 'payment_not_cancelable' } })
  })

  test('a payment that has ended otherwise is not canceled, and the response has its status', async () => {
    const id = await fixture.createPayment({ expires_in: 1800 })
    await fixture.skip('31 minutes')
    await until(
      () => fixture.read(id),
      ({ payment }) => payment.status === 'expired',
    )
    expect(await cancel(id)).toMatchObject({
      status: 409,
      body: { code: 'payment_not_cancelable', payment_status: 'expired', detail: expect.stringContaining('expired') },
    })
  })
})

describe('Simulating a partner', () => {
  useFixture()

  const simulate = async (id: string, body: Record<string, unknown>) => {
    const response = await fetch(`${fixture.api}/v1/test/payments/${id}/simulate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // The tests' simulator sends its callbacks on request.
    await fixture.sandbox.callbacks.flush()
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  describe('A simulated test payment', () => {
    // First: time is skipped here, and stops once others' transfers run.
    test('a simulated payment is paid in the end if its partner was down', async () => {
      const id = await fixture.createPayment({ provider: 'card_partner' })
      expect((await simulate(id, { action: 'partner_down' })).status).toBe(202)
      expect((await payment(id)).status).toBe('pending')
      expect((await simulate(id, { action: 'pay' })).status).toBe(202)
      await untilReadFailed(id)
      expect((await payment(id)).status).toBe('pending')
      await fixture.skip('1 minute')
      await settled(id)
    })

    test('a simulated payment is paid as by a buyer: an order is opened, the identity check passed, and it settles', async () => {
      const id = await fixture.createPayment()
      const paid = await simulate(id, { action: 'pay' })
      expect([paid.status, paid.body['status']]).toEqual([202, 'pending'])
      const checked = await simulate(id, { action: 'verify' })
      expect([202, 409]).toContain(checked.status)
      const row = await settled(id)
      expect(row.status).toBe('succeeded')
    })

    test('a simulated payment can be declined, and then paid in another order', async () => {
      const id = await fixture.createPayment({ provider: 'card_partner' })
      expect((await simulate(id, { action: 'decline', failure_code: 'insufficient_funds' })).status).toBe(202)
      await until(
        () => attempts(id),
        (all) => all.join() === 'declined',
      )
      expect((await payment(id)).status).toBe('pending')
      await simulate(id, { action: 'pay' })
      await simulate(id, { action: 'verify' })
      await settled(id)
    })

    test('a simulated payment can be paid too little, and then waits for an operator', async () => {
      const id = await fixture.createPayment({ provider: 'card_partner' })
      await simulate(id, { action: 'pay', received_minor: '1000' })
      await simulate(id, { action: 'verify' })
      const row = await untilStatus(id, 'under_review')
      expect(row.exception).toBe('underpaid')
    })

    test('a simulated payment can be paid half, or half more than asked', async () => {
      const half = await fixture.createPayment({ provider: 'card_partner' })
      expect((await simulate(half, { action: 'under' })).status).toBe(202)
      expect((await untilStatus(half, 'under_review')).exception).toBe('underpaid')
      const more = await fixture.createPayment({ provider: 'card_partner' })
      expect((await simulate(more, { action: 'over' })).status).toBe(202)
      expect((await settled(more)).exception).toBe('overpaid')
    })

    test('a simulated payment can be paid with two providers: one is settled, the other waits for an operator', async () => {
      const id = await fixture.createPayment()
      expect((await simulate(id, { action: 'twice' })).status).toBe(202)
      await until(
        () => attempts(id),
        (all) => all.join() === 'paid,paid',
      )
      await untilStatus(id, 'settling')
      expect(await payment(id)).toMatchObject({ exception: 'duplicate_payment', reviews: [{ reason: 'excess' }] })
    })

    test('a simulated payment can be paid late: it expires, and is paid anyway', async () => {
      const id = await fixture.createPayment({ provider: 'card_partner' })
      expect((await simulate(id, { action: 'late' })).status).toBe(202)
      const row = await until(
        () => payment(id),
        ({ exception }) => exception === 'paid_late',
      )
      expect(['processing', 'settling']).toContain(row.status)
    })

    test('a simulation refuses an impossible action, with the state of the order', async () => {
      const id = await fixture.createPayment()
      const answer = await simulate(id, { action: 'release' })
      expect([answer.status, answer.body['code'], answer.body['order_status']]).toEqual([
        409,
        'not_possible_now',
        'open',
      ])
      expect((await simulate('pay_x', { action: 'pay' })).status).toBe(404)
      expect((await simulate(id, { action: 'explode' })).status).toBe(400)
    })
  })

  /** A press of the checkout's test bar, by a client that has the link. */
  async function press(id: string, fields: Record<string, string>): Promise<{ status: number; text: string }> {
    const { checkoutToken } = await payment(id)
    const response = await fetch(`${fixture.api}/c/${checkoutToken}/sandbox`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
    })
    await fixture.sandbox.callbacks.flush()
    return { status: response.status, text: await response.text() }
  }

  describe('The test bar of the checkout', () => {
    test('the test bar plays the partner and skips time, as the API does', async () => {
      const paid = await fixture.createPayment({ provider: 'card_partner' })
      expect((await press(paid, { do: 'under' })).status).toBe(303)
      expect((await untilStatus(paid, 'under_review')).exception).toBe('underpaid')
      const impossible = await press(paid, { do: 'decline' })
      expect(impossible.status).toBe(409)
      expect(impossible.text).toContain('decline is not possible')
      const forgotten = await fixture.createPayment()
      expect((await press(forgotten, { skip: '604800' })).status).toBe(303)
      await untilStatus(forgotten, 'expired')
    })
  })

  const DAY = 86_400

  const skipTime = async (id: string, seconds: unknown, key = fixture.secretKey) => {
    const response = await fetch(`${fixture.api}/v1/test/payments/${id}/skip_time`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ seconds }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  describe('Skipped time of a test payment', () => {
    test('skipped time expires an unpaid payment, and not earlier', async () => {
      const id = await fixture.createPayment()
      const before = await payment(id)
      expect((await skipTime(id, DAY / 2)).status).toBe(202)
      const half = await payment(id)
      expect([half.status, Date.parse(before.expiresAt) - Date.parse(half.expiresAt)]).toEqual([
        'created',
        (DAY / 2) * 1000,
      ])
      const other = await fixture.createPayment()
      await skipTime(id, DAY / 2)
      expect((await untilStatus(id, 'expired')).closedAt).not.toBeNull()
      expect(await result(id)).toBe('expired')
      expect((await payment(other)).status).toBe('created')
    })

    test('skipped time applies to no other merchant’s payment, and requires whole seconds', async () => {
      const id = await fixture.createPayment()
      expect((await skipTime(newId('payment'), 60)).status).toBe(404)
      for (const seconds of [0, -1, 1.5, '60', 31 * DAY]) expect((await skipTime(id, seconds)).status).toBe(400)
    })
  })
})

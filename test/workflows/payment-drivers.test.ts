import { describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { findImbalances } from '../../src/db/ledger.ts'
import type { MethodName, ProviderName } from '../../src/domain/methods.ts'
import { attempts, fixture, payment, reasons, settled, untilStatus, useFixture } from './story.ts'

/** Whole payments by the drivers of real partners, against simulators of their protocols. */

type Case = {
  readonly provider: ProviderName
  readonly method: MethodName
  readonly currency: string
}

const CASES: readonly (readonly [string, Case])[] = [
  ['Stripe', { provider: 'card_partner', method: 'card', currency: 'USD' }],
  ['Razorpay', { provider: 'local_partner', method: 'upi', currency: 'INR' }],
  ['Revolut', { provider: 'wallet_app', method: 'banking_app', currency: 'EUR' }],
]

describe('Payments by the drivers of real partners', () => {
  useFixture({ drivers: { card_partner: 'stripe', local_partner: 'razorpay', wallet_app: 'revolut' } })

  describe.each(CASES)('By %s', (_name, { provider, method, currency }) => {
    const act = (attemptId: string, action: Record<string, unknown>, how?: 'silently') =>
      fixture.atPartner(provider, attemptId, action, how)

    async function opened() {
      const paymentId = await fixture.createPayment({
        amount: currency === 'INR' ? '4999.00' : '49.99',
        currency,
        provider,
      })
      return { paymentId, attemptId: await open(paymentId) }
    }
    async function open(paymentId: string): Promise<string> {
      const answer = await fixture.openAttempt(paymentId, provider, method)
      if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
      return answer.attemptId
    }

    test('a payment is paid and settled, and its books balance', async () => {
      const { paymentId, attemptId } = await opened()
      await act(attemptId, { action: 'pay' })
      await settled(paymentId)
      expect(await findImbalances(fixture.db)).toEqual([])
    })

    test('a declined payment is tried again with another order', async () => {
      const { paymentId, attemptId } = await opened()
      await act(attemptId, { action: 'decline', failureCode: 'insufficient_funds' })
      await until(
        () => attempts(paymentId),
        ([first]) => first === 'declined',
      )
      await act(await open(paymentId), { action: 'pay' })
      await settled(paymentId)
      expect(await attempts(paymentId)).toEqual(['declined', 'paid'])
    })

    test('a payment whose money is refunded in part before it is sold waits for an operator', async () => {
      await fixture.faultAt('converter', { fault: 'delay', seconds: 600, times: 1 })
      const { paymentId, attemptId } = await opened()
      await act(attemptId, { action: 'pay' })
      await act(attemptId, { action: 'reverse', receivedMinor: '2000' })
      expect(await untilAnyReason(paymentId)).toEqual(['too_little'])
    })

    /** A settled payment whose money a dispute takes, and its event is sent or lost. */
    async function disputed(how: 'aloud' | 'silently') {
      await sweep()
      const { paymentId, attemptId } = await opened()
      await act(attemptId, { action: 'pay' })
      await settled(paymentId)
      if (how === 'silently') await fixture.faultAt(provider, { fault: 'callbacks_never', attemptId })
      await act(attemptId, { action: 'reverse' })
      return { paymentId, attemptId }
    }
    const sweep = () => fixture.sweepDisputes()
    const untilReversed = (paymentId: string) =>
      until(
        () => attempts(paymentId),
        ([status]) => status === 'declined',
      )
    const countEvents = async (attemptId: string) =>
      (await fixture.db.query('select from partner_callback where attempt_id = $1', [attemptId])).rowCount

    test('a dispute after the settlement reverses its payment once its event has arrived', async () => {
      const { paymentId } = await disputed('aloud')
      await fixture.passTimeForDisputes('15 seconds')
      await sweep()
      await untilReversed(paymentId)
    })

    test('a dispute whose event was lost is found within an hour, and is read once', async () => {
      const { paymentId, attemptId } = await disputed('silently')
      await fixture.passTimeForDisputes('14 minutes')
      await sweep()
      expect(await attempts(paymentId)).toEqual(['paid'])
      await fixture.passTimeForDisputes('46 minutes')
      await sweep()
      await untilReversed(paymentId)
      const [events, { version }] = [await countEvents(attemptId), await payment(paymentId)]
      await fixture.passTimeForDisputes('1 hour')
      await sweep()
      expect([await countEvents(attemptId), (await payment(paymentId)).version]).toEqual([events, version])
    })

    test('a poll finds the money if the callback is lost', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt(provider, { fault: 'callbacks_never', attemptId })
      await act(attemptId, { action: 'pay' })
      await fixture.skip('61 seconds')
      await settled(paymentId)
    })

    test('a callback that arrives twice, next to one about another business, settles the payment once', async () => {
      const { paymentId, attemptId } = await opened()
      await fixture.faultAt(provider, { fault: 'callbacks_twice', attemptId })
      await fixture.faultAt(provider, { fault: 'foreign_callback', attemptId })
      await act(attemptId, { action: 'pay' })
      await settled(paymentId)
      expect(fixture.sandbox.partners[provider].callbacks.pending()).toBe(0)
      expect(await attempts(paymentId)).toEqual(['paid'])
    })

    test('an order without an answer to its opening is opened again, and paid once', async () => {
      await fixture.faultAt(provider, { fault: 'timeout_after_effect', operation: 'open', mode: 'close', times: 1 })
      const { paymentId, attemptId } = await opened()
      await act(attemptId, { action: 'pay' })
      await settled(paymentId)
    })

    test('a canceled payment ends its order at the partner', async () => {
      const { paymentId, attemptId } = await opened()
      const answer = await fixture.workflows.cancel(paymentId)
      expect(answer).toMatchObject({ status: 'canceled' })
      await untilStatus(paymentId, 'canceled')
      expect((await fixture.orderAt(provider, attemptId)).status).toBe('canceled')
      expect((await payment(paymentId)).status).toBe('canceled')
    })

    const untilAnyReason = (paymentId: string) =>
      until(
        () => reasons(paymentId),
        (found) => found.length > 0,
      )
  })
})

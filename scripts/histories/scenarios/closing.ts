import type { Setup } from '../setup.ts'
import { HOUR_MS, MINUTE_MS, type Scenario } from './scenario.ts'

/**
 * The shortest life of a payment (seconds), and the milliseconds by which the clock goes back so that it ends in a few
 * seconds.
 */
export const SHORT = { expires_in: 1800 }
export const SOON_EXPIRED_MS = 30 * MINUTE_MS - 4000
/** UPI money is awaited for 72 hours. The payment itself must live longer than the clock goes back. */
export const LONG = { expires_in: 604_800 }
const SOON_UNHEARD_MS = 72 * HOUR_MS - 4000

export const CLOSING: Readonly<Record<string, Scenario>> = {
  'expired-unopened': async ({ fixture, handle, behind }) => {
    const paymentId = await behind(SOON_EXPIRED_MS, () => fixture.createPayment(SHORT))
    await handle(paymentId).result()
    return paymentId
  },

  'expired-with-open-order': async ({ fixture, handle, open, behind }) => {
    const paymentId = await behind(SOON_EXPIRED_MS, async () => {
      const id = await fixture.createPayment(SHORT)
      await open(id)
      return id
    })
    await handle(paymentId).result()
    return paymentId
  },

  'paid-wins-over-expiry': async ({ fixture, open, settled, behind }) =>
    behind(SOON_EXPIRED_MS, async () => {
      const paymentId = await fixture.createPayment(SHORT)
      const attemptId = await open(paymentId)
      await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      await settled(paymentId)
      return paymentId
    }),

  'paid-late': async ({ fixture, handle, open, settled, behind }) => {
    const { paymentId, attemptId } = await behind(SOON_EXPIRED_MS, async () => {
      const id = await fixture.createPayment({ ...UPI, ...SHORT })
      return { paymentId: id, attemptId: await open(id, 'local_partner', 'upi') }
    })
    await handle(paymentId).result()
    await fixture.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId })
    await fixture.atPartner('local_partner', attemptId, { action: 'pay' })
    await settled(paymentId)
    return [
      { name: 'expired-at-the-partner', workflowId: paymentId },
      { name: 'paid-late', workflowId: paymentId, run: 1 },
    ]
  },

  'paid-after-cancellation': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment(UPI)
    const attemptId = await open(paymentId, 'local_partner', 'upi')
    await fixture.workflows.cancel(paymentId)
    await fixture.atPartner('local_partner', attemptId, { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'expiry-postponed': async ({ fixture, handle, open, untilRow, behind }) => {
    const paymentId = await behind(SOON_EXPIRED_MS, async () => {
      const id = await fixture.createPayment(SHORT)
      const attemptId = await open(id)
      await fixture.atPartner('wallet_app', attemptId, { action: 'require_verification', buyer: 'slow' })
      await untilRow(id, 'expiryPostponed', true)
      return id
    })
    await fixture.workflows.cancel(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  canceled: async ({ fixture, handle, open }) => {
    const paymentId = await fixture.createPayment()
    await open(paymentId)
    await fixture.workflows.cancel(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'canceled-in-the-ui': async ({ fixture, handle, open }) => {
    const paymentId = await fixture.createPayment()
    await open(paymentId)
    await handle(paymentId).cancel()
    await handle(paymentId).result()
    return paymentId
  },

  'paid-wins-over-cancellation': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await fixture.workflows.cancel(paymentId)
    await settled(paymentId)
    return paymentId
  },

  'money-after-the-end': async (setup) => {
    const { fixture, handle, decide } = setup
    const { paymentId, attemptId } = await unheard(setup)
    await fixture.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId })
    await fixture.atPartner('local_partner', attemptId, { action: 'pay' })
    await setup.untilReview(paymentId)
    await decide(paymentId, 'give_back')
    await handle(paymentId).result()
    return [
      { name: 'listening-ended', workflowId: paymentId },
      { name: 'money-after-the-end', workflowId: paymentId, run: 1 },
    ]
  },

  'second-payment-refunded': async ({ fixture, handle, open, untilAttempt, decide, settle, untilRow }) => {
    const paymentId = await fixture.createPayment(UPI)
    const upi = await open(paymentId, 'local_partner', 'upi')
    const card = await open(paymentId, 'card_partner', 'card')
    await fixture.atPartner('card_partner', card, { action: 'pay' })
    await settle(paymentId)
    await untilRow(paymentId, 'status', 'succeeded')
    await fixture.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId: upi })
    await fixture.atPartner('local_partner', upi, { action: 'pay' })
    await untilAttempt(paymentId, upi, 'paid')
    await decide(paymentId, 'give_back')
    await handle(paymentId).result()
    return paymentId
  },
}

/**
 * A payment with a UPI order, which cannot be canceled, so that it may still bring money after the payment is closed.
 */
export const UPI = { provider: undefined, amount: '50.00', currency: 'EUR' }

/** Creates a canceled payment that has stopped waiting for the money of its UPI order. */
export async function unheard({ fixture, handle, open, behind }: Setup) {
  const paid = await behind(SOON_UNHEARD_MS, async () => {
    const paymentId = await fixture.createPayment({ ...UPI, ...LONG })
    const attemptId = await open(paymentId, 'local_partner', 'upi')
    await fixture.workflows.cancel(paymentId)
    return { paymentId, attemptId }
  })
  await handle(paid.paymentId).result()
  return paid
}

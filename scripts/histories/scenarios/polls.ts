import { UPI, unheard } from './closing.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of money that a partner reverses or withholds without a callback. The poll after a minute finds out. */
export const POLLS: Readonly<Record<string, Scenario>> = {
  'payout-waited-for': async ({ fixture, open, untilRow, untilPolled, settled, later }) => {
    const paymentId = await fixture.createPayment()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    later(async () => {
      await untilPolled(paymentId)
      await settled(paymentId)
    })
    return paymentId
  },

  'parked-money-gone': async ({ fixture, handle, open, untilState, later }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '3000' })
    await untilState(paymentId, 'under_review')
    await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    later(async () => {
      await untilState(paymentId, 'pending')
      await fixture.workflows.cancel(paymentId)
      await handle(paymentId).result()
    })
    return paymentId
  },

  'second-payment-gone': async ({ fixture, handle, open, settle, untilAttempt, untilRow, later }) => {
    const paymentId = await fixture.createPayment(UPI)
    const upi = await open(paymentId, 'local_partner', 'upi')
    const card = await open(paymentId, 'card_partner', 'card')
    await fixture.atPartner('card_partner', card, { action: 'pay' })
    await settle(paymentId)
    await untilRow(paymentId, 'status', 'succeeded')
    await fixture.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId: upi })
    await fixture.atPartner('local_partner', upi, { action: 'pay' })
    await untilAttempt(paymentId, upi, 'paid')
    await fixture.faultAt('local_partner', { fault: 'callbacks_never', attemptId: upi })
    await fixture.atPartner('local_partner', upi, { action: 'reverse' })
    later(() => handle(paymentId).result())
    return paymentId
  },

  'late-money-gone': async (setup) => {
    const { fixture, handle, untilReview, later } = setup
    const { paymentId, attemptId } = await unheard(setup)
    await fixture.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId })
    await fixture.atPartner('local_partner', attemptId, { action: 'pay' })
    await untilReview(paymentId)
    await fixture.faultAt('local_partner', { fault: 'callbacks_never', attemptId })
    await fixture.atPartner('local_partner', attemptId, { action: 'reverse' })
    later(() => handle(paymentId).result())
    return [{ name: 'late-money-gone', workflowId: paymentId, run: 1 }]
  },
}

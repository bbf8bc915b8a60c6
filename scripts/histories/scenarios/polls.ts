import { UPI, unheard } from './closing.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of money that a partner reverses or withholds without a callback. The poll after a minute finds out. */
export const POLLS: Readonly<Record<string, Scenario>> = {
  'payout-waited-for': async ({ world, open, untilRow, untilPolled, settled, later }) => {
    const paymentId = await world.createPayment()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    later(async () => {
      await untilPolled(paymentId)
      await settled(paymentId)
    })
    return paymentId
  },

  'parked-money-gone': async ({ world, handle, open, untilState, later }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '3000' })
    await untilState(paymentId, 'under_review')
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    later(async () => {
      await untilState(paymentId, 'pending')
      await world.workflows.cancel(paymentId)
      await handle(paymentId).result()
    })
    return paymentId
  },

  'second-payment-gone': async ({ world, handle, open, settle, untilAttempt, untilRow, later }) => {
    const paymentId = await world.createPayment(UPI)
    const upi = await open(paymentId, 'local_partner', 'upi')
    const card = await open(paymentId, 'card_partner', 'card')
    await world.atPartner('card_partner', card, { action: 'pay' })
    await settle(paymentId)
    await untilRow(paymentId, 'status', 'succeeded')
    await world.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId: upi })
    await world.atPartner('local_partner', upi, { action: 'pay' })
    await untilAttempt(paymentId, upi, 'paid')
    await world.faultAt('local_partner', { fault: 'callbacks_never', attemptId: upi })
    await world.atPartner('local_partner', upi, { action: 'reverse' })
    later(() => handle(paymentId).result())
    return paymentId
  },

  'late-money-gone': async (stage) => {
    const { world, handle, untilReview, later } = stage
    const { paymentId, attemptId } = await unheard(stage)
    await world.faultAt('local_partner', { fault: 'late_money', times: 1, attemptId })
    await world.atPartner('local_partner', attemptId, { action: 'pay' })
    await untilReview(paymentId)
    await world.faultAt('local_partner', { fault: 'callbacks_never', attemptId })
    await world.atPartner('local_partner', attemptId, { action: 'reverse' })
    later(() => handle(paymentId).result())
    return [{ name: 'late-money-gone', workflowId: paymentId, run: 1 }]
  },
}

import type { Scenario } from './scenario.ts'

/** Scenarios of payments by each provider, successful and declined. */
export const BUYING: Readonly<Record<string, Scenario>> = {
  'paid-wallet-app': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'paid-card-partner': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment({ provider: 'card_partner', amount: '120.00', currency: 'USD' })
    await world.atPartner('card_partner', await open(paymentId, 'card_partner', 'card'), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'paid-local-partner': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment({ provider: 'local_partner', amount: '5000.00', currency: 'INR' })
    await world.atPartner('local_partner', await open(paymentId, 'local_partner', 'upi'), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'identity-check': async ({ world, open, untilRow, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.atPartner('wallet_app', attemptId, { action: 'pay', buyer: 'never-seen-before' })
    await untilRow(paymentId, 'exception', 'verification_required')
    await world.atPartner('wallet_app', attemptId, { action: 'verify' })
    await settled(paymentId)
    return paymentId
  },

  'declined-and-retried': async ({ world, open, untilAttempt, settled }) => {
    const paymentId = await world.createPayment()
    const declined = await open(paymentId)
    await world.atPartner('wallet_app', declined, { action: 'decline' })
    await untilAttempt(paymentId, declined, 'declined')
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'double-click': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment()
    const [attemptId] = await Promise.all([open(paymentId), open(paymentId), open(paymentId)])
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'method-switched': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment({ provider: undefined, amount: '50.00' })
    await open(paymentId)
    await world.atPartner('card_partner', await open(paymentId, 'card_partner', 'card'), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'confirmed-slowly': async ({ world, open, untilRow, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1, attemptId })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await world.atPartner('wallet_app', attemptId, { action: 'confirm' })
    await settled(paymentId)
    return paymentId
  },

  'confirmation-withdrawn': async ({ world, open, untilRow, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1, attemptId })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilRow(paymentId, 'status', 'pending')
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'callbacks-twice': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.faultAt('wallet_app', { fault: 'callbacks_twice', times: 1, attemptId })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  overpaid: async ({ world, open, settled }) => {
    const paymentId = await world.createPayment({ amount: '100.00' })
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay', receivedMinor: '15000' })
    await settled(paymentId)
    return paymentId
  },
}

import type { Scenario } from './scenario.ts'

/** Scenarios of payments by each provider, successful and declined. */
export const BUYING: Readonly<Record<string, Scenario>> = {
  'paid-wallet-app': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'paid-card-partner': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment({ provider: 'card_partner', amount: '120.00', currency: 'USD' })
    await fixture.atPartner('card_partner', await open(paymentId, 'card_partner', 'card'), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'paid-local-partner': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment({ provider: 'local_partner', amount: '5000.00', currency: 'INR' })
    await fixture.atPartner('local_partner', await open(paymentId, 'local_partner', 'upi'), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'identity-check': async ({ fixture, open, untilRow, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay', buyer: 'never-seen-before' })
    await untilRow(paymentId, 'exception', 'verification_required')
    await fixture.atPartner('wallet_app', attemptId, { action: 'verify' })
    await settled(paymentId)
    return paymentId
  },

  'declined-and-retried': async ({ fixture, open, untilAttempt, settled }) => {
    const paymentId = await fixture.createPayment()
    const declined = await open(paymentId)
    await fixture.atPartner('wallet_app', declined, { action: 'decline' })
    await untilAttempt(paymentId, declined, 'declined')
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'double-click': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment()
    const [attemptId] = await Promise.all([open(paymentId), open(paymentId), open(paymentId)])
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'method-switched': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment({ provider: undefined, amount: '50.00' })
    await open(paymentId)
    await fixture.atPartner('card_partner', await open(paymentId, 'card_partner', 'card'), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'confirmed-slowly': async ({ fixture, open, untilRow, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1, attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await fixture.atPartner('wallet_app', attemptId, { action: 'confirm' })
    await settled(paymentId)
    return paymentId
  },

  'confirmation-withdrawn': async ({ fixture, open, untilRow, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.faultAt('wallet_app', { fault: 'delay', seconds: 600, times: 1, attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilRow(paymentId, 'status', 'pending')
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'callbacks-twice': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.faultAt('wallet_app', { fault: 'callbacks_twice', times: 1, attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  overpaid: async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment({ amount: '100.00' })
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay', receivedMinor: '15000' })
    await settled(paymentId)
    return paymentId
  },
}

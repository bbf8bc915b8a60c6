import type { Setup } from '../setup.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of payments under review, and of an operator's decisions. */
export const OPERATORS: Readonly<Record<string, Scenario>> = {
  'underpaid-approved': async (setup) => {
    const { paymentId } = await underpaid(setup)
    await setup.decide(paymentId, 'settle')
    await setup.settled(paymentId)
    return paymentId
  },

  'underpaid-refunded': async (setup) => {
    const { paymentId } = await underpaid(setup)
    await setup.decide(paymentId, 'give_back')
    await setup.handle(paymentId).result()
    return paymentId
  },

  'underpaid-refunded-outside': async (setup) => {
    const { paymentId } = await underpaid(setup)
    await setup.decide(paymentId, 'give_back', { outside: true })
    await setup.handle(paymentId).result()
    return paymentId
  },

  'outside-refund-reversed': async (setup) => {
    const { paymentId, attemptId } = await underpaid(setup)
    await setup.decide(paymentId, 'give_back', { outside: true })
    await setup.handle(paymentId).result()
    await setup.fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await setup.untilReview(paymentId)
    await setup.decide(paymentId, 'write_off')
    await setup.handle(paymentId).result()
    return [{ name: 'outside-refund-reversed', workflowId: paymentId, run: 1 }]
  },

  'held-and-released': async ({ fixture, open, untilState, decide, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await decide(paymentId, 'hold')
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'release')
    await settled(paymentId)
    return paymentId
  },

  'held-by-the-partner': async ({ fixture, open, untilState, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'hold' })
    await untilState(paymentId, 'under_review')
    await fixture.atPartner('wallet_app', attemptId, { action: 'release' })
    await settled(paymentId)
    return paymentId
  },

  'held-by-the-partner-given-back': async ({ fixture, handle, open, untilState, decide }) => {
    const paymentId = await fixture.createPayment()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'hold' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'give_back')
    await handle(paymentId).result()
    return paymentId
  },

  'refund-refused-by-the-partner': async (setup) => {
    const { paymentId, attemptId } = await underpaid(setup)
    await setup.fixture.faultAt('wallet_app', { fault: 'refund_refused', times: 1, attemptId })
    await setup.decide(paymentId, 'give_back')
    await setup.untilReview(paymentId)
    await setup.decide(paymentId, 'settle')
    await setup.settled(paymentId)
    return paymentId
  },

  'decision-refused': async ({ fixture, open, untilState, refused, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'hold' })
    await untilState(paymentId, 'under_review')
    await refused(paymentId, 'settle')
    await fixture.atPartner('wallet_app', attemptId, { action: 'release' })
    await settled(paymentId)
    return paymentId
  },

  'conversion-refused-and-retried': async ({ fixture, open, untilState, decide, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.faultAt('converter', { fault: 'conversion_refused', times: 1, attemptId: `${paymentId}:convert` })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'settle')
    await settled(paymentId)
    return paymentId
  },

  'payout-held-then-settled': async ({ fixture, handle, open, untilRow, untilState }) => {
    const paymentId = await fixture.createPayment()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    const held = { ownerId: paymentId, reason: 'blacklisted' as const, detail: 'the wallet is blacklisted' }
    await fixture.db.transaction((tx) => fixture.hooks.onStopped(tx, held))
    await fixture.relay.relayChanges()
    await untilState(paymentId, 'under_review')
    await fixture.settle(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'payout-voided-and-refunded': async ({ fixture, handle, open, untilRow, untilState, decide }) => {
    const paymentId = await fixture.createPayment()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    await fixture.voidPayout(paymentId)
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'give_back')
    await handle(paymentId).result()
    return paymentId
  },
}

async function underpaid({ fixture, open, untilState }: Setup) {
  const paymentId = await fixture.createPayment({ amount: '100.00' })
  const attemptId = await open(paymentId)
  await fixture.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '9000' })
  await untilState(paymentId, 'under_review')
  return { paymentId, attemptId }
}

import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of payments under review, and of an operator's decisions. */
export const OPERATORS: Readonly<Record<string, Scenario>> = {
  'underpaid-approved': async (stage) => {
    const { paymentId } = await underpaid(stage)
    await stage.decide(paymentId, 'settle')
    await stage.settled(paymentId)
    return paymentId
  },

  'underpaid-refunded': async (stage) => {
    const { paymentId } = await underpaid(stage)
    await stage.decide(paymentId, 'give_back')
    await stage.handle(paymentId).result()
    return paymentId
  },

  'underpaid-refunded-outside': async (stage) => {
    const { paymentId } = await underpaid(stage)
    await stage.decide(paymentId, 'give_back', { outside: true })
    await stage.handle(paymentId).result()
    return paymentId
  },

  'outside-refund-reversed': async (stage) => {
    const { paymentId, attemptId } = await underpaid(stage)
    await stage.decide(paymentId, 'give_back', { outside: true })
    await stage.handle(paymentId).result()
    await stage.world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await stage.untilReview(paymentId)
    await stage.decide(paymentId, 'write_off')
    await stage.handle(paymentId).result()
    return [{ name: 'outside-refund-reversed', workflowId: paymentId, run: 1 }]
  },

  'held-and-released': async ({ world, open, untilState, decide, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await decide(paymentId, 'hold')
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'release')
    await settled(paymentId)
    return paymentId
  },

  'held-by-the-partner': async ({ world, open, untilState, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.atPartner('wallet_app', attemptId, { action: 'hold' })
    await untilState(paymentId, 'under_review')
    await world.atPartner('wallet_app', attemptId, { action: 'release' })
    await settled(paymentId)
    return paymentId
  },

  'held-by-the-partner-given-back': async ({ world, handle, open, untilState, decide }) => {
    const paymentId = await world.createPayment()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'hold' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'give_back')
    await handle(paymentId).result()
    return paymentId
  },

  'refund-refused-by-the-partner': async (stage) => {
    const { paymentId, attemptId } = await underpaid(stage)
    await stage.world.faultAt('wallet_app', { fault: 'refund_refused', times: 1, attemptId })
    await stage.decide(paymentId, 'give_back')
    await stage.untilReview(paymentId)
    await stage.decide(paymentId, 'settle')
    await stage.settled(paymentId)
    return paymentId
  },

  'decision-refused': async ({ world, open, untilState, refused, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.atPartner('wallet_app', attemptId, { action: 'hold' })
    await untilState(paymentId, 'under_review')
    await refused(paymentId, 'settle')
    await world.atPartner('wallet_app', attemptId, { action: 'release' })
    await settled(paymentId)
    return paymentId
  },

  'conversion-refused-and-retried': async ({ world, open, untilState, decide, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.faultAt('converter', { fault: 'conversion_refused', times: 1, attemptId: `${paymentId}:convert` })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'settle')
    await settled(paymentId)
    return paymentId
  },

  'payout-held-then-settled': async ({ world, handle, open, untilRow, untilState }) => {
    const paymentId = await world.createPayment()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    const held = { paymentId, reason: 'blacklisted' as const, detail: 'the wallet is blacklisted' }
    await world.db.transaction((tx) => world.hooks.onHeld(tx, held))
    await world.relay.completeTransfers()
    await untilState(paymentId, 'under_review')
    await world.settle(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'payout-voided-and-refunded': async ({ world, handle, open, untilRow, untilState, decide }) => {
    const paymentId = await world.createPayment()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    await world.voidPayout(paymentId)
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'give_back')
    await handle(paymentId).result()
    return paymentId
  },
}

async function underpaid({ world, open, untilState }: Stage) {
  const paymentId = await world.createPayment({ amount: '100.00' })
  const attemptId = await open(paymentId)
  await world.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '9000' })
  await untilState(paymentId, 'under_review')
  return { paymentId, attemptId }
}

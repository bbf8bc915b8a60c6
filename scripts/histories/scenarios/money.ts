import type { Setup } from '../setup.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of money in parts, of reversed money, and of long waits for more. */
export const MONEY: Readonly<Record<string, Scenario>> = {
  'underpaid-completed': async (setup) => {
    const { fixture, untilState, settled } = setup
    const { paymentId, attemptId } = await opened(setup)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '3000' })
    await untilState(paymentId, 'under_review')
    await fixture.atPartner('wallet_app', attemptId, { action: 'top_up', receivedMinor: '4999' })
    await settled(paymentId)
    return paymentId
  },

  'refund-that-took-its-time': async (setup) => {
    const { fixture, untilState, untilRefunded, decide, handle } = setup
    const { paymentId, attemptId } = await opened(setup)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '3000' })
    await untilState(paymentId, 'under_review')
    await fixture.faultAt('wallet_app', { fault: 'refund_pending', seconds: 1, attemptId })
    await decide(paymentId, 'give_back')
    await untilRefunded(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'held-while-converting': async (setup) => {
    const { fixture, untilRow, untilState, decide, settled } = setup
    const { paymentId, attemptId } = await opened(setup)
    await fixture.faultAt('converter', { fault: 'delay', seconds: 3, times: 1, attemptId: `${paymentId}:convert` })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await decide(paymentId, 'hold')
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'release')
    await settled(paymentId)
    return paymentId
  },

  'held-while-paying': async (setup) => {
    const { untilRow, untilState, decide, settled } = setup
    const paymentId = await settling(setup)
    await decide(paymentId, 'hold')
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'release')
    await untilRow(paymentId, 'status', 'settling')
    await settled(paymentId)
    return paymentId
  },

  'reversed-while-paying': async (setup) => {
    const { fixture, untilState, handle } = setup
    const { paymentId, attemptId } = await opened(setup)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await setup.untilRow(paymentId, 'status', 'settling')
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilState(paymentId, 'under_review')
    await fixture.voidPayout(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'charged-back': async (setup) => {
    const { fixture, settled, handle, decide, untilReview } = setup
    const { paymentId, attemptId } = await opened(setup)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilReview(paymentId)
    await decide(paymentId, 'write_off')
    await handle(paymentId).result()
    return [{ name: 'charged-back', workflowId: paymentId, run: 1 }]
  },

  'fill-off-rate-approved': async (setup) => {
    const { fixture, untilState, decide, settled } = setup
    const { paymentId, attemptId } = await opened(setup)
    const fault = { fault: 'fill_off_rate', minor: '1', times: 1, attemptId: `${paymentId}:convert` }
    await fixture.faultAt('converter', fault)
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'settle')
    await settled(paymentId)
    return paymentId
  },
}

async function opened({ fixture, open }: Setup): Promise<{ paymentId: string; attemptId: string }> {
  const paymentId = await fixture.createPayment()
  return { paymentId, attemptId: await open(paymentId) }
}

async function settling(setup: Setup): Promise<string> {
  const { paymentId, attemptId } = await opened(setup)
  await setup.fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
  await setup.untilRow(paymentId, 'status', 'settling')
  return paymentId
}

import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of money in parts, of reversed money, and of long waits for more. */
export const MONEY: Readonly<Record<string, Scenario>> = {
  'underpaid-completed': async (stage) => {
    const { world, untilState, settled } = stage
    const { paymentId, attemptId } = await opened(stage)
    await world.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '3000' })
    await untilState(paymentId, 'under_review')
    await world.atPartner('wallet_app', attemptId, { action: 'top_up', receivedMinor: '4999' })
    await settled(paymentId)
    return paymentId
  },

  'refund-that-took-its-time': async (stage) => {
    const { world, untilState, untilRefunded, decide, handle } = stage
    const { paymentId, attemptId } = await opened(stage)
    await world.atPartner('wallet_app', attemptId, { action: 'pay', receivedMinor: '3000' })
    await untilState(paymentId, 'under_review')
    await world.faultAt('wallet_app', { fault: 'refund_pending', seconds: 1, attemptId })
    await decide(paymentId, 'give_back')
    await untilRefunded(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'held-while-converting': async (stage) => {
    const { world, untilRow, untilState, decide, settled } = stage
    const { paymentId, attemptId } = await opened(stage)
    await world.faultAt('converter', { fault: 'delay', seconds: 3, times: 1, attemptId: `${paymentId}:convert` })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await decide(paymentId, 'hold')
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'release')
    await settled(paymentId)
    return paymentId
  },

  'held-while-paying': async (stage) => {
    const { untilRow, untilState, decide, settled } = stage
    const paymentId = await settling(stage)
    await decide(paymentId, 'hold')
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'release')
    await untilRow(paymentId, 'status', 'settling')
    await settled(paymentId)
    return paymentId
  },

  'reversed-while-paying': async (stage) => {
    const { world, untilState, handle } = stage
    const { paymentId, attemptId } = await opened(stage)
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await stage.untilRow(paymentId, 'status', 'settling')
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilState(paymentId, 'under_review')
    await world.voidPayout(paymentId)
    await handle(paymentId).result()
    return paymentId
  },

  'charged-back': async (stage) => {
    const { world, settled, handle, decide, untilReview } = stage
    const { paymentId, attemptId } = await opened(stage)
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    await world.atPartner('wallet_app', attemptId, { action: 'reverse' })
    await untilReview(paymentId)
    await decide(paymentId, 'write_off')
    await handle(paymentId).result()
    return [{ name: 'charged-back', workflowId: paymentId, run: 1 }]
  },

  'fill-off-rate-approved': async (stage) => {
    const { world, untilState, decide, settled } = stage
    const { paymentId, attemptId } = await opened(stage)
    const fault = { fault: 'fill_off_rate', minor: '1', times: 1, attemptId: `${paymentId}:convert` }
    await world.faultAt('converter', fault)
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await untilState(paymentId, 'under_review')
    await decide(paymentId, 'settle')
    await settled(paymentId)
    return paymentId
  },
}

async function opened({ world, open }: Stage): Promise<{ paymentId: string; attemptId: string }> {
  const paymentId = await world.createPayment()
  return { paymentId, attemptId: await open(paymentId) }
}

async function settling(stage: Stage): Promise<string> {
  const { paymentId, attemptId } = await opened(stage)
  await stage.world.atPartner('wallet_app', attemptId, { action: 'pay' })
  await stage.untilRow(paymentId, 'status', 'settling')
  return paymentId
}

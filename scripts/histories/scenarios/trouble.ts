import { MINUTE_MS, type Scenario } from './scenario.ts'

/** Scenarios of partners that do not answer, lost messages and lost runs. Those that take minutes are first. */
export const TROUBLE: Readonly<Record<string, Scenario>> = {
  'settlement-delayed': async ({ world, open, untilRow, behind, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    // Paid 15 minutes ago by the service's clock, so it is late at once.
    await behind(15 * MINUTE_MS, async () => {
      await world.atPartner('wallet_app', attemptId, { action: 'pay' })
      await untilRow(paymentId, 'status', 'settling')
    })
    await untilRow(paymentId, 'exception', 'settlement_delayed')
    await settled(paymentId)
    return paymentId
  },

  'callback-lost': async ({ world, open, later, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await world.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    later(() => settled(paymentId))
    return paymentId
  },

  'partner-silent': async ({ world, open, later, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    // All tries of one reading fail. The poll a minute later succeeds.
    await world.faultAt('wallet_app', { fault: 'server_error', operation: 'read', times: 3, attemptId })
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    later(() => settled(paymentId))
    return paymentId
  },

  'order-opened-without-an-answer': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment()
    await world.faultAt('wallet_app', { fault: 'timeout_after_effect', operation: 'open', mode: 'close', times: 1 })
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'conversion-without-an-answer': async ({ world, open, settled }) => {
    const paymentId = await world.createPayment()
    await world.faultAt('converter', {
      fault: 'timeout_after_effect',
      operation: 'convert',
      mode: 'close',
      times: 1,
      attemptId: `${paymentId}:convert`,
    })
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'start-lost': async ({ world, open, settled }) => {
    const paymentId = await world.createPaymentWithoutStart()
    await world.relay.startPayments()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'run-terminated': async ({ world, handle, open, settled }) => {
    const paymentId = await world.createPayment()
    const attemptId = await open(paymentId)
    await handle(paymentId).terminate('by hand')
    await world.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    return [
      { name: 'run-terminated', workflowId: paymentId },
      { name: 'run-resumed', workflowId: paymentId, run: 1 },
    ]
  },

  'run-terminated-while-settling': async ({ world, handle, open, untilRow, settled }) => {
    const paymentId = await world.createPayment()
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    await handle(paymentId).terminate('by hand')
    await settled(paymentId)
    return [{ name: 'run-resumed-while-settling', workflowId: paymentId, run: 1 }]
  },

  'run-terminated-while-converting': async ({ world, handle, open, untilRow, settled }) => {
    const paymentId = await world.createPayment()
    await world.faultAt('converter', { fault: 'delay', seconds: 3, times: 1, attemptId: `${paymentId}:convert` })
    await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await handle(paymentId).terminate('by hand')
    await world.workflows.tellRowChanged(paymentId)
    await settled(paymentId)
    return [{ name: 'run-resumed-while-converting', workflowId: paymentId, run: 1 }]
  },
}

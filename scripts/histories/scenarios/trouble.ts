import { MINUTE_MS, type Scenario } from './scenario.ts'

/** Scenarios of partners that do not answer, lost messages and lost runs. Those that take minutes are first. */
export const TROUBLE: Readonly<Record<string, Scenario>> = {
  'settlement-delayed': async ({ fixture, open, untilRow, behind, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    // Paid 15 minutes ago by the service's clock, so it is late at once.
    await behind(15 * MINUTE_MS, async () => {
      await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
      await untilRow(paymentId, 'status', 'settling')
    })
    await untilRow(paymentId, 'exception', 'settlement_delayed')
    await settled(paymentId)
    return paymentId
  },

  'callback-lost': async ({ fixture, open, later, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await fixture.faultAt('wallet_app', { fault: 'callbacks_never', attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    later(() => settled(paymentId))
    return paymentId
  },

  'partner-silent': async ({ fixture, open, later, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    // All tries of one reading fail. The poll a minute later succeeds.
    await fixture.faultAt('wallet_app', { fault: 'server_error', operation: 'read', times: 3, attemptId })
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    later(() => settled(paymentId))
    return paymentId
  },

  'order-opened-without-an-answer': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment()
    await fixture.faultAt('wallet_app', { fault: 'timeout_after_effect', operation: 'open', mode: 'close', times: 1 })
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'conversion-without-an-answer': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPayment()
    await fixture.faultAt('converter', {
      fault: 'timeout_after_effect',
      operation: 'convert',
      mode: 'close',
      times: 1,
      attemptId: `${paymentId}:convert`,
    })
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'start-lost': async ({ fixture, open, settled }) => {
    const paymentId = await fixture.createPaymentWithoutStart()
    await fixture.relay.startPayments()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await settled(paymentId)
    return paymentId
  },

  'run-terminated': async ({ fixture, handle, open, settled }) => {
    const paymentId = await fixture.createPayment()
    const attemptId = await open(paymentId)
    await handle(paymentId).terminate('by hand')
    await fixture.atPartner('wallet_app', attemptId, { action: 'pay' })
    await settled(paymentId)
    return [
      { name: 'run-terminated', workflowId: paymentId },
      { name: 'run-resumed', workflowId: paymentId, run: 1 },
    ]
  },

  'run-terminated-while-settling': async ({ fixture, handle, open, untilRow, settled }) => {
    const paymentId = await fixture.createPayment()
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'settling')
    await handle(paymentId).terminate('by hand')
    await settled(paymentId)
    return [{ name: 'run-resumed-while-settling', workflowId: paymentId, run: 1 }]
  },

  'run-terminated-while-converting': async ({ fixture, handle, open, untilRow, settled }) => {
    const paymentId = await fixture.createPayment()
    await fixture.faultAt('converter', { fault: 'delay', seconds: 3, times: 1, attemptId: `${paymentId}:convert` })
    await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
    await untilRow(paymentId, 'status', 'processing')
    await handle(paymentId).terminate('by hand')
    await fixture.workflows.signalRowChanged(paymentId)
    await settled(paymentId)
    return [{ name: 'run-resumed-while-converting', workflowId: paymentId, run: 1 }]
  },
}

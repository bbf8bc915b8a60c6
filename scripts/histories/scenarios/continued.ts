import { startBriefServer } from '../brief-server.ts'
import { openSetup, type Setup } from '../setup.ts'
import { UPI } from './closing.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of a history that has become long, on a dedicated server that calls 60 events long. */
export const CONTINUED: Readonly<Record<string, Scenario>> = {
  'continued-after-a-request': async () => {
    const server = await startBriefServer({ mostEvents: 60 })
    try {
      const setup = await openSetup(server)
      try {
        const workflowId = await continuedAfterRequest(setup)
        return [{ name: 'continued-after-a-request', workflowId, history: await setup.readHistory(workflowId, 0) }]
      } finally {
        await setup.close()
      }
    } finally {
      await server.stop()
    }
  },
}

/** The request arrives while the announcement still keeps the run from being continued. */
async function continuedAfterRequest(setup: Setup): Promise<string> {
  const { fixture, open, settle, untilState } = setup
  const paymentId = await fixture.createPayment(UPI)
  await open(paymentId, 'local_partner', 'upi')
  const card = await open(paymentId, 'card_partner', 'card')
  await setup.inboxAnswers({ answer: 'hang', times: 1 })
  await fixture.atPartner('card_partner', card, { action: 'pay' })
  await settle(paymentId)
  await untilState(paymentId, 'succeeded')
  while (!(await setup.isLong(paymentId))) {
    await fixture.workflows.signalRowChanged(paymentId)
    await untilState(paymentId, 'succeeded')
  }
  await fixture.workflows.cancel(paymentId)
  await setup.untilRun(paymentId, 1)
  return paymentId
}

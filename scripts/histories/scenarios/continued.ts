import { startBriefServer } from '../brief-server.ts'
import { openStage, type Stage } from '../stage.ts'
import { UPI } from './closing.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of a history that has become long, on a dedicated server that calls 60 events long. */
export const CONTINUED: Readonly<Record<string, Scenario>> = {
  'continued-after-a-request': async () => {
    const server = await startBriefServer({ mostEvents: 60 })
    try {
      const stage = await openStage(server)
      try {
        const workflowId = await continuedAfterRequest(stage)
        return [{ name: 'continued-after-a-request', workflowId, history: await stage.readHistory(workflowId, 0) }]
      } finally {
        await stage.close()
      }
    } finally {
      await server.stop()
    }
  },
}

/** The request arrives while the announcement still keeps the run from being continued. */
async function continuedAfterRequest(stage: Stage): Promise<string> {
  const { world, open, settle, untilState } = stage
  const paymentId = await world.createPayment(UPI)
  await open(paymentId, 'local_partner', 'upi')
  const card = await open(paymentId, 'card_partner', 'card')
  await stage.inboxAnswers({ answer: 'hang', times: 1 })
  await world.atPartner('card_partner', card, { action: 'pay' })
  await settle(paymentId)
  await untilState(paymentId, 'succeeded')
  while (!(await stage.isLong(paymentId))) {
    await world.workflows.tellRowChanged(paymentId)
    await untilState(paymentId, 'succeeded')
  }
  await world.workflows.cancel(paymentId)
  await stage.untilRun(paymentId, 1)
  return paymentId
}

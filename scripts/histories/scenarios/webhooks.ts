import { redeliverNow } from '../../../src/workflows/webhook-delivery.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of endpoints that do not accept their event at the first try. */
export const WEBHOOKS: Readonly<Record<string, Scenario>> = {
  'webhook-retried': async (stage) => {
    await stage.inboxAnswers({ answer: 500, times: 2 })
    const { paymentId, workflowId } = await announced(stage)
    await stage.handle(workflowId).result()
    return [
      { name: 'paid-webhook-handed-over', workflowId: paymentId },
      { name: 'webhook-retried', workflowId },
    ]
  },

  'webhook-redelivered-by-hand': async (stage) => {
    await stage.inboxAnswers({ answer: 500, times: 1 })
    const { workflowId } = await announced(stage)
    await stage.handle(workflowId).executeUpdate(redeliverNow)
    await stage.handle(workflowId).result()
    return [{ name: 'webhook-redelivered-by-hand', workflowId }]
  },

  'webhook-gone': async (stage) => {
    // Last, because it disables the endpoint that the others need.
    await stage.theRest()
    await stage.inboxAnswers({ answer: 500, times: 1 })
    const { workflowId } = await announced(stage)
    await stage.inboxAnswers({ answer: 410, times: 1 })
    await stage.handle(workflowId).result()
    return [{ name: 'webhook-gone', workflowId }]
  },
}

/** Makes a payment whose announcement the endpoint refuses. Returns the workflow of its delivery. */
async function announced({ world, open, settled, findDelivery: deliveryOf }: Stage) {
  const paymentId = await world.createPayment()
  await world.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
  await settled(paymentId)
  return { paymentId, workflowId: await deliveryOf(paymentId) }
}

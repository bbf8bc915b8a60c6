import { redeliverNow } from '../../../src/workflows/webhook-delivery.ts'
import type { Setup } from '../setup.ts'
import type { Scenario } from './scenario.ts'

/** Scenarios of endpoints that do not accept their event at the first try. */
export const WEBHOOKS: Readonly<Record<string, Scenario>> = {
  'webhook-retried': async (setup) => {
    await setup.inboxAnswers({ answer: 500, times: 2 })
    const { paymentId, workflowId } = await announced(setup)
    await setup.handle(workflowId).result()
    return [
      { name: 'paid-webhook-handed-over', workflowId: paymentId },
      { name: 'webhook-retried', workflowId },
    ]
  },

  'webhook-redelivered-by-hand': async (setup) => {
    await setup.inboxAnswers({ answer: 500, times: 1 })
    const { workflowId } = await announced(setup)
    await setup.handle(workflowId).executeUpdate(redeliverNow)
    await setup.handle(workflowId).result()
    return [{ name: 'webhook-redelivered-by-hand', workflowId }]
  },

  'webhook-gone': async (setup) => {
    // Last, because it disables the endpoint that the others need.
    await setup.theRest()
    await setup.inboxAnswers({ answer: 500, times: 1 })
    const { workflowId } = await announced(setup)
    await setup.inboxAnswers({ answer: 410, times: 1 })
    await setup.handle(workflowId).result()
    return [{ name: 'webhook-gone', workflowId }]
  },
}

/** Makes a payment whose announcement the endpoint refuses. Returns the workflow of its delivery. */
async function announced({ fixture, open, settled, findDelivery }: Setup) {
  const paymentId = await fixture.createPayment()
  await fixture.atPartner('wallet_app', await open(paymentId), { action: 'pay' })
  await settled(paymentId)
  return { paymentId, workflowId: await findDelivery(paymentId) }
}

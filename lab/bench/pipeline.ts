import type { Client } from '@temporalio/client'
import type { Merchant } from '../../scripts/demo/merchant.ts'
import type { System } from '../../scripts/system.ts'
import type { Arm } from './arm.ts'
import { buyPatiently } from './buyer.ts'

export type PipelineParts = { readonly system: System; readonly merchant: Merchant; readonly client: Client }

/** Makes a payment as a merchant and a buyer do, up to `succeeded`: API, checkout, partner, conversion, chain, webhook. */
export function createPipelineArm({ system: { sandboxUrl }, merchant, client }: PipelineParts): Arm {
  return {
    name: 'pipeline',
    ours: ['api', 'worker', 'temporal', 'postgres'],
    worker: 'worker',
    pay: async () => {
      const begun = Date.now()
      const payment = await merchant.create({ amount: '49.90', currency: 'EUR', provider: 'wallet_app' })
      await buyPatiently({ merchant, sandboxUrl }, payment)
      // Waits as the other arms do: polling by the checkout and the merchant is not measured.
      const status = await client.workflow.getHandle(payment.id).result()
      if (status !== 'succeeded') throw new Error(`${payment.id} ended as ${status}`)
      return { workflowId: payment.id, tookMs: Date.now() - begun }
    },
  }
}

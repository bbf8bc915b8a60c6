import type { Client } from '@temporalio/client'
import type { Merchant } from '../../scripts/demo/merchant.ts'
import type { System } from '../../scripts/system.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'

/** One way through one of the two things that are compared. Answers the workflow's id and how long it took (ms). */
export type Arm = () => Promise<{ readonly workflowId: string; readonly tookMs: number }>

export type PipelineParts = { readonly system: System; readonly merchant: Merchant; readonly client: Client }

/** A payment as a shop and a buyer make it, up to `succeeded`: API, checkout, partner, conversion, chain, webhook. */
export function pipelineArm({ system, merchant, client }: PipelineParts): Arm {
  return async () => {
    const begun = Date.now()
    const payment = await merchant.create({ amount: '49.90', currency: 'EUR', provider: 'wallet_app' })
    await payAtCheckout(payment.checkout_url, { sandboxUrl: system.sandboxUrl })
    // As the other arm waits: the checkout's and the merchant's polling is not what is measured.
    const status = await client.workflow.getHandle(payment.id).result()
    if (status !== 'succeeded') throw new Error(`${payment.id} ended as ${status}`)
    return { workflowId: payment.id, tookMs: Date.now() - begun }
  }
}

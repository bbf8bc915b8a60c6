import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { until } from '../../scripts/test/until.ts'
import { createDeliveryWorkflows } from '../../src/temporal/deliveries.ts'
import { isFair } from '../../src/temporal/fairness.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { useTemporal } from './temporal-server.ts'

const NAMESPACE = 'default'

function useClient(temporal: { readonly address: string }): () => Client {
  let client: Client
  beforeAll(async () => {
    client = new Client({ connection: await Connection.connect({ address: temporal.address }) })
  }, 30_000)
  afterAll(() => client?.connection.close())
  return () => client
}

describe('A server as `npm start` makes it', () => {
  const client = useClient(useTemporal())

  test('the server lets merchants take turns while tasks wait, and stores nothing of the question', async () => {
    expect(await isFair(client(), NAMESPACE)).toBe(true)
    // They are deleted in the background.
    const left = () => client().workflow.count(`WorkflowType = 'fairness'`)
    await until(left, ({ count }) => count === 0)
  }, 60_000)

  test('the server has the merchant of each payment and of each delivery, and runs payments first', async () => {
    const [merchantId, taskQueue] = ['mer_1', 'nobody-polls']
    const payments = createPaymentWorkflows({ client: client(), taskQueue, load: () => Promise.reject(new Error()) })
    const amount = { minor: '100', currency: 'EUR' } as const
    const expiresAt = '2026-11-20T21:00:00.000Z'
    await payments.start({ id: 'pay_1', merchantId, amount, provider: null, status: 'created', expiresAt })
    const deliveries = createDeliveryWorkflows({ client: client(), taskQueue })
    await deliveries.deliverNow({ eventId: 'evt_1', endpointId: 'we_1', merchantId, attemptsDone: 0 })
    const readPriority = async (workflowId: string) => {
      const { raw } = await client().workflow.getHandle(workflowId).describe()
      const { priorityKey, fairnessKey } = raw.workflowExecutionInfo?.priority ?? {}
      return [priorityKey, fairnessKey]
    }
    expect(await readPriority('pay_1')).toEqual([1, 'mer_1'])
    expect(await readPriority('whd_evt_1_we_1')).toEqual([2, 'mer_1'])
  }, 30_000)
})

describe('a server without the setting', () => {
  const client = useClient(useTemporal({ dynamicConfig: ['matching.enableFairness=false'] }))

  test('a server without the fairness setting is detected', async () => {
    expect(await isFair(client(), NAMESPACE)).toBe(false)
  }, 60_000)
})

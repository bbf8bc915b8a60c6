import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { startDevServer } from '../../scripts/test/services/temporal.ts'
import { until } from '../../scripts/test/until.ts'
import { loadStart } from '../../src/deps/shared.ts'
import { paymentWorkflowId } from '../../src/domain/ids.ts'
import { createPaymentWorkflows } from '../../src/temporal/payments.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { openShop, type Shop } from './support/shop.ts'

const BODY = { amount: '49.99', currency: 'EUR' }
let shop: Shop
let connection: Connection
let client: Client
beforeAll(async () => {
  shop = await openShop({ temporalDown: true })
  const { address, namespace } = await startDevServer()
  connection = await Connection.connect({ address })
  client = new Client({ connection, namespace })
}, 60_000)
afterAll(async () => {
  await shop?.close()
  await connection?.close()
})

test('a payment is created although Temporal is down, and the relay starts its workflow later, once', async () => {
  const started = Date.now()
  const created = await shop.ask('POST', '/v1/payments', { body: BODY })
  expect(created.status).toBe(201)
  // The deadline of the start is 1.5 s: the merchant waits no longer for a server that is not there.
  expect(Date.now() - started).toBeLessThan(5000)
  expect(await shop.count('outbox')).toBe(1)

  const { db, log } = shop
  const workflows = createPaymentWorkflows({ client, taskQueue: 'nobody-takes-these', load: loadStart(db) })
  const relay = createRelay({ db, client, workflows, clock: Date.now, log, graceMs: 0 })
  expect(await relay.startPayments()).toBe(1)
  expect(await shop.count('outbox')).toBe(0)
  const { status, workflowId } = await client.workflow
    .getHandle(paymentWorkflowId(String(created.body['id'])))
    .describe()
  expect([status.name, workflowId]).toEqual(['RUNNING', created.body['id']])
  expect(await relay.startPayments()).toBe(0)
})

test('while Temporal is there, the workflow runs before the answer, and the outbox is empty soon after', async () => {
  const up = await openShop()
  try {
    const { id } = (await up.ask('POST', '/v1/payments', { body: BODY })).body
    const { status } = await client.workflow.getHandle(paymentWorkflowId(String(id))).describe()
    expect(status.name).toBe('RUNNING')
    await until(
      () => up.count('outbox'),
      (rows) => rows === 0,
    )
  } finally {
    await up.close()
  }
})

import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Client, WithStartWorkflowOperation } from '@temporalio/client'
import * as attributes from '../../../src/workflows/search-attributes.ts'
import type { Arm } from '../pipeline.ts'
import { BARE_QUEUE, bareDeliveryId, READY } from './names.ts'
import type { bare } from './workflows.ts'

export type BareArm = { readonly pay: Arm; readonly pid: number; readonly stop: () => void }

/** Bytes that an activity of a payment returns. */
const RESULT = 'x'.repeat(600)

/** The bare workflow and its worker, called through the same SDK as a payment. */
export async function startBareArm(client: Client, address: string): Promise<BareArm> {
  const worker = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [address], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await ready(worker)
  worker.on('message', (workflowId: string) => {
    client.activity
      .complete({ workflowId, activityId: 'transfer' }, RESULT)
      .catch((error: Error) => worker.emit('error', error))
  })
  return { pay: () => pay(client), pid: worker.pid ?? 0, stop: () => worker.disconnect() }
}

function ready(worker: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('exit', (code) => reject(new Error(`the bare worker ended with ${code}`)))
    worker.once('message', (message) => (message === READY ? resolve() : reject(new Error(JSON.stringify(message)))))
  })
}

async function pay(client: Client): ReturnType<Arm> {
  const begun = Date.now()
  const workflowId = `bare_${randomUUID()}`
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof bare>('bare', {
    workflowId,
    taskQueue: BARE_QUEUE,
    args: [workflowId],
    workflowIdConflictPolicy: 'FAIL',
    staticSummary: '49.90 EUR · wallet_app',
    typedSearchAttributes: [
      { key: attributes.PAYMENT_STATUS, value: 'created' },
      { key: attributes.CURRENCY, value: 'EUR' },
    ],
  })
  await client.workflow.executeUpdateWithStart('open', { startWorkflowOperation })
  const handle = client.workflow.getHandle(workflowId)
  await handle.signal('news')
  await handle.result()
  await client.workflow.getHandle(bareDeliveryId(workflowId)).result()
  return { workflowId, tookMs: Date.now() - begun }
}

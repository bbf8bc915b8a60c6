import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Client, WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client'
import * as attributes from '../../../src/workflows/search-attributes.ts'
import type { Arm, Paid } from '../arm.ts'
import { BARE_QUEUE, bareDeliveryId, READY } from './names.ts'
import type { bare, lean } from './workflows.ts'

export type BareArms = { readonly bare: Arm; readonly lean: Arm; readonly pid: number; readonly stop: () => void }

/** Bytes that an activity of a payment returns. */
const RESULT = 'x'.repeat(600)

/** Starts the bare workflows and their worker, called through the same SDK as a payment. */
export async function startBareArms(client: Client, address: string): Promise<BareArms> {
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
  // They have no API and no database.
  const shared = { ours: ['temporal', 'bare_worker'], worker: 'bare_worker' }
  return {
    bare: { ...shared, name: 'bare', ratio: 'ratio', pay: () => payBare(client) },
    lean: { ...shared, name: 'lean', ratio: 'ratio_lean', pay: createLeanPay(client) },
    pid: worker.pid ?? 0,
    stop: () => worker.disconnect(),
  }
}

function ready(worker: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('exit', (code) => reject(new Error(`the bare worker ended with ${code}`)))
    worker.once('message', (message) => (message === READY ? resolve() : reject(new Error(JSON.stringify(message)))))
  })
}

async function payBare(client: Client): Promise<Paid> {
  const begun = Date.now()
  const options = startOptions()
  const { workflowId } = options
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof bare>('bare', {
    ...options,
    workflowIdConflictPolicy: 'FAIL',
  })
  await client.workflow.executeUpdateWithStart('open', { startWorkflowOperation })
  const handle = client.workflow.getHandle(workflowId)
  await handle.signal('orderChanged')
  await handle.result()
  await client.workflow.getHandle(bareDeliveryId(workflowId)).result()
  return { workflowId, tookMs: Date.now() - begun }
}

/** Each is started one payment ahead, because a buyer arrives after the workflow's first task. */
function createLeanPay(client: Client): Arm['pay'] {
  const ahead: WorkflowHandle[] = []
  const start = () => client.workflow.start<typeof lean>('lean', startOptions())
  return async () => {
    const begun = Date.now()
    const handle = ahead.shift() ?? (await start())
    ahead.push(await start())
    await handle.executeUpdate('open')
    await handle.signal('orderChanged')
    await handle.result()
    return { workflowId: handle.workflowId, tookMs: Date.now() - begun }
  }
}

function startOptions() {
  const workflowId = `bare_${randomUUID()}`
  return {
    workflowId,
    taskQueue: BARE_QUEUE,
    args: [workflowId] as [string],
    staticSummary: '49.90 EUR · wallet_app',
    typedSearchAttributes: [
      { key: attributes.PAYMENT_STATUS, value: 'created' },
      { key: attributes.CURRENCY, value: 'EUR' },
    ],
  }
}

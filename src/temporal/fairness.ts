import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'

/** Workflows of one key that wait first, and the same number behind them with a key each. */
const EACH = 40
/**
 * If keys take turns, at least this number of those with a key each is in the first half of all: measured 23 to 30, and
 * 9 to 15 if they do not. A queue has several partitions, so neither order is exact.
 */
const LEAST = EACH / 2

const POLL_MS = 10_000
/** temporal.api.enums.v1.TaskQueueKind */
const NORMAL = 1

type Services = Pick<Client, 'connection' | 'workflow' | 'workflowService'>

/**
 * No call returns this setting: workflows that wait in a queue without a worker show it, and are deleted afterwards.
 */
export async function isFair(client: Services, namespace: string): Promise<boolean> {
  const { connection, workflowService } = client
  const name = `pinrail-fairness-${randomUUID()}`
  const started: string[] = []
  const start = async (workflowId: string, fairnessKey: string): Promise<void> => {
    await client.workflow.start('fairness', {
      workflowId,
      taskQueue: name,
      priority: { fairnessKey },
      workflowExecutionTimeout: '1 minute',
    })
    started.push(workflowId)
  }
  try {
    for (let count = 0; count < EACH; count++) await start(`${name}-crowd-${count}`, 'crowd')
    for (let count = 0; count < EACH; count++) await start(`${name}-single-${count}`, `single-${count}`)
    let single = 0
    for (let looked = 0; looked < EACH; looked++) {
      const task = await connection.withDeadline(Date.now() + POLL_MS, () =>
        workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name, kind: NORMAL }, identity: name }),
      )
      if (task.workflowExecution?.workflowId?.startsWith(`${name}-single`)) single += 1
    }
    return single >= LEAST
  } finally {
    for (const workflowId of started)
      await workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } })
  }
}

import type { DataConverter } from '@temporalio/common'
import { type NativeConnection, Worker, type WorkerOptions, type WorkflowBundlePath } from '@temporalio/worker'
import { DELIVERIES_QUEUE, PAYMENTS_QUEUE } from '../workflows/queues.ts'

export type WorkerSettings = {
  readonly connection: NativeConnection
  readonly namespace: string
  readonly bundle: WorkflowBundlePath
  /** Everything that the workflows of both queues may call. */
  readonly activities: object
  readonly dataConverter: DataConverter | undefined
  readonly maxCachedWorkflows: number
  /** After this long without its worker a workflow goes to any other one (milliseconds). */
  readonly stickyTimeoutMs: number
  /** Running activities may finish for this long after a shutdown began (milliseconds). */
  readonly shutdownGraceMs: number
  /** With versioning on, a payment stays with the build that started it. */
  readonly version: { readonly buildId: string } | null
}

/** Payments and deliveries have queues of their own: a flood of failing endpoints holds up no payment. */
export function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const shared: Omit<WorkerOptions, 'taskQueue'> = {
    connection: settings.connection,
    namespace: settings.namespace,
    workflowBundle: settings.bundle,
    activities: settings.activities,
    maxCachedWorkflows: settings.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: settings.stickyTimeoutMs,
    shutdownGraceTime: settings.shutdownGraceMs,
    shutdownForceTime: settings.shutdownGraceMs + 15_000,
    ...(settings.dataConverter !== undefined && { dataConverter: settings.dataConverter }),
    ...(settings.version !== null && {
      workerDeploymentOptions: {
        version: { deploymentName: 'pinrail', buildId: settings.version.buildId },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    }),
  }
  return Promise.all([PAYMENTS_QUEUE, DELIVERIES_QUEUE].map((taskQueue) => Worker.create({ ...shared, taskQueue })))
}

import type { DataConverter } from '@temporalio/common'
import {
  type ActivityInterceptorsFactory,
  type NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundlePath,
} from '@temporalio/worker'
import { DELIVERIES_QUEUE, PAYMENTS_QUEUE } from '../workflows/queues.ts'

export type WorkerSettings = {
  readonly connection: NativeConnection
  readonly namespace: string
  readonly bundle: WorkflowBundlePath
  /** All activities of the workflows of both queues. */
  readonly activities: object
  readonly interceptor: ActivityInterceptorsFactory
  readonly dataConverter: DataConverter | undefined
  readonly maxCachedWorkflows: number
  /** Milliseconds after which a workflow whose worker is silent goes to another one. */
  readonly stickyTimeoutMs: number
  /** Milliseconds that running activities have to finish after a shutdown began. */
  readonly shutdownGraceMs: number
  /** If versioning is on, a payment stays with the build that started it. */
  readonly version: { readonly buildId: string } | null
}

/** Milliseconds that activities have to end after they were canceled, before the worker ends without them. */
export const SHUTDOWN_FORCE_MS = 15_000

/**
 * Concurrent workflow tasks, and the local activities in them, for which they wait. Three partners that hang occupy 180
 * (24 openings, and 12 each of readings, cancellations and refunds: limited.ts), receivers of webhooks 75 (announce.ts).
 * The rest is for payments that wait for none of them.
 */
const WORKFLOW_TASKS_AT_ONCE = 300

/** Concurrent other activities of payments: three partners that hang occupy 180 of these, too. */
const ACTIVITIES_AT_ONCE = 300

/**
 * Concurrent deliveries. Almost all of them wait for receivers, so that places cost sockets and little else; ten
 * accounts whose receivers hang must occupy less than all of them (webhook-delivery.ts).
 */
const DELIVERIES_AT_ONCE = 400

/** Payments and deliveries have separate queues, so that a flood of failing endpoints delays no payment. */
export function createWorkers(settings: WorkerSettings): Promise<Worker[]> {
  const shared: Omit<WorkerOptions, 'taskQueue'> = {
    connection: settings.connection,
    namespace: settings.namespace,
    workflowBundle: settings.bundle,
    activities: settings.activities,
    interceptors: { activity: [settings.interceptor] },
    maxCachedWorkflows: settings.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: settings.stickyTimeoutMs,
    shutdownGraceTime: settings.shutdownGraceMs,
    shutdownForceTime: settings.shutdownGraceMs + SHUTDOWN_FORCE_MS,
    ...(settings.dataConverter !== undefined && { dataConverter: settings.dataConverter }),
    ...(settings.version !== null && {
      workerDeploymentOptions: {
        version: { deploymentName: 'pinrail', buildId: settings.version.buildId },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    }),
  }
  return Promise.all([
    Worker.create({
      ...shared,
      taskQueue: PAYMENTS_QUEUE,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_AT_ONCE,
      maxConcurrentLocalActivityExecutions: WORKFLOW_TASKS_AT_ONCE,
      maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    }),
    Worker.create({ ...shared, taskQueue: DELIVERIES_QUEUE, maxConcurrentActivityTaskExecutions: DELIVERIES_AT_ONCE }),
  ])
}

import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import { deliveryWorkflowId, diagnosisWorkflowId } from '../domain/ids.ts'
import { deliverySummary } from '../domain/webhook.ts'
import type { Diagnosis, DiagnosisTarget } from '../domain/webhook-diagnosis.ts'
import { deliveryPriority } from '../workflows/priority.ts'
import { redeliverNow, skipTime, type webhookDelivery } from '../workflows/webhook-delivery.ts'
import type { webhookDiagnosis } from '../workflows/webhook-diagnosis.ts'

export type DeliveryWorkflows = {
  /** False if Temporal does not answer in time; the worker's sweep finds the delivery later. */
  deliverNow(delivery: {
    eventId: string
    endpointId: string
    merchantId: string
    attemptsDone: number
  }): Promise<boolean>
  /** Waits for the result. Null: one is running for this endpoint, or Temporal or the worker does not answer in time. */
  diagnose(target: DiagnosisTarget & { readonly merchantId: string }): Promise<Diagnosis | 'running' | null>
}

/** The try is made in the background; the call waits only until Temporal has accepted it. */
const DEADLINE_MS = 3000
/** A diagnosis ends within 20 s of requests. */
const DIAGNOSIS_DEADLINE_MS = 35_000

export function createDeliveryWorkflows({
  client,
  taskQueue,
}: {
  client: Client
  taskQueue: string
}): DeliveryWorkflows {
  return {
    diagnose: ({ merchantId, ...target }) =>
      client.connection
        .withDeadline(Date.now() + DIAGNOSIS_DEADLINE_MS, () =>
          client.workflow.execute<typeof webhookDiagnosis>('webhookDiagnosis', {
            workflowId: diagnosisWorkflowId(target.endpointId),
            taskQueue,
            args: [target],
            staticSummary: `Why ${target.endpointId} refuses ${target.eventId}`,
            priority: deliveryPriority(merchantId),
          }),
        )
        .catch((error: unknown) => (error instanceof WorkflowExecutionAlreadyStartedError ? 'running' : null)),
    async deliverNow({ eventId, endpointId, merchantId, attemptsDone }) {
      const workflowId = deliveryWorkflowId(eventId, endpointId)
      const options = {
        workflowId,
        taskQueue,
        args: [{ eventId, endpointId, attemptsDone, step: 0, last: null }] as const,
        staticSummary: deliverySummary(eventId, endpointId),
        priority: deliveryPriority(merchantId),
      }
      const within = <T>(work: () => Promise<T>): Promise<T> =>
        client.connection.withDeadline(Date.now() + DEADLINE_MS, work)
      try {
        await within(() =>
          client.workflow.start<typeof webhookDelivery>('webhookDelivery', { ...options, args: [...options.args] }),
        )
        return true
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) return false
      }
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof webhookDelivery>('webhookDelivery', {
        ...options,
        args: [...options.args],
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      return within(() =>
        client.workflow.startUpdateWithStart(redeliverNow, { waitForStage: 'ACCEPTED', startWorkflowOperation }),
      ).then(
        () => true,
        () => false,
      )
    },
  }
}

/** Test mode: brings the retries of a delivery forward by this number of milliseconds. A delivery that is over stays as it is. */
export type SkipDeliveryTime = (delivery: { eventId: string; endpointId: string; ms: number }) => Promise<void>

export function createSkipDeliveryTime(client: Client): SkipDeliveryTime {
  return async ({ eventId, endpointId, ms }) => {
    const handle = client.workflow.getHandle(deliveryWorkflowId(eventId, endpointId))
    try {
      await client.connection.withDeadline(Date.now() + DEADLINE_MS, () => handle.signal(skipTime, ms))
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
  }
}

import { type Client, WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { deliveryWorkflowId } from '../domain/ids.ts'
import { deliverySummary } from '../domain/webhook.ts'
import { redeliverNow, type webhookDelivery } from '../workflows/webhook-delivery.ts'

/** How the API has an event delivered again. */
export type DeliveryWorkflows = {
  /**
   * Makes the next try now, in a workflow that begins the schedule anew or in the one that is running. False when
   * Temporal does not answer in time: the sweep finds the delivery later.
   */
  deliverNow(delivery: { eventId: string; endpointId: string; attemptsDone: number }): Promise<boolean>
}

/** The try is made in the background; only the word that it shall be made is waited for. */
const DEADLINE_MS = 3000

export function createDeliveryWorkflows({
  client,
  taskQueue,
}: {
  client: Client
  taskQueue: string
}): DeliveryWorkflows {
  return {
    async deliverNow({ eventId, endpointId, attemptsDone }) {
      const workflowId = deliveryWorkflowId(eventId, endpointId)
      const options = {
        workflowId,
        taskQueue,
        args: [{ eventId, endpointId, attemptsDone, step: 0 }] as const,
        staticSummary: deliverySummary(eventId, endpointId),
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

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import { log, ParentClosePolicy, startChild } from '@temporalio/workflow'
import { deliveryWorkflowId } from '../domain/ids.ts'
import { deliverySummary } from '../domain/webhook.ts'
import { announcing } from './options.ts'
import { deliveryPriority } from './priority.ts'
import { DELIVERIES_QUEUE } from './queues.ts'
import { type WebhookDeliveryInput, webhookDelivery } from './webhook-delivery.ts'

/** Notifies the merchant. The payment waits for it only at its end. */
export type Announcer = {
  announce(eventId: string): void
  finished(): Promise<void>
}

export function createAnnouncer(): Announcer {
  const running: Promise<void>[] = []
  // A row that is read again can name an event whose announcement is still running.
  const announced = new Set<string>()
  return {
    announce: (eventId) => {
      if (!announced.has(eventId)) running.push(announce(eventId).catch(leftToOthers))
      announced.add(eventId)
    },
    finished: async () => {
      await Promise.all(running)
    },
  }
}

/** Logs the error: it would stop the run forever. */
function leftToOthers(error: unknown): void {
  log.warn('this run could not announce an event: the worker’s sweep starts its deliveries', { error })
}

/** Each endpoint that did not accept the event gets a workflow for the days of retries. */
async function announce(eventId: string): Promise<void> {
  const { failed } = await announcing.announce(eventId)
  await Promise.all(failed.map((handOver) => startDelivery({ eventId, ...handOver, step: handOver.attemptsDone })))
}

async function startDelivery(delivery: WebhookDeliveryInput): Promise<void> {
  const { eventId, endpointId } = delivery
  try {
    // Awaited until it has started: an abandoned child whose parent ends first might never start.
    await startChild(webhookDelivery, {
      workflowId: deliveryWorkflowId(eventId, endpointId),
      taskQueue: DELIVERIES_QUEUE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [delivery],
      priority: deliveryPriority(),
      staticSummary: deliverySummary(eventId, endpointId),
    })
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    log.info('the delivery has its workflow already', { eventId, endpointId })
  }
}

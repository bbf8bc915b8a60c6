import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Queryable } from '../db/db.ts'
import { markLookedAfter, type OverdueDelivery, takeOverdueDeliveries } from '../db/webhooks/deliveries.ts'
import { deliveryWorkflowId } from '../domain/ids.ts'
import { deliverySummary } from '../domain/webhook.ts'
import { deliveryPriority } from '../workflows/priority.ts'
import type { webhookDelivery } from '../workflows/webhook-delivery.ts'

/** Starts the workflow of every overdue delivery that has none, after a lost announcement or a lost Temporal store. */
export type DeliverySweep = {
  /** Runs one round. Returns the number of workflows started. */
  readonly tick: () => Promise<number>
}

export type DeliverySweepDeps = {
  readonly db: Queryable
  readonly client: Pick<Client, 'workflow'>
  /** Unix milliseconds. */
  readonly now: () => number
  readonly taskQueue: string
  /** Seconds that an announcement has for the first try before the sweep takes over. */
  readonly firstTryWithin?: number
}

/** The announcing activity has 60 s, and a killed worker is replaced within another 60 s. */
const FIRST_TRY_WITHIN_SECONDS = 120
/** Seconds after the scheduled time of a try: longer than a deployment or a restart of Temporal takes. */
const GRACE_SECONDS = 15 * 60
/** A delivery that proves to have a workflow is checked again after half of its age, others soon (seconds). */
const AGAIN = { least: 60, most: 30 * 60 } as const
/**
 * Maximum number of deliveries in one round. Rounds stay short, and a lost store is refilled by at least a thousand a
 * minute.
 */
export const PER_ROUND = 50

export function createDeliverySweep(deps: DeliverySweepDeps): DeliverySweep {
  return {
    async tick() {
      const overdue = await takeOverdueDeliveries(deps.db, {
        now: new Date(deps.now()).toISOString(),
        firstTryWithin: deps.firstTryWithin ?? FIRST_TRY_WITHIN_SECONDS,
        grace: GRACE_SECONDS,
        again: AGAIN,
        limit: PER_ROUND,
      })
      const started = await Promise.allSettled(overdue.map((delivery) => start(deps, delivery)))
      await markLookedAfter(
        deps.db,
        overdue.filter((_delivery, index) => started[index]?.status === 'fulfilled'),
      )
      const failed = started.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      return started.filter((one) => one.status === 'fulfilled' && one.value).length
    },
  }
}

async function start({ client, taskQueue }: DeliverySweepDeps, delivery: OverdueDelivery): Promise<boolean> {
  const { event_id: eventId, endpoint_id: endpointId, attempts: attemptsDone, schedule_step: step } = delivery
  try {
    await client.workflow.start<typeof webhookDelivery>('webhookDelivery', {
      workflowId: deliveryWorkflowId(eventId, endpointId),
      taskQueue,
      args: [{ eventId, endpointId, attemptsDone, step, last: null }],
      staticSummary: deliverySummary(eventId, endpointId),
      priority: deliveryPriority(delivery.merchant_id),
    })
    return true
  } catch (error) {
    // It has a workflow, which is only behind its schedule.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

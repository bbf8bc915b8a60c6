import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Queryable } from '../db/db.ts'
import { pruneOld } from '../db/retention.ts'
import { type OverdueDelivery, takeOverdueDeliveries } from '../db/webhooks/deliveries.ts'
import { purgeExpiredSecrets } from '../db/webhooks/webhook-endpoints.ts'
import { deliveryWorkflowId } from '../domain/ids.ts'
import { deliverySummary } from '../domain/webhook.ts'
import type { webhookDelivery } from '../workflows/webhook-delivery.ts'

/** Gives every delivery that nobody looks after its workflow: after a lost announcement or a lost Temporal store. */
export type DeliverySweep = {
  /** One round; answers how many workflows it started. */
  tick(): Promise<number>
}

export type DeliverySweepDeps = {
  readonly db: Queryable
  readonly client: Pick<Client, 'workflow'>
  /** Unix milliseconds. */
  readonly now: () => number
  readonly taskQueue: string
  /** Seconds that an announcement has for the first tries before the sweep makes them. */
  readonly firstTryWithin?: number
}

/** The announcing activity has 60 s, and a worker that was killed in it is replaced within another minute. */
const FIRST_TRY_WITHIN_SECONDS = 120
/** Beyond the latest moment of the schedule: longer than a deploy or a restart of Temporal. */
const GRACE_SECONDS = 15 * 60
/** A delivery that was taken and has a workflow after all is looked at again after this long. */
const AGAIN_SECONDS = 60
/** So many at once: a round stays short, and a store that was lost is refilled by a thousand a minute or more. */
const BATCH = 50
/** What is kept no longer is deleted once an hour (milliseconds). Secrets stopped signing when their time was over. */
const PURGE_EVERY_MS = 60 * 60 * 1000

export function createDeliverySweep(deps: DeliverySweepDeps): DeliverySweep {
  let purgeDue = 0
  return {
    async tick() {
      const now = deps.now()
      const at = new Date(now).toISOString()
      if (now >= purgeDue) {
        await purgeExpiredSecrets(deps.db, at)
        await pruneOld(deps.db, at)
        purgeDue = now + PURGE_EVERY_MS
      }
      const overdue = await takeOverdueDeliveries(deps.db, {
        now: at,
        firstTryWithin: deps.firstTryWithin ?? FIRST_TRY_WITHIN_SECONDS,
        grace: GRACE_SECONDS,
        again: AGAIN_SECONDS,
        limit: BATCH,
      })
      const started = await Promise.all(overdue.map((delivery) => start(deps, delivery)))
      return started.filter(Boolean).length
    },
  }
}

async function start({ client, taskQueue }: DeliverySweepDeps, delivery: OverdueDelivery): Promise<boolean> {
  const { event_id: eventId, endpoint_id: endpointId, attempts: attemptsDone, schedule_step: step } = delivery
  try {
    await client.workflow.start<typeof webhookDelivery>('webhookDelivery', {
      workflowId: deliveryWorkflowId(eventId, endpointId),
      taskQueue,
      args: [{ eventId, endpointId, attemptsDone, step }],
      staticSummary: deliverySummary(eventId, endpointId),
    })
    return true
  } catch (error) {
    // It is looked after; it is only slower than the schedule says.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

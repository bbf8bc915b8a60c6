import { Context, cancellationSignal } from '@temporalio/activity'
import { loadDeliveries, parkDeliveries, recordTries } from '../../db/webhooks/deliveries.ts'
import type { LastAnswer } from '../../domain/webhook.ts'
import { notYet } from '../failure.ts'
import { createPlaces } from './places.ts'
import { type DeliveryDeps, lastAnswer, makeTry } from './webhook-try.ts'

export type DeliveryTry = {
  readonly eventId: string
  readonly endpointId: string
  /** The number of this try, from 1. */
  readonly attempt: number
  /** How much of the schedule is used up after it. */
  readonly step: number
}

/** `stopped`: the delivery or its endpoint was deleted or disabled, or its schedule is used up; the row shows which. */
export type DeliveryResult = {
  readonly kind: 'delivered' | 'gone' | 'failed' | 'stopped'
  readonly last: LastAnswer | null
}

export type WebhookDeliveryActivities = {
  /** A response other than 2xx is a value; a retry skips a try that was recorded. */
  deliverWebhook(attempt: DeliveryTry): Promise<DeliveryResult>
}

/**
 * Longer than a healthy receiver takes, and the window doubles each time: thousands can wait for one hanging receiver,
 * and each question costs the same. They vary, so that they do not all return at once.
 */
const BUSY_PAUSE = { least: 5, most: 600 } as const

export function createWebhookDeliveryActivities(deps: DeliveryDeps): WebhookDeliveryActivities {
  const places = createPlaces()
  return {
    async deliverWebhook({ eventId, endpointId, attempt, step }) {
      const [delivery] = await loadDeliveries(deps.db, eventId, endpointId)
      if (delivery?.status === 'delivered') return { kind: 'delivered', last: null }
      if (delivery?.status !== 'pending') return { kind: 'stopped', last: null }
      if (delivery.attempts >= attempt) return { kind: 'failed', last: null }
      if (delivery.endpoint_disabled) {
        await parkDeliveries(deps.db, eventId, [endpointId])
        return { kind: 'stopped', last: null }
      }
      const free = await places.take(delivery)
      if (free === null)
        throw notYet('concurrency limit for this endpoint reached', busyPause(Context.current().info.attempt))
      const planned = { eventId, delivery, number: attempt, step }
      const { record, result } = await makeTry(deps, planned, cancellationSignal()).finally(free)
      const status = (await recordTries(deps.db, [record])).get(endpointId)
      const last = lastAnswer(result)
      if (status === 'delivered') return { kind: 'delivered', last }
      if (record.verdict === 'gone') return { kind: 'gone', last }
      return { kind: status === 'pending' ? 'failed' : 'stopped', last }
    },
  }
}

/** `refusals`: how often it has found no slot, including this time. */
function busyPause(refusals: number): number {
  const { least, most } = BUSY_PAUSE
  const longest = Math.min(least * 2 ** refusals, most)
  return least + Math.floor(Math.random() * (longest - least + 1))
}

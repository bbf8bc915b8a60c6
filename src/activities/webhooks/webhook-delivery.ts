import { Context, cancellationSignal } from '@temporalio/activity'
import { type Delivery, loadDeliveries, parkDeliveries, recordTries } from '../../db/webhooks/deliveries.ts'
import type { LastAnswer } from '../../domain/webhook.ts'
import { createLimiter, type Free } from '../../runtime/limiter.ts'
import { notYet } from '../failure.ts'
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

/** Requests to one receiver: more than ten would only wait there. */
const ENDPOINT = { running: 10, queued: 0 }
/**
 * A tenth of a worker's slots for deliveries. An account can have sixteen endpoints, and a receiver that hangs occupies
 * each slot for 15 s.
 */
const ACCOUNT = { running: 40, queued: 0 }

/**
 * Longer than a healthy receiver takes, and the window doubles each time: thousands can wait for one hanging receiver,
 * and each question costs the same. They vary, so that they do not all return at once.
 */
const BUSY_PAUSE = { least: 5, most: 600 } as const

export function createWebhookDeliveryActivities(deps: DeliveryDeps): WebhookDeliveryActivities {
  const takeSlot = createSlots()
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
      const free = await takeSlot(delivery)
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

/** Creates a function that returns null if the endpoint or its account has no free slot: the server keeps the delivery. */
function createSlots(): (delivery: Delivery) => Promise<Free | null> {
  const [endpoints, accounts] = [createLimiter(ENDPOINT), createLimiter(ACCOUNT)]
  return async ({ endpoint_id, merchant_id }) => {
    const freeEndpoint = await endpoints.take({ key: endpoint_id })
    if (freeEndpoint === null) return null
    const freeAccount = await accounts.take({ key: merchant_id })
    if (freeAccount === null) {
      freeEndpoint()
      return null
    }
    return () => {
      freeAccount()
      freeEndpoint()
    }
  }
}

/** `refusals`: how often it has found no slot, including this time. */
function busyPause(refusals: number): number {
  const { least, most } = BUSY_PAUSE
  const longest = Math.min(least * 2 ** refusals, most)
  return least + Math.floor(Math.random() * (longest - least + 1))
}

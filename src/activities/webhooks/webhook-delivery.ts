import { cancellationSignal } from '@temporalio/activity'
import { loadDeliveries, parkDeliveries, recordTries } from '../../db/webhooks/deliveries.ts'
import type { LastAnswer } from '../../domain/webhook.ts'
import { createSlots } from '../../slots.ts'
import { notYet } from '../failure.ts'
import { type DeliveryDeps, lastAnswer, makeTry } from './webhook-try.ts'

export type DeliveryTry = {
  readonly eventId: string
  readonly endpointId: string
  /** Which try of this delivery, from 1. */
  readonly attempt: number
  /** How much of the schedule is used up after it. */
  readonly step: number
}

/** `stopped`: the delivery or its endpoint is gone, disabled or at the end of its schedule; the row says which. */
export type DeliveryResult = {
  readonly kind: 'delivered' | 'gone' | 'failed' | 'stopped'
  readonly last: LastAnswer | null
}

export type WebhookDeliveryActivities = {
  /** One try, recorded. An answer that is not 2xx is a value; a retry skips a try that was recorded. */
  deliverWebhook(attempt: DeliveryTry): Promise<DeliveryResult>
}

/** Of one endpoint at once; the next ones wait on the server, where they hold no place of a worker. */
const PER_ENDPOINT = { inFlight: 10, waiting: 0, patienceMs: 0 }
/** Longer than a healthy receiver takes, shorter than the patience with one that hangs (seconds). */
const BUSY_PAUSE_SECONDS = 5

export function createWebhookDeliveryActivities(deps: DeliveryDeps): WebhookDeliveryActivities {
  const slots = createSlots(PER_ENDPOINT)
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
      const free = await slots.take(endpointId)
      if (free === null) throw notYet('the endpoint has as many requests in flight as it may', BUSY_PAUSE_SECONDS)
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

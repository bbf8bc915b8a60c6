import { setMaxListeners } from 'node:events'
import { cancellationSignal } from '@temporalio/activity'
import { type Delivery, loadDeliveries, parkDeliveries, recordTries } from '../../db/webhooks/deliveries.ts'
import type { LastAnswer } from '../../domain/webhook.ts'
import { createSlots, type Slots } from '../../runtime/slots.ts'
import { createEventPlaces } from './places.ts'
import { createSlowEndpoints, SLOW_MS, type SlowEndpoints } from './slow-endpoints.ts'
import { type DeliveryDeps, lastAnswer, makeTry, type Tried } from './webhook-try.ts'

/** An endpoint that has not accepted the event yet, with the facts that its delivery workflow needs to continue. */
export type HandOver = { readonly endpointId: string; readonly attemptsDone: number; readonly last: LastAnswer | null }

export type AnnounceActivities = {
  /**
   * Gives each endpoint three seconds, because the payment waits. Endpoints that were tried are skipped; failing, slow
   * or busy ones are handed over untried. So is an event while too many others are sent: payments share this queue, and
   * hanging receivers of some merchants must not occupy all places.
   */
  announce(eventId: string): Promise<{ failed: HandOver[] }>
}

/** The most endpoints of an account; more wait for a free place. */
const AT_ONCE = 16
/** One hanging receiver occupies at most a third of a worker's hundred places. An event waits half a second. */
const PER_ENDPOINT = { inFlight: 10, waiting: 20 }
const PATIENCE_MS = 500

export function createAnnounceActivities(deps: DeliveryDeps): AnnounceActivities {
  const reach = { deps, slots: createSlots(PER_ENDPOINT), slow: createSlowEndpoints(deps.now) }
  const events = createEventPlaces(deps.now)
  return {
    async announce(eventId) {
      const open = (await loadDeliveries(deps.db, eventId)).filter(({ status }) => status === 'pending')
      const disabled = open.filter((delivery) => delivery.endpoint_disabled)
      if (disabled.length > 0)
        await parkDeliveries(
          deps.db,
          eventId,
          disabled.map(({ endpoint_id }) => endpoint_id),
        )

      const enabled = open.filter((delivery) => !delivery.endpoint_disabled)
      const untried = enabled.filter(({ attempts }) => attempts === 0)
      const free = untried.length === 0 ? null : await events.take()
      const tried = free === null ? [] : await tryAll(reach, eventId, untried).finally(free)
      const reached = new Set(tried.map(({ record }) => record.endpointId))
      const handedOver = enabled.filter(({ endpoint_id }) => !reached.has(endpoint_id))
      const statuses = await recordTries(
        deps.db,
        tried.map(({ record }) => record),
      )

      return {
        failed: [
          ...handedOver.map(({ endpoint_id, attempts }) => ({
            endpointId: endpoint_id,
            attemptsDone: attempts,
            last: null,
          })),
          ...tried
            .filter(({ record }) => statuses.get(record.endpointId) === 'pending')
            .map(({ record, result }) => ({
              endpointId: record.endpointId,
              attemptsDone: record.number,
              // A receiver that needs more time than the first try gives is not overloaded.
              last: { ...lastAnswer(result), ...(result.error === 'timeout' && { overloaded: false }) },
            })),
        ],
      }
    },
  }
}

type Reach = { readonly deps: DeliveryDeps; readonly slots: Slots; readonly slow: SlowEndpoints }

/** Leaves out an endpoint that had no free slot. */
async function tryAll(reach: Reach, eventId: string, deliveries: readonly Delivery[]): Promise<Tried[]> {
  const { deps, slots, slow } = reach
  const signal = cancellationSignal()
  // Every try listens on it, and Node warns from eleven listeners on.
  setMaxListeners(2 * AT_ONCE, signal)
  const waiting = deliveries.filter(
    ({ endpoint_failing, endpoint_id }) => !endpoint_failing && !slow.isLeftOut(endpoint_id),
  )
  const tried: Tried[] = []
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const free = await slots.take(next.endpoint_id, AbortSignal.timeout(PATIENCE_MS))
      if (free === null) continue
      const planned = { eventId, delivery: next, number: 1, step: 1, totalMs: SLOW_MS }
      const made = await makeTry(deps, planned, signal).finally(free)
      slow.answered(next.endpoint_id, made.result.error === 'timeout' ? SLOW_MS : made.result.durationMs)
      tried.push(made)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, work))
  return tried
}

import { setMaxListeners } from 'node:events'
import { cancellationSignal } from '@temporalio/activity'
import { type Delivery, loadDeliveries, parkDeliveries, recordTries } from '../../db/webhooks/deliveries.ts'
import type { LastAnswer } from '../../domain/webhook.ts'
import { createLimiter, type Limiter } from '../../runtime/limiter.ts'
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

/**
 * First tries run in the worker's workflow tasks: these stay free for payments, even if receivers hang that are not
 * known to be slow yet. A try ends at SLOW_MS. So all that wait get a slot in half of it, unless half of the tries take
 * longer: then receivers hang.
 */
const EVENTS = { running: 50, queued: 25, waitMs: SLOW_MS / 2 }
/** One hanging receiver occupies at most thirty workflow tasks. */
const ENDPOINT = { running: 10, queued: 20, waitMs: 500 }

export function createAnnounceActivities(deps: DeliveryDeps): AnnounceActivities {
  const reach = { deps, endpoints: createLimiter(ENDPOINT), slow: createSlowEndpoints(deps.now) }
  const events = createLimiter(EVENTS)
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

type Reach = { readonly deps: DeliveryDeps; readonly endpoints: Limiter; readonly slow: SlowEndpoints }

/** Leaves out an endpoint that had no free slot. */
async function tryAll(reach: Reach, eventId: string, deliveries: readonly Delivery[]): Promise<Tried[]> {
  const { deps, endpoints, slow } = reach
  const signal = cancellationSignal()
  // Every try listens on it, and Node warns from eleven listeners on.
  setMaxListeners(0, signal)
  const tried = deliveries.map(async (delivery): Promise<Tried | null> => {
    const { endpoint_id: key, endpoint_failing } = delivery
    if (endpoint_failing || slow.isLeftOut(key)) return null
    const free = await endpoints.take({ key })
    if (free === null) return null
    const planned = { eventId, delivery, number: 1, step: 1, totalMs: SLOW_MS }
    const made = await makeTry(deps, planned, signal).finally(free)
    slow.answered(key, made.result.error === 'timeout' ? SLOW_MS : made.result.durationMs)
    return made
  })
  return (await Promise.all(tried)).filter((made) => made !== null)
}

import { setMaxListeners } from 'node:events'
import { cancellationSignal } from '@temporalio/activity'
import { type Delivery, loadDeliveries, parkDeliveries, recordAttempts } from '../db/deliveries.ts'
import type { LastAnswer } from '../domain/webhook.ts'
import { type Attempted, type DeliveryDeps, lastAnswer, makeAttempt } from './webhook-attempt.ts'

/** An endpoint that has not taken the event yet: what its delivery workflow must know to go on. */
export type HandOver = { readonly endpointId: string; readonly attemptsDone: number; readonly last: LastAnswer | null }

export type AnnounceActivities = {
  /** Makes the first attempt at every subscribed endpoint, all at once. Run again, it skips what was attempted. */
  announce(eventId: string): Promise<{ failed: HandOver[] }>
}

/** As many endpoints as an account may have; more wait for a free place. */
const AT_ONCE = 16

export function createAnnounceActivities(deps: DeliveryDeps): AnnounceActivities {
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
      const tried = enabled.filter(({ attempts }) => attempts > 0)
      const attempted = await attemptAll(deps, eventId, untried)
      const statuses = await recordAttempts(
        deps.db,
        attempted.map(({ record }) => record),
      )

      return {
        failed: [
          ...tried.map(({ endpoint_id, attempts }) => ({
            endpointId: endpoint_id,
            attemptsDone: attempts,
            last: null,
          })),
          ...attempted
            .filter(({ record }) => statuses.get(record.endpointId) === 'pending')
            .map(({ record, result }) => ({
              endpointId: record.endpointId,
              attemptsDone: record.number,
              last: lastAnswer(result),
            })),
        ],
      }
    },
  }
}

async function attemptAll(deps: DeliveryDeps, eventId: string, deliveries: readonly Delivery[]): Promise<Attempted[]> {
  const signal = cancellationSignal()
  // Every attempt listens on it, and Node warns from eleven on.
  setMaxListeners(2 * AT_ONCE, signal)
  const waiting = [...deliveries]
  const attempted: Attempted[] = []
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      attempted.push(await makeAttempt(deps, { eventId, delivery: next, number: 1, step: 1 }, signal))
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, work))
  return attempted
}

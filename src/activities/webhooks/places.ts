import type { Delivery } from '../../db/webhooks/deliveries.ts'
import { createSlots } from '../../runtime/slots.ts'
import { SLOW_MS } from './slow-endpoints.ts'

/** First tries run in the worker's workflow tasks (worker.ts counts them), later ones in four hundred places. */

/** `take` returns a function that frees the place; null: the delivery waits on the server. */
export type Places = {
  readonly take: (delivery: Pick<Delivery, 'endpoint_id' | 'merchant_id'>) => Promise<(() => void) | null>
}

/** Concurrent requests to one receiver: more than ten would only wait there. */
const PER_ENDPOINT = { inFlight: 10, waiting: 0 }
/** An account can have sixteen endpoints. A tenth of the places, since a hanging receiver occupies each for 15 s. */
const PER_ACCOUNT = { inFlight: 40, waiting: 0 }

export function createPlaces(): Places {
  const endpoints = createSlots(PER_ENDPOINT)
  const accounts = createSlots(PER_ACCOUNT)
  return {
    async take({ endpoint_id: endpointId, merchant_id: merchantId }) {
      const leaveEndpoint = await endpoints.take(endpointId)
      const leaveAccount = leaveEndpoint && (await accounts.take(merchantId))
      if (leaveAccount === null) {
        leaveEndpoint?.()
        return null
      }
      return () => {
        leaveAccount()
        leaveEndpoint?.()
      }
    },
  }
}

/** Bounded, so that workflow tasks stay free for payments even if receivers not yet known to be slow hang. */
const OF_EVENTS = { inFlight: 50 }
const PATIENCE_MS = 500
/** Milliseconds after which a try counts as hanging. It ends at SLOW_MS. */
const HANGING_MS = SLOW_MS / 2
/** This many hanging tries mean that receivers hang. Fewer mean a short burst. */
const MOST_HANGING = 25
/** Includes the events that wait, because they occupy workflow tasks, too. */
const WITH_WAITING = { inFlight: 75, waiting: 0 }

/** `take` returns null if hanging receivers occupy the places, or if the most events already wait. */
export function createEventPlaces(now: () => number): { readonly take: () => Promise<(() => void) | null> } {
  const slots = createSlots(OF_EVENTS)
  const all = createSlots(WITH_WAITING)
  const begun = new Set<{ readonly at: number }>()
  const hanging = (): number => [...begun].filter(({ at }) => now() - at >= HANGING_MS).length

  return {
    async take() {
      const leave = await all.take('all')
      if (leave === null) return null
      const takeSoon = () => slots.take('all', AbortSignal.timeout(PATIENCE_MS))
      let given = await takeSoon()
      while (given === null && hanging() < MOST_HANGING) given = await takeSoon()
      if (given === null) {
        leave()
        return null
      }
      const free = given
      const begin = { at: now() }
      begun.add(begin)
      return () => {
        leave()
        begun.delete(begin)
        free()
      }
    },
  }
}

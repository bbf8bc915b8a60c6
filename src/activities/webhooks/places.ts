import type { Delivery } from '../../db/webhooks/deliveries.ts'
import { createSlots } from '../../limits/slots.ts'
import { createSlowEndpoints, SLOW_MS } from './slow-endpoints.ts'

/** Places of a worker, of which it has a hundred for payments, where first tries are made, and a hundred for deliveries. */

/** For deliveries. Who finds none waits on the server, where it holds none. */
export type Places = {
  readonly take: (delivery: Pick<Delivery, 'endpoint_id' | 'merchant_id'>) => Promise<Place | null>
}

type Place = {
  readonly free: () => void
  /** A receiver that answered late is counted among the slow ones from now on. */
  readonly answered: (durationMs: number) => void
}

const PER_ENDPOINT = { inFlight: 10, waiting: 0 }
/** An account may have sixteen endpoints, and make others in place of those that are known to be slow. */
const PER_ACCOUNT = { inFlight: 20, waiting: 0 }
/** Of its endpoints that answer late: the others of the same account keep the rest. */
const SLOW_OF_ACCOUNT = { inFlight: 10, waiting: 0 }
/** Of all that answer late, whichever accounts have them: the others keep half of the places. */
const SLOW = { inFlight: 50, waiting: 0 }

/** `now`: Unix milliseconds. */
export function createPlaces(now: () => number): Places {
  const slow = createSlowEndpoints(now)
  const endpoints = createSlots(PER_ENDPOINT)
  const accounts = createSlots(PER_ACCOUNT)
  const slowOfAccounts = createSlots(SLOW_OF_ACCOUNT)
  const allSlow = createSlots(SLOW)

  return {
    async take({ endpoint_id: id, merchant_id: merchantId }) {
      const held: (() => void)[] = []
      const free = (): void => held.forEach((give) => give())
      const asked = [
        () => endpoints.take(id),
        () => accounts.take(merchantId),
        ...(slow.isLeftOut(id) ? [() => slowOfAccounts.take(merchantId), () => allSlow.take('all')] : []),
      ]
      for (const take of asked) {
        const given = await take()
        if (given === null) {
          free()
          return null
        }
        held.push(given)
      }
      return { free, answered: (durationMs) => slow.answered(id, durationMs) }
    },
  }
}

/**
 * For events that are announced. Payments keep half of their places, also beside receivers of which nobody knows yet that they
 * hang: accounts can make new ones at any time.
 */
const OF_EVENTS = { inFlight: 50 }
const PATIENCE_MS = 500
/** So many that have been at it for long are a sign of receivers that hang; fewer, of a crowd that is soon over. */
const MOST_HANGING = 25
/**
 * With those that wait, which hold places of the worker too: receivers that answer just before they count as hanging could have
 * all of them waited in. Payments keep a quarter even so.
 */
const WITH_WAITING = { inFlight: 75, waiting: 0 }

/**
 * `take`: a place, to be given back by calling what is answered; null where receivers that hang hold the places, or where as
 * many events wait as may.
 */
export function createEventPlaces(now: () => number): { readonly take: () => Promise<(() => void) | null> } {
  const slots = createSlots(OF_EVENTS)
  const all = createSlots(WITH_WAITING)
  const begun = new Set<{ readonly at: number }>()
  const hanging = (): number => [...begun].filter(({ at }) => now() - at >= SLOW_MS).length

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

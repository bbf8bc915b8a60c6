import { createSlots } from '../../runtime/slots.ts'
import type { Converter } from '../converter/converter.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'
import { aroundCalls } from './calls.ts'

/**
 * A call to a hanging partner occupies a workflow task for up to ten seconds, and the payments of all partners share
 * these tasks. A partner that answers in a tenth of a second gets a hundred and twenty calls a second.
 */
const IN_FLIGHT = 12
/** Callbacks arrive in bursts: the next calls wait a moment for a slot, but not so long that they occupy the tasks. */
const WAITING = 200
const PATIENCE_MS = 250

/**
 * Each opening occupies a workflow task for 5 s at most, and then one of the worker's hundred places for activities.
 */
const OPENINGS = 24

/** Concurrent conversions: all payments need them, and the other sixty of a worker's hundred places stay free. */
const CONVERSIONS = 40

export function keepRoom<Name extends string>(partners: Record<Name, PaymentPartner>): Record<Name, PaymentPartner> {
  return aroundCalls(partners, (name) => {
    const within = createRoom(name, IN_FLIGHT)
    const opening = createRoom(name, OPENINGS)
    return (call, ask) => (call.name === 'open' ? opening : within)(call.name, ask)
  })
}

/** Its rates need no limit: they are requested once for all. */
export function keepRoomBeside(converter: Converter): Converter {
  const within = createRoom('converter', CONVERSIONS)
  return {
    rates: (signal) => converter.rates(signal),
    convert: (order, signal) => within('convert', () => converter.convert(order, signal)),
    cancel: (key, signal) => within('cancel', () => converter.cancel(key, signal)),
  }
}

function createRoom(party: string, inFlight: number) {
  const slots = createSlots({ inFlight, waiting: WAITING })
  return async <T>(call: string, ask: () => Promise<T>): Promise<T> => {
    const free = await slots.take(call, AbortSignal.timeout(PATIENCE_MS))
    if (free === null)
      throw new PartnerError('unknown', `${party}: concurrency limit for this partner reached`, { wasAsked: false })
    return ask().finally(free)
  }
}

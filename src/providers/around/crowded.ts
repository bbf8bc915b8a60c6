import { createSlots } from '../../limits/slots.ts'
import type { Converter } from '../converter/converter.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'
import { aroundCalls } from './calls.ts'

/**
 * Calls of one kind to one partner at once. A call to a partner that hangs holds a workflow task for up to ten seconds, and the
 * payments of all partners share these tasks (worker.ts adds them up). A partner that answers in a tenth of a second gets a
 * hundred and twenty calls a second.
 */
const IN_FLIGHT = 12
/** Callbacks come in bursts: the next ones wait a moment for a place, and not so long that they hold the tasks themselves. */
const WAITING = 200
const PATIENCE_MS = 250

/**
 * Orders opened at once: buyers wait for them in front of the screen, and a partner may well take a second. Each holds a workflow
 * task for 5 s at most, and then one of the worker's hundred places for activities.
 */
const OPENINGS = 24

/** Conversions at once: all payments need them, and what is not sold keeps sixty of a worker's hundred places. */
const CONVERSIONS = 40

/** The same partners, of which none is asked by more calls at once than others can spare. */
export function keepRoom<Name extends string>(partners: Record<Name, PaymentPartner>): Record<Name, PaymentPartner> {
  return aroundCalls(partners, (name) => {
    const within = roomOf(name, IN_FLIGHT)
    const opening = roomOf(name, OPENINGS)
    return (call, ask) => (call.name === 'open' ? opening : within)(call.name, ask)
  })
}

/** The same converter. Its rates are asked for once for all. */
export function keepRoomBeside(converter: Converter): Converter {
  const within = roomOf('converter', CONVERSIONS)
  return {
    rates: (signal) => converter.rates(signal),
    convert: (order, signal) => within('convert', () => converter.convert(order, signal)),
    cancel: (key, signal) => within('cancel', () => converter.cancel(key, signal)),
  }
}

/** Makes a call of this kind when there is a place for it. */
function roomOf(party: string, inFlight: number) {
  const slots = createSlots({ inFlight, waiting: WAITING })
  return async <T>(call: string, ask: () => Promise<T>): Promise<T> => {
    const free = await slots.take(call, AbortSignal.timeout(PATIENCE_MS))
    if (free === null)
      throw new PartnerError('unknown', `${party}: concurrency limit for this partner reached`, { wasAsked: false })
    return ask().finally(free)
  }
}

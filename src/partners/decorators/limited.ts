import { createLimiter, type Limits } from '../../runtime/limiter.ts'
import type { Converter } from '../converter/converter.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'
import { aroundCalls } from './calls.ts'

/**
 * For each kind of call to one partner. A call to a hanging partner occupies a workflow task for up to ten seconds, and
 * the payments of all partners share these tasks. A partner that answers in a tenth of a second gets a hundred and
 * twenty calls a second. Callbacks arrive in bursts: the next calls wait a moment for a slot, but not so long that they
 * occupy the tasks.
 */
const CALLS = { running: 12, queued: 200, waitMs: 250 }

/** Each opening occupies a workflow task for 5 s at most, and then one of the worker's places for activities. */
const OPENINGS = { ...CALLS, running: 24 }

/** All payments need conversions, and most of the worker's places for activities stay free. */
const CONVERSIONS = { ...CALLS, running: 40 }

export function limitPartners<Name extends string>(
  partners: Record<Name, PaymentPartner>,
): Record<Name, PaymentPartner> {
  return aroundCalls(partners, (name) => {
    const limitCall = limitCalls(name, CALLS)
    const limitOpening = limitCalls(name, OPENINGS)
    return (call, ask) => (call.name === 'open' ? limitOpening : limitCall)(call.name, ask)
  })
}

/** Leaves `rates` unlimited, because all callers share one request for them. */
export function limitConverter(converter: Converter): Converter {
  const limitCall = limitCalls('converter', CONVERSIONS)
  return {
    rates: (signal) => converter.rates(signal),
    convert: (order, signal) => limitCall('convert', () => converter.convert(order, signal)),
    cancel: (key, signal) => limitCall('cancel', () => converter.cancel(key, signal)),
  }
}

function limitCalls(party: string, limits: Limits) {
  const limiter = createLimiter(limits)
  return async <T>(call: string, ask: () => Promise<T>): Promise<T> => {
    const free = await limiter.take({ key: call })
    if (free === null)
      throw new PartnerError('unknown', `${party}: concurrency limit for this partner reached`, { wasAsked: false })
    return ask().finally(free)
  }
}

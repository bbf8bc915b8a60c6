import { PROVIDER_NAMES, type ProviderName } from '../../domain/methods.ts'
import { createSlots } from '../../slots.ts'
import type { Converter } from '../converter/converter.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'

/**
 * Calls of one kind to one partner at once. A call to a partner that hangs holds a place of the worker for ten seconds, and
 * each reading one of its forty workflow tasks, in which the payments of all partners are told: of three partners that hang
 * at once a few are left. With answers in a tenth of a second it is a hundred and twenty calls a second.
 */
const IN_FLIGHT = 12
/** Callbacks come in bursts: the next ones wait a moment for a place, and not so long that they hold the tasks themselves. */
const WAITING = 200
const PATIENCE_MS = 250

/**
 * Orders opened at once: buyers wait for them in front of the screen, and a partner may well take a second. They hold none of
 * the workflow tasks, and of two partners that hang at once a third of the worker's hundred places are left.
 */
const OPENINGS = 24

/** Conversions at once: all payments need them, and what is not sold keeps sixty of a worker's hundred places. */
const CONVERSIONS = 40

/** The same partners, of which none is asked by more calls at once than others can spare. What one of them cannot do, it still cannot. */
export function keepRoom(partners: Record<ProviderName, PaymentPartner>): Record<ProviderName, PaymentPartner> {
  const entries = PROVIDER_NAMES.map((name) => [name, withRoom(partners[name])])
  return Object.fromEntries(entries) as Record<ProviderName, PaymentPartner>
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

function withRoom(partner: PaymentPartner): PaymentPartner {
  const within = roomOf(partner.name, IN_FLIGHT)
  const opening = roomOf(partner.name, OPENINGS)
  const cancelOrder = partner.cancelOrder?.bind(partner)
  const refundOrder = partner.refundOrder?.bind(partner)
  return {
    ...partner,
    openOrder: (order, signal) => opening('open', () => partner.openOrder(order, signal)),
    readOrder: (order, signal) => within('read', () => partner.readOrder(order, signal)),
    ...(cancelOrder && { cancelOrder: (order, signal) => within('cancel', () => cancelOrder(order, signal)) }),
    ...(refundOrder && { refundOrder: (refund, signal) => within('refund', () => refundOrder(refund, signal)) }),
  }
}

/** Makes a call of this kind when there is a place for it. */
function roomOf(party: string, inFlight: number) {
  const slots = createSlots({ inFlight, waiting: WAITING, patienceMs: PATIENCE_MS })
  return async <T>(call: string, ask: () => Promise<T>): Promise<T> => {
    const free = await slots.take(call)
    if (free === null)
      throw new PartnerError('unknown', `${party}: as many calls as may be are in flight`, { wasAsked: false })
    return ask().finally(free)
  }
}

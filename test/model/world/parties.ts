import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import type { Converter } from '../../../src/partners/converter/converter.ts'
import type { PaymentPartner } from '../../../src/partners/provider.ts'
import { PartnerError } from '../../../src/partners/provider.ts'
import { currentWork, point, type Timeline, virtualSleep, type Work } from '../time/timeline.ts'

/** Faults between the platform and another party, call by call. */
export type Trouble = 'down' | 'answer lost' | 'slow' | 'slow to hear' | 'refuses us'
export type Operation = 'open' | 'read' | 'cancel' | 'refund' | 'convert' | 'rates' | 'announce'
export type Fault = { readonly at: Operation; readonly trouble: Trouble; times: number }

const OPERATIONS: Readonly<Record<string, Operation>> = {
  openOrder: 'open',
  readOrder: 'read',
  cancelOrder: 'cancel',
  refundOrder: 'refund',
  convert: 'convert',
  // Faults of the converter.
  cancel: 'cancel',
  rates: 'rates',
}
/** As long as a call may take, and most of it. */
const LIMIT_MS = 10_000
const SLOW_MS = 8000

/** Sits between the activities and the drivers: each call may fail, be late or be the last that its process makes. */
export function createTroubles(timeline: Timeline) {
  const faults: Fault[] = []
  let offMs = 0

  function take(at: Operation): Trouble | null {
    const fault = faults.find((each) => each.at === at && each.times > 0)
    if (fault === undefined) return null
    fault.times--
    return fault.trouble
  }

  async function call<T>(at: Operation, effect: () => Promise<T>): Promise<T> {
    // All users of rates share one refresh: it can neither wait for the virtual time nor be cut off for one of them.
    if (at === 'rates') {
      if (currentWork() !== undefined && take(at) !== null) throw new PartnerError('unknown', 'rates: no answer')
      return effect()
    }
    const work = currentWork()
    await point()
    work?.called(1)
    try {
      const trouble = work === undefined ? null : take(at)
      if (trouble === 'refuses us') throw new PartnerError('misconfigured', `${at}: 401`)
      if (trouble === 'down') {
        await virtualSleep(timeline, LIMIT_MS)
        throw new PartnerError('unknown', `${at}: no answer`)
      }
      if (trouble === 'slow to hear') await virtualSleep(timeline, SLOW_MS)
      const answer = await effect()
      if (trouble === 'slow') await virtualSleep(timeline, SLOW_MS)
      if (trouble === 'answer lost') {
        await virtualSleep(timeline, LIMIT_MS)
        throw new PartnerError('unknown', `${at}: the answer was lost`)
      }
      await point()
      return answer
    } finally {
      work?.called(-1)
    }
  }

  function wrap<Party extends object>(party: Party): Party {
    const wrapped = Object.entries(party).map(([name, member]: [string, unknown]) => {
      const at = OPERATIONS[name]
      if (at === undefined || typeof member !== 'function') return [name, member]
      return [name, (...args: unknown[]) => call(at, () => Reflect.apply(member, party, args) as Promise<unknown>)]
    })
    return Object.fromEntries(wrapped) as Party
  }

  type Heard = {
    readonly attemptId: string
    readonly status: PartnerOrder['status']
    readonly at: number
    readonly by: Work | undefined
  }
  /** The last response for each order. */
  const heardLast = new Map<string, Heard>()
  let heldWhenAsked = new Set<string>()
  let wasSilent = false

  function listening(partner: PaymentPartner): PaymentPartner {
    const hear = (answer: PartnerOrder | null): PartnerOrder | null => {
      if (answer === null) return null
      const { attemptId, status } = answer
      heardLast.set(attemptId, { attemptId, status, at: timeline.now(), by: currentWork() })
      return answer
    }
    const cancel: PaymentPartner['cancelOrder'] = async (order, signal) => {
      const answer = hear((await partner.cancelOrder?.(order, signal)) ?? null)
      return answer
    }
    return {
      ...partner,
      readOrder: async (order, signal) => hear(await partner.readOrder(order, signal)),
      ...(partner.cancelOrder !== undefined && { cancelOrder: cancel }),
    }
  }

  let conflicts = 0

  return {
    /** By the clock of the activities' processes. */
    now: () => timeline.now() + offMs,
    setClock(seconds: number): void {
      offMs = seconds * 1000
    },
    /** The time of the partner's last report about the attempt; null: never. */
    heardAt: (attemptId: string): number | null => heardLast.get(attemptId)?.at ?? null,
    /** True if an order could not be read or canceled at some time. */
    wasSilent: (): boolean => wasSilent,
    /** Attempts whose last report before the converter was last asked says that their money is withheld. */
    heldWhenAsked: (): ReadonlySet<string> => heldWhenAsked,
    /** How often it was asked for another amount under a key that it knows. */
    conflicts: () => conflicts,
    /** No times: the fault is over. */
    set(fault: Fault): void {
      wasSilent ||= fault.at === 'read' || fault.at === 'cancel'
      if (fault.times > 0) faults.push(fault)
      else for (const each of faults) if (each.at === fault.at) each.times = 0
    },
    clear: () => void faults.splice(0),
    /** A merchant that takes its time, and then accepts everything. */
    merchant:
      <T>(tell: (eventId: string) => Promise<T>) =>
      (eventId: string) =>
        call('announce', () => tell(eventId)),
    partner: (partner: PaymentPartner): PaymentPartner => listening(wrap(partner)),
    converter: (converter: Converter): Converter => {
      const convert: Converter['convert'] = async (order, signal) => {
        const held = [...heardLast.values()].filter(({ status, by }) => status === 'on_hold' && by?.isDead !== true)
        heldWhenAsked = new Set(held.map(({ attemptId }) => attemptId))
        const answer = await converter.convert(order, signal).catch((error: Error) => {
          if (error.message.includes('answered 409')) conflicts++
          throw error
        })
        return answer
      }
      return wrap({ ...converter, convert })
    },
  }
}

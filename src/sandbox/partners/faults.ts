import { z } from 'zod'
import { FAILURE_CODES, type FailureCode } from '../../domain/payment/partner.ts'

/** The faults of a simulated partner. docs/providers.md explains each. */
const FAULTS = [
  'decline',
  'decline_opening',
  'identity_check',
  'delay',
  'hold',
  'underpay',
  'overpay',
  'pay_twice',
  'late_money',
  'callbacks_twice',
  'callbacks_late',
  'callbacks_out_of_order',
  'callbacks_never',
  'forged_callback',
  'foreign_callback',
  'wrong_amount_callback',
  'timeout_before_effect',
  'timeout_after_effect',
  'server_error',
  'throttle',
  'refund_refused',
  'refund_pending',
  'conversion_refused',
  'fill_off_rate',
  'old_rates',
] as const
type FaultName = (typeof FAULTS)[number]

const OPERATIONS = ['open', 'read', 'cancel', 'refund', 'evidence', 'rates', 'convert'] as const
export type Operation = (typeof OPERATIONS)[number]

const decimalText = z.string().regex(/^[1-9]\d{0,14}$/)

export const faultRequestSchema = z.strictObject({
  fault: z.enum(FAULTS),
  /** The order with the fault. Default: every order. */
  attemptId: z.string().min(1).max(100).optional(),
  /** How often the fault occurs. Default: until it is cleared. */
  times: z.int().min(1).max(1_000_000).optional(),
  /** The call that fails. Only for faults of calls. */
  operation: z.enum(OPERATIONS).optional(),
  /** Its duration. For delay, callbacks_late, throttle, refund_pending, old_rates. */
  seconds: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .optional(),
  /** The part of the price that arrives. For underpay, overpay, fill_off_rate. */
  percent: z.int().min(1).max(1000).optional(),
  /** The exact amount that arrives, in minor units or micro-USDC. For underpay, overpay, fill_off_rate. */
  minor: decimalText.optional(),
  failureCode: z.enum(Object.keys(FAILURE_CODES) as [FailureCode, ...FailureCode[]]).optional(),
  /** The kind of timeout: the connection is closed, or no answer arrives. */
  mode: z.enum(['close', 'hang']).optional(),
})

export const faultSchema = faultRequestSchema.extend({ id: z.string(), remaining: z.int().min(0).nullable() })
export type Fault = z.infer<typeof faultSchema>

export type Faults = {
  set(request: z.infer<typeof faultRequestSchema>): Promise<Fault>
  clear(): Promise<void>
  list(): Fault[]
  /** Returns the fault that applies now, counted as used once; null if there is none. */
  take(name: FaultName, attemptId: string, operation?: Operation): Fault | null
}

/** `record` stores the current state of a fault. A fault with nothing remaining has ended. */
export function createFaults(state: ReadonlyMap<string, Fault>, record: (...faults: Fault[]) => Promise<void>): Faults {
  const applies = (fault: Fault, attemptId: string, operation: Operation | undefined): boolean =>
    (fault.attemptId === undefined || fault.attemptId === attemptId) &&
    (fault.operation === undefined || fault.operation === operation)
  let count = 0

  return {
    async set(request) {
      count += 1
      const fault = { ...request, id: `${request.fault}_${Date.now()}_${count}`, remaining: request.times ?? null }
      await record(fault)
      return fault
    },
    async clear() {
      await record(...[...state.values()].map((fault) => ({ ...fault, remaining: 0 })))
    },
    list: () => [...state.values()],
    take(name, attemptId, operation) {
      const fault = [...state.values()].find((each) => each.fault === name && applies(each, attemptId, operation))
      if (fault === undefined) return null
      // Not awaited: the same file records the effect after it.
      if (fault.remaining !== null) record({ ...fault, remaining: fault.remaining - 1 }).catch(() => undefined)
      return fault
    },
  }
}

/** Returns the amount that arrives for a price under the fault: minor units, at least one. */
export function arriving(minor: string, fault: Pick<Fault, 'minor' | 'percent'>, otherwisePercent: number): string {
  if (fault.minor !== undefined) return fault.minor
  const part = (BigInt(minor) * BigInt(fault.percent ?? otherwisePercent)) / 100n
  return (part > 0n ? part : 1n).toString()
}

import { z } from 'zod'
import { type Fault, faultSchema } from './faults.ts'
import { isLive, orderSchema, type SandboxOrder } from './order.ts'

/** A callback to be sent. Its event is fixed at the change; its signature is new each time it is sent. */
const callbackSchema = z.object({
  id: z.string(),
  eventId: z.string(),
  attemptId: z.string(),
  createdAt: z.number(),
  /** Unix milliseconds at which it is sent next. */
  dueAt: z.number(),
  sendings: z.int(),
  /** Signed with a wrong secret, and sent once. */
  forged: z.boolean(),
  /** True if it waits until the order's next callback has arrived. */
  isBehind: z.boolean(),
  event: z.record(z.string(), z.json()),
})
export type Callback = z.infer<typeof callbackSchema>

export const partnerEntrySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('order'), order: orderSchema }),
  z.object({ kind: z.literal('buyer'), buyer: z.string() }),
  z.object({ kind: z.literal('fault'), fault: faultSchema }),
  z.object({ kind: z.literal('callback'), callback: callbackSchema }),
  z.object({
    kind: z.literal('callback_over'),
    id: z.string(),
    outcome: z.enum(['delivered', 'given_up', 'suppressed']),
    /** The last HTTP status; null if there was no answer. */
    status: z.int().nullable(),
  }),
])
export type PartnerEntry = z.infer<typeof partnerEntrySchema>

export type PartnerState = {
  readonly orders: Map<string, SandboxOrder>
  readonly attemptIds: Map<string, string>
  /** Attempt ids of orders that time can still change. */
  readonly live: Set<string>
  /** Buyers who have passed the identity check. */
  readonly buyers: Set<string>
  readonly faults: Map<string, Fault>
  readonly callbacks: Map<string, Callback>
}

export function emptyState(): PartnerState {
  return {
    orders: new Map(),
    attemptIds: new Map(),
    live: new Set(),
    buyers: new Set(),
    faults: new Map(),
    callbacks: new Map(),
  }
}

export function applyEntry(state: PartnerState, entry: PartnerEntry): void {
  switch (entry.kind) {
    case 'order':
      state.orders.set(entry.order.attemptId, entry.order)
      state.attemptIds.set(entry.order.reference, entry.order.attemptId)
      if (isLive(entry.order)) state.live.add(entry.order.attemptId)
      else state.live.delete(entry.order.attemptId)
      return
    case 'buyer':
      state.buyers.add(entry.buyer)
      return
    case 'fault':
      if (entry.fault.remaining === 0) state.faults.delete(entry.fault.id)
      else state.faults.set(entry.fault.id, entry.fault)
      return
    case 'callback':
      state.callbacks.set(entry.callback.id, entry.callback)
      return
    case 'callback_over':
      state.callbacks.delete(entry.id)
      return
  }
}

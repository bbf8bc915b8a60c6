import { z } from 'zod'
import { type Fault, faultSchema } from '../partners/faults.ts'

const transferSchema = z.object({
  id: z.string(),
  clientReference: z.string(),
  currency: z.string(),
  /** As Bridge names it. */
  state: z.string(),
  txHash: z.string().nullable(),
})
export type SandboxTransfer = z.infer<typeof transferSchema>

export const bridgeEntrySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('transfer'), transfer: transferSchema }),
  z.object({
    kind: z.literal('key'),
    key: z.string(),
    /** Unix milliseconds. */
    at: z.number(),
    body: z.string(),
    /** The first answer, which is repeated. */
    answer: z.record(z.string(), z.unknown()),
  }),
  z.object({ kind: z.literal('fault'), fault: faultSchema }),
])
export type BridgeEntry = z.infer<typeof bridgeEntrySchema>

type KnownKey = Omit<Extract<BridgeEntry, { kind: 'key' }>, 'kind' | 'key'>

export type BridgeState = {
  readonly transfers: Map<string, SandboxTransfer>
  readonly keys: Map<string, KnownKey>
  readonly faults: Map<string, Fault>
}

export const emptyBridgeState = (): BridgeState => ({ transfers: new Map(), keys: new Map(), faults: new Map() })

export function applyBridgeEntry(state: BridgeState, entry: BridgeEntry): void {
  switch (entry.kind) {
    case 'transfer':
      state.transfers.set(entry.transfer.id, entry.transfer)
      return
    case 'key':
      state.keys.set(entry.key, entry)
      return
    case 'fault':
      if (entry.fault.remaining === 0) state.faults.delete(entry.fault.id)
      else state.faults.set(entry.fault.id, entry.fault)
      return
  }
}

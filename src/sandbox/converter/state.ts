import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import { type Fault, faultSchema } from '../partners/faults.ts'

const conversionSchema = z.object({
  id: z.string(),
  /** The merchant's idempotency key. */
  key: z.string(),
  minor: z.string(),
  currency: z.enum(CURRENCIES as [Currency, ...Currency[]]),
  rate: z.string(),
  boughtMicroUsdc: z.string(),
  /** Unix milliseconds until which it is pending. */
  filledAt: z.number(),
})
export type SandboxConversion = z.infer<typeof conversionSchema>

/** A signed transaction that delivers several conversions. With its one nonce it can be mined only once. */
const preparedDeliverySchema = z.object({ hash: z.string(), raw: z.string(), nonce: z.int() })
export type PreparedDelivery = z.infer<typeof preparedDeliverySchema>

const batchSchema = z.object({
  id: z.string(),
  microUsdc: z.string(),
  keys: z.array(z.string()),
  delivery: preparedDeliverySchema,
  isFinal: z.boolean(),
})
export type Batch = z.infer<typeof batchSchema>

export const converterEntrySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('conversion'), conversion: conversionSchema }),
  z.object({ kind: z.literal('cancel'), key: z.string() }),
  z.object({ kind: z.literal('batch'), batch: batchSchema }),
  z.object({ kind: z.literal('fault'), fault: faultSchema }),
])
export type ConverterEntry = z.infer<typeof converterEntrySchema>

export type ConverterState = {
  readonly conversions: Map<string, SandboxConversion>
  /** Keys that were canceled before there was a conversion: there will be none. */
  readonly canceled: Set<string>
  readonly undelivered: Set<string>
  readonly batches: Map<string, Batch>
  readonly faults: Map<string, Fault>
}

export function emptyConverterState(): ConverterState {
  return { conversions: new Map(), canceled: new Set(), undelivered: new Set(), batches: new Map(), faults: new Map() }
}

export function applyConverterEntry(state: ConverterState, entry: ConverterEntry): void {
  switch (entry.kind) {
    case 'conversion':
      state.conversions.set(entry.conversion.key, entry.conversion)
      state.undelivered.add(entry.conversion.key)
      return
    case 'cancel':
      state.canceled.add(entry.key)
      return
    case 'batch':
      state.batches.set(entry.batch.id, entry.batch)
      for (const key of entry.batch.keys) state.undelivered.delete(key)
      return
    case 'fault':
      if (entry.fault.remaining === 0) state.faults.delete(entry.fault.id)
      else state.faults.set(entry.fault.id, entry.fault)
      return
  }
}

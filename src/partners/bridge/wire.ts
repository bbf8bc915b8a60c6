import { z } from 'zod'
import type { Currency } from '../../domain/currencies.ts'

/** The part of https://apidocs.bridge.xyz (v0) that the driver uses. */

/** How money of each currency reaches Bridge (https://apidocs.bridge.xyz/docs/payment-routes). */
export const RAILS: Partial<Readonly<Record<Currency, string>>> = {
  EUR: 'sepa',
  GBP: 'faster_payments',
  MXN: 'spei',
  USD: 'wire',
}

const text = z.string().max(500)

export const transferSchema = z.object({
  id: z.string().min(1).max(100),
  client_reference_id: text.nullish(),
  state: z.string().min(1).max(100),
  source_deposit_instructions: z.record(z.string(), z.unknown()).nullish(),
  receipt: z.object({ destination_tx_hash: text.nullish() }).nullish(),
})
export type Transfer = z.infer<typeof transferSchema>

export const transfersSchema = z.object({ data: z.array(transferSchema) })

export const eventSchema = z.object({
  event_id: z.string().min(1).max(200),
  event_category: z.string().max(100),
  event_object_id: z.string().min(1).max(100),
  event_object: z.object({ client_reference_id: text.nullish() }).nullish(),
})

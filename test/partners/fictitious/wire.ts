import { z } from 'zod'

/** The fields that are read of the objects of Kestrel Pay, a company that does not exist. An unknown phase is no answer. */

const id = z.string().min(1).max(100)
const minor = z.string().regex(/^-?\d{1,15}$/)

export const orderSchema = z.object({
  number: id,
  /** The attempt's id. */
  ref: id,
  customer: z.string(),
  phase: z.enum(['waiting', 'requires_identity', 'settling', 'held', 'paid', 'refused', 'left', 'lapsed', 'returned']),
  price: minor,
  currency: z.string(),
  got: minor.nullable(),
  why: z.string().nullable(),
  page: z.url({ protocol: /^https?$/ }),
})
export type Order = z.infer<typeof orderSchema>

export const refundSchema = z.object({ state: z.enum(['done', 'queued', 'refused']), why: z.string().nullable() })

export const errorSchema = z.object({ problem: z.string(), why: z.string().nullish() })

export const eventSchema = z.object({ event: id, order: z.object({ ref: id, customer: z.string() }) })

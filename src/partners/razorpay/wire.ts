import { z } from 'zod'

/** The fields that are read of Razorpay's objects (https://razorpay.com/docs/api). An answer with an unknown state is an error. */

const id = z.string().min(1).max(100)
const paise = z.int().min(0)

/** Notes are an object, or an empty list if there are none. */
export const ATTEMPT = 'attempt'
const notes = z.union([
  z.record(z.string(), z.unknown()),
  z.array(z.unknown()).transform((): Record<string, unknown> => ({})),
])

export const qrSchema = z.object({
  id,
  entity: z.literal('qr_code'),
  status: z.enum(['active', 'closed']),
  payment_amount: paise,
  /** `on_demand`: closed by a call; `paid`; null for every other reason. */
  close_reason: z.string().nullish(),
  /** `upi://pay?…`: an account needs this on-demand feature. */
  image_content: z.string().max(1000).optional(),
  notes,
})
export type QrCode = z.infer<typeof qrSchema>

const paymentSchema = z.object({
  id,
  status: z.enum(['created', 'authorized', 'captured', 'refunded', 'failed']),
  amount: paise,
  amount_refunded: paise,
  currency: z.string(),
  error_code: z.string().nullish(),
  error_reason: z.string().nullish(),
})
export type Payment = z.infer<typeof paymentSchema>

export const refundSchema = z.object({
  id,
  amount: paise,
  status: z.enum(['pending', 'processed', 'failed']),
  /** The key, for a refund that the platform has requested. */
  receipt: z.string().nullish(),
})
export type Refund = z.infer<typeof refundSchema>

export const disputeSchema = z.object({
  id,
  payment_id: id,
  status: z.enum(['open', 'under_review', 'won', 'lost', 'closed']),
  amount: paise.optional(),
  reason_code: z.string().max(100).nullish().catch(null),
  phase: z.string().max(50).nullish().catch(null),
  /** Unix seconds. */
  respond_by: z.int().nullish().catch(null),
  /** Taken from the balance when the dispute is lost. */
  amount_deducted: paise,
  /** Unix seconds. */
  created_at: z.int(),
})
export type Dispute = z.infer<typeof disputeSchema>

/** The most items of one answer. */
export const LIST_LIMIT = 50
const listSchema = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item).max(LIST_LIMIT) })
export const qrListSchema = listSchema(z.object({ id }))
export const paymentListSchema = listSchema(paymentSchema)
export const refundListSchema = listSchema(refundSchema)
export const disputeListSchema = listSchema(disputeSchema)

export const errorSchema = z.object({ error: z.object({ code: z.string(), description: z.string() }) })

const entity = <T extends z.ZodRawShape>(shape: T) =>
  z
    .object({ entity: z.object(shape) })
    .optional()
    .catch(undefined)

/** An event about any object: what it names of an order. */
export const eventSchema = z.object({
  entity: z.literal('event'),
  event: z.string(),
  payload: z.object({
    qr_code: entity({ notes }),
    payment: entity({ id, notes: notes.optional().catch({}) }),
    refund: entity({ payment_id: id }),
    dispute: entity({ id }),
  }),
})

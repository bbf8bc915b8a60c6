import { z } from 'zod'
import { fromRupees } from './amount.ts'

/**
 * The fields that are read of the objects of Cashfree's Payment Gateway
 * (https://www.cashfree.com/docs/api-reference/payments/latest), in the version that `CASHFREE_VERSION` names. An
 * answer with an unknown state is an error.
 */

export const CASHFREE_VERSION = '2025-01-01'

/** Cashfree writes its own ids as numbers in some objects, and as text in others. */
const id = z.union([z.string().min(1).max(100), z.int()]).transform(String)

/** Written to ISO 8601 in UTC; null: it is absent or of another form. */
const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .nullish()
  .catch(null)

/** Paise, which Cashfree writes as rupees. */
const rupees = z.number().transform((value, context): bigint => {
  const paise = fromRupees(value)
  if (paise !== null) return paise
  context.addIssue('must be rupees with at most two decimals')
  return z.NEVER
})

export const orderSchema = z.object({
  cf_order_id: id,
  /** The attempt's id. */
  order_id: z.string(),
  order_amount: rupees,
  order_currency: z.string(),
  order_status: z.enum(['ACTIVE', 'PAID', 'EXPIRED', 'TERMINATED', 'TERMINATION_REQUESTED']),
  payment_session_id: z.string().min(1).max(1000),
})
export type Order = z.infer<typeof orderSchema>

/** `default` is the link that the buyer's UPI app opens. */
export const sessionSchema = z.object({
  data: z.object({ payload: z.object({ default: z.string().max(1000) }) }),
})

const paymentSchema = z.object({
  cf_payment_id: id,
  payment_status: z.enum([
    'SUCCESS',
    'NOT_ATTEMPTED',
    'FAILED',
    'USER_DROPPED',
    'VOID',
    'CANCELLED',
    'PENDING',
    'FLAGGED',
  ]),
  payment_amount: rupees,
  payment_currency: z.string(),
  error_details: z
    .object({ error_reason: z.string().nullish(), error_source: z.string().nullish() })
    .nullish()
    .catch(null),
})
export type Payment = z.infer<typeof paymentSchema>

export const refundSchema = z.object({
  /** The key, for a refund that the platform has requested. */
  refund_id: z.string(),
  refund_amount: rupees,
  refund_status: z.enum(['PENDING', 'SUCCESS', 'CANCELLED', 'ONHOLD', 'FAILED']),
  status_description: z.string().nullish(),
})
export type Refund = z.infer<typeof refundSchema>

const DISPUTE_STATES = [
  'CREATED',
  'DOCS_RECEIVED',
  'UNDER_REVIEW',
  'MERCHANT_WON',
  'MERCHANT_LOST',
  'MERCHANT_ACCEPTED',
  'INSUFFICIENT_EVIDENCE',
] as const

const disputeSchema = z.object({
  dispute_id: id.optional(),
  reason_code: z.string().max(50).nullish().catch(null),
  reason_description: z.string().max(200).nullish().catch(null),
  created_at: time,
  respond_by: time,
  dispute_type: z.enum(['RETRIEVAL', 'DISPUTE', 'CHARGEBACK', 'PRE_ARBITRATION', 'ARBITRATION']),
  /** Begins with the type. */
  dispute_status: z
    .string()
    .transform((status) => DISPUTE_STATES.find((state) => status.endsWith(`_${state}`)))
    .pipe(z.enum(DISPUTE_STATES)),
  dispute_amount: rupees,
  order_details: z.object({ cf_payment_id: id }),
})
export type Dispute = z.infer<typeof disputeSchema>

export const paymentListSchema = z.array(paymentSchema)
export const refundListSchema = z.array(refundSchema)
export const disputeListSchema = z.array(disputeSchema)

export const errorSchema = z.object({ code: z.string(), type: z.string() })

const named = z
  .object({ order_id: z.string().min(1).max(100) })
  .optional()
  .catch(undefined)

/** An event about any object: where it names its order. */
export const eventSchema = z.object({
  type: z.string(),
  data: z.object({ order: named, refund: named, order_details: named }),
})

import { z } from 'zod'

/**
 * The fields that are read of Stripe's objects (https://docs.stripe.com/api), in the version that `STRIPE_VERSION`
 * names. An answer with an unknown state is an error.
 */

/** The newest version that stripe-mock 0.203.0 knows. From 2026-09-30 a session takes no `payment_method_types`. */
export const STRIPE_VERSION = '2026-08-26.dahlia'

const id = z.string().min(1).max(255)
const minor = z.int().min(0)

/** Expanded in each answer about a session, so that one call reads the whole order. */
export const EXPANDED = ['payment_intent.latest_charge', 'payment_intent.review'] as const

const chargeSchema = z.object({
  id,
  amount_captured: minor,
  /** Includes refunds that are pending. */
  amount_refunded: minor,
  disputed: z.boolean(),
})

const paymentIntentSchema = z.object({
  id,
  status: z.enum([
    'requires_payment_method',
    'requires_confirmation',
    'requires_action',
    'requires_capture',
    'processing',
    'succeeded',
    'canceled',
  ]),
  latest_charge: chargeSchema.nullable(),
  last_payment_error: z
    .object({ type: z.string(), code: z.string().optional(), decline_code: z.string().optional() })
    .nullable(),
  /** A review by Stripe Radar. While it is open, a person must decide. */
  review: z.object({ open: z.boolean() }).nullable(),
})

export const sessionSchema = z.object({
  object: z.literal('checkout.session'),
  id,
  client_reference_id: z.string().nullable(),
  status: z.enum(['open', 'complete', 'expired']),
  payment_status: z.enum(['paid', 'unpaid']),
  amount_total: minor,
  currency: z.string(),
  /** Unix seconds. */
  expires_at: z.int(),
  /** Null once the session is over. */
  url: z.url({ protocol: /^https?$/ }).nullable(),
  payment_intent: paymentIntentSchema.nullable(),
})
export type Session = z.infer<typeof sessionSchema>

/** No more than this many are read of a payment's refunds and disputes. */
export const LIST_LIMIT = 50

const refundSchema = z.object({
  id,
  amount: minor,
  status: z.enum(['pending', 'requires_action', 'succeeded', 'failed', 'canceled']),
  failure_reason: z.string().optional(),
  metadata: z.record(z.string(), z.string()).nullable(),
})
export type Refund = z.infer<typeof refundSchema>

const disputeSchema = z.object({
  id,
  amount: minor,
  currency: z.string().optional(),
  /** Unix seconds. */
  created: z.int().optional(),
  reason: z.string().max(200).optional(),
  payment_method_details: z
    .object({ card: z.object({ network_reason_code: z.string().max(50).nullish() }).nullish() })
    .nullish()
    .catch(null),
  evidence_details: z
    .object({ due_by: z.int().nullish(), past_due: z.boolean().optional(), submission_count: z.int().optional() })
    .optional()
    .catch(undefined),
  metadata: z.record(z.string(), z.string()).nullish().catch(null),
  /** The amount and the fee that Stripe has taken for it, or given back. */
  balance_transactions: z
    .array(z.object({ fee: z.int(), currency: z.string() }))
    .optional()
    .catch(undefined),
  payment_intent: id.nullable(),
  status: z.enum([
    'warning_needs_response',
    'warning_under_review',
    'warning_closed',
    'needs_response',
    'under_review',
    'won',
    'lost',
    'prevented',
  ]),
})
export type Dispute = z.infer<typeof disputeSchema>

export const refundListSchema = z.object({ data: z.array(refundSchema), has_more: z.literal(false) })
/** A dispute as the answer to evidence has it. */
export const disputeAnswerSchema = z.object({ object: z.literal('dispute'), ...disputeSchema.shape })

export const fileSchema = z.object({ object: z.literal('file'), id, purpose: z.literal('dispute_evidence') })

export const disputeListSchema = z.object({ data: z.array(disputeSchema), has_more: z.literal(false) })

/** A dispute contains the evidence about it, so that fewer of them fit in an answer. */
export const DISPUTE_PAGE = 20

export const disputePageSchema = z.object({ data: z.array(disputeSchema), has_more: z.boolean() })

export const accountSchema = z.object({ object: z.literal('account'), id })

export const errorSchema = z.object({
  error: z.object({
    type: z.string(),
    code: z.string().optional(),
    decline_code: z.string().optional(),
    param: z.string().optional(),
  }),
})
export type StripeError = z.infer<typeof errorSchema>['error']

/** A payment names its attempt in the metadata that its session gave it; Stripe copies them to the charge. */
export const ATTEMPT = 'attempt'

const named = z.string().min(1).max(255)

/** An event about any object: what it names of an order. Other objects have none of these fields. */
export const eventSchema = z.object({
  object: z.literal('event'),
  id: named,
  data: z.object({
    object: z.object({
      object: z.string(),
      client_reference_id: named.nullish().catch(null),
      metadata: z
        .object({ [ATTEMPT]: named })
        .nullish()
        .catch(null),
      payment_intent: named.nullish().catch(null),
      charge: named.nullish().catch(null),
    }),
  }),
})

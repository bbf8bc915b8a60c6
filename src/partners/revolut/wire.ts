import { z } from 'zod'

/**
 * The fields that are read of the objects of Revolut's Merchant API (https://developer.revolut.com/docs/api/merchant),
 * in the version that `REVOLUT_API_VERSION` names. An unknown state is no answer.
 */

export const REVOLUT_API_VERSION = '2026-04-20'

const id = z.string().min(1).max(100)
const minor = z.int().min(0)

const paymentSchema = z.object({
  id,
  state: z.string(),
  decline_reason: z.string().optional(),
})

const ORDER_STATES = ['pending', 'processing', 'authorised', 'completed', 'cancelled', 'failed'] as const

export const orderSchema = z.object({
  id,
  type: z.literal('payment'),
  state: z.enum(ORDER_STATES),
  amount: minor,
  refunded_amount: minor.optional(),
  currency: z.string(),
  payments: z.array(paymentSchema).optional(),
  merchant_order_data: z.object({ reference: z.string() }),
  checkout_url: z.url({ protocol: /^https?$/ }).optional(),
})
export type RevolutOrder = z.infer<typeof orderSchema>

/** A refund is a separate order, whose reference is the key. */
export const refundSchema = z.object({
  id,
  type: z.literal('refund'),
  state: z.enum(ORDER_STATES),
  merchant_order_data: z.object({ reference: z.string() }),
})
export type RevolutRefund = z.infer<typeof refundSchema>

/** Orders of any kind, without their references. */
export const listSchema = z.object({ orders: z.array(z.object({ id })) })

export const disputeSchema = z.object({
  id,
  state: z.enum(['needs_response', 'under_review', 'won', 'lost']),
  reason_code: z.string().max(100).nullish().catch(null),
  reason_description: z.string().max(200).nullish().catch(null),
  created_at: z.iso.datetime({ offset: true }).nullish().catch(null),
  response_due_date: z.iso.datetime({ offset: true }).nullish().catch(null),
  amount: minor,
  currency: z.string(),
  payment: z.object({ id }),
})
export type Dispute = z.infer<typeof disputeSchema>

/** The most items of one answer. */
export const LIST_LIMIT = 50

export const disputeListSchema = z.array(disputeSchema).max(LIST_LIMIT)

export const errorSchema = z.object({ code: z.union([z.string(), z.int()]).transform(String) })

/**
 * Events about orders name the reference, which is the attempt's id, or begins with it for a refund. Those about
 * disputes name the dispute alone.
 */
export const eventSchema = z.object({
  event: z.string(),
  dispute_id: id.optional(),
  merchant_order_ext_ref: z.string().min(1).max(255).optional(),
})

import type { MicroUsdc, Money } from '../money.ts'
import type { DisputeAnswer } from './evidence.ts'

/**
 * A dispute: a buyer asked the bank for the money of a payment. A row for each dispute of a partner, which shows what the
 * partner last reported. It decides nothing about money: that follows from the readings of the order.
 */

/** `inquiry`: the bank only asks, and takes no money yet. */
export const DISPUTE_KINDS = ['inquiry', 'chargeback'] as const
export type DisputeKind = (typeof DISPUTE_KINDS)[number]

/** Each status with what it means for the merchant. */
export const DISPUTE_STATUSES = {
  needs_response: 'The bank waits for your evidence.',
  under_review: 'The bank looks at the evidence.',
  won: 'The bank decided for you. The money is back.',
  lost: 'The bank decided for the buyer, or you accepted the dispute.',
  closed: 'It ended without a decision about money: an inquiry, or a dispute that a refund has prevented.',
} as const
export type DisputeStatus = keyof typeof DISPUTE_STATUSES

const ENDS: readonly DisputeStatus[] = ['won', 'lost', 'closed']

export const isDisputeOver = (status: DisputeStatus): boolean => ENDS.includes(status)

/** Why the buyer disputes the payment; the partner's own words are stored with it. */
export const DISPUTE_REASONS = {
  fraudulent: 'The buyer says that somebody else paid.',
  unrecognized: 'The buyer does not recognize the payment.',
  duplicate: 'The buyer says that it was charged twice.',
  product_not_received: 'The buyer says that nothing was delivered.',
  product_unacceptable: 'The buyer says that what was delivered is damaged, or not as described.',
  credit_not_processed: 'The buyer says that a promised refund did not arrive.',
  subscription_canceled: 'The buyer says that the subscription was canceled before.',
  other: 'The partner gives another reason.',
} as const
export type DisputeReason = keyof typeof DISPUTE_REASONS

/** A partner's report of a dispute of an order. Times are ISO 8601. */
export type ReportedDispute = {
  /** The partner's id. */
  readonly id: string
  readonly kind: DisputeKind
  readonly status: DisputeStatus
  readonly reason: DisputeReason
  /** The partner's own words or code; null: it gives none. */
  readonly reasonText: string | null
  readonly amount: Money
  /** Minor units of the amount's currency that the partner has taken for it and not given back. */
  readonly takenMinor: string
  /** The partner's charge for it; null: it does not say. */
  readonly fee: Money | null
  readonly openedAt: string | null
  /** Until when evidence can be submitted; null: the partner names no time, or takes no more. */
  readonly evidenceDueAt: string | null
  readonly isEvidenceSubmitted: boolean
  /** `api`: the driver can submit evidence. `partner`: only the platform can, in the partner's own dashboard. */
  readonly answeredAt: 'api' | 'partner'
}

/** Times are ISO 8601 UTC with milliseconds. */
export type Dispute = Omit<ReportedDispute, 'id' | 'isEvidenceSubmitted'> & {
  readonly id: string
  /** The partner's id. */
  readonly partnerDispute: string
  readonly paymentId: string
  readonly attemptId: string
  readonly merchantId: string
  readonly livemode: boolean
  /** The name of the method whose partner reports it, such as `card_partner`. */
  readonly provider: string
  /** Taken by it after the payout, at the locked rate: first of the reserve of the payment. */
  readonly fromReserveMicro: MicroUsdc
  readonly fromPlatformMicro: MicroUsdc
  readonly evidenceSubmittedAt: string | null
  /** When the bank began to ask: an inquiry that becomes a chargeback asks again. */
  readonly askedAt: string
  /** Null: the merchant has not answered. */
  readonly answer: DisputeAnswer | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly closedAt: string | null
  readonly version: number
}

/** Days before the deadline at which the merchant is reminded of missing evidence. */
export const REMINDER_DAYS = 3

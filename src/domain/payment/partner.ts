import type { ReportedDispute } from '../dispute/dispute.ts'
import type { ProviderName } from '../methods.ts'
import type { Money } from '../money.ts'

/** The states of an order in the platform's words; each driver maps its partner's states to these. */
export const ORDER_STATUSES = [
  'open',
  'verification_required',
  'confirming',
  'on_hold',
  'paid',
  'declined',
  'canceled',
  'expired',
  'refunded',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** Why an attempt failed: a closed list, with a sentence for people. */
export const FAILURE_CODES = {
  declined: 'The payment was declined by the bank or wallet.',
  insufficient_funds: 'The account did not have enough money.',
  verification_failed: 'The identity check was not passed.',
  abandoned: 'The payment was not finished.',
  reversed: 'The partner reversed the payment.',
  partner_unavailable: 'The payment partner could not open the payment.',
} as const
export type FailureCode = keyof typeof FAILURE_CODES

export type PartnerOrder = {
  /** The attempt's id: the key that the partner received, and repeats. */
  readonly attemptId: string
  /** The partner's id of the order; empty if the partner has no such order. */
  readonly reference: string
  /** The platform's account at the partner, as the order names it. */
  readonly account: string
  /** `wrong_asset`: another token arrived than the requested one; only if the buyer pays in tokens. */
  readonly status: OrderStatus | 'wrong_asset'
  readonly amount: Money
  /** All receipts together; null before any money. Less than zero if a dispute took more than had arrived. */
  readonly received: Money | null
  readonly failureCode: FailureCode | null
  /** The partner's ids of payments for the order, if its callbacks can name them instead of the order. */
  readonly payments?: readonly string[]
  /** The disputes about it. Absent: the partner reports a reversal and no disputes. */
  readonly disputes?: readonly ReportedDispute[]
  /** Only for USDC at an address of the platform: the sum that the chain proves, at the rate that was shown. */
  readonly usdc?: UsdcOrder
}

export type UsdcReceipt = { readonly key: string; readonly micro: string }

export type UsdcOrder = {
  readonly receipts: readonly UsdcReceipt[]
  /** The requested USDC, which is exactly the price. */
  readonly askedMicro: string
  /** USDC for one major unit, locked when the address was shown. */
  readonly rate: { readonly rate: string; readonly source: string; readonly asOf: string }
}

/** A dispute's event has its evidence, which for Stripe is up to 150,000 characters. */
export const MAX_CALLBACK_BYTES = 1024 * 1024

/** The signature covers the raw bytes. */
export type RawCallback = {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  /** When it arrived, in Unix seconds. */
  readonly receivedAt: number
}

/** The attempt of a callback, or a payment for its order, by the partner's id of that payment. */
export type CallbackSubject = { readonly attemptId: string } | { readonly payment: string }

/** A dispute about a payment at the partner: both are the partner's ids. */
export type PartnerDispute = {
  readonly id: string
  readonly payment: string
  /** Differs from before if the dispute has changed in anything that a reading of the order shows. */
  readonly state: string
}

/**
 * The order that an authentic callback names is read again. The callback's amounts and states are not trusted.
 * `order`: about the order of `subject`. `dispute`: about a dispute that a list of the partner's disputes finds. `foreign`: authentic, but not about an order
 * of the platform.
 */
export type CallbackReading =
  | { readonly kind: 'order'; readonly eventId: string; readonly subject: CallbackSubject }
  | { readonly kind: 'dispute' | 'foreign' }
  | { readonly kind: 'refused'; readonly reason: 'signature' | 'timestamp' | 'format' }

export type ReadCallback = (provider: ProviderName, callback: RawCallback) => CallbackReading

/** Seconds from its opening after which a partner lets an order expire: at least, and at most. */
export type Lifetime = { readonly least: number; readonly most: number }

/**
 * Returns the expiry of an order (Unix seconds) that is nearest to its payment's and that the partner accepts. An order
 * that outlives its payment is canceled with it; one that ends before is followed by another attempt.
 */
export function fitExpiry(expiresAt: number, lifetime: Lifetime | undefined, now: number): number {
  if (lifetime === undefined) return expiresAt
  return Math.min(Math.max(expiresAt, now + lifetime.least), now + lifetime.most)
}

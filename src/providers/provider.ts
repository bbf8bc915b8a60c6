import type { MethodName, ProviderUsed } from '../domain/methods.ts'
import type { Money } from '../domain/money.ts'
import type { CallbackReading, FailureCode, PartnerOrder, RawCallback } from '../domain/payment/partner.ts'

/** What a partner needs to open an order for one attempt. */
export type OpenOrder = {
  /** The idempotency key: a second call with the same id returns the same order. */
  readonly attemptId: string
  readonly amount: Money
  readonly method: MethodName
  /** Shown on the partner's page; at most 200 characters are sent. */
  readonly description: string
  /** Where the partner sends the buyer back to. That the buyer comes back proves no payment. */
  readonly returnUrl: string
  /** Unix seconds after which the partner must not take money for this order. */
  readonly expiresAt: number
}

export type OpenedOrder =
  | {
      readonly kind: 'opened'
      readonly reference: string
      /** The partner's page, on which the buyer pays. */
      readonly redirectUrl: string
      /** `upi://pay?…`: the intent link that the checkout shows as a QR code and opens on phones; null elsewhere. */
      readonly intentUri: string | null
    }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }

/** Orders are looked up by our attempt id, so that an order can be read even if its opening was never answered. */
export type OrderRef = { readonly attemptId: string }

/**
 * One payment partner's method. What a partner cannot do is an absent function, not a flag. Every call takes an
 * AbortSignal. A call that was cut off has an unknown outcome: it throws PartnerError `unknown`.
 */
export type PaymentPartner = {
  readonly name: ProviderUsed
  openOrder(order: OpenOrder, signal: AbortSignal): Promise<OpenedOrder>
  /** The order as it is now; null when the partner has none for the attempt. */
  readOrder(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Asks the partner to take no more money for the order. Returns the order afterwards; it may have been paid. */
  cancelOrder?(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Gives the whole received amount back. Idempotent: repeated with the same key, it returns the same refund. */
  refundOrder?(refund: OrderRef & { readonly key: string }, signal: AbortSignal): Promise<RefundResult>
  /** Checks signature and time window (300 s both ways) and reads the callback. Never throws for bad input. */
  readCallback(callback: RawCallback): CallbackReading
}

export type RefundResult =
  | { readonly kind: 'refunded' | 'pending' }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * A failed call to a partner. `unknown`: no answer, so it may or may not have had its effect. `throttled`: the partner
 * asks us to come back later. `misconfigured`: it refuses our account or signature, so an operator must look.
 * `isWhole`: it is about the partner and not about one order, as no answer at all, an error of its server, or a refusal
 * of our account. `wasAsked`: false where the call was not made, so that nothing is known of the partner.
 */
export class PartnerError extends Error {
  override readonly name = 'PartnerError'
  readonly kind: 'unknown' | 'throttled' | 'misconfigured'
  readonly retryAfterSeconds: number | null
  readonly isWhole: boolean
  readonly wasAsked: boolean
  constructor(
    kind: PartnerError['kind'],
    message: string,
    {
      retryAfterSeconds = null,
      isWhole = false,
      wasAsked = true,
    }: { retryAfterSeconds?: number | null; isWhole?: boolean; wasAsked?: boolean } = {},
  ) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = retryAfterSeconds
    this.isWhole = isWhole
    this.wasAsked = wasAsked
  }
}

/** Settings of a provider: the partner's URL, our account there, and the shared secret. */
export type PartnerSettings = { readonly url: string; readonly account: string; readonly secret: string }

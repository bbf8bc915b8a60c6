import type { MethodName, ProviderUsed } from '../domain/methods.ts'
import type { Money } from '../domain/money.ts'
import type { CallbackReading, FailureCode, PartnerOrder, RawCallback } from '../domain/payment/partner.ts'

export type OpenOrder = {
  /** The idempotency key: a second call with the same id returns the same order. */
  readonly attemptId: string
  readonly amount: Money
  readonly method: MethodName
  /** Shown on the partner's page; at most 200 characters are sent. */
  readonly description: string
  /** The page to which the partner sends the buyer back. The buyer's return proves no payment. */
  readonly returnUrl: string
  /** Unix seconds after which the partner must not accept money for this order. */
  readonly expiresAt: number
}

export type OpenedOrder =
  | {
      readonly kind: 'opened'
      readonly reference: string
      readonly redirectUrl: string
      /** `upi://pay?…`: shown as a QR code and opened on phones; null for other methods. */
      readonly intentUri: string | null
    }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }

/** Orders are read by the attempt's id, so that an order can be read even if its opening was never answered. */
export type OrderRef = { readonly attemptId: string }

/** A missing function: the partner cannot do it. An aborted call has an unknown outcome: PartnerError `unknown`. */
export type PaymentPartner = {
  readonly name: ProviderUsed
  openOrder(order: OpenOrder, signal: AbortSignal): Promise<OpenedOrder>
  /** Reads the order as it is now; null if the partner has none for the attempt. */
  readOrder(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Asks the partner to accept no more money for the order. Returns the order afterwards; it might have been paid. */
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
 * `unknown`: it might have had its effect. `throttled`: call later. `misconfigured`: the partner refuses the platform's
 * account, so an operator must act. `isWhole`: the failure is about the partner and not about one order. `wasAsked`:
 * false if the call was not made, so that it proves nothing.
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

export type PartnerSettings = { readonly url: string; readonly account: string; readonly secret: string }

import type { MethodName, ProviderUsed } from '../domain/methods.ts'
import type { MicroUsdc, Money } from '../domain/money.ts'
import type { CallbackReading, FailureCode, PartnerOrder, RawCallback } from '../domain/payment/partner.ts'
import type { Rate } from './converter/converter.ts'

/** What a partner needs to open an order for one attempt. */
export type OpenOrder = {
  /** The idempotency key: a second call with the same id answers with the same order. */
  readonly attemptId: string
  readonly amount: Money
  readonly method: MethodName
  /** Shown on the partner's page; at most 200 characters are sent. */
  readonly description: string
  /** Where the partner sends the buyer back to; the return proves nothing. */
  readonly returnUrl: string
  /** Unix seconds after which the partner must not take money for this order. */
  readonly expiresAt: number
}

export type OpenedOrder =
  | {
      readonly kind: 'opened'
      readonly reference: string
      /** Where the buyer goes next. */
      readonly redirectUrl: string
      /** `upi://pay?…`: the intent link that the checkout shows as a QR code and opens on phones; null elsewhere. */
      readonly intentUri: string | null
    }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }

/** An order is found by our attempt id, so that an order whose opening was never answered can be read too. */
export type OrderRef = { readonly attemptId: string }

/**
 * One payment partner. Abilities that a partner does not have are absent methods, not flags. Every call takes an
 * AbortSignal; a call that was cut off has an unknown outcome and is thrown as PartnerError `unknown`.
 */
export type PaymentPartner = {
  readonly name: ProviderUsed
  openOrder(order: OpenOrder, signal: AbortSignal): Promise<OpenedOrder>
  /** The order as it is now; null when the partner has never heard of the attempt. */
  readOrder(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Asks the partner to take no money for the order any more. The answer is the order afterwards, whatever it is. */
  cancelOrder?(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Gives the whole received amount back. Repeated with the same key it answers the same refund. */
  refundOrder?(refund: OrderRef & { readonly key: string }, signal: AbortSignal): Promise<RefundResult>
  /**
   * Only where the buyer pays in USDC: what has come, and the rate that was locked when the order was opened. Such money is
   * not converted. Null when there is no such order.
   */
  readUsdc?(
    order: OrderRef,
    signal: AbortSignal,
  ): Promise<{ readonly rate: Rate; readonly micro: MicroUsdc; readonly address: string } | null>
  /** Checks signature and time window (300 s both ways) and reads the callback. Never throws for bad input. */
  readCallback(callback: RawCallback): CallbackReading
}

export type RefundResult =
  | { readonly kind: 'refunded' | 'pending' }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Trouble with a partner. `unknown`: no answer, so the effect may or may not have happened. `throttled`: the partner
 * asks to come back later. `misconfigured`: it refuses our account or signature; retried slowly, an operator must look.
 */
export class PartnerError extends Error {
  override readonly name = 'PartnerError'
  readonly kind: 'unknown' | 'throttled' | 'misconfigured'
  readonly retryAfterSeconds: number | null
  constructor(kind: PartnerError['kind'], message: string, retryAfterSeconds: number | null = null) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** What an adapter is made of: where the partner is, who we are there, and the shared secret. */
export type PartnerSettings = { readonly url: string; readonly account: string; readonly secret: string }

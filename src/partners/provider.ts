import type { AnswerKind } from '../domain/dispute/evidence.ts'
import type { MethodName, ProviderName, ProviderUsed } from '../domain/methods.ts'
import type { Money } from '../domain/money.ts'
import type { CallbackAccount, PartnerSettings } from '../domain/partner/drivers.ts'
import type {
  CallbackReading,
  FailureCode,
  Lifetime,
  PartnerDispute,
  PartnerOrder,
  RawCallback,
} from '../domain/payment/partner.ts'

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

export type OrderRef = {
  readonly attemptId: string
  /** The partner's id of the order; null if no opening was answered. */
  readonly reference: string | null
  /** The partner's ids of disputes that `listDisputes` has found for the order. */
  readonly disputes?: readonly string[]
}

export type RefundRef = OrderRef & { readonly key: string }

/** `amount` is in the currency of the order; null: all that the partner has of it. */
export type RefundOrder = RefundRef & { readonly amount: Money | null }

/** A missing function: the partner cannot do it. An aborted call has an unknown outcome: PartnerError `unknown`. */
export type PaymentPartner = {
  readonly name: ProviderUsed
  /** Absent: the partner accepts any expiry. */
  readonly lifetime?: Lifetime
  openOrder(order: OpenOrder, signal: AbortSignal): Promise<OpenedOrder>
  /**
   * Reads the order as it is now; null if the partner has none for the attempt. A partner that finds its orders only by
   * its own reference has none without it: no buyer has the page of that order.
   */
  readOrder(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Asks the partner to accept no more money for the order. Returns the order afterwards; it might have been paid. */
  cancelOrder?(order: OrderRef, signal: AbortSignal): Promise<PartnerOrder | null>
  /** Gives received money back. Idempotent: repeated with the same key, it returns the same refund as it is then. */
  refundOrder?(refund: RefundOrder, signal: AbortSignal): Promise<RefundResult>
  /** Reads the refund that was requested with the key; null if there is none. With `refundOrder` only. */
  findRefund?(refund: RefundRef, signal: AbortSignal): Promise<RefundResult | null>
  /**
   * Lists the disputes that were opened at or after `since` (Unix seconds), in any order. They find payments whose
   * callback about a dispute was lost, or names no payment.
   */
  listDisputes?(since: number, signal: AbortSignal): Promise<readonly PartnerDispute[]>
  /** Passes evidence to the partner, or accepts the dispute. Only for disputes that are reported as answered at `api`. */
  answerDispute?(request: DisputeRequest, signal: AbortSignal): Promise<DisputeAnswerResult>
}

/** An answer to a dispute. `key`: the idempotency key; a repeated call with it has no second effect. */
export type DisputeRequest = {
  /** The partner's id. */
  readonly dispute: string
  readonly key: string
  readonly kind: AnswerKind
  readonly submit: boolean
  readonly texts: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, Uint8Array>>
}

export type DisputeAnswerResult = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly reason: string }

/** The export of a driver's folder. */
export type Driver = {
  /** `clock` is in Unix milliseconds. */
  connect(provider: ProviderName, settings: PartnerSettings, clock: () => number): PaymentPartner
  /** Checks signature and time, and reads the callback. Never throws for bad input. */
  readCallback(settings: CallbackSettings, callback: RawCallback): CallbackReading
}

export type CallbackSettings = Omit<CallbackAccount, 'driver'>

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

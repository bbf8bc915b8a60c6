import type { Currency } from '../../domain/currencies.ts'
import type { MicroUsdc, Money } from '../../domain/money.ts'

/** USDC for one major unit of the currency. */
export type Rate = {
  readonly currency: Currency
  readonly rate: string
  readonly source: string
  /** When the market made it (ISO 8601), which can be long before it was fetched. */
  readonly asOf: string
}

export type Conversion =
  | { readonly kind: 'filled'; readonly microUsdc: MicroUsdc; readonly reference: string }
  /** Accepted and not yet filled: ask again with the same key. */
  | { readonly kind: 'pending'; readonly retryAfterSeconds: number }
  | { readonly kind: 'refused'; readonly reason: string }

/** The result of canceling an order. */
export type EndedConversion =
  | Exclude<Conversion, { readonly kind: 'refused' }>
  /** It has bought nothing and never will. */
  | { readonly kind: 'canceled' }

/** Buys USDC for the treasury with the fiat money that a partner has confirmed. */
export type Converter = {
  rates(signal: AbortSignal): Promise<Rate[]>
  /** Idempotent: repeated with the same key, it returns the conversion of the first call. */
  convert(
    order: { readonly key: string; readonly amount: Money; readonly rate: string },
    signal: AbortSignal,
  ): Promise<Conversion>
  /**
   * Idempotent. A key that the converter has never seen is `canceled` too, and refused from then on: a call that is
   * still on its way buys nothing. An order that it has begun to fill is `pending`.
   */
  cancel(key: string, signal: AbortSignal): Promise<EndedConversion>
}

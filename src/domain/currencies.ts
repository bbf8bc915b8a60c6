/**
 * Decimals of the currencies that the platform charges in, from ISO 4217. They are not from `Intl`, which has 0 for
 * HUF and COP although the standard has 2. A test compares the others with it.
 */
export const CURRENCY_DECIMALS = {
  AED: 2,
  AUD: 2,
  CAD: 2,
  CHF: 2,
  CLP: 0,
  COP: 2,
  CZK: 2,
  DKK: 2,
  EGP: 2,
  EUR: 2,
  GBP: 2,
  HKD: 2,
  HUF: 2,
  ILS: 2,
  INR: 2,
  ISK: 0,
  JPY: 0,
  KRW: 0,
  MAD: 2,
  MXN: 2,
  NOK: 2,
  NZD: 2,
  PLN: 2,
  QAR: 2,
  RON: 2,
  RSD: 2,
  SAR: 2,
  SEK: 2,
  SGD: 2,
  THB: 2,
  TRY: 2,
  USD: 2,
  ZAR: 2,
} as const satisfies Record<string, 0 | 2 | 3>

export type Currency = keyof typeof CURRENCY_DECIMALS

export const CURRENCIES = Object.keys(CURRENCY_DECIMALS) as Currency[]

export function isCurrency(value: string): value is Currency {
  return Object.hasOwn(CURRENCY_DECIMALS, value)
}

export function getDecimals(currency: Currency): number {
  return CURRENCY_DECIMALS[currency]
}

import { type Currency, getDecimals } from './currencies.ts'

/**
 * All arithmetic on money. Amounts are whole minor units (fiat) or whole micro-USDC: decimal text outside of this file,
 * bigint inside of its functions, never a JavaScript number.
 */

/** Whole minor units of the currency, as decimal text: `{ minor: '4999', currency: 'EUR' }` is 49.99 EUR. */
export type Money = { readonly minor: string; readonly currency: Currency }

/** Whole micro-USDC as decimal text: `'1000000'` is one USDC. */
export type MicroUsdc = string

export const USDC_DECIMALS = 6

/** A percentage as decimal text with at most two decimals and no zeros at the end: `'4.5'`. */
export type Percent = string

/** Rates are decimal text with at most this many decimals: USDC for one major unit of the currency. */
const RATE_DECIMALS = 12

const PLAIN_DECIMAL = /^(0|[1-9]\d{0,11})(?:\.(\d+))?$/

export type AmountProblem = 'format' | 'precision' | 'zero'

/** Major units ("49.99"): no sign, exponent or leading zeros, at most the decimals of ISO 4217, more than zero. */
export function parseAmount(
  text: string,
  currency: Currency,
): { ok: true; money: Money } | { ok: false; problem: AmountProblem } {
  const match = PLAIN_DECIMAL.exec(text)
  if (match === null) return { ok: false, problem: 'format' }
  const fraction = match[2] ?? ''
  const decimals = getDecimals(currency)
  if (fraction.length > decimals) return { ok: false, problem: 'precision' }
  const minor = BigInt(`${match[1]}${fraction.padEnd(decimals, '0')}`)
  if (minor === 0n) return { ok: false, problem: 'zero' }
  return { ok: true, money: { minor: minor.toString(), currency } }
}

/** Formats major units with exactly the currency's decimals: `49.99`, `1200` for JPY. */
export function formatAmount(money: Money): string {
  return formatUnits(money.minor, getDecimals(money.currency))
}

/** As people read it: `1,249.00`. */
export function groupedAmount(money: Money): string {
  return grouped(formatAmount(money))
}

export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const groups = whole.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? groups : `${groups}.${fraction}`
}

/** Formats USDC with exactly six decimals, as the API shows it. */
export function formatUsdc(micro: MicroUsdc): string {
  return formatUnits(micro, USDC_DECIMALS)
}

/** Formats wei as POL for people, cut to four decimals. */
export function formatPol(wei: bigint): string {
  return formatUnits((wei / 10n ** 14n).toString(), 4)
}

/**
 * Reads USDC with exactly six decimals as micro-USDC: the inverse of formatUsdc. Throws a RangeError for other text.
 */
export function parseUsdc(text: string): MicroUsdc {
  if (!/^\d+\.\d{6}$/.test(text)) throw new RangeError('USDC amounts have exactly six decimals')
  return BigInt(text.replace('.', '')).toString()
}

function formatUnits(units: string, decimals: number): string {
  const negative = units.startsWith('-')
  const digits = units.replace('-', '').padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals)
  return `${negative ? '-' : ''}${whole}${decimals > 0 ? `.${fraction}` : ''}`
}

function rateParts(rate: string): { units: bigint; scale: bigint } {
  const match = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(rate)
  if (match === null) throw new RangeError(`not a rate: ${rate}`)
  const units = BigInt(`${match[1]}${(match[2] ?? '').padEnd(RATE_DECIMALS, '0')}`)
  if (units === 0n) throw new RangeError('a rate is more than zero')
  return { units, scale: 10n ** BigInt(RATE_DECIMALS) }
}

/** Returns `floor(amount × rate)` in micro-USDC; `rate` is USDC for one major unit. */
export function convertToMicroUsdc(money: Money, rate: string): MicroUsdc {
  const { units, scale } = rateParts(rate)
  const divisor = scale * 10n ** BigInt(getDecimals(money.currency))
  return ((BigInt(money.minor) * units * 10n ** BigInt(USDC_DECIMALS)) / divisor).toString()
}

/** `usdc`: whole USDC, at most 2^53 − 1. */
export const convertWholeUsdc = (usdc: number): MicroUsdc => (BigInt(usdc) * 10n ** BigInt(USDC_DECIMALS)).toString()

/** Returns `floor(micro / rate)` in the currency: the inverse of convertToMicroUsdc. */
export function convertFromMicroUsdc(micro: MicroUsdc, currency: Currency, rate: string): Money {
  const { units, scale } = rateParts(rate)
  const minor = (BigInt(micro) * scale * 10n ** BigInt(getDecimals(currency))) / (units * 10n ** BigInt(USDC_DECIMALS))
  return { minor: minor.toString(), currency }
}

/** Returns `ceil(amount × rate)` in micro-USDC: what must be paid for the amount. */
export function convertToMicroUsdcUp(money: Money, rate: string): MicroUsdc {
  const { units, scale } = rateParts(rate)
  const divisor = scale * 10n ** BigInt(getDecimals(money.currency))
  return ((BigInt(money.minor) * units * 10n ** BigInt(USDC_DECIMALS) + divisor - 1n) / divisor).toString()
}

/** Converts the amount through both currencies' USDC rates, floored to the minor unit of the other currency. */
export function convertCurrency(money: Money, to: Currency, rates: { from: string; to: string }): Money {
  if (money.currency === to) return money
  const { units: fromUnits } = rateParts(rates.from)
  const { units: toUnits } = rateParts(rates.to)
  const numerator = BigInt(money.minor) * fromUnits * 10n ** BigInt(getDecimals(to))
  const denominator = toUnits * 10n ** BigInt(getDecimals(money.currency))
  return { minor: (numerator / denominator).toString(), currency: to }
}

/** Rounds to two digits and zeros, up or down: 8,634.12 becomes 8,700.00 or 8,600.00. */
export function roundToTwoDigits({ minor, currency }: Money, to: 'up' | 'down'): Money {
  const unit = 10n ** BigInt(Math.max(0, minor.length - 2))
  const units = (BigInt(minor) + (to === 'up' ? unit - 1n : 0n)) / unit
  return { minor: (units * unit).toString(), currency }
}

/** Compares `a × rateA` with `b × rateB` exactly, without rounding: -1 less, 0 equal, 1 more. */
export function compareAt(a: Money, b: Money, rates: { a: string; b: string }): -1 | 0 | 1 {
  const left = BigInt(a.minor) * rateParts(rates.a).units * 10n ** BigInt(getDecimals(b.currency))
  const right = BigInt(b.minor) * rateParts(rates.b).units * 10n ** BigInt(getDecimals(a.currency))
  if (left === right) return 0
  return left < right ? -1 : 1
}

/** Reads a percentage from 0 to `most`, in its one spelling; null for any other text. */
export function readPercent(text: string, most: number): Percent | null {
  const match = /^(0|[1-9]\d?|100)(?:\.(\d{1,2}))?$/.exec(text)
  if (match === null || Number(text) > most) return null
  const decimals = (match[2] ?? '').replace(/0+$/, '')
  return decimals === '' ? `${match[1]}` : `${match[1]}.${decimals}`
}

/** Returns `floor(amount × percent / 100)`. Throws a RangeError for a negative amount. */
export function takePercent(amount: MicroUsdc, percent: Percent): MicroUsdc {
  const total = BigInt(amount)
  if (total < 0n) throw new RangeError('an amount is not negative')
  const [whole = '', decimals = ''] = percent.split('.')
  return ((total * BigInt(`${whole}${decimals.padEnd(2, '0')}`)) / 10_000n).toString()
}

/** Splits the gross: `fee = floor(gross × percent / 100)`, `net = gross − fee`, so `gross = fee + net` always holds. */
export function splitFee(gross: MicroUsdc, percent: Percent): { gross: MicroUsdc; fee: MicroUsdc; net: MicroUsdc } {
  const fee = takePercent(gross, percent)
  return { gross, fee, net: subtract(gross, fee) }
}

export const isMore = (one: Money, other: Money): boolean => BigInt(one.minor) > BigInt(other.minor)

/** Underpaid only if more than the tolerance is missing, a whole percent of the asked amount. */
export function compareReceived(
  expected: Money,
  receivedMinor: string,
  tolerancePercent: number,
): 'exact' | 'underpaid' | 'overpaid' {
  const asked = BigInt(expected.minor)
  const received = BigInt(receivedMinor)
  if (received > asked) return 'overpaid'
  if (received * 100n < asked * BigInt(100 - tolerancePercent)) return 'underpaid'
  return 'exact'
}

/** True if the amount differs from the expected one by at most that many whole percent of it, in either direction. */
export function isWithinPercent(amount: string, expected: string, percent: number): boolean {
  const difference = BigInt(amount) - BigInt(expected)
  const distance = difference < 0n ? -difference : difference
  return distance * 100n <= BigInt(expected) * BigInt(percent)
}

export function add(a: string, b: string): string {
  return (BigInt(a) + BigInt(b)).toString()
}

export function subtract(a: string, b: string): string {
  return (BigInt(a) - BigInt(b)).toString()
}

export function atMost(a: string, most: string): string {
  return BigInt(a) < BigInt(most) ? a : most
}

export function isZero(amount: string): boolean {
  return BigInt(amount) === 0n
}

import { createHash } from 'node:crypto'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'

/** The rates around which the simulated market moves, in USDC for one major unit. Rough figures of 2026. */
const BASE_RATES: Readonly<Record<Currency, string>> = {
  AED: '0.2723',
  AUD: '0.6531',
  CAD: '0.7142',
  CHF: '1.2413',
  CLP: '0.001052',
  COP: '0.0002613',
  CZK: '0.04785',
  DKK: '0.1554',
  EGP: '0.0211',
  EUR: '1.1602',
  GBP: '1.3157',
  HKD: '0.1286',
  HUF: '0.003014',
  ILS: '0.3071',
  INR: '0.01129',
  ISK: '0.007893',
  JPY: '0.006482',
  KRW: '0.0006871',
  MAD: '0.1079',
  MXN: '0.05446',
  NOK: '0.09924',
  NZD: '0.5667',
  PLN: '0.2739',
  QAR: '0.2747',
  RON: '0.2281',
  RSD: '0.0099',
  SAR: '0.2666',
  SEK: '0.1056',
  SGD: '0.7681',
  THB: '0.03083',
  TRY: '0.02367',
  USD: '0.9998',
  ZAR: '0.0581',
}

const RATE_DECIMALS = 12
const MILLION = 1_000_000n

/** Maximum distance from the base rate, in millionths: 60 basis points, and 2 for the dollar. */
const SWING = 6_000n
const DOLLAR_SWING = 200n

/** Milliseconds after which the market moves towards another rate. */
const LEG_MS = 300_000

/**
 * Returns the rate of the currency at a time (Unix milliseconds), as decimal text. It depends only on seed and time.
 */
export function rateAt(currency: Currency, now: number, seed: string): string {
  const leg = Math.floor(now / LEG_MS)
  const into = BigInt(now - leg * LEG_MS)
  const from = point(currency, leg, seed)
  const to = point(currency, leg + 1, seed)
  const millionths = from + ((to - from) * into) / BigInt(LEG_MS)
  return formatRate((parseRate(BASE_RATES[currency]) * (MILLION + millionths)) / MILLION)
}

export function ratesAt(now: number, seed: string): Record<string, string> {
  return Object.fromEntries(CURRENCIES.map((currency) => [currency, rateAt(currency, now, seed)]))
}

/** Returns true if a rate is within ten percent of the market. A real exchange also refuses orders that are far from it. */
export function isNearMarket(rate: string, market: string): boolean {
  const difference = parseRate(rate) - parseRate(market)
  return (difference < 0n ? -difference : difference) * 10n <= parseRate(market)
}

/**
 * Returns the distance of a fill from the requested rate, in millionths: 8 basis points worse to 4 better. It depends
 * only on the key.
 */
export function slippage(key: string): bigint {
  return (numberFrom(`slippage:${key}`) % 1201n) - 800n
}

/** Returns the rate at the beginning of a leg, in millionths off the base rate. */
function point(currency: Currency, leg: number, seed: string): bigint {
  const swing = currency === 'USD' ? DOLLAR_SWING : SWING
  return (numberFrom(`${seed}:${currency}:${leg}`) % (2n * swing + 1n)) - swing
}

function numberFrom(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64BE(0)
}

function parseRate(rate: string): bigint {
  const [whole = '0', fraction = ''] = rate.split('.')
  return BigInt(`${whole}${fraction.padEnd(RATE_DECIMALS, '0')}`)
}

function formatRate(units: bigint): string {
  const digits = units.toString().padStart(RATE_DECIMALS + 1, '0')
  const fraction = digits.slice(-RATE_DECIMALS).replace(/0+$/, '')
  const whole = digits.slice(0, -RATE_DECIMALS)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

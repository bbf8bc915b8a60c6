import type { Currency } from './currencies.ts'
import {
  getChargeCurrency,
  getLimits,
  type MethodName,
  PICKER_LIMITS,
  PROVIDER_NAMES,
  PROVIDERS,
  type Provider,
  type ProviderName,
  type ProviderUsed,
  WAYS,
  type Way,
} from './methods.ts'
import { add, compareAt, convertCurrency, type Money, roundToTwoDigits } from './money.ts'
import type { Offering } from './partner/offering.ts'

/** The checkout's picker, `POST /v1/routes/preview` and the limits check of `POST /v1/payments` use these rules. */

/** USDC for one major unit, by currency: it must contain every currency that `ratesNeeded` names. */
export type RateTable = Readonly<Partial<Record<Currency, string>>>

/** Returns the currencies whose rates are needed to compare an amount in `currency` with every limit. */
export function ratesNeeded(currency: Currency): Currency[] {
  const limits = [PICKER_LIMITS, ...PROVIDER_NAMES.map((name) => PROVIDERS[name])]
  const charged = PROVIDER_NAMES.map((name) => getChargeCurrency(name, currency))
  const compared = limits.flatMap(({ minimum, maximum }) => [minimum.currency, maximum.currency])
  return [...new Set([currency, ...compared, ...charged])]
}

export type LimitCheck =
  | { readonly ok: true }
  | {
      readonly ok: false
      readonly code: 'amount_too_small' | 'amount_too_large'
      readonly limit: Money
      readonly alternatives: ProviderName[]
    }

/** Checks the limits of the provider, or those of the picker for null. An amount equal to a limit passes. */
export function checkLimits(
  amount: Money,
  provider: ProviderName | null,
  { rates, offering }: { readonly rates: RateTable; readonly offering: Offering },
): LimitCheck {
  const broken = brokenLimit(amount, getLimits(provider), rates)
  if (broken === null) return { ok: true }
  const alternatives = PROVIDER_NAMES.filter(
    (name) =>
      name !== provider &&
      offering[name].currencies.includes(amount.currency) &&
      brokenLimit(amount, PROVIDERS[name], rates) === null,
  )
  return { ok: false, ...broken, alternatives }
}

/** A limit that depends on a rate is rounded inward, so that an amount equal to it passes at the next rate, too. */
export function limitsIn(
  currency: Currency,
  provider: ProviderName | null,
  rates: RateTable,
): { minimum: Money; maximum: Money } {
  const { minimum, maximum } = getLimits(provider)
  const shown = (limit: Money, to: 'up' | 'down'): Money => {
    if (limit.currency === currency) return limit
    const own = { from: getRate(limit.currency, rates), to: getRate(currency, rates) }
    const floored = convertCurrency(limit, currency, own)
    const isBelow = to === 'up' && compareWith(floored, limit, rates) < 0
    return roundToTwoDigits(isBelow ? { currency, minor: add(floored.minor, '1') } : floored, to)
  }
  return { minimum: shown(minimum, 'up'), maximum: shown(maximum, 'down') }
}

type BrokenLimit = { readonly code: 'amount_too_small' | 'amount_too_large'; readonly limit: Money }

function brokenLimit(amount: Money, limits: { minimum: Money; maximum: Money }, rates: RateTable): BrokenLimit | null {
  const { minimum, maximum } = limits
  if (compareWith(amount, minimum, rates) < 0) return { code: 'amount_too_small', limit: minimum }
  if (compareWith(amount, maximum, rates) > 0) return { code: 'amount_too_large', limit: maximum }
  return null
}

function compareWith(amount: Money, limit: Money, rates: RateTable): -1 | 0 | 1 {
  // A limit in the amount's currency must not depend on a rate.
  if (amount.currency === limit.currency) return compareAt(amount, limit, { a: '1', b: '1' })
  return compareAt(amount, limit, { a: getRate(amount.currency, rates), b: getRate(limit.currency, rates) })
}

function getRate(currency: Currency, rates: RateTable): string {
  const rate = rates[currency]
  if (rate === undefined) throw new RangeError(`the rate of ${currency} is missing`)
  return rate
}

export type OfferQuery = {
  readonly amount: Money
  /** The pinned provider; null: the buyer picks. */
  readonly provider: ProviderName | null
  readonly fallback: 'picker' | 'none'
  /** ISO 3166 alpha-2; null: unknown, and no method is refused for its country. */
  readonly country: string | null
  /** Null: there are no rates now. Then a limit in another currency refuses nothing here, but the partner still can. */
  readonly rates: RateTable | null
  /** True if the buyer's device has its own wallet; null: unknown. */
  readonly deviceWallet: boolean | null
  readonly offering: Offering
  readonly down?: DownPartners
}

/** Since when a partner is down (ISO 8601). Absent: it works. */
export type DownPartners = Readonly<Partial<Record<ProviderUsed, string>>>

export type Offer = {
  readonly provider: ProviderUsed
  readonly method: MethodName
  readonly chargeCurrency: Currency
  /** The price, or its value in the charge currency at the given rates; null without rates. */
  readonly charge: Money | null
  readonly estimatedSeconds: Provider['estimatedSeconds']
  readonly measuredSeconds: Provider['measuredSeconds']
  readonly identityCheck: boolean
}

/** `down`: it would work if its partner did. */
export const REFUSAL_REASONS = [
  'country',
  'currency',
  'device',
  'amount_too_small',
  'amount_too_large',
  'down',
] as const
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

export type Refusal = {
  readonly provider: ProviderUsed
  readonly method: MethodName
  readonly reason: RefusalReason
  readonly limit: Money | null
  readonly downSince?: string
}

export type OfferAnswer = {
  /** The offer that a pinned payment opens directly; null without a pin, or if the pin cannot work here. */
  readonly pinned: Offer | null
  readonly pinnedRefused: Refusal | null
  /** The offers that the buyer can choose from: with `fallback: none` only those of a pin that works. */
  readonly offers: readonly Offer[]
  readonly refused: readonly Refusal[]
}

export function offersFor(query: OfferQuery): OfferAnswer {
  // A method that the driver lacks does not exist here: there is nothing to explain about it.
  const offered = WAYS.filter(({ provider, method }) => query.offering[provider]?.methods.includes(method))
  const judged = offered.map((way) => ({ way, refusal: findRefusal(way, query) }))
  // The first entry of the provider decides for the pin: UPI is pinned, not the same partner's cards elsewhere.
  const pin = judged.find(({ way }) => way.provider === query.provider)
  const pinnedRefused = pin?.refusal ?? null
  const onlyPinned = query.provider !== null && query.fallback === 'none'
  const choosable = judged
    .filter(({ refusal }) => refusal === null)
    .map(({ way }) => way)
    .filter(({ provider }) => !onlyPinned || (provider === query.provider && pinnedRefused === null))
  return {
    pinned: pin === undefined || pinnedRefused !== null ? null : toOffer(pin.way, query),
    pinnedRefused,
    offers: firstOfEachMethod(query.country === null ? byCurrency(choosable, query.amount) : choosable).map((way) =>
      toOffer(way, query),
    ),
    refused: judged.flatMap(({ refusal }) => refusal ?? []),
  }
}

/** Without a country, the price's currency is the best guess about the buyer. */
function byCurrency(ways: readonly Way[], { currency }: Money): Way[] {
  const converts = ({ provider }: Way): number => Number(getChargeCurrency(provider, currency) !== currency)
  return ways.toSorted((a, b) => converts(a) - converts(b))
}

function firstOfEachMethod(ways: readonly Way[]): Way[] {
  return ways.filter((way, index) => ways.findIndex(({ method }) => method === way.method) === index)
}

function findRefusal(way: Way, query: OfferQuery): Refusal | null {
  const { provider, method } = way
  const refuse = (reason: RefusalReason, limit: Money | null = null): Refusal => ({ provider, method, reason, limit })
  if (query.offering[provider]?.currencies.includes(query.amount.currency) !== true) return refuse('currency')
  if (!isOfferedIn(way, query.country)) return refuse('country')
  if (method === 'device_wallet' && query.deviceWallet === false) return refuse('device')
  const broken = query.rates === null ? null : brokenLimit(query.amount, PROVIDERS[provider], query.rates)
  if (broken !== null) return refuse(broken.code, broken.limit)
  // This check is last: a buyer who reads that the method returns must be able to use it then.
  const downSince = query.down?.[provider]
  return downSince === undefined ? null : { ...refuse('down'), downSince }
}

function isOfferedIn({ countries }: Way, country: string | null): boolean {
  if (country === null) return true
  return 'only' in countries ? countries.only.includes(country) : !countries.except.includes(country)
}

function toOffer({ provider, method }: Way, { amount, rates, offering }: OfferQuery): Offer {
  const { estimatedSeconds, identityCheck } = PROVIDERS[provider]
  const chargeCurrency = getChargeCurrency(provider, amount.currency)
  return {
    provider,
    method,
    chargeCurrency,
    charge: chargeIn(chargeCurrency, amount, rates),
    estimatedSeconds,
    measuredSeconds: offering[provider]?.measuredSeconds ?? null,
    identityCheck,
  }
}

function chargeIn(currency: Currency, amount: Money, rates: RateTable | null): Money | null {
  if (currency === amount.currency) return amount
  if (rates === null) return null
  return convertCurrency(amount, currency, { from: getRate(amount.currency, rates), to: getRate(currency, rates) })
}

import { CURRENCIES, type Currency } from './currencies.ts'
import type { Money } from './money.ts'

/** The providers, each with the most that one of its drivers serves; `createOffering` returns what a deployment offers. */

export type ProviderName = 'wallet_app' | 'card_partner' | 'local_partner'

/** The provider that a payment was paid with; `crypto` is USDC from the buyer, without a partner. */
export type ProviderUsed = ProviderName | 'crypto'

export type MethodName = 'banking_app' | 'card' | 'device_wallet' | 'online_wallet' | 'bank_transfer' | 'upi' | 'usdc'

export const METHOD_LABELS: Readonly<Record<MethodName, string>> = {
  banking_app: 'Banking app',
  card: 'Card',
  device_wallet: 'Device wallet',
  online_wallet: 'Online wallet',
  bank_transfer: 'Bank transfer',
  upi: 'UPI',
  usdc: 'USDC',
}

export type Provider = {
  readonly name: ProviderUsed
  readonly label: string
  /** ISO 3166 alpha-2 codes; null: everywhere. */
  readonly countries: readonly string[] | null
  readonly currencies: readonly Currency[]
  /** The currency that the partner charges in; null: the price's currency. */
  readonly chargeCurrency: Currency | null
  readonly minimum: Money
  readonly maximum: Money
  readonly methods: readonly MethodName[]
  /** Seconds from the buyer's confirmation to the fiat money: half of the payments, and 95 of 100, are faster. */
  readonly estimatedSeconds: { readonly p50: number; readonly p95: number }
  /** Seconds from the moment at which buyers continue to the final USDC, of own payments; null: too few were made. */
  readonly measuredSeconds: { readonly p50: number; readonly p95: number } | null
  /** Hours in which money can still arrive after the last reading of an open order. */
  readonly listenHours: number
  /** Minutes without settlement after which the payment is marked `settlement_delayed`. */
  readonly delayedAfterMinutes: number
  readonly identityCheck: boolean
}

const EU = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ')

/** The European Economic Area: the EU with Iceland, Liechtenstein and Norway. */
export const EEA: readonly string[] = [...EU, 'IS', 'LI', 'NO']

const EU_AND_US: readonly string[] = [...EU, 'US']

export const PROVIDERS: Record<ProviderUsed, Provider> = {
  wallet_app: {
    name: 'wallet_app',
    label: 'Banking app',
    countries: EEA,
    currencies:
      'EUR GBP AED AUD CAD CHF CLP COP CZK DKK EGP HKD HUF ILS ISK JPY KRW MAD MXN NOK NZD PLN QAR RON RSD SAR SEK SGD THB TRY USD ZAR'.split(
        ' ',
      ) as Currency[],
    chargeCurrency: null,
    minimum: { minor: '600', currency: 'EUR' },
    maximum: { minor: '1000000', currency: 'EUR' },
    methods: ['banking_app'],
    estimatedSeconds: { p50: 20, p95: 120 },
    measuredSeconds: null,
    listenHours: 24,
    delayedAfterMinutes: 15,
    identityCheck: true,
  },
  card_partner: {
    name: 'card_partner',
    label: 'Card',
    countries: EU_AND_US,
    currencies: 'USD EUR GBP CHF CZK DKK HUF ISK NOK PLN RON SEK'.split(' ') as Currency[],
    chargeCurrency: null,
    minimum: { minor: '200', currency: 'USD' },
    maximum: { minor: '500000', currency: 'USD' },
    methods: ['card', 'device_wallet', 'online_wallet'],
    estimatedSeconds: { p50: 30, p95: 180 },
    measuredSeconds: null,
    listenHours: 24,
    delayedAfterMinutes: 15,
    identityCheck: true,
  },
  local_partner: {
    name: 'local_partner',
    label: 'UPI',
    countries: ['IN'],
    currencies: ['INR', 'USD', 'EUR', 'GBP'],
    chargeCurrency: 'INR',
    minimum: { minor: '3000', currency: 'USD' },
    maximum: { minor: '10000000', currency: 'INR' },
    methods: ['upi', 'card', 'bank_transfer'],
    estimatedSeconds: { p50: 60, p95: 900 },
    measuredSeconds: null,
    // UPI settles a "pending" debit up to three days later.
    listenHours: 72,
    delayedAfterMinutes: 60,
    identityCheck: true,
  },
  crypto: {
    name: 'crypto',
    label: 'USDC',
    countries: null,
    currencies: CURRENCIES,
    chargeCurrency: null,
    minimum: { minor: '200', currency: 'USD' },
    maximum: { minor: '1000000', currency: 'USD' },
    methods: ['usdc'],
    estimatedSeconds: { p50: 60, p95: 300 },
    measuredSeconds: null,
    // Exchanges delay a withdrawal for a day or longer.
    listenHours: 72,
    delayedAfterMinutes: 15,
    identityCheck: false,
  },
}

export const PROVIDER_NAMES: readonly ProviderName[] = ['wallet_app', 'card_partner', 'local_partner']

export const USED_PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderUsed[]

export const PICKER_LIMITS: { minimum: Money; maximum: Money } = {
  minimum: { minor: '200', currency: 'USD' },
  maximum: { minor: '1000000', currency: 'USD' },
}

export function isProviderName(value: string): value is ProviderName {
  return PROVIDER_NAMES.some((name) => name === value)
}

export function getLimits(provider: ProviderName | null): { minimum: Money; maximum: Money } {
  return provider === null ? PICKER_LIMITS : PROVIDERS[provider]
}

export function getChargeCurrency(provider: ProviderUsed, currency: Currency): Currency {
  return PROVIDERS[provider].chargeCurrency ?? currency
}

/** An unknown country (null) is not refused. */
export function serves(provider: ProviderUsed, country: string | null): boolean {
  const countries = PROVIDERS[provider].countries
  return countries === null || country === null || countries.includes(country)
}

/** `except` means all other countries. */
export type Way = {
  readonly provider: ProviderUsed
  readonly method: MethodName
  readonly countries: { readonly only: readonly string[] } | { readonly except: readonly string[] }
}

/**
 * The methods of the picker, in the order in which a buyer sees them. The first entry of a provider is the one that a
 * payment pinned to the provider opens. If a method has two entries, the first that works is shown.
 */
export const WAYS: readonly Way[] = [
  { provider: 'wallet_app', method: 'banking_app', countries: { only: EEA } },
  { provider: 'local_partner', method: 'upi', countries: { only: ['IN'] } },
  { provider: 'card_partner', method: 'card', countries: { only: EU_AND_US } },
  { provider: 'local_partner', method: 'card', countries: { except: EU_AND_US } },
  { provider: 'card_partner', method: 'device_wallet', countries: { only: EU_AND_US } },
  { provider: 'card_partner', method: 'online_wallet', countries: { only: ['US'] } },
  { provider: 'local_partner', method: 'bank_transfer', countries: { except: EU_AND_US } },
  { provider: 'crypto', method: 'usdc', countries: { except: [] } },
]

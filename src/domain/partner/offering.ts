import type { Currency } from '../currencies.ts'
import { PROVIDER_NAMES, PROVIDERS, type Provider, type ProviderName, type ProviderUsed } from '../methods.ts'
import type { DriverName } from './drivers.ts'

/** Each provider as the deployment's driver serves it, and USDC if the deployment takes deposits. */
export type Offering = Readonly<Record<ProviderName, Provider>> & { readonly crypto: Provider | null }

type Served = Partial<Pick<Provider, 'methods' | 'currencies'>>

/** The drivers that serve less than their provider promises. */
const LESS: { readonly [Name in ProviderName]?: Readonly<Partial<Record<DriverName, Served>>> } = {
  // https://docs.stripe.com/payments/revolut-pay
  wallet_app: { stripe: { currencies: ['EUR', 'GBP', 'DKK', 'HUF', 'PLN', 'RON'] } },
  local_partner: { razorpay: { methods: ['upi'] }, cashfree: { methods: ['upi'] } },
}

export function createOffering(
  drivers: Readonly<Record<ProviderName, DriverName>>,
  { crypto }: { readonly crypto: boolean },
): Offering {
  const serve = (name: ProviderName): Provider => ({ ...PROVIDERS[name], ...LESS[name]?.[drivers[name]] })
  return {
    wallet_app: serve('wallet_app'),
    card_partner: serve('card_partner'),
    local_partner: serve('local_partner'),
    crypto: crypto ? PROVIDERS.crypto : null,
  }
}

/** Absent: too few payments were made by the provider. */
export type MeasuredTimes = Readonly<Partial<Record<ProviderUsed, Provider['measuredSeconds']>>>

/** Returns the offering with the times that are measured whenever they are read. */
export function withMeasuredTimes(offering: Offering, readTimes: () => MeasuredTimes): Offering {
  const measure = (provider: Provider): Provider => ({
    ...provider,
    get measuredSeconds() {
      return readTimes()[provider.name] ?? null
    },
  })
  const { wallet_app, card_partner, local_partner, crypto } = offering
  return {
    wallet_app: measure(wallet_app),
    card_partner: measure(card_partner),
    local_partner: measure(local_partner),
    crypto: crypto && measure(crypto),
  }
}

export function listOffered(offering: Offering): Provider[] {
  return [...PROVIDER_NAMES.map((name) => offering[name]), ...(offering.crypto === null ? [] : [offering.crypto])]
}

/** Without a provider, returns the currencies of all partners. */
export function listCurrencies(offering: Offering, provider: ProviderName | null): readonly Currency[] {
  if (provider !== null) return offering[provider].currencies
  return [...new Set(PROVIDER_NAMES.flatMap((name) => offering[name].currencies))]
}

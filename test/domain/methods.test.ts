import { describe, expect, test } from '@jest/globals'
import { COUNTRY_CODES, isCountry } from '../../src/domain/countries.ts'
import { CURRENCIES, isCurrency } from '../../src/domain/currencies.ts'
import {
  EEA,
  getChargeCurrency,
  getLimits,
  isProviderName,
  METHOD_LABELS,
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
  type ProviderUsed,
  serves,
  USED_PROVIDER_NAMES,
  WAYS,
} from '../../src/domain/methods.ts'
import { listCurrencies } from '../../src/domain/partner/offering.ts'
import { createTestOffering } from '../support/offering.ts'

const EU = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'
const EU_AND_US = `${EU} US`
const EEA_CODES = `${EU} IS LI NO`

/** The promise to merchants: the contract’s table of methods, compared with the code’s. */
const PROMISED: Record<ProviderUsed, { countries: string | null; currencies: string; limits: string }> = {
  wallet_app: {
    countries: EEA_CODES,
    currencies:
      'EUR GBP AED AUD CAD CHF CLP COP CZK DKK EGP HKD HUF ILS ISK JPY KRW MAD MXN NOK NZD PLN QAR RON RSD SAR SEK SGD THB TRY USD ZAR',
    limits: '600 EUR to 1000000 EUR',
  },
  card_partner: {
    countries: EU_AND_US,
    currencies: 'USD EUR GBP CHF CZK DKK HUF ISK NOK PLN RON SEK',
    limits: '200 USD to 500000 USD',
  },
  local_partner: { countries: 'IN', currencies: 'INR USD EUR GBP', limits: '3000 USD to 10000000 INR' },
  crypto: { countries: null, currencies: CURRENCIES.join(' '), limits: '200 USD to 1000000 USD' },
}

const limitsText = (provider: ProviderName | null) => {
  const { minimum, maximum } = getLimits(provider)
  return `${minimum.minor} ${minimum.currency} to ${maximum.minor} ${maximum.currency}`
}
const everybody = Object.keys(PROMISED) as ProviderUsed[]

describe('The providers', () => {
  test('the providers are three that can be pinned, and USDC', () => {
    expect(USED_PROVIDER_NAMES).toEqual(['wallet_app', 'card_partner', 'local_partner', 'crypto'])
    expect(PROVIDER_NAMES).toEqual(['wallet_app', 'card_partner', 'local_partner'])
    expect([...PROVIDER_NAMES, 'crypto', ''].map(isProviderName)).toEqual([true, true, true, false, false])
    for (const name of USED_PROVIDER_NAMES) expect(PROVIDERS[name].name).toBe(name)
    expect(USED_PROVIDER_NAMES.map((name) => PROVIDERS[name].label)).toEqual(['Banking app', 'Card', 'UPI', 'USDC'])
  })

  test.each(everybody)('%s serves the promised countries, and an unknown one', (provider) => {
    const { countries } = PROMISED[provider]
    const promised = countries === null ? [...COUNTRY_CODES] : countries.split(' ')
    expect(COUNTRY_CODES.filter((code) => serves(provider, code)).sort()).toEqual(promised.sort())
    expect(serves(provider, null)).toBe(true)
  })

  test.each(everybody)('%s accepts the promised currencies', (provider) => {
    expect([...PROVIDERS[provider].currencies].sort()).toEqual(PROMISED[provider].currencies.split(' ').sort())
  })

  test.each(PROVIDER_NAMES)('%s has the promised limits', (provider) => {
    expect(limitsText(provider)).toBe(PROMISED[provider].limits)
    expect(listCurrencies(createTestOffering(), provider)).toBe(PROVIDERS[provider].currencies)
  })

  test('crypto has the limits of the picker', () => {
    const { minimum, maximum } = PROVIDERS.crypto
    expect({ minimum, maximum }).toEqual(getLimits(null))
    expect(limitsText(null)).toBe(PROMISED.crypto.limits)
  })

  test('without a pin the currencies are those of all partners, each once', () => {
    expect([...listCurrencies(createTestOffering(), null)].sort()).toEqual([...CURRENCIES].sort())
  })

  test('only UPI is charged in another currency than the price', () => {
    for (const provider of everybody)
      expect([provider, getChargeCurrency(provider, 'EUR')]).toEqual([
        provider,
        provider === 'local_partner' ? 'INR' : 'EUR',
      ])
  })

  test('late money and a slow settlement have the promised times', () => {
    const times = everybody.map((name) => [name, PROVIDERS[name].listenHours, PROVIDERS[name].delayedAfterMinutes])
    expect(times).toEqual([
      ['wallet_app', 24, 15],
      ['card_partner', 24, 15],
      ['local_partner', 72, 60],
      ['crypto', 72, 15],
    ])
  })

  test('a partner may ask for an identity check; sending USDC needs none', () => {
    expect(everybody.filter((name) => PROVIDERS[name].identityCheck)).toEqual([...PROVIDER_NAMES])
  })

  test.each(everybody)('%s shows its duration: half of the payments are faster than the slowest', (provider) => {
    const { p50, p95 } = PROVIDERS[provider].estimatedSeconds
    expect(p50).toBeGreaterThan(0)
    expect(p95).toBeGreaterThan(p50)
    expect(p95).toBeLessThanOrEqual(PROVIDERS[provider].delayedAfterMinutes * 60)
  })
})

test('the methods are those of the contract, in the order of the picker', () => {
  const codes = (list: readonly string[]) => [...list].sort().join(' ')
  const [eea, euAndUs] = [codes(EEA_CODES.split(' ')), codes(EU_AND_US.split(' '))]
  expect(codes(EEA)).toBe(eea)
  expect(
    WAYS.map(({ provider, method, countries }) => [
      `${provider}/${method}`,
      'only' in countries ? `only ${codes(countries.only)}` : `except ${codes(countries.except)}`,
    ]),
  ).toEqual([
    ['wallet_app/banking_app', `only ${eea}`],
    ['local_partner/upi', 'only IN'],
    ['card_partner/card', `only ${euAndUs}`],
    ['local_partner/card', `except ${euAndUs}`],
    ['card_partner/device_wallet', `only ${euAndUs}`],
    ['card_partner/online_wallet', 'only US'],
    ['local_partner/bank_transfer', `except ${euAndUs}`],
    ['crypto/usdc', 'except '],
  ])
  for (const name of everybody) {
    const ways = WAYS.filter((way) => way.provider === name).map(({ method }) => method)
    expect([...PROVIDERS[name].methods].sort()).toEqual(ways.sort())
  }
})

test('each method of the picker has its own name for people', () => {
  const labels = WAYS.map(({ method }) => METHOD_LABELS[method])
  expect([...new Set(labels)]).toEqual([
    'Banking app',
    'UPI',
    'Card',
    'Device wallet',
    'Online wallet',
    'Bank transfer',
    'USDC',
  ])
})

test('a country and a currency are known by their code alone', () => {
  expect(['DE', 'de', 'XX', ''].map(isCountry)).toEqual([true, false, false, false])
  expect(['EUR', 'eur', 'XXX', '', 'toString'].map(isCurrency)).toEqual([true, false, false, false, false])
})

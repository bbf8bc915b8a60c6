import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { COUNTRY_CODES } from '../../src/domain/countries.ts'
import type { Currency } from '../../src/domain/currencies.ts'
import {
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
  serves,
  USED_PROVIDER_NAMES,
  WAYS,
} from '../../src/domain/methods.ts'
import type { Money } from '../../src/domain/money.ts'
import {
  checkLimits,
  limitsIn,
  type OfferQuery,
  offersFor,
  type RateTable,
  ratesNeeded,
} from '../../src/domain/offers.ts'
import { DRIVERS } from '../../src/domain/partner/drivers.ts'
import { listCurrencies, listOffered, type Offering, withMeasuredTimes } from '../../src/domain/partner/offering.ts'
import { createTestOffering } from '../support/offering.ts'

/** One EUR is 1.25 USD here, and one USD 80 INR, so that limits are whole amounts. */
const RATES: RateTable = { USD: '1', EUR: '1.25', INR: '0.0125', GBP: '1.5', JPY: '0.008', AED: '0.25' }

const WITH_USDC = createTestOffering({}, { crypto: true })

const check = (amount: Money, provider: ProviderName | null, rates: RateTable) =>
  checkLimits(amount, provider, { rates, offering: createTestOffering() })

const money = (minor: string, currency: Currency): Money => ({ minor, currency })

const query = (changes: Partial<OfferQuery>): OfferQuery => ({
  amount: money('4999', 'EUR'),
  provider: null,
  fallback: 'picker',
  country: null,
  rates: RATES,
  deviceWallet: null,
  offering: createTestOffering(),
  ...changes,
})

const listMethods = (changes: Partial<OfferQuery>): string[] =>
  offersFor(query(changes)).offers.map(({ provider, method }) => `${provider}/${method}`)

describe('An unknown country', () => {
  test('an unknown country ranks the methods by the price’s currency: UPI is last for euros, and among the first for rupees', () => {
    const methods = listMethods({ country: null, offering: WITH_USDC })
    expect(methods.indexOf('local_partner/upi')).toBeGreaterThan(methods.indexOf('card_partner/card'))
    expect(methods.slice(-2)).toEqual(['local_partner/upi', 'local_partner/bank_transfer'])
    const rupees = listMethods({ country: null, amount: money('500000', 'INR') })
    expect(rupees.indexOf('local_partner/upi')).toBeLessThan(2)
  })
})

test('a known country ranks the methods by the picker’s order, also for a price in another currency', () => {
  expect(listMethods({ country: 'IN', offering: WITH_USDC })).toEqual([
    'local_partner/upi',
    'local_partner/card',
    'local_partner/bank_transfer',
    'crypto/usdc',
  ])
})

describe('A partner that is down', () => {
  const down = { card_partner: '2026-11-20T12:00:00.000Z' }

  test('a partner that is down is not offered, and is refused as down with the time; its method remains if another partner has it', () => {
    const { offers, refused } = offersFor(query({ country: 'DE', down }))
    expect(offers.map(({ provider }) => provider)).toEqual(['wallet_app'])
    expect(refused.find(({ provider }) => provider === 'card_partner')).toEqual({
      provider: 'card_partner',
      method: 'card',
      reason: 'down',
      limit: null,
      downSince: down.card_partner,
    })
    expect(listMethods({ country: null, down })).toContain('local_partner/card')
  })

  test('a partner that is down and would not work for this buyer anyway is refused for the other reason', () => {
    const { pinned, pinnedRefused } = offersFor(query({ provider: 'card_partner', country: 'BR', down }))
    expect([pinned, pinnedRefused?.reason]).toEqual([null, 'country'])
  })

  test('a partner that is down keeps its pin: the same payment opens it again when it is up', () => {
    const asked = query({ provider: 'card_partner', fallback: 'none', country: 'DE' })
    expect(offersFor({ ...asked, down })).toMatchObject({ pinned: null, pinnedRefused: { reason: 'down' }, offers: [] })
    expect(offersFor(asked).pinned?.provider).toBe('card_partner')
  })
})

describe('Limits', () => {
  test.each([
    { provider: 'wallet_app', passes: money('600', 'EUR'), fails: money('599', 'EUR'), code: 'amount_too_small' },
    {
      provider: 'wallet_app',
      passes: money('1000000', 'EUR'),
      fails: money('1000001', 'EUR'),
      code: 'amount_too_large',
    },
    { provider: 'wallet_app', passes: money('750', 'USD'), fails: money('749', 'USD'), code: 'amount_too_small' },
    { provider: 'wallet_app', passes: money('938', 'JPY'), fails: money('937', 'JPY'), code: 'amount_too_small' },
    { provider: 'card_partner', passes: money('160', 'EUR'), fails: money('159', 'EUR'), code: 'amount_too_small' },
    {
      provider: 'card_partner',
      passes: money('400000', 'EUR'),
      fails: money('400001', 'EUR'),
      code: 'amount_too_large',
    },
    {
      provider: 'local_partner',
      passes: money('240000', 'INR'),
      fails: money('239999', 'INR'),
      code: 'amount_too_small',
    },
    {
      provider: 'local_partner',
      passes: money('125000', 'USD'),
      fails: money('125001', 'USD'),
      code: 'amount_too_large',
    },
    { provider: null, passes: money('200', 'USD'), fails: money('199', 'USD'), code: 'amount_too_small' },
    { provider: null, passes: money('800000', 'EUR'), fails: money('800001', 'EUR'), code: 'amount_too_large' },
  ] as const)(
    '$provider accepts $passes, equal to its limit, and refuses $fails',
    ({ provider, passes, fails, code }) => {
      expect(check(passes, provider, RATES)).toEqual({ ok: true })
      expect(check(fails, provider, RATES)).toMatchObject({ ok: false, code })
    },
  )

  test('a refused amount names the limit and the providers that would accept it', () => {
    expect(check(money('1000', 'EUR'), 'local_partner', RATES)).toEqual({
      ok: false,
      code: 'amount_too_small',
      limit: money('3000', 'USD'),
      alternatives: ['wallet_app', 'card_partner'],
    })
    expect(check(money('1000', 'INR'), 'local_partner', RATES)).toMatchObject({ alternatives: [] })
  })

  test('an alternative accepts the currency, and its own limits apply', () => {
    expect(check(money('937', 'JPY'), 'wallet_app', RATES)).toMatchObject({ alternatives: [] })
    expect(check(money('1000001', 'EUR'), 'wallet_app', RATES)).toMatchObject({ alternatives: [] })
    expect(check(money('400001', 'EUR'), 'card_partner', RATES)).toMatchObject({ alternatives: ['wallet_app'] })
  })

  test('limits that are shown in any currency have two digits, and an amount equal to one passes', () => {
    const codes = ['USD', 'EUR', 'INR', 'GBP', 'JPY', 'AED'] as const
    const rate = fc.double({ min: 0.0001, max: 9, noNaN: true }).map((value) => value.toFixed(12))
    fc.assert(
      fc.property(
        fc.constantFrom(...codes),
        fc.constantFrom(null, ...PROVIDER_NAMES),
        fc.array(rate, { minLength: 6, maxLength: 6 }),
        (currency, provider, rates) => {
          const table = { ...Object.fromEntries(codes.map((code, nth) => [code, rates[nth]])), USD: '1' } as RateTable
          const { minimum, maximum } = limitsIn(currency, provider, table)
          expect([minimum.currency, maximum.currency]).toEqual([currency, currency])
          expect(`${minimum.minor} ${maximum.minor}`).toMatch(/^\d{1,2}0* \d{1,2}0*$/)
          expect(check(minimum, provider, table)).not.toMatchObject({ code: 'amount_too_small' })
          expect(check(maximum, provider, table)).not.toMatchObject({ code: 'amount_too_large' })
        },
      ),
    )
    expect(limitsIn('EUR', null, RATES)).toEqual({ minimum: money('160', 'EUR'), maximum: money('800000', 'EUR') })
  })

  test('a limit in the currency of the amount is compared without a rate', () => {
    expect(check(money('600', 'EUR'), 'wallet_app', {})).toEqual({ ok: true })
  })

  test('limits are shown in their own currency without a rate', () => {
    expect(limitsIn('EUR', 'wallet_app', {})).toEqual({
      minimum: money('600', 'EUR'),
      maximum: money('1000000', 'EUR'),
    })
  })

  test('a check names the rates that it needs, and a missing one is an error, not a pass', () => {
    expect(ratesNeeded('JPY').sort()).toStrictEqual(['EUR', 'INR', 'JPY', 'USD'])
    expect(() => check(money('600', 'JPY'), 'wallet_app', { EUR: '1' })).toThrow('the rate of JPY is missing')
  })
})

describe('Offers', () => {
  test.each([
    ['DE', money('10000', 'EUR'), ['wallet_app/banking_app', 'card_partner/card', 'card_partner/device_wallet']],
    ['NO', money('10000', 'EUR'), ['wallet_app/banking_app', 'local_partner/card', 'local_partner/bank_transfer']],
    ['US', money('10000', 'USD'), ['card_partner/card', 'card_partner/device_wallet', 'card_partner/online_wallet']],
    ['IN', money('500000', 'INR'), ['local_partner/upi', 'local_partner/card', 'local_partner/bank_transfer']],
    ['BR', money('10000', 'USD'), ['local_partner/card', 'local_partner/bank_transfer']],
    ['DE', money('10000', 'AED'), ['wallet_app/banking_app']],
    ['BR', money('10000', 'AED'), []],
    ['US', money('100', 'USD'), []],
  ] as const)(
    'a buyer in %s with the price %j is offered only methods that work there',
    (country, amount, expected) => {
      expect(listMethods({ country, amount })).toEqual(expected)
    },
  )

  test('every method that is not offered has a reason', () => {
    const { refused } = offersFor(query({ country: 'US', amount: money('100', 'EUR'), deviceWallet: false }))
    expect(refused.map(({ provider, method, reason }) => `${provider}/${method}: ${reason}`)).toEqual([
      'wallet_app/banking_app: country',
      'local_partner/upi: country',
      'card_partner/card: amount_too_small',
      'local_partner/card: country',
      'card_partner/device_wallet: device',
      'card_partner/online_wallet: amount_too_small',
      'local_partner/bank_transfer: country',
    ])
    const inDirhams = offersFor(query({ country: 'DE', amount: money('10000', 'AED') })).refused
    expect(new Set(inDirhams.map(({ reason }) => reason))).toEqual(new Set(['currency']))
    expect(inDirhams).toHaveLength(6)
  })

  test('without a pin the fallback has no effect', () => {
    expect(listMethods({ country: 'DE', fallback: 'none' })).toEqual(listMethods({ country: 'DE' }))
    expect(listMethods({ country: 'DE', fallback: 'none' })).toHaveLength(3)
  })

  test('an unknown country excludes nothing, and a method of two providers is shown once', () => {
    expect(listMethods({})).toEqual([
      'wallet_app/banking_app',
      'card_partner/card',
      'card_partner/device_wallet',
      'card_partner/online_wallet',
      'local_partner/upi',
      'local_partner/bank_transfer',
    ])
  })

  test('a device without a wallet is not offered one', () => {
    expect(listMethods({ country: 'US', deviceWallet: false })).toEqual([
      'card_partner/card',
      'card_partner/online_wallet',
    ])
  })

  test.each(PROVIDER_NAMES)('a payment pinned to %s opens its first method directly', (provider) => {
    const answer = offersFor(query({ provider }))
    expect(answer.pinned).toMatchObject({ provider, method: PROVIDERS[provider].methods[0] })
    expect(answer.pinnedRefused).toBeNull()
  })

  test('a pin that is not offered in the country of the buyer leads to the picker, with the reason', () => {
    const answer = offersFor(query({ provider: 'card_partner', country: 'BR' }))
    expect(answer.pinned).toBeNull()
    expect(answer.pinnedRefused).toEqual({ provider: 'card_partner', method: 'card', reason: 'country', limit: null })
    expect(answer.offers.map(({ method }) => method)).toEqual(['card', 'bank_transfer'])
  })

  test('without a fallback a pin that cannot work leaves nothing to choose', () => {
    expect(offersFor(query({ provider: 'local_partner', country: 'BR', fallback: 'none' })).offers).toEqual([])
  })

  test('without a fallback a pin that works leaves the methods of its provider', () => {
    expect(listMethods({ provider: 'local_partner', fallback: 'none' })).toEqual([
      'local_partner/upi',
      'local_partner/card',
      'local_partner/bank_transfer',
    ])
  })

  test('an amount beyond a limit of the pin is refused with that limit', () => {
    const answer = offersFor(query({ provider: 'local_partner', amount: money('1000', 'EUR'), country: 'IN' }))
    expect(answer.pinnedRefused).toMatchObject({ reason: 'amount_too_small', limit: money('3000', 'USD') })
  })

  test('UPI is charged in INR by the rates of the moment', () => {
    expect(offersFor(query({ provider: 'local_partner' })).pinned).toMatchObject({
      charge: money('499900', 'INR'),
      chargeCurrency: 'INR',
    })
  })

  test('without rates nothing is refused for its amount, and a converted charge is not known yet', () => {
    const answer = offersFor(query({ provider: 'local_partner', amount: money('1', 'EUR'), rates: null }))
    expect(answer.pinned).toMatchObject({ charge: null, chargeCurrency: 'INR' })
    expect(offersFor(query({ provider: 'card_partner', rates: null })).pinned).toMatchObject({
      charge: money('4999', 'EUR'),
    })
  })

  test('the picker and the published regions of the providers agree', () => {
    for (const provider of PROVIDER_NAMES)
      for (const country of COUNTRY_CODES) {
        const pinned = offersFor(query({ provider, country, rates: null })).pinned
        expect([country, pinned !== null]).toEqual([country, serves(provider, country)])
      }
  })

  test('every method of every provider has an offer', () => {
    for (const provider of PROVIDER_NAMES) {
      const ways = WAYS.filter((way) => way.provider === provider)
      expect(ways.map(({ method }) => method).sort()).toEqual([...PROVIDERS[provider].methods].sort())
    }
  })
})

test('every country code has a name', () => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  expect(COUNTRY_CODES).toHaveLength(249)
  expect(COUNTRY_CODES.filter((code) => names.of(code) === undefined)).toEqual([])
})

describe('Offers by driver', () => {
  const razorpay = createTestOffering({ local_partner: 'razorpay' })
  const stripe = createTestOffering({ wallet_app: 'stripe', card_partner: 'stripe' })

  test('a method that the driver lacks is neither offered nor refused, also to an unknown country', () => {
    for (const country of ['IN', 'BR', null]) {
      const { offers, refused } = offersFor(query({ country, offering: razorpay }))
      const local = [...offers, ...refused].filter(({ provider }) => provider === 'local_partner')
      expect(local.map(({ method }) => method)).toEqual(['upi'])
    }
    const answer = offersFor(query({ provider: 'local_partner', offering: razorpay, country: 'IN' }))
    expect(answer.pinned).toMatchObject({ method: 'upi', chargeCurrency: 'INR' })
  })

  test('a currency that the driver does not charge is refused, and others are offered', () => {
    const inYen = query({ provider: 'wallet_app', amount: money('5000', 'JPY'), country: 'DE' })
    expect(offersFor(inYen).pinned?.provider).toBe('wallet_app')
    const answer = offersFor({ ...inYen, offering: stripe })
    expect([answer.pinned, answer.pinnedRefused?.reason]).toEqual([null, 'currency'])
    expect(offersFor({ ...inYen, amount: money('5000', 'EUR'), offering: stripe }).pinned?.provider).toBe('wallet_app')
  })

  test('an alternative is one whose driver charges the currency', () => {
    const alternatives = (offering: Offering) =>
      checkLimits(money('1000', 'CHF'), 'local_partner', { rates: { ...RATES, CHF: '1.25' }, offering })
    expect(alternatives(createTestOffering())).toMatchObject({ alternatives: ['wallet_app', 'card_partner'] })
    expect(alternatives(stripe)).toMatchObject({ alternatives: ['card_partner'] })
  })

  test('the currencies of a deployment are those of its drivers', () => {
    expect(listCurrencies(stripe, 'wallet_app')).toEqual(['EUR', 'GBP', 'DKK', 'HUF', 'PLN', 'RON'])
    expect(listCurrencies(stripe, null)).toContain('ISK')
    expect(listCurrencies(stripe, null)).not.toContain('JPY')
    expect(listCurrencies(createTestOffering(), null)).toContain('JPY')
  })

  test.each(['razorpay', 'cashfree'] as const)('the driver %s serves UPI alone', (driver) => {
    expect(createTestOffering({ local_partner: driver }).local_partner.methods).toEqual(['upi'])
  })

  test('a deployment lists its partners, and USDC if it takes deposits', () => {
    expect(listOffered(WITH_USDC)).toEqual(USED_PROVIDER_NAMES.map((name) => PROVIDERS[name]))
    expect(listOffered(createTestOffering())).toEqual(PROVIDER_NAMES.map((name) => PROVIDERS[name]))
    expect(listOffered(razorpay)[2]?.methods).toEqual(['upi'])
  })

  test('a deployment without USDC has no times of it', () => {
    expect(withMeasuredTimes(createTestOffering(), () => ({})).crypto).toBeNull()
  })

  test('no driver serves a method or a currency that its provider does not promise', () => {
    for (const provider of PROVIDER_NAMES)
      for (const driver of DRIVERS[provider]) {
        const { methods, currencies } = createTestOffering({ [provider]: driver })[provider]
        expect(methods.filter((method) => !PROVIDERS[provider].methods.includes(method))).toEqual([])
        expect(currencies.filter((code) => !PROVIDERS[provider].currencies.includes(code))).toEqual([])
        expect(Math.min(methods.length, currencies.length)).toBeGreaterThan(0)
      }
  })
})

describe('Offers of USDC', () => {
  const offered = (changes: Partial<OfferQuery>) =>
    offersFor(query(changes)).offers.some(({ provider }) => provider === 'crypto')

  test('USDC is offered everywhere if the deployment takes deposits, and nowhere otherwise', () => {
    for (const country of ['DE', 'US', 'BR', 'IN', null]) {
      expect(offered({ country, offering: WITH_USDC })).toBe(true)
      expect(offered({ country })).toBe(false)
    }
  })

  test('USDC does not replace a pin without fallback', () => {
    expect(offered({ provider: 'wallet_app', fallback: 'none', offering: WITH_USDC })).toBe(false)
  })
})

test('an offer shows the times that are measured now', () => {
  const measured: { wallet_app?: { p50: number; p95: number } } = {}
  const offering = withMeasuredTimes(WITH_USDC, () => measured)
  const readTimes = () =>
    offersFor(query({ provider: 'wallet_app', fallback: 'none', country: 'DE', offering })).pinned?.measuredSeconds
  expect(readTimes()).toBeNull()
  measured.wallet_app = { p50: 41, p95: 99 }
  expect(readTimes()).toEqual(measured.wallet_app)
  expect(listOffered(offering).map(({ measuredSeconds }) => measuredSeconds?.p50 ?? null)).toEqual([
    41,
    null,
    null,
    null,
  ])
})

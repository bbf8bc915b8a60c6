import { describe, expect, test } from '@jest/globals'
import type { Currency } from '../../../src/domain/currencies.ts'
import type { ProviderName } from '../../../src/domain/methods.ts'
import { quotePrice, whyUnpriceable } from '../../../src/domain/payment/price.ts'
import { createTestOffering } from '../../support/offering.ts'

const table = { USD: '1', EUR: '1.25', INR: '0.0125', JPY: '0.008' } as const
const question = (text: string, currency: Currency, provider: ProviderName | null = null) => ({
  text,
  currency,
  provider,
  offering: createTestOffering(),
})
const price = (text: string, currency: Currency, provider: ProviderName | null = null) =>
  quotePrice({ ...question(text, currency, provider), rates: { table, rate: '1.25', source: 'market' } })

describe('The price of a payment', () => {
  test('a price is the amount, the rate, and the micro-USDC before the fee', () => {
    expect(price('100.00', 'EUR')).toEqual({
      ok: true,
      price: {
        amount: { minor: '10000', currency: 'EUR' },
        rate: '1.25',
        rateSource: 'market',
        gross: '125000000',
      },
    })
    expect(whyUnpriceable(question('100.00', 'EUR'))).toBeNull()
  })

  test.each([
    ['1,5', 'format'],
    ['1.001', 'precision'],
    ['0', 'zero'],
  ] as const)('a price is not made of %j: %s', (text, problem) => {
    const refusal = { code: 'amount', problem }
    expect(price(text, 'EUR')).toEqual({ ok: false, refusal })
    expect(whyUnpriceable(question(text, 'EUR'))).toEqual(refusal)
  })

  test('a price is refused in a currency that the pinned provider does not accept', () => {
    const refusal = { code: 'currency_not_supported' }
    expect(price('1000', 'JPY', 'card_partner')).toEqual({ ok: false, refusal })
    expect(whyUnpriceable(question('1000', 'JPY', 'card_partner'))).toEqual(refusal)
    expect(whyUnpriceable(question('1000', 'JPY', 'wallet_app'))).toBeNull()
  })

  test('a price outside the limits is refused with the amount, the limit and the providers that would accept it', () => {
    expect(price('10.00', 'EUR', 'local_partner')).toEqual({
      ok: false,
      refusal: {
        ok: false,
        code: 'amount_too_small',
        limit: { minor: '3000', currency: 'USD' },
        alternatives: ['wallet_app', 'card_partner'],
        amount: { minor: '1000', currency: 'EUR' },
      },
    })
    expect(whyUnpriceable(question('10.00', 'EUR', 'local_partner'))).toBeNull()
  })
})

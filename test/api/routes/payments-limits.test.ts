import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

const create = (body: unknown, headers: Record<string, string> = {}) =>
  shop.ask('POST', '/v1/payments', { body, headers })

describe('the limits of a method', () => {
  test.each([
    ['6', 'EUR', 'wallet_app'],
    ['10000', 'EUR', 'wallet_app'],
    // 7.50 USD at 1.25 are exactly 6 EUR.
    ['7.50', 'USD', 'wallet_app'],
    ['2', 'USD', 'card_partner'],
    ['5000', 'USD', 'card_partner'],
    ['4000', 'EUR', 'card_partner'],
    ['30', 'USD', 'local_partner'],
    ['100000', 'INR', 'local_partner'],
    ['2', 'USD', undefined],
    ['10000', 'USD', undefined],
  ])('%s %s passes at %s: an amount equal to the limit is within it', async (amount, currency, provider) => {
    expect((await create({ amount, currency, provider })).status).toBe(201)
  })

  test.each([
    [
      '5.99',
      'EUR',
      'wallet_app',
      'amount_too_small',
      { minimum: { amount: '6.00', currency: 'EUR' } },
      ['card_partner'],
    ],
    [
      '7.49',
      'USD',
      'wallet_app',
      'amount_too_small',
      { minimum: { amount: '6.00', currency: 'EUR' } },
      ['card_partner'],
    ],
    ['1.99', 'USD', 'card_partner', 'amount_too_small', { minimum: { amount: '2.00', currency: 'USD' } }, []],
    ['10000.01', 'EUR', 'wallet_app', 'amount_too_large', { maximum: { amount: '10000.00', currency: 'EUR' } }, []],
    [
      '4000.01',
      'EUR',
      'card_partner',
      'amount_too_large',
      { maximum: { amount: '5000.00', currency: 'USD' } },
      ['wallet_app'],
    ],
    [
      '29.99',
      'USD',
      'local_partner',
      'amount_too_small',
      { minimum: { amount: '30.00', currency: 'USD' } },
      ['wallet_app', 'card_partner'],
    ],
    ['1.99', 'USD', undefined, 'amount_too_small', { minimum: { amount: '2.00', currency: 'USD' } }, []],
  ])(
    '%s %s at %s is %s, with the limit and who would take it',
    async (amount, currency, provider, code, limit, alternatives) => {
      const before = await shop.count('payment')
      const answer = await create({ amount, currency, provider })
      expectProblem(answer, 422, code)
      expect(answer.body).toMatchObject({ ...limit, alternatives, param: 'amount' })
      expect(await shop.count('payment')).toBe(before)
    },
  )

  test.each([
    ['BGN', undefined],
    ['XXX', undefined],
    ['INR', 'wallet_app'],
    ['JPY', 'card_partner'],
  ])(
    '%s with %s is a currency that is not supported, and the answer names those that are',
    async (currency, provider) => {
      const answer = await create({ amount: '5000', currency, provider })
      expectProblem(answer, 422, 'currency_not_supported')
      expect(answer.body['param']).toBe('currency')
      expect(answer.body['detail']).toContain('EUR')
    },
  )
})

test('a merchant without a wallet is told to set one', async () => {
  const { key } = await shop.addMerchant({ wallet: null })
  expectProblem(
    await shop.ask('POST', '/v1/payments', { key, body: { amount: 10, currency: 'EUR' } }),
    422,
    'wallet_not_configured',
  )
})

test('in live mode a shop is not on the developer’s own machine', async () => {
  const live = await openShop({ mode: 'live' })
  try {
    const body = { amount: 10, currency: 'EUR', success_url: 'http://localhost:3000' }
    expectProblem(await live.ask('POST', '/v1/payments', { body }), 400, 'validation_failed')
    const created = await live.ask('POST', '/v1/payments', { body: { ...body, success_url: 'https://shop.example' } })
    expect(created.body['livemode']).toBe(true)
  } finally {
    await live.close()
  }
})

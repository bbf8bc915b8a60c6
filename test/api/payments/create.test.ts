import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

describe('Creating a payment', () => {
  const create = (body: unknown, headers: Record<string, string> = {}) =>
    shop.ask('POST', '/v1/payments', { body, headers })
  const pay = (fields: Record<string, unknown> = {}) => create({ amount: '49.99', currency: 'EUR', ...fields })

  type FieldError = { pointer: string; code: string; message: string }
  const errorsOf = (answer: { body: Record<string, unknown> }) => (answer.body['errors'] ?? []) as FieldError[]

  describe('a payment that is created', () => {
    test('is answered with 201, its location, and an object that reading it repeats', async () => {
      const created = await pay({
        provider: 'wallet_app',
        description: 'Zażółć ⚡',
        reference: 'A-1',
        metadata: { a: 'b' },
      })
      expect(created.status).toBe(201)
      expect(created.headers.get('location')).toBe(`/v1/payments/${String(created.body['id'])}`)
      expect(created.headers.get('cache-control')).toBe('no-store')
      expect(created.headers.get('x-powered-by')).toBeNull()
      expect(created.body).toMatchObject({
        object: 'payment',
        livemode: false,
        status: 'created',
        amount: 49.99,
        amount_decimal: '49.99',
        amount_minor: 4999,
        description: 'Zażółć ⚡',
        fallback: 'picker',
        quote: { rate: '1.25', net_usdc_estimate: '59.675563' },
        settlement: { destination: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', net_usdc: null, fee_percent: '4.5' },
        version: 1,
      })
      const read = await shop.ask('GET', `/v1/payments/${String(created.body['id'])}`)
      expect(read.text).toBe(created.text)
    })

    test.each([
      [49.99, 'EUR', '49.99', 4999],
      ['49.99', 'EUR', '49.99', 4999],
      [49.9, 'EUR', '49.90', 4990],
      [50, 'EUR', '50.00', 5000],
      // Not 28 cents less, as 5.8 × 100 in floating point would be after truncation.
      [8.2, 'EUR', '8.20', 820],
      [2000, 'JPY', '2000', 2000],
      // Intl says that these have no decimals.
      ['5000.25', 'HUF', '5000.25', 500025],
      ['50000.25', 'COP', '50000.25', 5000025],
    ])('%p %s is %s, %i in minor units', async (amount, currency, decimal, minor) => {
      const created = await create({ amount, currency })
      expect(created.body).toMatchObject({ amount_decimal: decimal, amount_minor: minor, amount: Number(decimal) })
    })

    test('may have every optional field at its limit', async () => {
      const metadata = Object.fromEntries(
        Array.from({ length: 50 }, (_, i) => [`${i}`.padStart(40, 'k'), 'v'.repeat(500)]),
      )
      const created = await pay({
        description: '𝒳'.repeat(500),
        reference: 'r'.repeat(200),
        metadata,
        success_url: 'http://localhost:3000/thanks?x=1',
        cancel_url: 'https://shop.example/cancel',
        expires_in: 604_800,
        fallback: 'none',
      })
      expect(created.status).toBe(201)
      expect(created.body['metadata']).toEqual(metadata)
    })
  })

  test('a shop finds the payment again in the return URLs, also when it sends the request twice', async () => {
    const headers = { 'idempotency-key': 'names-the-payment' }
    const urls = {
      success_url: 'https://shop.example/thanks?p={PAYMENT_ID}',
      cancel_url: 'https://shop.example/{PAYMENT_ID}#{PAYMENT_ID}',
    }
    const order = { amount: '49.99', currency: 'EUR', ...urls }
    const [first, again] = [await create(order, headers), await create(order, headers)]
    expect(again.body).toEqual(first.body)
    const id = String(first.body['id'])
    expect(first.body).toMatchObject({
      success_url: `https://shop.example/thanks?p=${id}`,
      cancel_url: `https://shop.example/${id}#${id}`,
    })
    expect((await shop.ask('GET', `/v1/payments/${id}`)).body).toMatchObject({ success_url: first.body['success_url'] })
    expectProblem(await pay({ success_url: 'https://{PAYMENT_ID}.shop.example/' }), 400, 'validation_failed')
  })

  test('metadata comes back exactly as it was sent, and the other texts in one form of Unicode', async () => {
    const [composed, decomposed] = ['Café é', 'Cafe\u0301 e\u0301']
    const metadata = { [decomposed]: decomposed, [composed]: composed, blank: ' ', unseen: '\u200b', empty: '' }
    const { body } = await pay({ reference: decomposed, description: decomposed, metadata })
    expect(body).toMatchObject({ reference: composed, description: composed, metadata })
    expect((await shop.ask('GET', `/v1/payments/${String(body['id'])}`)).body['metadata']).toEqual(metadata)
  })

  test.each(['%7BPAYMENT_ID%7D', '%7bPAYMENT_ID%7d'])('the id replaces an encoded %s too', async (place) => {
    const { body } = await pay({ success_url: `https://shop.example/?p=${place}` })
    expect(body['success_url']).toBe(`https://shop.example/?p=${String(body['id'])}`)
  })

  test('a host with an underscore is taken for return pages and for webhooks, and is none in a last label', async () => {
    const url = 'https://my_shop.example/thanks'
    expect((await pay({ success_url: url })).body['success_url']).toBe(url)
    expect((await shop.ask('POST', '/v1/webhook_endpoints', { body: { url } })).status).toBe(201)
    const wrong = 'https://shop._example/thanks'
    expectProblem(await pay({ success_url: wrong }), 400, 'validation_failed')
    expectProblem(await shop.ask('POST', '/v1/webhook_endpoints', { body: { url: wrong } }), 400, 'validation_failed')
  })

  describe('a request that is not valid', () => {
    test('is told everything that is wrong with it at once', async () => {
      const before = await shop.count('payment')
      const answer = await create({
        amount: '1.234',
        currency: 'JPY',
        provider: 'card_partner',
        description: '',
        expires_in: 60,
        success_url: 'ftp://shop.example',
        metadata: { key: 5 },
        referense: 'A-1',
      })
      expectProblem(answer, 400, 'validation_failed')
      expect(Object.fromEntries(errorsOf(answer).map(({ pointer, code }) => [pointer, code]))).toEqual({
        '/amount': 'amount_precision',
        '/currency': 'currency_not_supported',
        '/description': 'parameter_invalid',
        '/expires_in': 'parameter_invalid',
        '/success_url': 'url_invalid',
        '/metadata/key': 'parameter_invalid',
        '/referense': 'parameter_unknown',
      })
      expect(answer.body['detail']).toContain('Did you mean reference?')
      expect(await shop.count('payment')).toBe(before)
    })

    const refused: [string, Record<string, unknown>, string, string][] = [
      ['no amount', { amount: undefined }, '/amount', 'parameter_missing'],
      ['no currency', { currency: undefined }, '/currency', 'parameter_missing'],
      ['an amount that is null', { amount: null }, '/amount', 'parameter_invalid'],
      ['an amount that is an object', { amount: {} }, '/amount', 'parameter_invalid'],
      ...[
        '-1',
        '+1',
        '1e3',
        '0x10',
        '1,5',
        ' 1',
        '1 ',
        '1.',
        '.5',
        '01',
        '',
        'NaN',
        'Infinity',
        '١٢',
        '1_000',
        '9'.repeat(31),
      ].map((amount): [string, Record<string, unknown>, string, string] => [
        `the amount ${JSON.stringify(amount)}`,
        { amount },
        '/amount',
        'amount_invalid',
      ]),
      ['a number so large that it needs an exponent', { amount: 1e21 }, '/amount', 'amount_invalid'],
      ['a number so small that it needs an exponent', { amount: 1e-7 }, '/amount', 'amount_invalid'],
      ['a negative number', { amount: -5 }, '/amount', 'amount_invalid'],
      ['zero', { amount: 0 }, '/amount', 'amount_invalid'],
      ['a number of more than 15 digits', { amount: 1234567890.1234567 }, '/amount', 'amount_invalid'],
      ['three decimals of a currency with two', { amount: 49.999 }, '/amount', 'amount_precision'],
      ['a decimal of a currency without', { amount: '100.5', currency: 'JPY' }, '/amount', 'amount_precision'],
      ['lower-case letters of a currency', { currency: 'eur' }, '/currency', 'parameter_invalid'],
      ['a currency of four letters', { currency: 'EURO' }, '/currency', 'parameter_invalid'],
      ['a provider that nobody knows', { provider: 'paypal' }, '/provider', 'parameter_invalid'],
      ['a provider that is a method of objects', { provider: 'constructor' }, '/provider', 'parameter_invalid'],
      ['a description that is too long', { description: 'x'.repeat(501) }, '/description', 'parameter_invalid'],
      ['a description with NUL', { description: 'a\u0000b' }, '/description', 'parameter_invalid'],
      ['a description with half a surrogate pair', { description: 'a\ud800b' }, '/description', 'parameter_invalid'],
      [
        'a description that turns the reading direction',
        { description: 'a\u202eb' },
        '/description',
        'parameter_invalid',
      ],
      ['a reference that is too long', { reference: 'x'.repeat(201) }, '/reference', 'parameter_invalid'],
      [
        '51 metadata keys',
        { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'v'])) },
        '/metadata',
        'parameter_invalid',
      ],
      ['a metadata key that is too long', { metadata: { ['k'.repeat(41)]: 'v' } }, '/metadata', 'parameter_invalid'],
      ['an empty metadata key', { metadata: { '': 'v' } }, '/metadata', 'parameter_invalid'],
      ['a metadata value that is too long', { metadata: { k: 'v'.repeat(501) } }, '/metadata/k', 'parameter_invalid'],
      ['metadata that is a list', { metadata: ['a'] }, '/metadata', 'parameter_invalid'],
      ['a plain http return URL', { success_url: 'http://shop.example/ok' }, '/success_url', 'url_invalid'],
      ['a javascript return URL', { cancel_url: 'javascript:alert(1)' }, '/cancel_url', 'url_invalid'],
      ['a relative return URL', { cancel_url: '/ok' }, '/cancel_url', 'url_invalid'],
      ['a return URL with a password', { success_url: 'https://a:b@shop.example' }, '/success_url', 'url_invalid'],
      [
        'a return URL with a line break',
        { success_url: 'https://shop.example/\nset-cookie' },
        '/success_url',
        'url_invalid',
      ],
      ['an expiry that is too near', { expires_in: 1799 }, '/expires_in', 'parameter_invalid'],
      ['an expiry that is too far', { expires_in: 604_801 }, '/expires_in', 'parameter_invalid'],
      ['an expiry with a fraction', { expires_in: 3600.5 }, '/expires_in', 'parameter_invalid'],
      ['an expiry as text', { expires_in: '3600' }, '/expires_in', 'parameter_invalid'],
      ['another fallback', { fallback: 'any' }, '/fallback', 'parameter_invalid'],
    ]
    test.each(refused)('%s is refused, and nothing is stored', async (_name, fields, pointer, code) => {
      const before = await shop.count('payment')
      const answer = await pay(fields)
      expectProblem(answer, 400, 'validation_failed')
      expect(errorsOf(answer)).toEqual([{ pointer, code, message: expect.stringMatching(/\.$/) }])
      expect(answer.body['param']).toBe(pointer.slice(1).replaceAll('/', '.'))
      expect(await shop.count('payment')).toBe(before)
    })

    test('a __proto__ in it is refused, not lost', async () => {
      expectProblem(
        await create('{"amount":"49.99","currency":"EUR","__proto__":{"provider":"wallet_app"}}'),
        400,
        'validation_failed',
      )
      expectProblem(
        await create('{"amount":"49.99","currency":"EUR","metadata":{"__proto__":"x"}}'),
        400,
        'validation_failed',
      )
    })

    test('thousands of unknown fields are answered shortly and soon', async () => {
      const body = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`descriptio${i}`, 1]))
      const started = process.cpuUsage()
      const answer = await create(body)
      expectProblem(answer, 400, 'validation_failed')
      expect(errorsOf(answer)).toHaveLength(50)
      expect(answer.text.length).toBeLessThan(16_384)
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
    })
  })
})

describe('The limits of a payment', () => {
  beforeAll(async () => {
    shop = await shop.asNewMerchant()
  }, 60_000)

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
})

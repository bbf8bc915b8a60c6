import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EVENT } from '../../../src/api/document/examples.ts'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { setFee, setReserve } from '../../../src/db/merchants/agreement.ts'
import { setWallet } from '../../../src/db/merchants/wallets.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { newId } from '../../../src/ids.ts'
import { runCommand } from '../../../src/operator/command.ts'
import { type Change, changeLockedPayment } from '../../../src/payments/change-payment.ts'
import { verifyReceipt } from '../../../src/verifier/verifier.js'
import { movePayment } from '../checkout/checkout-fixture.ts'
import { plantReceipt } from '../support/receipts.ts'
import { type SeededApi, seedApi } from '../support/seeded-api.ts'
import { type Answer, expectProblem, openTestApi, type TestApi } from '../support/test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
})
afterAll(() => testApi?.close())

describe('Creating a payment', () => {
  const create = (body: unknown, headers: Record<string, string> = {}) =>
    testApi.ask('POST', '/v1/payments', { body, headers })
  const pay = (fields: Record<string, unknown> = {}) => create({ amount: '49.99', currency: 'EUR', ...fields })

  type FieldError = { pointer: string; code: string; message: string }
  const getErrors = (answer: { body: Record<string, unknown> }) => (answer.body['errors'] ?? []) as FieldError[]

  describe('a payment that is created', () => {
    test('creating a payment returns 201, its location, and the object that a later read returns', async () => {
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
      const read = await testApi.ask('GET', `/v1/payments/${String(created.body['id'])}`)
      expect(read.text).toBe(created.text)
    })

    test.each([
      [49.99, 'EUR', '49.99', 4999],
      ['49.99', 'EUR', '49.99', 4999],
      [49.9, 'EUR', '49.90', 4990],
      [50, 'EUR', '50.00', 5000],
      // Truncation of 5.8 × 100 in floating point would lose a minor unit.
      [8.2, 'EUR', '8.20', 820],
      [2000, 'JPY', '2000', 2000],
      // Intl says that these have no decimals.
      ['5000.25', 'HUF', '5000.25', 500025],
      ['50000.25', 'COP', '50000.25', 5000025],
    ])('the amount %p %s is %s, %i in minor units', async (amount, currency, decimal, minor) => {
      const created = await create({ amount, currency })
      expect(created.body).toMatchObject({ amount_decimal: decimal, amount_minor: minor, amount: Number(decimal) })
    })

    test('a payment can have every optional field at its limit', async () => {
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

  test('a merchant finds the payment’s id in the return URLs, also when it repeats the request', async () => {
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
    expect((await testApi.ask('GET', `/v1/payments/${id}`)).body).toMatchObject({
      success_url: first.body['success_url'],
    })
    expectProblem(await pay({ success_url: 'https://{PAYMENT_ID}.shop.example/' }), 400, 'validation_failed')
  })

  test('metadata is returned exactly as it was sent, and other texts in one form of Unicode', async () => {
    const [composed, decomposed] = ['Café é', 'Cafe\u0301 e\u0301']
    const metadata = { [decomposed]: decomposed, [composed]: composed, blank: ' ', unseen: '\u200b', empty: '' }
    const { body } = await pay({ reference: decomposed, description: decomposed, metadata })
    expect(body).toMatchObject({ reference: composed, description: composed, metadata })
    expect((await testApi.ask('GET', `/v1/payments/${String(body['id'])}`)).body['metadata']).toEqual(metadata)
  })

  test('a reference has no invisible characters, is found as it was sent, and needs a visible character', async () => {
    const { body } = await pay({ reference: '\u200bA\u200b1\ufeff', description: 'می\u200cخواهم' })
    expect(body).toMatchObject({ reference: 'A1', description: 'می\u200cخواهم' })
    for (const asked of ['A1', '\u200bA\u200b1\ufeff']) {
      const found = await testApi.ask('GET', `/v1/payments?reference=${encodeURIComponent(asked)}`)
      expect(found.body['data']).toMatchObject([{ id: body['id'] }])
    }
    for (const reference of ['\u0300', '\u200b', ' \u0301\u200d'])
      expectProblem(await pay({ reference }), 400, 'validation_failed')
  })

  test.each(['%7BPAYMENT_ID%7D', '%7bPAYMENT_ID%7d'])('the id also replaces an encoded %s', async (place) => {
    const { body } = await pay({ success_url: `https://shop.example/?p=${place}` })
    expect(body['success_url']).toBe(`https://shop.example/?p=${String(body['id'])}`)
  })

  test('a host with an underscore is accepted for return pages and for webhooks, but not in the last label', async () => {
    const url = 'https://my_shop.example/thanks'
    expect((await pay({ success_url: url })).body['success_url']).toBe(url)
    expect((await testApi.ask('POST', '/v1/webhook_endpoints', { body: { url } })).status).toBe(201)
    const wrong = 'https://shop._example/thanks'
    expectProblem(await pay({ success_url: wrong }), 400, 'validation_failed')
    expectProblem(
      await testApi.ask('POST', '/v1/webhook_endpoints', { body: { url: wrong } }),
      400,
      'validation_failed',
    )
  })

  describe('An invalid request', () => {
    test('an invalid request gets all of its errors at once', async () => {
      const before = await testApi.count('payment')
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
      expect(Object.fromEntries(getErrors(answer).map(({ pointer, code }) => [pointer, code]))).toEqual({
        '/amount': 'amount_precision',
        '/description': 'parameter_invalid',
        '/expires_in': 'parameter_invalid',
        '/success_url': 'url_invalid',
        '/metadata/key': 'parameter_invalid',
        '/referense': 'parameter_unknown',
      })
      expect(answer.body['detail']).toContain('Did you mean reference?')
      expect(await testApi.count('payment')).toBe(before)
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
    test.each(refused)(
      'an invalid payment is refused, and nothing is stored: %s',
      async (_name, fields, pointer, code) => {
        const before = await testApi.count('payment')
        const answer = await pay(fields)
        expectProblem(answer, 400, 'validation_failed')
        expect(getErrors(answer)).toEqual([{ pointer, code, message: expect.stringMatching(/\.$/) }])
        expect(answer.body['param']).toBe(pointer.slice(1).replaceAll('/', '.'))
        expect(await testApi.count('payment')).toBe(before)
      },
    )

    test('a __proto__ in the metadata is refused, not lost', async () => {
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

    test('a request with thousands of unknown fields gets a short response quickly', async () => {
      const body = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`descriptio${i}`, 1]))
      const started = process.cpuUsage()
      const answer = await create(body)
      expectProblem(answer, 400, 'validation_failed')
      expect(getErrors(answer)).toHaveLength(50)
      expect(answer.text.length).toBeLessThan(16_384)
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
    })
  })
})

describe('The limits of a payment', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  }, 60_000)

  const create = (body: unknown, headers: Record<string, string> = {}) =>
    testApi.ask('POST', '/v1/payments', { body, headers })

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
      '%s %s at %s is %s, with the limit and the providers that would accept it',
      async (amount, currency, provider, code, limit, alternatives) => {
        const before = await testApi.count('payment')
        const answer = await create({ amount, currency, provider })
        expectProblem(answer, 422, code)
        expect(answer.body).toMatchObject({ ...limit, alternatives, param: 'amount' })
        expect(await testApi.count('payment')).toBe(before)
      },
    )

    test.each([
      ['BGN', undefined],
      ['XXX', undefined],
      ['INR', 'wallet_app'],
      ['JPY', 'card_partner'],
    ])(
      '%s with %s is an unsupported currency, and the response names the supported ones',
      async (currency, provider) => {
        const answer = await create({ amount: '5000', currency, provider })
        expectProblem(answer, 422, 'currency_not_supported')
        expect(answer.body['param']).toBe('currency')
        expect(answer.body['detail']).toContain('EUR')
      },
    )
  })

  test('a merchant without a wallet gets an error that asks to set one', async () => {
    const { key } = await testApi.addMerchant({ wallet: null })
    expectProblem(
      await testApi.ask('POST', '/v1/payments', { key, body: { amount: 10, currency: 'EUR' } }),
      422,
      'wallet_not_configured',
    )
  })

  test('a payment goes to the wallet that the account has when it is created, whatever the wallet is later', async () => {
    const merchant = await testApi.addMerchant()
    const [first, second, third] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]
    const { merchantId } = merchant.tenant
    const createdTo = async () => {
      const body = { amount: '49.99', currency: 'EUR' }
      const headers = { 'idempotency-key': newId('request') }
      const created = await testApi.ask('POST', '/v1/payments', { body, key: merchant.key, headers })
      return (created.body['settlement'] as { destination: string }).destination
    }
    await setWallet(testApi.db, merchant.tenant, first)
    expect(await createdTo()).toBe(first)
    await setWallet(testApi.db, merchant.tenant, second)
    expect(await createdTo()).toBe(second)
    const plan = (at: string) =>
      testApi.db.query(`update wallet set next_address = $1, next_at = ${at} where merchant_id = $2`, [
        third,
        merchantId,
      ])
    await plan("now() + interval '1 hour'")
    expect(await createdTo()).toBe(second)
    await plan('now()')
    expect(await createdTo()).toBe(third)
    const { rows } = await testApi.db.query('select destination from payment where merchant_id = $1 order by id', [
      merchantId,
    ])
    expect(rows.map(({ destination }) => destination)).toEqual([first, second, second, third])
  })

  test('a payment keeps the tolerances that the deployment has when it is created', async () => {
    const lenient = await openTestApi({
      deps: () => ({ tolerances: { tolerancePercent: 3, fillTolerancePercent: 7 } }),
    })
    try {
      const { body } = await lenient.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })
      const text = 'select tolerance_percent, fill_tolerance_percent from payment where id = $1'
      expect((await lenient.db.query(text, [body['id']])).rows).toEqual([
        { tolerance_percent: 3, fill_tolerance_percent: 7 },
      ])
    } finally {
      await lenient.close()
    }
  })

  test('a payment keeps the fee of its merchant from its creation, and later ones have the new fee', async () => {
    const merchant = await testApi.addMerchant()
    const { merchantId } = merchant.tenant
    const create = async () =>
      (await testApi.ask('POST', '/v1/payments', { key: merchant.key, body: { amount: '100.00', currency: 'EUR' } }))
        .body as { id: string; settlement: object; quote: object }
    const change = (fee: string | null) => testApi.db.transaction((tx) => setFee(tx, merchantId, fee))
    const standard = await create()
    await change('3.25')
    const own = await create()
    await change(null)
    const later = await create()
    const fees = [standard, own, later].map(({ settlement, quote }) => ({ ...settlement, ...quote }))
    // 100 EUR at 1.25 are 125 USDC.
    expect(fees).toMatchObject([
      { fee_percent: '4.5', net_usdc_estimate: '119.375000' },
      { fee_percent: '3.25', net_usdc_estimate: '120.937500' },
      { fee_percent: '4.5', net_usdc_estimate: '119.375000' },
    ])
    const { body } = await testApi.ask('GET', `/v1/payments/${own.id}`, { key: merchant.key })
    expect(body).toMatchObject({ settlement: { fee_percent: '3.25' } })
    await expect(testApi.db.query('update payment set fee_percent = 1 where id = $1', [own.id])).rejects.toThrow(
      'are fixed',
    )
  })

  test('a payment keeps the reserve of its merchant from its creation', async () => {
    const merchant = await testApi.addMerchant()
    const { merchantId } = merchant.tenant
    const create = async () =>
      (await testApi.ask('POST', '/v1/payments', { key: merchant.key, body: { amount: '100.00', currency: 'EUR' } }))
        .body as { id: string; settlement: object }
    const without = await create()
    await testApi.db.transaction((tx) => setReserve(tx, merchantId, { percent: '10', days: 30 }))
    const own = await create()
    expect([without.settlement, own.settlement]).toMatchObject([
      { reserve: null },
      {
        reserve: {
          percent: '10',
          days: 30,
          held_usdc: '0.000000',
          due_on: null,
          released_usdc: '0.000000',
          release: null,
        },
      },
    ])
    await testApi.db.transaction((tx) => setReserve(tx, merchantId, { percent: null }))
    expect((await create()).settlement).toMatchObject({ reserve: null })
    const { body } = await testApi.ask('GET', `/v1/payments/${own.id}`, { key: merchant.key })
    expect(body).toMatchObject({ settlement: { reserve: { percent: '10', days: 30 } } })
    await expect(testApi.db.query('update payment set reserve_days = 1 where id = $1', [own.id])).rejects.toThrow(
      'are fixed',
    )
    const account = await testApi.ask('GET', '/v1/account', { key: merchant.key })
    expect(account.body).toMatchObject({
      reserve: { percent: '0', days: 30, held_usdc: '0.000000', next_release_on: null },
    })
  })

  test('a quote has the fee of the merchant who asks', async () => {
    const merchant = await testApi.addMerchant()
    await testApi.db.transaction((tx) => setFee(tx, merchant.tenant.merchantId, '2'))
    const quote = (key?: string) =>
      testApi.ask('GET', '/v1/quotes?amount=100&currency=EUR', key === undefined ? {} : { key })
    expect((await quote(merchant.key)).body).toMatchObject({ fee_percent: '2', fee_usdc_estimate: '2.500000' })
    expect((await quote()).body).toMatchObject({ fee_percent: '4.5', fee_usdc_estimate: '5.625000' })
  })

  test('in live mode a shop cannot be on the developer’s own machine', async () => {
    const live = await openTestApi({ mode: 'live' })
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

describe('Reading payments, events, quotes and routes', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  type Fields = Record<string, unknown>
  const pay = async (fields: Fields = {}): Promise<string> =>
    String(
      (await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR', ...fields } })).body['id'],
    )
  const list = (query: string) => testApi.ask('GET', `/v1/payments?${query}`)
  const idsIn = (answer: Answer): string[] => (answer.body['data'] as Fields[]).map(({ id }) => String(id))

  describe('the list of payments', () => {
    let ids: string[] = []
    beforeAll(async () => {
      ids = []
      for (const [index, currency] of ['EUR', 'USD', 'EUR', 'JPY', 'EUR'].entries())
        ids.unshift(await pay({ currency, amount: '2000', reference: `order-${index}`, description: `100%_${index}` }))
    })

    test('the list of payments is newest first, page by page, forwards and back', async () => {
      const first = await list('limit=2')
      expect([idsIn(first), first.body['has_more']]).toEqual([ids.slice(0, 2), true])
      const second = await list(`limit=2&starting_after=${ids[1]!}`)
      expect(idsIn(second)).toEqual(ids.slice(2, 4))
      const last = await list(`limit=2&starting_after=${ids[3]!}`)
      expect([idsIn(last), last.body['has_more']]).toEqual([ids.slice(4), false])
      const back = await list(`limit=2&ending_before=${ids[4]!}`)
      expect([idsIn(back), back.body['has_more']]).toEqual([ids.slice(2, 4), true])
    })

    test('the list of payments can be filtered', async () => {
      const created = String((await testApi.ask('GET', `/v1/payments/${ids[2]!}`)).body['created_at'])
      const queries: [string, string[]][] = [
        ['currency=JPY', [ids[1]!]],
        ['reference=order-0', [ids[4]!]],
        ['status=pending,created&currency=USD', [ids[3]!]],
        ['status=succeeded', []],
        [`search=${ids[0]!}`, [ids[0]!]],
        ['search=ORDER-3', [ids[1]!]],
        [`search=${encodeURIComponent('100%_4')}`, [ids[0]!]],
        [`search=${encodeURIComponent('%')}&limit=100`, ids],
        ['search=nothing', []],
        [`created[gte]=${created}`, ids.slice(0, 3)],
        [`created[lt]=${created}`, ids.slice(3)],
        [`tx_hash=0x${'a'.repeat(64)}`, []],
        ['provider=wallet_app', []],
      ]
      for (const [query, expected] of queries) expect([query, idsIn(await list(query))]).toEqual([query, expected])
    })

    test.each(['NFC', 'NFD'] as const)('the list finds a reference in %s, however it was sent', async (form) => {
      const [sent, other] = form === 'NFC' ? ['NFD', 'NFC'] : ['NFC', 'NFD']
      const reference = `Bücher-Ångström-${form}`
      const id = await pay({ amount: '2000', currency: 'EUR', reference: reference.normalize(sent) })
      const asked = encodeURIComponent(reference.normalize(other))
      const part = encodeURIComponent(reference.slice(3).normalize(other))
      for (const query of [`reference=${asked}`, `search=${asked}`, `search=${part}`])
        expect([query, idsIn(await list(query))]).toEqual([query, [id]])
    })

    test.each([
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=1e1', 'limit'],
      ['status=paid', 'status'],
      ['status=created,paid', 'status'],
      ['currency=eur', 'currency'],
      ['provider=stripe', 'provider'],
      ['tx_hash=0x12', 'tx_hash'],
      ['created[gte]=yesterday', 'created[gte]'],
      ['created[gte]=2026-13-01T00:00:00Z', 'created[gte]'],
      ['created[gte]=0000-01-01T00:00:00Z', 'created[gte]'],
      ['created[lt]=2026-01-01T00:00:00%2B25:00', 'created[lt]'],
      ['created[lt]=1969-12-31T23:59:59Z', 'created[lt]'],
      ['reference=%00', 'reference'],
      ['starting_after=a', 'starting_after'],
      ['ending_before=evt_01m7z13c0xfzrbpdsf7qk0w6ta', 'ending_before'],
      ['limt=5', 'limt'],
    ])('the list refuses a parameter by name: %s', async (query, param) => {
      const answer = await list(query)
      expectProblem(answer, 400, 'validation_failed')
      expect(answer.body['param']).toBe(param)
    })

    test('a misspelt parameter gets an error with the nearest one', async () => {
      expect((await list('limt=5')).body['detail']).toBe('limt is not a known parameter. Did you mean limit?')
    })
  })

  test('the timeline has every entry in words and as data, oldest first', async () => {
    const id = await pay()
    const at = new Date().toISOString()
    const about = { type: 'payment.expired', paymentId: id, object: { id }, at }
    await testApi.ask('POST', '/v1/webhook_endpoints', {
      body: { url: 'https://shop.example/h', enabled_events: ['*'] },
    })
    const event = await testApi.db.transaction((tx) => recordEvent(tx, { ...testApi.tenant, ...about }))
    await testApi.db.query(
      `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status)
       select event_id, endpoint_id, 1, now(), 7, 503 from delivery where event_id = $1`,
      [event],
    )
    const answer = await testApi.ask('GET', `/v1/payments/${id}/timeline`)
    expect((answer.body['data'] as Fields[]).map(({ kind, message }) => [kind, message])).toEqual([
      ['payment.created', 'The payment was created'],
      ['event.recorded', 'payment.created was recorded'],
      ['event.recorded', 'payment.expired was recorded'],
      ['webhook.attempt', 'The webhook endpoint did not accept the event (503)'],
    ])
    expect((answer.body['data'] as Fields[])[3]).toMatchObject({ data: { event, attempt: 1, response_status: 503 } })
  })

  describe('events', () => {
    test('events are read from a place in the sequence, in order, as the bytes that were signed', async () => {
      const merchant = await testApi.addMerchant()
      const ask = (path: string) => testApi.ask('GET', path, { key: merchant.key })
      for (const type of ['payment.processing', 'payment.succeeded', 'payment.failed'])
        await testApi.db.transaction((tx) =>
          recordEvent(tx, {
            ...merchant.tenant,
            type,
            paymentId: null,
            object: EVENT.data.object,
            at: new Date().toISOString(),
          }),
        )
      const stored = await testApi.db.query('select body from event where merchant_id = $1 order by sequence', [
        merchant.tenant.merchantId,
      ])
      const bodies = (stored.rows as { body: Buffer }[]).map(({ body }) => body.toString())
      const first = await ask('/v1/events?after_sequence=0&limit=2')
      expect(first.text).toBe(`{"object":"list","data":[${bodies.slice(0, 2).join(',')}],"has_more":true}`)
      const next = await ask('/v1/events?after_sequence=2&limit=2')
      expect(next.text).toBe(`{"object":"list","data":[${bodies[2]!}],"has_more":false}`)
      const newest = await ask('/v1/events?limit=1')
      expect(newest.text).toContain(bodies[2])
      const before = (newest.body['data'] as { id: string }[])[0]!.id
      expect((await ask(`/v1/events?starting_after=${before}`)).text).toContain(`[${bodies[1]!},${bodies[0]!}]`)
      expect((await ask('/v1/events?type=payment.succeeded')).text).toContain(`[${bodies[1]!}]`)
      expect((await ask(`/v1/events/${before}`)).text).toBe(bodies[2])
      expectProblem(await ask('/v1/events?starting_after=evt_x'), 400, 'validation_failed')
      expectProblem(await ask('/v1/events/evt_x'), 404, 'resource_missing')
    })
  })

  describe('A payment whose money was sold', () => {
    const fixture = {
      change: (id: string, change: Change) =>
        testApi.db.transaction((tx) =>
          changeLockedPayment(tx, { publicUrl: testApi.url, now: Date.now }, { id, change }),
        ),
    }
    const read = async (id: string) => (await testApi.ask('GET', `/v1/payments/${id}`)).body

    test('the event of a delayed settlement has the time at which the delay began, until the delay ends', async () => {
      const id = await pay()
      await movePayment(fixture, id, ['pending', 'settling'])
      await fixture.change(id, (draft) => draft.setPayment({ delayedAt: draft.at }))
      expect(await read(id)).toMatchObject({
        exception: 'settlement_delayed',
        settlement: { delayed_since: expect.stringMatching(/Z$/), confirmed: { amount: '49.99', currency: 'EUR' } },
      })
      await movePayment(fixture, id, ['succeeded'])
      expect(await read(id)).toMatchObject({ exception: null, settlement: { delayed_since: null } })
    })

    test('each chargeback, and the money that was won back, is an event with its amount and the total loss', async () => {
      const id = await pay()
      await movePayment(fixture, id, ['pending', 'settling', 'succeeded'])
      const { attempts } = (await read(id)) as { attempts: { id: string; status: string }[] }
      const attempt = attempts[0]?.id ?? ''
      expect(attempts).toMatchObject([{ status: 'paid' }])
      for (const held of ['2999', '0', '4999']) await fixture.change(id, (draft) => draft.setAttempt(attempt, { held }))
      const { body } = await testApi.ask('GET', `/v1/events?payment=${id}&limit=3`)
      const chargebacks = (body['data'] as { type: string; data: { object: Fields } }[]).map(({ type, data }) => [
        type,
        data.object['chargeback'],
      ])
      expect(chargebacks).toEqual([
        ['payment.chargeback_won', { attempt, amount: '49.99', lost: '0.00', currency: 'EUR' }],
        ['payment.chargeback', { attempt, amount: '29.99', lost: '49.99', currency: 'EUR' }],
        ['payment.chargeback', { attempt, amount: '20.00', lost: '20.00', currency: 'EUR' }],
      ])
    })
  })

  test('an event of a payment link has the link as the document describes it', async () => {
    const link = await testApi.ask('POST', '/v1/payment_links', { body: { title: 'Box', amount: 64, currency: 'EUR' } })
    const event = { type: 'payment_link.completed', paymentId: null, object: link.body, at: new Date().toISOString() }
    await testApi.db.transaction((tx) => recordEvent(tx, { ...testApi.tenant, ...event }))
    // Every response that the test requests is compared with the document.
    const { body } = await testApi.ask('GET', '/v1/events?type=payment_link.completed')
    expect(body['data']).toEqual([expect.objectContaining({ data: { object: link.body } })])
  })

  describe('a quote', () => {
    test('a quote has the net amount, to the micro-USDC', async () => {
      const { body } = await testApi.ask('GET', '/v1/quotes?amount=49.99&currency=EUR&provider=wallet_app')
      // 49.99 x 1.25 = 62.4875; 4.5 % of it is 2.8119375, of which the fraction of a micro-USDC is not charged.
      expect(body).toMatchObject({
        rate: '1.25',
        gross_usdc_estimate: '62.487500',
        fee_usdc_estimate: '2.811937',
        net_usdc_estimate: '59.675563',
        fee_percent: '4.5',
      })
    })

    test('a quote counts a currency without decimals in whole units', async () => {
      const { body } = await testApi.ask('GET', '/v1/quotes?amount=5000&currency=JPY')
      expect([body['amount_decimal'], body['gross_usdc_estimate']]).toEqual(['5000', '31.250000'])
      const refused = await testApi.ask('GET', '/v1/quotes?amount=50.5&currency=JPY')
      expectProblem(refused, 400, 'validation_failed')
      expect((refused.body['errors'] as Fields[])[0]).toMatchObject({ code: 'amount_precision' })
    })

    test('a quote is refused outside the limits, with the limit and the providers that would accept it', async () => {
      const small = await testApi.ask('GET', '/v1/quotes?amount=5&currency=EUR&provider=wallet_app')
      expectProblem(small, 422, 'amount_too_small')
      expect(small.body).toMatchObject({ minimum: { amount: '6.00', currency: 'EUR' }, alternatives: ['card_partner'] })
      expectProblem(
        await testApi.ask('GET', '/v1/quotes?amount=5&currency=INR&provider=card_partner'),
        422,
        'currency_not_supported',
      )
    })
  })

  describe('a preview of routes', () => {
    const preview = async (body: Fields) => (await testApi.ask('POST', '/v1/routes/preview', { body })).body
    test('a preview lists what a buyer in a country can use, and why the rest is missing', async () => {
      const body = await preview({ amount: 49.99, currency: 'EUR', provider: 'wallet_app', country: 'BR' })
      expect(body).toMatchObject({
        pinned: null,
        pinned_refused: {
          provider: 'wallet_app',
          reason: 'country',
          message: 'wallet_app does not offer banking_app in BR.',
        },
        net_usdc_estimate: '59.675563',
      })
      expect((body['offers'] as Fields[]).map(({ provider }) => provider)).toContain('local_partner')
    })

    test('a preview considers the device and the limits', async () => {
      const body = await preview({ amount: '3', currency: 'USD', device_wallet: false })
      const reasons = new Set((body['refused'] as Fields[]).map(({ reason }) => reason))
      expect(reasons).toEqual(new Set(['device', 'amount_too_small']))
      expect((body['offers'] as Fields[]).map(({ method }) => method)).toEqual(['card', 'online_wallet'])
    })

    test('a preview with fallback none offers only the pinned method', async () => {
      const body = await preview({
        amount: 49.99,
        currency: 'EUR',
        provider: 'wallet_app',
        country: 'DE',
        fallback: 'none',
      })
      expect((body['offers'] as Fields[]).map(({ provider }) => provider)).toEqual(['wallet_app'])
    })
  })

  describe('Limits of requests', () => {
    const windows = {
      windowSeconds: 60,
      refusalsPerMinute: 2,
      signInsPerHour: 9,
      formsPerHour: 9,
      sendsPerHour: 9,
      madePerHour: { file: 9, key: 9 },
    }
    const visits = { pressesPerMinute: { address: 9, link: 9 }, looksPerMinute: 9, actsPerMinute: 9 }
    // The windows follow the clock: none ends while the test runs.
    const limited = (requests: number) => () => ({
      limits: createRequestLimits({ requests, ...windows, ...visits, clock: () => Date.UTC(2026, 0, 1) }),
    })

    test('a list counts once for every ten rows that it requests, so that large pages read no more than small ones', async () => {
      const small = await openTestApi({ deps: limited(13) })
      try {
        const left = async (path: string) => {
          const { status, headers } = await small.ask('GET', path)
          return [status, Number(/r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1])]
        }
        expect(await left('/v1/payments?limit=10')).toEqual([200, 12])
        expect(await left('/v1/payments?limit=11')).toEqual([200, 10])
        // Refused for its limit; no higher number counts more than the longest list.
        expect(await left('/v1/payments?limit=999999')).toEqual([400, 0])
        expect(await left('/v1/payments')).toEqual([429, 0])
      } finally {
        await small.close()
      }
    })

    test('every response names the limits of requests, and beyond them 429 says when to try again', async () => {
      const small = await openTestApi({ deps: limited(3) })
      try {
        const answers = await Promise.all(Array.from({ length: 6 }, () => small.ask('GET', '/v1/providers')))
        const taken = answers.filter(({ status }) => status === 200)
        const refused = answers.filter(({ status }) => status === 429)
        expect([taken.length, refused.length]).toEqual([3, 3])
        expect(taken[0]!.headers.get('ratelimit-policy')).toBe('"account";q=3;w=60')
        const left = taken.map(({ headers }) => /^"account";r=(\d);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1])
        expect(new Set(left)).toEqual(new Set(['0', '1', '2']))
        expectProblem(refused[0]!, 429, 'rate_limited')
        expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(30)
        expect(refused[0]!.headers.get('ratelimit')).toMatch(/^"account";r=0;t=\d+$/)
        // Another account is not affected.
        const other = await small.addMerchant()
        expect((await small.ask('GET', '/v1/providers', { key: other.key })).status).toBe(200)
        const guesses = await Promise.all(
          Array.from({ length: 4 }, () => small.ask('GET', '/v1/providers', { key: 'x' })),
        )
        expect(guesses.filter(({ status }) => status === 401)).toHaveLength(2)
        expect(guesses.filter(({ status }) => status === 429)).toHaveLength(2)
        expect((await small.ask('GET', '/v1/providers', { key: other.key })).status).toBe(200)
      } finally {
        await small.close()
      }
    })
  })
})

describe('Changing the words of a payment', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  type Fields = Record<string, unknown>
  const pay = async (fields: Fields = {}): Promise<string> =>
    String(
      (await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR', ...fields } })).body['id'],
    )
  const list = (query: string) => testApi.ask('GET', `/v1/payments?${query}`)
  const idsIn = (answer: Answer): string[] => (answer.body['data'] as Fields[]).map(({ id }) => String(id))

  const change = (id: string, body: Fields) => testApi.ask('PATCH', `/v1/payments/${id}`, { body })

  test('reference, metadata and description change, a field that is absent stays, and null removes one', async () => {
    const id = await pay({ reference: 'first', description: 'Tea', metadata: { cart: '1' } })
    const changed = await change(id, { reference: 'second', metadata: { parcel: 'JD0146' } })
    expect(changed).toMatchObject({
      status: 200,
      body: { reference: 'second', description: 'Tea', metadata: { parcel: 'JD0146' }, version: 2 },
    })
    expect((await change(id, { description: null, metadata: null })).body).toMatchObject({
      reference: 'second',
      description: null,
      metadata: {},
      version: 3,
    })
  })

  test('a payment is found by its new words and its metadata, and no longer by the old ones', async () => {
    const id = await pay({ reference: 'oldword', metadata: { parcel: 'JD0147' } })
    expect(idsIn(await list(`search=${encodeURIComponent('parcel: JD0147')}`))).toEqual([id])
    await change(id, { reference: 'newword', metadata: { parcel: 'JD0148' } })
    expect(idsIn(await list('search=newword'))).toEqual([id])
    expect(idsIn(await list('search=JD0148'))).toEqual([id])
    expect([...idsIn(await list('search=oldword')), ...idsIn(await list('search=JD0147'))]).toEqual([])
  })

  test('the description is fixed once the payment is not open, and the reference is not', async () => {
    const id = await pay({ description: 'Tea' })
    await testApi.db.query(`update payment set status = 'processing' where id = $1`, [id])
    expect(await change(id, { description: 'Coffee', reference: 'r' })).toMatchObject({
      status: 409,
      body: { code: 'not_possible_now', detail: expect.stringContaining('the payment is processing') },
    })
    expect((await testApi.ask('GET', `/v1/payments/${id}`)).body).toMatchObject({ reference: null })
    expect((await change(id, { description: 'Tea', reference: 'r' })).body).toMatchObject({ reference: 'r' })
  })

  test('a merchant changes only own payments, and only their words', async () => {
    const id = await pay()
    const other = await testApi.addMerchant()
    const body = { reference: 'mine' }
    expect((await testApi.ask('PATCH', `/v1/payments/${id}`, { key: other.key, body })).status).toBe(404)
    expect((await change(id, { amount: '1' })).status).toBe(400)
    expect((await change(id, {})).status).toBe(400)
    const forbidden = testApi.db.as(testApi.tenant).query('update payment set amount_minor = 1 where id = $1', [id])
    await expect(forbidden).rejects.toThrow('permission denied')
  })
})

describe('Lists', () => {
  let own: SeededApi
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    own = await seedApi(testApi)
  }, 60_000)

  type Item = { id: string; message: string; data: { attempt?: number } }
  const read = async (path: string) => (await testApi.ask('GET', path)).body as { data: Item[]; has_more: boolean }

  describe('a cursor', () => {
    const UNKNOWN = {
      '/v1/payments': 'pay_01m7z134d8fetv1hwd26y1yksm',
      '/v1/payment_links': 'plink_01m7z134d8fetv1hwd26y1yksm',
      '/v1/events': 'evt_01m7z134d8fetv1hwd26y1yksm',
      '/v1/api_keys': 'key_000000000000',
      deliveries: 'evt_01m7z134d8fetv1hwd26y1yksm',
    }

    test('every list refuses a cursor that is not an id, and does not find an unknown one', async () => {
      for (const [list, unknown] of Object.entries(UNKNOWN)) {
        const path = list === 'deliveries' ? `/v1/webhook_endpoints/${own.endpoint}/deliveries` : list
        for (const param of ['starting_after', 'ending_before'])
          for (const [cursor, status, code] of [
            ['x', 400, 'validation_failed'],
            [unknown, 404, 'resource_missing'],
          ] as const) {
            const answer = await testApi.ask('GET', `${path}?${param}=${cursor}`)
            expectProblem(answer, status, code)
            expect([path, answer.body['param']]).toEqual([path, param])
          }
      }
    })

    test('a cursor of another merchant is like an unknown one', async () => {
      const other = await seedApi(testApi, await testApi.addMerchant())
      for (const path of [
        `/v1/payments?starting_after=${other.payment}`,
        `/v1/payment_links?starting_after=${other.link}`,
        `/v1/events?ending_before=${other.event}`,
        `/v1/api_keys?starting_after=${other.apiKey}`,
        `/v1/webhook_endpoints/${own.endpoint}/deliveries?starting_after=${other.event}`,
      ])
        expectProblem(await testApi.ask('GET', path), 404, 'resource_missing')
    })

    test('cursors at both ends return what lies between them', async () => {
      const merchant = await testApi.addMerchant()
      const ids: string[] = []
      for (let made = 0; made < 4; made++) {
        const body = { amount: '10', currency: 'EUR' }
        ids.push(String((await testApi.ask('POST', '/v1/payments', { body, key: merchant.key })).body['id']))
      }
      const query = `starting_after=${ids[3]}&ending_before=${ids[0]}`
      const { body } = await testApi.ask('GET', `/v1/payments?${query}`, { key: merchant.key })
      expect((body['data'] as Item[]).map(({ id }) => id)).toEqual([ids[2], ids[1]])
      expect(body['has_more']).toBe(false)
    })
  })

  test('a timeline of 1,150 entries is read to its end, page by page, and back', async () => {
    const path = `/v1/payments/${own.payment}/timeline`
    const tried = `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms)
      select $1, $2, n, now() + (n / 3) * interval '1 second', 1 from generate_series(1, 1150) as n`
    await testApi.db.query(tried, [own.event, own.endpoint])
    const all: Item[] = []
    for (let more = true, cursor = ''; more; ) {
      const page = await read(`${path}?limit=100${cursor}`)
      all.push(...page.data)
      more = page.has_more
      cursor = `&starting_after=${all.at(-1)!.id}`
    }
    const tries = all.flatMap(({ data }) => data.attempt ?? [])
    expect(tries).toEqual(Array.from({ length: 1150 }, (_, index) => index + 1))
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect((await read(path)).has_more).toBe(true)
    const back = await read(`${path}?limit=2&ending_before=${all[5]!.id}`)
    expect([back.data.map(({ id }) => id), back.has_more]).toEqual([[all[3]!.id, all[4]!.id], true])
  })

  test('the log of a delivery shows its newest twenty tries, and the number of all', async () => {
    await testApi.db.query('update delivery set attempts = 1150 where event_id = $1', [own.event])
    const list = await testApi.ask('GET', `/v1/webhook_endpoints/${own.endpoint}/deliveries`)
    const [delivery] = list.body['data'] as { attempts: number; log: { number: number }[] }[]
    expect(delivery!.attempts).toBe(1150)
    expect(delivery!.log.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => 1131 + index))
    const sent = await testApi.ask('POST', `/v1/webhook_endpoints/${own.endpoint}/deliveries/${own.event}/redeliver`)
    expect((sent.body['log'] as unknown[]).length).toBe(20)
  })

  test('a time at the end of the range is accepted in any offset', async () => {
    for (const time of ['9999-12-31T23:59:59-01:00', '1970-01-01T00:00:00%2B05:00', '99999999999', '0'])
      for (const filter of ['created[gte]', 'created[lt]'])
        expect((await testApi.ask('GET', `/v1/payments?${filter}=${time}`)).status).toBe(200)
  })

  test('every list reads in one transaction, from one moment and one database', async () => {
    const counted: string[] = []
    const strict = await openTestApi({
      deps: ({ db }) => ({
        db: {
          ...db,
          lists: (tenant) => ({
            livemode: db.livemode,
            query: () => Promise.reject(new Error('a list must not read outside of its transaction')),
            transaction: (work) => {
              counted.push(tenant.merchantId)
              return db.lists(tenant).transaction(work)
            },
          }),
        },
      }),
    })
    try {
      const made = await seedApi(strict)
      const lists = [
        '/v1/payments',
        `/v1/payments/${made.payment}/timeline`,
        '/v1/payment_links',
        '/v1/events',
        '/v1/api_keys',
        '/v1/audit_log',
        `/v1/webhook_endpoints/${made.endpoint}/deliveries`,
        '/v1/exports/payments',
      ]
      for (const path of lists) expect([path, (await strict.ask('GET', path)).status]).toEqual([path, 200])
      expect(counted).toHaveLength(lists.length)
    } finally {
      await strict.close()
    }
  }, 60_000)
})

describe('Receipts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'receipts-'))
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  async function newPayment(): Promise<string> {
    const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    return String(body['id'])
  }

  async function publishedKeys(): Promise<{ text: string; keys: { kid: string; x: string }[] }> {
    const answer = await fetch(`${testApi.url}/.well-known/jwks.json`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch('application/jwk-set+json')
    const text = await answer.text()
    return { text, keys: (JSON.parse(text) as { keys: { kid: string; x: string }[] }).keys }
  }

  test('a payment that is not settled has no receipt: the response has its status', async () => {
    const answer = await testApi.ask('GET', `/v1/payments/${await newPayment()}/receipt`)
    expectProblem(answer, 409, 'receipt_not_available')
    expect(answer.body).toMatchObject({
      payment_status: 'created',
      detail: expect.stringContaining('this one is created'),
    })
    expect(answer.headers.get('retry-after')).toBeNull()
  })

  test('a payment that was just settled has no receipt yet: the response says when to try again', async () => {
    const id = await newPayment()
    await testApi.db.query(
      `update payment set status = 'succeeded', tx_hash = $2, log_index = 1, block_number = 7, finalized_at = now() where id = $1`,
      [id, `0x${'33'.repeat(32)}`],
    )
    const answer = await testApi.ask('GET', `/v1/payments/${id}/receipt`)
    expectProblem(answer, 409, 'receipt_not_available')
    expect(answer.body['payment_status']).toBe('succeeded')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('a receipt verifies with the published keys, and includes the log that it rests on', async () => {
    const id = await newPayment()
    const planted = await plantReceipt(testApi.db, id)
    const answer = await testApi.ask('GET', `/v1/payments/${id}/receipt`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(planted)
    const { keys } = await publishedKeys()
    const { verdict } = await verifyReceipt(answer.text, { keys, blockHash: planted.claims.block_hash })
    expect(verdict).toBe('proved')
    await testApi.db.query('delete from treasury_log where tx_hash = $1 and log_index = $2', [
      planted.claims.tx_hash,
      planted.claims.log_index,
    ])
    expectProblem(await testApi.ask('GET', `/v1/payments/${id}/receipt`), 409, 'receipt_not_available')
  })

  test('the command checks a receipt without any variable, and exits with 0 only if everything holds', async () => {
    const id = await newPayment()
    const { claims } = await plantReceipt(testApi.db, id)
    const { text } = await testApi.ask('GET', `/v1/payments/${id}/receipt`)
    const [file, wrong, keys] = ['receipt.json', 'wrong.json', 'keys.json'].map((name) => join(folder, name))
    writeFileSync(file!, text)
    writeFileSync(wrong!, text.replace('95.500000', '95.500001'))
    writeFileSync(keys!, (await publishedKeys()).text)
    const said: string[] = []
    const run = (...args: string[]) =>
      runCommand({ args: ['verify', ...args], env: {}, say: (line) => void said.push(line) })
    expect(await run(file!, '--keys', keys!, '--block-hash', claims.block_hash)).toBe(0)
    expect(said.at(-1)).toMatch('PROVED')
    expect(await run(file!)).toBe(1)
    expect(said.at(-1)).toMatch('INCOMPLETE')
    expect(said.join('\n')).toContain(`its hash must be ${claims.block_hash}`)
    expect(await run(wrong!, '--block-hash', claims.block_hash)).toBe(1)
    expect(said.join('\n')).toContain('claims.net_usdc must be what was transferred, 95.500000')
    expect(said.at(-1)).toMatch('WRONG')
    await expect(run(join(folder, 'absent.json'))).rejects.toThrow('cannot be read')
    await expect(run(file!, '--keys', file!)).rejects.toThrow('must be a set of keys')
  })

  test('the page that checks receipts loads nothing from other origins, and runs the code of the command', async () => {
    const page = await fetch(`${testApi.url}/receipts/verify`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toMatch("default-src 'none'; script-src 'self'")
    const html = await page.text()
    const load = async (path: string): Promise<string> => {
      const answer = await fetch(`${testApi.url}${path}`)
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        200,
        'text/javascript; charset=utf-8',
      ])
      return answer.text()
    }
    const [, script = ''] = /<script src="([^"]+)"/.exec(html) ?? []
    const imported = (text: string): string[] => [...text.matchAll(/from '([^']+)'/g)].map(([, path]) => path!)
    const [verifier, ...more] = imported(await load(script))
    expect(more).toEqual([])
    const [reading, ...others] = imported(await load(verifier!))
    expect(others).toEqual([])
    const source = new URL('../../../src/verifier/reading.js', import.meta.url)
    expect(await load(reading!)).toBe(readFileSync(source, 'utf8'))
    expect(imported(readFileSync(source, 'utf8'))).toEqual([])
    expect(html).not.toMatch(/https?:\/\//)
    for (const path of ['/receipts/verify', '/.well-known/jwks.json'])
      expect((await fetch(`${testApi.url}${path}`, { method: 'POST' })).status).toBe(405)
  })
})

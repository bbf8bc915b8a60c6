import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createTestOffering } from '../support/offering.ts'
import { type Answer, expectProblem, openTestApi, type TestApi } from './support/test-api.ts'

/** A deployment whose drivers serve less than the simulators' do. */
const OFFERING = createTestOffering({ wallet_app: 'stripe', card_partner: 'stripe', local_partner: 'razorpay' })

describe('What a deployment offers', () => {
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({ deps: () => ({ offering: OFFERING }) })
  })
  afterAll(() => testApi?.close())

  const post = (path: string, body: object): Promise<Answer> => testApi.ask('POST', path, { body })

  test('the list of providers has the methods and currencies of the configured drivers, and no USDC', async () => {
    const { body } = await testApi.ask('GET', '/v1/providers')
    const listed = (body['data'] as { name: string; methods: string[]; currencies: { code: string }[] }[]).map(
      ({ name, methods, currencies }) => [name, methods.join(' '), currencies.map(({ code }) => code).join(' ')],
    )
    expect(listed).toEqual([
      ['wallet_app', 'banking_app', 'EUR GBP DKK HUF PLN RON'],
      ['card_partner', 'card device_wallet online_wallet', 'USD EUR GBP CHF CZK DKK HUF ISK NOK PLN RON SEK'],
      ['local_partner', 'upi', 'INR USD EUR GBP'],
    ])
  })

  test('a preview of routes has only methods of the drivers', async () => {
    const { body } = await post('/v1/routes/preview', { amount: 49.99, currency: 'USD' })
    const ways = [...(body['offers'] as object[]), ...(body['refused'] as object[])] as {
      provider: string
      method: string
      reason?: string
    }[]
    expect(ways.map(({ provider, method, reason = 'offered' }) => `${provider}/${method}: ${reason}`)).toEqual([
      'card_partner/card: offered',
      'card_partner/device_wallet: offered',
      'card_partner/online_wallet: offered',
      'local_partner/upi: offered',
      'wallet_app/banking_app: currency',
    ])
  })

  test.each([
    ['a payment', '/v1/payments', { amount: '49.99', currency: 'CHF', provider: 'wallet_app' }],
    ['a link', '/v1/payment_links', { title: 'Box', amount: '49.99', currency: 'CHF', provider: 'wallet_app' }],
    ['a link whose buyer decides', '/v1/payment_links', { title: 'Tip', currency: 'CHF', provider: 'wallet_app' }],
  ])(
    '%s in a currency that the driver does not charge is refused, with the currencies and the providers that do',
    async (_what, path, body) => {
      const answer = await post(path, body)
      expectProblem(answer, 422, 'currency_not_supported')
      expect(answer.body).toMatchObject({
        param: 'currency',
        detail:
          'currency: must be a currency that wallet_app takes: EUR, GBP, DKK, HUF, PLN, RON. card_partner would take CHF.',
      })
    },
  )

  test('a payment in a currency that no driver charges is refused, with the currencies of all', async () => {
    const answer = await post('/v1/payments', { amount: '5000', currency: 'JPY' })
    expectProblem(answer, 422, 'currency_not_supported')
    expect(answer.body['detail']).toMatch(/^currency: must be a currency that a provider takes: EUR, .*INR\.$/)
  })

  test('a form offers the currencies of the drivers alone', async () => {
    const page = await (await fetch(`${testApi.url}/links`)).text()
    expect(page).toContain('<option value="ISK"')
    expect(page).not.toContain('<option value="JPY"')
  })
})

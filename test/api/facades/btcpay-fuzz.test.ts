import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { openTestApi, type TestApi } from '../support/test-api.ts'

const REQUESTS = 1500

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi({ deps: ({ workflows }) => ({ workflows: { ...workflows, start: async () => true } }) })
})
afterAll(() => testApi?.close())

const NAMES = [
  'amount currency metadata checkout orderId buyerEmail itemDesc posData redirectURL expirationMinutes status url secret',
  'enabled authorizedEvents everything specificEvents take skip textSearch startDate endDate __proto__ constructor',
].flatMap((line) => line.split(' '))
const WORDS = [
  '49.90',
  'EUR',
  'JPY',
  'BTC',
  'Invalid',
  'Settled',
  'https://shop.example/x',
  'InvoiceSettled',
  '\u0000',
  '',
]

const text = fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 40, unit: 'binary' }))
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('any'), { maxKeys: 6 }),
  ),
})).any
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: right as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: value })

/** Half of the bodies are nearly right, so that they reach the operations behind the first check. */
const body = fc.oneof(
  value,
  fc.record(
    {
      amount: mostly(fc.constantFrom('49.90', 49.9, '4990.00')),
      currency: mostly(fc.constantFrom('EUR', 'JPY')),
      metadata: mostly(
        fc.dictionary(fc.constantFrom('posData', 'a', 'buyerEmail', 'itemDesc', ...NAMES), value, { maxKeys: 5 }),
      ),
      checkout: mostly(
        fc.record({ redirectURL: fc.constantFrom('https://shop.example', ''), expirationMinutes: fc.double() }),
      ),
      url: fc.constant('https://shop.example/hook'),
      authorizedEvents: mostly(fc.record({ everything: fc.boolean(), specificEvents: fc.array(text) })),
      status: fc.constantFrom('Invalid', 'Settled', 'New'),
    },
    { requiredKeys: ['amount', 'currency'] },
  ),
)

type Ids = { readonly own: string; readonly invoice: string; readonly webhook: string; readonly mark: string }

/** A store with an invoice and a webhook; `mark` is in both, so that a response that shows one of them is found. */
async function seed(
  mark: string,
  merchant = testApi as { readonly tenant: TestApi['tenant']; readonly key: string },
): Promise<Ids> {
  const own = merchant.tenant.merchantId
  const post = async (path: string, sent: object): Promise<string> => {
    const response = await fetch(`${testApi.url}/btcpay/api/v1/stores/${own}/${path}`, {
      method: 'POST',
      headers: { authorization: `token ${merchant.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    })
    return ((await response.json()) as { id: string }).id
  }
  const invoice = await post('invoices', { amount: '20', currency: 'EUR', metadata: { orderId: mark, a: mark } })
  const webhook = await post('webhooks', {
    url: `https://${mark}.example/hook`,
    authorizedEvents: { everything: true },
  })
  return { own, invoice, webhook, mark }
}

test('no request gets a 5xx, another shape of error, or a byte of another store', async () => {
  const mine = await seed('mine')
  const other = await seed('forbidden-fruit', await testApi.addMerchant())
  const id = fc.constantFrom(mine.invoice, other.invoice, mine.webhook, other.webhook, 'x', '%00', '..', '%F0%9F')
  const end = fc.oneof(
    fc.constantFrom('', '/', '/invoices', '/invoices', '/webhooks', '/payment-methods', '/x'),
    fc.tuple(fc.constantFrom('invoices', 'webhooks'), id).map(([kind, one]) => `/${kind}/${one}`),
    id.map((one) => `/invoices/${one}/status`),
    id.map((one) => `/invoices/${one}/payment-methods`),
  )
  const query = fc.array(fc.tuple(fc.constantFrom(...NAMES), text), { maxLength: 3 }).map((pairs) => {
    const search = new URLSearchParams(pairs.map(([name, one]) => [name, one.toWellFormed()]))
    return pairs.length === 0 ? '' : `?${search.toString()}`
  })
  const request = fc.record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH'),
    path: fc
      .tuple(fc.constantFrom(mine.own, mine.own, mine.own, mine.own, other.own, 'x'), end, query)
      .map((parts) => `${parts[0]}${parts[1]}${parts[2]}`),
    sent: fc.oneof(
      { weight: 9, arbitrary: body.map((one) => JSON.stringify(one) ?? 'null') },
      { weight: 1, arbitrary: fc.string() },
    ),
  })
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, sent }) => {
      // A payment whose workflow does not run cannot be canceled: that waits for the time limit.
      fc.pre(
        !(method === 'DELETE' && path.includes(mine.invoice)) &&
          !(path.includes('/status') && sent.includes('Invalid')),
      )
      const response = await fetch(`${testApi.url}/btcpay/api/v1/stores/${path}`, {
        method,
        headers: { authorization: `token ${testApi.key}`, 'content-type': 'application/json' },
        ...(method !== 'GET' && { body: sent.toWellFormed() }),
      })
      const seen = await response.text()
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      expect(response.status).toBeLessThan(500)
      expect(seen).not.toContain(other.mark)
      if (response.status === 200) return
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      const error = JSON.parse(seen) as unknown
      if (response.status === 422)
        expect(error).toEqual(expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]))
      else expect(error).toEqual({ code: expect.stringMatching(/^[a-z-]+$/), message: expect.any(String) })
    }),
    { numRuns: REQUESTS, seed: 7 },
  )
  // The requests reach what they are for.
  expect(statuses.get(200)).toBeGreaterThan(30)
  expect(statuses.get(422)).toBeGreaterThan(30)
})

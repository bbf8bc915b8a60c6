import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { ApiScope } from '../../../src/api/auth/api-key.ts'
import { PROMPT_REFUSALS } from '../../../src/api/limits/hold.ts'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import type { ApiRequest } from '../../../src/db/merchants/requests.ts'
import { changeLockedPayment } from '../../../src/payments/change-payment.ts'
import { NO_LIMITS } from '../support/limits.ts'
import { endKey, type Merchant, openTestApi, type TestApi } from '../support/test-api.ts'

type Draft = Parameters<Parameters<typeof changeLockedPayment>[2]['change']>[0]

let testApi: TestApi
const logged: ApiRequest[] = []
beforeAll(async () => {
  testApi = await openTestApi({
    deps: ({ db, workflows, publicUrl }) => ({
      onRequest: (request) => void logged.push(request),
      // No worker runs: the row becomes what the workflow would make of it.
      workflows: {
        ...workflows,
        start: async () => true,
        cancel: async (id) => {
          const change = { id, change: (draft: Draft) => draft.setPayment({ closedAs: 'canceled' }) }
          await db.transaction((tx) => changeLockedPayment(tx, { publicUrl, now: Date.now }, change))
          return {} as never
        },
      },
    }),
  })
})
afterAll(() => testApi?.close())

type Body = Record<string, unknown>
type Answer = { readonly status: number; readonly headers: Headers; readonly body: Body; readonly text: string }
type Asked = { readonly key?: string; readonly body?: unknown; readonly scheme?: string }

/** Sends a request as a client of BTCPay does. */
async function ask(
  method: string,
  path: string,
  { key = testApi.key, body, scheme = 'token' }: Asked = {},
): Promise<Answer> {
  const response = await fetch(`${testApi.url}/btcpay${path}`, {
    method,
    headers: { authorization: `${scheme} ${key}`, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
    redirect: 'manual',
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: (readJson(text) ?? {}) as Body }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const store = (merchant: Pick<Merchant, 'tenant'> = testApi): string => `/api/v1/stores/${merchant.tenant.merchantId}`
const INVOICE = { amount: '49.90', currency: 'EUR', metadata: { orderId: '1001' } }
const SHOP: readonly ApiScope[] = ['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write']

async function create(body: object = INVOICE, merchant: Pick<Merchant, 'tenant' | 'key'> = testApi): Promise<Body> {
  const answer = await ask('POST', `${store(merchant)}/invoices`, { body, key: merchant.key })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

describe('Connecting a plugin', () => {
  test('a key of a shop has exactly the permissions that the plugin of WooCommerce asks for', async () => {
    const { key } = await testApi.addKey(testApi.tenant, SHOP)
    const { body } = await ask('GET', '/api/v1/api-keys/current', { key })
    const rights = ['canviewinvoices', 'cancreateinvoice', 'canviewstoresettings', 'canmodifyinvoices']
    expect(body).toEqual({
      apiKey: key,
      label: expect.stringMatching(/^key_/),
      permissions: [...rights, 'webhooks.canmodifywebhooks'].map(
        (right) => `btcpay.store.${right}:${testApi.tenant.merchantId}`,
      ),
    })
  })

  test('a key that can also write settings has those that the plugin of PrestaShop asks for', async () => {
    const { key } = await testApi.addKey(testApi.tenant, [...SHOP, 'settings:write'])
    const { body } = await ask('GET', '/api/v1/api-keys/current', { key })
    expect(body['permissions']).toContain(`btcpay.store.canmodifystoresettings:${testApi.tenant.merchantId}`)
    expect(body['permissions']).toHaveLength(6)
  })

  test('the server is ready, and of a version that plugins accept', async () => {
    const { body } = await ask('GET', '/api/v1/server/info')
    expect(body).toMatchObject({ fullySynched: true, version: '2.0.0', supportedPaymentMethods: ['USDC'] })
  })

  test('a key sees the one store that it belongs to, and a store without a wallet has no method', async () => {
    const id = testApi.tenant.merchantId
    expect(JSON.parse((await ask('GET', '/api/v1/stores')).text)).toMatchObject([{ id, name: 'Test Shop' }])
    expect((await ask('GET', store())).body).toMatchObject({ id, name: 'Test Shop' })
    expect(JSON.parse((await ask('GET', `${store()}/payment-methods?includeConfig=true`)).text)).toEqual([
      { paymentMethodId: 'USDC', paymentMethod: 'USDC', enabled: true, data: {} },
    ])
    const poor = await testApi.addMerchant({ wallet: null })
    expect((await ask('GET', `${store(poor)}/payment-methods`, { key: poor.key })).text).toBe('[]')
  })

  test('the page that asks for a key leads to a new key with the scopes that were asked for', async () => {
    const asked = [
      'canviewinvoices',
      'cancreateinvoice',
      'webhooks.canmodifywebhooks',
      'cancreatenonapprovedpullpayments',
    ]
    const query = asked.map((one) => `permissions=btcpay.store.${one}`).join('&')
    const { status, headers } = await ask(
      'GET',
      `/api-keys/authorize?${query}&applicationName=WooCommerce&redirect=https://evil.example`,
    )
    const to = new URL(headers.get('location') ?? '')
    expect([status, to.pathname, to.searchParams.get('name'), to.searchParams.get('scopes')]).toEqual([
      303,
      '/dashboard/keys/new',
      'WooCommerce',
      SHOP.join(','),
    ])
    expect(to.href).not.toContain('evil')
  })
})

describe('Invoices', () => {
  test('a new invoice has the checkout, the order and the time of the payment', async () => {
    const redirectURL = 'https://shop.example/thanks?order={OrderId}&invoice={InvoiceId}'
    const invoice = await create({
      ...INVOICE,
      metadata: { orderId: '10 01', buyerEmail: 'anna@mail.example', posData: '{"a":1}', buyerName: 'Anna' },
      checkout: { redirectURL, expirationMinutes: 60, speedPolicy: 'LowSpeed', paymentMethods: ['BTC'] },
    })
    const { body: payment } = await testApi.ask('GET', `/v1/payments/${String(invoice['id'])}`)
    expect(payment).toMatchObject({
      amount_decimal: '49.90',
      reference: '10 01',
      customer_email: 'anna@mail.example',
      metadata: { posData: '{"a":1}' },
      success_url: `https://shop.example/thanks?order=10%2001&invoice=${String(invoice['id'])}`,
    })
    expect(invoice).toMatchObject({
      id: payment['id'],
      storeId: testApi.tenant.merchantId,
      amount: '49.90',
      currency: 'EUR',
      status: 'New',
      additionalStatus: 'None',
      checkoutLink: payment['checkout_url'],
      metadata: { orderId: '10 01', buyerEmail: 'anna@mail.example', posData: '{"a":1}' },
      checkout: { speedPolicy: 'MediumSpeed', expirationMinutes: 60 },
    })
    expect(Number(invoice['expirationTime']) - Number(invoice['createdTime'])).toBe(3600)
    expect((await ask('GET', `${store()}/invoices/${String(invoice['id'])}`)).body).toEqual(invoice)
  })

  test.each([
    ['4990.00', 'JPY', '4990'],
    ['49.9', 'eur', '49.90'],
    ['49.900', 'EUR', '49.90'],
    [49.9, 'EUR', '49.90'],
  ])('the amount %s in %s is %s', async (amount, currency, expected) => {
    expect(await create({ amount, currency })).toMatchObject({ amount: expected })
  })

  test.each([
    [{ ...INVOICE, amount: '49.905' }, 'amount'],
    [{ ...INVOICE, amount: null }, 'amount'],
    [{ ...INVOICE, amount: '-1' }, 'amount'],
    [{ ...INVOICE, amount: '0.01' }, 'amount'],
    [{ ...INVOICE, currency: 'BTC' }, 'currency'],
    [{ ...INVOICE, metadata: { orderId: 'x'.repeat(201) } }, 'metadata.orderId'],
    [{ ...INVOICE, checkout: { redirectURL: 'http://shop.example' } }, 'checkout.redirectURL'],
    [{ ...INVOICE, checkout: 'x' }, 'checkout'],
  ])('the invoice %j is refused with its field', async (body, path) => {
    const answer = await ask('POST', `${store()}/invoices`, { body })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([422, [{ path, message: expect.any(String) }]])
  })

  test('a second request creates a second invoice, as at BTCPay', async () => {
    expect((await create())['id']).not.toBe((await create())['id'])
  })

  test('marking an open invoice invalid cancels the payment, and no client can settle one', async () => {
    const { id } = await create()
    const at = `${store()}/invoices/${String(id)}`
    const settled = await ask('POST', `${at}/status`, { body: { status: 'Settled' } })
    expect([settled.status, settled.text]).toEqual([422, expect.stringContaining('final at your wallet')])
    expect((await ask('GET', at)).body).toMatchObject({ status: 'New' })
    const invalid = await ask('POST', `${at}/status`, { body: { status: 'Invalid' } })
    expect(invalid.body).toMatchObject({ status: 'Invalid', additionalStatus: 'Marked' })
    expect((await ask('DELETE', at)).body).toMatchObject({ status: 'Invalid' })
  })

  test('an invoice that is being paid is neither invalid nor archived by a request', async () => {
    const { id } = await create()
    await testApi.db.query("update payment set status = 'processing' where id = $1", [id])
    for (const [method, path, body] of [
      ['POST', '/status', { status: 'Invalid' }],
      ['DELETE', '', undefined],
    ] as const) {
      const answer = await ask(method, `${store()}/invoices/${String(id)}${path}`, { body })
      expect([answer.status, answer.body['code']]).toEqual([409, 'payment-not-cancelable'])
    }
  })

  test('the metadata is replaced, and the address of the buyer only if it is named', async () => {
    const { id } = await create({ ...INVOICE, metadata: { orderId: '7', buyerEmail: 'a@mail.example', a: 'b' } })
    const at = `${store()}/invoices/${String(id)}`
    const { body } = await ask('PUT', at, { body: { metadata: { orderId: '8', c: 'd' } } })
    expect(body['metadata']).toEqual({ orderId: '8', c: 'd', buyerEmail: 'a@mail.example' })
    const named = await ask('PUT', at, { body: { metadata: { buyerEmail: null } } })
    expect(named.body['metadata']).toEqual({ orderId: '8', c: 'd' })
    for (const sent of [{}, { metadata: null }, { metadata: {} }, { metadata: { buyerEmail: 'nobody' } }])
      expect((await ask('PUT', at, { body: sent })).body['metadata']).toEqual({ orderId: '8', c: 'd' })
    const removed = await ask('PUT', at, { body: { metadata: { orderId: null } } })
    expect(removed.body['metadata']).toEqual({ c: 'd' })
  })

  test('half a surrogate pair in the number of an order is refused with its field', async () => {
    const redirectURL = 'https://shop.example/thanks?order={OrderId}'
    const body =
      '{"amount":"10","currency":"EUR","metadata":{"orderId":"\\ud800"},"checkout":{"redirectURL":"' +
      redirectURL +
      '"}}'
    expect((await ask('POST', `${store()}/invoices`, { body })).status).toBeLessThan(500)
  })

  test('the method shows what was paid', async () => {
    const { id } = await create()
    const at = `${store()}/invoices/${String(id)}/payment-methods`
    expect(JSON.parse((await ask('GET', at)).text)).toMatchObject([
      { paymentMethodId: 'USDC', amount: '49.90', due: '49.90', totalPaid: '0', payments: [] },
    ])
  })

  test('a part that was paid in another currency is that part of the price, also after it was settled', async () => {
    const { id } = await create()
    await testApi.db.query(
      `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
       values ('att_' || $1::text, $1, 'local_partner', 'upi', 'paid', 449100, 'INR', now(), now())`,
      [id],
    )
    await testApi.db.query(
      `update payment set status = 'succeeded', exception = 'underpaid', paid_attempt_id = 'att_' || $1::text,
         charge_currency = 'INR', confirmed_minor = 224550, paid_at = now(), closed_at = now() where id = $1`,
      [id],
    )
    const at = `${store()}/invoices/${String(id)}`
    const paid = { status: 'Settled', additionalStatus: 'PaidPartial', amount: '49.90', paidAmount: '24.95' }
    expect((await ask('GET', at)).body).toMatchObject(paid)
    expect(JSON.parse((await ask('GET', `${at}/payment-methods`)).text)).toMatchObject([
      { due: '24.95', totalPaid: '24.95', payments: [{ value: '24.95' }] },
    ])
    expect(JSON.parse((await ask('GET', `${store()}/invoices?status=Settled`)).text)).toMatchObject([paid])
  })

  test('the list is filtered by orders, statuses and words, and paged', async () => {
    const merchant = await testApi.addMerchant()
    for (const orderId of ['1', '2', '3', '4']) await create({ ...INVOICE, metadata: { orderId } }, merchant)
    const list = async (query: string): Promise<string[]> => {
      const { text } = await ask('GET', `${store(merchant)}/invoices${query}`, { key: merchant.key })
      return (JSON.parse(text) as { metadata: { orderId: string } }[]).map(({ metadata }) => metadata.orderId)
    }
    expect(await list('')).toEqual(['4', '3', '2', '1'])
    expect(await list('?orderId=2&orderId=4')).toEqual(['4', '2'])
    expect(await list('?take=2&skip=1')).toEqual(['3', '2'])
    expect(await list('?status=Settled')).toEqual([])
    expect(await list('?status=New&status=Expired&take=1')).toEqual(['4'])
    expect(await list('?status=Paid')).toEqual([])
    expect(await list('?startDate=4000000000')).toEqual([])
    const refused = await ask('GET', `${store(merchant)}/invoices?take=101`, { key: merchant.key })
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([422, [{ path: 'take' }]])
  })

  test('the address that plugins compose leads to the checkout until the payment has ended', async () => {
    const { id, checkoutLink } = await create()
    const { status, headers } = await ask('GET', `/i/${String(id)}`)
    expect([status, headers.get('location')]).toEqual([303, checkoutLink])
    const framed = await ask('GET', `/i/${String(id)}/frame`)
    expect(framed.headers.get('location')).toBe(`${String(checkoutLink)}/frame`)
    await ask('DELETE', `${store()}/invoices/${String(id)}`)
    for (const unknown of [String(id), 'pay_x', '%00'])
      expect((await ask('GET', `/i/${unknown}`)).headers.get('location')).toBeNull()
  })
})

describe('Payments that the shop has not created', () => {
  test('they are no invoices, and their addresses do not lead to the checkout', async () => {
    const merchant = await testApi.addMerchant()
    const body = { amount: '10', currency: 'EUR', reference: 'own-1', description: 'words to find' }
    const { body: payment } = await testApi.ask('POST', '/v1/payments', { body, key: merchant.key })
    const id = String(payment['id'])
    const at = `${store(merchant)}/invoices`
    for (const [method, path, sent] of [
      ['GET', ''],
      ['GET', '/payment-methods'],
      ['PUT', '', { metadata: { orderId: 'other' } }],
      ['DELETE', ''],
      ['POST', '/status', { status: 'Invalid' }],
    ] as const)
      expect((await ask(method, `${at}/${id}${path}`, { key: merchant.key, body: sent })).status).toBe(404)
    for (const query of ['', '?orderId=own-1', '?textSearch=words', `?textSearch=${id}`])
      expect((await ask('GET', `${at}${query}`, { key: merchant.key })).text).toBe('[]')
    const page = await ask('GET', `/i/${id}`)
    expect([page.status, page.headers.get('location')]).toEqual([404, null])
    const { body: after } = await testApi.ask('GET', `/v1/payments/${id}`, { key: merchant.key })
    expect(after).toEqual(payment)
  })

  test('a webhook of a shop gets no event of them, neither at the creation nor later', async () => {
    const merchant = await testApi.addMerchant()
    const hook = { url: 'https://shop.example/hook', authorizedEvents: { everything: true } }
    const { body: webhook } = await ask('POST', `${store(merchant)}/webhooks`, { body: hook, key: merchant.key })
    const own = { url: 'https://shop.example/own', enabled_events: ['*'] }
    const { body: standard } = await testApi.ask('POST', '/v1/webhook_endpoints', { body: own, key: merchant.key })
    const body = { amount: '10', currency: 'EUR' }
    const { body: payment } = await testApi.ask('POST', '/v1/payments', { body, key: merchant.key })
    const invoice = await create(INVOICE, merchant)
    for (const { id } of [payment, invoice])
      await testApi.ask('POST', `/v1/payments/${String(id)}/cancel`, { key: merchant.key })
    const { rows } = await testApi.db.query(
      `select endpoint_id, payment_id, type from delivery join event on event.id = event_id
       where delivery.merchant_id = $1 order by sequence`,
      [merchant.tenant.merchantId],
    )
    const listDelivered = (to: Body) =>
      (rows as { endpoint_id: string; payment_id: string; type: string }[])
        .filter(({ endpoint_id: endpoint }) => endpoint === to['id'])
        .map(({ payment_id: id, type }) => [id, type])
    const [ofPayment, ofInvoice] = [payment, invoice].map(({ id }) => [
      [id, 'payment.created'],
      [id, 'payment.canceled'],
    ])
    expect(listDelivered(webhook)).toEqual(ofInvoice)
    expect(listDelivered(standard)).toEqual([ofPayment?.[0], ofInvoice?.[0], ofPayment?.[1], ofInvoice?.[1]])
  })
})

describe('Webhooks of a shop', () => {
  const HOOK = {
    url: 'https://shop.example/?wc-api=btcpaygf_default',
    enabled: true,
    automaticRedelivery: true,
    authorizedEvents: {
      everything: false,
      specificEvents: ['InvoiceSettled', 'InvoicePaymentSettled', 'InvoiceInvalid'],
    },
  }

  test('a webhook is an endpoint in the format of BTCPay, and its secret is shown once', async () => {
    const { status, body: made } = await ask('POST', `${store()}/webhooks`, { body: HOOK })
    expect([status, made]).toEqual([
      200,
      {
        id: expect.stringMatching(/^we_/),
        secret: expect.stringMatching(/^whsec_/),
        enabled: true,
        automaticRedelivery: true,
        url: HOOK.url,
        authorizedEvents: { everything: false, specificEvents: ['InvoiceSettled', 'InvoiceInvalid'] },
      },
    ])
    const { secret: _secret, ...shown } = made
    const at = `${store()}/webhooks/${String(made['id'])}`
    expect((await ask('GET', at)).body).toEqual(shown)
    expect(JSON.parse((await ask('GET', `${store()}/webhooks`)).text)).toContainEqual(shown)
    const { body: endpoint } = await testApi.ask('GET', `/v1/webhook_endpoints/${String(made['id'])}`)
    expect(endpoint).toMatchObject({
      format: 'btcpay',
      enabled_events: ['payment.succeeded', 'payment.failed', 'payment.canceled', 'payment.refunded'],
    })
    expect((await ask('DELETE', at)).status).toBe(200)
    expect((await ask('GET', at)).body).toMatchObject({ code: 'not-found' })
  })

  test('a shop can choose the secret, also later, and events that BTCPay lacks are refused', async () => {
    const secret = 'f00d'.repeat(12)
    const body = { url: 'https://shop.example/hook', secret, authorizedEvents: { everything: true } }
    const { body: made } = await ask('POST', `${store()}/webhooks`, { body })
    expect(made).toMatchObject({ secret, authorizedEvents: { everything: true } })
    const id = String(made['id'])
    const next = 'beef'.repeat(12)
    const changed = await ask('PUT', `${store()}/webhooks/${id}`, { body: { ...HOOK, secret: next, enabled: false } })
    expect(changed.body).toMatchObject({ id, enabled: false, url: HOOK.url })
    const row = z.object({ sealed: z.string() })
    const { rows } = await testApi.db.query('select secrets -> 0 as kept from webhook_endpoint where id = $1', [id])
    const { sealed } = row.parse((rows[0] as { kept: unknown }).kept)
    expect(testApi.secretBox.open(sealed, id)).toBe(next)
    const all = await testApi.ask('PATCH', `/v1/webhook_endpoints/${id}`, { body: { enabled_events: ['*'] } })
    expect([all.status, all.body['param']]).toEqual([400, 'enabled_events'])
    expect(JSON.stringify((await testApi.db.query('select data from audit_entry')).rows)).not.toMatch(/f00d|beef/)
  })

  test('an endpoint of the standard format is no webhook here, and cannot have a chosen secret', async () => {
    const { body } = await testApi.ask('POST', '/v1/webhook_endpoints', { body: { url: 'https://shop.example/own' } })
    expect((await ask('GET', `${store()}/webhooks/${String(body['id'])}`)).status).toBe(404)
    const refused = await testApi.ask('POST', '/v1/webhook_endpoints', {
      body: { url: 'https://shop.example/own', secret: 'x'.repeat(20) },
    })
    expect([refused.status, refused.body['param']]).toEqual([400, 'secret'])
  })

  test.each([
    [{ ...HOOK, url: 'ftp://shop.example' }, 'url'],
    [{ ...HOOK, secret: 'short' }, 'secret'],
    [{ ...HOOK, enabled: false }, 'enabled'],
    [{ ...HOOK, authorizedEvents: { specificEvents: ['InvoicePaymentSettled'] } }, 'authorizedEvents'],
    [{}, 'url'],
  ])('the webhook %j is refused with its field', async (body, path) => {
    const answer = await ask('POST', `${store()}/webhooks`, { body })
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([422, [{ path }]])
  })
})

describe('Requests that are refused', () => {
  test.each([
    ['a wrong key', { key: 'pinrail_test_x' }],
    ['the scheme of the own API', { scheme: 'Bearer' }],
  ])('%s gets 401 in the shape of BTCPay', async (_what, request) => {
    const { status, body, headers } = await ask('GET', '/api/v1/stores', request)
    expect([status, body]).toEqual([401, { code: 'unauthenticated', message: expect.stringContaining('token <key>') }])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('a revoked key, and a key without the scope, reach nothing', async () => {
    const revoked = await testApi.addKey(testApi.tenant, SHOP)
    await endKey(testApi.db, revoked.keyId, 'revoked_at')
    expect((await ask('GET', '/api/v1/stores', { key: revoked.key })).status).toBe(401)
    const { key } = await testApi.addKey(testApi.tenant, ['payments:read'])
    const answer = await ask('POST', `${store()}/invoices`, { key, body: INVOICE })
    expect([answer.status, answer.body['code']]).toEqual([403, 'missing-permission'])
    expect((await ask('GET', `${store()}/webhooks`, { key })).status).toBe(403)
  })

  test('a key reaches no invoice and no webhook of another store, by either name', async () => {
    const other = await testApi.addMerchant()
    const { id } = await create(INVOICE, other)
    const hook = { url: 'https://other.example/hook', authorizedEvents: { everything: true } }
    const { body: webhook } = await ask('POST', `${store(other)}/webhooks`, { body: hook, key: other.key })
    const paths = [
      `invoices/${String(id)}`,
      `invoices/${String(id)}/payment-methods`,
      `webhooks/${String(webhook['id'])}`,
    ]
    for (const at of [store(), store(other)])
      for (const path of paths) {
        const answer = await ask('GET', `${at}/${path}`)
        expect([answer.status, answer.body['code']]).toEqual([404, 'not-found'])
      }
    for (const method of ['PUT', 'DELETE'])
      expect((await ask(method, `${store()}/webhooks/${String(webhook['id'])}`, { body: hook })).status).toBe(404)
    expect((await ask('GET', `${store(other)}/webhooks`)).status).toBe(404)
    expect(JSON.parse((await ask('GET', `${store()}/invoices?textSearch=${String(id)}`)).text)).toEqual([])
  })

  test('an unknown path, another method and a broken body get their code', async () => {
    const codes = await Promise.all([
      ask('GET', `${store()}/pull-payments`),
      ask('POST', '/api/v1/server/info', { body: {} }),
      ask('POST', `${store()}/invoices`, { body: '{' }),
    ])
    expect(codes.map(({ status, body }) => [status, body['code']])).toEqual([
      [404, 'not-found'],
      [405, 'method-not-allowed'],
      [400, 'invalid-json'],
    ])
  })

  test('the log of requests has no key, no checkout, no secret and no data of a buyer', async () => {
    const from = logged.length
    await create({ ...INVOICE, metadata: { buyerEmail: 'anna@mail.example', buyerName: 'Anna Example' } })
    const body = {
      url: 'https://shop.example/logged',
      secret: 'cafe'.repeat(12),
      authorizedEvents: { everything: true },
    }
    await ask('POST', `${store()}/webhooks`, { body })
    const text = JSON.stringify(logged.slice(from))
    expect(logged.slice(from)).toHaveLength(2)
    expect(text).not.toMatch(/cafe|anna|Anna|pinrail_test_|\/c\//)
  })

  test('a live key can add a webhook, and cannot change one', async () => {
    const live = await openTestApi({ mode: 'live' })
    try {
      const send = (method: string, path: string, body: object) =>
        fetch(`${live.url}/btcpay/api/v1/stores/${live.tenant.merchantId}/webhooks${path}`, {
          method,
          headers: { authorization: `token ${live.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      const made = await send('POST', '', { url: 'https://shop.example/hook', authorizedEvents: { everything: true } })
      expect(made.status).toBe(200)
      const { id } = (await made.json()) as { id: string }
      const changed = await send('PUT', `/${id}`, { url: 'https://evil.example/hook' })
      expect([changed.status, await changed.json()]).toMatchObject([403, { code: 'step-up-required' }])
    } finally {
      await live.close()
    }
  })

  test('the requests of a key are limited with those to the own API', async () => {
    const limits = createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 }, requests: 1 })
    const limited = await openTestApi({ deps: () => ({ limits }) })
    try {
      await limited.ask('GET', '/v1/payments')
      const response = await fetch(`${limited.url}/btcpay/api/v1/stores`, {
        headers: { authorization: `token ${limited.key}` },
      })
      expect([response.status, await response.json()]).toMatchObject([429, { code: 'rate-limited' }])
      const look = () =>
        fetch(`${limited.url}/btcpay/api/v1/stores`, { headers: { authorization: `token ${limited.key}` } })
      for (let count = 0; count < PROMPT_REFUSALS; count++) await look()
      let isAnswered = false
      const held = look().then(({ status }) => {
        isAnswered = true
        return status
      })
      // This request was sent later, and is answered earlier.
      expect((await fetch(`${limited.url}/healthz`)).status).toBe(200)
      expect(isAnswered).toBe(false)
      expect(await held).toBe(429)
    } finally {
      await limited.close()
    }
  })

  test('a list of many orders counts once for each of them', async () => {
    const limits = createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 }, requests: 5 })
    const limited = await openTestApi({ deps: () => ({ limits }) })
    try {
      const list = async (orders: readonly number[]) => {
        const query = orders.map((order) => `orderId=${order}`).join('&')
        const url = `${limited.url}/btcpay/api/v1/stores/${limited.tenant.merchantId}/invoices?take=10&${query}`
        return (await fetch(url, { headers: { authorization: `token ${limited.key}` } })).status
      }
      expect(await list(Array.from({ length: 20 }, () => 1))).toBe(200)
      expect(await list(Array.from({ length: 20 }, (_, order) => order))).toBe(429)
    } finally {
      await limited.close()
    }
  })
})

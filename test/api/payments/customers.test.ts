import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiRequest } from '../../../src/db/merchants/requests.ts'
import { saveTypedAddress } from '../../../src/db/payments/buyers.ts'
import { type Answer, openTestApi, type TestApi } from '../support/test-api.ts'

let testApi: TestApi
const logged: ApiRequest[] = []
beforeAll(async () => {
  testApi = await openTestApi({ deps: () => ({ onRequest: (request) => void logged.push(request) }) })
})
afterAll(() => testApi?.close())

type Fields = Record<string, unknown>
const create = (fields: Fields = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  testApi.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR', ...fields }, headers })
const pay = async (fields: Fields = {}): Promise<string> => {
  const { status, text, body } = await create(fields)
  if (status !== 201) throw new Error(text)
  return String(body['id'])
}
const list = async (query: string): Promise<string[]> =>
  ((await testApi.ask('GET', `/v1/payments?${query}`)).body['data'] as Fields[]).map(({ id }) => String(id))
const type = (paymentId: string, email: string, source: 'shared' | 'private'): Promise<void> =>
  saveTypedAddress(testApi.db, { paymentId, email, source, language: 'en', at: '2026-11-20T21:00:00.000Z' })

describe('The buyer of a payment', () => {
  test('an address is normalized, returned, and found exactly, also with the same key again', async () => {
    const headers = { 'idempotency-key': 'customer-1' }
    const first = await create({ customer_email: ' Anna@Mail.Example', customer_tax_id: 'ATU1' }, headers)
    expect(first.body).toMatchObject({ customer_email: 'anna@mail.example', customer_tax_id: 'ATU1' })
    const again = await create({ customer_email: ' Anna@Mail.Example', customer_tax_id: 'ATU1' }, headers)
    expect(again.text).toBe(first.text)
    const id = String(first.body['id'])
    expect((await testApi.ask('GET', `/v1/payments/${id}`)).text).toBe(first.text)
    for (const query of ['customer_email=ANNA@mail.example', 'search=anna@mail.example'])
      expect([query, await list(query)]).toEqual([query, [id]])
    expect(await list('customer_email=nna@mail.example')).toEqual([])
    expect(await list('customer_email=anna@mail.example&status=succeeded')).toEqual([])
  })

  test('a search for an address also finds it in metadata, and a filter limits a search for words', async () => {
    const email = 'both@mail.example'
    const [named, given] = [await pay({ metadata: { mail: email } }), await pay({ customer_email: email })]
    expect(await list(`search=${email}`)).toEqual([given, named])
    const other = await pay({ customer_email: email, reference: 'findword' })
    await pay({ reference: 'findword' })
    expect(await list(`search=findword&customer_email=${email}`)).toEqual([other])
  })

  test('an address that the buyer typed is found only if the buyer shares it', async () => {
    const [shared, kept] = [await pay(), await pay()]
    await type(shared, 'typed@mail.example', 'shared')
    await type(kept, 'typed@mail.example', 'private')
    expect(await list('customer_email=typed@mail.example')).toEqual([shared])
    expect((await testApi.ask('GET', `/v1/payments/${kept}`)).body['customer_email']).toBeNull()
    expect((await testApi.ask('GET', '/v1/payments?limit=2')).text).toContain('typed@mail.example')
  })

  test('a merchant corrects or deletes the address of an own payment, and no other one', async () => {
    const id = await pay({ customer_email: 'old@mail.example' })
    const change = (email: string | null, key?: string) =>
      testApi.ask('PATCH', `/v1/payments/${id}`, { body: { customer_email: email }, ...(key && { key }) })
    expect((await change('new@mail.example')).body['customer_email']).toBe('new@mail.example')
    expect((await change(null)).body['customer_email']).toBeNull()
    const other = await testApi.addMerchant()
    expect((await change('x@mail.example', other.key)).status).toBe(404)
    expect((await change('no address')).status).toBe(400)
    const audited = await testApi.db.query(`select data::text as text from audit_entry where action = 'updatePayment'`)
    expect(audited.rows).not.toEqual([])
    expect(JSON.stringify(audited.rows)).not.toContain('@')
  })

  test('neither events nor the log of requests have the address', async () => {
    const id = await pay({ customer_email: 'log@mail.example', customer_tax_id: 'TAX-LOG' })
    await list('customer_email=log%40mail.example')
    await list('search=log@mail.example')
    await list(`search=${encodeURIComponent('log＠mail.example')}`)
    await list('search=order%20log@mail.example')
    await testApi.ask('POST', '/v1/payments', { body: { amount: 'x', customer_email: 'log@mail.example' } })
    const { rows } = await testApi.db.query(
      `select convert_from(body, 'UTF8') as text from event where payment_id = $1`,
      [id],
    )
    const paths = logged.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['/v1/payments?customer_email=(hidden)', '/v1/payments?search=(hidden)']),
    )
    expect(JSON.stringify([rows, logged])).not.toMatch(/log(?:@|%40|%EF%BC%A0)mail|TAX-LOG/)
  })
})

test('the audit log hides an address among the words of a search', async () => {
  await testApi.ask('GET', '/v1/exports/payments?search=order%20audit@mail.example')
  const { rows } = await testApi.db.query(`select data::text as text from audit_entry where action = 'exportPayments'`)
  expect(rows).toEqual([{ text: expect.stringContaining('order (hidden)') }])
})

describe('Items of a payment', () => {
  const items = [
    { name: 'Ticket', quantity: 2, unit_amount: '25.00', tax_percent: 7 },
    { name: 'Discount', unit_amount: -0.01 },
  ]

  test('items, invoice number and tax id come back as they are stored', async () => {
    const made = await create({ items, invoice_number: 'R-1', merchant_tax_id: 'DE129273398' })
    expect(made.body).toMatchObject({
      invoice_number: 'R-1',
      merchant_tax_id: 'DE129273398',
      items: [
        { name: 'Ticket', quantity: 2, unit_amount: '25.00', tax_percent: '7' },
        { name: 'Discount', quantity: 1, unit_amount: '-0.01', tax_percent: null },
      ],
    })
  })

  test.each([
    [
      'a sum that is not the amount',
      { items: [{ name: 'Ticket', unit_amount: '49.98' }] },
      'they are 49.98 EUR in all',
    ],
    [
      'decimals that the currency lacks',
      { amount: '50', currency: 'JPY', items: [{ name: 'A', unit_amount: '49.5' }] },
      'the decimals of JPY',
    ],
    ['a quantity of zero', { items: [{ name: 'A', quantity: 0, unit_amount: '49.99' }] }, 'at least 1'],
    ['a mark that turns the text', { items: [{ name: 'A\u202egnp', unit_amount: '49.99' }] }, 'control characters'],
    ['a tax above 100', { items: [{ name: 'A', unit_amount: '49.99', tax_percent: 101 }] }, '0 to 100'],
    ['too many items', { items: Array.from({ length: 51 }, () => ({ name: 'A', unit_amount: '0' })) }, 'at most 50'],
    ['no items', { items: [] }, 'at least 1 item'],
    ['an invoice number that turns', { invoice_number: 'R\u2066-1' }, 'control characters'],
    ['a long tax id', { merchant_tax_id: 'D'.repeat(41) }, '1 to 40 characters'],
  ])('a payment with %s is refused', async (_name, fields, message) => {
    const refused = await create(fields)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(message)])
  })

  test('a link takes items with a fixed amount only, and its payments have them', async () => {
    const link = (fields: Fields) =>
      testApi.ask('POST', '/v1/payment_links', { body: { title: 'Box', currency: 'EUR', items, ...fields } })
    expect((await link({ amount: '49.99' })).body).toMatchObject({ items: [{ name: 'Ticket' }, { name: 'Discount' }] })
    const refused = await link({})
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('must be absent if the buyer decides'),
    ])
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

type Fields = Record<string, unknown>
const BOX = { title: 'October tasting box', amount: 64, currency: 'EUR' }
const create = (fields: Fields = {}) => shop.ask('POST', '/v1/payment_links', { body: { ...BOX, ...fields } })
const change = (id: unknown, body: Fields) => shop.ask('PATCH', `/v1/payment_links/${String(id)}`, { body })

describe('a payment link', () => {
  test('is created, read, listed, changed and paused', async () => {
    const made = await create({ reference: 'box-1', max_payments: 50, metadata: { season: '10' } })
    expect(made.status).toBe(201)
    const { id, code } = made.body
    expect(made.headers.get('location')).toBe(`/v1/payment_links/${String(id)}`)
    expect(made.body).toMatchObject({
      object: 'payment_link',
      active: true,
      status: 'active',
      amount: 64,
      min_amount: null,
      payments_count: 0,
      wallet: null,
      created_via: 'api',
      url: expect.stringMatching(new RegExp(`/l/${String(code)}$`)),
    })
    expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).body).toEqual(made.body)
    for (const query of ['reference=box-1', 'search=TASTING', `search=${String(code)}`, 'active=true'])
      expect([query, (await shop.ask('GET', `/v1/payment_links?${query}`)).body['data']]).toEqual([query, [made.body]])
    const changed = await change(id, { title: 'November', max_payments: null, inactive_message: 'Back soon' })
    expect(changed.body).toMatchObject({ title: 'November', max_payments: null, amount: 64, reference: 'box-1' })
    const paused = await shop.ask('POST', `/v1/payment_links/${String(id)}/deactivate`)
    expect(paused.body).toMatchObject({ active: false, status: 'paused' })
    expect((await shop.ask('GET', '/v1/payment_links?active=true')).body['data']).toEqual([])
    expect((await change(id, { active: true })).body).toMatchObject({ active: true, status: 'active' })
  })

  test('leaves the amount to the buyer, within bounds', async () => {
    const tips = { title: 'Tip jar', amount: undefined, prefill: ['amount', 'amount'] }
    expect((await create(tips)).body).toMatchObject({ amount: null, min_amount: null, prefill: ['amount'] })
    expect((await create({ ...tips, min_amount: '2.5', max_amount: 80 })).body).toMatchObject({
      min_amount: 2.5,
      max_amount: 80,
    })
  })

  test.each([
    ['a fixed amount with bounds', { min_amount: 5 }, 'validation_failed', 400],
    ['a fixed amount that a query may fill in', { prefill: ['amount'] }, 'validation_failed', 400],
    ['bounds the wrong way around', { amount: undefined, min_amount: 80, max_amount: 5 }, 'validation_failed', 400],
    ['too many decimals', { currency: 'JPY', amount: '640.5' }, 'validation_failed', 400],
    ['an amount below the least of its method', { amount: 5, provider: 'wallet_app' }, 'amount_too_small', 422],
    ['a bound above the most of any', { amount: undefined, max_amount: 9_000_000 }, 'amount_too_large', 422],
    [
      'a currency that its method does not take',
      { currency: 'JPY', provider: 'card_partner' },
      'currency_not_supported',
      422,
    ],
    ['a wallet of its own', { wallet: `0x${'1'.repeat(40)}` }, 'validation_failed', 400],
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'validation_failed', 400],
    ['no title', { title: undefined }, 'validation_failed', 400],
  ])('is refused with %s', async (_what, fields, code, status) => {
    expectProblem(await create(fields as Fields), status, code)
  })

  test('cannot be given an end in the past later either, and stays as it is', async () => {
    const { id } = (await create()).body
    expectProblem(await change(id, { expires_at: '2020-01-01T00:00:00Z' }), 400, 'validation_failed')
    expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).body).toMatchObject({
      expires_at: null,
      status: 'active',
    })
  })

  test('names the bound that is refused', async () => {
    const refused = await create({ amount: undefined, max_amount: 9_000_000 })
    expect(refused.body['param']).toBe('max_amount')
  })

  test('needs a wallet that its payments go to', async () => {
    const { key } = await shop.addMerchant({ wallet: null })
    expectProblem(await shop.ask('POST', '/v1/payment_links', { body: BOX, key }), 422, 'wallet_not_configured')
  })

  test('is not created twice with one Idempotency-Key, also when the second request comes meanwhile', async () => {
    const once = () =>
      shop.ask('POST', '/v1/payment_links', {
        body: { ...BOX, reference: 'once' },
        headers: { 'idempotency-key': 'l1' },
      })
    const answers = await Promise.all([once(), once(), once()])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await shop.ask('GET', '/v1/payment_links?reference=once')).body['data']).toHaveLength(1)
  })

  test('that an operator has stopped cannot be set active by its owner', async () => {
    const { id } = (await create()).body
    await shop.db.query("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where id = $1", [id])
    expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).body).toMatchObject({
      active: false,
      status: 'stopped',
    })
    expectProblem(await change(id, { active: true }), 409, 'not_possible_now')
    expect((await change(id, { title: 'Still mine' })).status).toBe(200)
  })

  test('says that it is over when its time is', async () => {
    const { id } = (await create({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })).body
    await shop.db.query("update payment_link set expires_at = now() - interval '1 second' where id = $1", [id])
    expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).body['status']).toBe('expired')
  })

  test('finds its payments in the list of payments, and they name it', async () => {
    const { id } = (await create()).body
    const payment = await shop.ask('POST', '/v1/payments', { body: { amount: 64, currency: 'EUR' } })
    await shop.ask('POST', '/v1/payments', { body: { amount: 64, currency: 'EUR' } })
    await shop.db.query('alter table payment disable trigger payment_keeps_its_link')
    await shop.db.query('update payment set payment_link = $1 where id = $2', [id, payment.body['id']])
    await shop.db.query('alter table payment enable trigger payment_keeps_its_link')
    const listed = (await shop.ask('GET', `/v1/payments?payment_link=${String(id)}`)).body['data'] as Fields[]
    expect(listed.map((one) => [one['id'], one['payment_link']])).toEqual([[payment.body['id'], id]])
    expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).body['payments_count']).toBe(1)
  })

  test('may end as late as there are times, in whatever zone that is written', async () => {
    for (const end of ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59Z'])
      expect((await create({ expires_at: end })).body['expires_at']).toMatch(/^9999-12-31T23:59:59/)
  })
})

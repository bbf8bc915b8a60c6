import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openShop, type Shop } from './support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop({ temporalDown: true })
}, 60_000)
afterAll(() => shop?.close())

test('a cancellation that Temporal cannot accept is not promised: the response asks the merchant to try again', async () => {
  const { id } = (await shop.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })).body
  const answer = await shop.ask('POST', `/v1/payments/${String(id)}/cancel`)
  expect([answer.status, answer.body['code'], answer.headers.get('retry-after')]).toEqual([
    503,
    'temporarily_unavailable',
    '2',
  ])
  expect((await shop.ask('GET', `/v1/payments/${String(id)}`)).body['status']).toBe('created')
}, 60_000)

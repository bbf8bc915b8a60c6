import { expect, test } from '@jest/globals'
import { moveIntoPast } from '../../../src/db/test-mode/clock.ts'
import { expectProblem, openShop } from '../support/shop.ts'

test('in live mode nobody acts for a partner or lets time pass: the answer is that for a payment that is not there', async () => {
  const shop = await openShop({ mode: 'live' })
  try {
    const made = await shop.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    const id = String(made.body['id'])
    const row = async () => (await shop.db.query('select * from payment where id = $1', [id])).rows
    const before = await row()
    expect(before).toHaveLength(1)
    for (const [act, body] of [
      ['simulate', { action: 'pay' }],
      ['skip_time', { seconds: 60 }],
    ] as const) {
      const answer = await shop.ask('POST', `/v1/test/payments/${id}/${act}`, { body })
      expect([answer.status, answer.body['code']]).toEqual([404, 'resource_missing'])
    }
    // Also by a way past the route.
    await shop.db.transaction((tx) => moveIntoPast(tx, { paymentId: id, seconds: 60 }))
    expect(await row()).toEqual(before)
  } finally {
    await shop.close()
  }
})

test('in live mode no buyer is sent back to a local host: not by a payment, not by a link, not by one that is changed', async () => {
  const shop = await openShop({ mode: 'live' })
  try {
    const link = { title: 'Box', amount: 64, currency: 'EUR' }
    const made = await shop.ask('POST', '/v1/payment_links', { body: link })
    expect(made.status).toBe(201)
    const at = `/v1/payment_links/${String(made.body['id'])}`
    const local = 'http://localhost:3000/thanks'
    for (const [method, path, body, param] of [
      ['POST', '/v1/payments', { amount: 5, currency: 'EUR', success_url: local }, 'success_url'],
      ['POST', '/v1/payments', { amount: 5, currency: 'EUR', cancel_url: local }, 'cancel_url'],
      ['POST', '/v1/payment_links', { ...link, success_url: local }, 'success_url'],
      ['PATCH', at, { success_url: local }, 'success_url'],
    ] as const) {
      const answer = await shop.ask(method, path, { body })
      expectProblem(answer, 400, 'validation_failed')
      expect([method, path, answer.body['param']]).toEqual([method, path, param])
    }
    expect((await shop.ask('GET', at)).body['success_url']).toBeNull()
  } finally {
    await shop.close()
  }
})

import { expect, test } from '@jest/globals'
import { moveIntoPast } from '../../../src/db/test-mode/clock.ts'
import { openShop } from '../support/shop.ts'

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

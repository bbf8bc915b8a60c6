import { describe, expect, test } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import { attempts, payment, settled, untilStatus, useWorld, world } from '../../workflows/story.ts'

useWorld()

const simulate = async (id: string, body: Record<string, unknown>) => {
  const response = await fetch(`${world.api}/v1/test/payments/${id}/simulate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  // The simulator of the tests sends its callbacks when it is told to.
  await world.sandbox.callbacks.flush()
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('a test payment that is simulated', () => {
  test('is paid as by a buyer: an order is opened, the identity check passed, and it settles', async () => {
    const id = await world.createPayment()
    const paid = await simulate(id, { action: 'pay' })
    expect([paid.status, paid.body['status']]).toEqual([202, 'pending'])
    const checked = await simulate(id, { action: 'verify' })
    expect([202, 409]).toContain(checked.status)
    const row = await settled(id)
    expect(row.status).toBe('succeeded')
  })

  test('can be declined, and then paid in another order', async () => {
    const id = await world.createPayment({ provider: 'card_partner' })
    expect((await simulate(id, { action: 'decline', failure_code: 'insufficient_funds' })).status).toBe(202)
    await until(
      () => attempts(id),
      (all) => all.join() === 'declined',
    )
    expect((await payment(id)).status).toBe('pending')
    await simulate(id, { action: 'pay' })
    await simulate(id, { action: 'verify' })
    await settled(id)
  })

  test('can be paid too little, and is then held for somebody to decide', async () => {
    const id = await world.createPayment({ provider: 'card_partner' })
    await simulate(id, { action: 'pay', received_minor: '1000' })
    await simulate(id, { action: 'verify' })
    const row = await untilStatus(id, 'under_review')
    expect(row.exception).toBe('underpaid')
  })

  test('says what is not possible, with the state of the order', async () => {
    const id = await world.createPayment()
    const answer = await simulate(id, { action: 'release' })
    expect([answer.status, answer.body['code'], answer.body['order_status']]).toEqual([409, 'not_possible_now', 'open'])
    expect((await simulate('pay_x', { action: 'pay' })).status).toBe(404)
    expect((await simulate(id, { action: 'explode' })).status).toBe(400)
  })
})

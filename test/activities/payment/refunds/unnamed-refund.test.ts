import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createMoneyWorld, type MoneyWorld } from '../money-world.ts'

/** Two orders have money, and a refund names neither. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

/** Whatever was read of the first order, the buyer has paid it, and its partner refunds. */
const paying = () =>
  world.says({ status: 'paid', received: { minor: '10000', currency: 'EUR' } }, { refund: 'refunded' })

/**
 * The second order is the payment's, and its surplus was given back from elsewhere; then the first one was paid too. The
 * payment is held between its conversion and its payout.
 */
async function held() {
  const { made: first, other: second } = await world.two()
  for (const [action, receivedMinor] of [
    ['pay', '10000'],
    ['top_up', '12500'],
  ]) {
    await world.sandbox.act('card_partner', second.attemptId, { action, receivedMinor })
    await world.read(second)
  }
  await world.decide(first.id, 'recordExternalRefund', { attempt: second.attemptId })
  await world.read(first, paying())
  await world.convert(first.id)
  await world.decide(first.id, 'hold')
  expect(await world.attention(first.id)).toEqual(['parked operator_hold', 'surplus 10000 EUR'])
  return { id: first.id, own: second.attemptId, other: first.attemptId }
}

test('a refund that could be of the payment’s own money must name whose it is: nothing was changed', async () => {
  const { id, own, other } = await held()
  const before = await world.state(id)
  await expect(world.refund(id, {}, paying())).rejects.toMatchObject({
    type: 'DecisionRefused',
    message: `Name the attempt whose money goes back, as "attempt": ${other} or ${own}`,
  })
  expect(await world.state(id)).toEqual(before)
  expect((await world.refund(id, { attempt: other }, paying())).refunded).toBe(true)
  expect(await world.payment(id)).toMatchObject({ status: 'under_review', parkReason: 'operator_hold' })
  expect((await world.decide(id, 'release')).payment.status).toBe('processing')
})

test('… and, named, is of the payment’s own money: with it the payment is over', async () => {
  const { id, own } = await held()
  await world.decide(id, 'recordExternalRefund', { attempt: own })
  expect(await world.payment(id)).toMatchObject({ status: 'refunded' })
  expect(await world.attention(id)).toEqual(['surplus 10000 EUR'])
})

test('a refund through the partner must name whose it is where other money goes back by hand alone', async () => {
  const { id, own, other } = await held()
  await world.sandbox.act('card_partner', own, { action: 'top_up', receivedMinor: '15000' })
  await world.read({ id, attemptId: own })
  await expect(world.refund(id, {}, paying())).rejects.toThrow(`${other} or ${own}`)
})

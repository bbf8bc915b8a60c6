import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createMoneyWorld, type MoneyWorld } from '../activities/payment/money-world.ts'

/** The transfer of a voided payout is proved after all: a backup had forgotten its signature. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

async function voided(): Promise<{ id: string; attemptId: string }> {
  const made = await world.settling()
  await world.voided(made.id)
  return made
}

test('with its money still there the payment succeeds, and nobody has to look', async () => {
  const { id } = await voided()
  await world.settle(id)
  expect((await world.payment(id)).status).toBe('succeeded')
  expect(await world.attention(id)).toEqual([])
})

test('after the partner has taken a part of the money back, that part is a loss which an operator sees', async () => {
  const { id, attemptId } = await voided()
  await world.act(attemptId, { action: 'reverse', receivedMinor: '6000' })
  expect((await world.read({ id, attemptId })).payment.parkReason).toBe('payout_voided')
  await world.settle(id)
  expect((await world.payment(id)).status).toBe('succeeded')
  expect(await world.attention(id)).toEqual(['chargeback'])
})

test('before the partner answers that it has given the money back, all of it is a loss which an operator sees', async () => {
  const { id, attemptId } = await voided()
  await world.fault({ fault: 'timeout_before_effect', operation: 'refund', times: 1, attemptId })
  await expect(world.refund(id)).rejects.toThrow()
  await world.settle(id)
  expect(await world.refund(id)).toMatchObject({ refunded: true })
  expect((await world.payment(id)).status).toBe('succeeded')
  expect(await world.attention(id)).toEqual(['chargeback'])
})

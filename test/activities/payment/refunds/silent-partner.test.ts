import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createMoneyWorld, type MoneyWorld, NOTE } from '../money-world.ts'
import { perform } from '../world.ts'

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(() => world.clearFaults())

test('a partner that does not answer is not waited for: the refund stays asked for, and a later reading ends it', async () => {
  const { id, attemptId } = await world.paid('6000')
  await world.fault({ fault: 'server_error', operation: 'refund', attemptId })
  await expect(world.refund(id)).rejects.toMatchObject({ type: 'Partner.unknown' })
  const again = await perform(world.activities().refundAttempt, { paymentId: id, ...NOTE }, { attempt: 2 })
  expect(again).toMatchObject({ refunded: false, message: 'no answer yet: the partner is asked again' })
  expect(again.payment).toMatchObject({ status: 'under_review', refunding: [attemptId] })
  expect(await world.parts(id)).toEqual(['6000 returning'])
  await world.clearFaults()
  expect((await world.read({ id, attemptId })).payment).toMatchObject({ status: 'refunded' })
  expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
  expect(await world.books(id)).toEqual([])
})

test('what is not the silence of the partner is tried again', async () => {
  const { id } = await world.paid('6000')
  const real = world.deps.partners.wallet_app
  const wallet_app = { ...real, refundOrder: () => Promise.reject(new Error('a defect of ours')) }
  const activities = world.activities({ partners: { ...world.deps.partners, wallet_app } })
  const trying = perform(activities.refundAttempt, { paymentId: id, ...NOTE }, { attempt: 2 })
  await expect(trying).rejects.toThrow('a defect of ours')
})

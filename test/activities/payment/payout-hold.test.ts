import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { changeOf, changePayout, type Operation } from '../../../src/operator/payouts.ts'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'

/** A hold by an operator's decision, and the operator's command about its payout: neither is a way around the other. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

function run(name: 'hold' | 'release', id: string): Promise<number> {
  const told = { db: world.checkout.db, hooks: world.hooks, dryRun: false, say: () => undefined }
  const operation = told as unknown as Operation
  return changePayout(operation, id, changeOf(name, operation))
}

const payout = async (id: string) => {
  const { rows } = await world.checkout.db.query('select state from payout where payment_id = $1', [id])
  return (rows[0] as { state: string }).state
}

// the payout was queued, and paid, while the hold stood
test('the command does not release the payout of a payment that an operator holds', async () => {
  const { id } = await world.settling()
  await world.decide(id, 'hold')
  await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
  expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'operator_hold'])
  await world.decide(id, 'release')
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
})

test('… nor where the command has held the payout before the operator held the payment', async () => {
  const { id } = await world.settling()
  expect(await run('hold', id)).toBe(0)
  expect((await world.payment(id)).parkReason).toBe('payout_held')
  await world.decide(id, 'hold')
  await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
  expect(await payout(id)).toBe('held')
  // The hold is lifted by its decision, and the payout by another try.
  await world.decide(id, 'release')
  expect(await payout(id)).toBe('held')
  await world.decide(id, 'retry')
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
})

// it was paid out although the partner had taken the money back, where the callback that says so was lost
test('the command sets no payout going that has waited for a decision: before that the partner is asked for the money', async () => {
  const { id, attemptId } = await world.settling()
  expect(await run('hold', id)).toBe(0)
  await world.act(attemptId, { action: 'reverse' })
  await expect(run('release', id)).rejects.toThrow(`pinrail payments decide ${id} retry`)
  expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'payout_held'])
  expect((await world.read({ id, attemptId })).payment.parkReason).toBe('funds_reversed')
  expect(await payout(id)).toBe('voiding')
})

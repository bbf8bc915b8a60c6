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
  // The hold is lifted by its decision, and the payout by the command or by another try.
  await world.decide(id, 'release')
  expect(await payout(id)).toBe('held')
  expect(await run('release', id)).toBe(0)
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
})

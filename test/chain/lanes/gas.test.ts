import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createWorld, newAddress, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

/** Gas of the newest envelope, for each payout in it. */
async function gasPerPayout(): Promise<number> {
  const { rows } = await world.db.query(
    `select t.gas_used::float / count(*) as gas from lane_tx t join lane_tx_item i using (chain_id, wallet, nonce)
     group by t.nonce, t.gas_used order by t.nonce desc limit 1`,
  )
  return (rows[0] as { gas: number }).gas
}

test('a payout in a batch of a hundred costs about what a plain transfer costs', async () => {
  const recipients = Array.from({ length: 100 }, () => newAddress())
  const runner = world.runner()
  await world.queue(recipients.map((recipient) => ({ recipient })))
  await world.finalize(runner)
  expect(await gasPerPayout()).toBeLessThanOrEqual(65_500)
  await world.queue(recipients.map((recipient) => ({ recipient })))
  await world.finalize(runner)
  // A plain transfer to a known recipient costs 44,843.
  expect(await gasPerPayout()).toBeLessThanOrEqual(48_500)
  for (const { paymentId, gasWei } of world.heard.settled.slice(-100)) {
    expect(paymentId).toMatch(/^pay_/)
    expect(gasWei).toBeGreaterThan(0n)
  }
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { GWEI } from '../../../src/chain/lanes/fees.ts'
import type { Hex } from '../../../src/domain/hex.ts'
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

// it sent only the dearest one again, which no node took, also when the one before it would have done
test('what a wallet could not pay while gas was dear is not waited for when it is cheap again', async () => {
  const relayer = world.relayers[0]!.address
  const runner = world.runner()
  const attempts = async () => {
    const { rows } = await world.db.query(
      `select tx_hash, max_fee::bigint / 1000000000 as gwei from lane_tx_attempt a join lane_tx t using (wallet, nonce)
       where t.ended_at is null order by attempt`,
    )
    return rows as { tx_hash: Hex; gwei: string }[]
  }
  /** Pools are full then, and forget what does not pay. */
  const block = async (gwei: bigint): Promise<void> => {
    for (const { tx_hash: hash } of await attempts()) await world.chain.dropTransaction({ hash }).catch(() => undefined)
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * GWEI })
    await world.chain.mine({ blocks: 1 })
  }
  await block(60n)
  const queued = await world.queue(Array.from({ length: 50 }, () => ({})))
  // Enough for all of them at 206 gwei.
  await world.chain.setBalance({ address: relayer, value: 759n * GWEI * 10n ** 6n })
  await runner.tick()
  for (let round = 0; round < 4; round++) {
    for (let blocks = 0; blocks < 4; blocks++) await block(450n)
    await runner.tick()
  }
  expect((await attempts()).map(({ gwei }) => Number(gwei)).every((gwei) => gwei <= 206)).toBe(true)
  // One that was signed when the wallet had more.
  await world.chain.setBalance({ address: relayer, value: 10n * GWEI * 10n ** 9n })
  await runner.tick()
  expect((await attempts()).at(-1)).toMatchObject({ gwei: '500' })
  await world.chain.setBalance({ address: relayer, value: 759n * GWEI * 10n ** 6n })
  for (let round = 0; round < 3; round++) {
    await block(20n)
    await runner.tick()
    await world.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI })
    await world.finalize(runner, 1)
  }
  for (const { paymentId } of queued) expect((await world.payout(paymentId)).state).toBe('settled')
  await world.chain.setBalance({ address: relayer, value: 10n ** 21n })
})

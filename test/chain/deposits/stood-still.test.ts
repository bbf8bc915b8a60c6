import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { createWorld, TOKEN, type World } from '../world.ts'
import { addAwaited } from './awaited.ts'

const HOUR = 3600
const keys = createDepositKeys(Buffer.alloc(32, 5).toString('base64'), TOKEN.chainId)
const now = Math.floor(Date.now() / 1000)

let world: World
beforeAll(async () => {
  world = await createWorld({ anvil: ['--no-mining', '--timestamp', String(now - 4 * HOUR)] })
})
afterAll(() => world.stop())

const block = async (timestamp: number): Promise<void> => {
  await world.chain.setNextBlockTimestamp({ timestamp: BigInt(timestamp) })
  await world.chain.mine({ blocks: 1 })
}

const read = async (): Promise<number> =>
  Number((await world.db.query('select count(*) from deposit_log')).rows[0]?.count)

// only addresses that are watched now were asked for: the block was new enough, and few were behind
test('what came before the chain stood still for hours is read when it goes on, also where the watch has ended meanwhile', async () => {
  const engine = world.runner({ deposits: { keys, wrongTokens: [] } })
  const { paymentId, address } = await addAwaited(world.db, keys, 'stood_still')
  await world.db.query(
    `update deposit set created_at = now() - interval '5 hours', watch_until = now() - interval '2 hours' where payment_id = $1`,
    [paymentId],
  )
  world.clock.now = new Date((now - 3 * HOUR) * 1000)
  await block(now - 3 * HOUR)
  await engine.tick()
  // Nothing that follows makes it final.
  await world.chain.setNextBlockTimestamp({ timestamp: BigInt(now - 3 * HOUR + 2) })
  await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
  await engine.tick()
  expect(await read()).toBe(0)
  world.clock.now = new Date(now * 1000)
  for (const second of [-6, -4, -2, 0]) await block(now + second)
  await engine.tick()
  expect(await read()).toBe(1)
})

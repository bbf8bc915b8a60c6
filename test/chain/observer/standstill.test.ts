import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createWorld, newAddress, type Queued, TOKEN, type World } from '../world.ts'

/** Finality stands still for longer than blocks are walked back. */

let world: World
beforeAll(async () => {
  // Final is the newest block less twice this.
  world = await createWorld({ micro: 100_000_000n, anvil: ['--no-mining', '--slots-in-an-epoch', '5000'] })
  await world.runner().tick()
  await world.chain.mine({ blocks: 600 })
})
afterAll(() => world.stop())

const stateOf = async ({ paymentId }: Queued) => (await world.payout(paymentId)).state
const ticks = async (runner: { tick(): Promise<unknown> }, times = 2): Promise<void> => {
  for (let time = 0; time < times; time++) await runner.tick()
}

test('payouts are marked as mined, and count against the treasury once', async () => {
  const runner = world.runner()
  const [first] = await world.queue([{ micro: 50_000_000n }])
  await ticks(runner)
  await world.chain.mine({ blocks: 2 })
  await ticks(runner)
  expect(await stateOf(first!)).toBe('mined')
  const [second] = await world.queue([{ micro: 45_000_000n }])
  await ticks(runner)
  await world.chain.mine({ blocks: 2 })
  await ticks(runner)
  expect(await world.balance(second!.recipient)).toBe(45_000_000n)
  expect(await stateOf(second!)).toBe('mined')
})

test('one that a reorganization removed goes out again; one in a block that is walked no more stays mined', async () => {
  const runner = world.runner()
  await ticks(runner)
  const [early] = await world.queue([{ micro: 1_000_000n }])
  await ticks(runner)
  await world.chain.mine({ blocks: 1 })
  await ticks(runner)
  expect(await stateOf(early!)).toBe('mined')
  await world.chain.mine({ blocks: 600 })
  const [late] = await world.queue([{ micro: 1_000_000n }])
  await ticks(runner)
  await world.chain.mine({ blocks: 1 })
  await ticks(runner)
  expect(await stateOf(late!)).toBe('mined')
  await world.chain.request({ method: 'anvil_reorg', params: [1, []] } as never)
  await runner.tick()
  expect([await stateOf(early!), await stateOf(late!)]).toEqual(['mined', 'broadcast'])
  await world.chain.mine({ blocks: 1 })
  await ticks(runner)
  expect(await stateOf(late!)).toBe('mined')
  expect(await world.balance(late!.recipient)).toBe(1_000_000n)
})

test('a theft pauses the lanes as soon as a block shows it', async () => {
  const runner = world.runner()
  await ticks(runner)
  await world.chain.setBalance({ address: world.treasury.address, value: parseEther('10') })
  const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [newAddress(), 1n] })
  const raw = await world.treasury.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: TOKEN.address,
    data,
    gas: 200_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  const hash = await world.chain.sendRawTransaction({ serializedTransaction: raw })
  await world.chain.mine({ blocks: 1 })
  await runner.tick()
  const { rows } = await world.db.query('select paused_reason from chain_cursor')
  expect(rows).toEqual([{ paused_reason: expect.stringContaining(hash) }])
})

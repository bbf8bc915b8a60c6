import { beforeEach, expect, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { carryWithEmptyLogs, floodWithNothing } from '../rpc/strangers.ts'
import { stealUsdc, TOKEN, useWorld } from '../world.ts'

const world = useWorld()
beforeEach(() => world.reset())

const cursor = async () =>
  (await world.db.query('select scanned_number::int as scanned, paused_reason as paused from chain_cursor'))
    .rows[0] as { scanned: number; paused: string | null }

// a theft in the same block was seen neither at once nor when it was final
test('a receipt of 15 MB in a flooded block hides no theft, and holds up neither final blocks nor proofs', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  const theft = await stealUsdc(world)
  await floodWithNothing(world, world.treasury.address, 7)
  await carryWithEmptyLogs(world, ['0x'])
  await world.chain.mine({ blocks: 1 })
  const flooded = await world.chain.getBlock()
  // The strangers and the thief are in one block.
  expect(flooded.transactions).toHaveLength(9)
  await runner.tick()
  expect((await cursor()).paused).toContain(theft)
  await world.finalize(runner)
  expect((await cursor()).scanned).toBeGreaterThan(Number(flooded.number))
  const [node] = connectRpc({ urls: [world.anvil.url], quorum: 1, chainId: TOKEN.chainId }).nodes
  const receipts = await node!.rawReceipts(Number(flooded.number))
  expect(receipts.map(({ txHash }) => txHash)).toEqual(flooded.transactions)
  expect(Math.max(...receipts.map(({ logs }) => logs.length))).toBeGreaterThan(43_000)
})

import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { HostileNode } from '../../../support/hostile-node.ts'
import { quantity } from '../../rpc/laggard.ts'
import type { World } from '../../world.ts'
import { connectTo, inventTransfer, startThreeNodes, ticks } from './three-nodes.ts'

/** What a payout that goes through costs in questions to three nodes, of which two are a quorum. */

let world: World
let nodes: readonly HostileNode[]
let stop: () => Promise<void>
beforeEach(async () => void ({ world, nodes, stop } = await startThreeNodes({ finalBelow: 4 })))
afterEach(() => stop())

/** How often each node was asked so, by those that were asked at all. */
function asked(method: string, about: (params: readonly unknown[]) => boolean = () => true): number[] {
  const counts = nodes.map((node) => node.calls.filter((call) => call.method === method && about(call.params)).length)
  return counts.filter((count) => count > 0)
}

async function mineOne(): Promise<{ look: () => Promise<void>; block: string }> {
  const runner = world.runner({ rpc: connectTo(nodes) })
  await ticks(runner)
  await world.queue([{}])
  await ticks(runner)
  await world.chain.mine({ blocks: 1 })
  const block = quantity(await world.chain.getBlockNumber())
  for (const node of nodes) node.calls.length = 0
  return { look: () => ticks(runner, 1), block }
}

test('a new block that shows a payout is read by two nodes, by each once', async () => {
  const { look, block } = await mineOne()
  await look()
  // What leaves the treasury, and what comes in.
  expect(asked('eth_getLogs', ([range]) => (range as { toBlock: string }).toBlock === block)).toEqual([2, 2])
})

test('what one node alone shows marks no payout as mined, whichever of the three it is', async () => {
  const runner = world.runner({ rpc: connectTo(nodes) })
  await ticks(runner)
  const [queued] = await world.queue([{}])
  await ticks(runner)
  // Each of them is asked first in one of the rounds.
  for (const liar of [...nodes, ...nodes, ...nodes]) {
    await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    await world.chain.mine({ blocks: 1 })
    const { number, hash } = await world.chain.getBlock()
    const lies = await inventTransfer(world, queued!, { blockNumber: quantity(number!), blockHash: hash! })
    for (const node of nodes)
      node.behave = ({ method }) => (method === 'eth_getLogs' && node === liar ? { lie: () => lies } : 'honest')
    await ticks(runner, 1)
    expect((await world.payout(queued!.paymentId)).state).toBe('broadcast')
  }
})

// after two failures no quorum was left, and a block with nothing in it was not read
test('that a new block shows nothing the last of three nodes may say, when the two others fail', async () => {
  const rpc = connectTo(nodes)
  const read = (suffices: boolean) => rpc.first({ suffices: () => suffices, read: (node) => node.block(1) })
  for (const last of nodes) {
    for (const node of nodes) node.behave = () => (node === last ? 'honest' : { status: 503, text: 'lost' })
    expect(await read(true)).toMatchObject({ value: { number: 1 } })
  }
  expect(await read(false)).toBeNull()
})

test('blocks are read a second time without asking for the receipts of what is stored', async () => {
  const { look, block } = await mineOne()
  await world.chain.mine({ blocks: 4 })
  await look()
  for (const node of nodes) node.calls.length = 0
  await world.chain.mine({ blocks: 24 })
  await look()
  const covers = ([range]: readonly unknown[]): boolean => {
    const { fromBlock, toBlock } = range as { fromBlock: string; toBlock: string }
    return Number(fromBlock) <= Number(block) && Number(block) <= Number(toBlock)
  }
  expect(asked('eth_getLogs', covers)).toEqual([2, 2])
  expect(asked('eth_getTransactionReceipt')).toEqual([])
})

test('no node is asked who sent what a lane of ours has signed', async () => {
  const { look } = await mineOne()
  await world.chain.mine({ blocks: 4 })
  await look()
  const { rows } = await world.db.query('select state from payout')
  expect(rows).toEqual([{ state: 'settled' }])
  expect(asked('eth_getTransactionByHash')).toEqual([])
  // For the share of its gas; its envelope ends by the same.
  expect(asked('eth_getTransactionReceipt')).toEqual([1, 1])
  const envelopes = await world.db.query('select state, gas_used > 0 as paid from lane_tx')
  expect(envelopes.rows).toEqual([{ state: 'finalized', paid: true }])
})

import { beforeEach, describe, expect, test } from '@jest/globals'
import { connectRpc } from '../../../../src/chain/rpc/rpc.ts'
import { startHostileNode } from '../../../support/hostile-node.ts'
import { HEADERS, quantity, rawBlock } from '../../rpc/laggard.ts'
import { type Queued, stealUsdc, TOKEN, useWorld } from '../../world.ts'
import { connectTo, inventTransfer, ticks, useThreeNodes } from './three-nodes.ts'

describe('a long standstill of finality', () => {
  /** Finality stands still for longer than blocks are walked back. */

  // Final is the newest block less twice this.
  const world = useWorld({ micro: 100_000_000n, anvil: ['--no-mining', '--slots-in-an-epoch', '5000'] })
  beforeEach(async () => {
    await world.reset()
    await world.runner().tick()
    await world.chain.mine({ blocks: 600 })
  })

  const stateOf = async ({ paymentId }: Queued) => (await world.payout(paymentId)).state

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

  test('a payout that a reorganization removed is sent again; one in a block that is no longer walked stays mined', async () => {
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

  // the block of the payout was neither walked nor unseen
  test('what is mined stays so when the head is a block lower for a moment', async () => {
    const node = await startHostileNode(world.anvil.url)
    try {
      const runner = world.runner({ url: node.url })
      await ticks(runner)
      const [queued] = await world.queue([{ micro: 1_000_000n }])
      await ticks(runner)
      await world.chain.mine({ blocks: 1 })
      await ticks(runner)
      expect(await stateOf(queued!)).toBe('mined')
      // Its block is just below those that are walked.
      await world.chain.mine({ blocks: 512 })
      await runner.tick()
      const block = await rawBlock(world, (await world.chain.getBlockNumber()) - 1n)
      node.behave = ({ method, params }) =>
        method === HEADERS && params[0] === 'latest' ? { lie: () => block } : 'honest'
      await runner.tick()
      node.behave = () => 'honest'
      await ticks(runner)
      expect(await stateOf(queued!)).toBe('mined')
    } finally {
      await node.close()
    }
  })

  // no block was looked at, and nobody was told
  test('what is mined is seen also by a node that gives ten blocks at a time, late, and each block is walked once', async () => {
    const node = await startHostileNode(world.anvil.url)
    try {
      const [early] = await world.queue([{ micro: 100_000n }])
      await ticks(world.runner())
      await world.chain.mine({ blocks: 500 })
      const [late] = await world.queue([{ micro: 100_000n }])
      // It sends, and sees nothing.
      node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
      await ticks(world.runner({ url: node.url }))
      await world.chain.mine({ blocks: 1 })
      let [time, walked] = [0, 0]
      node.behave = ({ method, params }) => {
        walked += method === HEADERS ? 1 : 0
        if (method !== 'eth_getLogs') return 'honest'
        const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
        time += 1500
        return Number(toBlock) - Number(fromBlock) < 10
          ? 'honest'
          : { error: { code: -32000, message: 'ten at a time' } }
      }
      const rpc = connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId, now: () => time })
      const runner = world.runner({ rpc })
      const isMined = async (queued: Queued) => (await stateOf(queued)) === 'mined'
      const rounds = async (isDone: () => Promise<boolean>): Promise<void> => {
        for (let round = 0; round < 60 && !(await isDone()); round++) await runner.tick().catch(() => undefined)
      }
      // The newest are read first: a theft is not seen later because there is much before it.
      await rounds(() => isMined(late!))
      expect([await isMined(early!), await isMined(late!)]).toEqual([false, true])
      const before = walked
      await rounds(() => isMined(early!))
      expect([await isMined(early!), await isMined(late!)]).toEqual([true, true])
      expect(walked - before).toBeLessThan(400)
    } finally {
      await node.close()
    }
  })

  test('a transfer that one node invents keeps its payout from being sent no longer than the lie takes', async () => {
    const nodes = await Promise.all([1, 2, 3].map(() => startHostileNode(world.anvil.url)))
    try {
      const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId })
      // The lanes are full at first.
      const busy = world.runner({ rpc, options: { maxInFlight: 0 } })
      await ticks(busy)
      const [queued] = await world.queue([{ micro: 1_000_000n }])
      await ticks(busy)
      await world.chain.mine({ blocks: 1 })
      const { number, hash } = await world.chain.getBlock()
      const invented = await inventTransfer(world, queued!, { blockNumber: quantity(number), blockHash: hash })
      // Asked alone, or with the others: only this one shows it.
      for (const node of nodes)
        node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => invented } : 'honest')
      await ticks(busy)
      for (const node of nodes) node.behave = () => 'honest'
      const runner = world.runner({ rpc })
      await ticks(runner)
      await world.chain.mine({ blocks: 1 })
      expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
    } finally {
      for (const node of nodes) await node.close()
    }
  })

  test('a theft pauses the lanes as soon as a block shows it', async () => {
    const runner = world.runner()
    await ticks(runner)
    const hash = await stealUsdc(world)
    await world.chain.mine({ blocks: 1 })
    await runner.tick()
    const { rows } = await world.db.query('select paused_reason from chain_cursor')
    expect(rows).toEqual([{ paused_reason: expect.stringContaining(hash) }])
  })
})

describe('the questions to nodes about a payout', () => {
  /** What a payout that goes through costs in questions to three nodes, of which two are a quorum. */

  const { world, nodes } = useThreeNodes({ finalBelow: 4 })

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
  test('the last of three nodes may say that a new block shows nothing when the two others fail', async () => {
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
})

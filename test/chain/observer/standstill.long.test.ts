import { beforeEach, describe, expect, test } from '@jest/globals'
import { startHostileNode } from '../../support/hostile-node.ts'
import { type Queued, useFixture } from '../fixture.ts'
import { HEADERS, quantity, rawBlock } from '../rpc/laggard.ts'
import { connectTo, ticks, useThreeNodes } from './three-nodes.ts'

describe('a long standstill of finality', () => {
  // Final is the newest block less twice this.
  const fixture = useFixture({ micro: 100_000_000n, anvil: ['--no-mining', '--slots-in-an-epoch', '5000'] })
  beforeEach(async () => {
    await fixture.reset()
    await fixture.runner().tick()
    await fixture.chain.mine({ blocks: 600 })
  })

  const readState = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).state

  test('payouts are marked as mined during a standstill, and count against the treasury once', async () => {
    const runner = fixture.runner()
    const [first] = await fixture.queue([{ micro: 50_000_000n }])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 2 })
    await ticks(runner)
    expect(await readState(first!)).toBe('mined')
    const [second] = await fixture.queue([{ micro: 45_000_000n }])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 2 })
    await ticks(runner)
    expect(await fixture.balance(second!.recipient)).toBe(45_000_000n)
    expect(await readState(second!)).toBe('mined')
  })

  test('a payout that a reorganization removed is sent again, and one in an older block stays mined', async () => {
    const runner = fixture.runner()
    await ticks(runner)
    const [early] = await fixture.queue([{ micro: 1_000_000n }])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 1 })
    await ticks(runner)
    expect(await readState(early!)).toBe('mined')
    await fixture.chain.mine({ blocks: 600 })
    const [late] = await fixture.queue([{ micro: 1_000_000n }])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 1 })
    await ticks(runner)
    expect(await readState(late!)).toBe('mined')
    await fixture.chain.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await runner.tick()
    expect([await readState(early!), await readState(late!)]).toEqual(['mined', 'broadcast'])
    await fixture.chain.mine({ blocks: 1 })
    await ticks(runner)
    expect(await readState(late!)).toBe('mined')
    expect(await fixture.balance(late!.recipient)).toBe(1_000_000n)
  })

  test('a payout stays mined when the head is a block lower for a moment', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    try {
      const runner = fixture.runner({ url: node.url })
      await ticks(runner)
      const [queued] = await fixture.queue([{ micro: 1_000_000n }])
      await ticks(runner)
      await fixture.chain.mine({ blocks: 1 })
      await ticks(runner)
      expect(await readState(queued!)).toBe('mined')
      await fixture.chain.mine({ blocks: 5 })
      await runner.tick()
      const block = await rawBlock(fixture, (await fixture.chain.getBlockNumber()) - 1n)
      node.behave = ({ method, params }) =>
        method === HEADERS && params[0] === 'latest' ? { lie: () => block } : 'honest'
      await runner.tick()
      node.behave = () => 'honest'
      await ticks(runner)
      expect(await readState(queued!)).toBe('mined')
    } finally {
      await node.close()
    }
  })
})

describe('the questions to nodes about a payout', () => {
  /** The number of questions that a successful payout costs at three nodes, of which two are a quorum. */

  const { fixture, nodes } = useThreeNodes({ finalBelow: 4 })

  /** How often each node was asked, without those that were never asked. */
  function asked(method: string, about: (params: readonly unknown[]) => boolean = () => true): number[] {
    const counts = nodes.map((node) => node.calls.filter((call) => call.method === method && about(call.params)).length)
    return counts.filter((count) => count > 0)
  }

  async function mineOne(): Promise<{ look: () => Promise<void>; block: string }> {
    const runner = fixture.runner({ rpc: connectTo(nodes) })
    await ticks(runner)
    await fixture.queue([{}])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 1 })
    const block = quantity(await fixture.chain.getBlockNumber())
    for (const node of nodes) node.calls.length = 0
    return { look: () => ticks(runner, 1), block }
  }

  test('no logs are requested of a block that is not final', async () => {
    const { look, block } = await mineOne()
    await look()
    expect((await fixture.db.query('select state from payout')).rows).toEqual([{ state: 'mined' }])
    expect(asked('eth_getLogs', ([range]) => (range as { toBlock: string }).toBlock === block)).toEqual([])
  })

  test('blocks are read a second time without the receipts of stored payouts', async () => {
    const { look, block } = await mineOne()
    await fixture.chain.mine({ blocks: 4 })
    await look()
    for (const node of nodes) node.calls.length = 0
    await fixture.chain.mine({ blocks: 24 })
    await look()
    const covers = ([range]: readonly unknown[]): boolean => {
      const { fromBlock, toBlock } = range as { fromBlock: string; toBlock: string }
      return Number(fromBlock) <= Number(block) && Number(block) <= Number(toBlock)
    }
    expect(asked('eth_getLogs', covers)).toEqual([2, 2])
    expect(asked('eth_getTransactionReceipt')).toEqual([])
  })

  test('no node is asked for the sender of a transaction that a lane has signed', async () => {
    const { look } = await mineOne()
    await fixture.chain.mine({ blocks: 4 })
    await look()
    const { rows } = await fixture.db.query('select state from payout')
    expect(rows).toEqual([{ state: 'settled' }])
    expect(asked('eth_getTransactionByHash')).toEqual([])
    // For the share of its gas; its envelope ends by the same.
    expect(asked('eth_getTransactionReceipt')).toEqual([1, 1])
    const envelopes = await fixture.db.query('select state, gas_used > 0 as paid from lane_tx')
    expect(envelopes.rows).toEqual([{ state: 'finalized', paid: true }])
  })
})

import { describe, expect, test } from '@jest/globals'
import { type Queued } from '../fixture.ts'
import { behindBy, HEADERS, quantity, rawBlock } from '../rpc/laggard.ts'
import { within } from './catching-up.ts'
import { connectTo, ticks, useThreeNodes } from './three-nodes.ts'

describe('the newest blocks while finality stalls', () => {
  const { fixture, nodes } = useThreeNodes({ finalBelow: 10_000 })

  const connect = () => connectTo(nodes)
  const readState = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).state

  test('a reorganization that has the payout again never takes it back', async () => {
    const runner = fixture.runner({ rpc: connect() })
    await ticks(runner)
    const [queued] = await fixture.queue([{ micro: 50_000_000n }])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 1 })
    const { transactions } = await fixture.chain.getBlock()
    const raws = await Promise.all(
      transactions.map((hash) =>
        fixture.chain.request({ method: 'eth_getRawTransactionByHash', params: [hash] } as never),
      ),
    )
    await fixture.chain.mine({ blocks: 2 })
    await ticks(runner)
    await fixture.chain.request({ method: 'anvil_reorg', params: [3, raws.map((raw) => [raw, 0])] } as never)
    await fixture.chain.mine({ blocks: 1 })
    expect(await fixture.balance(queued!.recipient)).toBe(50_000_000n)
    for (let round = 0; round < 3; round++) {
      await runner.tick()
      expect(await readState(queued!)).toBe('mined')
    }
  })

  describe('A lying node that is asked first for the newest block', () => {
    /** More than enough: on a busy machine the honest nodes answer too late in some rounds. */
    const ROUNDS = 50
    const lying = (lie: (block: Record<string, string>) => object) => {
      for (const [index, node] of nodes.entries())
        node.behave = ({ method, params }) => {
          if (index > 0) return { afterMs: 40 }
          const isNewest = method === HEADERS && params[0] === 'latest'
          return isNewest ? { lie: (block) => lie(block as Record<string, string>) } : 'honest'
        }
      return connect()
    }

    // Its signature would have been valid for ten years, and for a second payout after a rotation.
    test('a node that reports another time extends no signature’s validity', async () => {
      const rpc = lying((block) => ({ ...block, timestamp: quantity(BigInt(block['timestamp'] ?? 0) + 315_360_000n) }))
      const [queued] = await fixture.queue([{ micro: 50_000_000n }])
      const signatures = async () =>
        (
          await fixture.db.query('select valid_before::int as until from payout_signature where owner_id = $1', [
            queued!.paymentId,
          ])
        ).rows as { until: number }[]
      const runner = fixture.runner({ rpc })
      expect(await within(ROUNDS, runner, async () => (await signatures()).length > 0)).toBe(true)
      for (const { until } of await signatures()) expect(until).toBeLessThan(Date.now() / 1000 + 7200)
    })
  })
})

describe('One bad node of three while an honest one is late', () => {
  /** One of three nodes is bad, and an honest one is a little behind or late: the engine cannot leave out both. */

  const STATES = ['eth_call', 'eth_getBalance', 'eth_getTransactionCount']

  const { fixture, nodes } = useThreeNodes({ finalBelow: 10_000 })

  const connect = () => connectTo(nodes)
  const readState = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).state

  /** A payout that is paid and marked as mined, this number of blocks ago. */
  async function mined(runner: { tick(): Promise<unknown> }, blocks: number, micro = 50_000_000n): Promise<Queued> {
    await ticks(runner)
    const [queued] = await fixture.queue([{ micro }])
    await ticks(runner)
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    if (blocks > 0) await fixture.chain.mine({ blocks })
    await runner.tick()
    expect(await readState(queued!)).toBe('mined')
    return queued!
  }

  // Only those two had the newest block, and only one gave its state.
  test('a node that gives the newest block and no states stops nothing if another is a block behind', async () => {
    const runner = fixture.runner({ rpc: connect() })
    await runner.tick()
    const [queued] = await fixture.queue([{}])
    for (let round = 0; round < 3; round++) {
      await fixture.chain.mine({ blocks: 1 })
      nodes[0]!.behave = ({ method }) =>
        STATES.includes(method) ? { error: { code: -32000, message: 'missing trie node' } } : 'honest'
      nodes[2]!.behave = await behindBy(fixture, 1)
      await runner.tick()
    }
    await fixture.chain.mine({ blocks: 1 })
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
  })

  test('a warning is logged once a minute if no quorum gives the state at the newest block', async () => {
    const warnings: string[] = []
    const runner = fixture.runner({ rpc: connect(), warn: (_about, message) => void warnings.push(message) })
    await ticks(runner)
    for (const node of nodes.slice(1))
      node.behave = ({ method }) => (method === 'eth_call' ? { error: { code: -32000, message: 'busy' } } : 'honest')
    for (let round = 0; round < 5; round++) {
      await fixture.chain.mine({ blocks: 2 })
      await runner.tick().catch(() => undefined)
      fixture.clock.now = new Date(fixture.clock.now.getTime() + 31_000)
    }
    expect(warnings.filter((warning) => warning.includes('watch of new blocks does not come on'))).toHaveLength(2)
  })

  describe('A mined payout stays mined', () => {
    // A block above the head of one round counted as removed.
    test('a payout stays mined when an honest node is two blocks behind, and another is late once', async () => {
      const runner = fixture.runner({ rpc: connect() })
      const queued = await mined(runner, 0)
      const behind = await rawBlock(fixture, (await fixture.chain.getBlockNumber()) - 2n)
      const isNewest = ({ method, params }: { method: string; params: readonly unknown[] }) =>
        method === HEADERS && params[0] === 'latest'
      nodes[2]!.behave = (call) => (isNewest(call) ? { lie: () => behind } : 'honest')
      nodes[0]!.behave = (call) => (isNewest(call) ? { afterMs: 350 } : 'honest')
      await runner.tick()
      expect(await readState(queued)).toBe('mined')
    })

    test('a payout stays mined when a node that has stalled is quicker than an honest one', async () => {
      const runner = fixture.runner({ rpc: connect() })
      const queued = await mined(runner, 40)
      const old = await rawBlock(fixture, 3n)
      nodes[0]!.behave = ({ method, params }) =>
        method === HEADERS && params[0] === 'latest' ? { lie: () => old } : 'honest'
      nodes[2]!.behave = ({ method }) => (method === HEADERS ? { afterMs: 250 } : 'honest')
      await runner.tick()
      expect(await readState(queued)).toBe('mined')
    })
  })

  // Later mined payouts were in the balance, and not reserved any more.
  test('a payout that was mined after the block of the balance is not promised again', async () => {
    const runner = fixture.runner({ rpc: connect() })
    await mined(runner, 0, 90_000_000n)
    const [second] = await fixture.queue([{ micro: 90_000_000n }])
    // Two blocks below the newest the treasury has all of it.
    nodes[0]!.behave = ({ method }) =>
      STATES.includes(method) ? { error: { code: -32000, message: 'missing trie node' } } : 'honest'
    nodes[2]!.behave = await behindBy(fixture, 1)
    await ticks(runner)
    const { rows } = await fixture.db.query('select from payout_signature where owner_id = $1', [second!.paymentId])
    expect(rows).toEqual([])
  })

  test('a nonce that only one node reports as used marks no payout as mined, whichever of the three it is', async () => {
    const runner = fixture.runner({ rpc: connect() })
    await ticks(runner)
    const [queued] = await fixture.queue([{}])
    await ticks(runner)
    // The last word of Multicall3's result is the state of the last nonce.
    const lie = (result: unknown): unknown => String(result).replace(/0$/, '1')
    for (const liar of [...nodes, ...nodes, ...nodes]) {
      await fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
      await fixture.chain.mine({ blocks: 1 })
      for (const node of nodes)
        node.behave = ({ method }) => (method === 'eth_call' && node === liar ? { lie } : 'honest')
      await runner.tick().catch(() => undefined)
      expect(await readState(queued!)).toBe('broadcast')
    }
  })
})

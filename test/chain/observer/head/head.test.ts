import { describe, expect, test } from '@jest/globals'
import { TOPICS } from '../../../../src/chain/token/contracts.ts'
import type { Db } from '../../../../src/db/db.ts'
import type { Hex } from '../../../../src/domain/hex.ts'
import { behindBy, fakeHash, HEADERS, quantity, rawBlock } from '../../rpc/laggard.ts'
import { newAddress, type Queued, stealUsdc, TOKEN } from '../../world.ts'
import { within } from '../catching-up.ts'
import { connectTo, inventTransfer, pad, ticks, useThreeNodes } from './three-nodes.ts'

describe('one bad node of three while finality stands still', () => {
  /** What one of three nodes can do to the watch of blocks that are not final, while finality stands still. */

  const LOGS = 'eth_getLogs'

  const { world, nodes } = useThreeNodes({ finalBelow: 10_000 })

  const connect = () => connectTo(nodes)
  const stateOf = async ({ paymentId }: Queued) => (await world.payout(paymentId)).state
  const pausedReason = async () => (await world.db.query('select paused_reason from chain_cursor')).rows[0]

  // its answer counted as read: a payout was not marked, and a theft not seen, for as long as finality stood still
  test('a node that has the newest block, and not its logs yet, hides nothing for long', async () => {
    const runner = world.runner({ rpc: connect() })
    await ticks(runner)
    const [queued] = await world.queue([{ micro: 50_000_000n }])
    await ticks(runner)
    const theft = await stealUsdc(world)
    await world.chain.mine({ blocks: 1 })
    const newest = await world.chain.getBlockNumber()
    let empty = 0
    for (const node of nodes)
      node.behave = ({ method, params }) => {
        if (method !== LOGS || BigInt((params[0] as { toBlock: string }).toBlock) < newest) return 'honest'
        empty += 1
        // Two questions to the one that is asked first.
        return empty > 2 ? 'honest' : { lie: () => [] }
      }
    await runner.tick()
    expect([await stateOf(queued!), await pausedReason()]).toEqual(['broadcast', { paused_reason: null }])
    for (let round = 0; round < 18; round++) {
      await world.chain.mine({ blocks: 1 })
      await runner.tick()
    }
    expect(await stateOf(queued!)).toBe('mined')
    expect(await pausedReason()).toEqual({ paused_reason: expect.stringContaining(theft) })
  })

  // what was mined went back, was sent again, and counted twice against the treasury
  test('a node that invents the parents of blocks takes back no payout', async () => {
    const runner = world.runner({ rpc: connect() })
    await ticks(runner)
    const [first] = await world.queue([{ micro: 50_000_000n }])
    await ticks(runner)
    await world.chain.mine({ blocks: 1 })
    await ticks(runner)
    await world.chain.mine({ blocks: 20 })
    await ticks(runner)
    let head = 0n
    nodes[0]!.behave = ({ method, params }) => {
      if (method === LOGS) return { lie: () => [] }
      if (method !== HEADERS || !String(params[0]).startsWith('0x')) return 'honest'
      const number = BigInt(params[0] as string)
      if (number >= head || number === 0n) return 'honest'
      const hash = number < head - 1n && { hash: fakeHash(number) }
      return { lie: (block) => ({ ...(block as object), ...hash, parentHash: fakeHash(number - 1n) }) }
    }
    // One that has just started knows no block.
    for (const engine of [runner, world.runner({ rpc: connect() })])
      for (let round = 0; round < 6; round++) {
        await world.chain.mine({ blocks: 2 })
        head = await world.chain.getBlockNumber()
        await engine.tick()
        expect(await stateOf(first!)).toBe('mined')
      }
  })

  test('a reorganization that has the payout again takes it back in no round', async () => {
    const runner = world.runner({ rpc: connect() })
    await ticks(runner)
    const [queued] = await world.queue([{ micro: 50_000_000n }])
    await ticks(runner)
    await world.chain.mine({ blocks: 1 })
    const { transactions } = await world.chain.getBlock()
    const raws = await Promise.all(
      transactions.map((hash) =>
        world.chain.request({ method: 'eth_getRawTransactionByHash', params: [hash] } as never),
      ),
    )
    await world.chain.mine({ blocks: 2 })
    await ticks(runner)
    await world.chain.request({ method: 'anvil_reorg', params: [3, raws.map((raw) => [raw, 0])] } as never)
    await world.chain.mine({ blocks: 1 })
    expect(await world.balance(queued!.recipient)).toBe(50_000_000n)
    for (let round = 0; round < 3; round++) {
      await runner.tick()
      expect(await stateOf(queued!)).toBe('mined')
    }
  })

  // two hundred thousand payments were read and hashed in each round, in seconds
  test('an authorization that one node invents is asked about before all payments are looked through', async () => {
    let searches = 0
    const query: Db['query'] = (text, values) => {
      searches += text.includes('from payment m left join payout') ? 1 : 0
      return world.db.query(text, values)
    }
    const runner = world.runner({ rpc: connect(), db: { ...world.db, query } })
    await ticks(runner)
    const { address } = world.treasury
    for (let round = 0; round < 6; round++) {
      await world.chain.mine({ blocks: 1 })
      const { number, hash } = await world.chain.getBlock()
      const place = { address: TOKEN.address, blockNumber: `0x${number.toString(16)}`, blockHash: hash }
      const log = { ...place, transactionHash: fakeHash(number) }
      const invented = [
        { ...log, logIndex: '0x0', topics: [TOPICS.authorizationUsed, pad(address), fakeHash(number)], data: '0x' },
        { ...log, logIndex: '0x1', topics: [TOPICS.transfer, pad(address), pad(newAddress())], data: pad('0x1') },
      ]
      nodes[0]!.behave = ({ method }) => (method === LOGS ? { lie: () => invented } : 'honest')
      await runner.tick()
    }
    expect(searches).toBe(0)
    expect(await pausedReason()).toEqual({ paused_reason: null })
  })

  describe('a node that is asked first for the newest block, and tells its hash,', () => {
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

    // its signature would have been good for ten years, and for a second payout after a rotation
    test('makes no signature live longer by another time', async () => {
      const rpc = lying((block) => ({ ...block, timestamp: quantity(BigInt(block['timestamp'] ?? 0) + 315_360_000n) }))
      const [queued] = await world.queue([{ micro: 50_000_000n }])
      const signatures = async () =>
        (
          await world.db.query('select valid_before::int as until from payout_signature where payment_id = $1', [
            queued!.paymentId,
          ])
        ).rows as { until: number }[]
      const runner = world.runner({ rpc })
      expect(await within(ROUNDS, runner, async () => (await signatures()).length > 0)).toBe(true)
      for (const { until } of await signatures()) expect(until).toBeLessThan(Date.now() / 1000 + 7200)
    })

    // each node but the liar was on another branch, and nothing was marked or watched
    test('hides no payout and no theft by another parent', async () => {
      const rpc = lying((block) => ({ ...block, parentHash: fakeHash(BigInt(block['number'] ?? 0)) }))
      const runner = world.runner({ rpc })
      await within(2, runner, async () => false)
      const [queued] = await world.queue([{ micro: 50_000_000n }])
      const hasState = (state: string) => async () => (await stateOf(queued!)) === state
      expect(await within(ROUNDS, runner, hasState('broadcast'))).toBe(true)
      const theft = await stealUsdc(world)
      await world.chain.mine({ blocks: 2 })
      expect(await within(ROUNDS, runner, hasState('mined'))).toBe(true)
      expect(await pausedReason()).toEqual({ paused_reason: expect.stringContaining(theft) })
    })
  })

  // it was told by blocks that had not been asked about, which the others could not read in time
  test('a log of another block than was asked for is no answer', async () => {
    const { hash } = await world.chain.getBlock({ blockNumber: 3n })
    const place = { blockNumber: '0x3', blockHash: hash, transactionHash: fakeHash(1n), logIndex: '0x0' }
    nodes[0]!.behave = ({ method }) =>
      method === LOGS
        ? { lie: () => [{ ...place, address: TOKEN.address, topics: [TOPICS.transfer], data: '0x' }] }
        : 'honest'
    const [node] = connect().nodes
    const topics = [TOPICS.transfer]
    await expect(node!.logs({ address: TOKEN.address, fromBlock: 4, toBlock: 9, topics })).rejects.toMatchObject({
      kind: 'malformed',
    })
  })
})

describe('one bad node of three while an honest one is late', () => {
  /** One of three nodes is bad, and an honest one is a little behind or late: they are no two that could be left out. */

  const LOGS = 'eth_getLogs'
  const STATES = ['eth_call', 'eth_getBalance', 'eth_getTransactionCount']

  const { world, nodes } = useThreeNodes({ finalBelow: 10_000 })

  const connect = () => connectTo(nodes)
  const stateOf = async ({ paymentId }: Queued) => (await world.payout(paymentId)).state
  const pausedReason = async () =>
    ((await world.db.query('select paused_reason from chain_cursor')).rows[0] as { paused_reason: string | null })
      .paused_reason

  /** A payout that is paid and marked as mined, so many blocks ago. */
  async function mined(runner: { tick(): Promise<unknown> }, blocks: number, micro = 50_000_000n): Promise<Queued> {
    await ticks(runner)
    const [queued] = await world.queue([{ micro }])
    await ticks(runner)
    await world.chain.mine({ blocks: 1 })
    await runner.tick()
    if (blocks > 0) await world.chain.mine({ blocks })
    await runner.tick()
    expect(await stateOf(queued!)).toBe('mined')
    return queued!
  }

  // the newest block was one that only those two had, and of its state only one told
  test('a node that tells the newest block and no states stops nothing where another is a block behind', async () => {
    const runner = world.runner({ rpc: connect() })
    await runner.tick()
    const [queued] = await world.queue([{}])
    for (let round = 0; round < 3; round++) {
      await world.chain.mine({ blocks: 1 })
      nodes[0]!.behave = ({ method }) =>
        STATES.includes(method) ? { error: { code: -32000, message: 'missing trie node' } } : 'honest'
      nodes[2]!.behave = await behindBy(world, 1)
      await runner.tick()
    }
    await world.chain.mine({ blocks: 1 })
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
  })

  // nothing was marked and no theft seen, and nobody was told
  test('a node that invents the parents of blocks hides no payout and no theft where another is two blocks behind', async () => {
    const runner = world.runner({ rpc: connect() })
    await ticks(runner)
    const [queued] = await world.queue([{ micro: 50_000_000n }])
    await ticks(runner)
    const theft = await stealUsdc(world)
    for (let round = 0; round < 4; round++) {
      await world.chain.mine({ blocks: 3 })
      nodes[0]!.behave = ({ method, params }) =>
        method === HEADERS && String(params[0]).startsWith('0x')
          ? { lie: (block) => ({ ...(block as object), parentHash: fakeHash(BigInt(params[0] as string)) }) }
          : 'honest'
      nodes[2]!.behave = await behindBy(world, 2)
      await runner.tick()
    }
    expect(await stateOf(queued!)).toBe('mined')
    expect(await pausedReason()).toContain(theft)
  })

  test('where no quorum shows the newest blocks, people are told once a minute', async () => {
    const warnings: string[] = []
    const runner = world.runner({ rpc: connect(), warn: (_about, message) => void warnings.push(message) })
    await ticks(runner)
    for (const node of nodes.slice(1))
      node.behave = ({ method, params }) =>
        method === HEADERS && String(params[0]).startsWith('0x') ? { lie: () => null } : 'honest'
    for (let round = 0; round < 5; round++) {
      await world.chain.mine({ blocks: 2 })
      await runner.tick()
      world.clock.now = new Date(world.clock.now.getTime() + 31_000)
    }
    expect(warnings.filter((warning) => warning.includes('blocks that are not final does not come on'))).toHaveLength(2)
  })

  describe('what is mined stays so', () => {
    // a block above the head of one round counted as gone
    test('when an honest node is two blocks behind, and another is late once', async () => {
      const runner = world.runner({ rpc: connect() })
      const queued = await mined(runner, 0)
      const behind = await rawBlock(world, (await world.chain.getBlockNumber()) - 2n)
      const isNewest = ({ method, params }: { method: string; params: readonly unknown[] }) =>
        method === HEADERS && params[0] === 'latest'
      nodes[2]!.behave = (call) => (isNewest(call) ? { lie: () => behind } : 'honest')
      nodes[0]!.behave = (call) => (isNewest(call) ? { afterMs: 350 } : 'honest')
      await runner.tick()
      expect(await stateOf(queued)).toBe('mined')
    })

    test('when a node that stands still is quicker than an honest one, and the theft is seen', async () => {
      const runner = world.runner({ rpc: connect() })
      const queued = await mined(runner, 40)
      const old = await rawBlock(world, 3n)
      nodes[0]!.behave = ({ method, params }) =>
        method === HEADERS && params[0] === 'latest' ? { lie: () => old } : 'honest'
      nodes[2]!.behave = ({ method }) => (method === HEADERS ? { afterMs: 250 } : 'honest')
      await runner.tick()
      expect(await stateOf(queued)).toBe('mined')
      const theft = await stealUsdc(world)
      await world.chain.mine({ blocks: 2 })
      await runner.tick()
      expect(await pausedReason()).toContain(theft)
    })
  })

  // what was mined since was in the balance, and reserved no more
  test('what was mined after the block whose balance is read is not promised again', async () => {
    const runner = world.runner({ rpc: connect() })
    await mined(runner, 0, 90_000_000n)
    const [second] = await world.queue([{ micro: 90_000_000n }])
    // Two blocks below the newest the treasury has all of it.
    nodes[0]!.behave = ({ method }) =>
      STATES.includes(method) ? { error: { code: -32000, message: 'missing trie node' } } : 'honest'
    nodes[2]!.behave = await behindBy(world, 1)
    await ticks(runner)
    const { rows } = await world.db.query('select from payout_signature where payment_id = $1', [second!.paymentId])
    expect(rows).toEqual([])
  })

  describe('a transfer that one node invents', () => {
    /** The first node shows the transfer of the payout in the newest block, also when it is asked alone. */
    async function invent(queued: Queued): Promise<void> {
      const { number, hash } = await world.chain.getBlock()
      const logs = await inventTransfer(world, queued, { blockNumber: quantity(number), blockHash: hash })
      nodes[0]!.behave = ({ method, params }) => {
        const { toBlock } = (params[0] ?? {}) as { toBlock: string }
        return method === LOGS && BigInt(toBlock) >= number ? { lie: () => logs } : 'honest'
      }
    }

    // it was mined for all, and no other lane carried it
    test('keeps no payout on a lane that cannot send it any more', async () => {
      const [gone, other] = world.relayers
      const [queued] = await world.queue([{ micro: 50_000_000n }])
      await world.runner({ relayers: [gone!] }).tick()
      const { rows } = await world.db.query('select tx_hash as hash from lane_tx_attempt')
      await world.chain.dropTransaction({ hash: (rows[0] as { hash: Hex }).hash })
      const rpc = connect()
      // Nothing is carried yet. They take turns with each question: one more, so that each is asked for logs first.
      const reader = world.runner({ relayers: [], rpc })
      for (let round = 0; round < 8; round++) {
        await world.chain.mine({ blocks: 1 })
        await invent(queued!)
        await rpc.any((node) => node.chainId())
        await reader.tick()
        expect(await stateOf(queued!)).toBe('broadcast')
      }
      await world.db.query(`with e as (update lane_tx set created_at = created_at - interval '1 minute')
      update lane set lease_until = lease_until - interval '1 minute'`)
      const runner = world.runner({ relayers: [other!], rpc })
      await ticks(runner)
      await world.chain.mine({ blocks: 1 })
      expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
    })
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createWorld, TOKEN, type World } from '../world.ts'

let world: World
let first: LossyProxy
let second: LossyProxy
beforeAll(async () => {
  world = await createWorld()
  first = await startLossyProxy(world.anvil.url)
  second = await startLossyProxy(world.anvil.url)
})
afterEach(() => {
  first.decide = () => 'deliver'
  second.decide = () => 'deliver'
})
afterAll(async () => {
  await Promise.all([first.close(), second.close()])
  await world.stop()
})

const connect = (quorum: number, urls = [first.url, second.url], now = () => performance.now()) =>
  connectRpc({ urls, quorum, chainId: 31337, timeoutMs: 1000, now })
/** A round says that it could not be finished; anything else is a failure of the test. */
const withoutQuorum = (failure: unknown): void => expect(String(failure)).toMatch(/no quorum/) as undefined
const state = async (paymentId: string) => (await world.payout(paymentId)).state

describe('a range of blocks that a node refuses', () => {
  test.each([
    'query returned more than 10000 results',
    'query exceeds max results 10000, retry with the range 1-2',
    'requested too many blocks from 1 to 1000, maximum is set to 500',
    'words that no list has',
  ])('"%s": is read in halves, as far as single blocks', async (message) => {
    const queued = await world.queue([{}])
    const ranges: number[] = []
    first.decide = ({ method, params }) => {
      if (method !== 'eth_getLogs') return 'deliver'
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      const blocks = Number(toBlock) - Number(fromBlock) + 1
      ranges.push(blocks)
      return blocks > 1 ? { error: { code: -32005, message } } : 'deliver'
    }
    await world.finalize(world.runner({ rpc: connect(1, [first.url]) }))
    expect(await state(queued[0]!.paymentId)).toBe('settled')
    expect(Math.max(...ranges)).toBeGreaterThan(1)
    expect(ranges).toContain(1)
  })

  test.each([
    // Eleven ranges, and whether it gives logs at all.
    ['refuses single blocks too', 'words that no list has', 11 + 1],
    ['asks to be left alone', 'too many requests', 1],
  ])('a node that %s is not asked for every block', async (_case, message, calls) => {
    let asked = 0
    first.decide = ({ method }) => {
      if (method !== 'eth_getLogs') return 'deliver'
      asked += 1
      return { error: { code: -32005, message } }
    }
    const range = { fromBlock: 1, toBlock: 1000, address: TOKEN.address, topics: [] }
    const [node] = connect(1, [first.url]).nodes
    await expect(node!.logs(range)).rejects.toThrow(message)
    expect(asked).toBe(calls)
  })

  test('a node that answers single blocks alone, and late, is asked for half a minute', async () => {
    let [asked, time] = [0, 0]
    first.decide = ({ method, params }) => {
      if (method !== 'eth_getLogs') return 'deliver'
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      asked += 1
      if (fromBlock !== toBlock) return { error: { code: -32000, message: 'one block at a time' } }
      time += 4000
      return 'deliver'
    }
    const range = { fromBlock: 1, toBlock: 16, address: TOKEN.address, topics: [] }
    const [node] = connect(1, [first.url], () => time).nodes
    await expect(node!.logs(range)).rejects.toMatchObject({ kind: 'silent', answer: expect.stringContaining('30 s') })
    expect([time, asked]).toEqual([32_000, 17])
  })
})

describe('with a quorum of two nodes', () => {
  test('a payout is settled when both agree', async () => {
    const [queued] = await world.queue([{}])
    await world.finalize(world.runner({ rpc: connect(2) }))
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test.each([
    [
      'one of them shows another block at the finalized height',
      (method: string, params: readonly unknown[]) =>
        method === 'eth_getBlockByNumber' && params[0] !== 'latest'
          ? { rewrite: (block: unknown) => ({ ...(block as object), hash: `0x${'1'.repeat(64)}` }) }
          : ('deliver' as const),
    ],
    [
      'one of them hides the logs',
      (method: string) => (method === 'eth_getLogs' ? { rewrite: () => [] } : ('deliver' as const)),
    ],
    [
      'one of them has no finality',
      (method: string, params: readonly unknown[]) =>
        method === 'eth_getBlockByNumber' && params[0] === 'finalized'
          ? { error: { code: -32000, message: 'finalized block not found' } }
          : ('deliver' as const),
    ],
    ['one of them does not answer', () => 'lose_response' as const],
  ])('nothing settles while %s', async (_case, decide) => {
    const [queued] = await world.queue([{}])
    const runner = world.runner({ rpc: connect(2) })
    await runner.tick()
    await world.chain.mine({ blocks: 4 })
    second.decide = ({ method, params }) => decide(method, params)
    await runner.tick().catch(withoutQuorum)
    await world.chain.mine({ blocks: 4 })
    await runner.tick().catch(withoutQuorum)
    expect(await state(queued!.paymentId)).not.toBe('settled')
    second.decide = () => 'deliver'
    await runner.tick()
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a node that lags delays the end until it has seen the block', async () => {
    const [queued] = await world.queue([{}])
    const runner = world.runner({ rpc: connect(2) })
    await runner.tick()
    const old = await world.chain.getBlock()
    await world.chain.mine({ blocks: 4 })
    second.decide = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && (params[0] === 'latest' || params[0] === 'finalized')
        ? { rewrite: (block) => ({ ...(block as object), number: `0x${old.number.toString(16)}`, hash: old.hash }) }
        : 'deliver'
    await runner.tick()
    expect(await state(queued!.paymentId)).not.toBe('settled')
    second.decide = () => 'deliver'
    await runner.tick()
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a third node makes up for one that fails', async () => {
    const [queued] = await world.queue([{}])
    second.decide = () => ({ status: 503 })
    await world.finalize(world.runner({ rpc: connect(2, [second.url, first.url, world.anvil.url]) }))
    expect(await state(queued!.paymentId)).toBe('settled')
  })
})

test('a transaction goes to every node: one that loses it does not matter', async () => {
  const [queued] = await world.queue([{}])
  first.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_request' : 'deliver')
  await world.finalize(world.runner({ rpc: connect(2) }))
  expect(await state(queued!.paymentId)).toBe('settled')
})

test('a receipt that one node does not know is not taken for its absence', async () => {
  const [queued] = await world.queue([{}])
  const runner = world.runner({ rpc: connect(2) })
  await runner.tick()
  await world.chain.mine({ blocks: 4 })
  second.decide = ({ method }) => (method === 'eth_getTransactionReceipt' ? { rewrite: () => null } : 'deliver')
  await runner.tick().catch(withoutQuorum)
  const open = await world.db.query(`select state from lane_tx where state in ('broadcast', 'foreign')`)
  expect(open.rows).toEqual([{ state: 'broadcast' }])
  second.decide = () => 'deliver'
  await runner.tick()
  expect(await state(queued!.paymentId)).toBe('settled')
  expect((await world.db.query(`select 1 from lane_tx where state <> 'finalized'`)).rows).toEqual([])
})

test('a quorum that cannot be reached, or that is not more than half, is refused at once', () => {
  expect(() => connect(1)).toThrow('more than half')
  expect(() => connectRpc({ urls: [first.url], quorum: 2, chainId: 31337 })).toThrow('quorum')
})

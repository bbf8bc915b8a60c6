import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { poll } from '../../../scripts/system/waiting.ts'
import type { RpcNode } from '../../../src/chain/rpc/node.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createFixture, type Fixture, newAddress, type Queued, TOKEN, useFixture } from '../fixture.ts'
import { sendUsdc } from './strangers.ts'

describe('hostile nodes', () => {
  const fixture = useFixture()
  const nodes = useHostileNodes(() => fixture.anvil.url)
  const TIMEOUT_MS = 1500
  const options = (timeoutMs: number) => ({
    urls: nodes.map(({ url }) => url),
    quorum: 2,
    chainId: TOKEN.chainId,
    timeoutMs,
  })

  async function expectPaidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect((await fixture.payout(paymentId)).state).toBe('settled')
      expect(await fixture.balance(recipient)).toBe(micro)
    }
  }

  /** Milliseconds that the work takes. */
  async function timed(work: () => Promise<unknown>): Promise<number> {
    const before = performance.now()
    await work()
    return performance.now() - before
  }

  test.each<[string, Malice]>([
    ['drips a body forever', 'drip'],
    ['is a black hole', 'black_hole'],
  ])('one of three nodes %s: answers arrive without it, and soon it is not asked any more', async (_case, malice) => {
    nodes[0]!.behave = () => malice
    let stopped: number | null = null
    const rpc = connectRpc({ ...options(TIMEOUT_MS), now: () => stopped ?? performance.now() })
    expect(await timed(() => rpc.newest())).toBeLessThan(TIMEOUT_MS)
    // Each of the three is once among the first two that are asked.
    for (let turn = 0; turn < 3; turn++)
      expect(await timed(() => rpc.agreed((node) => node.block(0)))).toBeLessThan(TIMEOUT_MS)
    expect(await timed(() => rpc.any((node) => node.balance(TOKEN.address, 'latest')))).toBeLessThan(TIMEOUT_MS)
    const [first] = rpc.nodes
    const isResting = () => rpc.health()[0]?.state === 'resting'
    for (let waited = 0; waited < 3 && !isResting(); waited++) await first!.block('latest').catch(() => undefined)
    expect(rpc.health()[0]).toMatchObject({
      state: 'resting',
      why: expect.stringContaining('no whole answer in time'),
    })
    // Its rest must not end while this test is slow.
    stopped = performance.now()
    const before = nodes[0]!.calls.length
    expect((await rpc.newest()).block.number).toBeGreaterThan(0)
    await rpc.agreed((node) => node.block(0))
    expect(nodes[0]!.calls.length).toBe(before)
  })

  test('two engines settle everything at the same time while one of three nodes is a black hole', async () => {
    nodes[1]!.behave = () => 'black_hole'
    const queued = await fixture.queue(Array.from({ length: 40 }, () => ({})))
    const engines = [1, 2]
      .map(() => connectRpc(options(4000)))
      .map((rpc) => fixture.runner({ rpc, options: { leaseMs: 5000 } }))
    const stop = new AbortController()
    const running = engines.map((engine) => engine.run(stop.signal))
    const areSettled = async () => {
      await fixture.chain.mine({ blocks: 1 })
      return (await fixture.db.query(`select 1 from payout where state <> 'settled' limit 1`)).rows.length === 0
    }
    await poll(areSettled, { withinMs: 30_000, everyMs: 100, what: 'the payouts to be settled' })
    stop.abort()
    await Promise.all(running)
    await expectPaidOnce(queued)
  })
})

describe('bloated answers', () => {
  /** Answers that are small in bytes and large in memory: no honest node has as many values in so few bytes. */

  const MB = 1024 * 1024
  const BLOCK = 'eth_getBlockByNumber'
  const RECEIPT = 'eth_getTransactionReceipt'

  let fixture: Fixture
  let full: number
  let hash: Hex
  beforeAll(async () => {
    fixture = await createFixture()
    await sendUsdc(fixture, [newAddress()], 7n)
    await fixture.chain.mine({ blocks: 1 })
    const block = await fixture.chain.getBlock()
    full = Number(block.number)
    hash = block.transactions[0]!
  })
  afterAll(() => fixture.stop())
  const nodes = useHostileNodes(() => fixture.anvil.url)
  const bad = () => nodes[0]!
  beforeEach(() => void (bad().calls.length = 0))

  const connect = (urls: readonly string[]) =>
    connectRpc({ urls, quorum: Math.ceil((urls.length + 1) / 2), chainId: TOKEN.chainId, timeoutMs: 20_000 })
  const asked = (method: string): number => bad().calls.filter((call) => call.method === method).length

  /** The honest answer with an extra field. */
  const padded =
    (method: string, padding: unknown) =>
    (call: { method: string }): Malice =>
      call.method === method ? { lie: (answer) => ({ ...(answer as object), padding }) } : 'honest'
  const many = <T>(count: number, value: (index: number) => T): T[] =>
    Array.from({ length: count }, (_v, at) => value(at))

  const bloated = { kind: 'malformed', answer: 'the answer has more values than any that is true' }

  describe('An answer with a field of more values than any true answer', () => {
    // 33 KB on the wire became 700 MB of objects, and the worker stopped for ten seconds or ended.
    test.each<[string, string, (node: RpcNode) => Promise<unknown>, number]>([
      ['a head', BLOCK, (node) => node.block('latest'), MB],
      ['fees', 'eth_feeHistory', (node) => node.feeHistory(20), MB],
      ['a receipt', RECEIPT, (node) => node.receipt(hash), 2 * MB],
      ['the transactions of a block', BLOCK, (node) => node.transactions(full, newAddress()), 10 * MB],
    ])(
      'an answer with too many values is wrong, and is not requested again with a larger limit: %s',
      async (_what, method, read, bytes) => {
        const [node] = connect([bad().url]).nodes
        await node!.chainId()
        for (const padding of [many(bytes / 16, () => 1), many(bytes / 64, () => ({})), many(bytes / 32, () => [])]) {
          bad().calls.length = 0
          bad().behave = padded(method, padding)
          await expect(read(node!)).rejects.toMatchObject(bloated)
          expect(asked(method)).toBe(1)
        }
        expect(node!.health.view()).toMatchObject({ wrong: 3, state: 'doubtful' })
        bad().behave = padded(method, [many(bytes / 40, () => 1), many(bytes / 100, () => ({}))])
        await read(node!)
      },
    )

    test('a receipt with too many values is wrong also if it was requested with a larger limit, since it was large', async () => {
      const [node] = connect([bad().url]).nodes
      await node!.chainId()
      bad().behave = padded(RECEIPT, ['x'.repeat(3 * MB), ...many(MB, () => 1)])
      await expect(node!.receipt(hash)).rejects.toMatchObject(bloated)
      expect(asked(RECEIPT)).toBe(2)
    })

    test('an answer with too many values leaves the question to the other nodes', async () => {
      const rpc = connect(nodes.map(({ url }) => url))
      bad().behave = padded(
        BLOCK,
        many(MB / 16, () => 1),
      )
      for (let round = 0; round < 4; round++) expect((await rpc.newest()).block.number).toBe(full)
      expect(rpc.health().map(({ state }) => state)).toEqual(['doubtful', 'good', 'good'])
    })
  })

  describe('The most values that strangers can make in the fewest bytes are too large before they are wrong', () => {
    const keyless = () => ({ address: newAddress(), storageKeys: [] })

    test.each([
      [130_000, 'is read'],
      [145_000, 'is read by each transaction'],
    ])('access lists of %s addresses without keys: the block %s', async (addresses) => {
      const [node] = connect([bad().url]).nodes
      await node!.chainId()
      const accessList = many(addresses, keyless)
      bad().behave = ({ method, params }) =>
        method === BLOCK && params[1] === true
          ? { lie: (block) => ({ ...(block as object), transactions: withList(block, accessList) }) }
          : 'honest'
      expect(await node!.transactions(full, newAddress())).toEqual([])
      expect(node!.health.view()).toMatchObject({ wrong: 0 })
    })

    const withList = (block: unknown, accessList: unknown): object[] =>
      (block as { transactions: object[] }).transactions.map((one, at) => (at === 0 ? { ...one, accessList } : one))

    test('a receipt with the 44,000 empty logs that the gas of a transaction pays for is read', async () => {
      const [node] = connect([bad().url]).nodes
      const [log] = await node!.logs({
        address: TOKEN.address,
        fromBlock: full,
        toBlock: full,
        topics: [TOPICS.transfer],
      })
      const { address, blockHash } = log!
      const empty = (at: number) => ({
        address,
        topics: [],
        data: '0x',
        blockNumber: `0x${full.toString(16)}`,
        blockHash,
        blockTimestamp: '0x6543210f',
        transactionHash: hash,
        transactionIndex: '0x0',
        logIndex: `0x${at.toString(16)}`,
        removed: false,
      })
      bad().behave = ({ method }) =>
        method === RECEIPT ? { lie: (receipt) => ({ ...(receipt as object), logs: many(44_000, empty) }) } : 'honest'
      expect((await node!.receipt(hash))?.logs).toHaveLength(44_000)
      expect(node!.health.view()).toMatchObject({ wrong: 0, state: 'good' })
    })
  })
})

import { describe, expect, test } from '@jest/globals'
import { multicall3Abi } from 'viem'
import { encodeErrorResult, encodeFunctionResult, parseAbi } from 'viem/utils'
import { isNoAnswer } from '../../../src/chain/rpc/failure.ts'
import { connectRpc, type RpcOptions } from '../../../src/chain/rpc/rpc.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { type Queued, TOKEN, useFixture } from '../fixture.ts'

describe('hostile nodes', () => {
  const fixture = useFixture()
  const nodes = useHostileNodes(() => fixture.anvil.url)

  const TIMEOUT_MS = 1500
  const connect = (options: Partial<RpcOptions> = {}) =>
    connectRpc({
      urls: nodes.map(({ url }) => url),
      quorum: 2,
      chainId: TOKEN.chainId,
      timeoutMs: TIMEOUT_MS,
      ...options,
    })
  const revertAbi = parseAbi(['error Error(string)'])
  const TRANSFER_WITH_AUTHORIZATION = 'e3ee160e'
  const isBlock = ({ method, params }: RpcCall, tag: unknown): boolean =>
    method === 'eth_getBlockByNumber' && params[0] === tag
  const state = async (paymentId: string) => (await fixture.payout(paymentId)).state

  async function expectPaidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect(await state(paymentId)).toBe('settled')
      expect(await fixture.balance(recipient)).toBe(micro)
    }
  }

  describe('one of three nodes', () => {
    test('a node that drips is cut off: the deadline is for the whole body', async () => {
      nodes[0]!.behave = () => 'drip'
      const rpc = connectRpc({ urls: [nodes[0]!.url], quorum: 1, chainId: TOKEN.chainId, timeoutMs: 300 })
      const failure = await rpc.newest().catch((error: unknown) => error)
      expect(isNoAnswer(failure)).toBe(true)
    })

    test('a node that runs ahead does not move the head', async () => {
      const ahead = (result: unknown) => ({ ...(result as object), number: '0xffffff', timestamp: '0xffffffff' })
      nodes[2]!.behave = (call) => (isBlock(call, 'latest') || isBlock(call, 'finalized') ? { lie: ahead } : 'honest')
      const rpc = connect()
      const { number } = await fixture.chain.getBlock()
      for (let turn = 0; turn < 3; turn++) {
        expect((await rpc.newest()).block).toMatchObject({ number: Number(number) })
        expect((await rpc.finalized())?.number).toBe(Number(number) - 2)
      }
    })

    test('a node that is behind does not hold the head back', async () => {
      await fixture.chain.mine({ blocks: 100 })
      const old = await fixture.chain.getBlock({ blockNumber: 1n })
      const behind = (result: unknown) => ({ ...(result as object), number: '0x1', hash: old.hash })
      nodes[0]!.behave = (call) => (isBlock(call, 'latest') ? { lie: behind } : 'honest')
      expect((await connect().newest()).block.number).toBe(Number(await fixture.chain.getBlockNumber()))
    })

    test('a node with a wrong head is overruled: the quorum has another hash, and the node is asked last from then on', async () => {
      const warnings: string[] = []
      const wrong = (result: unknown) => ({ ...(result as object), hash: `0x${'9'.repeat(64)}` })
      nodes[0]!.behave = ({ method }) => (method === 'eth_getBlockByNumber' ? { lie: wrong } : 'honest')
      const rpc = connect({ warn: (about, message) => warnings.push(`${JSON.stringify(about)} ${message}`) })
      const { hash } = await fixture.chain.getBlock()
      for (let turn = 0; turn < 9; turn++) expect((await rpc.newest()).block.hash).toBe(hash)
      for (let turn = 0; turn < 9; turn++) await rpc.agreed((node) => node.block(1))
      expect(rpc.health()[0]).toMatchObject({ state: 'doubtful' })
      expect(warnings).toEqual([expect.stringContaining('rpc1')])
      // Reads of one node go to the others.
      const before = nodes[0]!.calls.length
      for (let turn = 0; turn < 3; turn++) await rpc.any((node) => node.balance(TOKEN.address, 'latest'))
      expect(nodes[0]!.calls.length).toBe(before)
    })

    test('a node that reports dear gas is overruled: the others pay their own price', async () => {
      const dear = (result: unknown) => ({
        ...(result as object),
        baseFeePerGas: ['0xffffffffffff'],
        reward: [['0xffffffffffff']],
      })
      nodes[1]!.behave = ({ method }) => (method === 'eth_feeHistory' ? { lie: dear } : 'honest')
      const fees = await connect().fees(20)
      expect(fees.nextBaseFee).toBeLessThan(10n ** 12n)
      expect(fees.tips[0]).toBeLessThan(10n ** 12n)
    })

    test('a node that reports that the token refuses every payout stops none', async () => {
      const queued = await fixture.queue([{}])
      const returnData = encodeErrorResult({ abi: revertAbi, args: ['Blacklistable: account is blacklisted'] })
      const refused = encodeFunctionResult({
        abi: multicall3Abi,
        functionName: 'aggregate3',
        result: [{ success: false, returnData }],
      })
      const isSimulation = ({ method, params }: RpcCall): boolean =>
        method === 'eth_call' && JSON.stringify(params).includes(TRANSFER_WITH_AUTHORIZATION)
      let lies = 0
      nodes[0]!.behave = (call) => {
        if (!isSimulation(call)) return 'honest'
        lies += 1
        return { lie: () => refused }
      }
      const runner = fixture.runner({ rpc: connect() })
      await fixture.finalize(runner)
      // Until that node has been the one that is asked first.
      for (let round = 0; round < 9 && lies === 0; round++) {
        queued.push(...(await fixture.queue([{}])))
        await fixture.finalize(runner)
      }
      expect(lies).toBeGreaterThan(0)
      await expectPaidOnce(queued)
    })

    test('a node whose answers have impossible shapes counts as wrong, and does not crash the engine', async () => {
      const rpc = connect()
      for (const answer of [null, 'x', 7, [], {}, { number: 'x' }, [{ topics: 'x' }], { number: '0x1', hash: '0x1' }]) {
        nodes[0]!.behave = () => ({ lie: () => answer })
        expect((await rpc.newest()).block.number).toBeGreaterThan(0)
        expect(await rpc.agreed((node) => node.block(1))).not.toBeNull()
      }
      expect(rpc.health()[0]?.failures).toBeGreaterThan(0)
      expect(
        rpc
          .health()
          .slice(1)
          .map(({ failures }) => failures),
      ).toEqual([0, 0])
    })
  })

  test('two of three nodes that refuse batches stop nothing: payouts are sent and settle', async () => {
    const refusal = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } })
    for (const node of nodes.slice(0, 2)) node.answerList = () => ({ status: 200, text: refusal })
    const rpc = connect()
    const runner = fixture.runner({ rpc })
    await runner.assertReady()
    const queued = await fixture.queue(Array.from({ length: 5 }, () => ({})))
    await fixture.finalize(runner)
    await expectPaidOnce(queued)
    expect(rpc.health().map(({ state, failures }) => [state, failures])).toEqual(nodes.map(() => ['good', 0]))
  })

  describe('the start', () => {
    test('the start needs a quorum: one of three nodes may be down, and is used when it is up', async () => {
      nodes[0]!.behave = () => ({ status: 503, text: 'down' })
      const rpc = connect()
      await fixture.runner({ rpc }).assertReady()
      const queued = await fixture.queue([{}])
      await fixture.finalize(fixture.runner({ rpc }))
      await expectPaidOnce(queued)
      nodes[0]!.behave = () => 'honest'
      expect(await rpc.nodes[0]!.chainId()).toBe(TOKEN.chainId)
    })

    test('the start leaves out a node of another chain and names it', async () => {
      const warnings: string[] = []
      const before = nodes[2]!.calls.length
      nodes[2]!.behave = ({ method }) => (method === 'eth_chainId' ? { lie: () => '0x1' } : 'honest')
      const rpc = connect({ warn: (about, message) => warnings.push(`${message} ${JSON.stringify(about)}`) })
      await fixture.runner({ rpc }).assertReady()
      expect(rpc.health()[2]).toMatchObject({ state: 'left_out', why: 'rpc3 serves chain 1, not 31337' })
      expect(warnings).toEqual([expect.stringContaining('rpc3 serves chain 1, not 31337')])
      const queued = await fixture.queue([{}])
      await fixture.finalize(fixture.runner({ rpc }))
      await expectPaidOnce(queued)
      expect(nodes[2]!.calls.slice(before).map(({ method }) => method)).toEqual(['eth_chainId'])
    })

    test('the start is refused if too many nodes serve another chain for a quorum', async () => {
      for (const node of nodes.slice(1))
        node.behave = ({ method }) => (method === 'eth_chainId' ? { lie: () => '0x1' } : 'honest')
      await expect(fixture.runner({ rpc: connect() }).assertReady()).rejects.toThrow(/rpc2 serves chain 1.*rpc3 serves/)
    })

    test('the start waits, instead of refusing, while too few nodes answer', async () => {
      for (const node of nodes.slice(1)) node.behave = () => ({ status: 503, text: 'down' })
      const failure = await fixture
        .runner({ rpc: connect() })
        .assertReady()
        .catch((error: unknown) => error as Error)
      expect(failure).toMatchObject({ name: 'Error', message: expect.stringContaining('1 nodes answer') })
    })

    test('the start refuses two nodes at one host, which would be one party with two votes', () => {
      const urls = ['https://rpc.example/v2/one', 'https://rpc.example/v2/two', 'https://other.example']
      expect(() => connect({ urls })).toThrow(/rpc2 and rpc1 of POLYGON_RPC_URLS are at one host/)
    })
  })

  test('payouts are sent with finality 200 blocks behind on nodes that prune, and settle when it returns', async () => {
    const queued = await fixture.queue([{}])
    const rpc = connect()
    const runner = fixture.runner({ rpc })
    await runner.tick()
    await fixture.chain.mine({ blocks: 200 })
    const head = Number(await fixture.chain.getBlockNumber())
    const stuckAt = head - 202
    const old = await fixture.chain.getBlock({ blockNumber: BigInt(stuckAt) })
    const pruned = { error: { code: -32000, message: 'missing trie node: state is not available' } }
    const raw = (result: unknown) => ({ ...(result as object), number: `0x${stuckAt.toString(16)}`, hash: old.hash })
    for (const node of nodes)
      node.behave = (call) => {
        if (isBlock(call, 'finalized')) return { lie: raw }
        const tag = call.params.at(-1)
        const stateful = ['eth_call', 'eth_getTransactionCount', 'eth_getBalance', 'eth_getCode'].includes(call.method)
        return stateful && typeof tag === 'string' && tag.startsWith('0x') && head - Number(tag) > 127
          ? pruned
          : 'honest'
      }
    const later = await fixture.queue([{}])
    await runner.tick()
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    expect(await fixture.balance(later[0]!.recipient)).toBe(later[0]!.micro)
    expect(await state(later[0]!.paymentId)).toBe('mined')
    for (const node of nodes) node.behave = () => 'honest'
    await fixture.chain.mine({ blocks: 4 })
    await runner.tick()
    await runner.tick()
    await expectPaidOnce([...queued, ...later])
    await runner.tick()
    expect((await fixture.db.query(`select 1 from lane_tx where state <> 'finalized'`)).rows).toEqual([])
  })
})

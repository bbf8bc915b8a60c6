import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { multicall3Abi } from 'viem'
import { decodeFunctionResult, encodeFunctionResult, toHex } from 'viem/utils'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { USDC_VIEWS } from '../../../src/chain/token/contracts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { type TestChain, takeChain } from '../../support/chains.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createFixture, type Fixture, TOKEN, useFixture } from '../fixture.ts'
import { behindBy, fakeHash, HEADERS, quantity, rawBlock } from './laggard.ts'

describe('a majority of nodes', () => {
  /** Signing and lanes rest on facts of a quorum. */

  const fixture = useFixture()
  const nodes = useHostileNodes(() => fixture.anvil.url)

  /** Each node lies in two of them: a lie of one node alone might always miss the two that are asked first. */
  const ROUNDS = 6

  const isTokenState = ({ method, params }: RpcCall): boolean =>
    method === 'eth_call' && JSON.stringify(params).includes(USDC_VIEWS.paused.slice(2))

  /**
   * The token's state with another value in one place: 0 is the pause, 1 the treasury on the blacklist, 2 its balance.
   */
  const tokenLie =
    (place: number, value: bigint) =>
    (answer: unknown): unknown => {
      const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer as Hex })
      const changed = results.map((one, at) =>
        at === place ? { ...one, returnData: toHex(value, { size: 32 }) } : one,
      )
      return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: changed })
    }

  test.each<[string, (call: RpcCall) => boolean, (answer: unknown) => unknown]>([
    ['the token is paused', isTokenState, tokenLie(0, 1n)],
    ['the treasury is on the blacklist', isTokenState, tokenLie(1, 1n)],
    ['the treasury is empty', isTokenState, tokenLie(2, 0n)],
    ['the relayer has no gas money', ({ method }) => method === 'eth_getBalance', () => '0x0'],
    [
      'the relayer has sent more than it has',
      ({ method }) => method === 'eth_getTransactionCount',
      (answer) => toHex(Number(answer) + 5),
    ],
  ])('one of three nodes reports that %s: every payout is sent at once', async (_case, isAbout, lie) => {
    let lies = 0
    let round = 0
    for (const [index, node] of nodes.entries())
      node.behave = (call) => {
        if (index !== round % nodes.length || !isAbout(call)) return 'honest'
        lies += 1
        return { lie }
      }
    const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 1500 })
    const runner = fixture.runner({ rpc })
    await runner.tick()
    while (++round <= ROUNDS) {
      const [queued] = await fixture.queue([{}])
      await runner.tick()
      expect([round, (await fixture.payout(queued!.paymentId)).state]).toEqual([round, 'broadcast'])
      await fixture.chain.mine({ blocks: 3 })
    }
    expect(lies).toBeGreaterThan(0)
    expect(fixture.hookCalls.stopped).toEqual([])
    const { rows } = await fixture.db.query('select distinct status from lane')
    expect(rows).toEqual([{ status: 'open' }])
  })

  test('one of three nodes does not know the transaction of a nonce that the journal has forgotten: the lane continues', async () => {
    const relayer = fixture.relayers[0]!
    let lies = 0
    nodes[1]!.behave = ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber' || params[1] !== true) return 'honest'
      lies += 1
      return { lie: (block) => ({ ...(block as object), transactions: [] }) }
    }
    const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 1500 })
    const runner = fixture.runner({ rpc })
    await fixture.finalize(runner)
    for (let round = 1; round <= ROUNDS; round++) {
      // An empty transfer to itself, as a lost journal may have sent.
      const raw = await relayer.signTransaction({
        type: 'eip1559',
        chainId: TOKEN.chainId,
        to: relayer.address,
        gas: 21_000n,
        nonce: await fixture.chain.getTransactionCount({ address: relayer.address }),
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      })
      await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
      await fixture.chain.mine({ blocks: 4 })
      await runner.tick()
      const { rows } = await fixture.db.query('select status from lane')
      expect([round, rows]).toEqual([round, [{ status: 'open' }]])
    }
    expect(lies).toBeGreaterThan(0)
  })

  const DELEGATED = 'in-flight transaction limit reached for delegated accounts'
  const LOST: Malice = { status: 502, text: 'bad gateway' }
  const refusedFor = (message: string): Malice => ({ error: { code: -32000, message } })
  /** Each node's answers when a transaction is sent. */
  const answerSends = (malices: readonly Malice[]) => {
    for (const [index, malice] of malices.entries())
      nodes[index]!.behave = ({ method }) => (method === 'eth_sendRawTransaction' ? malice : 'honest')
  }
  const readLane = async () => (await fixture.db.query('select status, status_reason from lane')).rows
  const connectAll = () =>
    connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 1500 })

  test('one of three nodes reports that the wallet is delegated while the answers of the others are lost: the lane continues', async () => {
    const runner = fixture.runner({ rpc: connectAll() })
    await runner.tick()
    const [queued] = await fixture.queue([{}])
    answerSends([LOST, LOST, refusedFor(DELEGATED)])
    await runner.tick()
    expect(await readLane()).toEqual([{ status: 'open', status_reason: null }])
    answerSends(['honest', 'honest', refusedFor(DELEGATED)])
    await fixture.finalize(runner, 3)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
  })

  test('one of three nodes reports that the price is too low while the answers of the others are lost: it is not raised', async () => {
    const runner = fixture.runner({ rpc: connectAll(), options: { rebroadcastMs: 0 } })
    await fixture.finalize(runner)
    const [queued] = await fixture.queue([{}])
    const countAttempts = async () =>
      (
        await fixture.db.query(`select 1 from lane_tx_attempt a join lane_tx t using (chain_id, wallet, nonce)
       where t.state in ('signed', 'broadcast')`)
      ).rows.length
    answerSends([LOST, LOST, refusedFor('transaction underpriced')])
    for (let round = 0; round < 3; round++) await runner.tick()
    expect(await countAttempts()).toBe(1)
    answerSends([LOST, refusedFor('transaction underpriced'), refusedFor('transaction underpriced')])
    await runner.tick()
    expect(await countAttempts()).toBe(2)
    answerSends(['honest', 'honest', 'honest'])
    await fixture.finalize(runner, 3)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
  })

  test('the wallet is delegated and only one node gives the reason of its refusal: the lane is stopped', async () => {
    const runner = fixture.runner({ rpc: connectAll() })
    await fixture.finalize(runner)
    await fixture.queue([{}])
    const code: Hex = `0xef0100${'1'.repeat(40)}`
    await fixture.chain.setCode({ address: fixture.relayers[0]!.address, bytecode: code })
    answerSends([LOST, LOST, refusedFor(DELEGATED)])
    await runner.tick()
    expect(await readLane()).toEqual([
      { status: 'quarantined', status_reason: 'the wallet carries an EIP-7702 delegation' },
    ])
  })
})

describe('the newest block of a quorum', () => {
  /** The newest block, the final one, and the price of gas: by a quorum, also if honest nodes differ. */

  let fixture: Fixture
  let head: number
  beforeAll(async () => {
    fixture = await createFixture()
    await fixture.chain.mine({ blocks: 100 })
    head = Number(await fixture.chain.getBlockNumber())
  })
  afterAll(() => fixture.stop())
  const nodes = useHostileNodes(() => fixture.anvil.url)

  const connect = () => connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId })

  /** The third node is honest, and later than the grace that slow ones have. */
  const SLOW = { afterMs: 300 } as const

  // Its height was the quorum's: nothing was signed or settled while it stood there.
  test('a node that has stalled sets neither the newest nor the final block while another is slow', async () => {
    const old = await rawBlock(fixture, 1n)
    nodes[0]!.behave = ({ method, params }) =>
      method === HEADERS && ['latest', 'finalized'].includes(String(params[0])) ? { lie: () => old } : 'honest'
    nodes[2]!.behave = () => SLOW
    const rpc = connect()
    expect([(await rpc.newest()).block.number, (await rpc.finalized())?.number]).toEqual([head, head - 2])
  })

  // Gas had its price, and nothing was mined.
  test('a node that reports that gas costs nothing does not count while another is slow', async () => {
    nodes[0]!.behave = ({ method }) =>
      method === 'eth_feeHistory'
        ? { lie: (history) => ({ ...(history as object), baseFeePerGas: ['0x1'], reward: [['0x1']] }) }
        : 'honest'
    nodes[2]!.behave = () => SLOW
    const honest = await connectRpc({ urls: [nodes[1]!.url], quorum: 1, chainId: TOKEN.chainId }).fees(20)
    expect(honest.nextBaseFee).toBeGreaterThan(1n)
    expect((await connect().fees(20)).nextBaseFee).toBe(honest.nextBaseFee)
  })

  test('slow nodes are not waited for while the others agree', async () => {
    nodes[2]!.behave = () => 'black_hole'
    const rpc = connect()
    const before = performance.now()
    expect([(await rpc.newest()).block.number, (await rpc.finalized())?.number]).toEqual([head, head - 2])
    // The limit of a whole question is four seconds.
    expect(performance.now() - before).toBeLessThan(3500)
  })

  // From nine blocks on there was no newest block.
  test.each([1, 8, 9, 30])(
    'a head that one node invents stops nothing if another is %i blocks behind',
    async (blocks) => {
      nodes[0]!.behave = ({ method, params }) => {
        if (method !== HEADERS) return 'honest'
        const lie = params[0] === 'latest' ? { number: quantity(0xffffff) } : { hash: fakeHash(1n) }
        return { lie: (block) => ({ ...(block as object), ...lie }) }
      }
      nodes[2]!.behave = await behindBy(fixture, blocks)
      const { block } = await connect().newest()
      expect(block.number).toBeLessThanOrEqual(head - blocks)
      expect(block.number).toBeGreaterThanOrEqual(head - blocks - 8)
      expect(block.hash).toBe((await rawBlock(fixture, BigInt(block.number)))['hash'])
    },
  )
})

describe('A node that does not answer in time', () => {
  /** One of three nodes does not answer in time, and another has lost an answer: it is asked again during that time. */

  const RECEIPT = 'eth_getTransactionReceipt'
  const TX = `0x${'7'.repeat(64)}` as const
  const LOST: Malice = { error: { code: -32005, message: 'rate limit exceeded' } }
  const leftAlone = (seconds: number): Malice => ({
    status: 429,
    text: 'slow down',
    headers: { 'retry-after': String(seconds) },
  })

  let anvil: TestChain
  beforeAll(async () => void (anvil = await takeChain()))
  afterAll(() => anvil.giveBack())
  const nodes = useHostileNodes(() => anvil.url)
  beforeEach(() => {
    for (const { calls } of nodes) calls.length = 0
  })

  const connect = (timeoutMs = 4000) =>
    connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: 31337, timeoutMs })
  const asked = (index: number): number => nodes[index]!.calls.filter(({ method }) => method === RECEIPT).length
  /** A node that answers the first call for a receipt like this, and is honest from then on. */
  function once(malice: Malice): (call: RpcCall) => Malice {
    let isOver = false
    return ({ method }) => {
      if (method !== RECEIPT || isOver) return 'honest'
      isOver = true
      return malice
    }
  }
  const always =
    (malice: Malice) =>
    ({ method }: RpcCall): Malice =>
      method === RECEIPT ? malice : 'honest'

  // Everything waited for the last node, 11 seconds for each of fourteen receipts.
  test.each<[string, Malice]>([
    ['has failed', LOST],
    ['asks to be left alone for a second', leftAlone(1)],
  ])('a node that %s is asked again while another does not answer', async (_how, malice) => {
    const rpc = connect()
    await Promise.all(rpc.nodes.map((node) => node.chainId()))
    nodes[1]!.behave = once(malice)
    nodes[2]!.behave = always('black_hole')
    const start = performance.now()
    expect(await rpc.agreed((node) => node.receipt(TX))).toEqual({ value: null })
    expect(performance.now() - start).toBeLessThan(2500)
    expect(asked(1)).toBe(2)
  })

  // It was not asked, and there was no other.
  test.each([
    ['is asked when that is over', 1, 2500],
    ['for half a minute is asked after some seconds', 30, 6500],
  ])(
    'a node that rests while another does not answer %s',
    async (_when, seconds, withinMs) => {
      const rpc = connect(7000)
      await Promise.all(rpc.nodes.map((node) => node.chainId()))
      nodes[1]!.behave = once(leftAlone(seconds))
      await expect(rpc.nodes[1]!.receipt(TX)).rejects.toMatchObject({ retryAfterMs: seconds * 1000 })
      nodes[2]!.behave = always('black_hole')
      const start = performance.now()
      expect(await rpc.agreed((node) => node.receipt(TX))).toEqual({ value: null })
      expect(performance.now() - start).toBeLessThan(withinMs)
    },
    20_000,
  )

  test('a node that is wrong is not asked again', async () => {
    const rpc = connect()
    await Promise.all(rpc.nodes.map((node) => node.chainId()))
    nodes[0]!.behave = always({ lie: () => ({ no: 'receipt' }) })
    nodes[1]!.behave = always({ afterMs: 900 })
    for (let round = 0; round < 3; round++)
      expect(await rpc.agreed((node) => node.receipt(TX))).toEqual({ value: null })
    const { wrong } = rpc.nodes[0]!.health.view()
    expect(wrong).toBeGreaterThan(0)
    expect(asked(0)).toBe(wrong)
    expect(wrong).toBeLessThanOrEqual(3)
  })

  test('asking again extends no wait: it ends when each node has answered or failed once', async () => {
    const rpc = connect()
    await Promise.all(rpc.nodes.map((node) => node.chainId()))
    for (const index of [1, 2]) nodes[index]!.behave = always(LOST)
    const start = performance.now()
    expect(await rpc.agreed((node) => node.receipt(TX))).toBeNull()
    expect(performance.now() - start).toBeLessThan(1000)
    expect([asked(1), asked(2)]).toEqual([1, 1])
  })
})

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createTestClient, http } from 'viem'
import { parseHex } from '../../../src/chain/rpc/answers.ts'
import { NodeFailure } from '../../../src/chain/rpc/failure.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { classifySendError } from '../../../src/chain/rpc/send-outcome.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { type TestChain, takeChain } from '../../support/chains.ts'
import { type ListAnswer, type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createFixture, type Fixture, TOKEN } from '../fixture.ts'

describe('several nodes as one', () => {
  let fixture: Fixture
  let first: LossyProxy
  let second: LossyProxy
  beforeAll(async () => {
    fixture = await createFixture()
    first = await startLossyProxy(fixture.anvil.url)
    second = await startLossyProxy(fixture.anvil.url)
  })
  afterEach(() => {
    first.decide = () => 'deliver'
    second.decide = () => 'deliver'
  })
  afterAll(async () => {
    await Promise.all([first.close(), second.close()])
    await fixture.stop()
  })

  const connect = (quorum: number, urls = [first.url, second.url], now = () => performance.now()) =>
    connectRpc({ urls, quorum, chainId: 31337, timeoutMs: 1000, now })
  /** A round reports that it could not be finished; any other error is a failure of the test. */
  const withoutQuorum = (failure: unknown): void => expect(String(failure)).toMatch(/no quorum/) as undefined
  const state = async (paymentId: string) => (await fixture.payout(paymentId)).state

  describe('A range of blocks that a node refuses', () => {
    test.each([
      'query returned more than 10000 results',
      'query exceeds max results 10000, retry with the range 1-2',
      'requested too many blocks from 1 to 1000, maximum is set to 500',
      'words that no list has',
    ])('a range that a node refuses is read in halves, down to single blocks: "%s"', async (message) => {
      const queued = await fixture.queue([{}])
      const ranges: number[] = []
      first.decide = ({ method, params }) => {
        if (method !== 'eth_getLogs') return 'deliver'
        const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
        const blocks = Number(toBlock) - Number(fromBlock) + 1
        ranges.push(blocks)
        return blocks > 1 ? { error: { code: -32005, message } } : 'deliver'
      }
      await fixture.finalize(fixture.runner({ rpc: connect(1, [first.url]) }))
      expect(await state(queued[0]!.paymentId)).toBe('settled')
      expect(Math.max(...ranges)).toBeGreaterThan(1)
      expect(ranges).toContain(1)
    })

    test.each([
      // Eleven ranges, and the test if it gives logs at all.
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

    test('a node that answers only single blocks, and late, is asked for half a minute', async () => {
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

  describe('A quorum of two nodes', () => {
    test('a payout is settled when both nodes of the quorum agree', async () => {
      const [queued] = await fixture.queue([{}])
      await fixture.finalize(fixture.runner({ rpc: connect(2) }))
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
        'one of them hides receipt and logs',
        (method: string) =>
          method === 'eth_getTransactionReceipt'
            ? { rewrite: () => null }
            : method === 'eth_getLogs'
              ? { rewrite: () => [] }
              : ('deliver' as const),
      ],
      [
        'one of them has no finality',
        (method: string, params: readonly unknown[]) =>
          method === 'eth_getBlockByNumber' && params[0] === 'finalized'
            ? { error: { code: -32000, message: 'finalized block not found' } }
            : ('deliver' as const),
      ],
      ['one of them does not answer', () => 'lose_response' as const],
    ])('no payout settles while %s', async (_case, decide) => {
      const [queued] = await fixture.queue([{}])
      const runner = fixture.runner({ rpc: connect(2) })
      await runner.tick()
      await fixture.chain.mine({ blocks: 4 })
      second.decide = ({ method, params }) => decide(method, params)
      await runner.tick().catch(withoutQuorum)
      await fixture.chain.mine({ blocks: 4 })
      await runner.tick().catch(withoutQuorum)
      expect(await state(queued!.paymentId)).not.toBe('settled')
      second.decide = () => 'deliver'
      await runner.tick()
      expect(await state(queued!.paymentId)).toBe('settled')
    })

    test('a node that lags delays the settlement until it has the block', async () => {
      const [queued] = await fixture.queue([{}])
      const runner = fixture.runner({ rpc: connect(2) })
      await runner.tick()
      const old = await fixture.chain.getBlock()
      await fixture.chain.mine({ blocks: 4 })
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

    test('a third node replaces one that fails', async () => {
      const [queued] = await fixture.queue([{}])
      second.decide = () => ({ status: 503 })
      await fixture.finalize(fixture.runner({ rpc: connect(2, [second.url, first.url, fixture.anvil.url]) }))
      expect(await state(queued!.paymentId)).toBe('settled')
    })
  })

  test('a transaction is sent to every node: one that loses it does not matter', async () => {
    const [queued] = await fixture.queue([{}])
    first.decide = ({ method }) => (method === 'eth_sendRawTransaction' ? 'lose_request' : 'deliver')
    await fixture.finalize(fixture.runner({ rpc: connect(2) }))
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a receipt that one node does not know does not count as absent', async () => {
    const [queued] = await fixture.queue([{}])
    const runner = fixture.runner({ rpc: connect(2) })
    await runner.tick()
    await fixture.chain.mine({ blocks: 4 })
    second.decide = ({ method }) => (method === 'eth_getTransactionReceipt' ? { rewrite: () => null } : 'deliver')
    await runner.tick().catch(withoutQuorum)
    const open = await fixture.db.query(`select state from lane_tx where state in ('broadcast', 'foreign')`)
    expect(open.rows).toEqual([{ state: 'broadcast' }])
    second.decide = () => 'deliver'
    await runner.tick()
    expect(await state(queued!.paymentId)).toBe('settled')
    expect((await fixture.db.query(`select 1 from lane_tx where state <> 'finalized'`)).rows).toEqual([])
  })

  test('a quorum that cannot be reached, or that is not more than half, is refused at once', () => {
    expect(() => connect(1)).toThrow('more than half')
    expect(() => connectRpc({ urls: [first.url], quorum: 2, chainId: 31337 })).toThrow('quorum')
  })
})

describe('the calls of a node', () => {
  let anvil: TestChain
  beforeAll(async () => {
    anvil = await takeChain()
  })
  afterAll(() => anvil.giveBack())
  const nodes = useHostileNodes(() => anvil.url)

  const CHAIN = { chainId: 31337 }
  const connect = () => connectRpc({ ...CHAIN, urls: nodes.map(({ url }) => url), quorum: 2, timeoutMs: 1500 })

  describe('A key in the URL of a node', () => {
    test.each<[string, Malice]>([
      ['an HTTP error', { status: 401, text: '{"error":"bad key k3y-in-the-path-7f3a"}' }],
      ['an answer that is no JSON', { status: 200, text: '<html>k3y-in-the-query-91bc</html>' }],
      ['an error of the node', { error: { code: -32000, message: 'no plan for k3y-in-the-path-7f3a' } }],
      ['a silence', 'black_hole'],
      ['a wrong shape', { lie: () => ({ k: 'k3y-in-the-path-7f3a' }) }],
    ])('a node’s key is in no error, log or record after %s', async (_case, malice) => {
      const said: string[] = []
      nodes[0]!.behave = () => malice
      const rpc = connectRpc({
        urls: [nodes[0]!.url],
        quorum: 1,
        ...CHAIN,
        timeoutMs: 200,
        warn: (about, message) => said.push(message + JSON.stringify(about)),
      })
      const raw: Hex = '0x02'
      const failures = await Promise.all(
        [
          rpc.newest(),
          rpc.any((node) => node.balance(`0x${'1'.repeat(40)}`, 'latest')),
          rpc.nodes[0]!.call({ to: raw, data: raw }, { parse: parseHex }),
        ].map((read) =>
          read.then(
            () => 'answered',
            (error: unknown) => error,
          ),
        ),
      )
      const { answer } = await rpc.broadcast(raw)
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(NodeFailure)
        const { message, stack, cause } = failure as Error
        said.push(message, stack ?? '', JSON.stringify(failure), JSON.stringify(cause ?? null))
      }
      said.push(answer, JSON.stringify(rpc.health()))
      for (const secret of nodes[0]!.secrets) expect(said.join('\n')).not.toContain(secret)
    })
  })

  describe('a list of calls in one request', () => {
    const error = { code: -32600, message: 'no such batch' }
    const answer = (text: unknown, status = 200) => ({ status, text: JSON.stringify(text) })
    const connectFirst = () => connectRpc({ ...CHAIN, urls: [nodes[0]!.url], quorum: 1, timeoutMs: 1500, now: () => 0 })
    /** Reads eight blocks. Returns their numbers, and the number of calls of each request. */
    async function readBlocks(rpc: Rpc) {
      const before = nodes[0]!.requests.length
      const blocks = await Promise.all(Array.from({ length: 8 }, (_block, number) => rpc.nodes[0]!.block(number)))
      return { numbers: blocks.map(({ number }) => number), requests: nodes[0]!.requests.slice(before) }
    }
    beforeAll(() => createTestClient({ mode: 'anvil', transport: http(anvil.url) }).mine({ blocks: 8 }))

    test.each<[string, number, (answers: readonly ListAnswer[]) => { status: number; text: string }]>([
      [
        'HTTP 500 and its own words (dRPC)',
        3,
        () => answer({ message: 'Batch of more than 3 requests', code: 31 }, 500),
      ],
      ['HTTP 400 and an error', 3, () => answer({ jsonrpc: '2.0', id: null, error }, 400)],
      ['an error in place of the list', 3, () => answer({ jsonrpc: '2.0', id: null, error })],
      ['one error in a list (geth)', 3, ([first]) => answer([{ jsonrpc: '2.0', id: first!.id, error }])],
      ['a list without the first answer', 2, ([, ...others]) => answer(others)],
      ['null', 1, () => answer(null)],
      ['a page of HTML', 1, () => ({ status: 200, text: '<!DOCTYPE html>' })],
    ])(
      'a list that the node answers with %s is requested in smaller ones, and the size is remembered',
      async (_what, most, refuse) => {
        nodes[0]!.answerList = (answers) => (answers.length > most ? refuse(answers) : null)
        const rpc = connectFirst()
        expect((await readBlocks(rpc)).numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
        const again = await readBlocks(rpc)
        expect(again.numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
        expect(Math.max(...again.requests)).toBeLessThanOrEqual(most)
        expect(rpc.health()[0]).toMatchObject({ state: 'good', failures: 0, wrong: 0 })
      },
    )

    test('each call of a list gets its own answer by its id, in whatever order they arrive', async () => {
      nodes[0]!.answerList = (answers) => answer(answers.toReversed())
      expect(await readBlocks(connectFirst())).toEqual({ numbers: [0, 1, 2, 3, 4, 5, 6, 7], requests: [1, 8] })
    })

    test('a list is not split if the node refuses its first call alone in the same words', async () => {
      const rpc = connectFirst()
      await rpc.newest()
      const revoked = { error: { code: -32000, message: 'invalid project id' } }
      nodes[0]!.behave = () => revoked
      nodes[0]!.answerList = () => answer({ jsonrpc: '2.0', id: null, ...revoked })
      const before = nodes[0]!.requests.length
      const blocks = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6, 7].map((number) => rpc.nodes[0]!.block(number)))
      for (const block of blocks) expect(block).toMatchObject({ reason: { answer: 'invalid project id' } })
      expect(nodes[0]!.requests.slice(before)).toEqual([8, 1])
    })

    test('a call of a refused list keeps its own error', async () => {
      const rpc = connectFirst()
      nodes[0]!.behave = ({ params }) =>
        params[0] === '0x0' ? { error: { code: -32000, message: 'header not found' } } : 'honest'
      nodes[0]!.answerList = () => answer({ jsonrpc: '2.0', id: null, error })
      const blocks = await Promise.allSettled([0, 1, 2].map((number) => rpc.nodes[0]!.block(number)))
      expect(blocks.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
      expect(blocks[0]).toMatchObject({ reason: { answer: 'header not found' } })
    })
  })

  test.each([
    ['null', 'not an answer of JSON-RPC: null'],
    ['[]', 'not an answer of JSON-RPC: []'],
    ['<!DOCTYPE html>\n<html>', 'HTTP 200: not JSON: <!DOCTYPE html> <html>'],
    ['', 'HTTP 200: not JSON: an empty body'],
  ])('a node that answers "%s" is quoted literally', async (text, quoted) => {
    nodes[0]!.behave = () => ({ status: 200, text })
    await expect(connect().nodes[0]!.block(0)).rejects.toMatchObject({ answer: quoted })
  })

  describe('One HTTP response of a node', () => {
    test('a redirect of a node is not followed: another server has no vote', async () => {
      const [first, second] = nodes
      const headers = { location: second!.url, 'content-type': 'application/json' }
      const text = '{"jsonrpc":"2.0","id":1,"result":"0x7a69"}'
      const before = second!.calls.length
      for (const status of [301, 302, 307, 308]) {
        first!.behave = () => ({ status, text, headers })
        await expect(connect().nodes[0]!.block(0)).rejects.toMatchObject({
          kind: 'silent',
          answer: `HTTP ${status}: a redirect`,
        })
      }
      expect(second!.calls).toHaveLength(before)
    })

    test('a response whose connection closes in its body is a failure, and not half an answer', async () => {
      nodes[0]!.behave = () => 'cut_off'
      await expect(connect().nodes[0]!.block(0)).rejects.toMatchObject({
        kind: 'silent',
        answer: expect.stringMatching(/^no whole answer: UND_ERR_\w+$/),
      })
    })

    test('a response has one deadline for headers and body', async () => {
      nodes[0]!.behave = () => 'drip'
      await expect(connect().nodes[0]!.block(0)).rejects.toMatchObject({
        kind: 'silent',
        answer: 'no whole answer in time',
      })
    })

    test('a response is read if the node has compressed it', async () => {
      nodes[0]!.behave = () => 'zipped'
      await expect(connect().nodes[0]!.block(0)).resolves.toMatchObject({ number: 0 })
    })

    test('a failed connection reports its code, and not the URL', async () => {
      const closed = createServer().listen(0, '127.0.0.1')
      await once(closed, 'listening')
      const { port } = closed.address() as AddressInfo
      await new Promise((resolve) => closed.close(resolve))
      const rpc = connectRpc({ ...CHAIN, urls: [`http://127.0.0.1:${port}`], quorum: 1 })
      await expect(rpc.nodes[0]!.block(0)).rejects.toMatchObject({
        kind: 'silent',
        answer: 'no whole answer: ECONNREFUSED',
      })
    })
  })

  describe('The errors of a node', () => {
    const revoked = { error: { code: -32000, message: 'invalid project id' } }
    let time = 0
    const warnings: string[] = []
    const connectAt = () => {
      time = 0
      warnings.length = 0
      const warn = (about: object, message: string) => void warnings.push(`${message} ${JSON.stringify(about)}`)
      const rpc = connectRpc({ ...CHAIN, urls: [nodes[0]!.url], quorum: 1, warn, now: () => time })
      return { rpc, node: rpc.nodes[0]! }
    }

    test('a node that answers only errors rests after ten seconds, and counts as resting until it answers', async () => {
      const { rpc, node } = connectAt()
      await node.block(0)
      nodes[0]!.behave = () => revoked
      await expect(node.block(0)).rejects.toThrow('invalid project id')
      time = 9000
      await node.block(0).catch(() => undefined)
      expect(rpc.health()[0]?.state).toBe('good')
      time = 10_000
      await node.block(0).catch(() => undefined)
      expect(rpc.health()[0]).toMatchObject({ state: 'resting', why: expect.stringContaining('invalid project id') })
      expect(warnings).toEqual([expect.stringContaining('invalid project id')])
      time = 60_000
      expect([node.health.usable(), rpc.health()[0]?.state]).toEqual([true, 'resting'])
      nodes[0]!.behave = () => 'honest'
      await node.block(0)
      expect(rpc.health()[0]?.state).toBe('good')
    })

    test('a node that refuses one call does not rest while it answers others', async () => {
      const { rpc, node } = connectAt()
      nodes[0]!.behave = ({ method }) => (method === 'eth_getBalance' ? revoked : 'honest')
      for (time = 0; time <= 60_000; time += 5000) {
        await node.balance(TOKEN.address, 'latest').catch(() => undefined)
        await node.block(0)
      }
      expect([rpc.health()[0]?.state, warnings]).toEqual(['good', []])
    })

    test('a node without eth_feeHistory is named once a minute, and asked for its gas price instead', async () => {
      const { rpc, node } = connectAt()
      const honest = await node.feeHistory(20)
      nodes[0]!.behave = ({ method }) =>
        method === 'eth_feeHistory' ? { error: { code: -32601, message: 'no such thing' } } : 'honest'
      for (time = 0; time < 120_000; time += 10_000) {
        const { nextBaseFee, tips } = await rpc.fees(20)
        expect(nextBaseFee).toBeLessThan(honest.nextBaseFee * 2n + 1n)
        expect(nextBaseFee).toBeGreaterThan(0n)
        expect(tips).toHaveLength(1)
      }
      expect(warnings).toHaveLength(2)
      expect(warnings[0]).toMatch(/does not have a method .*eth_feeHistory.*no such thing/)
      expect(rpc.health()[0]?.lacks).toEqual(['eth_feeHistory'])
    })
  })

  describe('How often nodes are asked', () => {
    test('a read by quorum asks as many nodes as the quorum has, in turn', async () => {
      const rpc = connect()
      await rpc.newest()
      const before = nodes.map(({ calls }) => calls.length)
      for (let turn = 0; turn < 6; turn++) await rpc.agreed((node) => node.block(0))
      const asked = nodes.map(({ calls }, index) => calls.length - (before[index] ?? 0))
      expect(asked.reduce((sum, count) => sum + count, 0)).toBe(12)
      for (const count of asked) expect(count).toBeGreaterThan(0)
    })

    test('calls are counted by method, and calls above the budget wait or are refused', async () => {
      const rpc = connectRpc({
        urls: [nodes[0]!.url],
        quorum: 1,
        ...CHAIN,
        timeoutMs: 300,
        callsPerSecond: 10,
      })
      const reads = await Promise.allSettled(Array.from({ length: 40 }, () => rpc.nodes[0]!.block(0)))
      const refused = reads.flatMap((read) => (read.status === 'rejected' ? [String(read.reason)] : []))
      // Ten at once, less the one for the chain’s id, and those that fit into the time limit of a call.
      expect(reads.length - refused.length).toBeGreaterThanOrEqual(9)
      expect(reads.length - refused.length).toBeLessThanOrEqual(14)
      for (const why of refused) expect(why).toContain('budget')
      expect(rpc.health()[0]?.calls).toMatchObject({ eth_chainId: 1 })
    })

    test.each(['slow down', '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"daily quota"}}'])(
      'a node that asks for a pause gets one, whatever its body is: %s',
      async (text) => {
        nodes[0]!.behave = () => ({ status: 429, text, headers: { 'retry-after': '7' } })
        const rpc = connect()
        await rpc.newest()
        await rpc.nodes[0]!.block(0).catch(() => undefined)
        expect(rpc.health()[0]?.state).toBe('resting')
      },
    )

    // It was asked first each time, because all others seemed to be behind.
    test('a node that invents a very high block is asked in its turn', async () => {
      nodes[0]!.behave = ({ method, params }) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { lie: (block) => ({ ...(block as object), number: '0xffffffff' }) }
          : 'honest'
      const rpc = connect()
      for (let turn = 0; turn < 6; turn++) await rpc.newest()
      const asked: string[] = []
      for (let turn = 0; turn < 9; turn++) await rpc.any(async (node) => void asked.push(node.name))
      expect(new Set(asked)).toEqual(new Set(['rpc1', 'rpc2', 'rpc3']))
    })

    // The walk down the chain continued from the reported number.
    test('a block with another number than requested is no answer', async () => {
      nodes[0]!.behave = ({ method, params }) =>
        method === 'eth_getBlockByNumber' && params[0] === '0x0'
          ? { lie: (block) => ({ ...(block as object), number: '0xe8d4a51000' }) }
          : 'honest'
      const [node] = connect().nodes
      await expect(node!.block(0)).rejects.toMatchObject({ kind: 'malformed' })
      expect(node!.health.view().wrong).toBe(1)
    })
  })
})

describe('The outcome of sending', () => {
  test.each([
    // geth and Bor (core/txpool/errors.go, core/error.go), anvil, and nodes in front of them.
    ['already known', 'accepted'],
    ['transaction already imported', 'accepted'],
    ['known transaction: 0xabc', 'accepted'],
    ['Transaction with the same hash was already imported.', 'accepted'],
    ['nonce too low: next nonce 8, tx nonce 7', 'nonce_used'],
    ['nonce too low', 'nonce_used'],
    ['replacement transaction underpriced', 'underpriced_replacement'],
    ['transaction underpriced', 'underpriced'],
    ['transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000', 'underpriced'],
    ['transaction gas price below minimum: gas tip cap 1, minimum needed 25000000000', 'underpriced'],
    ['max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2', 'underpriced'],
    ['insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1', 'no_gas_money'],
    ['Insufficient funds for gas * price + value', 'no_gas_money'],
    // geth, Bor; Erigon
    ['tx fee (1.68 ether) exceeds the configured cap (1.00 ether)', 'too_expensive'],
    ['in-flight transaction limit reached for delegated accounts', 'delegated'],
    // Not in the table: the bytes may be in a pool.
    ['nonce too high: address 0x1, tx: 9 state: 7', 'unknown'],
    ['unknown transaction', 'unknown'],
    ['txpool is full', 'unknown'],
    ['oversized data: transaction size 140000, limit 131072', 'unknown'],
    ['The request took too long to respond.', 'unknown'],
    ['HTTP request failed. Status: 429', 'unknown'],
    ['HTTP request failed. Status: 503', 'unknown'],
    ['fetch failed', 'unknown'],
    ['Internal error', 'unknown'],
    ['', 'unknown'],
  ] as const)('"%s" means %s', (message, outcome) => {
    expect(classifySendError(message)).toBe(outcome)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { LARGE_AT_ONCE } from '../../../src/chain/rpc/transport.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createFixture, type Fixture, newAddress, TOKEN } from '../fixture.ts'
import { sendUsdc } from './strangers.ts'

describe('answers in parts', () => {
  /** Answers that are too large, for a node or for the engine, are requested in parts. */

  const MB = 1024 * 1024
  const TRANSACTIONS = 20
  const LOGS = 'eth_getLogs'
  const BLOCK = 'eth_getBlockByNumber'
  const RECEIPT = 'eth_getTransactionReceipt'
  const RECEIPTS = 'eth_getBlockReceipts'

  let fixture: Fixture
  let full: number
  const [mine, other] = [newAddress(), newAddress()]
  beforeAll(async () => {
    fixture = await createFixture()
    await sendUsdc(fixture, [mine, other, mine, ...Array.from({ length: TRANSACTIONS - 3 }, newAddress)], 7n)
    await fixture.chain.mine({ blocks: 1 })
    full = Number(await fixture.chain.getBlockNumber())
    await fixture.chain.mine({ blocks: 1 })
  })
  afterAll(() => fixture.stop())
  const nodes = useHostileNodes(() => fixture.anvil.url)
  const front = () => nodes[0]!
  beforeEach(() => void (front().calls.length = 0))

  const connect = (timeoutMs = 4000) =>
    connectRpc({ urls: [front().url], quorum: 1, chainId: TOKEN.chainId, timeoutMs }).nodes[0]!
  const padded: Malice = { lie: (answer) => [...(answer as object[]), { padding: 'x'.repeat(11 * MB) }] }
  const refusal = (message: string): Malice => ({ error: { code: -32000, message } })
  const count = (method: string): number => front().calls.filter((call) => call.method === method).length

  const encodeTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
  const received = (by: Hex, from = full, to = full) => ({
    address: TOKEN.address,
    fromBlock: from,
    toBlock: to,
    topics: [TOPICS.transfer, null, [encodeTopic(by)]],
  })

  /** Answers calls of these methods like this; questions for logs only if they are about the full block. */
  function answer(methods: Readonly<Record<string, Malice>>): void {
    front().behave = ({ method, params }: RpcCall) => {
      const malice = methods[method] ?? 'honest'
      if (method !== LOGS) return malice
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      return Number(fromBlock) <= full && full <= Number(toBlock) ? malice : 'honest'
    }
  }

  describe('a single block whose logs are refused', () => {
    test.each<[string, Malice]>([
      ['because there are more than a node returns', refusal('query returned more than 10000 results')],
      ['with a text that is on no list', refusal('no')],
      ['by ourselves, at 10 MB', padded],
    ])('a block whose logs are refused %s is read by its receipts, once for both questions', async (_why, malice) => {
      const node = connect()
      const filter = { ...received(mine, full - 2, full + 1), orTopics: received(other).topics }
      const honest = await node.logs(filter)
      expect(honest).toHaveLength(3)
      answer({ [LOGS]: malice })
      const inOrder = honest.toSorted((a, b) => a.logIndex - b.logIndex)
      expect(await node.logs(filter)).toEqual(inOrder)
      expect([count(RECEIPTS), count(RECEIPT)]).toEqual([1, 0])
      // All of them are too large for one answer, or the node does not have the method.
      answer({ [LOGS]: malice, [RECEIPTS]: refusal('the method does not exist') })
      expect(await node.logs(filter)).toEqual(inOrder)
      expect([count(RECEIPTS), count(RECEIPT)]).toEqual([2, TRANSACTIONS])
    })

    // After ten minutes without a question it counted as a node that gives none.
    test('a block is read by a node that was asked for no logs before', async () => {
      answer({ [LOGS]: refusal('query returned more than 10000 results') })
      expect(await connect().logs(received(mine))).toHaveLength(2)
    })

    // A node that gives no logs for good was asked for the receipts of each block, also a node that had asked for a
    // pause.
    test.each(['eth_getLogs is not in your plan', 'the answer is too large'])(
      'a block costs no receipt at a node that gives no logs of other blocks either, and says %p',
      async (words) => {
        front().behave = ({ method }) => (method === LOGS ? refusal(words) : 'honest')
        const node = connect()
        for (let round = 0; round < 3; round++) await expect(node.logs(received(mine, 1, full))).rejects.toThrow(words)
        expect([count(RECEIPTS), count(RECEIPT)]).toEqual([0, 0])
      },
    )

    type ReceiptAnswer = {
      transactionHash: string
      blockHash: string
      logs: { blockHash: string; transactionHash: string }[]
    }
    const elsewhere = `0x${'1'.repeat(64)}`

    // Regression: an absent receipt counted as malformed, and three of them as a wrong node.
    test('a block is not read by a node that does not have its receipts yet, which does not count as a fault', async () => {
      const node = connect()
      await node.logs(received(mine, full + 1, full + 1))
      answer({ [LOGS]: padded, [RECEIPTS]: { lie: () => null } })
      await expect(node.logs(received(mine))).rejects.toMatchObject({
        kind: 'refused',
        answer: `does not know block ${full}`,
      })
      await expect(node.rawReceipts(full)).rejects.toMatchObject({ kind: 'refused' })
      expect(node.health.view()).toMatchObject({ failures: 0, wrong: 0 })
    })

    // Erigon leaves out the state-sync transaction (0xPolygon/erigon#64), or reports it twice (0xPolygon/erigon#97).
    test.each<[string, (answers: ReceiptAnswer[]) => ReceiptAnswer[], number]>([
      ['is left out', (answers) => answers.slice(0, -1), 1],
      ['is there twice', (answers) => [...answers, ...answers.slice(-1)], 0],
      [
        'is there under another hash too, with its logs',
        ([first, ...answers]) => {
          const logs = first!.logs.map((log) => ({ ...log, transactionHash: elsewhere }))
          return [first!, ...answers, { ...first!, transactionHash: elsewhere, logs }]
        },
        0,
      ],
    ])('a block is read even if one of its receipts %s', async (_what, lie, asked) => {
      const node = connect()
      const filter = { ...received(mine), topics: [TOPICS.transfer] }
      const honest = await node.logs(filter)
      expect(honest).toHaveLength(TRANSACTIONS)
      answer({ [LOGS]: padded, [RECEIPTS]: { lie: (answers) => lie(answers as ReceiptAnswer[]) } })
      expect(await node.logs(filter)).toEqual(honest)
      expect(count(RECEIPT)).toBe(asked)
    })

    test.each<[string, (answers: ReceiptAnswer[]) => ReceiptAnswer[]]>([
      ['the receipts are of another block', (answers) => answers.map((one) => ({ ...one, blockHash: elsewhere }))],
      [
        'the logs are of another block',
        (answers) =>
          answers.map((one) => ({ ...one, logs: one.logs.map((log) => ({ ...log, blockHash: elsewhere })) })),
      ],
      [
        'the logs are of another transaction',
        (answers) =>
          answers.map((one) => ({ ...one, logs: one.logs.map((log) => ({ ...log, transactionHash: elsewhere })) })),
      ],
    ])('a block is not read if %s: the node is wrong', async (_what, lie) => {
      const node = connect()
      await node.logs(received(mine, full + 1, full + 1))
      answer({ [LOGS]: padded, [RECEIPTS]: { lie: (answers) => lie(answers as ReceiptAnswer[]) } })
      await expect(node.logs(received(mine))).rejects.toMatchObject({
        kind: 'malformed',
        answer: expect.stringContaining('another'),
      })
      expect(node.health.view()).toMatchObject({ wrong: 1 })
    })

    test('a block is not read by the receipt of another transaction', async () => {
      const node = connect()
      await node.logs(received(mine, full + 1, full + 1))
      const lie = (answers: unknown) => ({ ...(answers as object), transactionHash: `0x${'1'.repeat(64)}` })
      answer({ [LOGS]: padded, [RECEIPTS]: padded, [RECEIPT]: { lie } })
      await expect(node.logs(received(mine))).rejects.toMatchObject({ kind: 'malformed' })
      // A few were in progress. No further call was made after the first failure.
      expect(count(RECEIPT)).toBeLessThanOrEqual(LARGE_AT_ONCE)
    })
  })

  describe('several calls in one HTTP request', () => {
    // Regression: all calls of the request failed as long as one answer was too large.
    test('calls are made one by one if their answers are too large together, and one that is too large alone affects no other', async () => {
      const node = connect()
      await node.chainId()
      const sizes = [1, 6, 6, 11]
      front().behave = ({ method, params }) =>
        method === BLOCK
          ? { lie: (block) => ({ ...(block as object), padding: 'x'.repeat(sizes[Number(params[0])]! * MB) }) }
          : 'honest'
      const answers = await Promise.allSettled(sizes.map((_size, number) => node.block(number)))
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
      expect(answers.at(-1)).toMatchObject({ reason: { kind: 'refused', answer: 'the answer is too large' } })
      expect(node.health.view()).toMatchObject({ state: 'good', failures: 0 })
    })

    test('calls are made again only if the node has refused their answers as too large', async () => {
      const node = connect()
      await node.chainId()
      let refused = 0
      front().behave = ({ method, params }) =>
        method === BLOCK && params[0] === '0x2' && refused++ === 0 ? refusal('response too large') : 'honest'
      const blocks = await Promise.all([0, 1, 2].map((number) => node.block(number)))
      expect(blocks.map(({ number }) => number)).toEqual([0, 1, 2])
      expect(count(BLOCK)).toBe(4)
    })

    test('receipts are never part of a batch: they are requested a few at a time while other calls do not wait for them', async () => {
      const { transactions } = await fixture.chain.getBlock({ blockNumber: BigInt(full) })
      const node = connect(1000)
      await node.chainId()
      front().behave = ({ method }) => (method === RECEIPT ? 'black_hole' : 'honest')
      const receipts = Promise.allSettled(transactions.slice(0, LARGE_AT_ONCE + 1).map((hash) => node.receipt(hash)))
      expect((await node.block(full)).number).toBe(full)
      expect(count(RECEIPT)).toBe(LARGE_AT_ONCE)
      for (const receipt of await receipts) expect(receipt).toMatchObject({ reason: { kind: 'silent' } })
    })
  })
})

describe('large receipts', () => {
  /** The cost of receipts in memory and time: those that strangers make large, and those that a node invents. */

  const MB = 1024 * 1024
  const TRANSACTIONS = 20
  const LOGS = 'eth_getLogs'
  const RECEIPT = 'eth_getTransactionReceipt'
  const RECEIPTS = 'eth_getBlockReceipts'

  let fixture: Fixture
  let full: number
  let hashes: readonly Hex[]
  const paid = Array.from({ length: TRANSACTIONS }, newAddress)
  beforeAll(async () => {
    fixture = await createFixture()
    await sendUsdc(fixture, paid, 7n)
    await fixture.chain.mine({ blocks: 1 })
    const block = await fixture.chain.getBlock()
    full = Number(block.number)
    hashes = block.transactions
  })
  afterAll(() => fixture.stop())
  const nodes = useHostileNodes(() => fixture.anvil.url)
  const bad = () => nodes[0]!
  beforeEach(() => void (bad().calls.length = 0))

  const connectAll = (urls: readonly string[], timeoutMs = 4000) =>
    connectRpc({ urls, quorum: urls.length === 1 ? 1 : 2, chainId: TOKEN.chainId, timeoutMs })
  /** Answers of many megabytes, made in this process too, take a while on a busy machine. */
  const connect = (timeoutMs = 20_000) => connectAll([bad().url], timeoutMs).nodes[0]!
  const asked = (): unknown[] => bad().calls.flatMap(({ method, params }) => (method === RECEIPT ? params[0] : []))
  const transfers = (block = full) => ({
    address: TOKEN.address,
    fromBlock: block,
    toBlock: block,
    topics: [TOPICS.transfer],
  })

  const refused: Malice = { error: { code: -32000, message: 'no' } }
  /** Answers requests for single receipts like this, and refuses the calls that would replace them. */
  const receiptsOnly =
    (malice: (call: RpcCall) => Malice) =>
    (call: RpcCall): Malice => {
      if (call.method === RECEIPT) return malice(call)
      const isAboutFull =
        call.method === LOGS && (call.params[0] as { fromBlock: string }).fromBlock === toQuantity(full)
      return call.method === RECEIPTS || isAboutFull ? refused : 'honest'
    }
  const toQuantity = (number: number): string => `0x${number.toString(16)}`

  /** As many transfers of that block, and of that transaction, as fit into an answer. */
  async function inventLogs(): Promise<(place: object) => object[]> {
    const [log] = await connect().logs(transfers())
    const { address, topics, data } = log!
    return (place) =>
      Array.from({ length: 17_500 }, (_log, index) => ({
        address,
        topics,
        data,
        ...place,
        logIndex: toQuantity(index),
      }))
  }

  describe('a single receipt', () => {
    const padded = (bytes: number) => () => ({
      lie: (receipt: unknown) => ({ ...(receipt as object), padding: 'x'.repeat(bytes) }),
    })

    // No other call could replace it.
    test('a receipt is read at any size that a transaction can give it, after it was cut off at the usual limit', async () => {
      const node = connect()
      await node.receipt(hashes[0]!)
      bad().behave = receiptsOnly(padded(17 * MB))
      const receipts = await Promise.all(hashes.slice(0, 3).map((hash) => node.receipt(hash)))
      expect(receipts.map((receipt) => receipt?.txHash)).toEqual(hashes.slice(0, 3))
      expect(asked()).toHaveLength(1 + 2 * 3)
      expect(node.health.view()).toMatchObject({ state: 'good', failures: 0 })
    })

    test('a receipt is refused at a size that no transaction can give it', async () => {
      const node = connect()
      bad().behave = receiptsOnly(padded(33 * MB))
      await expect(node.receipt(hashes[0]!)).rejects.toMatchObject({ kind: 'refused', isCutOff: true })
      expect(node.health.view()).toMatchObject({ state: 'good', failures: 0 })
    })
  })

  describe('many receipts', () => {
    // Calls that had waited for one call's time limit were given up, and everything that was read with them.
    test('receipts wait for their turn for longer than one call may take, and none of them fails', async () => {
      const node = connect(1000)
      await node.chainId()
      bad().behave = receiptsOnly(() => ({ afterMs: 120 }))
      const all = [...hashes, ...hashes, ...hashes]
      const receipts = await Promise.all(all.map((hash) => node.receipt(hash)))
      expect(receipts.map((receipt) => receipt?.txHash)).toEqual(all)
      expect(node.health.view()).toMatchObject({ failures: 0 })
    })
  })

  describe('a block that one node gives receipt by receipt', () => {
    // Two at once had twice the memory, and more with each round.
    test('only one read at a time fetches a block receipt by receipt', async () => {
      const node = connect()
      await node.logs(transfers(full - 1))
      bad().behave = receiptsOnly(() => 'honest')
      const [first, second] = await Promise.all([node.logs(transfers()), node.logs(transfers())])
      expect(first).toHaveLength(TRANSACTIONS)
      expect(second).toEqual(first)
      expect(new Set(asked().slice(0, TRANSACTIONS)).size).toBe(TRANSACTIONS)
      expect(asked()).toHaveLength(2 * TRANSACTIONS)
    })

    // Each round left a reading of up to a minute behind.
    test('reading a block receipt by receipt stops when the other nodes have answered', async () => {
      const rpc = connectAll(nodes.map(({ url }) => url))
      const [node] = rpc.nodes
      await node!.logs(transfers(full - 1))
      bad().behave = receiptsOnly(() => ({ afterMs: 700 }))
      const rounds = 6
      for (let round = 0; round < rounds; round++)
        expect((await rpc.agreed((one) => one.logs(transfers())))?.value).toHaveLength(TRANSACTIONS)
      const before = asked().length
      expect(before).toBeGreaterThan(0)
      bad().behave = receiptsOnly(() => 'honest')
      expect(await node!.logs(transfers())).toHaveLength(TRANSACTIONS)
      // Its own ones, and no more for them.
      expect(asked().length).toBeLessThanOrEqual(before + TRANSACTIONS)
      expect(before).toBeLessThanOrEqual(rounds * LARGE_AT_ONCE)
    })

    // One of four thousand was lost, and all were read again, without end.
    test('a block by single receipts is read if some answers are lost, and one of them twice', async () => {
      const node = connect()
      const lost = [hashes[3], hashes[7], hashes[7]]
      bad().behave = receiptsOnly(({ params: [txHash] }) => {
        const at = lost.indexOf(txHash as Hex)
        if (at === -1) return 'honest'
        lost.splice(at, 1)
        return { status: 502, text: 'bad gateway' }
      })
      expect(await node.logs(transfers())).toHaveLength(TRANSACTIONS)
      expect(asked()).toHaveLength(TRANSACTIONS + 3)
    })

    // Nine megabytes of it were collected for each transaction that the node named.
    test('a block by single receipts is given up as soon as it has more invented transfers than a block can have', async () => {
      const node = connect()
      await node.logs(transfers(full - 1))
      const logs = await inventLogs()
      const { hash: blockHash } = await node.block(full)
      const blockNumber = toQuantity(full)
      bad().behave = receiptsOnly(({ params: [txHash] }) => ({
        lie: (receipt) => ({ ...(receipt as object), logs: logs({ blockNumber, blockHash, transactionHash: txHash }) }),
      }))
      await expect(node.logs(transfers())).rejects.toMatchObject({
        kind: 'malformed',
        answer: 'more logs than a block can have',
      })
      // 300 million gas are ten such receipts. A few are in progress, and each is requested twice.
      expect(new Set(asked()).size).toBeLessThanOrEqual(10 + LARGE_AT_ONCE)
      expect(node.health.view().wrong).toBeGreaterThan(0)
      // None of it is stored: it is more than the limit.
      bad().behave = receiptsOnly(() => 'honest')
      expect(await node.logs(transfers())).toHaveLength(TRANSACTIONS)
    })
  })

  // Reading a thousand blocks at once after a standstill returned as much as the node could send in half a minute.
  test('a range of blocks with more logs than the limit is refused: the caller must request fewer', async () => {
    await fixture.chain.mine({ blocks: 32 })
    const node = connect()
    const logs = await inventLogs()
    bad().calls.length = 0
    bad().behave = ({ method, params }) => {
      if (method !== LOGS) return 'honest'
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      const place = { blockNumber: fromBlock, blockHash: `0x${'2'.repeat(64)}`, transactionHash: hashes[0]! }
      return fromBlock === toBlock ? { lie: () => logs(place) } : refused
    }
    await expect(node.logs({ ...transfers(), toBlock: full + 31 })).rejects.toMatchObject({
      kind: 'silent',
      answer: expect.stringContaining('held at once'),
    })
    // Ten blocks, and the larger ranges before them.
    expect(bad().calls.filter(({ method }) => method === LOGS).length).toBeLessThan(32)
    expect(node.health.view()).toMatchObject({ wrong: 0 })
  })
})

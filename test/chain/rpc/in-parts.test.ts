import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { LARGE_AT_ONCE } from '../../../src/chain/rpc/transport.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createWorld, newAddress, TOKEN, type World } from '../world.ts'
import { sendUsdc } from './strangers.ts'

/** Answers that are too large, for a node or for us, are asked for in parts. */

const MB = 1024 * 1024
const TRANSACTIONS = 20
const LOGS = 'eth_getLogs'
const BLOCK = 'eth_getBlockByNumber'
const RECEIPT = 'eth_getTransactionReceipt'
const RECEIPTS = 'eth_getBlockReceipts'

let world: World
let full: number
const [mine, other] = [newAddress(), newAddress()]
beforeAll(async () => {
  world = await createWorld()
  await sendUsdc(world, [mine, other, mine, ...Array.from({ length: TRANSACTIONS - 3 }, newAddress)], 7n)
  await world.chain.mine({ blocks: 1 })
  full = Number(await world.chain.getBlockNumber())
  await world.chain.mine({ blocks: 1 })
})
afterAll(() => world.stop())
const nodes = useHostileNodes(() => world.anvil.url)
const front = () => nodes[0]!
beforeEach(() => void (front().calls.length = 0))

const connect = (timeoutMs = 4000) =>
  connectRpc({ urls: [front().url], quorum: 1, chainId: TOKEN.chainId, timeoutMs }).nodes[0]!
const padded: Malice = { lie: (answer) => [...(answer as object[]), { padding: 'x'.repeat(11 * MB) }] }
const refusal = (message: string): Malice => ({ error: { code: -32000, message } })
const count = (method: string): number => front().calls.filter((call) => call.method === method).length

const topicOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
const received = (by: Hex, from = full, to = full) => ({
  address: TOKEN.address,
  fromBlock: from,
  toBlock: to,
  topics: [TOPICS.transfer, null, [topicOf(by)]],
})

/** Calls of these methods are answered so; questions for logs only when they are about the full block. */
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
    ['since there are more than a node gives', refusal('query returned more than 10000 results')],
    ['in words that no list has', refusal('no')],
    ['by ourselves, at 10 MB', padded],
  ])('%s is read by its receipts, once for both questions', async (_why, malice) => {
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

  // after ten minutes without a question it was taken for one that gives none
  test('is read by a node that was asked for no logs before', async () => {
    answer({ [LOGS]: refusal('query returned more than 10000 results') })
    expect(await connect().logs(received(mine))).toHaveLength(2)
  })

  // a node that gives no logs for good was asked for the receipts of each block, and so was one that had read our words
  test.each(['eth_getLogs is not in your plan', 'the answer is too large'])(
    'by a node that gives no logs of other blocks either, and says %p, costs no receipt',
    async (words) => {
      front().behave = ({ method }) => (method === LOGS ? refusal(words) : 'honest')
      const node = connect()
      for (let round = 0; round < 3; round++) await expect(node.logs(received(mine, 1, full))).rejects.toThrow(words)
      expect([count(RECEIPTS), count(RECEIPT)]).toEqual([0, 0])
    },
  )

  type Told = { transactionHash: string; blockHash: string; logs: { blockHash: string; transactionHash: string }[] }
  const elsewhere = `0x${'1'.repeat(64)}`

  // it was taken for an answer of a wrong shape, and three of them for a node that is wrong
  test('is not read by a node that has the block and not yet its receipts, which is no fault of it', async () => {
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

  // Erigon leaves out the state-sync transaction (0xPolygon/erigon#64), or tells it twice (0xPolygon/erigon#97)
  test.each<[string, (told: Told[]) => Told[], number]>([
    ['is left out', (told) => told.slice(0, -1), 1],
    ['is there twice', (told) => [...told, ...told.slice(-1)], 0],
    [
      'is there under another hash too, with its logs',
      ([first, ...told]) => {
        const logs = first!.logs.map((log) => ({ ...log, transactionHash: elsewhere }))
        return [first!, ...told, { ...first!, transactionHash: elsewhere, logs }]
      },
      0,
    ],
  ])('of whose receipts one %s is read all the same', async (_what, lie, asked) => {
    const node = connect()
    const filter = { ...received(mine), topics: [TOPICS.transfer] }
    const honest = await node.logs(filter)
    expect(honest).toHaveLength(TRANSACTIONS)
    answer({ [LOGS]: padded, [RECEIPTS]: { lie: (told) => lie(told as Told[]) } })
    expect(await node.logs(filter)).toEqual(honest)
    expect(count(RECEIPT)).toBe(asked)
  })

  test.each<[string, (told: Told[]) => Told[]]>([
    ['the receipts are of another block', (told) => told.map((one) => ({ ...one, blockHash: elsewhere }))],
    [
      'the logs are of another block',
      (told) => told.map((one) => ({ ...one, logs: one.logs.map((log) => ({ ...log, blockHash: elsewhere })) })),
    ],
    [
      'the logs are of another transaction',
      (told) => told.map((one) => ({ ...one, logs: one.logs.map((log) => ({ ...log, transactionHash: elsewhere })) })),
    ],
  ])('is not read where %s: the node is wrong', async (_what, lie) => {
    const node = connect()
    await node.logs(received(mine, full + 1, full + 1))
    answer({ [LOGS]: padded, [RECEIPTS]: { lie: (told) => lie(told as Told[]) } })
    await expect(node.logs(received(mine))).rejects.toMatchObject({
      kind: 'malformed',
      answer: expect.stringContaining('another'),
    })
    expect(node.health.view()).toMatchObject({ wrong: 1 })
  })

  test('is not read by the receipt of another transaction', async () => {
    const node = connect()
    await node.logs(received(mine, full + 1, full + 1))
    const lie = (told: unknown) => ({ ...(told as object), transactionHash: `0x${'1'.repeat(64)}` })
    answer({ [LOGS]: padded, [RECEIPTS]: padded, [RECEIPT]: { lie } })
    await expect(node.logs(received(mine))).rejects.toMatchObject({ kind: 'malformed' })
    // A few were under way. Nothing was asked after the first failure.
    expect(count(RECEIPT)).toBeLessThanOrEqual(LARGE_AT_ONCE)
  })
})

describe('several calls in one HTTP request', () => {
  // all of them failed, for as long as one of them was large
  test('whose answers are too large together are asked singly, and one that is too large alone concerns no other', async () => {
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

  test('of which a node answers some, and calls the rest too large, are asked again where they were refused', async () => {
    const node = connect()
    await node.chainId()
    let refused = 0
    front().behave = ({ method, params }) =>
      method === BLOCK && params[0] === '0x2' && refused++ === 0 ? refusal('response too large') : 'honest'
    const blocks = await Promise.all([0, 1, 2].map((number) => node.block(number)))
    expect(blocks.map(({ number }) => number)).toEqual([0, 1, 2])
    expect(count(BLOCK)).toBe(4)
  })

  test('never are receipts: they are asked for a few at a time, and other calls do not wait for them', async () => {
    const { transactions } = await world.chain.getBlock({ blockNumber: BigInt(full) })
    const node = connect(2000)
    await node.chainId()
    front().behave = ({ method }) => (method === RECEIPT ? 'black_hole' : 'honest')
    const receipts = Promise.allSettled(transactions.map((hash) => node.receipt(hash)))
    expect((await node.block(full)).number).toBe(full)
    expect(count(RECEIPT)).toBe(LARGE_AT_ONCE)
    for (const receipt of await receipts) expect(receipt).toMatchObject({ reason: { kind: 'silent' } })
  })
})

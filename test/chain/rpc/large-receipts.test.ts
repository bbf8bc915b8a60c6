import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createTurns } from '../../../src/chain/rpc/budget.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createWorld, newAddress, TOKEN, type World } from '../world.ts'
import { sendUsdc } from './strangers.ts'

/** What receipts cost in memory and time: those that strangers make large, and those that a node invents. */

const MB = 1024 * 1024
const TRANSACTIONS = 20
const LOGS = 'eth_getLogs'
const RECEIPT = 'eth_getTransactionReceipt'
const RECEIPTS = 'eth_getBlockReceipts'

let world: World
let full: number
let hashes: readonly Hex[]
beforeAll(async () => {
  world = await createWorld()
  await sendUsdc(world, Array.from({ length: TRANSACTIONS }, newAddress), 7n)
  await world.chain.mine({ blocks: 1 })
  const block = await world.chain.getBlock()
  full = Number(block.number)
  hashes = block.transactions
})
afterAll(() => world.stop())
const nodes = useHostileNodes(() => world.anvil.url)
const bad = () => nodes[0]!
beforeEach(() => void (bad().calls.length = 0))

const connectAll = (urls: readonly string[], timeoutMs = 4000) =>
  connectRpc({ urls, quorum: urls.length === 1 ? 1 : 2, chainId: TOKEN.chainId, timeoutMs })
/** Answers of many megabytes, made in this process too, take a while on a busy machine. */
const connect = (timeoutMs = 20_000) => connectAll([bad().url], timeoutMs).nodes[0]!
const asked = (): unknown[] => bad().calls.flatMap(({ method, params }) => (method === RECEIPT ? params[0] : []))
const refused: Malice = { error: { code: -32000, message: 'no' } }
/** Answers about single receipts so, and refuses what would make them unnecessary. */
const receiptsOnly =
  (malice: (call: RpcCall) => Malice) =>
  (call: RpcCall): Malice => {
    if (call.method === RECEIPT) return malice(call)
    const isAboutFull = call.method === LOGS && (call.params[0] as { fromBlock: string }).fromBlock === toQuantity(full)
    return call.method === RECEIPTS || isAboutFull ? refused : 'honest'
  }
const toQuantity = (number: number): string => `0x${number.toString(16)}`

describe('a single receipt', () => {
  const padded = (bytes: number) => () => ({
    lie: (receipt: unknown) => ({ ...(receipt as object), padding: 'x'.repeat(bytes) }),
  })

  // nothing could be asked for instead of it
  test('of a size that a transaction can give it is read, after it was cut off at the size of most', async () => {
    const node = connect()
    await node.receipt(hashes[0]!)
    bad().behave = receiptsOnly(padded(17 * MB))
    const receipts = await Promise.all(hashes.slice(0, 3).map((hash) => node.receipt(hash)))
    expect(receipts.map((receipt) => receipt?.txHash)).toEqual(hashes.slice(0, 3))
    expect(asked()).toHaveLength(1 + 2 * 3)
    expect(node.health.view()).toMatchObject({ state: 'good', failures: 0 })
  })

  test('of a size that no transaction can give it is refused', async () => {
    const node = connect()
    bad().behave = receiptsOnly(padded(33 * MB))
    await expect(node.receipt(hashes[0]!)).rejects.toMatchObject({ kind: 'refused', isCutOff: true })
    expect(node.health.view()).toMatchObject({ state: 'good', failures: 0 })
  })
})

describe('many receipts', () => {
  // those that had waited for as long as one call may take were given up, and everything that was read with them
  test('wait for their turn for longer than one call may take, and none of them fails', async () => {
    const node = connect(1000)
    await node.chainId()
    bad().behave = receiptsOnly(() => ({ afterMs: 300 }))
    const all = [...hashes, ...hashes, ...hashes]
    const receipts = await Promise.all(all.map((hash) => node.receipt(hash)))
    expect(receipts.map((receipt) => receipt?.txHash)).toEqual(all)
    expect(node.health.view()).toMatchObject({ failures: 0 })
  })

  test('are under way a few at a time, in their order; who is not waited for any more leaves', async () => {
    const turns = createTurns(2)
    expect(await Promise.all([turns.take(), turns.take()])).toEqual([true, true])
    const over = new AbortController()
    const order: string[] = []
    const waiting = ['first', 'second'].map(async (name) => {
      expect(await turns.take()).toBe(true)
      order.push(name)
    })
    const left = turns.take(over.signal)
    over.abort()
    expect([await left, await turns.take(over.signal)]).toEqual([false, false])
    turns.give()
    turns.give()
    await Promise.all(waiting)
    expect(order).toEqual(['first', 'second'])
    turns.give()
    expect(await turns.take()).toBe(true)
  })
})

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { type Anvil, type RpcCall, startAnvil } from '../../support/anvil.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'

/** One of three nodes keeps us waiting, and another has lost an answer: it is asked again meanwhile. */

const RECEIPT = 'eth_getTransactionReceipt'
const TX = `0x${'7'.repeat(64)}` as const
const LOST: Malice = { error: { code: -32005, message: 'rate limit exceeded' } }
const leftAlone = (seconds: number): Malice => ({
  status: 429,
  text: 'slow down',
  headers: { 'retry-after': String(seconds) },
})

let anvil: Anvil
beforeAll(async () => void (anvil = await startAnvil()))
afterAll(() => anvil.stop())
const nodes = useHostileNodes(() => anvil.url)
beforeEach(() => {
  for (const { calls } of nodes) calls.length = 0
})

const connect = (timeoutMs = 4000) =>
  connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: 31337, timeoutMs })
const asked = (index: number): number => nodes[index]!.calls.filter(({ method }) => method === RECEIPT).length
/** Of a node that answers the first call for a receipt so, and is honest from then on. */
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

// everything waited for the last node, 11 seconds for each of fourteen receipts
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

// it was not asked, and there was no other
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
  nodes[1]!.behave = always({ afterMs: 1500 })
  for (let round = 0; round < 3; round++) expect(await rpc.agreed((node) => node.receipt(TX))).toEqual({ value: null })
  const { wrong } = rpc.nodes[0]!.health.view()
  expect(wrong).toBeGreaterThan(0)
  expect(asked(0)).toBe(wrong)
  expect(wrong).toBeLessThanOrEqual(3)
})

test('to ask again makes no wait longer: it is over when each node has answered or failed once', async () => {
  const rpc = connect()
  await Promise.all(rpc.nodes.map((node) => node.chainId()))
  for (const index of [1, 2]) nodes[index]!.behave = always(LOST)
  const start = performance.now()
  expect(await rpc.agreed((node) => node.receipt(TX))).toBeNull()
  expect(performance.now() - start).toBeLessThan(1000)
  expect([asked(1), asked(2)]).toEqual([1, 1])
})

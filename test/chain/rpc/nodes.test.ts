import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { hexOf } from '../../../src/chain/rpc/answers.ts'
import { NodeFailure } from '../../../src/chain/rpc/failure.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'

let anvil: Anvil
beforeAll(async () => {
  anvil = await startAnvil()
})
afterAll(() => anvil.stop())
const nodes = useHostileNodes(() => anvil.url)

const CHAIN = { chainId: 31337 }
const connect = () => connectRpc({ ...CHAIN, urls: nodes.map(({ url }) => url), quorum: 2, timeoutMs: 1500 })

describe('a key in the address of a node', () => {
  test.each<[string, Malice]>([
    ['an HTTP error', { status: 401, text: '{"error":"bad key k3y-in-the-path-7f3a"}' }],
    ['an answer that is no JSON', { status: 200, text: '<html>k3y-in-the-query-91bc</html>' }],
    ['an error of the node', { error: { code: -32000, message: 'no plan for k3y-in-the-path-7f3a' } }],
    ['a silence', 'black_hole'],
    ['a wrong shape', { lie: () => ({ k: 'k3y-in-the-path-7f3a' }) }],
  ])('is in no error, log or record after %s', async (_case, malice) => {
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
        rpc.nodes[0]!.call({ to: raw, data: raw }, { parse: hexOf }),
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

describe('how often nodes are asked', () => {
  test('a read by quorum asks as many nodes as the quorum has, in turn', async () => {
    const rpc = connect()
    await rpc.newest()
    const before = nodes.map(({ calls }) => calls.length)
    for (let turn = 0; turn < 6; turn++) await rpc.agreed((node) => node.block(0))
    const asked = nodes.map(({ calls }, index) => calls.length - (before[index] ?? 0))
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(12)
    for (const count of asked) expect(count).toBeGreaterThan(0)
  })

  test('calls are counted by method, and more than the budget wait or are refused', async () => {
    const rpc = connectRpc({
      urls: [nodes[0]!.url],
      quorum: 1,
      ...CHAIN,
      timeoutMs: 300,
      callsPerSecond: 10,
    })
    const reads = await Promise.allSettled(Array.from({ length: 40 }, () => rpc.nodes[0]!.block(0)))
    const refused = reads.flatMap((read) => (read.status === 'rejected' ? [String(read.reason)] : []))
    // Ten at once, less the one for the chain's id, and those that fit into the time that a call may take.
    expect(reads.length - refused.length).toBeGreaterThanOrEqual(9)
    expect(reads.length - refused.length).toBeLessThanOrEqual(14)
    for (const why of refused) expect(why).toContain('budget')
    expect(rpc.health()[0]?.calls).toMatchObject({ eth_chainId: 1 })
  })

  test('a node that asks to be left alone is left alone', async () => {
    nodes[0]!.behave = () => ({ status: 429, text: 'slow down', headers: { 'retry-after': '7' } })
    const rpc = connect()
    await rpc.newest()
    await rpc.nodes[0]!.block(0).catch(() => undefined)
    expect(rpc.health()[0]?.state).toBe('resting')
  })

  // it was asked first each time, because all others seemed to be behind
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

  // the walk down the chain went on from the number that it was told
  test('a block of another number than was asked for is no answer', async () => {
    nodes[0]!.behave = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x0'
        ? { lie: (block) => ({ ...(block as object), number: '0xe8d4a51000' }) }
        : 'honest'
    const [node] = connect().nodes
    await expect(node!.block(0)).rejects.toMatchObject({ kind: 'malformed' })
    expect(node!.health.view().wrong).toBe(1)
  })
})

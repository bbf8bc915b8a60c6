import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { createWorld, TOKEN, type World } from '../world.ts'
import { behindBy, fakeHash, HEADERS, quantity, rawBlock } from './laggard.ts'

/** The newest block, the final one, and what gas costs: by a quorum, also where honest nodes are not alike. */

let world: World
let head: number
beforeAll(async () => {
  // Final is the newest block less twice this.
  world = await createWorld({ anvil: ['--no-mining', '--slots-in-an-epoch', '1'] })
  await world.chain.mine({ blocks: 100 })
  head = Number(await world.chain.getBlockNumber())
})
afterAll(() => world.stop())
const nodes = useHostileNodes(() => world.anvil.url)

const connect = () => connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId })

/** The third node is honest, and later than the grace that slow ones are given. */
const SLOW = { afterMs: 300 } as const

// its height was the quorum's: nothing was signed or settled for as long as it stood there
test('a node that stands still names neither the newest nor the final block while another is slow', async () => {
  const old = await rawBlock(world, 1n)
  nodes[0]!.behave = ({ method, params }) =>
    method === HEADERS && ['latest', 'finalized'].includes(String(params[0])) ? { lie: () => old } : 'honest'
  nodes[2]!.behave = () => SLOW
  const rpc = connect()
  expect([(await rpc.newest()).block.number, (await rpc.finalized())?.number]).toEqual([head, head - 2])
})

// gas was as cheap as it said, and nothing was mined
test('a node that says that gas costs nothing is not believed while another is slow', async () => {
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

// from nine blocks on there was no newest block
test.each([1, 8, 9, 30])(
  'a head that one node invents stops nobody where another is %i blocks behind',
  async (blocks) => {
    nodes[0]!.behave = ({ method, params }) => {
      if (method !== HEADERS) return 'honest'
      const lie = params[0] === 'latest' ? { number: quantity(0xffffff) } : { hash: fakeHash(1n) }
      return { lie: (block) => ({ ...(block as object), ...lie }) }
    }
    nodes[2]!.behave = await behindBy(world, blocks)
    const { block } = await connect().newest()
    expect(block.number).toBeLessThanOrEqual(head - blocks)
    expect(block.number).toBeGreaterThanOrEqual(head - blocks - 8)
    expect(block.hash).toBe((await rawBlock(world, BigInt(block.number)))['hash'])
  },
)

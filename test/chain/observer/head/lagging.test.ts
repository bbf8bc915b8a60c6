import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Hex } from '../../../../src/domain/hex.ts'
import type { HostileNode } from '../../../support/hostile-node.ts'
import { behindBy, fakeHash, HEADERS, quantity, rawBlock } from '../../rpc/laggard.ts'
import { type Queued, stealUsdc, type World } from '../../world.ts'
import { connectTo, inventTransfer, startThreeNodes, ticks } from './three-nodes.ts'

/** One of three nodes is bad, and an honest one is a little behind or late: they are no two that could be left out. */

const LOGS = 'eth_getLogs'
const STATES = ['eth_call', 'eth_getBalance', 'eth_getTransactionCount']

let world: World
let nodes: readonly HostileNode[]
let stop: () => Promise<void>
beforeEach(async () => void ({ world, nodes, stop } = await startThreeNodes({ finalBelow: 10_000 })))
afterEach(() => stop())

const connect = () => connectTo(nodes)
const stateOf = async ({ paymentId }: Queued) => (await world.payout(paymentId)).state
const pausedReason = async () =>
  ((await world.db.query('select paused_reason from chain_cursor')).rows[0] as { paused_reason: string | null })
    .paused_reason

/** A payout that is paid and marked as mined, so many blocks ago. */
async function mined(runner: { tick(): Promise<unknown> }, blocks: number, micro = 50_000_000n): Promise<Queued> {
  await ticks(runner)
  const [queued] = await world.queue([{ micro }])
  await ticks(runner)
  await world.chain.mine({ blocks: 1 })
  await runner.tick()
  if (blocks > 0) await world.chain.mine({ blocks })
  await runner.tick()
  expect(await stateOf(queued!)).toBe('mined')
  return queued!
}

// the newest block was one that only those two had, and of its state only one told
test('a node that tells the newest block and no states stops nothing where another is a block behind', async () => {
  const runner = world.runner({ rpc: connect() })
  await runner.tick()
  const [queued] = await world.queue([{}])
  for (let round = 0; round < 3; round++) {
    await world.chain.mine({ blocks: 1 })
    nodes[0]!.behave = ({ method }) =>
      STATES.includes(method) ? { error: { code: -32000, message: 'missing trie node' } } : 'honest'
    nodes[2]!.behave = await behindBy(world, 1)
    await runner.tick()
  }
  await world.chain.mine({ blocks: 1 })
  expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
})

// nothing was marked and no theft seen, and nobody was told
test('a node that invents the parents of blocks hides no payout and no theft where another is two blocks behind', async () => {
  const runner = world.runner({ rpc: connect() })
  await ticks(runner)
  const [queued] = await world.queue([{ micro: 50_000_000n }])
  await ticks(runner)
  const theft = await stealUsdc(world)
  for (let round = 0; round < 4; round++) {
    await world.chain.mine({ blocks: 3 })
    nodes[0]!.behave = ({ method, params }) =>
      method === HEADERS && String(params[0]).startsWith('0x')
        ? { lie: (block) => ({ ...(block as object), parentHash: fakeHash(BigInt(params[0] as string)) }) }
        : 'honest'
    nodes[2]!.behave = await behindBy(world, 2)
    await runner.tick()
  }
  expect(await stateOf(queued!)).toBe('mined')
  expect(await pausedReason()).toContain(theft)
})

test('where no quorum shows the newest blocks, people are told once a minute', async () => {
  const warnings: string[] = []
  const runner = world.runner({ rpc: connect(), warn: (_about, message) => void warnings.push(message) })
  await ticks(runner)
  for (const node of nodes.slice(1))
    node.behave = ({ method, params }) =>
      method === HEADERS && String(params[0]).startsWith('0x') ? { lie: () => null } : 'honest'
  for (let round = 0; round < 5; round++) {
    await world.chain.mine({ blocks: 2 })
    await runner.tick()
    world.clock.now = new Date(world.clock.now.getTime() + 31_000)
  }
  expect(warnings.filter((warning) => warning.includes('blocks that are not final does not come on'))).toHaveLength(2)
})

describe('what is mined stays so', () => {
  // a block above the head of one round counted as gone
  test('when an honest node is two blocks behind, and another is late once', async () => {
    const runner = world.runner({ rpc: connect() })
    const queued = await mined(runner, 0)
    const behind = await rawBlock(world, (await world.chain.getBlockNumber()) - 2n)
    const isNewest = ({ method, params }: { method: string; params: readonly unknown[] }) =>
      method === HEADERS && params[0] === 'latest'
    nodes[2]!.behave = (call) => (isNewest(call) ? { lie: () => behind } : 'honest')
    nodes[0]!.behave = (call) => (isNewest(call) ? { afterMs: 350 } : 'honest')
    await runner.tick()
    expect(await stateOf(queued)).toBe('mined')
  })

  test('when a node that stands still is quicker than an honest one, and the theft is seen', async () => {
    const runner = world.runner({ rpc: connect() })
    const queued = await mined(runner, 40)
    const old = await rawBlock(world, 3n)
    nodes[0]!.behave = ({ method, params }) =>
      method === HEADERS && params[0] === 'latest' ? { lie: () => old } : 'honest'
    nodes[2]!.behave = ({ method }) => (method === HEADERS ? { afterMs: 250 } : 'honest')
    await runner.tick()
    expect(await stateOf(queued)).toBe('mined')
    const theft = await stealUsdc(world)
    await world.chain.mine({ blocks: 2 })
    await runner.tick()
    expect(await pausedReason()).toContain(theft)
  })
})

// what was mined since was in the balance, and reserved no more
test('what was mined after the block whose balance is read is not promised again', async () => {
  const runner = world.runner({ rpc: connect() })
  await mined(runner, 0, 90_000_000n)
  const [second] = await world.queue([{ micro: 90_000_000n }])
  // Two blocks below the newest the treasury has all of it.
  nodes[0]!.behave = ({ method }) =>
    STATES.includes(method) ? { error: { code: -32000, message: 'missing trie node' } } : 'honest'
  nodes[2]!.behave = await behindBy(world, 1)
  await ticks(runner)
  const { rows } = await world.db.query('select from payout_signature where payment_id = $1', [second!.paymentId])
  expect(rows).toEqual([])
})

describe('a transfer that one node invents', () => {
  /** The first node shows the transfer of the payout in the newest block, also when it is asked alone. */
  async function invent(queued: Queued): Promise<void> {
    const { number, hash } = await world.chain.getBlock()
    const logs = await inventTransfer(world, queued, { blockNumber: quantity(number), blockHash: hash })
    nodes[0]!.behave = ({ method, params }) => {
      const { toBlock } = (params[0] ?? {}) as { toBlock: string }
      return method === LOGS && BigInt(toBlock) >= number ? { lie: () => logs } : 'honest'
    }
  }

  // it was mined for all, and no other lane carried it
  test('keeps no payout on a lane that cannot send it any more', async () => {
    const [gone, other] = world.relayers
    const [queued] = await world.queue([{ micro: 50_000_000n }])
    await world.runner({ relayers: [gone!] }).tick()
    const { rows } = await world.db.query('select tx_hash as hash from lane_tx_attempt')
    await world.chain.dropTransaction({ hash: (rows[0] as { hash: Hex }).hash })
    const rpc = connect()
    // Nothing is carried yet. They take turns with each question: one more, so that each is asked for logs first.
    const reader = world.runner({ relayers: [], rpc })
    for (let round = 0; round < 8; round++) {
      await world.chain.mine({ blocks: 1 })
      await invent(queued!)
      await rpc.any((node) => node.chainId())
      await reader.tick()
      expect(await stateOf(queued!)).toBe('broadcast')
    }
    await world.db.query(`with e as (update lane_tx set created_at = created_at - interval '1 minute')
      update lane set lease_until = lease_until - interval '1 minute'`)
    const runner = world.runner({ relayers: [other!], rpc })
    await ticks(runner)
    await world.chain.mine({ blocks: 1 })
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
  })
})

import { expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import type { HostileNode, Malice } from '../../support/hostile-node.ts'
import { addAwaited } from '../deposits/awaited.ts'
import { newKey, type Queued, TOKEN } from '../fixture.ts'
import { behindBy, HEADERS, rawBlock } from '../rpc/laggard.ts'
import { connectTo, ticks, useThreeNodes } from './three-nodes.ts'

/**
 * Blocks are final two below the newest one, as on Polygon. One of three nodes is bad, and an honest one is behind the
 * last final block, or late.
 */

const { fixture, nodes } = useThreeNodes({ finalBelow: 2 })

const connect = () => connectTo(nodes)
const readState = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).state
const envelopes = async () => (await fixture.db.query('select state from lane_tx order by nonce')).rows
const signatures = async ({ paymentId }: Queued) =>
  (await fixture.db.query('select from payout_signature where owner_id = $1', [paymentId])).rows.length

const GONE: Malice = { error: { code: -32000, message: 'missing trie node' } }
const withoutStates = ({ method }: { method: string }): Malice =>
  ['eth_call', 'eth_getBalance', 'eth_getTransactionCount'].includes(method) ? GONE : 'honest'
/** Another hash for each block that is requested by this, or by its number. */
const wrongBlocks =
  (...tags: string[]) =>
  ({ method, params }: { method: string; params: readonly unknown[] }): Malice => {
    const tag = String(params[0])
    if (method !== HEADERS || !(tags.includes(tag) || tag.startsWith('0x'))) return 'honest'
    return { lie: (block) => block && { ...(block as object), hash: `0x${'f'.repeat(64)}` } }
  }

/**
 * The first node behaves like this, and the third is three blocks behind the newest one: in each round, two blocks
 * later.
 */
async function rounds(runner: { tick(): Promise<unknown> }, count: number, bad: HostileNode['behave']): Promise<void> {
  for (let round = 0; round < count; round++) {
    await fixture.chain.mine({ blocks: 2 })
    nodes[0]!.behave = bad
    nodes[2]!.behave = await behindBy(fixture, 3, 2)
    await runner.tick().catch(() => undefined)
  }
}

/** The first node gives a newest block that is four lower, and the third is honest and gives blocks late. */
async function holdDown(): Promise<void> {
  const lower = await rawBlock(fixture, (await fixture.chain.getBlockNumber()) - 4n)
  nodes[0]!.behave = ({ method, params }) =>
    method === HEADERS && params[0] === 'latest' ? { lie: () => lower } : 'honest'
  nodes[2]!.behave = ({ method }) => (method === HEADERS ? { afterMs: 250 } : 'honest')
}

async function settled(micro: bigint): Promise<void> {
  const runner = fixture.runner({ rpc: connect() })
  await ticks(runner)
  const [queued] = await fixture.queue([{ micro }])
  await ticks(runner)
  await fixture.chain.mine({ blocks: 3 })
  await ticks(runner)
  expect(await readState(queued!)).toBe('settled')
}

// Only those two had the height that a quorum calls final.
test('final blocks are read although one node has another hash for each', async () => {
  const runner = fixture.runner({ rpc: connect() })
  await ticks(runner)
  const [queued] = await fixture.queue([{ micro: 50_000_000n }])
  await ticks(runner)
  await rounds(runner, 5, wrongBlocks('finalized'))
  expect(await readState(queued!)).toBe('settled')
})

// The node that is behind did not have the last final block when it was requested.
test('deposits are read, and envelopes end, although one node has another hash for each block by number', async () => {
  const keys = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), TOKEN.chainId)
  const runner = fixture.runner({ rpc: connect(), deposits: { keys, wrongTokens: [] } })
  await ticks(runner)
  const { address } = await addAwaited(fixture.db, keys, 'near')
  await fixture.queue([{ micro: 50_000_000n }])
  await ticks(runner)
  await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
  await rounds(runner, 6, wrongBlocks())
  expect(fixture.hookCalls.deposits).toMatchObject([{ address }])
  // One of payouts, and one of sweeps.
  expect(await envelopes()).toEqual([{ state: 'finalized' }, { state: 'finalized' }])
})

test('envelopes end although one node gives no states', async () => {
  const runner = fixture.runner({ rpc: connect() })
  await ticks(runner)
  await fixture.queue([{ micro: 50_000_000n }])
  await ticks(runner)
  await rounds(runner, 6, withoutStates)
  expect(await envelopes()).toEqual([{ state: 'finalized' }])
})

// Regression: the envelope was attributed to a stranger forever, without its gas.
test('an envelope is not attributed to a stranger because a node has the final block, and not its receipts yet', async () => {
  const runner = fixture.runner({ rpc: connect() })
  await ticks(runner)
  const [queued] = await fixture.queue([{ micro: 50_000_000n }])
  await ticks(runner)
  await fixture.chain.mine({ blocks: 3 })
  const behind = await behindBy(fixture, 2)
  const hides = ({ method }: { method: string }): Malice => {
    if (method === 'eth_getTransactionReceipt') return { lie: () => null }
    return method === 'eth_getLogs' ? { lie: () => [] } : 'honest'
  }
  nodes[0]!.behave = hides
  nodes[2]!.behave = (call) => {
    const hidden = hides(call)
    return hidden === 'honest' ? behind(call) : hidden
  }
  await runner.tick().catch(() => undefined)
  expect(await envelopes()).toEqual([{ state: 'broadcast' }])
  for (const node of nodes) node.behave = () => 'honest'
  await fixture.finalize(runner, 3)
  await fixture.chain.mine({ blocks: 30 })
  await fixture.finalize(runner, 3)
  expect([await readState(queued!), await envelopes()]).toEqual(['settled', [{ state: 'finalized' }]])
})

// It was in the balance of a lower block, and not reserved any more.
test.each([
  ['one node gives no states, and another is behind what is final', () => behindFinal()],
  ['one node holds the newest block down, and another is late', holdDown],
])('a settled payout is not promised again if %s', async (_, misbehave) => {
  await settled(90_000_000n)
  const [second] = await fixture.queue([{ micro: 90_000_000n }])
  await misbehave()
  const runner = fixture.runner({ rpc: connect() })
  for (let round = 0; round < 2; round++) await runner.tick().catch(() => undefined)
  expect(await signatures(second!)).toBe(0)
})

async function behindFinal(): Promise<void> {
  nodes[0]!.behave = withoutStates
  nodes[2]!.behave = await behindBy(fixture, 4, 2)
}

// The first was final, and not in the balance that was read.
test.each([
  [
    'one node gives no balances, and another is seven blocks behind',
    async () => {
      nodes[0]!.behave = ({ method }) => (method === 'eth_getBalance' ? GONE : 'honest')
      nodes[2]!.behave = await behindBy(fixture, 7, 2)
    },
  ],
  ['one node holds the newest block down, and another is late', holdDown],
])('gas money is sent once if %s', async (_, misbehave) => {
  const account = createKeyAccount(newKey())
  const relayer = fixture.relayers[0]!
  await fixture.chain.setBalance({ address: account.address, value: 10n ** 21n })
  await fixture.chain.setBalance({ address: relayer.address, value: 10n ** 9n })
  await fixture.chain.mine({ blocks: 12 })
  const funding = { account, wei: 2n * 10n ** 19n, maxWeiPerDay: 5n * 10n ** 20n }
  const runner = fixture.runner({ rpc: connect(), relayers: [relayer], funding })
  await runner.tick()
  await fixture.chain.mine({ blocks: 2 })
  for (let round = 0; round < 3; round++) {
    await fixture.chain.mine({ blocks: 1 })
    await misbehave()
    await runner.tick().catch(() => undefined)
  }
  const { rows } = await fixture.db.query(`select count(*)::int as count from lane_tx where kind = 'topup'`)
  expect(rows).toEqual([{ count: 1 }])
})

// It was behind the block that the other engine had read.
test('a second worker starts while one node reports a low newest block, and another is late', async () => {
  const first = fixture.runner({ rpc: connect() })
  await first.tick()
  await fixture.chain.mine({ blocks: 1 })
  await first.tick()
  await holdDown()
  await fixture.runner({ rpc: connect() }).assertReady()
})

// No block above the last final one was walked, so it was not taken back, and no other lane carried it.
test('a payout whose block was replaced is not mined any more while a node holds the newest block down, and another is late', async () => {
  const sender = fixture.runner({ rpc: connect() })
  await ticks(sender)
  const [queued] = await fixture.queue([{ micro: 50_000_000n }])
  await ticks(sender)
  await fixture.chain.mine({ blocks: 1 })
  await sender.tick()
  expect(await readState(queued!)).toBe('mined')
  await fixture.chain.request({ method: 'anvil_reorg', params: [1, []] } as never)
  await fixture.chain.request({ method: 'anvil_dropAllTransactions', params: [] } as never)
  const reader = fixture.runner({ relayers: [], rpc: connect() })
  for (let round = 0; round < 2; round++) {
    await fixture.chain.mine({ blocks: 2 })
    await holdDown()
    await reader.tick().catch(() => undefined)
  }
  expect(await readState(queued!)).toBe('broadcast')
})

test('nothing is signed or sent while a quorum is behind the last known final block', async () => {
  const runner = fixture.runner({ rpc: connect() })
  await ticks(runner)
  const [queued] = await fixture.queue([{ micro: 1_000_000n }])
  const isFinal = (more: number) =>
    fixture.db.query('update chain_cursor set scanned_number = scanned_number + $1', [more])
  await isFinal(1000)
  await runner.tick().catch(() => undefined)
  expect([await signatures(queued!), await envelopes()]).toEqual([0, []])
  await isFinal(-1000)
  await ticks(runner)
  expect(await readState(queued!)).toBe('broadcast')
})

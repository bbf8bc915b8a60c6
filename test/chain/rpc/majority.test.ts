import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { multicall3Abi } from 'viem'
import { decodeFunctionResult, encodeFunctionResult, toHex } from 'viem/utils'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { USDC_VIEWS } from '../../../src/chain/token/contracts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { type Malice, useHostileNodes } from '../../support/hostile-node.ts'
import { createWorld, TOKEN, type World } from '../world.ts'

/** What signing and lanes rest on is what a quorum says. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())
const nodes = useHostileNodes(() => world.anvil.url)

/** So often that each node is the first one to be asked. */
const ROUNDS = 6

const isTokenState = ({ method, params }: RpcCall): boolean =>
  method === 'eth_call' && JSON.stringify(params).includes(USDC_VIEWS.paused.slice(2))

/** The token's state with another value in one place: 0 is the pause, 1 the treasury on the blacklist, 2 its balance. */
const tokenLie =
  (place: number, value: bigint) =>
  (answer: unknown): unknown => {
    const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer as Hex })
    const told = results.map((one, at) => (at === place ? { ...one, returnData: toHex(value, { size: 32 }) } : one))
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: told })
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
])('one of three nodes says that %s: every payout goes out at once', async (_case, isAbout, lie) => {
  let lies = 0
  nodes[1]!.behave = (call) => {
    if (!isAbout(call)) return 'honest'
    lies += 1
    return { lie }
  }
  const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 1500 })
  const runner = world.runner({ rpc })
  await runner.tick()
  for (let round = 1; round <= ROUNDS; round++) {
    const [queued] = await world.queue([{}])
    await runner.tick()
    expect([round, (await world.payout(queued!.paymentId)).state]).toEqual([round, 'broadcast'])
    await world.chain.mine({ blocks: 3 })
  }
  expect(lies).toBeGreaterThan(0)
  expect(world.heard.held).toEqual([])
  const { rows } = await world.db.query('select distinct status from lane')
  expect(rows).toEqual([{ status: 'open' }])
})

test('one of three nodes does not know what used a nonce that the journal has forgotten: the lane goes on', async () => {
  const relayer = world.relayers[0]!
  let lies = 0
  nodes[1]!.behave = ({ method, params }) => {
    if (method !== 'eth_getBlockByNumber' || params[1] !== true) return 'honest'
    lies += 1
    return { lie: (block) => ({ ...(block as object), transactions: [] }) }
  }
  const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 1500 })
  const runner = world.runner({ rpc })
  await world.finalize(runner)
  for (let round = 1; round <= ROUNDS; round++) {
    // An empty transfer to itself, as a lost journal of ours may have sent.
    const raw = await relayer.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      to: relayer.address,
      gas: 21_000n,
      nonce: await world.chain.getTransactionCount({ address: relayer.address }),
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    await world.chain.sendRawTransaction({ serializedTransaction: raw })
    await world.chain.mine({ blocks: 4 })
    await runner.tick()
    const { rows } = await world.db.query('select status from lane')
    expect([round, rows]).toEqual([round, [{ status: 'open' }]])
  }
  expect(lies).toBeGreaterThan(0)
})

const DELEGATED = 'in-flight transaction limit reached for delegated accounts'
const LOST: Malice = { status: 502, text: 'bad gateway' }
const refusedFor = (message: string): Malice => ({ error: { code: -32000, message } })
/** What each node answers when a transaction is sent. */
const answerSends = (malices: readonly Malice[]) => {
  for (const [index, malice] of malices.entries())
    nodes[index]!.behave = ({ method }) => (method === 'eth_sendRawTransaction' ? malice : 'honest')
}
const readLane = async () => (await world.db.query('select status, status_reason from lane')).rows
const connectAll = () =>
  connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 1500 })

test('one of three nodes says that the wallet is delegated while the answers of the others are lost: the lane goes on', async () => {
  const runner = world.runner({ rpc: connectAll() })
  await runner.tick()
  const [queued] = await world.queue([{}])
  answerSends([LOST, LOST, refusedFor(DELEGATED)])
  await runner.tick()
  expect(await readLane()).toEqual([{ status: 'open', status_reason: null }])
  answerSends(['honest', 'honest', refusedFor(DELEGATED)])
  await world.finalize(runner, 3)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
})

test('one of three nodes says that the price is too low while the answers of the others are lost: it is not raised', async () => {
  const runner = world.runner({ rpc: connectAll(), options: { rebroadcastMs: 0 } })
  await world.finalize(runner)
  const [queued] = await world.queue([{}])
  const countAttempts = async () =>
    (
      await world.db.query(`select 1 from lane_tx_attempt a join lane_tx t using (chain_id, wallet, nonce)
       where t.state in ('signed', 'broadcast')`)
    ).rows.length
  answerSends([LOST, LOST, refusedFor('transaction underpriced')])
  for (let round = 0; round < 3; round++) await runner.tick()
  expect(await countAttempts()).toBe(1)
  answerSends([LOST, refusedFor('transaction underpriced'), refusedFor('transaction underpriced')])
  await runner.tick()
  expect(await countAttempts()).toBe(2)
  answerSends(['honest', 'honest', 'honest'])
  await world.finalize(runner, 3)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
})

test('the wallet is delegated and only one node says why it refuses: the lane is stopped', async () => {
  const runner = world.runner({ rpc: connectAll() })
  await world.finalize(runner)
  await world.queue([{}])
  const code: Hex = `0xef0100${'1'.repeat(40)}`
  await world.chain.setCode({ address: world.relayers[0]!.address, bytecode: code })
  answerSends([LOST, LOST, refusedFor(DELEGATED)])
  await runner.tick()
  expect(await readLane()).toEqual([
    { status: 'quarantined', status_reason: 'the wallet carries an EIP-7702 delegation' },
  ])
})

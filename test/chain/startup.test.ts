import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { SettlementRefusal } from '../../src/chain/startup.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../src/sandbox/chain.ts'
import { createWorld, newKey, type RunnerChanges, TOKEN, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const refused = (changes: RunnerChanges, why: RegExp) =>
  expect(world.runner(changes).assertReady()).rejects.toThrow(why)

test('the engine starts on the right chain with the right keys', async () => {
  await world.runner().assertReady()
})

describe('the engine refuses to start', () => {
  test('when the treasury is a relayer', async () => {
    await refused({ relayers: [world.treasury] }, /must not be a relayer/)
  })

  test('without a relayer, or with one twice', async () => {
    await refused({ relayers: [] }, /needs a relayer/)
    await refused({ relayers: [world.relayers[0]!, world.relayers[0]!] }, /the same/)
  })

  test('in live mode when one node alone would decide about finality', async () => {
    await refused({ livemode: true }, /quorum of at least 2/)
  })

  test('on another chain', async () => {
    await refused({ token: { ...TOKEN, chainId: 137 } }, /serves chain 31337, not 137/)
  })

  test('when a wallet carries code, as after an EIP-7702 delegation', async () => {
    const wallet = world.relayers[0]!.address
    await world.chain.setCode({ address: wallet, bytecode: `0xef0100${'1'.repeat(40)}` })
    await refused({}, /carries code/)
    await world.chain.setCode({ address: wallet, bytecode: '0x' })
  })

  test('when the contract signs for another EIP-712 domain', async () => {
    await refused({ token: { ...TOKEN, name: 'USDC' } }, /EIP-712 domain/)
  })

  test('on a chain that is another one; one that is behind is waited for', async () => {
    await world.chain.mine({ blocks: 5 })
    await world.runner().tick()
    await world.db.query('update chain_cursor set scanned_number = scanned_number + 1000')
    const late: unknown = await world
      .runner()
      .assertReady()
      .catch((error: unknown) => error)
    expect(late).toMatchObject({ message: expect.stringMatching(/behind block \d+ that was final: it must catch up$/) })
    expect(late).not.toBeInstanceOf(SettlementRefusal)
    await world.db.query('update chain_cursor set scanned_number = scanned_number - 1000, scanned_hash = $1', [
      `0x${'1'.repeat(64)}`,
    ])
    await refused({}, /another chain/)
    await world.runner().tick()
    const { rows } = await world.db.query('select paused_reason is not null as paused from chain_cursor')
    expect(rows).toEqual([{ paused: false }])
    await world.chain.mine({ blocks: 5 })
    await world.runner().tick()
    expect((await world.db.query('select paused_reason from chain_cursor')).rows[0]).toEqual({
      paused_reason: expect.stringMatching(/^finalized block/),
    })
    await world.db.query('delete from chain_cursor')
  })
})

test('a paused token is no reason not to start', async () => {
  await asUsdcOwner(world.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName: 'pause' }))
  await world.runner().assertReady()
  await asUsdcOwner(world.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName: 'unpause' }))
})

test('the engine goes round until it is told to stop, and then gives its leases back', async () => {
  const stop = new AbortController()
  const running = world.runner({ options: { leaseMs: 60_000 } }).run(stop.signal)
  const [queued] = await world.queue([{}])
  const deadline = Date.now() + 20_000
  while ((await world.payout(queued!.paymentId)).state !== 'settled' && Date.now() < deadline)
    await world.chain.mine({ blocks: 1 })
  stop.abort()
  await running
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect((await world.db.query('select owner from lane')).rows).toEqual([{ owner: null }])
})

test('a refused start ends the run instead of going on', async () => {
  const run = world.runner({ relayers: [] }).run(new AbortController().signal)
  await expect(run).rejects.toThrow(SettlementRefusal)
})

test('the development set-up is idempotent: doing it again mints nothing', async () => {
  const { prepareDevelopmentChain } = await import('../../src/sandbox/chain.ts')
  const before = await world.balance(world.treasury.address)
  const relayer = privateKeyToAccount(newKey()).address
  await prepareDevelopmentChain(world.anvil.url, {
    treasury: world.treasury.address,
    relayers: [relayer],
    mintMicroUsdc: 1_000_000n,
  })
  expect(await world.balance(world.treasury.address as Hex)).toBe(before)
  expect(await world.chain.getBalance({ address: relayer })).toBeGreaterThan(0n)
})

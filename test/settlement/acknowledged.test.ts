import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { readBalances } from '../../src/db/ledger.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { TreasuryMovement } from '../../src/domain/settlement/payout.ts'
import { acknowledge } from '../../src/operator/payouts.ts'
import { usdcAdminAbi } from '../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../src/settlement/hooks.ts'
import { createWorld, newAddress, settingsOf, TOKEN, type World } from '../chain/world.ts'

/** What an operator sends out of the treasury by hand, such as a refund in USDC, and declares legitimate. */

let world: World
const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
beforeAll(async () => {
  world = await createWorld()
  // The treasury has its first USDC.
  await world.finalize(world.runner({ hooks }))
})
afterAll(() => world.stop())
let before: ReadonlyMap<string, bigint>
beforeEach(async () => {
  before = await balances()
})

async function balances(): Promise<ReadonlyMap<string, bigint>> {
  const rows = await readBalances(world.db)
  return new Map(rows.map(({ account, asset, amount }) => [`${account} ${asset}`, BigInt(amount)]))
}

/** What has changed in the books since the test began. */
async function changed(): Promise<Record<string, string>> {
  const now = await balances()
  const names = [...new Set([...before.keys(), ...now.keys()])].sort()
  const changes = names.map((name) => [name, (now.get(name) ?? 0n) - (before.get(name) ?? 0n)] as const)
  return Object.fromEntries(changes.flatMap(([name, amount]) => (amount === 0n ? [] : [[name, String(amount)]])))
}

async function send(recipient: Hex, micro: bigint): Promise<Hex> {
  const { chain, treasury } = world
  await chain.setBalance({ address: treasury.address, value: 10n ** 18n })
  const serializedTransaction = await treasury.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: await chain.getTransactionCount({ address: treasury.address }),
    to: TOKEN.address,
    data: encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [recipient, micro] }),
    gas: 300_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  const hash = await chain.sendRawTransaction({ serializedTransaction })
  await chain.mine({ blocks: 6 })
  return hash
}

const acknowledged = (hash: Hex) =>
  acknowledge({ db: world.db, settings: settingsOf(world), hooks, dryRun: false, say: () => undefined }, hash)

// Suspense kept what had been sent back, and the return of the money was a gain: neither ever left the books.
test('leaves suspense, and is what the return of the money had left to us', async () => {
  const hash = await send(newAddress(), 20n)
  await world.finalize(world.runner({ hooks }))
  expect(await changed()).toEqual({ 'suspense USDC': '20', 'treasury USDC': '-20' })
  expect(await acknowledged(hash)).toBe(0)
  expect(await changed()).toEqual({ 'exchange USDC': '20', 'treasury USDC': '-20' })
  // Nothing of it is unknown any more.
  expect(await acknowledged(hash)).toBe(1)
  expect(await changed()).toEqual({ 'exchange USDC': '20', 'treasury USDC': '-20' })
})

test('is in the books once, where it is declared before they were told of it', async () => {
  const fails = { ...hooks, onTreasuryMovement: () => Promise.reject(new Error('the books are closed')) }
  const hash = await send(newAddress(), 21n)
  await world.finalize(world.runner({ hooks: fails }))
  expect(await changed()).toEqual({})
  expect(await acknowledged(hash)).toBe(0)
  await world.db.query('update treasury_log set hook_retry_at = null')
  await world.finalize(world.runner({ hooks }))
  const { rows } = await world.db.query('select count(*)::int as untold from treasury_log where applied_at is null')
  expect(rows).toEqual([{ untold: 0 }])
  expect(await changed()).toEqual({ 'exchange USDC': '21', 'treasury USDC': '-21' })
})

test('that never left the books, such as to another treasury of ours, changes nothing in them', async () => {
  await world.db.transaction((tx) => hooks.onTreasuryMovement(tx, { ...moved('out', 1), isAcknowledged: true }))
  expect(await changed()).toEqual({})
})

const moved = (direction: 'in' | 'out', place: number): TreasuryMovement => ({
  chainId: TOKEN.chainId,
  txHash: `0x${String(place).padStart(64, '7')}`,
  logIndex: 0,
  blockNumber: 1,
  direction,
  micro: '9',
  treasury: world.treasury.address.toLowerCase() as Hex,
  counterparty: newAddress(),
})
const tell = (movement: TreasuryMovement) => world.db.transaction((tx) => hooks.onTreasuryMovement(tx, movement))

// The converter had delivered twice, and suspense had what nobody owned.
test('a top-up whose block has left the chain leaves no book changed, and counts once when it comes again', async () => {
  const topUp = moved('in', 2)
  const once = { 'conversion USDC': '-9', 'treasury USDC': '9' }
  await tell(topUp)
  expect(await changed()).toEqual(once)
  await tell({ ...topUp, isGone: true })
  expect(await changed()).toEqual({})
  for (let time = 0; time < 2; time++) await tell(topUp)
  expect(await changed()).toEqual(once)
})

test('a transfer that was declared legitimate leaves no book changed either, and may be declared so again', async () => {
  const out = moved('out', 3)
  const declared = { ...out, isAcknowledged: true } as const
  const spent = { 'exchange USDC': '9', 'treasury USDC': '-9' }
  for (const movement of [out, declared]) await tell(movement)
  expect(await changed()).toEqual(spent)
  await tell({ ...out, isGone: true })
  expect(await changed()).toEqual({})
  for (const movement of [out, declared, declared]) await tell(movement)
  expect(await changed()).toEqual(spent)
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Hex } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { createWorld, newAddress, newKey, settingsOf, TOKEN, type World } from '../world.ts'
import { addAwaited } from './awaited.ts'

/** Final blocks in which money was swept are replaced after all. */

const keys = createDepositKeys(Buffer.alloc(32, 7).toString('base64'), TOKEN.chainId)
const deposits = { keys, wrongTokens: [] }
const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

let world: World
let numbers = 0
beforeAll(async () => {
  world = await createWorld({ micro: 1_000_000n })
})
afterAll(() => world.stop())

const finalize = (rounds = 4) => world.finalize(world.runner({ deposits, hooks }), rounds)

async function pay(address: Hex, micro: bigint): Promise<void> {
  await mintUsdc(world.chain, { to: address, micro })
  await world.chain.mine({ blocks: 25 })
}

/** A payment to whose address 5 USDC had come, which are in the treasury. */
async function swept(): Promise<{ paymentId: string; address: Hex; raw: Hex; depth: number }> {
  numbers += 1
  const { paymentId, address } = await addAwaited(world.db, keys, `reversed${numbers}`)
  await pay(address, 5_000_000n)
  await finalize()
  expect(await sweepsOf(paymentId)).toEqual(['done 5000000'])
  const { rows } = await world.db.query(
    `select '0x' || encode(a.raw, 'hex') as raw, t.block_number::int as number
     from lane_tx t join lane_tx_attempt a on a.tx_hash = t.won_hash order by t.nonce desc limit 1`,
  )
  const { raw, number } = rows[0] as { raw: Hex; number: number }
  return { paymentId, address, raw, depth: Number(await world.chain.getBlockNumber()) - number + 2 }
}

async function sweepsOf(paymentId: string): Promise<string[]> {
  const { rows } = await world.db.query(
    `select state || ' ' || micro_usdc as line from deposit_sweep where payment_id = $1 order by idx`,
    [paymentId],
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}

/** The chain as it would be without the last blocks, with these transactions in the first of their place. */
async function reorganizeAndRepair(depth: number, raw: readonly Hex[]): Promise<void> {
  const transactions = raw.map((bytes) => [bytes, 1])
  await world.chain.request({ method: 'anvil_reorg' as never, params: [depth, transactions] as never })
  await world.chain.mine({ blocks: 6 })
  await repairFinality({ db: world.db, hooks, settings: settingsOf(world), dryRun: false, say: () => undefined })
}

/** The books say what is in the treasury and at the address, and so does the chain. */
async function expectInTreasury(address: Hex): Promise<void> {
  expect(await world.balance(address)).toBe(0n)
  const books = (await readBalances(world.db)).filter(({ asset }) => asset === 'USDC')
  const inBooks = (account: string) => BigInt(books.find((line) => line.account === account)?.amount ?? 0)
  expect(inBooks('deposits')).toBe(0n)
  expect(inBooks('treasury')).toBe(await world.balance(world.treasury.address))
}

test('a sweep that the new chain has too is one sweep, and what comes to the address later is swept', async () => {
  const { paymentId, address, raw, depth } = await swept()
  await reorganizeAndRepair(depth, [raw])
  expect(await sweepsOf(paymentId)).toEqual(['done 5000000'])
  await pay(address, 3_000_000n)
  await finalize()
  expect(await sweepsOf(paymentId)).toEqual(['done 5000000', 'done 3000000'])
  await expectInTreasury(address)
})

test('a sweep that the new chain has not is made again, with the same nonce', async () => {
  const { paymentId, address, depth } = await swept()
  await reorganizeAndRepair(depth, [])
  expect(await world.balance(address)).toBe(5_000_000n)
  await finalize(6)
  expect(await sweepsOf(paymentId)).toEqual(['done 5000000'])
  await expectInTreasury(address)
})

test('a sweep that comes back after the repair, by the same transaction, is in the books again', async () => {
  const { paymentId, address, raw, depth } = await swept()
  await reorganizeAndRepair(depth, [])
  await world.chain.sendRawTransaction({ serializedTransaction: raw })
  await world.chain.mine({ blocks: 6 })
  await finalize(6)
  expect(await sweepsOf(paymentId)).toEqual(['done 5000000'])
  await expectInTreasury(address)
})

/** A transfer of a micro-USDC by a stranger, who pays more for it than anybody else. */
async function transferred(to: Hex, micro = 1n): Promise<Hex> {
  const stranger = accountOf(newKey())
  await world.chain.setBalance({ address: stranger.address, value: 10n ** 20n })
  await mintUsdc(world.chain, { to: stranger.address, micro })
  return stranger.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: TOKEN.address,
    data: encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [to, micro] }),
    gas: 200_000n,
    maxFeePerGas: 10n ** 13n,
    maxPriorityFeePerGas: 10n ** 13n,
  })
}

// it was booked a second time
test('a sweep and a top-up that the new chain has at another place of their block are in the books once', async () => {
  const first = await transferred(newAddress())
  const topUp = await transferred(world.treasury.address as Hex, 70_000n)
  await world.chain.mine({ blocks: 25 })
  const { address, raw, depth } = await swept()
  const before = await world.chain.getBlockNumber()
  await world.chain.sendRawTransaction({ serializedTransaction: topUp })
  await finalize()
  await expectInTreasury(address)
  const deeper = Number((await world.chain.getBlockNumber()) - before)
  await reorganizeAndRepair(depth + deeper, [first, topUp, raw])
  await finalize(6)
  await expectInTreasury(address)
})

// it was booked back, and never again
test('a top-up that comes back after the repair, at the place that it had, is in the books again', async () => {
  const topUp = await transferred(world.treasury.address as Hex, 80_000n)
  await world.chain.mine({ blocks: 25 })
  const { address, raw, depth } = await swept()
  const before = await world.chain.getBlockNumber()
  await world.chain.sendRawTransaction({ serializedTransaction: topUp })
  await finalize()
  const deeper = Number((await world.chain.getBlockNumber()) - before)
  await reorganizeAndRepair(depth + deeper, [raw])
  await expectInTreasury(address)
  await world.chain.sendRawTransaction({ serializedTransaction: topUp })
  await world.chain.mine({ blocks: 6 })
  await finalize(6)
  await expectInTreasury(address)
})

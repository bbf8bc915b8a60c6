import { beforeEach, expect, test } from '@jest/globals'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { sql } from '../../../src/db/db.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { startHostileNode } from '../../support/hostile-node.ts'
import { addAwaited } from '../deposits/awaited.ts'
import { type Queued, stealUsdc, TOKEN, useFixture } from '../fixture.ts'
import { carryWithEmptyLogs, carryWithNoise, floodWithNothing, sendUsdc } from '../rpc/strangers.ts'

/** Blocks that strangers fill until the answers about them are larger than the largest allowed answer. */

const fixture = useFixture()
beforeEach(() => fixture.reset())

const readState = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).state
const cursor = async ({ db } = fixture) =>
  (
    await db.query(
      'select scanned_number::int as scanned, deposits_number::int as deposits, paused_reason as paused from chain_cursor',
    )
  ).rows[0] as { scanned: number; deposits: number; paused: string | null }

// The cursor stopped before that block forever, and the theft in it was never detected.
test('in a block with 24,000 transfers of nothing to the treasury a theft is detected, and a payout settles', async () => {
  const runner = fixture.runner()
  await fixture.finalize(runner)
  const [queued] = await fixture.queue([{}])
  await runner.tick()
  const theft = await stealUsdc(fixture)
  await floodWithNothing(fixture, fixture.treasury.address)
  await fixture.chain.mine({ blocks: 1 })
  const flooded = await fixture.chain.getBlock()
  // Strangers, thief and payout in one block.
  expect(flooded.transactions).toHaveLength(10)
  await fixture.finalize(runner)
  expect((await cursor()).paused).toContain(theft)
  expect((await cursor()).scanned).toBeGreaterThan(Number(flooded.number))
  expect(await readState(queued!)).toBe('settled')
})

// The cursor of deposits stopped, because one buyer flooded his payment's address.
test('in a block with 24,000 transfers of nothing to the address of one payment the deposit of another is found', async () => {
  const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
  const runner = fixture.runner({ deposits: { keys, wrongTokens: [] } })
  await fixture.finalize(runner)
  const [stranger, buyer] = [
    await addAwaited(fixture.db, keys, 'stranger'),
    await addAwaited(fixture.db, keys, 'buyer'),
  ]
  await sendUsdc(fixture, [buyer.address], 5_000_000n)
  await floodWithNothing(fixture, stranger.address)
  await fixture.chain.mine({ blocks: 1 })
  const flooded = await fixture.chain.getBlock()
  expect(flooded.transactions).toHaveLength(9)
  await fixture.finalize(runner, 3)
  expect(fixture.hookCalls.deposits).toMatchObject([{ address: buyer.address }])
  expect((await cursor()).deposits).toBeGreaterThanOrEqual(Number(flooded.number))
})

async function signBatches(count: number): Promise<{ queued: Queued[]; batches: Hex[] }> {
  const queued = await fixture.queue(Array.from({ length: count }, () => ({})))
  await fixture.runner({ options: { maxInFlight: 0 } }).tick()
  const signed = await readSigned(fixture.db, sql`true`, count)
  return { queued, batches: signed.map((payout) => multicallCodec.encode(TOKEN.address, [payout]).calldata) }
}

// They were requested together, and the answer was too large forever.
test('payouts that a stranger carries in transactions with receipts of 4 MB settle', async () => {
  const { queued, batches } = await signBatches(3)
  await carryWithNoise(fixture, batches)
  await fixture.chain.mine({ blocks: 1 })
  const block = await fixture.chain.getBlock()
  expect(block.gasUsed).toBeGreaterThan(49_000_000n)
  await fixture.finalize(fixture.runner({ options: { maxInFlight: 0 } }))
  expect(await Promise.all(queued.map(readState))).toEqual(['settled', 'settled', 'settled'])
})

// Such a receipt was larger than any allowed answer, and final blocks were not read any more.
test('a payout that a stranger carries with 43,000 empty logs settles, and no node is asked for the receipt', async () => {
  const { queued, batches } = await signBatches(1)
  await carryWithEmptyLogs(fixture, batches)
  await fixture.chain.mine({ blocks: 1 })
  const { transactions } = await fixture.chain.getBlock()
  expect(transactions).toHaveLength(1)
  const node = await startHostileNode(fixture.anvil.url)
  try {
    const rpc = connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId })
    await fixture.finalize(fixture.runner({ rpc, options: { maxInFlight: 0 } }))
    expect(await readState(queued[0]!)).toBe('settled')
    expect(node.calls.filter(({ method }) => method === 'eth_getTransactionReceipt')).toEqual([])
  } finally {
    await node.close()
  }
})

// A theft in the same block was not detected, neither at once nor when it was final.
test('a receipt of 15 MB in a flooded block hides no theft, and delays neither final blocks nor proofs', async () => {
  const runner = fixture.runner()
  await fixture.finalize(runner)
  const theft = await stealUsdc(fixture)
  await floodWithNothing(fixture, fixture.treasury.address, 7)
  await carryWithEmptyLogs(fixture, ['0x'])
  await fixture.chain.mine({ blocks: 1 })
  const flooded = await fixture.chain.getBlock()
  // The strangers and the thief are in one block.
  expect(flooded.transactions).toHaveLength(9)
  await fixture.finalize(runner)
  expect((await cursor()).paused).toContain(theft)
  expect((await cursor()).scanned).toBeGreaterThan(Number(flooded.number))
  const [node] = connectRpc({ urls: [fixture.anvil.url], quorum: 1, chainId: TOKEN.chainId }).nodes
  const receipts = await node!.rawReceipts(Number(flooded.number))
  expect(receipts.map(({ txHash }) => txHash)).toEqual(flooded.transactions)
  expect(Math.max(...receipts.map(({ logs }) => logs.length))).toBeGreaterThan(43_000)
})

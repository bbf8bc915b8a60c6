import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { bumpFees, GWEI, isOverdue } from '../../../src/chain/lanes/fees.ts'
import { createWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const history = { nextBaseFee: 50n * GWEI, tips: [30n * GWEI] }
/** What the next blocks then do not have. */
const dropTransactions = () => world.chain.request({ method: 'anvil_dropAllTransactions' as never })
const attempts = async () =>
  (
    await world.db.query(
      `select nonce::int as nonce, max_fee::text as fee from lane_tx_attempt order by nonce desc, attempt`,
    )
  ).rows as { nonce: number; fee: string }[]
const ofNewest = async () => {
  const all = await attempts()
  return all.filter(({ nonce }) => nonce === all[0]?.nonce)
}

describe('the price of a replacement', () => {
  test('is 12.5 % higher, and the last one is the cap itself', () => {
    const cap = 500n * GWEI
    let fees = { maxFee: 130n * GWEI, tip: 30n * GWEI }
    const prices: bigint[] = []
    for (let next = bumpFees(fees, history, cap); next !== null; next = bumpFees(fees, history, cap)) {
      expect(next.maxFee * 100n).toBeGreaterThanOrEqual(fees.maxFee * 110n)
      expect(next.tip * 100n).toBeGreaterThanOrEqual(fees.tip * 110n)
      prices.push(next.maxFee)
      fees = next
    }
    expect(prices.at(-1)! * 100n).toBeGreaterThan((cap * 100n * 100n) / 110n)
    expect(bumpFees({ maxFee: 450n * GWEI, tip: 30n * GWEI }, history, cap)?.maxFee).toBe(cap)
    expect(bumpFees({ maxFee: 455n * GWEI, tip: 30n * GWEI }, history, cap)).toBeNull()
  })

  test.each([
    ['neither blocks nor time have passed', 3, 7000, false],
    ['blocks have passed and time has not: the chain only caught up', 400, 7000, false],
    ['time has passed and blocks have not: the chain stands still', 3, 3_600_000, false],
    ['both have passed', 4, 8000, true],
  ])('is asked for when %s: %i blocks, %i ms: %s', (_case, blocks, ageMs, expected) => {
    const limits = { bumpAfterBlocks: 4, bumpAfterMs: 8000 }
    expect(isOverdue({ signedBlock: 100, ageMs }, 100 + blocks, limits)).toBe(expected)
  })
})

test('a transaction is not made dearer because blocks came fast, but when it has waited', async () => {
  const runner = world.runner({ options: { bumpAfterMs: 8000 } })
  await world.queue([{}])
  await runner.tick()
  await dropTransactions()
  await world.chain.mine({ blocks: 10 })
  await runner.tick()
  expect(await ofNewest()).toHaveLength(1)
  await world.db.query(`update lane_tx_attempt set signed_at = now() - interval '9 seconds'`)
  await runner.tick()
  expect(await ofNewest()).toHaveLength(2)
  await world.finalize(runner)
})

test('a batch whose authorizations have expired is not made dearer: an empty transfer takes its nonce', async () => {
  const runner = world.runner({ options: { authorizationSeconds: 900 } })
  await world.finalize(runner)
  const [queued] = await world.queue([{}])
  await runner.tick()
  const batch = (await world.db.query(`select calldata from lane_tx order by nonce desc limit 1`)).rows[0] as {
    calldata: Buffer
  }
  expect(multicallCodec.deadline(`0x${batch.calldata.toString('hex')}`)).toBeGreaterThan(Date.now() / 1000)
  await dropTransactions()
  await world.chain.increaseTime({ seconds: 1000 })
  await world.chain.mine({ blocks: 5 })
  await runner.tick()
  const [cheap, dear] = await ofNewest()
  expect(BigInt(dear!.fee)).toBeGreaterThan(BigInt(cheap!.fee))
  const { rows } = await world.db.query(`select length(raw) as bytes from lane_tx_attempt order by nonce desc, attempt`)
  const [first, second] = rows as { bytes: number }[]
  expect(first!.bytes).toBeGreaterThan(500)
  expect(second!.bytes).toBeLessThan(200)
  await world.finalize(runner, 4)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
})

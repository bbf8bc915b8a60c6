import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { parseTransaction } from 'viem/utils'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { bumpFees, GWEI, isOverdue } from '../../../src/chain/lanes/fees.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { createFixture, type Fixture, newAddress, type Queued, useFixture } from '../fixture.ts'

describe('the fee of a transaction', () => {
  const fixture = useFixture()

  const history = { nextBaseFee: 50n * GWEI, tips: [30n * GWEI] }
  /** Empties the pool, so that the next blocks lack its transactions. */
  const dropTransactions = () => fixture.chain.request({ method: 'anvil_dropAllTransactions' as never })
  const attempts = async () =>
    (
      await fixture.db.query(
        `select nonce::int as nonce, max_fee::text as fee from lane_tx_attempt order by nonce desc, attempt`,
      )
    ).rows as { nonce: number; fee: string }[]
  const ofNewest = async () => {
    const all = await attempts()
    return all.filter(({ nonce }) => nonce === all[0]?.nonce)
  }

  describe('The price of a replacement', () => {
    test('a replacement is 12.5 % more expensive, and the last one is the cap itself', () => {
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
      ['time has passed and blocks have not: the chain stalls', 3, 3_600_000, false],
      ['both have passed', 4, 8000, true],
    ])('a replacement is requested if %s: %i blocks, %i ms: %s', (_case, blocks, ageMs, expected) => {
      const limits = { bumpAfterBlocks: 4, bumpAfterMs: 8000 }
      expect(isOverdue({ signedBlock: 100, ageMs }, 100 + blocks, limits)).toBe(expected)
    })
  })

  test('a transaction becomes more expensive after a wait, but not because blocks arrived fast', async () => {
    const runner = fixture.runner({ options: { bumpAfterMs: 8000 } })
    await fixture.queue([{}])
    await runner.tick()
    await dropTransactions()
    await fixture.chain.mine({ blocks: 10 })
    await runner.tick()
    expect(await ofNewest()).toHaveLength(1)
    await fixture.db.query(`update lane_tx_attempt set signed_at = now() - interval '9 seconds'`)
    await runner.tick()
    expect(await ofNewest()).toHaveLength(2)
    await fixture.finalize(runner)
  })

  test('a transaction that is stuck at the highest price is logged once a minute, and not in every round', async () => {
    const lines: string[] = []
    const runner = fixture.runner({
      options: { bumpAfterBlocks: 1, maxFeeWei: 40n * GWEI },
      error: (_about, message) => void lines.push(message),
    })
    const round = async (): Promise<void> => {
      await dropTransactions()
      await fixture.chain.mine({ blocks: 1 })
      await runner.tick()
    }
    await fixture.queue([{}])
    await runner.tick()
    for (let count = 0; count < 8; count++) await round()
    expect(lines).toEqual(['a transaction is stuck at the highest price it may have'])
    fixture.clock.now = new Date(fixture.clock.now.getTime() + 60_000)
    await round()
    expect(lines).toHaveLength(2)
    await fixture.finalize(fixture.runner(), 3)
  })

  test('a batch whose authorizations have expired does not become more expensive: an empty transfer uses its nonce', async () => {
    const runner = fixture.runner({ options: { authorizationSeconds: 900 } })
    await fixture.finalize(runner)
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    const batch = (await fixture.db.query(`select calldata from lane_tx order by nonce desc limit 1`)).rows[0] as {
      calldata: Buffer
    }
    expect(multicallCodec.deadline(`0x${batch.calldata.toString('hex')}`)).toBeGreaterThan(Date.now() / 1000)
    await dropTransactions()
    await fixture.chain.increaseTime({ seconds: 1000 })
    await fixture.chain.mine({ blocks: 5 })
    await runner.tick()
    const [cheap, dear] = await ofNewest()
    expect(BigInt(dear!.fee)).toBeGreaterThan(BigInt(cheap!.fee))
    const { rows } = await fixture.db.query(
      `select length(raw) as bytes from lane_tx_attempt order by nonce desc, attempt`,
    )
    const [first, second] = rows as { bytes: number }[]
    expect(first!.bytes).toBeGreaterThan(500)
    expect(second!.bytes).toBeLessThan(200)
    await fixture.finalize(runner, 4)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
  })
})

describe('Nodes with a limit for the fee', () => {
  const POL = 10n ** 18n
  const REFUSAL = { error: { code: -32000, message: 'tx fee (1.68 ether) exceeds the configured cap (1.00 ether)' } }

  /** Nodes that refuse a transaction whose gas limit costs more than a POL: `rpc.txfeecap`, by default. */
  let fixture: Fixture
  let proxy: LossyProxy
  let relayer: Hex
  let cap: bigint
  beforeAll(async () => {
    fixture = await createFixture()
    proxy = await startLossyProxy(fixture.anvil.url)
    relayer = fixture.relayers[0]!.address
    proxy.decide = ({ method, params: [raw] }) => {
      if (method !== 'eth_sendRawTransaction') return 'deliver'
      const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw as Hex)
      return gas * maxFeePerGas > cap ? REFUSAL : 'deliver'
    }
  })
  beforeEach(async () => {
    cap = POL
    await fixture.chain.setBalance({ address: relayer, value: 1000n * POL })
  })
  afterAll(async () => {
    await proxy.close()
    await fixture.stop()
  })

  const queue = (length: number) => fixture.queue(Array.from({ length }, () => ({})))

  async function attempts() {
    const { rows } = await fixture.db.query(
      `select t.nonce::int, a.tx_hash, a.last_answer from lane_tx_attempt a join lane_tx t using (chain_id, wallet, nonce)
     where t.ended_at is null order by t.nonce, a.attempt`,
    )
    return rows as { nonce: number; tx_hash: Hex; last_answer: string }[]
  }

  /** Pools are full while gas is expensive, and drop cheap transactions. */
  async function blocks(gwei: bigint, count = 1): Promise<void> {
    for (let block = 0; block < count; block++) {
      for (const { tx_hash: hash } of await attempts())
        await fixture.chain.dropTransaction({ hash }).catch(() => undefined)
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * GWEI })
      await fixture.chain.mine({ blocks: 1 })
    }
  }

  async function cheap(runner: ReturnType<Fixture['runner']>): Promise<void> {
    await blocks(20n, 4)
    for (let round = 0; round < 4; round++) {
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI })
      await fixture.finalize(runner, 1)
    }
  }

  async function allSettled(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId } of queued) expect((await fixture.payout(paymentId)).state).toBe('settled')
  }

  // No node accepted a batch of a hundred, which only became more expensive.
  test('while gas is expensive payouts are sent in batches that nodes accept', async () => {
    const runner = fixture.runner({ url: proxy.url })
    await blocks(100n)
    const queued = await queue(100)
    await runner.tick()
    expect((await attempts()).map(({ nonce, last_answer }) => [nonce, last_answer])).toEqual([
      [0, 'accepted'],
      [1, 'accepted'],
      [2, 'accepted'],
    ])
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 100n * GWEI })
    await fixture.finalize(runner)
    await allSettled(queued)
  })

  // It was raised further and further, and the most expensive version was sent forever.
  test('an envelope that nodes find too expensive is not awaited when gas is cheap again', async () => {
    const runner = fixture.runner({ url: proxy.url })
    await blocks(60n)
    const queued = await queue(100)
    await runner.tick()
    for (let round = 0; round < 3; round++) {
      await blocks(450n, 4)
      await runner.tick()
    }
    expect((await attempts()).some(({ last_answer }) => last_answer.startsWith('too_expensive: tx fee (1.68'))).toBe(
      true,
    )
    await cheap(runner)
    await allSettled(queued)
  })

  test('an envelope is signed again at the current price if nodes accept even less', async () => {
    const runner = fixture.runner({ url: proxy.url })
    cap = POL / 4n
    await blocks(100n)
    const queued = await queue(86)
    await runner.tick()
    expect((await attempts()).every(({ last_answer }) => last_answer.startsWith('too_expensive'))).toBe(true)
    await cheap(runner)
    await allSettled(queued)
  })

  // It waited for the price of its payouts.
  test('a nonce whose payouts have left it is used up also if the wallet can pay only for an empty transfer', async () => {
    const runner = fixture.runner({ url: proxy.url })
    await blocks(60n)
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    const [first] = await attempts()
    await fixture.db.query(`update lane_tx_item set outcome = 'moved' where owner_id = $1`, [queued!.paymentId])
    await fixture.chain.setBalance({ address: relayer, value: 10n * 10n ** 6n * GWEI })
    for (let round = 0; round < 4; round++) {
      await blocks(200n, 4)
      await runner.tick()
    }
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 200n * GWEI })
    await fixture.chain.mine({ blocks: 1 })
    expect(await fixture.chain.getTransactionCount({ address: relayer })).toBe(first!.nonce + 1)
  })
})

describe('The gas of a batch', () => {
  const fixture = useFixture()

  /** The gas of the newest envelope, for each payout in it. */
  async function gasPerPayout(): Promise<number> {
    const { rows } = await fixture.db.query(
      `select t.gas_used::float / count(*) as gas from lane_tx t join lane_tx_item i using (chain_id, wallet, nonce)
     group by t.nonce, t.gas_used order by t.nonce desc limit 1`,
    )
    return (rows[0] as { gas: number }).gas
  }

  test('a payout in a batch of a hundred costs about what a plain transfer costs', async () => {
    const recipients = Array.from({ length: 100 }, () => newAddress())
    const runner = fixture.runner()
    await fixture.queue(recipients.map((recipient) => ({ recipient })))
    await fixture.finalize(runner)
    expect(await gasPerPayout()).toBeLessThanOrEqual(65_500)
    await fixture.queue(recipients.map((recipient) => ({ recipient })))
    await fixture.finalize(runner)
    // A plain transfer to a known recipient costs 44,843.
    expect(await gasPerPayout()).toBeLessThanOrEqual(48_500)
    for (const { ownerId, gasWei } of fixture.hookCalls.settled.slice(-100)) {
      expect(ownerId).toMatch(/^pay_/)
      expect(gasWei).toBeGreaterThan(0n)
    }
  })

  // It sent only the most expensive version again, which no node accepted, also if the one before it was payable.
  test('an envelope that a wallet could not pay while gas was dear is not awaited when gas is cheap again', async () => {
    const relayer = fixture.relayers[0]!.address
    const runner = fixture.runner()
    const attempts = async () => {
      const { rows } = await fixture.db.query(
        `select tx_hash, max_fee::bigint / 1000000000 as gwei from lane_tx_attempt a join lane_tx t using (wallet, nonce)
       where t.ended_at is null order by attempt`,
      )
      return rows as { tx_hash: Hex; gwei: string }[]
    }
    /** Pools are full then, and drop cheap transactions. */
    const block = async (gwei: bigint): Promise<void> => {
      for (const { tx_hash: hash } of await attempts())
        await fixture.chain.dropTransaction({ hash }).catch(() => undefined)
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * GWEI })
      await fixture.chain.mine({ blocks: 1 })
    }
    await block(60n)
    const queued = await fixture.queue(Array.from({ length: 50 }, () => ({})))
    // Enough for all of them at 206 gwei.
    await fixture.chain.setBalance({ address: relayer, value: 759n * GWEI * 10n ** 6n })
    await runner.tick()
    for (let round = 0; round < 4; round++) {
      for (let blocks = 0; blocks < 4; blocks++) await block(450n)
      await runner.tick()
    }
    expect((await attempts()).map(({ gwei }) => Number(gwei)).every((gwei) => gwei <= 206)).toBe(true)
    // A version that was signed when the wallet had more.
    await fixture.chain.setBalance({ address: relayer, value: 10n * GWEI * 10n ** 9n })
    await block(450n)
    await runner.tick()
    expect((await attempts()).at(-1)).toMatchObject({ gwei: '500' })
    await fixture.chain.setBalance({ address: relayer, value: 759n * GWEI * 10n ** 6n })
    for (let round = 0; round < 3; round++) {
      await block(20n)
      await runner.tick()
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * GWEI })
      await fixture.finalize(runner, 1)
    }
    for (const { paymentId } of queued) expect((await fixture.payout(paymentId)).state).toBe('settled')
    await fixture.chain.setBalance({ address: relayer, value: 10n ** 21n })
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseGwei } from 'viem'
import { releaseLane } from '../../../src/db/settlement/operator.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { type LossyProxy, startLossyProxy } from '../../support/anvil.ts'
import { reorganize } from '../deposits/reversal.ts'
import { createSettings, newAddress, type Queued, TOKEN, useFixture } from '../fixture.ts'

describe('a reorganization', () => {
  const fixture = useFixture({ relayers: 2 })
  let proxy: LossyProxy
  beforeAll(async () => {
    proxy = await startLossyProxy(fixture.anvil.url)
  })
  afterAll(() => proxy.close())

  const states = (queued: readonly Queued[]) =>
    Promise.all(queued.map(async ({ paymentId }) => (await fixture.payout(paymentId)).state))

  async function paidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect(await fixture.balance(recipient)).toBe(micro)
      expect(fixture.hookCalls.settled.filter((settlement) => settlement.ownerId === paymentId)).toHaveLength(1)
    }
  }

  const rpc = (method: string, params: unknown[]) => fixture.chain.request({ method, params } as never)

  /** Replaces the newest block by an empty one; its transactions are not in the pool either. */
  const loseNewestBlock = () => rpc('anvil_reorg', [1, []])

  test('a payout that a reorganization removed is broadcast again and paid once', async () => {
    const queued = await fixture.queue([{}, {}])
    const runner = fixture.runner()
    await runner.tick()
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    expect(await states(queued)).toEqual(['mined', 'mined'])
    await loseNewestBlock()
    await runner.tick()
    expect(await states(queued)).toEqual(['broadcast', 'broadcast'])
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    await fixture.finalize(runner)
    await paidOnce(queued)
  })

  test('a transaction that a pool dropped is sent again', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    await rpc('anvil_dropAllTransactions', [])
    await fixture.chain.mine({ blocks: 1 })
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    await fixture.finalize(runner)
    await paidOnce(queued)
  })

  test('a lane whose nonce another transaction uses in a reorganization is stopped, and another one pays, once', async () => {
    const queued = await fixture.queue([{}, {}])
    const runner = fixture.runner()
    await runner.tick()
    const lane = (await fixture.payout(queued[0]!.paymentId)).lane!
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    const relayer = fixture.relayers.find(({ address }) => address.toLowerCase() === lane.wallet)!
    const foreign = await relayer.signTransaction({
      type: 'eip1559',
      chainId: 31337,
      nonce: lane.nonce,
      to: newAddress(),
      gas: 21_000n,
      maxFeePerGas: parseGwei('100'),
      maxPriorityFeePerGas: parseGwei('30'),
    })
    await rpc('anvil_reorg', [1, [[foreign, 0]]])
    await fixture.chain.mine({ blocks: 3 })
    await runner.tick()
    await fixture.finalize(runner)
    await paidOnce(queued)
    const envelope = await fixture.db.query('select state from lane_tx where wallet = $1 and nonce = $2', [
      lane.wallet,
      lane.nonce,
    ])
    expect(envelope.rows).toEqual([{ state: 'foreign' }])
    const stopped = await fixture.db.query('select wallet from lane where status = $1', ['quarantined'])
    expect(stopped.rows).toEqual([{ wallet: lane.wallet }])
    expect(await releaseLane(fixture.db, { chainId: TOKEN.chainId, wallet: lane.wallet })).toBe(true)
  })

  test('nothing is settled after the head goes back until its blocks are final again', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    await rpc('anvil_rollback', [1])
    await runner.tick()
    // The quorum can have a node that is late: only another block in its place takes it back.
    expect(await states(queued)).toEqual(['mined'])
    await rpc('anvil_dropAllTransactions', [])
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    expect(await states(queued)).toEqual(['broadcast'])
    await fixture.finalize(runner)
    await paidOnce(queued)
  })

  test('nothing settles while finality stalls, however many blocks are on top', async () => {
    const queued = await fixture.queue([{}])
    proxy.decide = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized'
        ? { error: { code: -32000, message: 'finalized block not found' } }
        : 'deliver'
    const runner = fixture.runner({ url: proxy.url })
    await runner.tick()
    await fixture.chain.mine({ blocks: 30 })
    await runner.tick()
    expect(await states(queued)).toEqual(['mined'])
    proxy.decide = () => 'deliver'
    await runner.tick()
    expect(await states(queued)).toEqual(['settled'])
    await paidOnce(queued)
  })

  test('a transaction below the fee of the blocks is replaced at the same nonce, and paid once', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    const { lane, txHash } = await fixture.payout(queued[0]!.paymentId)
    // Above the first attempt's fee, below the policy's cap.
    for (let block = 0; block < 5; block++) {
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('100') })
      await fixture.chain.mine({ blocks: 1 })
    }
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    await runner.tick()
    const { rows } = await fixture.db.query(
      'select tx_hash, max_fee::text, tip::text from lane_tx_attempt where wallet = $1 and nonce = $2 order by attempt',
      [lane!.wallet, lane!.nonce],
    )
    expect(rows.map((row: { tx_hash: string }) => row.tx_hash)[0]).toBe(txHash)
    expect(rows).toHaveLength(2)
    const [first, second] = rows as { max_fee: string; tip: string }[]
    expect(BigInt(second!.max_fee) * 1000n).toBeGreaterThanOrEqual(BigInt(first!.max_fee) * 1125n)
    expect(BigInt(second!.tip) * 1000n).toBeGreaterThanOrEqual(BigInt(first!.tip) * 1125n)
    await fixture.finalize(runner)
    await paidOnce(queued)
  })

  test('a transaction at the fee cap continues to be sent, and is not given up', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner({ options: { maxFeeWei: parseGwei('40') } })
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('1') })
    await fixture.chain.mine({ blocks: 1 })
    await runner.tick()
    for (let round = 0; round < 8; round++) {
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('200') })
      await fixture.chain.mine({ blocks: 1 })
      await runner.tick()
    }
    expect(await states(queued)).toEqual(['broadcast'])
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('1') })
    await fixture.finalize(runner)
    await paidOnce(queued)
  })
})

describe('gas in a replaced chain', () => {
  /** A replaced chain's changes to blocks that were read before. */

  const fixture = useFixture({ relayers: 1 })

  const repair = () =>
    repairFinality({
      db: fixture.db,
      hooks: fixture.hooks,
      settings: createSettings(fixture),
      dryRun: false,
      say: () => undefined,
    })

  // Between the reversal and its repair the lane booked it, and when the blocks were read again the payout did too.
  test('the gas of a payout that a replaced chain shows in a block that was read before is booked once', async () => {
    const runner = fixture.runner()
    await fixture.finalize(runner)
    await fixture.chain.mine({ blocks: 6 })
    await runner.tick()
    const [payout] = await fixture.queue([{}])
    await runner.tick()
    await runner.tick()
    const { rows } = await fixture.db.query(`select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt`)
    expect(rows).toHaveLength(1)
    await fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    await reorganize(fixture, 6, [(rows[0] as { raw: Hex }).raw])
    await runner.tick().catch(() => undefined)
    await runner.tick().catch(() => undefined)
    expect(await fixture.balance(payout!.recipient)).toBe(payout!.micro)
    await repair()
    await fixture.finalize(runner, 3)
    expect((await fixture.payout(payout!.paymentId)).state).toBe('settled')
    const { rows: shared } = await fixture.db.query(
      `select gas_share is not null as shared from treasury_log where kind = 'out'`,
    )
    expect(shared).toEqual([{ shared: true }])
    expect(fixture.hookCalls.gas).toEqual([])
    expect((await fixture.db.query('select state from lane_tx')).rows).toEqual([{ state: 'finalized' }])
  })
})

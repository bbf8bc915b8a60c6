import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseGwei } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { sql } from '../../../src/db/db.ts'
import { releaseLane } from '../../../src/db/settlement/operator.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { type Fate, startLossyProxy } from '../../support/anvil.ts'
import { startHostileNode } from '../../support/hostile-node.ts'
import { createFixture, type Fixture, newAddress, newKey, type Queued, TOKEN, useFixture } from '../fixture.ts'
import { freeLead } from '../lead.ts'

describe('the nonces of a lane', () => {
  let fixture: Fixture
  let wallet: Hex
  beforeAll(async () => {
    fixture = await createFixture()
    wallet = fixture.relayers[0]!.address.toLowerCase() as Hex
  })
  afterAll(() => fixture.stop())

  async function paidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { recipient, micro } of queued) expect(await fixture.balance(recipient)).toBe(micro)
  }

  /** Sends with the lane’s key without the engine. */
  async function sendAsRelayer(call: { to: Hex; data: Hex; gas: bigint; nonce?: number }): Promise<void> {
    const relayer = fixture.relayers[0]!
    const nonce = call.nonce ?? (await fixture.chain.getTransactionCount({ address: relayer.address }))
    const raw = await relayer.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      to: call.to,
      data: call.data,
      gas: call.gas,
      nonce,
      maxFeePerGas: parseGwei('2000'),
      maxPriorityFeePerGas: parseGwei('1000'),
    })
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
  }

  const lane = async () => {
    const { rows } = await fixture.db.query('select status, next_nonce::int as next from lane')
    return rows[0] as { status: string; next: number }
  }
  const envelopes = async () => {
    const { rows } = await fixture.db.query('select nonce::int, kind, state from lane_tx order by nonce')
    return rows as { nonce: number; kind: string; state: string }[]
  }

  test('a lane has a bounded number of unmined transactions, and sends on as they are mined', async () => {
    const queued = await fixture.queue(Array.from({ length: 250 }, () => ({})))
    const runner = fixture.runner({ options: { maxInFlight: 2 } })
    await runner.tick()
    expect(await envelopes()).toHaveLength(2)
    await runner.tick()
    expect(await envelopes()).toHaveLength(2)
    await fixture.finalize(runner)
    await paidOnce(queued)
    expect(await envelopes()).toHaveLength(3)
  })

  test('only the engine that leads reads the lane’s nonce and balance, once for each new block', async () => {
    const proxies = await Promise.all([1, 2].map(() => startLossyProxy(fixture.anvil.url)))
    const [holder, other] = proxies.map(({ url }) => fixture.runner({ url, options: { leaseMs: 60_000 } }))
    /** The number of such calls of each engine since the last read. */
    const looked = (): number[] =>
      proxies.map(({ calls }) => {
        const methods = calls.splice(0).map(({ method }) => method)
        return methods.filter((method) => ['eth_getTransactionCount', 'eth_getBalance'].includes(method)).length
      })
    try {
      await holder!.tick()
      await other!.tick()
      // The nonces at the final block and at the head, and the balance.
      expect(looked()).toEqual([3, 0])
      await holder!.tick()
      await other!.tick()
      expect(looked()).toEqual([0, 0])
      await fixture.chain.mine({ blocks: 1 })
      const [queued] = await fixture.queue([{}])
      await holder!.tick()
      // No transaction is on its way that a final block could have ended.
      expect(looked()).toEqual([2, 0])
      await fixture.finalize(holder!)
      await paidOnce([queued!])
    } finally {
      await freeLead(fixture.db)
      await Promise.all(proxies.map((proxy) => proxy.close()))
    }
  })

  test('every nonce of the chain has its row', async () => {
    const rows = await envelopes()
    expect(rows.map(({ nonce }) => nonce)).toEqual(rows.map((_row, index) => index))
    expect(await fixture.chain.getTransactionCount({ address: wallet })).toBe(rows.length)
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['finalized']))
  })

  test('a nonce used by somebody else with the key stops the lane until an operator releases it', async () => {
    await sendAsRelayer({ to: newAddress(), data: '0x', gas: 21_000n })
    await fixture.chain.mine({ blocks: 3 })
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await fixture.finalize(runner)
    expect((await lane()).status).toBe('quarantined')
    expect((await envelopes()).at(-1)).toMatchObject({ kind: 'foreign', state: 'foreign' })
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    await releaseLane(fixture.db, { chainId: TOKEN.chainId, wallet })
    await fixture.finalize(runner)
    await paidOnce(queued)
  })

  test('nonces that a lost journal has used are adopted, and the lane continues', async () => {
    const queued = await fixture.queue([{}, {}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    const signed = await readSigned(fixture.db, sql`p.payment_id = ${queued[0]!.paymentId}`, 1)
    const { target, calldata } = multicallCodec.encode(TOKEN.address, signed)
    await sendAsRelayer({ to: target, data: calldata, gas: multicallCodec.gasLimit(1) })
    await fixture.chain.mine({ blocks: 3 })
    await fixture.finalize(fixture.runner())
    expect((await lane()).status).toBe('open')
    await paidOnce(queued)
    expect((await lane()).next).toBe(await fixture.chain.getTransactionCount({ address: wallet }))
  })

  test.each([
    ['is not answered now: nothing is decided, and it is asked again', 'lose_request', 'open'],
    ['is asked too often: the same', { error: { code: -32005, message: 'rate limit exceeded' } }, 'open'],
    [
      'is gone (geth): nobody can say whose it was',
      { error: { code: -32000, message: 'missing trie node 1f' } },
      'quarantined',
    ],
    [
      'is gone (Erigon): the same',
      { error: { code: -32000, message: 'old data not available due to pruning' } },
      'quarantined',
    ],
  ] as const)('a lane reacts to a history of unknown nonces that %s', async (_what, fate, status) => {
    const proxy = await startLossyProxy(fixture.anvil.url)
    try {
      await fixture.finalize(fixture.runner())
      await sendAsRelayer({ to: wallet, data: '0x', gas: 21_000n })
      await fixture.chain.mine({ blocks: 4 })
      const queued = await fixture.queue([{}])
      const before = await lane()
      proxy.decide = ({ method, params }) =>
        method === 'eth_getBlockByNumber' && params[1] === true ? (fate as Fate) : 'deliver'
      const runner = fixture.runner({ url: proxy.url })
      await fixture.finalize(runner, 1)
      const adopted = status === 'open' ? 0 : 1
      expect(await lane()).toEqual({ status, next: before.next + adopted })
      expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
      proxy.decide = () => 'deliver'
      if (status === 'quarantined') await releaseLane(fixture.db, { chainId: TOKEN.chainId, wallet })
      await fixture.finalize(runner)
      expect((await lane()).status).toBe('open')
      await paidOnce(queued)
    } finally {
      await proxy.close()
    }
  })

  test('a nonce that is used but not final yet makes the lane wait', async () => {
    await sendAsRelayer({ to: wallet, data: '0x', gas: 21_000n })
    await fixture.chain.mine({ blocks: 1 })
    const queued = await fixture.queue([{}])
    const before = (await envelopes()).length
    const runner = fixture.runner()
    await runner.tick()
    expect(await envelopes()).toHaveLength(before)
    await fixture.finalize(runner, 3)
    await paidOnce(queued)
  })

  test('a stuck transaction whose payouts have all ended is replaced by an empty one, without a gap', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    const { lane: place } = await fixture.payout(queued[0]!.paymentId)
    // Somebody else carries the authorization while the engine’s transaction is too cheap.
    const signed = await readSigned(fixture.db, sql`p.payment_id = ${queued[0]!.paymentId}`, 1)
    const { target, calldata } = multicallCodec.encode(TOKEN.address, signed)
    const stranger = newAddress()
    await fixture.chain.setBalance({ address: stranger, value: 10n ** 20n })
    await fixture.chain.impersonateAccount({ address: stranger })
    await fixture.chain.sendTransaction({
      account: stranger,
      to: target,
      data: calldata,
      gas: 300_000n,
      maxFeePerGas: parseGwei('900'),
      maxPriorityFeePerGas: parseGwei('900'),
      chain: null,
    })
    for (let block = 0; block < 6; block++) {
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('150') })
      await fixture.chain.mine({ blocks: 1 })
      if (block === 3) await runner.tick()
    }
    expect((await fixture.payout(queued[0]!.paymentId)).state).toBe('settled')
    await runner.tick()
    await fixture.finalize(runner)
    const { rows } = await fixture.db.query(
      'select gas_used::int as gas, gas_price::text as price, state from lane_tx where wallet = $1 and nonce = $2',
      [place!.wallet, place!.nonce],
    )
    expect(rows).toMatchObject([{ gas: 21_000, state: 'finalized' }])
    // No payout has a share of this gas, so it is reported separately; the gas of batches is not reported twice.
    expect(fixture.hookCalls.gas).toContainEqual({
      chainId: TOKEN.chainId,
      ...place,
      wei: 21_000n * BigInt(rows[0].price),
    })
    const unshared =
      await fixture.db.query(`select t.nonce::int from lane_tx t where t.state = 'finalized' and not exists (
    select 1 from treasury_log l join lane_tx_attempt a on a.tx_hash = l.tx_hash
    where (a.chain_id, a.wallet, a.nonce) = (t.chain_id, t.wallet, t.nonce) and l.gas_share is not null) order by t.nonce`)
    expect(fixture.hookCalls.gas.map(({ nonce }) => nonce)).toEqual(unshared.rows.map(({ nonce }) => nonce))
    await paidOnce(queued)
  })

  test('the lowest of several transactions is lost: it is sent again and the ones behind it follow', async () => {
    await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('20') })
    await fixture.chain.mine({ blocks: 1 })
    const queued = await fixture.queue(Array.from({ length: 210 }, () => ({})))
    const runner = fixture.runner()
    await runner.tick()
    const { rows } = await fixture.db.query(
      `select tx_hash from lane_tx_attempt join lane_tx using (chain_id, wallet, nonce)
     where state = 'broadcast' order by nonce`,
    )
    expect(rows).toHaveLength(3)
    await fixture.chain.dropTransaction({ hash: (rows[0] as { tx_hash: Hex }).tx_hash })
    await fixture.chain.mine({ blocks: 1 })
    await paidOnce([])
    await fixture.finalize(runner)
    await paidOnce(queued)
  })

  test('a foreign transaction uses a later nonce: the lane’s payouts before it are paid, and later ones go elsewhere', async () => {
    const { next } = await lane()
    await sendAsRelayer({ to: newAddress(), data: '0x', gas: 21_000n, nonce: next + 1 })
    const queued = await fixture.queue(Array.from({ length: 110 }, () => ({})))
    const runner = fixture.runner()
    await fixture.finalize(runner)
    expect((await lane()).status).toBe('quarantined')
    await releaseLane(fixture.db, { chainId: TOKEN.chainId, wallet })
    await fixture.finalize(runner)
    await paidOnce(queued)
  })
})

describe('The clock of a worker', () => {
  const fixture = useFixture()

  // Each signature of the other one seemed to expire at once: it was queued again, round after round.
  test('a worker whose clock is forty minutes ahead sends what another one signs', async () => {
    const [ahead, right] = [fixture.runner(), fixture.runner({ options: { maxInFlight: 0 } })]
    const now = Date.now()
    const tick = async (runner: typeof ahead, minutes: number): Promise<void> => {
      fixture.clock.now = new Date(now + minutes * 60_000)
      await runner.tick()
    }
    await tick(ahead, 40)
    const [queued] = await fixture.queue([{}])
    await tick(right, 0)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('authorized')
    await tick(ahead, 40)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('broadcast')
    for (let round = 0; round < 2; round++) {
      await fixture.chain.mine({ blocks: 3 })
      await tick(ahead, 40)
    }
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
  })

  test.each([
    ['a year ahead', 365 * 24 * 60, 55],
    ['forty minutes behind', -40, 45],
  ])(
    'a worker whose clock is %s signs for the chain’s time, within the allowed difference of clocks',
    async (_case, minutes, valid) => {
      await fixture.reset()
      fixture.clock.now = new Date(Date.now() + minutes * 60_000)
      const [queued] = await fixture.queue([{}])
      await fixture.runner({ relayers: [] }).tick()
      const { rows } = await fixture.db.query('select valid_before from payout_signature where owner_id = $1', [
        queued!.paymentId,
      ])
      const { timestamp } = await fixture.chain.getBlock()
      expect(Number(rows[0].valid_before) - Number(timestamp)).toBeLessThanOrEqual(valid * 60)
      expect(Number(rows[0].valid_before) - Number(timestamp)).toBeGreaterThan((valid - 1) * 60)
      fixture.clock.now = new Date()
      await fixture.finalize(fixture.runner(), 3)
      expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    },
  )
})

describe('a pause', () => {
  const fixture = useFixture({ relayers: 2 })

  const POL = 10n ** 18n

  /** The last read of a round before it uses the lanes: from then on everything is paused. */
  function pausing(): Rpc {
    const rpc = connectRpc({ urls: [fixture.anvil.url], quorum: 1, chainId: TOKEN.chainId })
    return {
      ...rpc,
      async fees(blocks) {
        const fees = await rpc.fees(blocks)
        await fixture.db.query(`update chain_cursor set paused_reason = 'an unknown transfer'`)
        return fees
      },
    }
  }

  const sent = async (): Promise<number> => (await fixture.db.query('select from lane_tx')).rows.length

  // The round that had begun sent every signed payout.
  test('a pause also stops the round that has begun: it sends neither payouts nor gas money', async () => {
    const funding = { account: createKeyAccount(newKey()), wei: 20n * POL, maxWeiPerDay: 120n * POL }
    await fixture.chain.setBalance({ address: funding.account.address, value: 1000n * POL })
    await fixture.chain.setBalance({ address: fixture.relayers[1]!.address, value: 1n })
    const [queued] = await fixture.queue([{}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    await fixture.runner({ rpc: pausing(), funding }).tick()
    expect(await sent()).toBe(0)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('authorized')
    await fixture.db.query('update chain_cursor set paused_reason = null')
    await fixture.finalize(fixture.runner({ funding }))
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    // One batch and one transfer of gas money.
    expect(await sent()).toBe(2)
  })
})

describe('an envelope that is final and has paid nobody', () => {
  /** Envelopes of the platform that are final and have paid nobody. */

  const fixture = useFixture()

  const list = (functionName: 'blacklist' | 'unBlacklist', recipient: Hex) =>
    asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: [recipient] }))
  const dropPool = () => fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
  const refusals = async ({ paymentId }: Queued): Promise<number> =>
    (await fixture.db.query('select refusals from payout where payment_id = $1', [paymentId])).rows[0].refusals
  const openEnvelopes = async (): Promise<number> =>
    (await fixture.db.query(`select from lane_tx where state in ('reserved', 'signed', 'broadcast')`)).rowCount ?? 0
  const attention = async () =>
    (await fixture.db.query(`select detail from settlement_attention where kind = 'gas'`)).rows as { detail: string }[]

  test('gas that the books refuse leaves no envelope open, is on the attention list, and is booked when possible', async () => {
    const recipient = newAddress()
    const [refused] = await fixture.queue([{ recipient }])
    const onGas = async (): Promise<void> => {
      throw new Error('the books are closed')
    }
    const closed = fixture.runner({ hooks: { onGas } })
    await closed.tick()
    await dropPool()
    await list('blacklist', recipient)
    await fixture.finalize(closed)
    expect(await openEnvelopes()).toBe(0)
    expect(await refusals(refused!)).toBe(1)
    expect(await attention()).toEqual([{ detail: 'the books are closed' }])
    expect(fixture.hookCalls.gas).toEqual([])
    // Others are paid during that time.
    const [other] = await fixture.queue([{}])
    await fixture.finalize(closed)
    expect(await fixture.balance(other!.recipient)).toBe(other!.micro)
    // Half a minute later.
    await fixture.db.query('update lane_tx set gas_retry_at = now() where gas_error is not null')
    await fixture.runner().tick()
    expect(fixture.hookCalls.gas).toHaveLength(1)
    expect(fixture.hookCalls.gas[0]!.wei).toBeGreaterThan(0n)
    expect(await attention()).toEqual([])
    await fixture.runner().tick()
    expect(fixture.hookCalls.gas).toHaveLength(1)
  })

  test('an authorization that has expired on its way does not count as refused by the token', async () => {
    const [queued] = await fixture.queue([{}])
    const runner = fixture.runner()
    for (let times = 0; times < 4; times++) {
      await runner.tick()
      expect((await fixture.payout(queued!.paymentId)).state).toBe('broadcast')
      // It is mined when it is too late, again and again.
      await fixture.chain.increaseTime({ seconds: 46 * 60 })
      await fixture.chain.mine({ blocks: 4 })
      await runner.tick()
    }
    expect(await refusals(queued!)).toBe(0)
    await fixture.finalize(runner, 3)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
  })

  test('an envelope ends after its block was read, also if another worker reads and is behind', async () => {
    const runner = fixture.runner()
    await fixture.finalize(runner)
    const gas = fixture.hookCalls.gas.length
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    expect(await openEnvelopes()).toBe(1)
    await fixture.db.query(`update chain_cursor set owner = 'another', lease_until = now() + interval '1 hour'`)
    await fixture.finalize(runner, 3)
    expect(await openEnvelopes()).toBe(1)
    await fixture.db.query('update chain_cursor set lease_until = now()')
    await fixture.finalize(runner)
    expect(await openEnvelopes()).toBe(0)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    expect(await refusals(queued!)).toBe(0)
    expect(fixture.hookCalls.gas).toHaveLength(gas)
  })
})

describe('A payout that the token refuses in each batch', () => {
  const fixture = useFixture()

  /** The log that Bor adds to each transaction that pays a fee (core/bor_fee_log.go). */
  function addFeeLog(answer: unknown): unknown {
    if (answer === null) return null
    const receipt = answer as Record<string, unknown> & { logs: object[] }
    const { blockNumber, blockHash, transactionHash } = receipt
    const place = { blockNumber, blockHash, transactionHash, logIndex: `0x${receipt.logs.length.toString(16)}` }
    const topics = ['0x4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63']
    const log = { ...place, address: '0x0000000000000000000000000000000000001010', topics, data: '0x' }
    return { ...receipt, logs: [...receipt.logs, log] }
  }

  test('a payout counts as refused although the chain adds its own log to the transaction', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    const list = (functionName: 'blacklist' | 'unBlacklist', who: Hex) =>
      asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: [who] }))
    try {
      node.behave = ({ method }) => (method === 'eth_getTransactionReceipt' ? { lie: addFeeLog } : 'honest')
      const runner = fixture.runner({ url: node.url })
      const [queued] = await fixture.queue([{}])
      await runner.tick()
      await fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
      await list('blacklist', queued!.recipient)
      await runner.tick()
      await fixture.chain.mine({ blocks: 3 })
      await runner.tick()
      const { rows } = await fixture.db.query('select refusals from payout')
      expect(rows).toEqual([{ refusals: 1 }])
    } finally {
      await node.close()
    }
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { releaseLane } from '../../../src/db/settlement/operator.ts'
import { requestVoid, stopPayout } from '../../../src/db/settlement/payouts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type Act, abandon } from '../../../src/operator/payouts.ts'
import { createFixture, createSettings, type Fixture, newAddress, type Queued, TOKEN } from '../fixture.ts'
import { takeLane } from '../lead.ts'

describe('two lanes', () => {
  /** An envelope only carries payouts: another lane carries those that one lane cannot get mined. */

  let fixture: Fixture
  let first: LocalAccount
  let second: LocalAccount
  beforeAll(async () => {
    fixture = await createFixture({ relayers: 2 })
    ;[first, second] = fixture.relayers as [LocalAccount, LocalAccount]
  })
  afterAll(() => fixture.stop())

  const getWallet = (account: LocalAccount): Hex => account.address.toLowerCase() as Hex

  /** Every test begins with two open lanes whose envelopes have all ended. */
  beforeEach(async () => {
    for (const account of fixture.relayers) {
      await fixture.chain.setBalance({ address: account.address, value: 10n ** 22n })
      await releaseLane(fixture.db, { chainId: TOKEN.chainId, wallet: getWallet(account) })
    }
    await fixture.finalize(fixture.runner(), 3)
  })

  async function settledOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect(await fixture.balance(recipient)).toBe(micro)
      expect((await fixture.payout(paymentId)).state).toBe('settled')
      expect(fixture.hookCalls.settled.filter((settlement) => settlement.ownerId === paymentId)).toHaveLength(1)
    }
  }

  const readLane = async ({ paymentId }: Queued) => (await fixture.payout(paymentId)).lane?.wallet ?? null

  /** The newest transaction of the wallet as it was stored. */
  async function storedRaw(account: LocalAccount): Promise<{ hash: Hex; raw: Hex }> {
    const { rows } = await fixture.db.query(
      `select tx_hash as hash, '0x' || encode(raw, 'hex') as raw from lane_tx_attempt where wallet = $1
     order by nonce desc, attempt desc limit 1`,
      [getWallet(account)],
    )
    return rows[0] as { hash: Hex; raw: Hex }
  }

  /** The first lane sends the queue, and every pool forgets it. */
  async function sendAndForget(payouts: Parameters<Fixture['queue']>[0]): Promise<Queued[]> {
    const queued = await fixture.queue(payouts)
    await fixture.runner({ relayers: [first] }).tick()
    expect(await readLane(queued[0]!)).toBe(getWallet(first))
    await fixture.chain.dropTransaction({ hash: (await storedRaw(first)).hash })
    return queued
  }

  /** Writes as if everything above had happened a minute ago. */
  const aMinuteLater = (): Promise<unknown> =>
    fixture.db.query(`update lane_tx set created_at = created_at - interval '1 minute'`)

  const operation = (said: string[] = []): Act => ({
    db: fixture.db,
    settings: createSettings(fixture),
    hooks: fixture.hooks,
    dryRun: false,
    signed: { operator: 'anna', reason: 'a drill' },
    say: (line) => void said.push(line),
  })

  const openJournal = ({ db, hooks }: Fixture) =>
    createSettlementJournal({ db, hooks, scope: { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address } })

  const gasOfEnvelopes = async (account: LocalAccount): Promise<number[]> => {
    const { rows } = await fixture.db.query(
      `select gas_used::int as gas from lane_tx where wallet = $1 and state = 'finalized' order by nonce`,
      [getWallet(account)],
    )
    return rows.map(({ gas }) => gas as number)
  }

  test('payouts of a lane whose key was removed under an unmined envelope are carried by another lane', async () => {
    const queued = await sendAndForget([{}, {}, {}])
    const runner = fixture.runner({ relayers: [second] })
    await runner.tick()
    expect(await readLane(queued[0]!)).toBe(getWallet(first))
    await aMinuteLater()
    await fixture.finalize(fixture.runner({ relayers: [second] }))
    await settledOnce(queued)
  })

  test('two lanes carry one payout and both transactions are mined: the token pays it once', async () => {
    const queued = await sendAndForget([{}, {}])
    const { raw, hash } = await storedRaw(first)
    await aMinuteLater()
    await fixture.runner({ relayers: [second] }).tick()
    expect(await readLane(queued[0]!)).toBe(getWallet(second))
    const other = await storedRaw(second)
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 1 })
    const receipts = await Promise.all(
      [hash, other.hash].map((one) => fixture.chain.getTransactionReceipt({ hash: one })),
    )
    expect(receipts.map(({ status }) => status)).toEqual(['success', 'success'])
    await fixture.chain.mine({ blocks: 3 })
    await fixture.finalize(fixture.runner(), 3)
    await settledOnce(queued)
    // The gas of the envelope that paid nothing is booked separately; its payouts do not count as refused.
    const paid = await fixture.payout(queued[0]!.paymentId)
    const idle = receipts.find(({ transactionHash }) => transactionHash !== paid.txHash)!
    expect(fixture.hookCalls.gas.map(({ wei }) => wei)).toContain(idle.gasUsed * idle.effectiveGasPrice)
    const { rows } = await fixture.db.query(`select 1 from payout where refusals > 0`)
    expect(rows).toEqual([])
  })

  test('a quarantined lane strands nothing: 210 payouts in three envelopes all go out by the other lane', async () => {
    const queued = await fixture.queue(Array.from({ length: 210 }, () => ({})))
    await fixture.runner({ relayers: [first] }).tick()
    const { rows } = await fixture.db.query(
      `select nonce::int, tx_hash as hash from lane_tx_attempt join lane_tx using (chain_id, wallet, nonce)
     where wallet = $1 and state = 'broadcast' order by nonce`,
      [getWallet(first)],
    )
    const [lowest] = rows as { nonce: number; hash: Hex }[]
    expect(rows).toHaveLength(3)
    for (const { hash } of rows as { hash: Hex }[]) await fixture.chain.dropTransaction({ hash })
    // Somebody else has the key of the lane.
    const raw = await first.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      to: newAddress(),
      value: 1n,
      gas: 21_000n,
      nonce: lowest!.nonce,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 4 })
    await fixture.finalize(fixture.runner(), 3)
    const lanes = await fixture.db.query('select status from lane where wallet = $1', [getWallet(first)])
    expect(lanes.rows).toEqual([{ status: 'quarantined' }])
    await settledOnce(queued)
  })

  describe('A lane whose lowest nonce is not mined', () => {
    test('a blocked lane gives its payouts to another lane if no node accepts its transactions', async () => {
      const queued = await sendAndForget([{}])
      await fixture.chain.setBalance({ address: first.address, value: 0n })
      await aMinuteLater()
      await fixture.chain.mine({ blocks: 13 })
      await fixture.finalize(fixture.runner(), 3)
      await settledOnce(queued)
    })

    test('a blocked lane gives its payouts to another lane if its key refuses to sign', async () => {
      const refusing: LocalAccount = {
        ...first,
        signTransaction: () => Promise.reject(new Error('the key service says no')),
      }
      const queued = await fixture.queue([{}])
      await fixture.runner({ relayers: [refusing] }).tick()
      expect(await readLane(queued[0]!)).toBe(getWallet(first))
      await aMinuteLater()
      await fixture.chain.mine({ blocks: 13 })
      await fixture.finalize(fixture.runner({ relayers: [refusing, second] }), 3)
      await settledOnce(queued)
    })

    test('a lane keeps its payouts while the chain stalls', async () => {
      const queued = await sendAndForget([{}])
      await aMinuteLater()
      await fixture.runner().tick()
      expect(await readLane(queued[0]!)).toBe(getWallet(first))
      await fixture.finalize(fixture.runner(), 3)
      await settledOnce(queued)
    })

    test('a blocked lane keeps its payouts if there is no other lane, and pays them when it continues', async () => {
      const queued = await sendAndForget([{}])
      await fixture.chain.setBalance({ address: first.address, value: 0n })
      await aMinuteLater()
      await fixture.chain.mine({ blocks: 13 })
      await fixture.runner({ relayers: [first] }).tick()
      expect(await readLane(queued[0]!)).toBe(getWallet(first))
      await fixture.chain.setBalance({ address: first.address, value: 10n ** 22n })
      await fixture.finalize(fixture.runner({ relayers: [first] }), 3)
      await settledOnce(queued)
    })

    test('a blocked lane uses its nonce up with an empty transfer if another lane carries its payouts', async () => {
      const queued = await sendAndForget([{}])
      await fixture.chain.setBalance({ address: first.address, value: 0n })
      await aMinuteLater()
      await fixture.chain.mine({ blocks: 13 })
      await fixture.runner().tick()
      expect(await readLane(queued[0]!)).toBe(getWallet(second))
      await fixture.chain.mine({ blocks: 5 })
      await fixture.chain.setBalance({ address: first.address, value: 10n ** 22n })
      await fixture.finalize(fixture.runner(), 4)
      await settledOnce(queued)
      expect((await gasOfEnvelopes(first)).at(-1)).toBe(21_000)
    })
  })

  describe('A lane that an operator abandons', () => {
    test('an abandoned lane sends nothing more, and another lane carries its payouts at once', async () => {
      const said: string[] = []
      const queued = await sendAndForget([{}, {}])
      expect(await abandon(operation(said), getWallet(first))).toBe(0)
      expect(said).toEqual([expect.stringContaining('take over 2 payouts')])
      await fixture.runner({ relayers: [first] }).tick()
      expect(await readLane(queued[0]!)).toBeNull()
      await fixture.finalize(fixture.runner())
      await settledOnce(queued)
    })

    test('an abandoned lane uses no nonce any more, also in a round that began before', async () => {
      const journal = openJournal(fixture)
      const queued = await fixture.queue([{}])
      await fixture.runner({ options: { maxInFlight: 0 } }).tick()
      const lane = await takeLane(journal, { owner: 'before', leaseMs: 0, wallet: getWallet(first) })
      await abandon(operation(), getWallet(first))
      const encode = () => ({ target: getWallet(first), calldata: '0x' as const, gasLimit: 1n })
      expect(
        await journal.reserve(lane, { payouts: await journal.readAssignable({ limit: 10, resting: [] }), encode }),
      ).toBeNull()
      await fixture.finalize(fixture.runner())
      await settledOnce(queued)
    })

    test('a lane must exist to be abandoned', async () => {
      expect(await abandon(operation(), newAddress())).toBe(1)
    })
  })

  describe('A void and its lane', () => {
    const voidPayout = ({ paymentId }: Queued) => fixture.db.transaction((tx) => requestVoid(tx, paymentId))

    test('a void does not wait for the lane that carries the transfer: another one cancels it, and the transfer fails', async () => {
      const [queued] = await sendAndForget([{}])
      const { raw, hash } = await storedRaw(first)
      expect(await voidPayout(queued!)).toBe(true)
      await fixture.finalize(fixture.runner({ relayers: [second] }))
      expect((await fixture.payout(queued!.paymentId)).state).toBe('voided')
      await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
      await fixture.chain.mine({ blocks: 4 })
      expect((await fixture.chain.getTransactionReceipt({ hash })).status).toBe('success')
      expect(await fixture.balance(queued!.recipient)).toBe(0n)
      await fixture.finalize(fixture.runner())
      expect((await fixture.payout(queued!.paymentId)).state).toBe('voided')
    })

    test('a void ends a payout that is queued, signed, stopped or in an envelope: none of them is paid', async () => {
      const inEnvelope = await sendAndForget([{}])
      const signed = await fixture.queue([{}])
      await fixture.runner({ relayers: [second], options: { maxInFlight: 0 } }).tick()
      const [queued, held] = await fixture.queue([{}, {}])
      await fixture.db.transaction((tx) => stopPayout(tx, held!.paymentId, 'wait'))
      const all = [...inEnvelope, ...signed, queued!, held!]
      const states = await Promise.all(all.map(async ({ paymentId }) => (await fixture.payout(paymentId)).state))
      expect(states).toEqual(['broadcast', 'authorized', 'queued', 'stopped'])
      for (const payout of all) expect(await voidPayout(payout)).toBe(true)
      await fixture.finalize(fixture.runner({ relayers: [second] }), 3)
      for (const { paymentId, recipient } of all) {
        expect((await fixture.payout(paymentId)).state).toBe('voided')
        expect(await fixture.balance(recipient)).toBe(0n)
      }
    })

    test('a void is carried by another lane if its own envelope is not mined', async () => {
      const [queued] = await fixture.queue([{}])
      expect(await voidPayout(queued!)).toBe(true)
      await fixture.runner({ relayers: [first] }).tick()
      await fixture.chain.dropTransaction({ hash: (await storedRaw(first)).hash })
      await aMinuteLater()
      await fixture.finalize(fixture.runner({ relayers: [second] }))
      expect((await fixture.payout(queued!.paymentId)).state).toBe('voided')
    })

    test('a void keeps the amount of the transfer on its way reserved, so that it is not promised to others', async () => {
      const [queued] = await sendAndForget([{}])
      await voidPayout(queued!)
      const journal = openJournal(fixture)
      const reserved = await journal.readReserved(fixture.treasury.address.toLowerCase() as Hex, 0)
      expect(reserved.micro).toBe(queued!.micro)
      await fixture.finalize(fixture.runner({ relayers: [second] }))
    })
  })

  test('a payout cannot be stopped while a lane that lost it may still get its transfer mined', async () => {
    const [queued] = await sendAndForget([{}])
    await abandon(operation(), getWallet(first))
    const { state, lane } = await fixture.payout(queued!.paymentId)
    expect({ state, lane }).toEqual({ state: 'authorized', lane: null })
    expect(await fixture.db.transaction((tx) => stopPayout(tx, queued!.paymentId, 'wait'))).toBe(false)
    await fixture.finalize(fixture.runner({ relayers: [second] }))
    await settledOnce([queued!])
  })
})

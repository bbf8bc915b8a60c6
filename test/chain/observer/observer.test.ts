import { afterEach, describe, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { sql } from '../../../src/db/db.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { listSettlementAttention } from '../../../src/db/settlement/observer/standing.ts'
import { acknowledgeTransfers } from '../../../src/db/settlement/operator.ts'
import { requestVoid } from '../../../src/db/settlement/payouts.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import { readTreasuryList } from '../../../src/db/settlement/signing/treasuries.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Payout, SignedPayout } from '../../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import {
  type Fixture,
  insertPayments,
  newAddress,
  newKey,
  type Queued,
  queueAll,
  TOKEN,
  useFixture,
} from '../fixture.ts'
import { listAfterWords, passRests } from '../rotation-fixture.ts'

const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }

async function send({ chain }: Fixture, from: LocalAccount, call: { to: Hex; data: Hex }): Promise<Hex> {
  await chain.setBalance({ address: from.address, value: parseEther('100') })
  const raw = await from.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: await chain.getTransactionCount({ address: from.address }),
    ...call,
    gas: 300_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  return chain.sendRawTransaction({ serializedTransaction: raw })
}

/** A transfer that the treasury's key signed for a payment, carried by a stranger. */
async function carryForPayment(fixture: Fixture, payment: { paymentId: string; recipient: Hex; micro?: bigint }) {
  const { paymentId, recipient, micro = 4000n } = payment
  const treasury = fixture.treasury.address.toLowerCase() as Hex
  const place = { chainId: TOKEN.chainId, token: TOKEN.address, treasury, ownerId: paymentId }
  const payout: Payout = {
    ...place,
    livemode: false,
    recipient,
    microUsdc: micro.toString(),
    authNonce: payoutNonce(place),
    state: 'queued',
    stopReason: null,
    refusals: 0,
    createdAt: new Date(),
  }
  const signed = await createTreasurySigner(fixture.treasury, policy).signTransfer(payout, 4_000_000_000)
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...payout, signed }])
  return send(fixture, privateKeyToAccount(newKey()), { to: target, data: calldata })
}

describe('the watch of the treasury', () => {
  const fixture = useFixture()

  const state = async (paymentId: string) => (await fixture.payout(paymentId)).state

  test('a transfer of a payment whose payout a restored backup has forgotten stops nothing, and settles it later', async () => {
    const payment = { paymentId: 'pay_forgotten', recipient: newAddress() }
    await insertPayments(fixture.db, [payment])
    await carryForPayment(fixture, payment)
    const runner = fixture.runner()
    await fixture.finalize(runner)
    const [next] = await fixture.queue([{}])
    await fixture.finalize(runner)
    expect(await state(next!.paymentId)).toBe('settled')
    await queueAll(fixture, [{ ...payment, micro: 4000n }])
    await fixture.finalize(runner)
    expect(await state(payment.paymentId)).toBe('settled')
    expect(await fixture.balance(payment.recipient)).toBe(4000n)
  })

  test('a transfer of a payment that has ended since is settled automatically, and reported to the payment', async () => {
    const payment = { paymentId: 'pay_ended_since', recipient: newAddress() }
    await insertPayments(fixture.db, [payment])
    await carryForPayment(fixture, payment)
    await fixture.finalize(fixture.runner())
    const payouts = async () =>
      (await fixture.db.query('select state from payout where payment_id = $1', [payment.paymentId])).rows
    expect(await payouts()).toEqual([])
    await fixture.db.query(`update payment set status = 'refunded', net_micro = 4000 where id = $1`, [
      payment.paymentId,
    ])
    // Another engine reads at once; the same one reads once a minute.
    await fixture.finalize(fixture.runner())
    expect(await payouts()).toEqual([{ state: 'settled' }])
    expect(fixture.hookCalls.settled.filter(({ ownerId }) => ownerId === payment.paymentId)).toHaveLength(1)
  })

  test('an unknown transfer out of the treasury pauses every lane', async () => {
    const runner = fixture.runner()
    await fixture.finalize(runner)
    const thief = newAddress()
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [thief, 123n] })
    const hash = await send(fixture, fixture.treasury, { to: TOKEN.address, data })
    await fixture.chain.mine({ blocks: 5 })
    await runner.tick()
    const queued = await fixture.queue([{}])
    await runner.tick()
    await runner.tick()
    expect(await state(queued[0]!.paymentId)).toBe('queued')
    const { rows } = await fixture.db.query('select paused_reason from chain_cursor')
    expect(rows[0]).toEqual({ paused_reason: expect.stringContaining(hash) })
    expect(fixture.hookCalls.movements.at(-1)).toMatchObject({ direction: 'out', micro: '123', counterparty: thief })
    // Another transaction changes nothing; an operator who has acknowledged this one releases the lanes.
    const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
    expect(await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, `0x${'0'.repeat(64)}`))).toBe(1)
    expect(await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    await fixture.finalize(runner)
    expect(await state(queued[0]!.paymentId)).toBe('settled')
  })

  test('an unknown transfer that is final before it was read pauses every lane too', async () => {
    const runner = fixture.runner()
    await fixture.finalize(runner)
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [newAddress(), 5n] })
    const hash = await send(fixture, fixture.treasury, { to: TOKEN.address, data })
    await fixture.chain.mine({ blocks: 5 })
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    expect(await state(queued!.paymentId)).toBe('queued')
    const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
    expect(await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    await fixture.finalize(runner)
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a treasury signs up to a limit in 24 hours; the rest waits and nothing is lost', async () => {
    const { rows } = await fixture.db.query(
      'select sum(micro_usdc)::text as micro from treasury_hour where treasury = $1',
      [fixture.treasury.address.toLowerCase()],
    )
    const spent = BigInt((rows[0] as { micro: string }).micro)
    fixture.clock.now = new Date(Date.now() + 1000)
    const queued = await fixture.queue([{ micro: 3_000_000n }, { micro: 3_000_000n }])
    await fixture.finalize(fixture.runner({ options: { maxMicroPerDay: spent + 5_000_000n } }))
    expect(await state(queued[0]!.paymentId)).toBe('settled')
    expect(await fixture.payout(queued[1]!.paymentId)).toMatchObject({ state: 'stopped', stopReason: 'limit' })
    await fixture.finalize(fixture.runner())
    expect(await state(queued[1]!.paymentId)).toBe('settled')
  })

  test('the limit of 24 hours is enforced when signatures are stored, whichever engine computed the remaining amount', async () => {
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
    const [queued] = await fixture.queue([{ micro: 3_000_000n }])
    const treasury = fixture.treasury.address.toLowerCase() as Hex
    const signature = { kind: 'transfer', validBefore: 4_000_000_000, signature: `0x${'1b'.repeat(65)}` } as const
    const store = (maxMicroPerDay: bigint) =>
      journal.storeSignatures([{ ownerId: queued!.paymentId, treasury, signature }], { maxMicroPerDay })
    await expect(store(2_999_999n)).rejects.toThrow('within 24 hours')
    expect(await state(queued!.paymentId)).toBe('queued')
    expect(
      (await fixture.db.query('select from payout_signature where owner_id = $1', [queued!.paymentId])).rowCount,
    ).toBe(0)
    await fixture.finalize(fixture.runner())
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a payout of a treasury whose key is missing is voided when no signature of it can be used any more, and not before', async () => {
    const successor = createTreasurySigner(privateKeyToAccount(newKey()), policy)
    const [signed, paid] = await fixture.queue([{}, {}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    const { rows } = await fixture.db.query('select valid_before from payout_signature where owner_id = $1', [
      signed!.paymentId,
    ])
    expect(rows).toHaveLength(1)
    for (const { paymentId } of [signed!, paid!]) await fixture.db.transaction((tx) => requestVoid(tx, paymentId))
    const treasuryList = listAfterWords(fixture.treasury, successor)
    const runner = fixture.runner({ treasuries: [successor], treasuryList })
    await fixture.finalize(runner)
    expect(await state(signed!.paymentId)).toBe('voiding')
    await carryForPayment(fixture, paid!)
    await fixture.finalize(runner)
    expect(await state(paid!.paymentId)).toBe('settled')
    await fixture.chain.increaseTime({ seconds: 56 * 60 })
    await fixture.chain.mine({ blocks: 4 })
    await passRests(fixture.db, 56)
    await fixture.finalize(runner)
    expect(await state(signed!.paymentId)).toBe('voided')
    expect(fixture.hookCalls.voided.at(-1)).toMatchObject({ kind: 'expired', ownerId: signed!.paymentId })
    expect(await fixture.balance(signed!.recipient)).toBe(0n)
  })

  const listWith = async (successor: { readonly address: string }) =>
    listAfterWords(...(await readTreasuryList(fixture.db, { chainId: TOKEN.chainId, token: TOKEN.address })), successor)

  test('a nonce that is used on chain is never voided by expiry, also if its log was not read', async () => {
    const successor = createTreasurySigner(privateKeyToAccount(newKey()), policy)
    const [queued] = await fixture.queue([{}])
    await fixture.db.transaction((tx) => requestVoid(tx, queued!.paymentId))
    await carryForPayment(fixture, queued!)
    await fixture.chain.mine({ blocks: 5 })
    // A cursor that was set by hand to a block after the transfer.
    const final = await fixture.chain.getBlock({ blockTag: 'finalized' })
    await fixture.db.query(
      'update chain_cursor set scanned_number = $1, scanned_hash = $2, first_number = $1, logs_number = $1',
      [final.number, final.hash],
    )
    await fixture.chain.increaseTime({ seconds: 2 * 3600 })
    const treasuryList = await listWith(successor)
    await fixture.finalize(fixture.runner({ treasuries: [successor], treasuryList }))
    expect(await state(queued!.paymentId)).toBe('voiding')
    await fixture.db.query(
      'update chain_cursor set scanned_number = 0, first_number = 0, logs_number = 0, scanned_hash = $1',
      [(await fixture.chain.getBlock({ blockNumber: 0n })).hash],
    )
    await fixture.finalize(fixture.runner({ treasuryList }))
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('an amount that left the treasury without a payout is missing from the books, once', async () => {
    const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
    const out = fixture.hookCalls.movements.find(({ direction }) => direction === 'out')!
    for (let time = 0; time < 2; time++) await fixture.db.transaction((tx) => hooks.onTreasuryMovement(tx, out))
    expect(await readBalances(fixture.db)).toEqual([
      { account: 'suspense', asset: 'USDC', amount: out.micro },
      { account: 'treasury', asset: 'USDC', amount: `-${out.micro}` },
    ])
  })

  test('over the limit no new payout is paid, but signed ones continue, signed again if needed, and voids are possible', async () => {
    const [open, voided, fresh] = await fixture.queue([{}, {}, {}])
    await fixture.db.query(`update payout set state = 'stopped', stop_reason = 'operator' where payment_id = $1`, [
      fresh!.paymentId,
    ])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    await fixture.db.query(`update payout set state = 'queued', stop_reason = null where payment_id = $1`, [
      fresh!.paymentId,
    ])
    await fixture.db.transaction((tx) => requestVoid(tx, voided!.paymentId))
    fixture.clock.now = new Date(Date.now() + 1000)
    // The signature expires, so the payout needs another one.
    await fixture.chain.increaseTime({ seconds: 56 * 60 })
    await fixture.chain.mine({ blocks: 1 })
    await fixture.finalize(fixture.runner({ options: { maxMicroPerDay: 1n } }), 5)
    expect(await state(open!.paymentId)).toBe('settled')
    expect(await state(voided!.paymentId)).toBe('voided')
    expect(await state(fresh!.paymentId)).toBe('stopped')
    await fixture.finalize(fixture.runner())
    expect(await state(fresh!.paymentId)).toBe('settled')
  })

  test('a transfer of USDC between treasuries of the platform is no theft', async () => {
    const successor = privateKeyToAccount(newKey())
    const treasuries = [createTreasurySigner(successor, policy), createTreasurySigner(fixture.treasury, policy)]
    const args = [successor.address, 5_000_000n] as const
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args })
    await send(fixture, fixture.treasury, { to: TOKEN.address, data })
    await fixture.chain.mine({ blocks: 4 })
    await fixture.finalize(fixture.runner({ treasuries, treasuryList: await listWith(successor) }))
    expect((await fixture.db.query('select paused_reason from chain_cursor')).rows).toEqual([{ paused_reason: null }])
  })
})

describe('transfers that strangers and thieves make', () => {
  const fixture = useFixture()

  const erc20 = parseAbi([
    'function transfer(address to, uint256 value) returns (bool)',
    'function transferFrom(address from, address to, uint256 value) returns (bool)',
  ])
  const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
  const treasury = (): Hex => fixture.treasury.address.toLowerCase() as Hex
  const cursor = async () =>
    (await fixture.db.query('select scanned_number::int as number, paused_reason as paused from chain_cursor'))
      .rows[0] as {
      number: number
      paused: string | null
    }
  const attention = async () => listSettlementAttention(fixture.db)

  async function expectPaidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect((await fixture.payout(paymentId)).state).toBe('settled')
      expect(await fixture.balance(recipient)).toBe(micro)
    }
  }

  const stranger = (): LocalAccount => privateKeyToAccount(newKey())

  describe('a stranger moves nothing', () => {
    test.each<[string, () => Hex]>([
      [
        'to the treasury',
        () => encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [fixture.treasury.address, 0n] }),
      ],
      [
        'out of the treasury, for which the token asks nobody',
        () =>
          encodeFunctionData({
            abi: erc20,
            functionName: 'transferFrom',
            args: [fixture.treasury.address, newAddress(), 0n],
          }),
      ],
      [
        'from the treasury to the treasury',
        () =>
          encodeFunctionData({
            abi: erc20,
            functionName: 'transferFrom',
            args: [fixture.treasury.address, fixture.treasury.address, 0n],
          }),
      ],
    ])(
      'a stranger’s log stops nothing: %s: the cursor continues, nothing pauses, nothing is booked',
      async (_case, data) => {
        const runner = fixture.runner({ hooks: { onTreasuryMovement: refusesNothing } })
        await send(fixture, stranger(), { to: TOKEN.address, data: data() })
        await fixture.chain.mine({ blocks: 1 })
        const at = Number(await fixture.chain.getBlockNumber())
        const queued = await fixture.queue([{}])
        await fixture.finalize(runner)
        await runner.tick()
        expect((await cursor()).number).toBeGreaterThanOrEqual(at)
        expect((await cursor()).paused).toBeNull()
        await expectPaidOnce(queued)
        expect(fixture.hookCalls.movements.filter(({ micro }) => micro === '0')).toEqual([])
      },
    )

    /** As in the ledger: an entry of zero is refused. */
    async function refusesNothing(_tx: unknown, { micro }: { micro: string }): Promise<void> {
      if (micro === '0') throw new Error('a ledger entry of nothing')
    }
  })

  describe('a log that cannot be applied', () => {
    test('a log that cannot be applied is stored with the cursor, tried again, on the attention list until then, and delays nothing', async () => {
      let failing = true
      const recorded: string[] = []
      const runner = fixture.runner({
        hooks: {
          onTreasuryMovement: async (_tx, { micro }) => {
            if (failing && micro === '4242') throw new Error('the books are closed')
            recorded.push(micro)
          },
        },
      })
      await mintUsdc(fixture.chain, { to: treasury(), micro: 4242n })
      await mintUsdc(fixture.chain, { to: treasury(), micro: 4343n })
      const queued = await fixture.queue([{}])
      await fixture.finalize(runner)
      await expectPaidOnce(queued)
      expect(recorded).toContain('4343')
      expect(await attention()).toEqual([
        expect.objectContaining({ kind: 'treasury_log', detail: 'the books are closed' }),
      ])
      failing = false
      await fixture.db.query('update treasury_log set hook_retry_at = now() where applied_at is null')
      await runner.tick()
      expect(recorded.filter((micro) => micro === '4242')).toHaveLength(1)
      expect(await attention()).toEqual([])
      await runner.tick()
      expect(recorded.filter((micro) => micro === '4242')).toHaveLength(1)
    })
  })

  describe('the nonce of a payment that is not paid yet', () => {
    afterEach(async () => {
      const { rows } = await fixture.db.query('select tx_hash from treasury_log where known_as is null')
      for (const { tx_hash: hash } of rows) await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))
    })

    test('a nonce that a thief uses for another address pauses everything', async () => {
      const payment = { paymentId: 'pay_stolen', recipient: newAddress() }
      await insertPayments(fixture.db, [payment])
      const hash = await carryForPayment(fixture, { ...payment, recipient: newAddress(), micro: 5_000_000n })
      await fixture.chain.mine({ blocks: 4 })
      await fixture.runner().tick()
      expect((await cursor()).paused).toContain(hash)
    })

    test('a nonce used for another amount than the converted payment has pauses everything', async () => {
      const payment = { paymentId: 'pay_too_much', recipient: newAddress() }
      await insertPayments(fixture.db, [payment])
      await fixture.db.query('update payment set gross_micro = 100, fee_micro = 4, net_micro = 96 where id = $1', [
        payment.paymentId,
      ])
      await carryForPayment(fixture, { ...payment, micro: 97n })
      await fixture.chain.mine({ blocks: 4 })
      await fixture.runner().tick()
      expect((await cursor()).paused).toContain('0.000097 USDC')
    })

    test('a nonce used with the payment’s values stops nothing, and is listed until its payment claims it', async () => {
      const payment = { paymentId: 'pay_as_agreed', recipient: newAddress() }
      await insertPayments(fixture.db, [payment])
      await carryForPayment(fixture, { ...payment, micro: 96n })
      await fixture.chain.mine({ blocks: 4 })
      const runner = fixture.runner()
      await runner.tick()
      expect((await cursor()).paused).toBeNull()
      expect(await attention()).toEqual([expect.objectContaining({ kind: 'unclaimed_transfer' })])
      await queueAll(fixture, [{ ...payment, micro: 96n }])
      await fixture.finalize(runner)
      expect(await attention()).toEqual([])
    })
  })

  describe('a pause by an unknown transfer', () => {
    const theft = async (): Promise<Hex> =>
      send(fixture, fixture.treasury, {
        to: TOKEN.address,
        data: encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [newAddress(), 321n] }),
      })

    test('a pause by an unknown transfer stays until an operator acknowledges the transfer', async () => {
      const runner = fixture.runner()
      await fixture.finalize(runner)
      const hash = await theft()
      await fixture.chain.mine({ blocks: 1 })
      await runner.tick()
      for (let round = 0; round < 4; round++) {
        await fixture.chain.mine({ blocks: 3 })
        await runner.tick()
        expect((await cursor()).paused).toContain(hash)
      }
      expect(await attention()).toEqual([
        expect.objectContaining({ kind: 'paused' }),
        expect.objectContaining({ kind: 'unknown_transfer' }),
      ])
      expect(await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    })
  })
})

describe('the proof of a payout', () => {
  /**
   * A transfer with the nonce of a payment proves its payout only if it went to the recipient, with the amount. A thief
   * with the key of the treasury can make others; the token then refuses the engine's.
   */

  const fixture = useFixture()

  const signer = () =>
    createTreasurySigner(fixture.treasury, { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n })

  async function signedPayout({ paymentId }: Queued): Promise<SignedPayout> {
    const [payout] = await readSigned(fixture.db, sql`p.payment_id = ${paymentId}`, 1)
    if (payout === undefined) throw new Error(`${paymentId} is not signed`)
    return payout
  }

  /** The treasury's key signs the payout with these changes, and a stranger carries it to the chain. */
  async function carryChanged(payout: SignedPayout, changes: Partial<SignedPayout>): Promise<Hex> {
    const changed = { ...payout, ...changes }
    const signed = await signer().signTransfer(changed, 4_000_000_000)
    const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...changed, signed }])
    const stranger = privateKeyToAccount(newKey())
    await fixture.chain.setBalance({ address: stranger.address, value: parseEther('100') })
    const raw = await stranger.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      nonce: 0,
      to: target,
      data: calldata,
      gas: 500_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    return fixture.chain.sendRawTransaction({ serializedTransaction: raw })
  }

  const thief = newAddress()
  test.each<[string, (payout: SignedPayout) => Partial<SignedPayout>, bigint]>([
    ['to another recipient', () => ({ recipient: thief }), 0n],
    ['of less than was owed', ({ microUsdc }) => ({ microUsdc: (BigInt(microUsdc) - 1n).toString() }), -1n],
    ['of more than was owed', ({ microUsdc }) => ({ microUsdc: (BigInt(microUsdc) + 1n).toString() }), 1n],
  ])(
    'a final transfer with the nonce of the payment %s settles nothing and stops every lane',
    async (_how, change, more) => {
      const [queued] = await fixture.queue([{}])
      await fixture.runner({ options: { maxInFlight: 0 } }).tick()
      const payout = await signedPayout(queued!)
      const settled = fixture.hookCalls.settled.length
      const hash = await carryChanged(payout, change(payout))
      await fixture.chain.mine({ blocks: 5 })
      const runner = fixture.runner({ options: { maxInFlight: 0 } })
      for (let round = 0; round < 3; round++) await runner.tick()

      expect((await fixture.payout(queued!.paymentId)).state).not.toBe('settled')
      expect(fixture.hookCalls.settled).toHaveLength(settled)
      const { rows } = await fixture.db.query('select paused_reason from chain_cursor')
      expect(rows).toEqual([{ paused_reason: expect.stringContaining(hash) }])
      expect(fixture.hookCalls.movements.at(-1)).toMatchObject({ direction: 'out', txHash: hash })
      const received = await fixture.balance(queued!.recipient)
      expect(received).toBe(_how === 'to another recipient' ? 0n : queued!.micro + more)

      // The operator has acknowledged it: new payouts are paid, this one still counts as unpaid.
      const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
      expect(await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
      const [next] = await fixture.queue([{}])
      await fixture.finalize(fixture.runner(), 3)
      expect((await fixture.payout(next!.paymentId)).state).toBe('settled')
      expect((await fixture.payout(queued!.paymentId)).state).not.toBe('settled')
      expect(await fixture.balance(queued!.recipient)).toBe(received)
    },
  )
})

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
import { listAfterWords, passRests } from '../rotation-world.ts'
import { insertPayments, newAddress, newKey, type Queued, queueAll, TOKEN, useWorld, type World } from '../world.ts'

const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }

async function send({ chain }: World, from: LocalAccount, call: { to: Hex; data: Hex }): Promise<Hex> {
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
async function carryForPayment(world: World, payment: { paymentId: string; recipient: Hex; micro?: bigint }) {
  const { paymentId, recipient, micro = 4000n } = payment
  const treasury = world.treasury.address.toLowerCase() as Hex
  const place = { chainId: TOKEN.chainId, token: TOKEN.address, treasury, paymentId }
  const payout: Payout = {
    ...place,
    livemode: false,
    recipient,
    microUsdc: micro.toString(),
    authNonce: payoutNonce(place),
    state: 'queued',
    holdReason: null,
    refusals: 0,
    createdAt: new Date(),
  }
  const signed = await createTreasurySigner(world.treasury, policy).signTransfer(payout, 4_000_000_000)
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...payout, signed }])
  return send(world, privateKeyToAccount(newKey()), { to: target, data: calldata })
}

describe('the watch of the treasury', () => {
  const world = useWorld()

  const state = async (paymentId: string) => (await world.payout(paymentId)).state

  test('a transfer of a payment whose payout a restored backup has forgotten stops nothing, and settles it later', async () => {
    const payment = { paymentId: 'pay_forgotten', recipient: newAddress() }
    await insertPayments(world.db, [payment])
    await carryForPayment(world, payment)
    const runner = world.runner()
    await world.finalize(runner)
    const [next] = await world.queue([{}])
    await world.finalize(runner)
    expect(await state(next!.paymentId)).toBe('settled')
    await queueAll(world, [{ ...payment, micro: 4000n }])
    await world.finalize(runner)
    expect(await state(payment.paymentId)).toBe('settled')
    expect(await world.balance(payment.recipient)).toBe(4000n)
  })

  test('a transfer of a payment that has ended since is settled automatically, and reported to the payment', async () => {
    const payment = { paymentId: 'pay_ended_since', recipient: newAddress() }
    await insertPayments(world.db, [payment])
    await carryForPayment(world, payment)
    await world.finalize(world.runner())
    const payouts = async () =>
      (await world.db.query('select state from payout where payment_id = $1', [payment.paymentId])).rows
    expect(await payouts()).toEqual([])
    await world.db.query(`update payment set status = 'refunded', net_micro = 4000 where id = $1`, [payment.paymentId])
    // Another engine reads at once; the same one reads once a minute.
    await world.finalize(world.runner())
    expect(await payouts()).toEqual([{ state: 'settled' }])
    expect(world.heard.settled.filter(({ paymentId }) => paymentId === payment.paymentId)).toHaveLength(1)
  })

  test('an unknown transfer out of the treasury pauses every lane', async () => {
    const runner = world.runner()
    await world.finalize(runner)
    const thief = newAddress()
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [thief, 123n] })
    const hash = await send(world, world.treasury, { to: TOKEN.address, data })
    await world.chain.mine({ blocks: 5 })
    await runner.tick()
    const queued = await world.queue([{}])
    await runner.tick()
    await runner.tick()
    expect(await state(queued[0]!.paymentId)).toBe('queued')
    const { rows } = await world.db.query('select paused_reason from chain_cursor')
    expect(rows[0]).toEqual({ paused_reason: expect.stringContaining(hash) })
    expect(world.heard.movements.at(-1)).toMatchObject({ direction: 'out', micro: '123', counterparty: thief })
    // Another transaction changes nothing; an operator who has acknowledged this one releases the lanes.
    const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
    expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, `0x${'0'.repeat(64)}`))).toBe(1)
    expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    await world.finalize(runner)
    expect(await state(queued[0]!.paymentId)).toBe('settled')
  })

  test('an unknown transfer that is final before it was read pauses every lane too', async () => {
    const runner = world.runner()
    await world.finalize(runner)
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [newAddress(), 5n] })
    const hash = await send(world, world.treasury, { to: TOKEN.address, data })
    await world.chain.mine({ blocks: 5 })
    const [queued] = await world.queue([{}])
    await runner.tick()
    expect(await state(queued!.paymentId)).toBe('queued')
    const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
    expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    await world.finalize(runner)
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a treasury signs up to a limit in 24 hours; the rest waits and nothing is lost', async () => {
    const { rows } = await world.db.query(
      'select sum(micro_usdc)::text as micro from treasury_hour where treasury = $1',
      [world.treasury.address.toLowerCase()],
    )
    const spent = BigInt((rows[0] as { micro: string }).micro)
    world.clock.now = new Date(Date.now() + 1000)
    const queued = await world.queue([{ micro: 3_000_000n }, { micro: 3_000_000n }])
    await world.finalize(world.runner({ options: { maxMicroPerDay: spent + 5_000_000n } }))
    expect(await state(queued[0]!.paymentId)).toBe('settled')
    expect(await world.payout(queued[1]!.paymentId)).toMatchObject({ state: 'held', holdReason: 'limit' })
    await world.finalize(world.runner())
    expect(await state(queued[1]!.paymentId)).toBe('settled')
  })

  test('the limit of 24 hours is enforced when signatures are stored, whichever engine computed the remaining amount', async () => {
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: world.db, scope, hooks: world.hooks })
    const [queued] = await world.queue([{ micro: 3_000_000n }])
    const treasury = world.treasury.address.toLowerCase() as Hex
    const signature = { kind: 'transfer', validBefore: 4_000_000_000, signature: `0x${'1b'.repeat(65)}` } as const
    const store = (maxMicroPerDay: bigint) =>
      journal.storeSignatures([{ paymentId: queued!.paymentId, treasury, signature }], { maxMicroPerDay })
    await expect(store(2_999_999n)).rejects.toThrow('within 24 hours')
    expect(await state(queued!.paymentId)).toBe('queued')
    expect(
      (await world.db.query('select from payout_signature where payment_id = $1', [queued!.paymentId])).rowCount,
    ).toBe(0)
    await world.finalize(world.runner())
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('a payout of a treasury whose key is missing is voided when no signature of it can be used any more, and not before', async () => {
    const successor = createTreasurySigner(privateKeyToAccount(newKey()), policy)
    const [signed, paid] = await world.queue([{}, {}])
    await world.runner({ options: { maxInFlight: 0 } }).tick()
    const { rows } = await world.db.query('select valid_before from payout_signature where payment_id = $1', [
      signed!.paymentId,
    ])
    expect(rows).toHaveLength(1)
    for (const { paymentId } of [signed!, paid!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
    const treasuryList = listAfterWords(world.treasury, successor)
    const runner = world.runner({ treasuries: [successor], treasuryList })
    await world.finalize(runner)
    expect(await state(signed!.paymentId)).toBe('voiding')
    await carryForPayment(world, paid!)
    await world.finalize(runner)
    expect(await state(paid!.paymentId)).toBe('settled')
    await world.chain.increaseTime({ seconds: 56 * 60 })
    await world.chain.mine({ blocks: 4 })
    await passRests(world.db, 56)
    await world.finalize(runner)
    expect(await state(signed!.paymentId)).toBe('voided')
    expect(world.heard.voided.at(-1)).toMatchObject({ kind: 'expired', paymentId: signed!.paymentId })
    expect(await world.balance(signed!.recipient)).toBe(0n)
  })

  const listWith = async (successor: { readonly address: string }) =>
    listAfterWords(...(await readTreasuryList(world.db, { chainId: TOKEN.chainId, token: TOKEN.address })), successor)

  test('a nonce that is used on chain is never voided by expiry, also if its log was not read', async () => {
    const successor = createTreasurySigner(privateKeyToAccount(newKey()), policy)
    const [queued] = await world.queue([{}])
    await world.db.transaction((tx) => requestVoid(tx, queued!.paymentId))
    await carryForPayment(world, queued!)
    await world.chain.mine({ blocks: 5 })
    // A cursor that was set by hand to a block after the transfer.
    const final = await world.chain.getBlock({ blockTag: 'finalized' })
    await world.db.query(
      'update chain_cursor set scanned_number = $1, scanned_hash = $2, first_number = $1, logs_number = $1',
      [final.number, final.hash],
    )
    await world.chain.increaseTime({ seconds: 2 * 3600 })
    const treasuryList = await listWith(successor)
    await world.finalize(world.runner({ treasuries: [successor], treasuryList }))
    expect(await state(queued!.paymentId)).toBe('voiding')
    await world.db.query(
      'update chain_cursor set scanned_number = 0, first_number = 0, logs_number = 0, scanned_hash = $1',
      [(await world.chain.getBlock({ blockNumber: 0n })).hash],
    )
    await world.finalize(world.runner({ treasuryList }))
    expect(await state(queued!.paymentId)).toBe('settled')
  })

  test('an amount that left the treasury without a payout is missing from the books, once', async () => {
    const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
    const out = world.heard.movements.find(({ direction }) => direction === 'out')!
    for (let time = 0; time < 2; time++) await world.db.transaction((tx) => hooks.onTreasuryMovement(tx, out))
    expect(await readBalances(world.db)).toEqual([
      { account: 'suspense', asset: 'USDC', amount: out.micro },
      { account: 'treasury', asset: 'USDC', amount: `-${out.micro}` },
    ])
  })

  test('over the limit no new payout is paid, but signed ones continue, signed again if needed, and voids are possible', async () => {
    const [open, voided, fresh] = await world.queue([{}, {}, {}])
    await world.db.query(`update payout set state = 'held', hold_reason = 'operator' where payment_id = $1`, [
      fresh!.paymentId,
    ])
    await world.runner({ options: { maxInFlight: 0 } }).tick()
    await world.db.query(`update payout set state = 'queued', hold_reason = null where payment_id = $1`, [
      fresh!.paymentId,
    ])
    await world.db.transaction((tx) => requestVoid(tx, voided!.paymentId))
    world.clock.now = new Date(Date.now() + 1000)
    // The signature expires, so the payout needs another one.
    await world.chain.increaseTime({ seconds: 56 * 60 })
    await world.chain.mine({ blocks: 1 })
    await world.finalize(world.runner({ options: { maxMicroPerDay: 1n } }), 5)
    expect(await state(open!.paymentId)).toBe('settled')
    expect(await state(voided!.paymentId)).toBe('voided')
    expect(await state(fresh!.paymentId)).toBe('held')
    await world.finalize(world.runner())
    expect(await state(fresh!.paymentId)).toBe('settled')
  })

  test('a transfer of USDC between treasuries of the platform is no theft', async () => {
    const successor = privateKeyToAccount(newKey())
    const treasuries = [createTreasurySigner(successor, policy), createTreasurySigner(world.treasury, policy)]
    const args = [successor.address, 5_000_000n] as const
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args })
    await send(world, world.treasury, { to: TOKEN.address, data })
    await world.chain.mine({ blocks: 4 })
    await world.finalize(world.runner({ treasuries, treasuryList: await listWith(successor) }))
    expect((await world.db.query('select paused_reason from chain_cursor')).rows).toEqual([{ paused_reason: null }])
  })
})

describe('transfers that strangers and thieves make', () => {
  const world = useWorld()

  const erc20 = parseAbi([
    'function transfer(address to, uint256 value) returns (bool)',
    'function transferFrom(address from, address to, uint256 value) returns (bool)',
  ])
  const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
  const treasury = (): Hex => world.treasury.address.toLowerCase() as Hex
  const cursor = async () =>
    (await world.db.query('select scanned_number::int as number, paused_reason as paused from chain_cursor'))
      .rows[0] as {
      number: number
      paused: string | null
    }
  const attention = async () => listSettlementAttention(world.db)

  async function expectPaidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect((await world.payout(paymentId)).state).toBe('settled')
      expect(await world.balance(recipient)).toBe(micro)
    }
  }

  const stranger = (): LocalAccount => privateKeyToAccount(newKey())

  describe('a stranger moves nothing', () => {
    test.each<[string, () => Hex]>([
      [
        'to the treasury',
        () => encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [world.treasury.address, 0n] }),
      ],
      [
        'out of the treasury, for which the token asks nobody',
        () =>
          encodeFunctionData({
            abi: erc20,
            functionName: 'transferFrom',
            args: [world.treasury.address, newAddress(), 0n],
          }),
      ],
      [
        'from the treasury to the treasury',
        () =>
          encodeFunctionData({
            abi: erc20,
            functionName: 'transferFrom',
            args: [world.treasury.address, world.treasury.address, 0n],
          }),
      ],
    ])(
      'a stranger’s log stops nothing: %s: the cursor continues, nothing pauses, nothing is booked',
      async (_case, data) => {
        const runner = world.runner({ hooks: { onTreasuryMovement: refusesNothing } })
        await send(world, stranger(), { to: TOKEN.address, data: data() })
        await world.chain.mine({ blocks: 1 })
        const at = Number(await world.chain.getBlockNumber())
        const queued = await world.queue([{}])
        await world.finalize(runner)
        await runner.tick()
        expect((await cursor()).number).toBeGreaterThanOrEqual(at)
        expect((await cursor()).paused).toBeNull()
        await expectPaidOnce(queued)
        expect(world.heard.movements.filter(({ micro }) => micro === '0')).toEqual([])
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
      const heard: string[] = []
      const runner = world.runner({
        hooks: {
          onTreasuryMovement: async (_tx, { micro }) => {
            if (failing && micro === '4242') throw new Error('the books are closed')
            heard.push(micro)
          },
        },
      })
      await mintUsdc(world.chain, { to: treasury(), micro: 4242n })
      await mintUsdc(world.chain, { to: treasury(), micro: 4343n })
      const queued = await world.queue([{}])
      await world.finalize(runner)
      await expectPaidOnce(queued)
      expect(heard).toContain('4343')
      expect(await attention()).toEqual([
        expect.objectContaining({ kind: 'treasury_log', detail: 'the books are closed' }),
      ])
      failing = false
      await world.db.query('update treasury_log set hook_retry_at = now() where applied_at is null')
      await runner.tick()
      expect(heard.filter((micro) => micro === '4242')).toHaveLength(1)
      expect(await attention()).toEqual([])
      await runner.tick()
      expect(heard.filter((micro) => micro === '4242')).toHaveLength(1)
    })
  })

  describe('the nonce of a payment that is not paid yet', () => {
    afterEach(async () => {
      const { rows } = await world.db.query('select tx_hash from treasury_log where known_as is null')
      for (const { tx_hash: hash } of rows) await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))
    })

    test('a nonce that a thief uses for another address pauses everything', async () => {
      const payment = { paymentId: 'pay_stolen', recipient: newAddress() }
      await insertPayments(world.db, [payment])
      const hash = await carryForPayment(world, { ...payment, recipient: newAddress(), micro: 5_000_000n })
      await world.chain.mine({ blocks: 4 })
      await world.runner().tick()
      expect((await cursor()).paused).toContain(hash)
    })

    test('a nonce used for another amount than the converted payment has pauses everything', async () => {
      const payment = { paymentId: 'pay_too_much', recipient: newAddress() }
      await insertPayments(world.db, [payment])
      await world.db.query('update payment set gross_micro = 100, fee_micro = 4, net_micro = 96 where id = $1', [
        payment.paymentId,
      ])
      await carryForPayment(world, { ...payment, micro: 97n })
      await world.chain.mine({ blocks: 4 })
      await world.runner().tick()
      expect((await cursor()).paused).toContain('0.000097 USDC')
    })

    test('a nonce used with the payment’s values stops nothing, and is listed until its payment claims it', async () => {
      const payment = { paymentId: 'pay_as_agreed', recipient: newAddress() }
      await insertPayments(world.db, [payment])
      await carryForPayment(world, { ...payment, micro: 96n })
      await world.chain.mine({ blocks: 4 })
      const runner = world.runner()
      await runner.tick()
      expect((await cursor()).paused).toBeNull()
      expect(await attention()).toEqual([expect.objectContaining({ kind: 'unclaimed_transfer' })])
      await queueAll(world, [{ ...payment, micro: 96n }])
      await world.finalize(runner)
      expect(await attention()).toEqual([])
    })
  })

  describe('a pause by an unknown transfer', () => {
    const theft = async (): Promise<Hex> =>
      send(world, world.treasury, {
        to: TOKEN.address,
        data: encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [newAddress(), 321n] }),
      })

    test('a pause by an unknown transfer stays until an operator acknowledges the transfer', async () => {
      const runner = world.runner()
      await world.finalize(runner)
      const hash = await theft()
      await world.chain.mine({ blocks: 1 })
      await runner.tick()
      for (let round = 0; round < 4; round++) {
        await world.chain.mine({ blocks: 3 })
        await runner.tick()
        expect((await cursor()).paused).toContain(hash)
      }
      expect(await attention()).toEqual([
        expect.objectContaining({ kind: 'paused' }),
        expect.objectContaining({ kind: 'unknown_transfer' }),
      ])
      expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    })
  })
})

describe('the proof of a payout', () => {
  /**
   * A transfer with the nonce of a payment proves its payout only if it went to the recipient, with the amount. A thief
   * with the key of the treasury can make others; the token then refuses the engine's.
   */

  const world = useWorld()

  const signer = () =>
    createTreasurySigner(world.treasury, { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n })

  async function signedPayout({ paymentId }: Queued): Promise<SignedPayout> {
    const [payout] = await readSigned(world.db, sql`p.payment_id = ${paymentId}`, 1)
    if (payout === undefined) throw new Error(`${paymentId} is not signed`)
    return payout
  }

  /** The treasury's key signs the payout with these changes, and a stranger carries it to the chain. */
  async function carryChanged(payout: SignedPayout, changes: Partial<SignedPayout>): Promise<Hex> {
    const changed = { ...payout, ...changes }
    const signed = await signer().signTransfer(changed, 4_000_000_000)
    const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...changed, signed }])
    const stranger = privateKeyToAccount(newKey())
    await world.chain.setBalance({ address: stranger.address, value: parseEther('100') })
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
    return world.chain.sendRawTransaction({ serializedTransaction: raw })
  }

  const thief = newAddress()
  test.each<[string, (payout: SignedPayout) => Partial<SignedPayout>, bigint]>([
    ['to another recipient', () => ({ recipient: thief }), 0n],
    ['of less than was owed', ({ microUsdc }) => ({ microUsdc: (BigInt(microUsdc) - 1n).toString() }), -1n],
    ['of more than was owed', ({ microUsdc }) => ({ microUsdc: (BigInt(microUsdc) + 1n).toString() }), 1n],
  ])(
    'a final transfer with the nonce of the payment %s settles nothing and stops every lane',
    async (_how, change, more) => {
      const [queued] = await world.queue([{}])
      await world.runner({ options: { maxInFlight: 0 } }).tick()
      const payout = await signedPayout(queued!)
      const settled = world.heard.settled.length
      const hash = await carryChanged(payout, change(payout))
      await world.chain.mine({ blocks: 5 })
      const runner = world.runner({ options: { maxInFlight: 0 } })
      for (let round = 0; round < 3; round++) await runner.tick()

      expect((await world.payout(queued!.paymentId)).state).not.toBe('settled')
      expect(world.heard.settled).toHaveLength(settled)
      const { rows } = await world.db.query('select paused_reason from chain_cursor')
      expect(rows).toEqual([{ paused_reason: expect.stringContaining(hash) }])
      expect(world.heard.movements.at(-1)).toMatchObject({ direction: 'out', txHash: hash })
      const received = await world.balance(queued!.recipient)
      expect(received).toBe(_how === 'to another recipient' ? 0n : queued!.micro + more)

      // The operator has acknowledged it: new payouts are paid, this one still counts as unpaid.
      const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
      expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
      const [next] = await world.queue([{}])
      await world.finalize(world.runner(), 3)
      expect((await world.payout(next!.paymentId)).state).toBe('settled')
      expect((await world.payout(queued!.paymentId)).state).not.toBe('settled')
      expect(await world.balance(queued!.recipient)).toBe(received)
    },
  )
})

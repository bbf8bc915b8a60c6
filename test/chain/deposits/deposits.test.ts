import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { createDepositKeys, sweepNonce } from '../../../src/chain/deposits/deposit-keys.ts'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import { findImbalances, readBalances } from '../../../src/db/ledger.ts'
import { openDeposit, readDeposit } from '../../../src/db/payments/deposits.ts'
import { takeUnread } from '../../../src/db/payments/partner-events.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { assertSameSeed } from '../../../src/deps/deposits.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { asUsdcOwner, DEVELOPMENT_USDC, mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { createWorld, insertPayments, newAddress, newKey, settingsOf, TOKEN, type World } from '../world.ts'
import { addAwaited } from './awaited.ts'
import { reorganize } from './reversal.ts'

describe('the keys of deposit addresses', () => {
  const SEED = Buffer.alloc(32, 5).toString('base64')
  const keys = createDepositKeys(SEED, 137)

  test('a deposit address follows from seed, chain and payment alone, for ever', () => {
    expect(keys.addressOf('pay_1')).toBe(createDepositKeys(SEED, 137).addressOf('pay_1'))
    expect(keys.accountAt('pay_1', keys.addressOf('pay_1'))?.address.toLowerCase()).toBe(keys.addressOf('pay_1'))
    const others = [
      keys.addressOf('pay_2'),
      createDepositKeys(SEED, 80_002).addressOf('pay_1'),
      createDepositKeys(Buffer.alloc(32, 6).toString('base64'), 137).addressOf('pay_1'),
    ]
    expect(new Set([keys.addressOf('pay_1'), ...others]).size).toBe(4)
    // Money may be waiting at addresses that were shown: this derivation cannot change.
    expect(keys.addressOf('pay_1')).toBe('0xf068528a8849c4ab4de4df0b13519442956ded42')
  })

  test('a short seed is refused', () => {
    expect(() => createDepositKeys(Buffer.alloc(31).toString('base64'), 137)).toThrow('32 bytes')
  })

  test('every sweep of a payment has a nonce of its own', () => {
    const sweep = {
      chainId: 137,
      token: `0x${'c'.repeat(40)}`,
      address: keys.addressOf('pay_1'),
      paymentId: 'pay_1',
      index: 0,
    } as const
    const nonces = [
      sweepNonce(sweep),
      sweepNonce({ ...sweep, index: 1 }),
      sweepNonce({ ...sweep, paymentId: 'pay_2' }),
      sweepNonce({ ...sweep, chainId: 1 }),
      sweepNonce({ ...sweep, address: keys.addressOf('pay_2') }),
    ]
    expect(new Set(nonces).size).toBe(5)
  })

  test('an address of a retired seed keeps its key, and new ones follow from the new seed', () => {
    const rotated = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), 137, [SEED])
    const old = keys.addressOf('pay_1')
    expect(rotated.addressOf('pay_1')).not.toBe(old)
    expect(rotated.accountAt('pay_1', old)?.address.toLowerCase()).toBe(old)
    expect(rotated.accountAt('pay_1', rotated.addressOf('pay_1'))?.address.toLowerCase()).toBe(
      rotated.addressOf('pay_1'),
    )
    expect(rotated.accountAt('pay_2', old)).toBeNull()
    expect(createDepositKeys(Buffer.alloc(32, 9).toString('base64'), 137).accountAt('pay_1', old)).toBeNull()
  })
})

describe('deposits', () => {
  const SEED = Buffer.alloc(32, 9).toString('base64')
  const WRONG_TOKEN: Hex = '0x00000000000000000000000000000000000000e1'
  const ASKED = '5000000'
  const keys = createDepositKeys(SEED, TOKEN.chainId)
  const deposits = { keys, wrongTokens: [WRONG_TOKEN] }
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

  let world: World
  let numbers = 0
  beforeAll(async () => {
    world = await createWorld({ micro: 1_000_000n })
    await world.chain.setCode({
      address: WRONG_TOKEN,
      bytecode: (await world.chain.getCode({ address: DEVELOPMENT_USDC })) ?? '0x',
    })
  })
  afterAll(() => world.stop())

  const runner = () => world.runner({ deposits, hooks })

  async function openPayment() {
    numbers += 1
    const paymentId = `pay_deposit${numbers}`
    const attemptId = `att_deposit${numbers}`
    await insertPayments(world.db, [{ paymentId, recipient: newAddress() }])
    await world.db.query(
      `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'crypto', 'usdc', 'open', 500, 'USD', now(), now())`,
      [attemptId, paymentId],
    )
    const deposit = {
      attemptId,
      addressOf: keys.addressOf,
      chainId: TOKEN.chainId,
      token: TOKEN.address,
      askedMicro: ASKED,
      rate: { rate: '1', source: 'test', asOf: new Date().toISOString() },
      expiresAt: Math.floor(Date.now() / 1000) + 3600,
      watchSeconds: 3600,
    }
    await openDeposit(world.db, deposit)
    return { paymentId, attemptId, address: keys.addressOf(paymentId), deposit }
  }

  const received = async (attemptId: string) => {
    const deposit = await readDeposit(world.db, attemptId)
    return { micro: deposit?.receivedMicro, wrong: deposit?.wrongToken }
  }
  const sweepsOf = async (paymentId: string) =>
    (
      await world.db.query(
        'select idx, state, micro_usdc::text as micro from deposit_sweep where payment_id = $1 order by idx',
        [paymentId],
      )
    ).rows
  const balanceOf = async (account: string) =>
    (await readBalances(world.db)).find((row) => row.account === account && row.asset === 'USDC')?.amount ?? '0'
  const pausedReason = async () => (await world.db.query('select paused_reason from chain_cursor')).rows[0]

  test('USDC at the address of a payment is known when final, told to the payment, and swept without gas at the address', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    const treasuryBefore = await world.balance(world.treasury.address)
    await world.finalize(runner())
    const booked = await balanceOf('treasury')
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
    await world.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect(await takeUnread(world.db, { minAgeMs: 60_000, limit: 10 })).toEqual([
      { attempt_id: attemptId, payment_id: paymentId },
    ])
    expect(await sweepsOf(paymentId)).toEqual([{ idx: 0, state: 'done', micro: ASKED }])
    expect(await world.balance(address)).toBe(0n)
    expect(await world.chain.getBalance({ address })).toBe(0n)
    expect(await world.balance(world.treasury.address)).toBe(treasuryBefore + 5_000_000n)
    // Nobody has taken it yet: it is in the treasury, and belongs to nobody.
    expect(BigInt(await balanceOf('treasury')) - BigInt(booked)).toBe(5_000_000n)
    expect([await balanceOf('deposits'), await balanceOf('suspense')]).toEqual(['0', `-${ASKED}`])
    expect(await findImbalances(world.db)).toEqual([])
    expect(await pausedReason()).toEqual({ paused_reason: null })
  })

  test('a part and the rest are one deposit, swept with two nonces', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 2_000_000n })
    await world.finalize(runner(), 4)
    await mintUsdc(world.chain, { to: address, micro: 3_000_000n })
    await world.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect(await sweepsOf(paymentId)).toEqual([
      { idx: 0, state: 'done', micro: '2000000' },
      { idx: 1, state: 'done', micro: '3000000' },
    ])
    expect(await world.balance(address)).toBe(0n)
  })

  test('the gas of a sweep is booked, once and to the wei', async () => {
    const spent = async () => BigInt((await readBalances(world.db)).find((row) => row.asset === 'POL')?.amount ?? '0')
    const wallet = world.relayers[0]!.address
    const [booked, money] = [await spent(), await world.chain.getBalance({ address: wallet })]
    const { address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await world.finalize(runner(), 5)
    const paid = money - (await world.chain.getBalance({ address: wallet }))
    expect(paid).toBeGreaterThan(0n)
    expect((await spent()) - booked).toBe(paid)
  })

  test('opening the address again changes neither the rate nor the amount', async () => {
    const { attemptId, deposit } = await openPayment()
    await openDeposit(world.db, { ...deposit, askedMicro: '1', rate: { ...deposit.rate, rate: '2' } })
    expect(await readDeposit(world.db, attemptId)).toMatchObject({ askedMicro: ASKED, rate: '1' })
  })

  test('logs of any shape that strangers make at the address stop nothing, and are no other token', async () => {
    const { attemptId, address } = await openPayment()
    const token = newAddress()
    // Emits Transfer(first word, second word) with as many bytes of zeros as the third word says.
    const bytecode: Hex = `0x6020356000357f${TOPICS.transfer.slice(2)}6040356000a300`
    await world.chain.setCode({ address: token, bytecode })
    const [from] = await world.chain.requestAddresses()
    for (const size of [0, 1, 32, 64, 96]) {
      const data: Hex = `0x${[newAddress(), address, `0x${size.toString(16)}` as Hex].map((part) => part.slice(2).padStart(64, '0')).join('')}`
      await world.chain.sendTransaction({ account: from!, to: token, data, chain: null })
    }
    const engine = world.runner({ deposits: { ...deposits, wrongTokens: [token] }, hooks })
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await world.finalize(engine, 2)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect(await world.db.query('select 1 from deposit_log where applied_at is null')).toMatchObject({ rows: [] })
  })

  test('dust is counted, and not worth the gas of a sweep', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 9_999n })
    await world.finalize(runner(), 3)
    expect(await received(attemptId)).toEqual({ micro: '9999', wrong: false })
    expect(await sweepsOf(paymentId)).toEqual([])
  })

  test('a reorganization before finality takes the deposit away, and nothing was told', async () => {
    const { attemptId, address } = await openPayment()
    await world.finalize(runner())
    const snapshot = await world.chain.snapshot()
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await runner().tick()
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
    await world.chain.revert({ id: snapshot })
    await world.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
  })

  test('a sweep that the pool dropped is sent again with its own bytes, and moves the money once', async () => {
    const { paymentId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await world.chain.mine({ blocks: 4 })
    const before = await world.balance(world.treasury.address)
    // Seen as final, signed and sent; then the node forgets it, as after a restart.
    await runner().tick()
    expect(await sweepsOf(paymentId)).toMatchObject([{ state: 'assigned' }])
    for (const { tx_hash: hash } of (await world.db.query('select tx_hash from lane_tx_attempt')).rows)
      await world.chain.dropTransaction({ hash }).catch(() => undefined)
    await world.chain.mine({ blocks: 1 })
    expect(await world.balance(address)).toBe(5_000_000n)
    await world.finalize(runner(), 3)
    expect(await sweepsOf(paymentId)).toEqual([{ idx: 0, state: 'done', micro: ASKED }])
    expect(await world.balance(world.treasury.address)).toBe(before + 5_000_000n)
  })

  test('a sweep that the token refuses now waits, costs no gas, and holds up no payout', async () => {
    const { paymentId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await asUsdcOwner(
      world.chain,
      encodeFunctionData({ abi: usdcAdminAbi, functionName: 'blacklist', args: [address] }),
    )
    await world.chain.mine({ blocks: 4 })
    const wallet = world.relayers[0]!.address
    const spent = await world.chain.getTransactionCount({ address: wallet })
    await world.finalize(runner(), 3)
    expect(await sweepsOf(paymentId)).toMatchObject([{ state: 'signed' }])
    expect(await world.chain.getTransactionCount({ address: wallet })).toBe(spent)
    const [queued] = await world.queue([{ micro: 1_000n }])
    await world.finalize(world.runner({ deposits, hooks: { ...hooks, onSettled: async () => undefined } }), 3)
    expect((await world.payout(queued!.paymentId)).state).toBe('settled')
    await asUsdcOwner(
      world.chain,
      encodeFunctionData({ abi: usdcAdminAbi, functionName: 'unBlacklist', args: [address] }),
    )
    await world.finalize(runner(), 4)
    expect(await sweepsOf(paymentId)).toMatchObject([{ state: 'done' }])
  })

  test('what a restored database has forgotten of a sweep is found on chain, and nothing is booked twice', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await world.finalize(runner(), 4)
    const [before, suspense] = [await balanceOf('treasury'), await balanceOf('suspense')]
    // As after a restore to the time before the buyer paid.
    await world.db.query(
      'alter table ledger_entry disable trigger user; alter table ledger_transaction disable trigger user',
    )
    await world.db.query(
      `delete from ledger_entry where transaction_id in (select id from ledger_transaction where payment_id = '${paymentId}')`,
    )
    await world.db.query('delete from ledger_transaction where payment_id = $1', [paymentId])
    await world.db.query(
      'alter table ledger_entry enable trigger user; alter table ledger_transaction enable trigger user',
    )
    await world.db.query('delete from deposit_sweep where payment_id = $1', [paymentId])
    await world.db.query('delete from deposit_log where payment_id = $1', [paymentId])
    await world.db.query('delete from treasury_log where counterparty = $1', [address])
    const genesis = await world.chain.getBlock({ blockNumber: 0n })
    await world.db.query('update chain_cursor set scanned_number = 0, scanned_hash = $1', [genesis.hash])
    await world.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect((await sweepsOf(paymentId)).filter(({ state }) => state === 'done')).toHaveLength(1)
    expect([await balanceOf('treasury'), await balanceOf('suspense')]).toEqual([before, suspense])
    expect(await pausedReason()).toEqual({ paused_reason: null })
  })

  test('rebuild finds a deposit that the database has forgotten although the chain was read further', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 9_000n })
    await world.finalize(runner(), 3)
    await world.db.query('delete from deposit_log where payment_id = $1', [paymentId])
    await world.finalize(runner())
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
    const settings = settingsOf(world, deposits.wrongTokens)
    await rebuild({ db: world.db, settings, hooks, dryRun: false, say: () => undefined })
    expect(await received(attemptId)).toEqual({ micro: '9000', wrong: false })
  })

  test('another token is noted, booked nowhere and swept nowhere', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    const books = await readBalances(world.db)
    // A token that emits what ERC-20 asks for: Transfer(from, to, value).
    const emits = `7f${'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'}`
    const code = `0x6207a1205f5273${address.slice(2)}5f${emits}60205fa300` as Hex
    await world.chain.setCode({ address: WRONG_TOKEN, bytecode: code })
    await world.chain.setBalance({ address: world.treasury.address, value: 10n ** 18n })
    const raw = await world.treasury.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      nonce: await world.chain.getTransactionCount({ address: world.treasury.address }),
      to: WRONG_TOKEN,
      gas: 200_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 9n,
    })
    const hash = await world.chain.sendRawTransaction({ serializedTransaction: raw })
    await world.finalize(runner(), 3)
    expect((await world.chain.getTransactionReceipt({ hash })).logs).toHaveLength(1)
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: true })
    expect(await sweepsOf(paymentId)).toEqual([])
    expect(await readBalances(world.db)).toEqual(books)
  })

  test('a seed that is not the one of the addresses signs nothing', async () => {
    const { paymentId, address } = await openPayment()
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    const other = { ...deposits, keys: createDepositKeys(Buffer.from(newKey()).toString('base64'), TOKEN.chainId) }
    const wrong = world.runner({ deposits: other, hooks })
    await wrong.tick()
    await world.chain.mine({ blocks: 4 })
    await expect(wrong.tick()).rejects.toThrow('follows from no deposit seed that is here')
    const scope = { chainId: TOKEN.chainId, livemode: false }
    await expect(assertSameSeed(world.db, other.keys, scope)).rejects.toThrow('DEPOSIT_SEED is not the one of before')
    // One address of the wrong seed, shown since, does not make it the right one.
    const { paymentId: late } = await openPayment()
    await world.db.query('update deposit set address = $2 where payment_id = $1', [late, other.keys.addressOf(late)])
    await expect(assertSameSeed(world.db, other.keys, scope)).rejects.toThrow('DEPOSIT_SEED is not the one of before')
    await assertSameSeed(world.db, keys, scope)
    await assertSameSeed(world.db, other.keys, { ...scope, livemode: true })
    expect(await sweepsOf(paymentId)).toEqual([])
    await world.finalize(runner(), 4)
    expect(await sweepsOf(paymentId)).toMatchObject([{ state: 'done' }])
  })
})

describe('sweeps', () => {
  /** Sweeps are signed for short times, to the current treasury. */

  const keys = createDepositKeys(Buffer.alloc(32, 7).toString('base64'), TOKEN.chainId)
  const deposits = { keys, wrongTokens: [] }
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }

  let world: World
  let numbers = 0
  beforeAll(async () => {
    world = await createWorld({ micro: 1_000_000n })
  })
  afterAll(() => world.stop())

  /** A payment at whose address 5 USDC are final. */
  async function paidDeposit(): Promise<{ paymentId: string; address: Hex }> {
    numbers += 1
    const { paymentId, address } = await addAwaited(world.db, keys, `sweep${numbers}`)
    await mintUsdc(world.chain, { to: address, micro: 5_000_000n })
    await world.chain.mine({ blocks: 4 })
    return { paymentId, address }
  }

  const sweepOf = async (paymentId: string) => {
    const { rows } = await world.db.query(
      `select state, treasury, auth_nonce as nonce, valid_before::int as until from deposit_sweep where payment_id = $1`,
      [paymentId],
    )
    expect(rows).toHaveLength(1)
    return rows[0] as { state: string; treasury: Hex; nonce: Hex; until: number }
  }

  /** Signs, and has no room to send. */
  const signOnly = () => world.runner({ deposits, hooks, options: { maxInFlight: 0 } }).tick()

  // every round of the engine went on as if there were something to send, and asked its nodes without end
  test('what is too little to be swept is nothing to wait for', async () => {
    const runner = world.runner({ deposits, hooks: world.hooks })
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: world.db, scope, hooks: world.hooks })
    const nothing = { sign: false, send: false, underWay: false }
    const { address } = await addAwaited(world.db, keys, 'dust')
    await world.finalize(runner)
    expect(await journal.readWork()).toEqual(nothing)
    await mintUsdc(world.chain, { to: address, micro: 9_999n })
    await world.finalize(runner, 4)
    expect((await world.db.query('select unswept_micro from deposit')).rows).toEqual([{ unswept_micro: '9999' }])
    expect(await journal.readWork()).toEqual(nothing)
    await mintUsdc(world.chain, { to: address, micro: 1n })
    await world.finalize(world.runner({ deposits, hooks: world.hooks, options: { maxInFlight: 0 } }), 4)
    expect(await journal.readWork()).toMatchObject({ send: true })
  })

  test('a sweep is signed for less than an hour, and again with the same nonce when it could not be sent by then', async () => {
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    const first = await sweepOf(paymentId)
    const { timestamp } = await world.chain.getBlock()
    expect(first.until - Number(timestamp)).toBeLessThan(3600)
    await world.chain.increaseTime({ seconds: 46 * 60 })
    await world.chain.mine({ blocks: 1 })
    await signOnly()
    const second = await sweepOf(paymentId)
    expect(second).toMatchObject({ state: 'signed', nonce: first.nonce })
    expect(second.until).toBeGreaterThan(first.until)
    await world.finalize(world.runner({ deposits, hooks }), 3)
    expect((await sweepOf(paymentId)).state).toBe('done')
    expect(await world.balance(address)).toBe(0n)
  })

  test('a sweep that was signed to a treasury whose key is lost goes to the current one', async () => {
    const successor = accountOf(newKey())
    const lost = world.treasury.address.toLowerCase() as Hex
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    expect((await sweepOf(paymentId)).treasury).toBe(lost)
    const inLost = await world.balance(lost)
    const treasuries = [createTreasurySigner(successor, policy)]
    await world.finalize(world.runner({ deposits, hooks, treasuries, options: { retiredTreasuries: [lost] } }), 3)
    expect(await sweepOf(paymentId)).toMatchObject({ state: 'done', treasury: successor.address.toLowerCase() })
    expect(await world.balance(successor.address)).toBe(5_000_000n)
    expect(await world.balance(lost)).toBe(inLost)
    expect(await world.balance(address)).toBe(0n)
  })

  // what came later waited for ever behind a sweep that the token refuses, and nobody was told
  test('a sweep that is signed for more than is at the address since a repair is signed again for what comes later', async () => {
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    const first = await sweepOf(paymentId)
    await reorganize(world, 6, [])
    await repairFinality({ db: world.db, hooks, settings: settingsOf(world), dryRun: false, say: () => undefined })
    expect(await world.balance(address)).toBe(0n)
    // With nothing to be swept it stays as it is.
    await signOnly()
    expect(await sweepOf(paymentId)).toEqual(first)
    await mintUsdc(world.chain, { to: address, micro: 3_000_000n })
    await world.chain.mine({ blocks: 25 })
    await world.finalize(world.runner({ deposits, hooks }), 6)
    expect(await sweepOf(paymentId)).toMatchObject({ state: 'done', nonce: first.nonce })
    expect(await world.balance(address)).toBe(0n)
    const unswept = await world.db.query('select unswept_micro from deposit where payment_id = $1', [paymentId])
    expect(unswept.rows).toEqual([{ unswept_micro: '0' }])
  })

  /** Somebody with the key of an address takes USDC away from it. */
  async function takeByHand(account: Hex, to: Hex, micro: bigint): Promise<void> {
    const { chain } = world
    await chain.impersonateAccount({ address: account })
    await chain.setBalance({ address: account, value: 10n ** 18n })
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [to, micro] })
    await chain.sendTransaction({ account, to: TOKEN.address, data, chain: null })
    await chain.mine({ blocks: 4 })
  }

  // it stayed signed, what came later waited behind it, and no list named it
  test('a sweep of more than is at the address is named after an hour; what is left counts as swept when it is moved to the treasury by hand', async () => {
    const named = async () =>
      (await world.db.query(`select kind, livemode, subject, detail from settlement_attention`)).rows
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    await takeByHand(address, newAddress(), 5_000_000n)
    await mintUsdc(world.chain, { to: address, micro: 3_000_000n })
    await world.finalize(world.runner({ deposits, hooks }), 6)
    expect(await world.balance(address)).toBe(3_000_000n)
    expect(await named()).toEqual([])
    await world.db.query(`update deposit_sweep set created_at = now() - interval '61 minutes' where payment_id = $1`, [
      paymentId,
    ])
    const detail = `5000000 micro-USDC are to be swept from ${address}`
    expect(await named()).toEqual([{ kind: 'sweep', livemode: false, subject: paymentId, detail }])
    await takeByHand(address, world.treasury.address, 3_000_000n)
    await world.finalize(world.runner({ deposits, hooks }), 3)
    expect((await world.db.query('select unswept_micro from deposit where payment_id = $1', [paymentId])).rows).toEqual(
      [{ unswept_micro: '5000000' }],
    )
  })

  // it was the first of every round, and ended the round before any other was signed or sent
  test('an address whose seed is gone holds up no other sweep', async () => {
    const lost = createDepositKeys(Buffer.alloc(32, 8).toString('base64'), TOKEN.chainId)
    const { address: unswept } = await addAwaited(world.db, lost, 'lost')
    await world.db.query(`update deposit set created_at = now() - interval '1 day' where address = $1`, [unswept])
    await mintUsdc(world.chain, { to: unswept, micro: 5_000_000n })
    const { paymentId, address } = await paidDeposit()
    const runner = world.runner({ deposits, hooks })
    for (let round = 0; round < 5; round++) {
      await runner.tick().catch((error: Error) => expect(error.message).toContain(unswept))
      await world.chain.mine({ blocks: 4 })
    }
    await expect(runner.tick()).rejects.toThrow(`the key of ${unswept} follows from no deposit seed`)
    expect((await sweepOf(paymentId)).state).toBe('done')
    expect(await world.balance(address)).toBe(0n)
    expect(await world.balance(unswept)).toBe(5_000_000n)
  })

  test('a sweep that was signed to an earlier treasury stays at its address when its seed is gone', async () => {
    const { paymentId, address } = await paidDeposit()
    await signOnly().catch(() => undefined)
    expect((await sweepOf(paymentId)).state).toBe('signed')
    const treasuries = [createTreasurySigner(accountOf(newKey()), policy)]
    const other = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), TOKEN.chainId)
    const runner = world.runner({ deposits: { keys: other, wrongTokens: [] }, hooks, treasuries })
    for (let round = 0; round < 3; round++) {
      await runner.tick().catch((error: Error) => expect(error.message).toContain('from no deposit seed'))
      await world.chain.mine({ blocks: 4 })
    }
    expect(await world.balance(address)).toBe(5_000_000n)
  })

  // as many as a round signs were the first of every round
  test.each([
    { what: 'is not signed', until: null },
    { what: 'was signed to an earlier treasury', until: 4_000_000_000 },
    { what: 'was signed and has expired', until: 1 },
  ])('a hundred addresses whose seed is gone hold up no other sweep: what is at them $what', async ({ until }) => {
    const lost = createDepositKeys(Buffer.alloc(32, 10).toString('base64'), TOKEN.chainId)
    for (let count = 0; count < 100; count++) await addAwaited(world.db, lost, `a${until}lost${count}`)
    await world.db.query(
      `update deposit set unswept_micro = 5000000, created_at = now() - interval '1 day' where payment_id like $1`,
      [`pay_a${until}lost%`],
    )
    const to = until === 1 ? world.treasury.address.toLowerCase() : newAddress()
    if (until !== null)
      await world.db.query(
        `insert into deposit_sweep (payment_id, idx, chain_id, token, treasury, micro_usdc, auth_nonce, signature, valid_before, state,
         created_at)
       select payment_id, 0, chain_id, token, $2, 5000000, '0x' || encode(sha256(payment_id::bytea), 'hex'),
         decode(repeat('11', 65), 'hex'), $3, 'signed', created_at from deposit where payment_id like $1`,
        [`pay_a${until}lost%`, to, until],
      )
    const { paymentId, address } = await paidDeposit()
    const runner = world.runner({ deposits, hooks })
    for (let round = 0; round < 6; round++) {
      await runner.tick().catch((error: Error) => expect(error.message).toContain('from no deposit seed'))
      await world.chain.mine({ blocks: 4 })
    }
    expect((await sweepOf(paymentId)).state).toBe('done')
    expect(await world.balance(address)).toBe(0n)
    await world.db.query(`update deposit set unswept_micro = 0 where payment_id like $1`, [`pay_a${until}lost%`])
    await world.db.query(`update deposit_sweep set state = 'abandoned' where payment_id like $1`, [
      `pay_a${until}lost%`,
    ])
  })
})

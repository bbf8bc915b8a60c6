import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { createDepositKeys, sweepNonce } from '../../../src/chain/deposits/deposit-keys.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import { findImbalances, readBalances } from '../../../src/db/ledger.ts'
import { listAttention } from '../../../src/db/payments/attention.ts'
import { openDeposit, readDeposit } from '../../../src/db/payments/deposits.ts'
import { takeUnread } from '../../../src/db/payments/partner-callbacks.ts'
import { listSettlementAttention } from '../../../src/db/settlement/observer/standing.ts'
import { assertSameSeed } from '../../../src/deps/deposits.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { asUsdcOwner, DEVELOPMENT_USDC, mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { startLossyProxy } from '../../support/anvil.ts'
import { bookSettled } from '../../support/book-settled.ts'
import { createFixture, createSettings, type Fixture, insertPayments, newAddress, newKey, TOKEN } from '../fixture.ts'
import { sendOtherToken } from './other-token.ts'

describe('the keys of deposit addresses', () => {
  const SEED = Buffer.alloc(32, 5).toString('base64')
  const keys = createDepositKeys(SEED, 137)

  test('a deposit address follows from seed, chain and payment alone, and never changes', () => {
    expect(keys.deriveAddress('pay_1')).toBe(createDepositKeys(SEED, 137).deriveAddress('pay_1'))
    expect(keys.findAccount('pay_1', keys.deriveAddress('pay_1'))?.address.toLowerCase()).toBe(
      keys.deriveAddress('pay_1'),
    )
    const others = [
      keys.deriveAddress('pay_2'),
      createDepositKeys(SEED, 80_002).deriveAddress('pay_1'),
      createDepositKeys(Buffer.alloc(32, 6).toString('base64'), 137).deriveAddress('pay_1'),
    ]
    expect(new Set([keys.deriveAddress('pay_1'), ...others]).size).toBe(4)
    // Money can be waiting at addresses that were shown: this derivation cannot change.
    expect(keys.deriveAddress('pay_1')).toBe('0xf068528a8849c4ab4de4df0b13519442956ded42')
  })

  test('a short seed is refused', () => {
    expect(() => createDepositKeys(Buffer.alloc(31).toString('base64'), 137)).toThrow('32 bytes')
  })

  test('every sweep of a payment has its own nonce', () => {
    const sweep = {
      chainId: 137,
      token: `0x${'c'.repeat(40)}`,
      address: keys.deriveAddress('pay_1'),
      ownerId: 'pay_1',
      index: 0,
    } as const
    const nonces = [
      sweepNonce(sweep),
      sweepNonce({ ...sweep, index: 1 }),
      sweepNonce({ ...sweep, ownerId: 'pay_2' }),
      sweepNonce({ ...sweep, chainId: 1 }),
      sweepNonce({ ...sweep, address: keys.deriveAddress('pay_2') }),
    ]
    expect(new Set(nonces).size).toBe(5)
  })

  test('an address of a retired seed keeps its key, and new ones follow from the new seed', () => {
    const rotated = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), 137, [SEED])
    const old = keys.deriveAddress('pay_1')
    expect(rotated.deriveAddress('pay_1')).not.toBe(old)
    expect(rotated.findAccount('pay_1', old)?.address.toLowerCase()).toBe(old)
    expect(rotated.findAccount('pay_1', rotated.deriveAddress('pay_1'))?.address.toLowerCase()).toBe(
      rotated.deriveAddress('pay_1'),
    )
    expect(rotated.findAccount('pay_2', old)).toBeNull()
    expect(createDepositKeys(Buffer.alloc(32, 9).toString('base64'), 137).findAccount('pay_1', old)).toBeNull()
  })
})

describe('deposits', () => {
  const SEED = Buffer.alloc(32, 9).toString('base64')
  const WRONG_TOKEN: Hex = '0x00000000000000000000000000000000000000e1'
  const ASKED = '5000000'
  const keys = createDepositKeys(SEED, TOKEN.chainId)
  const deposits = { keys, wrongTokens: [WRONG_TOKEN] }
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })

  let fixture: Fixture
  let numbers = 0
  beforeAll(async () => {
    fixture = await createFixture({ micro: 1_000_000n })
    await fixture.chain.setCode({
      address: WRONG_TOKEN,
      bytecode: (await fixture.chain.getCode({ address: DEVELOPMENT_USDC })) ?? '0x',
    })
  })
  afterAll(() => fixture.stop())

  const runner = () => fixture.runner({ deposits, hooks })

  async function openPayment() {
    numbers += 1
    const paymentId = `pay_deposit${numbers}`
    const attemptId = `att_deposit${numbers}`
    await insertPayments(fixture.db, [{ paymentId, recipient: newAddress() }])
    await fixture.db.query(
      `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'crypto', 'usdc', 'open', 500, 'USD', now(), now())`,
      [attemptId, paymentId],
    )
    const deposit = {
      attemptId,
      deriveAddress: keys.deriveAddress,
      chainId: TOKEN.chainId,
      token: TOKEN.address,
      askedMicro: ASKED,
      rate: { rate: '1', source: 'test', asOf: new Date().toISOString() },
      expiresAt: Math.floor(Date.now() / 1000) + 3600,
      watchSeconds: 3600,
    }
    await openDeposit(fixture.db, deposit)
    return { paymentId, attemptId, address: keys.deriveAddress(paymentId), deposit }
  }

  const received = async (attemptId: string) => {
    const deposit = await readDeposit(fixture.db, attemptId)
    return { micro: deposit?.receivedMicro, wrong: deposit?.wrongToken }
  }
  const listSweeps = async (paymentId: string) =>
    (
      await fixture.db.query(
        'select idx, state, micro_usdc::text as micro from deposit_sweep where owner_id = $1 order by idx',
        [paymentId],
      )
    ).rows
  const readBalance = async (account: string) =>
    (await readBalances(fixture.db)).find((row) => row.account === account && row.asset === 'USDC')?.amount ?? '0'
  const pausedReason = async () => (await fixture.db.query('select paused_reason from chain_cursor')).rows[0]

  test('USDC at the address of a payment is known when final, reported to the payment, and swept without gas at the address', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    const treasuryBefore = await fixture.balance(fixture.treasury.address)
    await fixture.finalize(runner())
    const booked = await readBalance('treasury')
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
    await fixture.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    const { rows: logs } = await fixture.db.query(
      'select block_number, finalized_at from deposit_log where owner_id = $1',
      [paymentId],
    )
    const { timestamp } = await fixture.chain.getBlock({ blockNumber: BigInt(logs[0].block_number) })
    expect(logs).toMatchObject([{ finalized_at: new Date(Number(timestamp) * 1000) }])
    expect(await takeUnread(fixture.db, { minAgeMs: 60_000, limit: 10 })).toEqual([
      { attempt_id: attemptId, payment_id: paymentId },
    ])
    expect(await listSweeps(paymentId)).toEqual([{ idx: 0, state: 'done', micro: ASKED }])
    expect(await fixture.balance(address)).toBe(0n)
    expect(await fixture.chain.getBalance({ address })).toBe(0n)
    expect(await fixture.balance(fixture.treasury.address)).toBe(treasuryBefore + 5_000_000n)
    // No payment has taken it yet: it is in the treasury, and in suspense.
    expect(BigInt(await readBalance('treasury')) - BigInt(booked)).toBe(5_000_000n)
    expect([await readBalance('deposits'), await readBalance('suspense')]).toEqual(['0', `-${ASKED}`])
    expect(await findImbalances(fixture.db)).toEqual([])
    expect(await pausedReason()).toEqual({ paused_reason: null })
  })

  /** Two hours after the watch of the address has ended. */
  async function openEnded() {
    const opened = await openPayment()
    await fixture.db.query(`update deposit set watch_until = now() - interval '2 hours' where payment_id = $1`, [
      opened.paymentId,
    ])
    return opened
  }

  test.each(['within a day', 'when a worker starts'])(
    'USDC that arrives after the watch of its address has ended reaches its payment %s, and is swept',
    async (when) => {
      const ended = await openEnded()
      const quiet = await openEnded()
      const engine = runner()
      await fixture.finalize(engine)
      await mintUsdc(fixture.chain, { to: ended.address, micro: 5_000_000n })
      await fixture.finalize(engine, 3)
      expect(await received(ended.attemptId)).toEqual({ micro: '0', wrong: false })
      if (when === 'within a day') fixture.clock.now = new Date(fixture.clock.now.getTime() + 86_400_000)
      await fixture.finalize(when === 'within a day' ? engine : runner(), 4)
      expect(await received(ended.attemptId)).toEqual({ micro: ASKED, wrong: false })
      expect(await takeUnread(fixture.db, { minAgeMs: 60_000, limit: 10 })).toContainEqual({
        attempt_id: ended.attemptId,
        payment_id: ended.paymentId,
      })
      expect(await listSweeps(ended.paymentId)).toEqual([{ idx: 0, state: 'done', micro: ASKED }])
      expect(await received(quiet.attemptId)).toEqual({ micro: '0', wrong: false })
      fixture.clock.now = new Date()
    },
  )

  test('money at an address whose watch has ended, and whose transfer no node shows, is on the attention lists until one does', async () => {
    const { address, paymentId, attemptId } = await openEnded()
    await mintUsdc(fixture.chain, { to: address, micro: 2_000_000n })
    await fixture.chain.mine({ blocks: 4 })
    const node = await startLossyProxy(fixture.anvil.url)
    try {
      node.decide = ({ method }) => (method === 'eth_getLogs' ? { rewrite: () => [] } : 'deliver')
      const engine = fixture.runner({ deposits, hooks, url: node.url })
      await fixture.finalize(engine, 2)
      await fixture.chain.mine({ blocks: 64 })
      await fixture.finalize(engine, 2)
    } finally {
      await node.close()
    }
    const detail = `its address ${address} holds 2000000 units of a token more than its transfers show`
    const listed = { kind: 'deposit_difference', detail }
    expect(await listSettlementAttention(fixture.db)).toContainEqual({ ...listed, subject: paymentId })
    expect(await listAttention(fixture.db, 100)).toContainEqual(expect.objectContaining({ ...listed, paymentId }))
    await fixture.finalize(runner(), 4)
    expect(await received(attemptId)).toMatchObject({ micro: '2000000' })
    expect(await listSettlementAttention(fixture.db)).toEqual([])
  })

  test('a part and the rest are one deposit, swept with two nonces', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 2_000_000n })
    await fixture.finalize(runner(), 4)
    await mintUsdc(fixture.chain, { to: address, micro: 3_000_000n })
    await fixture.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect(await listSweeps(paymentId)).toEqual([
      { idx: 0, state: 'done', micro: '2000000' },
      { idx: 1, state: 'done', micro: '3000000' },
    ])
    expect(await fixture.balance(address)).toBe(0n)
  })

  test('the gas of a sweep is booked, once and to the wei', async () => {
    const spent = async () => BigInt((await readBalances(fixture.db)).find((row) => row.asset === 'POL')?.amount ?? '0')
    const wallet = fixture.relayers[0]!.address
    const [booked, money] = [await spent(), await fixture.chain.getBalance({ address: wallet })]
    const { address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await fixture.finalize(runner(), 5)
    const paid = money - (await fixture.chain.getBalance({ address: wallet }))
    expect(paid).toBeGreaterThan(0n)
    expect((await spent()) - booked).toBe(paid)
  })

  test('opening the address again changes neither the rate nor the amount', async () => {
    const { attemptId, deposit } = await openPayment()
    await openDeposit(fixture.db, { ...deposit, askedMicro: '1', rate: { ...deposit.rate, rate: '2' } })
    expect(await readDeposit(fixture.db, attemptId)).toMatchObject({ askedMicro: ASKED, rate: '1' })
  })

  test('logs of any shape that strangers make at the address stop nothing, and are not another token', async () => {
    const { attemptId, address } = await openPayment()
    const token = newAddress()
    // Emits Transfer(first word, second word) with as many bytes of zeros as the third word says.
    const bytecode: Hex = `0x6020356000357f${TOPICS.transfer.slice(2)}6040356000a300`
    await fixture.chain.setCode({ address: token, bytecode })
    const [from] = await fixture.chain.requestAddresses()
    for (const size of [0, 1, 32, 64, 96]) {
      const data: Hex = `0x${[newAddress(), address, `0x${size.toString(16)}` as Hex].map((part) => part.slice(2).padStart(64, '0')).join('')}`
      await fixture.chain.sendTransaction({ account: from!, to: token, data, chain: null })
    }
    const engine = fixture.runner({ deposits: { ...deposits, wrongTokens: [token] }, hooks })
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await fixture.finalize(engine, 2)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect(await fixture.db.query('select 1 from deposit_log where applied_at is null')).toMatchObject({ rows: [] })
  })

  test('dust is counted, and not swept because the gas costs more', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 9_999n })
    await fixture.finalize(runner(), 3)
    expect(await received(attemptId)).toEqual({ micro: '9999', wrong: false })
    expect(await listSweeps(paymentId)).toEqual([])
  })

  test('a reorganization before finality removes the deposit, and nothing was reported', async () => {
    const { attemptId, address } = await openPayment()
    await fixture.finalize(runner())
    const snapshot = await fixture.chain.snapshot()
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await runner().tick()
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
    await fixture.chain.revert({ id: snapshot })
    await fixture.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
  })

  test('a sweep that the pool dropped is sent again with its own bytes, and moves the money once', async () => {
    const { paymentId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await fixture.chain.mine({ blocks: 4 })
    const before = await fixture.balance(fixture.treasury.address)
    // Seen as final, signed and sent; then the node forgets it, as after a restart.
    await runner().tick()
    expect(await listSweeps(paymentId)).toMatchObject([{ state: 'assigned' }])
    for (const { tx_hash: hash } of (await fixture.db.query('select tx_hash from lane_tx_attempt')).rows)
      await fixture.chain.dropTransaction({ hash }).catch(() => undefined)
    await fixture.chain.mine({ blocks: 1 })
    expect(await fixture.balance(address)).toBe(5_000_000n)
    await fixture.finalize(runner(), 3)
    expect(await listSweeps(paymentId)).toEqual([{ idx: 0, state: 'done', micro: ASKED }])
    expect(await fixture.balance(fixture.treasury.address)).toBe(before + 5_000_000n)
  })

  test('a sweep that the token refuses waits, costs no gas, and delays no payout', async () => {
    const { paymentId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await asUsdcOwner(
      fixture.chain,
      encodeFunctionData({ abi: usdcAdminAbi, functionName: 'blacklist', args: [address] }),
    )
    await fixture.chain.mine({ blocks: 4 })
    const wallet = fixture.relayers[0]!.address
    const spent = await fixture.chain.getTransactionCount({ address: wallet })
    await fixture.finalize(runner(), 3)
    expect(await listSweeps(paymentId)).toMatchObject([{ state: 'signed' }])
    expect(await fixture.chain.getTransactionCount({ address: wallet })).toBe(spent)
    const [queued] = await fixture.queue([{ micro: 1_000n }])
    await fixture.finalize(fixture.runner({ deposits, hooks: { ...hooks, onSettled: bookSettled } }), 3)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    await asUsdcOwner(
      fixture.chain,
      encodeFunctionData({ abi: usdcAdminAbi, functionName: 'unBlacklist', args: [address] }),
    )
    await fixture.finalize(runner(), 4)
    expect(await listSweeps(paymentId)).toMatchObject([{ state: 'done' }])
  })

  test('a sweep that a restored database has forgotten is found on chain, and nothing is booked twice', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await fixture.finalize(runner(), 4)
    const [before, suspense] = [await readBalance('treasury'), await readBalance('suspense')]
    // As after a restore to the time before the buyer paid.
    await fixture.db.query(
      'alter table ledger_entry disable trigger user; alter table ledger_transaction disable trigger user',
    )
    await fixture.db.query(
      `delete from ledger_entry where transaction_id in (select id from ledger_transaction where payment_id = '${paymentId}')`,
    )
    await fixture.db.query('delete from ledger_transaction where payment_id = $1', [paymentId])
    await fixture.db.query(
      'alter table ledger_entry enable trigger user; alter table ledger_transaction enable trigger user',
    )
    await fixture.db.query(`update treasury_change set micro = s.micro from (select sum(amount) as micro from ledger_entry
      where account = 'treasury') s where id = (select max(id) from treasury_change)`)
    await fixture.db.query('delete from treasury_change where id < (select max(id) from treasury_change)')
    await fixture.db.query('delete from deposit_sweep where owner_id = $1', [paymentId])
    await fixture.db.query('delete from deposit_log where owner_id = $1', [paymentId])
    await fixture.db.query('delete from treasury_log where counterparty = $1', [address])
    const genesis = await fixture.chain.getBlock({ blockNumber: 0n })
    await fixture.db.query(
      'update chain_cursor set scanned_number = 0, logs_number = 0, deposits_number = 0, scanned_hash = $1',
      [genesis.hash],
    )
    await fixture.finalize(runner(), 4)
    expect(await received(attemptId)).toEqual({ micro: ASKED, wrong: false })
    expect((await listSweeps(paymentId)).filter(({ state }) => state === 'done')).toHaveLength(1)
    expect([await readBalance('treasury'), await readBalance('suspense')]).toEqual([before, suspense])
    expect(await pausedReason()).toEqual({ paused_reason: null })
  })

  test('rebuild finds a deposit that the database has forgotten although the chain was read further', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 9_000n })
    await fixture.finalize(runner(), 3)
    await fixture.db.query('delete from deposit_log where owner_id = $1', [paymentId])
    await fixture.finalize(runner())
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: false })
    const settings = createSettings(fixture, deposits.wrongTokens)
    await rebuild({ db: fixture.db, settings, hooks, dryRun: false, say: () => undefined })
    expect(await received(attemptId)).toEqual({ micro: '9000', wrong: false })
  })

  test('another token is recorded, not booked and not swept', async () => {
    const { paymentId, attemptId, address } = await openPayment()
    const books = await readBalances(fixture.db)
    const hash = await sendOtherToken(fixture, { token: WRONG_TOKEN, to: address })
    await fixture.finalize(runner(), 3)
    expect((await fixture.chain.getTransactionReceipt({ hash })).logs).toHaveLength(1)
    expect(await received(attemptId)).toEqual({ micro: '0', wrong: true })
    expect(await listSweeps(paymentId)).toEqual([])
    expect(await readBalances(fixture.db)).toEqual(books)
  })

  test('a seed that does not derive the known addresses signs nothing', async () => {
    const { paymentId, address } = await openPayment()
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    const other = { ...deposits, keys: createDepositKeys(Buffer.from(newKey()).toString('base64'), TOKEN.chainId) }
    const wrong = fixture.runner({ deposits: other, hooks })
    await wrong.tick()
    await fixture.chain.mine({ blocks: 4 })
    await expect(wrong.tick()).rejects.toThrow('follows from no deposit seed that is here')
    const scope = { chainId: TOKEN.chainId, livemode: false }
    await expect(assertSameSeed(fixture.db, other.keys, scope)).rejects.toThrow('DEPOSIT_SEED is not the one of before')
    // One address of the wrong seed, shown since, does not make it the right one.
    const { paymentId: late } = await openPayment()
    await fixture.db.query('update deposit set address = $2 where payment_id = $1', [
      late,
      other.keys.deriveAddress(late),
    ])
    await expect(assertSameSeed(fixture.db, other.keys, scope)).rejects.toThrow('DEPOSIT_SEED is not the one of before')
    await assertSameSeed(fixture.db, keys, scope)
    await assertSameSeed(fixture.db, other.keys, { ...scope, livemode: true })
    expect(await listSweeps(paymentId)).toEqual([])
    await fixture.finalize(runner(), 4)
    expect(await listSweeps(paymentId)).toMatchObject([{ state: 'done' }])
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { signTransferAuthorization } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { createBalanceWatch } from '../../../src/chain/observer/balance.ts'
import { createNonceWatch } from '../../../src/chain/observer/nonces.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { listSettlementAttention } from '../../../src/db/settlement/observer/standing.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { acknowledge } from '../../../src/operator/payouts.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { showStatus } from '../../../src/operator/status.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { startHostileNode } from '../../support/hostile-node.ts'
import { takeDatabase } from '../databases.ts'
import { reorganize } from '../deposits/reversal.ts'
import {
  createSettings,
  insertPayments,
  newAddress,
  newKey,
  queueAll,
  type RunnerChanges,
  TOKEN,
  useFixture,
} from '../fixture.ts'
import { takeLease } from '../lead.ts'
import { BOOKS } from './books.ts'

/** The books are connected, so at each final block the treasury is compared with them. */

const LIMITS = { maxMicroPerPayout: 25_000_000_000n, maxMicroPerDay: 10n ** 15n, fillTolerancePercent: 2 }

describe('the balance of the treasury', () => {
  const fixture = useFixture({ relayers: 1 })
  let other: Awaited<ReturnType<typeof takeDatabase>>
  beforeAll(async () => {
    other = await takeDatabase()
  })
  afterAll(() => other.giveBack())
  afterEach(() => fixture.reset())

  const runner = (changes: RunnerChanges = {}) =>
    fixture.runner({ ...changes, hooks: BOOKS, options: { limits: LIMITS, ...changes.options } })
  const balances = async (db = fixture.db) =>
    new Map((await readBalances(db)).map(({ account, amount }) => [account, amount]))
  const pause = async (db = fixture.db) =>
    (await db.query('select pause from chain_cursor')).rows[0] as { pause: string | null }
  const kinds = async (db = fixture.db) => (await listSettlementAttention(db)).map(({ kind }) => kind)
  const lower = ({ address }: { address: string }) => address.toLowerCase() as Hex
  const operation = () => {
    const lines: string[] = []
    const { db, hooks } = fixture
    return {
      db,
      hooks: { ...hooks, ...BOOKS },
      settings: createSettings(fixture),
      dryRun: false,
      signed: { operator: 'anna', reason: 'a drill' },
      lines,
      say: (line: string) => void lines.push(line),
    }
  }
  const expectBooksToMatch = async (db = fixture.db) =>
    expect((await balances(db)).get('treasury')).toBe((await fixture.balance(lower(fixture.treasury))).toString())

  /** The key of the treasury signs a transfer, and the wallet carries it as the engine would. */
  async function take(from: LocalAccount, transfer: { to: Hex; micro: bigint; nonce?: Hex }): Promise<Hex> {
    const { to, micro, nonce = newKey() } = transfer
    const treasury = lower(fixture.treasury)
    const validBefore = 4_000_000_000
    const signature = await signTransferAuthorization(fixture.treasury, TOKEN, {
      from: treasury,
      to,
      micro,
      validBefore,
      nonce,
    })
    const payout = { ownerId: 'x', treasury, recipient: to, microUsdc: micro.toString(), authNonce: nonce }
    const signed = { kind: 'transfer', validBefore, signature } as const
    const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...payout, signed }])
    await fixture.chain.setBalance({ address: from.address, value: parseEther('100') })
    const raw = await from.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      nonce: await fixture.chain.getTransactionCount({ address: from.address }),
      to: target,
      data: calldata,
      gas: 300_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    const hash = await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 1 })
    return hash
  }

  const deriveNonce = (paymentId: string): Hex =>
    payoutNonce({ chainId: TOKEN.chainId, token: TOKEN.address, treasury: lower(fixture.treasury), ownerId: paymentId })

  test('a thief with the keys of treasury and relayer who takes more than the largest payout pauses everything', async () => {
    const engine = runner()
    await fixture.queue([{}])
    await fixture.finalize(engine)
    const thief = newAddress()
    const hash = await take(fixture.relayers[0]!, { to: thief, micro: 900_000_000_000n })
    await fixture.finalize(engine)
    expect((await pause()).pause).toContain(hash)
    expect((await balances()).get('suspense')).toBe('900000000000')
    await expectBooksToMatch()
    expect(await kinds()).toEqual(expect.arrayContaining(['paused', 'unknown_transfer']))
    const shown = operation()
    expect(await showStatus(shown)).toBe(1)
    expect(shown.lines[0]).toContain('paused')
  })

  test('a thief with the keys of treasury and relayer who takes little is listed, booked and uses up the limit of a day', async () => {
    const engine = runner({ options: { limits: LIMITS, maxMicroPerDay: 50_000_000n } })
    await fixture.finalize(engine)
    const hash = await take(fixture.relayers[0]!, { to: newAddress(), micro: 49_000_000n })
    await fixture.finalize(engine)
    expect(await pause()).toEqual({ pause: null })
    expect((await balances()).get('suspense')).toBe('49000000')
    expect(await kinds()).toEqual(['unclaimed_transfer'])
    const shown = operation()
    expect(await showStatus(shown)).toBe(1)
    expect(shown.lines.join('\n')).toContain('no payout claims 1 transfer out of the treasury')
    const [queued] = await fixture.queue([{ micro: 2_000_000n }])
    await fixture.finalize(engine)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('queued')
    expect(await acknowledge(operation(), hash)).toBe(0)
    expect(await kinds()).toEqual([])
    expect((await balances()).get('suspense')).toBe('0')
    // An acknowledged transfer returns its part of the limit.
    await fixture.finalize(engine)
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
    await expectBooksToMatch()
  })

  test('a merchant with the treasury’s key takes no more by an unpaid payment than its quote, and keeps nothing when it expires', async () => {
    const engine = runner()
    await fixture.finalize(engine)
    const [big, small] = ['pay_thief_big', 'pay_thief_small'].map((paymentId) => ({
      paymentId,
      recipient: newAddress(),
    }))
    await insertPayments(fixture.db, [big!, small!])
    const stranger = createKeyAccount(newKey())
    // The quote is 5,000 micro-USDC, and a fill may be 2 % above it.
    await take(stranger, { to: small!.recipient, micro: 5100n, nonce: deriveNonce(small!.paymentId) })
    await fixture.finalize(engine)
    expect(await pause()).toEqual({ pause: null })
    expect(await kinds()).toEqual(['unclaimed_transfer'])
    const hash = await take(stranger, { to: big!.recipient, micro: 5101n, nonce: deriveNonce(big!.paymentId) })
    await fixture.finalize(engine)
    expect((await pause()).pause).toContain(hash)
    await fixture.db.query(`update payment set status = 'expired' where id = any($1)`, [
      [big!.paymentId, small!.paymentId],
    ])
    fixture.clock.now = new Date(Date.now() + 120_000)
    await fixture.finalize(engine)
    // Money that never arrived is owed to nobody.
    expect((await fixture.db.query('select from payout')).rowCount).toBe(0)
    expect(await kinds()).toEqual(expect.arrayContaining(['unclaimed_transfer', 'unknown_transfer']))
    await expectBooksToMatch()
  })

  test('many transfers that no payout claims pause everything if they exceed the limit of a day', async () => {
    const engine = runner({ options: { limits: { ...LIMITS, maxMicroPerDay: 45_000_000n } } })
    await fixture.finalize(engine)
    for (let time = 0; time < 2; time++) await take(fixture.relayers[0]!, { to: newAddress(), micro: 20_000_000n })
    await fixture.finalize(engine)
    expect(await pause()).toEqual({ pause: null })
    const third = await take(fixture.relayers[0]!, { to: newAddress(), micro: 20_000_000n })
    await fixture.finalize(engine)
    expect((await pause()).pause).toContain(third)
    expect(await acknowledge(operation(), third)).toBe(0)
    expect(await pause()).toEqual({ pause: null })
    await expectBooksToMatch()
  })

  test('a payout that claims an unknown transfer ends the pause for it', async () => {
    const payment = { paymentId: 'pay_overpaid', recipient: newAddress() }
    await insertPayments(fixture.db, [payment])
    const engine = runner()
    await fixture.finalize(engine)
    const hash = await take(createKeyAccount(newKey()), {
      to: payment.recipient,
      micro: 7000n,
      nonce: deriveNonce(payment.paymentId),
    })
    await fixture.finalize(engine)
    expect((await pause()).pause).toContain(hash)
    await queueAll(fixture, [{ ...payment, micro: 7000n }])
    await fixture.finalize(engine)
    expect((await fixture.payout(payment.paymentId)).state).toBe('settled')
    expect(await pause()).toEqual({ pause: null })
    await expectBooksToMatch()
  })

  test('transfers that the books took over are not booked again when a rebuild reads them', async () => {
    await fixture.chain.mine({ blocks: 5 })
    const { number } = await fixture.chain.getBlock({ blockTag: 'finalized' })
    await fixture.finalize(runner({ options: { startBlock: Number(number) } }))
    await expectBooksToMatch()
    await fixture.db.query(`update chain_cursor set owner = null`)
    expect(await rebuild(operation())).toBe(0)
    await fixture.finalize(runner())
    await expectBooksToMatch()
    expect(await pause()).toEqual({ pause: null })
  })

  test('two deployments with the same keys read each other’s payouts, and their books match the treasury’s balance', async () => {
    const second = { ...fixture, db: other.db }
    const engines = [
      runner({ relayers: [fixture.relayers[0]!] }),
      runner({ db: other.db, relayers: [fixture.relayers[0]!] }),
    ]
    await fixture.queue([{ micro: 3_000_000n }])
    await fixture.finalize(engines[0]!)
    await queueAll(second, [{ micro: 4_000_000n }])
    await fixture.finalize(engines[1]!)
    await fixture.finalize(engines[0]!)
    for (const db of [fixture.db, other.db]) {
      expect(await kinds(db)).toContain('unclaimed_transfer')
      expect((await balances(db)).get('suspense')).toBe(db === fixture.db ? '4000000' : '3000000')
      await expectBooksToMatch(db)
    }
  })

  test('a restored database that has lost payments continues to pay, and lists what they were paid', async () => {
    await fixture.queue([{ micro: 3_000_000n }, { micro: 4_000_000n }])
    await fixture.finalize(runner())
    const restored = await takeDatabase()
    const engine = runner({ db: restored.db })
    const [queued] = await queueAll({ ...fixture, db: restored.db }, [{}])
    await fixture.finalize(engine)
    expect(await kinds(restored.db)).toEqual(['unclaimed_transfer', 'unclaimed_transfer'])
    expect(await pause(restored.db)).toEqual({ pause: null })
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
    await expectBooksToMatch(restored.db)
    restored.giveBack()
  })

  test('a payout claims the transfer that was booked to suspense, and the books end as if it had always been known', async () => {
    const payment = { paymentId: 'pay_claims', recipient: newAddress() }
    await insertPayments(fixture.db, [payment])
    const engine = runner()
    await fixture.finalize(engine)
    await take(createKeyAccount(newKey()), {
      to: payment.recipient,
      micro: 4000n,
      nonce: deriveNonce(payment.paymentId),
    })
    await fixture.finalize(engine)
    expect((await balances()).get('suspense')).toBe('4000')
    await queueAll(fixture, [{ ...payment, micro: 4000n }])
    await fixture.finalize(engine)
    expect((await fixture.payout(payment.paymentId)).state).toBe('settled')
    expect((await balances()).get('suspense')).toBe('0')
    expect((await balances()).get('merchant_payable')).toBe('4000')
    expect(await kinds()).toEqual([])
    await expectBooksToMatch()
  })

  test('a balance below the books pauses signing although no node shows a transfer, and an operator can book it as spent', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    try {
      const engine = runner({ url: node.url })
      await fixture.finalize(engine)
      const thief = newAddress()
      const isShown = (log: unknown) => !JSON.stringify(log).includes(thief.slice(2))
      node.behave = ({ method }) =>
        method === 'eth_getLogs' ? { lie: (logs) => (logs as object[]).filter(isShown) } : 'honest'
      await take(createKeyAccount(newKey()), { to: thief, micro: 7_000_000n })
      await fixture.finalize(engine)
      const [queued] = await fixture.queue([{}])
      expect(await pause()).toEqual({ pause: 'the treasuries have 7 USDC less than the books say' })
      await fixture.finalize(engine)
      expect((await fixture.payout(queued!.paymentId)).state).toBe('queued')
      const shown = operation()
      expect(await acknowledge(shown, 'balance')).toBe(0)
      expect(shown.lines).toEqual([expect.stringContaining('7.000000 USDC are booked as spent')])
      await fixture.finalize(engine, 3)
      expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
      await expectBooksToMatch()
      // The withheld transfer explains the acknowledged difference: it counts once.
      node.behave = () => 'honest'
      await fixture.db.query(`update chain_cursor set owner = null`)
      await rebuild(operation())
      expect((await balances()).get('exchange') ?? '0').toBe('0')
      expect((await balances()).get('suspense')).toBe('7000000')
      await expectBooksToMatch()
    } finally {
      await node.close()
    }
  })

  test('a transfer that is acknowledged after the missing amount also counts once', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    try {
      const engine = runner({ url: node.url })
      await fixture.finalize(engine)
      node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
      const hash = await take(createKeyAccount(newKey()), { to: newAddress(), micro: 7_000_000n })
      await fixture.finalize(engine)
      expect(await acknowledge(operation(), 'balance')).toBe(0)
      node.behave = () => 'honest'
      await fixture.db.query(`update chain_cursor set owner = null`)
      const onTreasuryMovement = () => Promise.reject(new Error('the books are closed'))
      await rebuild({ ...operation(), hooks: { ...operation().hooks, onTreasuryMovement } })
      expect(await acknowledge(operation(), hash)).toBe(0)
      expect((await balances()).get('exchange')).toBe('7000000')
      expect((await balances()).get('suspense')).toBe('0')
      await expectBooksToMatch()
    } finally {
      await node.close()
    }
  })

  test('a theft pauses everything in the block that shows it, for as long as the block is in the chain', async () => {
    const engine = runner()
    const [queued] = await fixture.queue([{ micro: 3_000_000n }])
    await engine.tick()
    await fixture.finalize(engine)
    await take(createKeyAccount(newKey()), { to: newAddress(), micro: 7_000_000n })
    await engine.tick()
    expect(await pause()).toEqual({ pause: 'the treasuries have 7 USDC less than the books say' })
    await fixture.chain.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await fixture.chain.mine({ blocks: 1 })
    await engine.tick()
    expect(await pause()).toEqual({ pause: null })
    expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
  })

  // A node may answer for a newer block than was requested.
  test('a transfer that is sent after the books were read is no theft', async () => {
    const engine = runner()
    await fixture.finalize(engine)
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: fixture.db, scope, hooks: { ...fixture.hooks, ...BOOKS } })
    const rpc = connectRpc({ urls: [fixture.anvil.url], quorum: 1, chainId: TOKEN.chainId })
    const watching = { token: TOKEN.address, treasuries: [lower(fixture.treasury)] }
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const deps = { journal, rpc, token: TOKEN, log, clock: () => new Date(), treasuries: [{}], options: {} } as never
    const watch = createBalanceWatch(deps, watching, createNonceWatch(deps, watching))
    await watch.readBooks()
    const [queued] = await fixture.queue([{ micro: 3_000_000n }])
    await runner({ options: { maxInFlight: 0 } }).tick()
    const held = (await fixture.balance(lower(fixture.treasury))) - queued!.micro
    const lease = await takeLease(journal, { owner: 'the watch' })
    await watch.compareNewest(lease, held)
    expect(await pause()).toEqual({ pause: null })
    await watch.compareNewest(lease, held - 1_000_000n)
    expect(await pause()).toEqual({ pause: 'the treasuries have 1 USDC less than the books say' })
  })

  test('a top-up that hides a theft of the same amount hides it for 256 final blocks at most', async () => {
    const engine = runner()
    await fixture.finalize(engine)
    const hash = await take(createKeyAccount(newKey()), { to: newAddress(), micro: 7_000_000n })
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 7_000_000n })
    await fixture.finalize(engine)
    expect(await pause()).toEqual({ pause: null })
    for (let part = 0; part < 3; part++) await fixture.chain.mine({ blocks: 90 })
    await engine.tick()
    expect((await pause()).pause).toContain(hash)
    await engine.tick()
    await expectBooksToMatch()
  })

  test('a payout settles by the receipt of its transaction, while no node shows any log', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    try {
      const engine = runner({ url: node.url })
      await fixture.finalize(engine)
      node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
      const [queued] = await fixture.queue([{}])
      await fixture.finalize(engine, 3)
      expect(await pause()).toEqual({ pause: null })
      expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
      await expectBooksToMatch()
    } finally {
      await node.close()
    }
  })

  test('a late log is no difference, also while thousands of payouts wait for funds', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    try {
      const engine = runner({ url: node.url })
      await fixture.finalize(engine)
      const tooMuch = 1_000_000_000_001n
      await fixture.queue(Array.from({ length: 2400 }, (_payout, at) => ({ paymentId: `pay_${at}`, micro: tooMuch })))
      const [queued] = await fixture.queue([{ paymentId: 'pay_zzz' }])
      node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
      await fixture.finalize(engine, 5)
      expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
      expect(await pause()).toEqual({ pause: null })
    } finally {
      await node.close()
    }
  })

  test('a transfer that no payout claims leaves the books with its block, and comes again with another one', async () => {
    const engine = runner()
    await fixture.finalize(engine, 4)
    await take(fixture.relayers[0]!, { to: newAddress(), micro: 5_000_000n })
    await fixture.chain.mine({ blocks: 3 })
    await engine.tick()
    expect((await balances()).get('suspense')).toBe('5000000')
    await reorganize(fixture, 4, [])
    await engine.tick().catch(() => undefined)
    await repairFinality(operation())
    await fixture.chain.mine({ blocks: 40 })
    await fixture.finalize(engine)
    expect((await balances()).get('suspense')).toBe('0')
    expect(await pause()).toEqual({ pause: null })
    await expectBooksToMatch()
  })

  test('the treasury’s balance before the first block that was read is in the books, and so are later transfers', async () => {
    await fixture.chain.mine({ blocks: 5 })
    const { number } = await fixture.chain.getBlock({ blockTag: 'finalized' })
    const engine = runner({ options: { startBlock: Number(number) } })
    await fixture.finalize(engine)
    await expectBooksToMatch()
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 11_000_000n })
    await fixture.finalize(engine)
    await expectBooksToMatch()
    expect(await pause()).toEqual({ pause: null })
  })
})

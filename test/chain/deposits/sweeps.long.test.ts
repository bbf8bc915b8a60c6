import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { createFixture, createSettings, type Fixture, newAddress, newKey, TOKEN } from '../fixture.ts'
import { readWork } from '../lead.ts'
import { listAfterWords } from '../rotation-fixture.ts'
import { addAwaited } from './awaited.ts'
import { reorganize } from './reversal.ts'

describe('sweeps', () => {
  /** Sweeps are signed for short times, to the current treasury. */

  const keys = createDepositKeys(Buffer.alloc(32, 7).toString('base64'), TOKEN.chainId)
  const deposits = { keys, wrongTokens: [] }
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }

  let fixture: Fixture
  let numbers = 0
  beforeAll(async () => {
    fixture = await createFixture({ micro: 1_000_000n })
  })
  afterAll(() => fixture.stop())

  /** A payment at whose address 5 USDC are final. */
  async function paidDeposit(): Promise<{ paymentId: string; address: Hex }> {
    numbers += 1
    const { paymentId, address } = await addAwaited(fixture.db, keys, `sweep${numbers}`)
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await fixture.chain.mine({ blocks: 4 })
    return { paymentId, address }
  }

  const getSweep = async (paymentId: string) => {
    const { rows } = await fixture.db.query(
      `select state, recipient as treasury, auth_nonce as nonce, valid_before::int as until from deposit_sweep where owner_id = $1`,
      [paymentId],
    )
    expect(rows).toHaveLength(1)
    return rows[0] as { state: string; treasury: Hex; nonce: Hex; until: number }
  }

  /** Signs, and has no capacity to send. */
  const signOnly = () => fixture.runner({ deposits, hooks, options: { maxInFlight: 0 } }).tick()

  // Every round of the engine continued as if there were something to send, and queried its nodes without end.
  test('money that is too little to be swept does not count as waiting work', async () => {
    const runner = fixture.runner({ deposits, hooks: fixture.hooks })
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
    const nothing = { sign: false, send: false, voiding: false, underWay: false }
    const { address } = await addAwaited(fixture.db, keys, 'dust')
    await fixture.finalize(runner)
    expect(await readWork(journal)).toEqual(nothing)
    await mintUsdc(fixture.chain, { to: address, micro: 9_999n })
    await fixture.finalize(runner, 4)
    expect((await fixture.db.query('select unswept_micro from deposit')).rows).toEqual([{ unswept_micro: '9999' }])
    expect(await readWork(journal)).toEqual(nothing)
    await mintUsdc(fixture.chain, { to: address, micro: 1n })
    await fixture.finalize(fixture.runner({ deposits, hooks: fixture.hooks, options: { maxInFlight: 0 } }), 4)
    expect(await readWork(journal)).toMatchObject({ send: true })
  })

  test('a sweep is signed for less than an hour, and again with the same nonce if it could not be sent by then', async () => {
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    const first = await getSweep(paymentId)
    const { timestamp } = await fixture.chain.getBlock()
    expect(first.until - Number(timestamp)).toBeLessThan(3600)
    await fixture.chain.increaseTime({ seconds: 46 * 60 })
    await fixture.chain.mine({ blocks: 1 })
    await signOnly()
    const second = await getSweep(paymentId)
    expect(second).toMatchObject({ state: 'signed', nonce: first.nonce })
    expect(second.until).toBeGreaterThan(first.until)
    await fixture.finalize(fixture.runner({ deposits, hooks }), 3)
    expect((await getSweep(paymentId)).state).toBe('done')
    expect(await fixture.balance(address)).toBe(0n)
  })

  test('a sweep that was signed to a treasury whose key is lost goes to the current one', async () => {
    const successor = createKeyAccount(newKey())
    const lost = fixture.treasury.address.toLowerCase() as Hex
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    expect((await getSweep(paymentId)).treasury).toBe(lost)
    const inLost = await fixture.balance(lost)
    const treasuries = [createTreasurySigner(successor, policy)]
    const treasuryList = listAfterWords(fixture.treasury, successor)
    await fixture.finalize(fixture.runner({ deposits, hooks, treasuries, treasuryList }), 3)
    expect(await getSweep(paymentId)).toMatchObject({ state: 'done', treasury: successor.address.toLowerCase() })
    expect(await fixture.balance(successor.address)).toBe(5_000_000n)
    expect(await fixture.balance(lost)).toBe(inLost)
    expect(await fixture.balance(address)).toBe(0n)
  })

  // Later money waited forever behind a sweep that the token refuses, and no operator was notified.
  test('a sweep that is signed for more than the balance since a repair is signed again for later money', async () => {
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    const first = await getSweep(paymentId)
    await reorganize(fixture, 6, [])
    await repairFinality({
      db: fixture.db,
      hooks,
      settings: createSettings(fixture),
      dryRun: false,
      say: () => undefined,
    })
    expect(await fixture.balance(address)).toBe(0n)
    // Without a balance it does not change.
    await signOnly()
    expect(await getSweep(paymentId)).toEqual(first)
    await mintUsdc(fixture.chain, { to: address, micro: 3_000_000n })
    await fixture.chain.mine({ blocks: 25 })
    await fixture.finalize(fixture.runner({ deposits, hooks }), 6)
    expect(await getSweep(paymentId)).toMatchObject({ state: 'done', nonce: first.nonce })
    expect(await fixture.balance(address)).toBe(0n)
    const unswept = await fixture.db.query('select unswept_micro from deposit where payment_id = $1', [paymentId])
    expect(unswept.rows).toEqual([{ unswept_micro: '0' }])
  })

  /** A thief with the key of an address takes USDC from it. */
  async function takeByHand(account: Hex, to: Hex, micro: bigint): Promise<void> {
    const { chain } = fixture
    await chain.impersonateAccount({ address: account })
    await chain.setBalance({ address: account, value: 10n ** 18n })
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [to, micro] })
    await chain.sendTransaction({ account, to: TOKEN.address, data, chain: null })
    await chain.mine({ blocks: 4 })
  }

  // It stayed signed, later money waited behind it, and no list named it.
  test('a sweep of more than the balance is listed after an hour; the rest counts as swept when it is moved to the treasury by hand', async () => {
    const named = async () =>
      (await fixture.db.query(`select kind, livemode, subject, detail from settlement_attention`)).rows
    const { paymentId, address } = await paidDeposit()
    await signOnly()
    await takeByHand(address, newAddress(), 5_000_000n)
    await mintUsdc(fixture.chain, { to: address, micro: 3_000_000n })
    await fixture.finalize(fixture.runner({ deposits, hooks }), 6)
    expect(await fixture.balance(address)).toBe(3_000_000n)
    expect(await named()).toEqual([])
    await fixture.db.query(`update deposit_sweep set created_at = now() - interval '61 minutes' where owner_id = $1`, [
      paymentId,
    ])
    const detail = `5000000 micro-USDC are to be swept from ${address}`
    expect(await named()).toEqual([{ kind: 'sweep', livemode: false, subject: paymentId, detail }])
    await takeByHand(address, fixture.treasury.address, 3_000_000n)
    await fixture.finalize(fixture.runner({ deposits, hooks }), 3)
    expect(
      (await fixture.db.query('select unswept_micro from deposit where payment_id = $1', [paymentId])).rows,
    ).toEqual([{ unswept_micro: '5000000' }])
  })

  // It was the first of every round, and ended the round before any other was signed or sent.
  test('an address whose seed is missing delays no other sweep', async () => {
    const lost = createDepositKeys(Buffer.alloc(32, 8).toString('base64'), TOKEN.chainId)
    const { address: unswept } = await addAwaited(fixture.db, lost, 'lost')
    await fixture.db.query(`update deposit set created_at = now() - interval '1 day' where address = $1`, [unswept])
    await mintUsdc(fixture.chain, { to: unswept, micro: 5_000_000n })
    const { paymentId, address } = await paidDeposit()
    const runner = fixture.runner({ deposits, hooks })
    for (let round = 0; round < 5; round++) {
      await runner.tick().catch((error: Error) => expect(error.message).toContain(unswept))
      await fixture.chain.mine({ blocks: 4 })
    }
    await expect(runner.tick()).rejects.toThrow(`the key of ${unswept} follows from no deposit seed`)
    expect((await getSweep(paymentId)).state).toBe('done')
    expect(await fixture.balance(address)).toBe(0n)
    expect(await fixture.balance(unswept)).toBe(5_000_000n)
  })

  test('a sweep that was signed to an earlier treasury stays at its address if its seed is missing', async () => {
    const { paymentId, address } = await paidDeposit()
    await signOnly().catch(() => undefined)
    expect((await getSweep(paymentId)).state).toBe('signed')
    const treasuries = [createTreasurySigner(createKeyAccount(newKey()), policy)]
    const other = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), TOKEN.chainId)
    const runner = fixture.runner({ deposits: { keys: other, wrongTokens: [] }, hooks, treasuries })
    for (let round = 0; round < 3; round++) {
      await runner.tick().catch((error: Error) => expect(error.message).toContain('from no deposit seed'))
      await fixture.chain.mine({ blocks: 4 })
    }
    expect(await fixture.balance(address)).toBe(5_000_000n)
  })

  // As many as a round signs were the first of every round.
  test.each([
    { what: 'is not signed', until: null },
    { what: 'was signed to an earlier treasury', until: 4_000_000_000 },
    { what: 'was signed and has expired', until: 1 },
  ])('a hundred addresses whose seed is missing delay no other sweep: their money $what', async ({ until }) => {
    const lost = createDepositKeys(Buffer.alloc(32, 10).toString('base64'), TOKEN.chainId)
    for (let count = 0; count < 100; count++) await addAwaited(fixture.db, lost, `a${until}lost${count}`)
    await fixture.db.query(
      `update deposit set unswept_micro = 5000000, created_at = now() - interval '1 day' where payment_id like $1`,
      [`pay_a${until}lost%`],
    )
    const to = until === 1 ? fixture.treasury.address.toLowerCase() : newAddress()
    if (until !== null)
      await fixture.db.query(
        `insert into deposit_sweep (owner_id, idx, chain_id, token, sender, recipient, micro_usdc, auth_nonce, signature, valid_before, state,
         created_at)
       select payment_id, 0, chain_id, token, address, $2, 5000000, '0x' || encode(sha256(payment_id::bytea), 'hex'),
         decode(repeat('11', 65), 'hex'), $3, 'signed', created_at from deposit where payment_id like $1`,
        [`pay_a${until}lost%`, to, until],
      )
    const { paymentId, address } = await paidDeposit()
    const runner = fixture.runner({ deposits, hooks })
    for (let round = 0; round < 6; round++) {
      await runner.tick().catch((error: Error) => expect(error.message).toContain('from no deposit seed'))
      await fixture.chain.mine({ blocks: 4 })
    }
    expect((await getSweep(paymentId)).state).toBe('done')
    expect(await fixture.balance(address)).toBe(0n)
    await fixture.db.query(`update deposit set unswept_micro = 0 where payment_id like $1`, [`pay_a${until}lost%`])
    await fixture.db.query(`update deposit_sweep set state = 'abandoned' where owner_id like $1`, [
      `pay_a${until}lost%`,
    ])
  })
})

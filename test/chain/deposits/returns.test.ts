import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { encodeFunctionData, erc20Abi, parseAbi, parseEther, parseSignature } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { signTransferAuthorization } from '../../../src/chain/authorization.ts'
import { createDepositKeys, fundingNonce, sweepNonce } from '../../../src/chain/deposits/deposit-keys.ts'
import {
  hasRefundUsdc,
  insertRefund,
  loadRefund,
  openRefundDeposit,
  storeFunding,
} from '../../../src/db/refunds/refunds.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Refund } from '../../../src/domain/refund/refund.ts'
import { renderRefund, validBefore } from '../../../src/domain/refund/refund-object.ts'
import { asUsdcOwner, mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import {
  createFixture,
  type Fixture,
  insertPayments,
  newAddress,
  newKey,
  type RunnerChanges,
  TOKEN,
} from '../fixture.ts'

/** USDC at the addresses of refunds, on a chain: what the treasury takes, and what goes back to the merchant. */

const keys = createDepositKeys(Buffer.alloc(32, 7).toString('base64'), TOKEN.chainId)
const deposits = { keys, wrongTokens: [] }
const REQUIRED = 5_000_000n

let fixture: Fixture
let numbers = 0
beforeAll(async () => {
  fixture = await createFixture({ micro: 1_000_000n })
})
afterAll(() => fixture.stop())

// The effect of returns on refunds is tested elsewhere: here the hooks only record their calls.
const { onTreasuryMovement } = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
const runner = (changes: RunnerChanges = {}) =>
  fixture.runner({ ...changes, deposits, hooks: { ...fixture.hooks, onTreasuryMovement } })

/** A refund of 5 USDC of a settled payment, with its address. */
async function openRefund(wallet: Hex = newAddress()) {
  numbers += 1
  const [paymentId, attemptId, id] = [`pay_return${numbers}`, `att_return${numbers}`, `re_return${numbers}`]
  await insertPayments(fixture.db, [{ paymentId, recipient: wallet }])
  await fixture.db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, created_at, updated_at)
     values ($1, $2, 'wallet_app', 'banking_app', 'paid', 500, 'USD', 500, now(), now())`,
    [attemptId, paymentId],
  )
  const { rows } = await fixture.db.query(
    `update payment set payout = 'paid', status = 'succeeded', provider_used = 'wallet_app', paid_attempt_id = $2,
       charge_currency = 'USD', confirmed_minor = 500 where id = $1 returning merchant_id`,
    [paymentId, attemptId],
  )
  const tenant = { merchantId: rows[0].merchant_id, livemode: false }
  const [createdAt, expiresAt] = [new Date().toISOString(), new Date(Date.now() + 3_600_000).toISOString()]
  await insertRefund(fixture.db, tenant, {
    id,
    paymentId,
    attemptId,
    amount: { minor: '500', currency: 'USD' },
    reason: null,
    metadata: null,
    fundFrom: 'wallet',
    paymentVersion: 1,
    rate: '1',
    rateSource: 'test',
    requiredMicro: REQUIRED.toString(),
    request: null,
    createdAt,
    expiresAt,
  })
  const address = keys.deriveAddress(id)
  const nonce = fundingNonce({ chainId: TOKEN.chainId, token: TOKEN.address, id })
  const place = { address, nonce, tokenName: TOKEN.name }
  const refund = { ...(await loadRefund(fixture.db, id)), place }
  await fixture.db.transaction((tx) => openRefundDeposit(tx, refund, 86_400))
  return { id, address, wallet, refund }
}

const decide = (id: string, micro: bigint) =>
  fixture.db.query('update deposit set treasury_micro = $2::numeric where refund_id = $1', [id, micro.toString()])

const listSweeps = async (id: string) => {
  const { rows } = await fixture.db.query(
    `select idx || ' ' || state || ' ' || micro_usdc || case when returned_block is null then '' else ' back' end as line
     from deposit_sweep where owner_id = $1 order by idx`,
    [id],
  )
  return rows.map(({ line }) => line)
}
const unswept = async (id: string) =>
  (await fixture.db.query('select unswept_micro::text as micro from deposit where refund_id = $1', [id])).rows[0].micro

test('USDC of a refund stays at its address until the refund is over; then the treasury takes its part, and the rest goes back', async () => {
  const { id, address, wallet } = await openRefund()
  const engine = runner()
  await fixture.finalize(engine)
  const before = await fixture.balance(fixture.treasury.address)
  await mintUsdc(fixture.chain, { to: address, micro: 7_000_000n })
  await fixture.finalize(engine, 4)
  expect([await fixture.balance(address), await listSweeps(id)]).toEqual([7_000_000n, []])
  await decide(id, REQUIRED)
  await fixture.finalize(engine, 8)
  expect(await fixture.balance(fixture.treasury.address)).toBe(before + REQUIRED)
  expect(await fixture.balance(wallet)).toBe(2_000_000n)
  expect(await fixture.balance(address)).toBe(0n)
  expect(await listSweeps(id)).toEqual(['0 done 5000000', '1 done 2000000 back'])
  expect(await unswept(id)).toBe('0')
  expect(fixture.hookCalls.returned).toMatchObject([{ refundId: id, index: 1, micro: '2000000' }])
  // USDC that arrives after that goes back too.
  await mintUsdc(fixture.chain, { to: address, micro: 1_000_000n })
  await fixture.finalize(engine, 8)
  expect(await fixture.balance(wallet)).toBe(3_000_000n)
  expect(await listSweeps(id)).toEqual(['0 done 5000000', '1 done 2000000 back', '2 done 1000000 back'])
})

test('the treasury takes its share of a refund once, also if USDC arrives before the log of that transfer is read', async () => {
  const { id, address, wallet } = await openRefund()
  const engine = runner()
  await fixture.finalize(engine)
  const before = await fixture.balance(fixture.treasury.address)
  await mintUsdc(fixture.chain, { to: address, micro: REQUIRED })
  await fixture.finalize(engine, 4)
  await takeShare(id, address)
  await mintUsdc(fixture.chain, { to: address, micro: REQUIRED })
  await decide(id, REQUIRED)
  await engine.tick()
  await engine.tick()
  expect(await listSweeps(id)).toEqual(['0 signed 5000000'])
  await fixture.finalize(engine, 8)
  expect(await fixture.balance(fixture.treasury.address)).toBe(before + REQUIRED)
  expect([await fixture.balance(wallet), await fixture.balance(address)]).toEqual([REQUIRED, 0n])
  expect(await listSweeps(id)).toEqual(['0 done 5000000', '1 done 5000000 back'])
})

/** Makes the transfer of the treasury's share as a worker does whose database was lost since. */
async function takeShare(id: string, address: Hex): Promise<void> {
  const account = keys.findAccount(id, address)
  if (account === null) throw new Error('the address has no key')
  const transfer = {
    from: address,
    to: fixture.treasury.address,
    micro: REQUIRED,
    validBefore: 2 ** 40,
    nonce: sweepNonce({ chainId: TOKEN.chainId, token: TOKEN.address, address, ownerId: id, index: 0 }),
  }
  const signature = await signTransferAuthorization(account, TOKEN, transfer)
  const { r, s, v } = parseSignature(signature)
  const [sender = newAddress()] = await fixture.chain.getAddresses()
  await fixture.chain.writeContract({
    account: sender,
    address: TOKEN.address,
    abi: parseAbi([
      'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    ]),
    functionName: 'transferWithAuthorization',
    args: [address, transfer.to, REQUIRED, 0n, BigInt(transfer.validBefore), transfer.nonce, Number(v), r, s],
    chain: null,
  })
  await fixture.chain.mine({ blocks: 1 })
}

test('all USDC of a refund that did not succeed goes back, exactly once, also with two engines', async () => {
  const { id, address, wallet } = await openRefund()
  const [one, other] = [runner(), runner()]
  await fixture.finalize(one)
  await mintUsdc(fixture.chain, { to: address, micro: REQUIRED })
  await fixture.finalize(one, 4)
  await decide(id, 0n)
  for (let round = 0; round < 8; round++) {
    await one.tick()
    await other.tick()
    await fixture.chain.mine({ blocks: 3 })
  }
  await fixture.finalize(one, 4)
  expect([await fixture.balance(wallet), await fixture.balance(address)]).toEqual([REQUIRED, 0n])
  expect(await listSweeps(id)).toEqual(['1 done 5000000 back'])
  expect(fixture.hookCalls.returned.filter(({ refundId }) => refundId === id)).toHaveLength(1)
})

test('USDC that has gone back before the database knows the end of the refund is recorded, as after a restored backup', async () => {
  const { id, address, wallet } = await openRefund()
  const engine = runner()
  await fixture.finalize(engine)
  await mintUsdc(fixture.chain, { to: address, micro: REQUIRED })
  await fixture.finalize(engine, 4)
  expect([await unswept(id), await hasRefundUsdc(fixture.db, id)]).toEqual([REQUIRED.toString(), true])
  await fixture.chain.setBalance({ address, value: parseEther('1') })
  await fixture.chain.impersonateAccount({ address })
  await fixture.chain.writeContract({
    account: address,
    address: TOKEN.address,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [wallet, REQUIRED],
    chain: null,
  })
  await fixture.chain.mine({ blocks: 4 })
  await fixture.finalize(engine, 4)
  expect([await unswept(id), await hasRefundUsdc(fixture.db, id)]).toEqual(['0', false])
  expect(fixture.hookCalls.returned).toContainEqual(
    expect.objectContaining({ refundId: id, micro: REQUIRED.toString() }),
  )
})

test('where the USDC of a refund goes is decided once', async () => {
  const { id } = await openRefund()
  await decide(id, 0n)
  await expect(decide(id, REQUIRED)).rejects.toThrow(`where the USDC of ${id} goes is decided`)
  const move = fixture.db.query(`update deposit set return_to = '0x${'9'.repeat(40)}' where refund_id = $1`, [id])
  await expect(move).rejects.toThrow(`where the USDC of ${id} goes is decided`)
})

const readRefusal = async (id: string) => (await loadRefund(fixture.db, id)).fundingRefusal

const sign = (refund: Refund, signature: Hex) =>
  fixture.db.transaction((tx) =>
    storeFunding(tx, refund, {
      nonce: refund.place?.nonce as Hex,
      signature,
      validBefore: validBefore(refund.expiresAt),
    }),
  )

test('a wallet that signs pays for a refund once and without gas, however often it signs', async () => {
  const account = privateKeyToAccount(newKey())
  const wallet = account.address.toLowerCase() as Hex
  const { id, address, refund } = await openRefund(wallet)
  const engine = runner()
  await fixture.finalize(engine)
  const signature = await account.signTypedData(renderRefund(refund).funding?.typed_data as never)
  await sign(refund, signature)
  // There is no USDC yet: the authorization waits, and is seen as refused.
  await fixture.finalize(engine, 2)
  expect(await readRefusal(id)).toBe('insufficient_balance')
  await mintUsdc(fixture.chain, { to: wallet, micro: 3n * REQUIRED })
  await pass(id)
  await fixture.finalize(engine, 6)
  await sign(refund, signature)
  await fixture.finalize(engine, 6)
  expect([await fixture.balance(address), await fixture.balance(wallet)]).toEqual([REQUIRED, 2n * REQUIRED])
  expect(await fixture.chain.getBalance({ address: account.address })).toBe(0n)
  expect(await listSweeps(id)).toEqual(['1 done 5000000'])
  await decide(id, REQUIRED)
  await fixture.finalize(engine, 6)
  expect(await listSweeps(id)).toEqual(['0 done 5000000', '1 done 5000000'])
})

test('a nonce that the wallet has canceled is reported by the second try, when a transfer would be known', async () => {
  const account = privateKeyToAccount(newKey())
  const wallet = account.address.toLowerCase() as Hex
  const { id, refund } = await openRefund(wallet)
  const engine = runner()
  await fixture.finalize(engine)
  await mintUsdc(fixture.chain, { to: wallet, micro: REQUIRED })
  await cancel(account, refund.place?.nonce as Hex)
  await sign(refund, await account.signTypedData(renderRefund(refund).funding?.typed_data as never))
  await engine.tick()
  expect([await readRefusal(id), await listSweeps(id)]).toEqual([null, ['1 signed 5000000']])
  await pass(id)
  await fixture.finalize(engine, 2)
  expect([await readRefusal(id), await listSweeps(id)]).toEqual(['nonce_used', ['1 abandoned 5000000']])
  expect(await sign(refund, `0x${'5a'.repeat(65)}`)).toBe(false)
})

/** As if the time until the next try had passed. */
const pass = (id: string) =>
  fixture.db.query(`update deposit_sweep set refused_at = refused_at - interval '40 seconds' where owner_id = $1`, [id])

/** A stranger sends the wallet's cancellation (EIP-3009). */
async function cancel(account: PrivateKeyAccount, nonce: Hex): Promise<void> {
  const signature = await account.signTypedData({
    domain: { name: TOKEN.name, version: '2', chainId: TOKEN.chainId, verifyingContract: TOKEN.address },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: account.address, nonce },
  })
  const { r, s, v } = parseSignature(signature)
  const [sender = newAddress()] = await fixture.chain.getAddresses()
  await fixture.chain.writeContract({
    account: sender,
    address: TOKEN.address,
    abi: parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)']),
    functionName: 'cancelAuthorization',
    args: [account.address, nonce, Number(v), r, s],
    chain: null,
  })
  await fixture.chain.mine({ blocks: 1 })
}

/** Runtime code of a contract that calls every signature valid (EIP-1271). */
const WALLET_CODE: Hex = `0x7f1626ba7e${'00'.repeat(28)}60005260206000f3`

test('a wallet that is a contract pays with a signature of any length', async () => {
  const wallet = newAddress()
  await fixture.chain.setCode({ address: wallet, bytecode: WALLET_CODE })
  const { id, address, refund } = await openRefund(wallet)
  const engine = runner()
  await fixture.finalize(engine)
  await mintUsdc(fixture.chain, { to: wallet, micro: REQUIRED })
  await sign(refund, `0x${'5a'.repeat(130)}`)
  await fixture.finalize(engine, 6)
  expect([await fixture.balance(address), await fixture.balance(wallet)]).toEqual([REQUIRED, 0n])
  expect(await listSweeps(id)).toEqual(['1 done 5000000'])
})

/** Runtime code of a contract that calls a signature valid as long as nobody pays for gas: when it is simulated. */
const DECEIVING_CODE: Hex = '0x3a15631626ba7e60e01b0260005260206000f3'

test('a contract that accepts its signature only when it is simulated costs one transaction, however often it signs', async () => {
  const wallet = newAddress()
  await fixture.chain.setCode({ address: wallet, bytecode: DECEIVING_CODE })
  const { id, refund } = await openRefund(wallet)
  const engine = runner()
  await fixture.finalize(engine)
  await mintUsdc(fixture.chain, { to: wallet, micro: REQUIRED })
  const sent = await countEnvelopes()
  const again = async () => {
    await sign(refund, `0x${'5a'.repeat(65)}`)
    await fixture.finalize(engine, 6)
    await pass(id)
  }
  for (let time = 0; time < 4; time++) await again()
  expect((await countEnvelopes()) - sent).toBe(1)
  expect([await readRefusal(id), await listSweeps(id)]).toEqual(['other', ['1 abandoned 5000000']])
})

const countEnvelopes = async (): Promise<number> =>
  (await fixture.db.query('select count(*)::int as count from lane_tx')).rows[0].count

test('a return that the token always refuses does not keep others waiting, however many there are', async () => {
  const engine = runner({ maxItems: 2 })
  const blocked = newAddress()
  const call = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'blacklist', args: [blocked] })
  await asUsdcOwner(fixture.chain, call)
  const deposit = async (wallet?: Hex) => {
    const { id, address } = await openRefund(wallet)
    await decide(id, 0n)
    await mintUsdc(fixture.chain, { to: address, micro: REQUIRED })
    return address
  }
  for (let count = 0; count < 3; count++) await deposit(blocked)
  await fixture.finalize(engine, 4)
  const wallet = newAddress()
  await deposit(wallet)
  await fixture.finalize(engine, 8)
  expect([await fixture.balance(wallet), await fixture.balance(blocked)]).toEqual([REQUIRED, 0n])
})

test('a signature of another wallet, or of a refund that is over, moves nothing', async () => {
  const [account, stranger] = [privateKeyToAccount(newKey()), privateKeyToAccount(newKey())]
  const wallet = account.address.toLowerCase() as Hex
  await mintUsdc(fixture.chain, { to: wallet, micro: 2n * REQUIRED })
  const [one, over] = [await openRefund(wallet), await openRefund(wallet)]
  const engine = runner()
  await fixture.finalize(engine)
  await sign(one.refund, await stranger.signTypedData(renderRefund(one.refund).funding?.typed_data as never))
  await sign(over.refund, await account.signTypedData(renderRefund(over.refund).funding?.typed_data as never))
  await decide(over.id, 0n)
  await fixture.finalize(engine, 6)
  expect(await fixture.balance(wallet)).toBe(2n * REQUIRED)
  expect(await listSweeps(one.id)).toEqual(['1 signed 5000000'])
  expect([await readRefusal(one.id), await readRefusal(over.id)]).toEqual(['invalid_signature', null])
})

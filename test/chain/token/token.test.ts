import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { sql } from '../../../src/db/db.ts'
import { requestVoid } from '../../../src/db/settlement/payouts.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { SignedPayout } from '../../../src/domain/settlement/payout.ts'
import { asUsdcOwner, mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createWorld, newAddress, newKey, type Queued, TOKEN, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ micro: 10_000_000_000n, relayers: 1 })
})
afterAll(() => world.stop())

type AdminCall = 'pause' | 'unpause' | 'blacklist' | 'unBlacklist'
const admin = (functionName: AdminCall, args: readonly Hex[] = []) =>
  asUsdcOwner(world.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: args as never }))

const state = async ({ paymentId }: Queued) => {
  const { state, holdReason } = await world.payout(paymentId)
  return holdReason === null ? state : `${state}(${holdReason})`
}

/** The payout as the treasury has signed it: what is in our calldata for everyone to see. */
async function signedPayout({ paymentId }: Queued): Promise<SignedPayout> {
  const [payout] = await readSigned(world.db, sql`p.payment_id = ${paymentId}`, 1)
  if (payout === undefined) throw new Error(`${paymentId} is not signed`)
  return payout
}

/** Somebody else carries an authorization to the chain. */
async function carry(payouts: readonly SignedPayout[], gas = 500_000n): Promise<Hex> {
  const stranger = privateKeyToAccount(newKey())
  await world.chain.setBalance({ address: stranger.address, value: parseEther('10') })
  const { target, calldata } = multicallCodec.encode(TOKEN.address, payouts)
  const raw = await stranger.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: target,
    data: calldata,
    gas,
    maxFeePerGas: 2_000_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000_000n,
  })
  return world.chain.sendRawTransaction({ serializedTransaction: raw })
}

test('a blacklisted recipient is held and does not keep the others from being paid', async () => {
  const bad = newAddress()
  await admin('blacklist', [bad])
  const queued = await world.queue([{}, { recipient: bad }, {}])
  const runner = world.runner()
  await world.finalize(runner)
  expect(await Promise.all(queued.map(state))).toEqual(['settled', 'held(blacklisted)', 'settled'])
  expect(world.heard.held).toContainEqual(
    expect.objectContaining({ paymentId: queued[1]!.paymentId, reason: 'blacklisted' }),
  )
})

test('a recipient blacklisted after the signature is left out of the batch', async () => {
  const bad = newAddress()
  const queued = await world.queue([{}, { recipient: bad }, {}])
  // Nothing is sent while no slot is free; the signatures are made.
  await world.runner({ options: { maxInFlight: 0 } }).tick()
  expect(await Promise.all(queued.map(state))).toEqual(['authorized', 'authorized', 'authorized'])
  await admin('blacklist', [bad])
  await world.finalize(world.runner())
  expect(await Promise.all(queued.map(state))).toEqual(['settled', 'held(blacklisted)', 'settled'])
})

test('while USDC is paused payouts are held; afterwards they go on by themselves', async () => {
  await admin('pause')
  const queued = await world.queue([{}])
  const runner = world.runner()
  await runner.assertReady()
  await runner.tick()
  expect(await state(queued[0]!)).toBe('held(paused)')
  await admin('unpause')
  await world.finalize(runner)
  expect(await state(queued[0]!)).toBe('settled')
  expect(world.heard.released).toContain(queued[0]!.paymentId)
})

test('a payout that the treasury cannot cover waits; smaller ones of other merchants are paid meanwhile', async () => {
  const big = newAddress()
  const treasury = await world.balance(world.treasury.address)
  const queued = await world.queue([{ recipient: big, micro: treasury + 1n }, { recipient: big }, {}, {}])
  const runner = world.runner()
  world.clock.now = new Date(Date.now() + 1000)
  await world.finalize(runner)
  expect(await Promise.all(queued.map(state))).toEqual(['held(funds)', 'held(funds)', 'settled', 'settled'])
  await mintUsdc(world.chain, { to: world.treasury.address, micro: 20_000_000n })
  await world.finalize(runner, 3)
  expect(await Promise.all(queued.map(state))).toEqual(['settled', 'settled', 'settled', 'settled'])
  expect(await world.balance(big)).toBe(treasury + 1n + queued[1]!.micro)
  await mintUsdc(world.chain, { to: world.treasury.address, micro: 1_000_000_000n })
})

test('top-ups of the treasury are reported once, with their amount', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  await mintUsdc(world.chain, { to: world.treasury.address, micro: 777n })
  await world.finalize(runner)
  await world.finalize(world.runner())
  expect(world.heard.movements.filter(({ micro }) => micro === '777')).toEqual([
    expect.objectContaining({ direction: 'in', treasury: world.treasury.address.toLowerCase() }),
  ])
})

test('a relayer without gas money waits, and fails no payout', async () => {
  const relayer = world.relayers[0]!.address
  await world.chain.setBalance({ address: relayer, value: 1n })
  const queued = await world.queue([{}])
  const runner = world.runner()
  await world.finalize(runner)
  expect(await state(queued[0]!)).toBe('authorized')
  const { rows } = await world.db.query('select status from lane')
  expect(rows).toEqual([{ status: 'paused_gas' }])
  await world.chain.setBalance({ address: relayer, value: parseEther('1000') })
  await world.finalize(runner)
  expect(await state(queued[0]!)).toBe('settled')
})

test('an authorization that somebody else carried first is recognised as settled by its log', async () => {
  const queued = await world.queue([{}, {}])
  const runner = world.runner()
  await runner.tick()
  const hash = await carry([await signedPayout(queued[0]!)])
  await world.finalize(runner)
  expect(await Promise.all(queued.map(state))).toEqual(['settled', 'settled'])
  const first = await world.payout(queued[0]!.paymentId)
  expect(first.txHash).toBe(hash)
  // Their gas, not ours.
  expect(first.proof?.gasWei).toBeNull()
  expect((await world.payout(queued[1]!.paymentId)).proof?.gasWei).toBeGreaterThan(0n)
  for (const { recipient, micro } of queued) expect(await world.balance(recipient)).toBe(micro)
})

test('a cancelled authorization is used on chain, and is no success: the payout is voided', async () => {
  const queued = await world.queue([{}])
  await world.runner({ options: { maxInFlight: 0 } }).tick()
  const signed = await signedPayout(queued[0]!)
  const signer = createTreasurySigner(world.treasury, { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n })
  await carry([{ ...signed, signed: await signer.signCancellation(signed) }])
  await world.finalize(world.runner())
  expect(await state(queued[0]!)).toBe('voided')
  expect(await world.balance(queued[0]!.recipient)).toBe(0n)
  expect(world.heard.settled.map(({ paymentId }) => paymentId)).not.toContain(queued[0]!.paymentId)
  expect(world.heard.voided.map(({ paymentId }) => paymentId)).toContain(queued[0]!.paymentId)
})

test('a payout is voided by a cancellation on chain, also one that was never signed', async () => {
  const queued = await world.queue([{}, {}])
  await world.db.transaction((tx) => requestVoid(tx, queued[0]!.paymentId))
  const runner = world.runner()
  await runner.tick()
  expect(await state(queued[0]!)).toBe('voiding')
  await world.finalize(runner)
  expect(await Promise.all(queued.map(state))).toEqual(['voided', 'settled'])
  const { proof } = await world.payout(queued[0]!.paymentId)
  expect(proof?.blockNumber).toBeGreaterThan(0)
  expect(await world.balance(queued[0]!.recipient)).toBe(0n)
  // Both were in one transaction, and each is told its half of the gas.
  const told = [...world.heard.settled, ...world.heard.voided].filter(
    (one) => 'txHash' in one && one.txHash === proof?.txHash,
  )
  const { gasUsed, effectiveGasPrice } = await world.chain.getTransactionReceipt({ hash: proof!.txHash })
  expect(told.map((one) => ('gasWei' in one ? one.gasWei : null))).toEqual([
    (gasUsed * effectiveGasPrice) / 2n,
    (gasUsed * effectiveGasPrice) / 2n,
  ])
})

test('a payout that was seen on chain before it was signed here, and then no more, is signed and paid once', async () => {
  const [queued] = await world.queue([{}])
  const waiting = world.runner({ options: { maxInFlight: 0 } })
  await waiting.tick()
  const signed = await signedPayout(queued!)
  // As after a restore to the time before it was signed, while its transaction is on its way.
  await world.db.query('delete from payout_signature where payment_id = $1', [queued!.paymentId])
  await world.db.query(`update payout set state = 'queued' where payment_id = $1`, [queued!.paymentId])
  await carry([signed])
  await world.chain.mine({ blocks: 1 })
  await waiting.tick()
  // The nonce is used, so that it waits.
  expect(await state(queued!)).toBe('queued')
  await world.chain.request({ method: 'anvil_reorg', params: [1, []] } as never)
  await world.finalize(world.runner(), 3)
  expect(await state(queued!)).toBe('settled')
  expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
})

test('a transfer that is already on its way may win over a void; then it is settled', async () => {
  const queued = await world.queue([{}])
  const runner = world.runner()
  await runner.tick()
  await world.db.transaction((tx) => requestVoid(tx, queued[0]!.paymentId))
  await world.finalize(runner)
  expect(await state(queued[0]!)).toBe('settled')
})

test('an authorization that expired in the pool is signed again with the same nonce, and paid once', async () => {
  const queued = await world.queue([{}])
  const runner = world.runner()
  await runner.tick()
  const before = await signedPayout(queued[0]!)
  await world.chain.increaseTime({ seconds: 46 * 60 })
  await world.finalize(runner, 4)
  const after = await signedPayout(queued[0]!)
  expect(after.authNonce).toBe(before.authNonce)
  expect(after.signed.validBefore).toBeGreaterThan(before.signed.validBefore!)
  expect(await state(queued[0]!)).toBe('settled')
  expect(await world.balance(queued[0]!.recipient)).toBe(queued[0]!.micro)
})

test('the gas limit comes from the formula: what an estimator proposes for a batch would pay nobody', async () => {
  const queued = await world.queue([{}])
  await world.runner({ options: { maxInFlight: 0 } }).tick()
  const signed = await signedPayout(queued[0]!)
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [signed])
  const estimate = await world.chain.estimateGas({ account: newAddress(), to: target, data: calldata })
  await carry([signed], estimate)
  await world.chain.mine({ blocks: 1 })
  expect(await world.balance(queued[0]!.recipient)).toBe(0n)
  expect(estimate).toBeLessThan(multicallCodec.gasLimit(1))
  await world.finalize(world.runner())
  expect(await world.balance(queued[0]!.recipient)).toBe(queued[0]!.micro)
})

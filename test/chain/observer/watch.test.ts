import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { TOPICS } from '../../../src/chain/token/contracts.ts'
import { readBalances } from '../../../src/db/ledger.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { acknowledgeTransfers } from '../../../src/db/settlement/operator.ts'
import { requestVoid } from '../../../src/db/settlement/payouts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Payout } from '../../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { startHostileNode } from '../../support/hostile-node.ts'
import { passRests } from '../rotation-world.ts'
import { createWorld, insertPayments, newAddress, newKey, queueAll, TOKEN, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
const state = async (paymentId: string) => (await world.payout(paymentId)).state

async function send(from: LocalAccount, call: { to: Hex; data: Hex }): Promise<Hex> {
  await world.chain.setBalance({ address: from.address, value: parseEther('100') })
  const raw = await from.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: await world.chain.getTransactionCount({ address: from.address }),
    ...call,
    gas: 300_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  return world.chain.sendRawTransaction({ serializedTransaction: raw })
}

/** A transfer that the treasury's key signed for a payment, carried by a stranger. */
async function carryForPayment(paymentId: string, recipient: Hex, micro = 4000n): Promise<Hex> {
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
  return send(privateKeyToAccount(newKey()), { to: target, data: calldata })
}

test('a transfer of a payment whose payout a restored backup has forgotten stops nothing, and settles it later', async () => {
  const payment = { paymentId: 'pay_forgotten', recipient: newAddress() }
  await insertPayments(world.db, [payment])
  await carryForPayment(payment.paymentId, payment.recipient)
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

test('one of a payment that has ended since is settled by itself, and the payment is told', async () => {
  const payment = { paymentId: 'pay_ended_since', recipient: newAddress() }
  await insertPayments(world.db, [payment])
  await carryForPayment(payment.paymentId, payment.recipient)
  await world.finalize(world.runner())
  const payouts = async () =>
    (await world.db.query('select state from payout where payment_id = $1', [payment.paymentId])).rows
  expect(await payouts()).toEqual([])
  await world.db.query(`update payment set status = 'refunded' where id = $1`, [payment.paymentId])
  // Another engine looks at once; the same one looks once a minute.
  await world.finalize(world.runner())
  expect(await payouts()).toEqual([{ state: 'settled' }])
  expect(world.heard.settled.filter(({ paymentId }) => paymentId === payment.paymentId)).toHaveLength(1)
})

test('a transfer out of the treasury that nobody knows pauses every lane in the block that shows it', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  const thief = newAddress()
  const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [thief, 123n] })
  const hash = await send(world.treasury, { to: TOKEN.address, data })
  const queued = await world.queue([{}])
  await world.chain.mine({ blocks: 1 })
  await runner.tick()
  expect(await state(queued[0]!.paymentId)).toBe('queued')
  await world.chain.mine({ blocks: 4 })
  await runner.tick()
  await runner.tick()
  expect(await state(queued[0]!.paymentId)).toBe('queued')
  const { rows } = await world.db.query('select paused_reason from chain_cursor')
  expect(rows[0]).toEqual({ paused_reason: expect.stringContaining(hash) })
  expect(world.heard.movements.at(-1)).toMatchObject({ direction: 'out', micro: '123', counterparty: thief })
  // Another transaction changes nothing; the operator who has looked into this one lets the lanes go on.
  const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
  expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, `0x${'0'.repeat(64)}`))).toBe(1)
  expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
  await world.finalize(runner)
  expect(await state(queued[0]!.paymentId)).toBe('settled')
})

test('an unknown transfer that is final before anybody looked pauses every lane too', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [newAddress(), 5n] })
  const hash = await send(world.treasury, { to: TOKEN.address, data })
  await world.chain.mine({ blocks: 5 })
  const [queued] = await world.queue([{}])
  await runner.tick()
  expect(await state(queued!.paymentId)).toBe('queued')
  const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
  expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
  await world.finalize(runner)
  expect(await state(queued!.paymentId)).toBe('settled')
})

test('what a treasury signs in 24 hours is limited; the rest waits and nothing is lost', async () => {
  const { rows } = await world.db.query(
    'select sum(micro_usdc)::text as micro from treasury_hour where treasury = $1',
    [world.treasury.address.toLowerCase()],
  )
  const spent = BigInt((rows[0] as { micro: string }).micro)
  world.clock.now = new Date(Date.now() + 1000)
  const queued = await world.queue([{ micro: 3_000_000n }, { micro: 3_000_000n }])
  await world.finalize(world.runner({ options: { maxMicroPerDay: spent + 5_000_000n } }))
  expect(await state(queued[0]!.paymentId)).toBe('settled')
  expect(await world.payout(queued[1]!.paymentId)).toMatchObject({ state: 'held', holdReason: 'funds' })
  await world.finalize(world.runner())
  expect(await state(queued[1]!.paymentId)).toBe('settled')
})

test('the limit of 24 hours is kept when signatures are stored, whoever reckoned there was room', async () => {
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

test('a payout of a treasury whose key is gone is voided when no signature of it can be used any more, and not before', async () => {
  const successor = createTreasurySigner(privateKeyToAccount(newKey()), policy)
  const [signed, paid] = await world.queue([{}, {}])
  await world.runner({ options: { maxInFlight: 0 } }).tick()
  const { rows } = await world.db.query('select valid_before from payout_signature where payment_id = $1', [
    signed!.paymentId,
  ])
  expect(rows).toHaveLength(1)
  for (const { paymentId } of [signed!, paid!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
  const options = { retiredTreasuries: [world.treasury.address.toLowerCase() as Hex] }
  const runner = world.runner({ treasuries: [successor], options })
  await world.finalize(runner)
  expect(await state(signed!.paymentId)).toBe('voiding')
  await carryForPayment(paid!.paymentId, paid!.recipient, paid!.micro)
  await world.finalize(runner)
  expect(await state(paid!.paymentId)).toBe('settled')
  // Past every signature that is known, but not past one that a restored backup may have forgotten.
  await world.chain.increaseTime({ seconds: 46 * 60 })
  await passRests(world.db, 46)
  await world.finalize(runner)
  expect(await state(signed!.paymentId)).toBe('voiding')
  await world.chain.increaseTime({ seconds: 15 * 60 })
  await world.chain.mine({ blocks: 4 })
  await passRests(world.db, 15)
  await world.finalize(runner)
  expect(await state(signed!.paymentId)).toBe('voided')
  expect(world.heard.voided.at(-1)).toMatchObject({ kind: 'expired', paymentId: signed!.paymentId })
  expect(await world.balance(signed!.recipient)).toBe(0n)
})

test('a nonce that is used on chain is never voided by expiry, also when its log was not read', async () => {
  const successor = createTreasurySigner(privateKeyToAccount(newKey()), policy)
  const [queued] = await world.queue([{}])
  await world.db.transaction((tx) => requestVoid(tx, queued!.paymentId))
  await carryForPayment(queued!.paymentId, queued!.recipient, queued!.micro)
  await world.chain.mine({ blocks: 5 })
  // A cursor that was set by hand behind the block of the transfer.
  const final = await world.chain.getBlock({ blockTag: 'finalized' })
  await world.db.query('update chain_cursor set scanned_number = $1, scanned_hash = $2', [final.number, final.hash])
  await world.chain.increaseTime({ seconds: 2 * 3600 })
  await world.finalize(world.runner({ treasuries: [successor] }))
  expect(await state(queued!.paymentId)).toBe('voiding')
  await world.db.query('update chain_cursor set scanned_number = 0, scanned_hash = $1', [
    (await world.chain.getBlock({ blockNumber: 0n })).hash,
  ])
  await world.finalize(world.runner())
  expect(await state(queued!.paymentId)).toBe('settled')
})

test('what left the treasury without a payout is missing from the books, once', async () => {
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
  const out = world.heard.movements.find(({ direction }) => direction === 'out')!
  for (let time = 0; time < 2; time++) await world.db.transaction((tx) => hooks.onTreasuryMovement(tx, out))
  expect(await readBalances(world.db)).toEqual([
    { account: 'suspense', asset: 'USDC', amount: out.micro },
    { account: 'treasury', asset: 'USDC', amount: `-${out.micro}` },
  ])
})

test('over the limit nothing new is paid, but what is signed goes on, signed again where needed, and voids are possible', async () => {
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
  await world.chain.increaseTime({ seconds: 46 * 60 })
  await world.chain.mine({ blocks: 1 })
  await world.finalize(world.runner({ options: { maxMicroPerDay: 1n } }), 5)
  expect(await state(open!.paymentId)).toBe('settled')
  expect(await state(voided!.paymentId)).toBe('voided')
  expect(await state(fresh!.paymentId)).toBe('held')
  await world.finalize(world.runner())
  expect(await state(fresh!.paymentId)).toBe('settled')
})

test('moving USDC from one of our treasuries to another is no theft', async () => {
  const successor = privateKeyToAccount(newKey())
  const treasuries = [createTreasurySigner(successor, policy), createTreasurySigner(world.treasury, policy)]
  const args = [successor.address, 5_000_000n] as const
  const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args })
  await send(world.treasury, { to: TOKEN.address, data })
  await world.chain.mine({ blocks: 4 })
  await world.finalize(world.runner({ treasuries }))
  expect((await world.db.query('select paused_reason from chain_cursor')).rows).toEqual([{ paused_reason: null }])
})

// each was asked about by itself, and no final block was read for as long as the answers took
test('thousands of transfers that one node invents are asked about in one question, and hide no theft', async () => {
  const node = await startHostileNode(world.anvil.url)
  try {
    const runner = world.runner({ url: node.url })
    await world.finalize(runner)
    await world.chain.mine({ blocks: 2 })
    const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [newAddress(), 1n] })
    const theft = await send(world.treasury, { to: TOKEN.address, data })
    await world.chain.mine({ blocks: 1 })
    await world.chain.mine({ blocks: 1 })
    const { number, hash } = await world.chain.getBlock()
    const pad = (hex: string): string => hex.slice(2).toLowerCase().padStart(64, '0')
    const invented = Array.from({ length: 3000 }, (_log, at) => ({
      address: TOKEN.address,
      topics: [TOPICS.transfer, `0x${pad(world.treasury.address)}`, `0x${pad(newAddress())}`],
      data: `0x${'1'.padStart(64, '0')}`,
      blockNumber: `0x${number.toString(16)}`,
      blockHash: hash,
      transactionHash: `0x${at.toString(16).padStart(64, 'a')}`,
      logIndex: '0x0',
    }))
    let [asked, lies] = [0, 0]
    node.behave = ({ method, params }) => {
      if (method !== 'eth_getLogs') return 'honest'
      asked += 1
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
      const isHead = fromBlock !== toBlock && BigInt(toBlock) === number
      lies += isHead ? 1 : 0
      // Two questions of the head, to one node; a quorum is told the truth.
      return isHead && lies <= 2 ? { lie: (honest) => [...invented, ...(honest as object[])] } : 'honest'
    }
    await runner.tick()
    expect(asked).toBeLessThan(10)
    const { rows } = await world.db.query('select paused_reason from chain_cursor')
    expect(rows).toEqual([{ paused_reason: expect.stringContaining(theft) }])
  } finally {
    await node.close()
  }
})

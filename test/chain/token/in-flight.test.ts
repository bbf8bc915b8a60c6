import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { holdPayout, releasePayout } from '../../../src/db/settlement/payouts.ts'
import { pause } from '../../../src/db/settlement/watch/pause.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { startLossyProxy } from '../../support/anvil.ts'
import { createWorld, newAddress, type Queued, TOKEN, type World } from '../world.ts'

/** The token or an operator says no while transactions are already on their way. */

let world: World
beforeAll(async () => {
  world = await createWorld({ relayers: 1 })
})
afterAll(() => world.stop())

type AdminCall = 'pause' | 'unpause' | 'blacklist' | 'unBlacklist'
const admin = (functionName: AdminCall, args: readonly Hex[] = []) =>
  asUsdcOwner(world.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: args as never }))

const state = async ({ paymentId }: Queued) => {
  const { state: now, holdReason } = await world.payout(paymentId)
  return holdReason === null ? now : `${now}(${holdReason})`
}
const states = (queued: readonly Queued[]) => Promise.all(queued.map(state))
const refusals = async ({ paymentId }: Queued): Promise<number> =>
  (await world.db.query('select refusals from payout where payment_id = $1', [paymentId])).rows[0].refusals

/** Everything in the pool is lost; the engine has it stored, and sends it again. */
const dropPool = () => world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
const paidOnce = async (queued: readonly Queued[]) => {
  for (const { recipient, micro } of queued) expect(await world.balance(recipient)).toBe(micro)
}

test('USDC is paused while a batch is on its way: the token refuses it, it is held, and paid once afterwards', async () => {
  const queued = await world.queue([{}, {}])
  const runner = world.runner()
  await runner.tick()
  expect(await states(queued)).toEqual(['broadcast', 'broadcast'])
  await dropPool()
  await admin('pause')
  await world.finalize(runner)
  expect(await states(queued)).toEqual(['held(paused)', 'held(paused)'])
  expect(await Promise.all(queued.map(refusals))).toEqual([1, 1])
  for (const { recipient } of queued) expect(await world.balance(recipient)).toBe(0n)
  await admin('unpause')
  await world.finalize(runner, 3)
  expect(await states(queued)).toEqual(['settled', 'settled'])
  await paidOnce(queued)
})

test('a recipient is blacklisted while the batch is on its way: the others of the batch are paid by it', async () => {
  const bad = newAddress()
  const queued = await world.queue([{}, { recipient: bad }, {}])
  const runner = world.runner()
  await runner.tick()
  await dropPool()
  await admin('blacklist', [bad])
  await world.finalize(runner)
  expect(await states(queued)).toEqual(['settled', 'held(blacklisted)', 'settled'])
  const [first, , third] = await Promise.all(queued.map(({ paymentId }) => world.payout(paymentId)))
  expect(first?.txHash).toBe(third?.txHash)
  expect(await world.balance(bad)).toBe(0n)
})

test.each([
  ['signed', { maxInFlight: 0 }],
  ['on its way', {}],
])(
  'the treasury is blacklisted while a batch is %s: it is held as paused, and goes on by itself afterwards',
  async (_case, options) => {
    const queued = await world.queue([{}, {}])
    await world.runner({ options }).tick()
    await dropPool()
    await admin('blacklist', [world.treasury.address])
    const runner = world.runner()
    await world.finalize(runner)
    expect(await states(queued)).toEqual(['held(paused)', 'held(paused)'])
    expect(world.heard.held.at(-1)).toMatchObject({ detail: 'the USDC contract has blacklisted the treasury' })
    await admin('unBlacklist', [world.treasury.address])
    await world.finalize(runner, 3)
    expect(await states(queued)).toEqual(['settled', 'settled'])
    await paidOnce(queued)
  },
)

test('a payout that the token refuses three times although nothing spoke against it is held, until somebody releases it', async () => {
  const recipient = newAddress()
  const [queued] = await world.queue([{ recipient }])
  const runner = world.runner()
  for (const times of [1, 2, 3]) {
    await runner.tick()
    expect([times, await state(queued!)]).toEqual([times, 'broadcast'])
    await dropPool()
    // Listed only while the transaction is mined: nobody who looks before or afterwards sees it.
    await admin('blacklist', [recipient])
    await runner.tick()
    await world.chain.mine({ blocks: 1 })
    await admin('unBlacklist', [recipient])
    await world.chain.mine({ blocks: 3 })
    expect([times, await refusals(queued!)]).toEqual([times, times - 1])
  }
  await runner.tick()
  expect([await state(queued!), await refusals(queued!)]).toEqual(['held(refused)', 3])
  await world.finalize(runner)
  expect([await state(queued!), await world.balance(recipient)]).toEqual(['held(refused)', 0n])
  expect(world.heard.held.at(-1)).toMatchObject({ reason: 'refused', detail: 'the token refused it 3 times' })
  expect(await world.db.transaction((tx) => releasePayout(tx, queued!.paymentId))).toBe(true)
  await world.finalize(runner, 3)
  expect(await state(queued!)).toBe('settled')
  await paidOnce([queued!])
})

test('what was sent once and came to nothing cannot be held while anybody may send it again, and can afterwards', async () => {
  const [queued] = await world.queue([{}])
  const runner = world.runner()
  await runner.tick()
  await dropPool()
  await admin('pause')
  await world.finalize(runner)
  expect(await states([queued!])).toEqual(['held(paused)'])
  const hold = () => world.db.transaction((tx) => holdPayout(tx, queued!.paymentId, 'is it fraud?'))
  expect(await hold()).toBe(false)
  // It has expired, and the blocks of that minute are read.
  await world.db.query(
    `update payout_signature set valid_before = extract(epoch from now())::bigint - 61 where payment_id = $1`,
    [queued!.paymentId],
  )
  expect(await hold()).toBe(true)
  await admin('unpause')
  await world.finalize(runner)
  expect([await states([queued!]), await world.balance(queued!.recipient)]).toEqual([['held(operator)'], 0n])
})

test('the engine is paused while a batch is on its way: what is mined is settled, and nothing more is sent', async () => {
  const proxy = await startLossyProxy(world.anvil.url)
  const runner = world.runner({ url: proxy.url })
  const sent = () => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length
  try {
    const before = await world.queue([{}])
    await runner.tick()
    expect(await states(before)).toEqual(['broadcast'])
    await pauseEngine()
    const [sentBefore, after] = [sent(), await world.queue([{}])]
    await world.finalize(runner)
    expect(await states([...before, ...after])).toEqual(['settled', 'queued'])
    expect(sent()).toBe(sentBefore)
    await endPause()
    await world.finalize(runner)
    expect(await states(after)).toEqual(['settled'])
    await paidOnce([...before, ...after])
  } finally {
    await proxy.close()
  }
})

test('the engine is paused and the batch on its way is lost: it is not sent again before the pause ends', async () => {
  const proxy = await startLossyProxy(world.anvil.url)
  const runner = world.runner({ url: proxy.url })
  const sent = () => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length
  try {
    const queued = await world.queue([{}])
    await runner.tick()
    await pauseEngine()
    await dropPool()
    const sentBefore = sent()
    await world.finalize(runner, 4)
    expect([await states(queued), sent()]).toEqual([['broadcast'], sentBefore])
    await endPause()
    await world.finalize(runner)
    expect(await states(queued)).toEqual(['settled'])
    await paidOnce(queued)
  } finally {
    await proxy.close()
  }
})

const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
/** As the solvency watch does when an unknown transfer leaves the treasury. */
const pauseEngine = () =>
  pause({ db: world.db, scope, hooks: world.hooks }, { reason: 'somebody looks into it', untilFinal: null })
/** As it ends when an operator has looked into every unknown transfer. */
const endPause = () => world.db.query('update chain_cursor set paused_reason = null, paused_until_final = null')

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { listSettlementAttention } from '../../../src/db/settlement/watch/standing.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createWorld, newAddress, type World } from '../world.ts'

/** A payout that is to be held, and whose payment cannot be told. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const callOwner = (functionName: 'blacklist' | 'unBlacklist', wallet: Hex): Promise<void> =>
  asUsdcOwner(world.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: [wallet] }))

/** Payments that refuse to be told. */
const refusing = () => {
  const told: string[] = []
  const onHeld = async (_tx: unknown, { paymentId }: { paymentId: string }): Promise<void> => {
    told.push(paymentId)
    throw new Error('a column is missing')
  }
  return { told, hooks: { onHeld } }
}

const queueBlocked = async () => {
  const blocked = newAddress()
  await callOwner('blacklist', blocked)
  const [held, paid] = [...(await world.queue([{ recipient: blocked }])), ...(await world.queue([{}]))]
  return { blocked, held: held!, paid: paid! }
}

// nobody was paid any more
test('it is shown and tried again half a minute later, and keeps no other payout from being signed', async () => {
  const { held, paid } = await queueBlocked()
  const { told, hooks } = refusing()
  await world.finalize(world.runner({ hooks }), 3)
  expect((await world.payout(paid.paymentId)).state).toBe('settled')
  expect(await world.payout(held.paymentId)).toMatchObject({ state: 'queued', hookError: 'a column is missing' })
  expect(told).toEqual([held.paymentId])
  expect(await listSettlementAttention(world.db)).toMatchObject([{ kind: 'payout_hook', subject: held.paymentId }])
  await world.db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [held.paymentId])
  await world.runner().tick()
  expect(await world.payout(held.paymentId)).toMatchObject({
    state: 'held',
    holdReason: 'blacklisted',
    hookError: null,
  })
})

test('it keeps no other payout that is signed from being sent', async () => {
  const [held] = await world.queue([{}])
  await world.runner({ options: { maxInFlight: 0 } }).tick()
  await world.db.query('update payout set refusals = 3 where payment_id = $1', [held!.paymentId])
  const { told, hooks } = refusing()
  const [paid] = await world.queue([{}])
  await world.finalize(world.runner({ hooks }), 3)
  expect((await world.payout(paid!.paymentId)).state).toBe('settled')
  expect(told).toEqual([held!.paymentId])
  expect((await world.payout(held!.paymentId)).state).toBe('authorized')
})

test('it is left for the next round while somebody else has locked its payment', async () => {
  const { held, paid } = await queueBlocked()
  await world.db.transaction(async (tx) => {
    await tx.query('select 1 from payment where id = $1 for update', [held.paymentId])
    await world.finalize(world.runner(), 2)
    expect((await world.payout(paid.paymentId)).state).toBe('settled')
    expect(await world.payout(held.paymentId)).toMatchObject({ state: 'queued', hookError: null })
  })
  await world.runner().tick()
  expect((await world.payout(held.paymentId)).state).toBe('held')
})

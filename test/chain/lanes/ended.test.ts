import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import type { Hex } from '../../../src/domain/hex.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { createWorld, newAddress, type Queued, type World } from '../world.ts'

/** What becomes of an envelope of ours that is final and has paid nobody. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const list = (functionName: 'blacklist' | 'unBlacklist', recipient: Hex) =>
  asUsdcOwner(world.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: [recipient] }))
const dropPool = () => world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
const refusals = async ({ paymentId }: Queued): Promise<number> =>
  (await world.db.query('select refusals from payout where payment_id = $1', [paymentId])).rows[0].refusals
const openEnvelopes = async (): Promise<number> =>
  (await world.db.query(`select from lane_tx where state in ('reserved', 'signed', 'broadcast')`)).rowCount ?? 0
const attention = async () =>
  (await world.db.query(`select detail from settlement_attention where kind = 'gas'`)).rows as { detail: string }[]

test('gas that the books refuse keeps no envelope open, is on the attention list, and is booked when it can be', async () => {
  const recipient = newAddress()
  const [refused] = await world.queue([{ recipient }])
  const onGas = async (): Promise<void> => {
    throw new Error('the books are closed')
  }
  const closed = world.runner({ hooks: { onGas } })
  await closed.tick()
  await dropPool()
  await list('blacklist', recipient)
  await world.finalize(closed)
  expect(await openEnvelopes()).toBe(0)
  expect(await refusals(refused!)).toBe(1)
  expect(await attention()).toEqual([{ detail: 'the books are closed' }])
  expect(world.heard.gas).toEqual([])
  // Others are paid meanwhile.
  const [other] = await world.queue([{}])
  await world.finalize(closed)
  expect(await world.balance(other!.recipient)).toBe(other!.micro)
  // Half a minute later.
  await world.db.query('update lane_tx set gas_retry_at = now() where gas_error is not null')
  await world.runner().tick()
  expect(world.heard.gas).toHaveLength(1)
  expect(world.heard.gas[0]!.wei).toBeGreaterThan(0n)
  expect(await attention()).toEqual([])
  await world.runner().tick()
  expect(world.heard.gas).toHaveLength(1)
})

test('an authorization that has expired on the way does not count as refused by the token', async () => {
  const [queued] = await world.queue([{}])
  const runner = world.runner()
  for (let times = 0; times < 4; times++) {
    await runner.tick()
    expect((await world.payout(queued!.paymentId)).state).toBe('broadcast')
    // It is mined when it is too late, again and again.
    await world.chain.increaseTime({ seconds: 46 * 60 })
    await world.chain.mine({ blocks: 4 })
    await runner.tick()
  }
  expect(await refusals(queued!)).toBe(0)
  await world.finalize(runner, 3)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
})

test('an envelope ends after its block was read, also where somebody else reads and is behind', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  const gas = world.heard.gas.length
  const [queued] = await world.queue([{}])
  await runner.tick()
  expect(await openEnvelopes()).toBe(1)
  await world.db.query(`update chain_cursor set owner = 'another', lease_until = now() + interval '1 hour'`)
  await world.finalize(runner, 3)
  expect(await openEnvelopes()).toBe(1)
  await world.db.query('update chain_cursor set lease_until = now()')
  await world.finalize(runner)
  expect(await openEnvelopes()).toBe(0)
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect(await refusals(queued!)).toBe(0)
  expect(world.heard.gas).toHaveLength(gas)
})

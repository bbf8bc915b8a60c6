import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { addressOf } from '../../scripts/system/environment.ts'
import { accountOf } from '../../src/chain/keys/private-key.ts'
import { readWorkerConfig } from '../../src/config.ts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import { openTreasuries } from '../../src/deps/keys.ts'
import { mintUsdc } from '../../src/sandbox/chain.ts'
import { createWorld, newAddress, newKey, queueAll, TOKEN, type World } from './world.ts'

/** A rotation as an operator makes it: by the variables of the worker. */

const composeFile = new URL('../../docker-compose.yml', import.meta.url)
const { services } = parse(readFileSync(composeFile, 'utf8'), { merge: true }) as {
  services: { worker: { environment: Record<string, string> } }
}
// As compose does without variables of the caller: `${NAME:-default}` is its default.
const environment = Object.fromEntries(
  Object.entries(services.worker.environment).map(([key, value]) => [key, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
)
const workerWith = (changes: Record<string, string>) =>
  readWorkerConfig({ ...environment, USDC_ADDRESS: TOKEN.address, CHAIN_ID: '31337', ...changes })

const oldKey = newKey()
const newTreasuryKey = newKey()
let world: World
beforeAll(async () => {
  const created = await createWorld()
  world = { ...created, treasury: accountOf(oldKey) }
  for (const key of [oldKey, newTreasuryKey])
    await mintUsdc(world.chain, { to: accountOf(key).address, micro: 1_000_000_000n })
})
afterAll(() => world.stop())

async function runnerOf(changes: Record<string, string>) {
  const treasuries = await openTreasuries(workerWith(changes))
  const options = { retiredTreasuries: treasuries.retired }
  return { treasuries, runner: world.runner({ treasuries: treasuries.all, options }) }
}

const state = async (paymentId: string) => (await world.payout(paymentId)).state

test('with the old key among the retired ones, what is queued on it is still paid or cancelled', async () => {
  const [before, unwanted] = await queueAll(world, [{}, {}])
  const { treasuries, runner } = await runnerOf({ TREASURY_KEY: newTreasuryKey, RETIRED_TREASURY_KEYS: ` ${oldKey}` })
  expect(treasuries.current.address).toBe(addressOf(newTreasuryKey).toLowerCase())
  expect(treasuries.all.map(({ address }) => address)).toEqual(
    [newTreasuryKey, oldKey].map((key) => addressOf(key).toLowerCase()),
  )
  await world.db.transaction((tx) => requestVoid(tx, unwanted!.paymentId))
  await runner.assertReady()
  await world.finalize(runner)
  expect(await state(before!.paymentId)).toBe('settled')
  expect(await world.balance(before!.recipient)).toBe(before!.micro)
  expect(await state(unwanted!.paymentId)).toBe('voided')
  expect(world.heard.voided.at(-1)).toMatchObject({ kind: 'cancelled', paymentId: unwanted!.paymentId })
})

test('with only its address left, what the old treasury paid is not paid again, and the rest is held', async () => {
  const paid = { paymentId: 'pay_rotated', recipient: newAddress(), micro: 4000n }
  await queueAll(world, [paid])
  // Back to the old key: what the other treasury signed meanwhile must be dead first.
  const { runner: back } = await runnerOf({ TREASURY_KEY: oldKey })
  await back.tick()
  await world.chain.increaseTime({ seconds: 56 * 60 })
  await world.chain.mine({ blocks: 4 })
  await world.finalize(back, 3)
  expect(await state(paid.paymentId)).toBe('settled')
  // The database is older than the payment, and the payment asks for its payout again: now of the new treasury.
  await world.db.query('alter table payout disable trigger user')
  for (const table of ['lane_tx_item', 'payout_signature', 'treasury_log', 'payout'])
    await world.db.query(`delete from ${table} where payment_id = 'pay_rotated'`)
  await queueAll({ ...world, treasury: accountOf(newTreasuryKey) }, [paid])
  const [left] = await queueAll(world, [{}])
  const { runner } = await runnerOf({ TREASURY_KEY: newTreasuryKey, RETIRED_TREASURIES: addressOf(oldKey) })
  await runner.assertReady()
  await world.finalize(runner)
  expect(await world.payout(paid.paymentId)).toMatchObject({ state: 'held', holdReason: 'policy' })
  expect(await world.balance(paid.recipient)).toBe(4000n)
  expect(await world.payout(left!.paymentId)).toMatchObject({ state: 'held', holdReason: 'policy' })
})

test('a treasury that is named twice ends the start', async () => {
  const { runner } = await runnerOf({ TREASURY_KEY: oldKey, RETIRED_TREASURIES: addressOf(oldKey) })
  await expect(runner.assertReady()).rejects.toThrow(/named twice/)
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Hex } from '../../../src/domain/hex.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { reorganize } from '../deposits/reversal.ts'
import { createWorld, settingsOf, type World } from '../world.ts'

/** What a replaced chain shows in blocks that were read before. */

let world: World
beforeAll(async () => {
  world = await createWorld({ relayers: 1 })
})
afterAll(() => world.stop())

const repair = () =>
  repairFinality({ db: world.db, hooks: world.hooks, settings: settingsOf(world), dryRun: false, say: () => undefined })

// between the reversal and its repair the lane booked it, and when the blocks were read again the payout did
test('the gas of a payout that a replaced chain shows in a block that was read before is booked once', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  await world.chain.mine({ blocks: 6 })
  await runner.tick()
  const [payout] = await world.queue([{}])
  await runner.tick()
  await runner.tick()
  const { rows } = await world.db.query(`select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt`)
  expect(rows).toHaveLength(1)
  await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
  await reorganize(world, 6, [(rows[0] as { raw: Hex }).raw])
  await runner.tick().catch(() => undefined)
  await runner.tick().catch(() => undefined)
  expect(await world.balance(payout!.recipient)).toBe(payout!.micro)
  await repair()
  await world.finalize(runner, 3)
  expect((await world.payout(payout!.paymentId)).state).toBe('settled')
  const { rows: shared } = await world.db.query(
    `select gas_share is not null as shared from treasury_log where kind = 'out'`,
  )
  expect(shared).toEqual([{ shared: true }])
  expect(world.heard.gas).toEqual([])
  expect((await world.db.query('select state from lane_tx')).rows).toEqual([{ state: 'finalized' }])
})

test('what a block showed of a transaction is forgotten with the block, until another one shows it', async () => {
  const runner = world.runner()
  const [payout] = await world.queue([{}])
  await world.finalize(runner)
  const carrier = async (): Promise<Hex | undefined> => (await world.payout(payout!.paymentId)).proof?.txHash
  const shownOf = async (txHash: Hex | undefined) => {
    const columns = 'final_block is not null as final, gas_used > 0 as paid'
    return (await world.db.query(`select ${columns} from lane_tx_attempt where tx_hash = $1`, [txHash])).rows
  }
  const first = await carrier()
  expect(await shownOf(first)).toEqual([{ final: true, paid: true }])
  await reorganize(world, 6, [])
  await runner.tick().catch(() => undefined)
  await repair()
  expect(await shownOf(first)).toEqual([{ final: false, paid: null }])
  await world.finalize(runner, 3)
  expect((await world.payout(payout!.paymentId)).state).toBe('settled')
  expect(await shownOf(await carrier())).toEqual([{ final: true, paid: true }])
})

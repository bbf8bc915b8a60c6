import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import { repairFinality } from '../../src/operator/repair.ts'
import { createRotation, MINUTES_UNTIL_DEAD, type Rotation } from './rotation-world.ts'
import { settingsOf } from './world.ts'

/** A payout that was voided because no signature of it that is known is valid any more, and is paid by another one. */

let rotation: Rotation
beforeAll(async () => {
  rotation = await createRotation()
})
afterAll(() => rotation.world.stop())

test('a payout that is paid after it was voided is told to its payment, once, and stays voided; a repair leaves it so', async () => {
  const { world, old } = rotation
  await world.finalize(rotation.before(), 1)
  const [late] = await rotation.queueOn(old, [{}])
  const { paymentId } = late!
  await world.db.transaction((tx) => requestVoid(tx, paymentId))
  const runner = rotation.after()
  await runner.tick()
  await rotation.pass(MINUTES_UNTIL_DEAD)
  await world.finalize(runner, 4)
  expect((await rotation.found(late!)).state).toBe('voided')

  // A backup has forgotten this signature, or somebody else has the key.
  const txHash = await rotation.carry(old, late!)
  await world.chain.mine({ blocks: 4 })
  await world.finalize(runner, 3)
  expect(await world.balance(late!.recipient)).toBe(late!.micro)
  const told = () => world.heard.settled.filter((settlement) => settlement.paymentId === paymentId)
  expect(told()).toEqual([expect.objectContaining({ txHash, microUsdc: late!.micro.toString() })])
  expect((await world.payout(paymentId)).state).toBe('voided')
  expect((await world.payout(paymentId)).proof?.txHash).toBe(txHash)

  const block = await world.chain.getTransactionReceipt({ hash: txHash })
  const depth = Number((await world.chain.getBlockNumber()) - block.blockNumber) + 2
  await world.chain.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
  await world.chain.mine({ blocks: 6 })
  const { db, hooks } = world
  await repairFinality({ db, hooks, settings: settingsOf(world), dryRun: false, say: () => undefined })
  expect(await world.payout(paymentId)).toMatchObject({ state: 'voided', proof: null })
})

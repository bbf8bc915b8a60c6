import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { expectSucceeded } from './harness/verdict.ts'
import { startWorld, success, temporaryFolder, type World } from './harness/world.ts'

const folder = temporaryFolder()
let world: World

beforeAll(async () => {
  world = await startWorld({ folder })
}, 120_000)
afterAll(async () => {
  await world.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a second start continues all payments, including those in progress', async () => {
  const opened = await world.create({ description: 'opened, not paid' })
  const inFlight = await world.create({ description: 'paid, not yet settled' })
  const hold = world.chain.hold({ at: 'request', containing: ['eth_sendRawTransaction'] })
  await world.pay(inFlight)
  await hold.reached
  const before = world.system.info
  await world.stop({ keep: true })
  hold.release()

  world = await startWorld({ folder })
  expect(world.system.info).toEqual(before)
  await world.pay(opened)
  const paid = [await success(world, inFlight.id), await success(world, opened.id)]
  expect(await expectSucceeded(world, paid)).toMatchObject({ transfers: 2, events: 2 })
}, 120_000)

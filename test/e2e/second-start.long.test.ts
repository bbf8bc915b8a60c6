import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startTestSystem, success, type TestSystem, temporaryFolder } from './harness/test-system.ts'
import { expectSucceeded } from './harness/verdict.ts'

const folder = temporaryFolder()
let testSystem: TestSystem

beforeAll(async () => {
  testSystem = await startTestSystem({ folder })
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a second start continues all payments, including those in progress', async () => {
  const opened = await testSystem.create({ description: 'opened, not paid' })
  const inFlight = await testSystem.create({ description: 'paid, not yet settled' })
  const hold = testSystem.chain.hold({ at: 'request', containing: ['eth_sendRawTransaction'] })
  await testSystem.pay(inFlight)
  await hold.reached
  const before = testSystem.system.info
  await testSystem.stop({ keep: true })
  hold.release()

  testSystem = await startTestSystem({ folder })
  expect(testSystem.system.info).toEqual(before)
  await testSystem.pay(opened)
  const paid = [await success(testSystem, inFlight.id), await success(testSystem, opened.id)]
  expect(await expectSucceeded(testSystem, paid)).toMatchObject({ transfers: 2, events: 2 })
}, 120_000)

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openTestSystem } from '../fixture/payment.ts'
import { openTestServices, type TestServices } from '../fixture/services.ts'
import { FOUND } from '../found/found.ts'
import { playFound } from '../found/play.ts'
import { DEFECTS } from './all.ts'
import { catchDefect, withDefect } from './catching.ts'

let testServices: TestServices
beforeAll(async () => {
  testServices = await openTestServices()
}, 120_000)
afterAll(() => testServices?.close())

// `found.test.ts` shows that none of these stories fails without the bug.
test.each(DEFECTS)('the planted bug "$name" is caught by the story "$caughtBy"', async (defect) => {
  const found = FOUND.find(({ title }) => title === defect.caughtBy)
  if (found === undefined) throw new Error('there is no such story')
  const wrong = await withDefect(testServices, defect, (planted) => playFound(planted, found))
  expect(wrong).not.toEqual([])
})

test('random stories catch a bug next to a system that does not have it', async () => {
  const [defect] = DEFECTS.filter(({ name }) => name === 'withheld money is sold')
  if (defect === undefined) throw new Error('there is no such bug')
  const sound = await openTestSystem(testServices)
  const caught = await catchDefect(sound, defect, { seed: 1, from: 0, stories: 50 })
  await sound.close()
  expect(caught).not.toBeNull()
}, 120_000)

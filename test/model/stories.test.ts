import { expect, test } from '@jest/globals'
import { FOUND } from './found/found.ts'
import { PAID_IN_FULL } from './found/paid-in-full.ts'
import { REFUNDED } from './found/refunded.ts'
import { WHAT_WAS_SOLD } from './found/what-was-sold.ts'
import { holds, playNext, useModel } from './story/holds.ts'

useModel()

/** One in twenty of the stories that once found a defect. `npm run test:long` runs all of them. */
const ALWAYS = [...PAID_IN_FULL, ...WHAT_WAS_SOLD, ...REFUNDED]
const SAMPLE = [...FOUND.filter((found, index) => index % 20 === 0 && !ALWAYS.includes(found)), ...ALWAYS]

test.each(SAMPLE)('$title', holds)

test('each of a sample of random stories ends as it must', async () => {
  for (let number = 0; number < 5; number++) {
    const { wrong } = await playNext(1, number)
    expect({ number, wrong }).toEqual({ number, wrong: [] })
  }
}, 300_000)

import { expect, test } from '@jest/globals'
import { playNext, useModel } from './story/holds.ts'

useModel()

test('a sample of random stories ends as it must', async () => {
  for (let number = 0; number < 8; number++) {
    const { wrong } = await playNext(1, number)
    expect({ number, wrong }).toEqual({ number, wrong: [] })
  }
}, 300_000)

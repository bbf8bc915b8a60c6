import { expect, test } from '@jest/globals'
import { playNext, useModel } from './story/holds.ts'

useModel()

const SEEDS = [2, 3, 4, 5]
const STORIES = 50

test.each(SEEDS)(
  'each random story of seed %i ends as it must',
  async (seed) => {
    for (let number = 0; number < STORIES; number++) {
      const { wrong } = await playNext(seed, number)
      expect({ number, wrong }).toEqual({ number, wrong: [] })
    }
  },
  600_000,
)

import { expect, test } from '@jest/globals'
import { playNext, useModel } from './story/holds.ts'

useModel()

const SEEDS = [1, 2, 3, 4]
const STORIES = 15

test.each(SEEDS)(
  'random stories end as they must (seed %i)',
  async (seed) => {
    for (let number = 0; number < STORIES; number++) {
      const { wrong } = await playNext(seed, number)
      expect({ number, wrong }).toEqual({ number, wrong: [] })
    }
  },
  300_000,
)

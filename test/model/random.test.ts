import { expect, test } from '@jest/globals'
import { play, useModel } from './story/holds.ts'
import { tellStory } from './story/tell.ts'

useModel()

const SEEDS = [1, 2, 3, 4]
const STORIES = 15

test.each(SEEDS)(
  'random stories end as they must (seed %i)',
  async (seed) => {
    for (let number = 0; number < STORIES; number++) {
      const wrong = await play(tellStory(seed, number))
      expect({ number, wrong }).toEqual({ number, wrong: [] })
    }
  },
  300_000,
)

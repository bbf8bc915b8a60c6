import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openTheater, type Theater } from '../world/shop.ts'
import { openStage, type Stage } from '../world/stage.ts'
import { DEFECTS } from './all.ts'
import { catchDefect } from './catching.ts'

/** The rarest of them shows itself in one story of a hundred. */
const STORIES = 300

let stage: Stage
let sound: Theater

beforeAll(async () => {
  stage = await openStage()
  sound = await openTheater(stage)
}, 120_000)

afterAll(async () => {
  await sound?.close()
  await stage?.close()
})

test.each(DEFECTS)(
  'random stories catch the planted bug: $name',
  async (defect) => {
    expect(await catchDefect(sound, defect, { seed: 1, from: 0, stories: STORIES })).not.toBeNull()
  },
  600_000,
)

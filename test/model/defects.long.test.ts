import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DEFECTS } from './defects/all.ts'
import { catchDefect } from './defects/catching.ts'
import { openStage, type Stage } from './world/stage.ts'

/** The rarest of them shows itself in one story of a hundred. */
const STORIES = 300

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
}, 120_000)

afterAll(() => stage?.close())

test.each(DEFECTS)(
  'random stories catch the planted bug: $name',
  async (defect) => {
    expect(await catchDefect(stage, defect, { seed: 1, from: 0, stories: STORIES })).not.toBeNull()
  },
  600_000,
)

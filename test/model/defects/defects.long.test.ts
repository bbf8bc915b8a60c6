import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { FOUND } from '../found/found.ts'
import { toStory } from '../found/story.ts'
import { playStory } from '../story/play.ts'
import { openTheater } from '../world/shop.ts'
import { openStage, type Stage } from '../world/stage.ts'
import { DEFECTS } from './all.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
}, 120_000)
afterAll(() => stage?.close())

// `found.test.ts` shows that none of these stories goes wrong without the bug.
test.each(DEFECTS)(
  'the planted bug "$name" is caught by the story "$caughtBy"',
  async ({ caughtBy, and = [], ...seam }) => {
    const found = FOUND.find(({ title }) => title === caughtBy)
    if (found === undefined) throw new Error('there is no such story')
    const planted = await openTheater(stage, [seam, ...and])
    try {
      stage.useClock(planted.timeline.now)
      expect(await playStory(planted, toStory(found))).not.toEqual([])
    } finally {
      await planted.close()
    }
  },
)

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { FOUND } from '../found/found.ts'
import { toStory } from '../found/story.ts'
import { playStory } from '../story/play.ts'
import { openStage, type Stage } from '../world/stage.ts'
import { DEFECTS } from './all.ts'
import { withDefect } from './catching.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
}, 120_000)
afterAll(() => stage?.close())

// `found.test.ts` shows that none of these stories fails without the bug.
test.each(DEFECTS)('the planted bug "$name" is caught by the story "$caughtBy"', async (defect) => {
  const found = FOUND.find(({ title }) => title === defect.caughtBy)
  if (found === undefined) throw new Error('there is no such story')
  const wrong = await withDefect(stage, defect, (planted) => playStory(planted, toStory(found)))
  expect(wrong).not.toEqual([])
})

import { test } from '@jest/globals'
import { FOUND } from './found/found.ts'
import { storyOf } from './found/story.ts'
import { holds, isThen, useModel } from './story/holds.ts'

useModel()

test.each(FOUND)('$title', (found) => {
  const story = storyOf(found)
  return found.ends === undefined ? holds(story) : isThen(story, found.ends)
})

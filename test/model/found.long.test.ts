import { test } from '@jest/globals'
import { FOUND } from './found/found.ts'
import { toStory } from './found/story.ts'
import { holds, isThen, useModel } from './story/holds.ts'

useModel()

test.each(FOUND)('$title', (found) => {
  const story = toStory(found)
  return found.ends === undefined ? holds(story) : isThen(story, found.ends)
})

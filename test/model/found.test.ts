import { test } from '@jest/globals'
import { FOUND } from './found/found.ts'
import { toStory } from './found/story.ts'
import { holds, isThen, useModel } from './story/holds.ts'

useModel()

/** A tenth of the stories that once found a defect. `npm run test:long` runs all of them. */
const SAMPLE = FOUND.filter((_found, index) => index % 10 === 0)

test.each(SAMPLE)('$title', (found) => {
  const story = toStory(found)
  return found.ends === undefined ? holds(story) : isThen(story, found.ends)
})

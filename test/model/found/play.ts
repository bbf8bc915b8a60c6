import { isDeepStrictEqual } from 'node:util'
import type { TestSystem } from '../fixture/payment.ts'
import { playDrawn } from '../story/play.ts'
import type { View } from '../story/view.ts'
import { type Found, toStory } from './story.ts'

/** Returns what is wrong with the story, also if it does not end in the state that it names. */
export async function playFound(testSystem: TestSystem, found: Found): Promise<string[]> {
  const story = toStory(found)
  const steps = story.steps.values()
  const { ends = {} } = found
  let end: Partial<View> = {}
  const wrong = await playDrawn(testSystem, story, async (look) => {
    const step = steps.next().value ?? null
    if (step === null && found.ends !== undefined) end = await look()
    return step
  })
  const reached = Object.fromEntries(Object.keys(ends).map((key) => [key, end[key as keyof View]]))
  return isDeepStrictEqual(reached, { ...ends }) ? wrong : [...wrong, `it ends as ${JSON.stringify(reached)}`]
}

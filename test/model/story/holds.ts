import { afterAll, beforeAll, expect } from '@jest/globals'
import { openTestSystem, type TestSystem } from '../fixture/payment.ts'
import { openTestServices, type TestServices } from '../fixture/services.ts'
import { playDrawn, playStory } from './play.ts'
import type { Story } from './steps.ts'
import { playRandom } from './tell.ts'
import type { View } from './view.ts'

/** The stage for the tests of one file, and what a story must satisfy. */

let testServices: TestServices
let testSystem: TestSystem

export function useModel(): void {
  beforeAll(async () => {
    testServices = await openTestServices()
    testSystem = await openTestSystem(testServices)
  }, 120_000)
  afterAll(async () => {
    await testSystem?.close()
    await testServices?.close()
  })
}

export const playNext = (seed: number, number: number) => playRandom(testSystem, { seed, number })

/** The story ends as every story must: see docs/model.md. */
export async function holds(story: Story): Promise<void> {
  expect(await playStory(testSystem, story)).toEqual([])
}

/** … and is like this after its last step. */
export async function isThen(story: Story, then: Partial<View>): Promise<void> {
  const steps = story.steps.values()
  let seen: View | null = null
  const tell: Parameters<typeof playDrawn>[2] = async (look) => {
    const step = steps.next().value ?? null
    if (step === null) seen = await look()
    return step
  }
  expect(await playDrawn(testSystem, story, tell)).toEqual([])
  expect(seen).toMatchObject(then)
}

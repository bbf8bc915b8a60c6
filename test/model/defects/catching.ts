import { openTestSystem, type TestSystem } from '../fixture/payment.ts'
import type { TestServices } from '../fixture/services.ts'
import { playStory } from '../story/play.ts'
import { playRandom } from '../story/random-story.ts'
import type { Defect } from './defect.ts'

/** A range of random stories of a seed: the first number, and how many. */
export type Stories = { readonly seed: number; readonly from: number; readonly stories: number }

/** Plants the bug while the work runs. */
export async function withDefect<T>(
  testServices: TestServices,
  { and = [], ...seam }: Defect,
  work: (planted: TestSystem) => Promise<T>,
): Promise<T> {
  const planted = await openTestSystem(testServices, [seam, ...and])
  try {
    testServices.useClock(planted.timeline.now)
    return await work(planted)
  } finally {
    await planted.close()
  }
}

/**
 * Plants the bug, and plays random stories until one fails that does not fail in the system without bugs. Returns the
 * number of stories and the failure; null if no story caught the bug.
 */
export function catchDefect(
  sound: TestSystem,
  defect: Defect,
  { seed, from, stories }: Stories,
): Promise<{ readonly played: number; readonly wrong: string } | null> {
  const { testServices } = sound
  return withDefect(testServices, defect, async (planted) => {
    for (let number = from; number < from + stories; number++) {
      testServices.useClock(planted.timeline.now)
      const { story, wrong: all } = await playRandom(planted, { seed, number })
      const [wrong] = all
      if (wrong === undefined) continue
      testServices.useClock(sound.timeline.now)
      if ((await playStory(sound, story)).length === 0) return { played: number - from + 1, wrong }
    }
    return null
  })
}

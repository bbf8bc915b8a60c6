import { afterAll, beforeAll, expect } from '@jest/globals'
import { openTheater, type Theater } from '../world/shop.ts'
import { openStage, type Stage } from '../world/stage.ts'
import { playStory } from './play.ts'
import type { Story } from './steps.ts'
import { playRandom } from './tell.ts'

/** For the tests of one file: the stage, and what a story must be. */

let stage: Stage
let theater: Theater

export function useModel(): void {
  beforeAll(async () => {
    stage = await openStage()
    theater = await openTheater(stage)
  }, 120_000)
  afterAll(async () => {
    await theater?.close()
    await stage?.close()
  })
}

export const playNext = (seed: number, number: number) => playRandom(theater, { seed, number })

/** The story ends as every story must: see docs/model.md. */
export async function holds(story: Story): Promise<void> {
  expect(await playStory(theater, story)).toEqual([])
}

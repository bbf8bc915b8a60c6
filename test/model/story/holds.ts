import { afterAll, beforeAll, expect } from '@jest/globals'
import { openTestSystem, type TestSystem } from '../fixture/payment.ts'
import { openTestServices, type TestServices } from '../fixture/services.ts'
import { playFound } from '../found/play.ts'
import type { Found } from '../found/story.ts'
import { playRandom } from './random-story.ts'

/** The system for the tests of one file, and what a story must satisfy. */

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

/** The story ends as every story must, and in the state that it names: see docs/model.md. */
export async function holds(found: Found): Promise<void> {
  expect(await playFound(testSystem, found)).toEqual([])
}

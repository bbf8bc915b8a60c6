import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createPaymentFixture, type PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import { startTimeSkipping } from '../../scripts/test/services/temporal.ts'
import { WAYS } from '../../src/domain/methods.ts'
import { play } from './play.ts'
import { STORIES } from './stories.ts'
import { PLAYED_WAYS } from './ways.ts'

let env: TestWorkflowEnvironment
let fixture: PaymentFixture
beforeAll(async () => {
  env = await startTimeSkipping()
  fixture = await createPaymentFixture(env, { clock: Date.now })
}, 120_000)
afterAll(async () => {
  await fixture?.close()
  await env?.teardown()
})

test('every way to pay is played', () => {
  const names = (ways: readonly { provider: string; method: string }[]) =>
    ways.map(({ provider, method }) => `${provider}.${method}`).toSorted()
  expect(names(PLAYED_WAYS)).toEqual(names(WAYS))
})

/** Each story in one way; `npm run outcomes` plays all. */
const isPlayedHere = (story: number, way: number): boolean => (story + way) % 8 === 0

describe.each(STORIES.map((story, index) => ({ ...story, index })))('A buyer who $name', (story) => {
  const ways = PLAYED_WAYS.filter((_way, index) => isPlayedHere(story.index, index))
  test.each(ways)(
    'the page of a buyer who pays by $name shows the state of the payment at each moment',
    async (way) => {
      const outcome = await play(fixture, story, way)
      if (outcome.kind === 'no meaning') expect(outcome.because).not.toBe('')
      else expect(outcome).toMatchObject({ wrong: [] })
    },
    60_000,
  )
})

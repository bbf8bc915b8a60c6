import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createRandom } from '../support/random.ts'
import { WITH_ADDRESSES } from './harness/refunds.ts'
import { playRound, VICTIMS } from './harness/round.ts'
import { startTestSystem, type TestSystem } from './harness/test-system.ts'
import { expectSucceeded } from './harness/verdict.ts'

/** One round of `npm run chaos`, which has many, each with other moments. */
const SEED = 1

let testSystem: TestSystem

beforeAll(async () => {
  testSystem = await startTestSystem({ env: WITH_ADDRESSES })
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
})

test('ten payments and four refunds each end once although every process gets a kill -9 in the middle', async () => {
  const said: string[] = []
  const round = {
    payments: 10,
    victims: VICTIMS,
    random: createRandom(SEED).next,
    say: (line: string) => said.push(line),
  }
  const payments = await playRound(testSystem, round)
  expect(said.filter((line) => line.startsWith('kill'))).toHaveLength(VICTIMS.length)
  const figures = await expectSucceeded(testSystem, payments)
  expect(figures).toMatchObject({ payments: 10, refunds: 4 })
  const settled = 10 - (figures['refunds_before_settlement'] ?? 0)
  expect(figures).toMatchObject({ transfers: settled, events: settled })
}, 300_000)

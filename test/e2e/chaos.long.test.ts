import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createRandom } from '../support/random.ts'
import { playRound, VICTIMS } from './harness/round.ts'
import { expectSucceeded } from './harness/verdict.ts'
import { startWorld, type World } from './harness/world.ts'

/** One round of `npm run chaos`, which has many, each with other moments. */
const SEED = 1

let world: World

beforeAll(async () => {
  world = await startWorld()
}, 120_000)
afterAll(async () => {
  await world.stop()
})

test('ten payments each succeed once although every process gets a kill -9 in the middle', async () => {
  const said: string[] = []
  const round = {
    payments: 10,
    victims: VICTIMS,
    random: createRandom(SEED).next,
    say: (line: string) => said.push(line),
  }
  const payments = await playRound(world, round)
  expect(said.filter((line) => line.startsWith('kill'))).toHaveLength(VICTIMS.length)
  expect(await expectSucceeded(world, payments)).toMatchObject({ payments: 10, transfers: 10, events: 10 })
}, 300_000)

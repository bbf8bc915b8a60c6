import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createPaymentWorld, type PaymentWorld } from '../../scripts/histories/payment-world.ts'
import { startTimeSkipping } from '../../scripts/test/services/temporal.ts'
import { playBoth } from './server/agree.ts'
import { openTheater, type Theater } from './world/shop.ts'
import { openStage, type Stage } from './world/stage.ts'

let env: TestWorkflowEnvironment
let world: PaymentWorld
let stage: Stage
let theater: Theater

beforeAll(async () => {
  env = await startTimeSkipping()
  world = await createPaymentWorld(env)
  stage = await openStage()
  theater = await openTheater(stage)
}, 120_000)
afterAll(async () => {
  await theater?.close()
  await stage?.close()
  await world?.close()
  await env?.teardown()
})

const STORIES = 5

test('stories end the same in virtual time and on a Temporal server', async () => {
  let played = 0
  for (let number = 0; played < STORIES; number++) {
    const both = await playBoth(theater, world, { seed: 1, number })
    if (both === null) continue
    played++
    expect({ number, story: both.story, rows: both.there }).toEqual({ number, story: both.story, rows: both.here })
  }
}, 400_000)

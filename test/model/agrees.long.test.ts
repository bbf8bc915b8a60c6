import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { playOnServers } from './server/agree.ts'
import { openTheater, type Theater } from './world/shop.ts'
import { openStage, type Stage } from './world/stage.ts'

let stage: Stage
let theater: Theater

beforeAll(async () => {
  stage = await openStage()
  theater = await openTheater(stage)
}, 120_000)
afterAll(async () => {
  await theater?.close()
  await stage?.close()
})

const STORIES = 5

test('a story ends in the same state in virtual time and on a Temporal server', async () => {
  let played = 0
  await playOnServers(theater, { seed: 1, from: 0, stories: STORIES }, (number, { story, here, there }) => {
    expect({ number, story, rows: there }).toEqual({ number, story, rows: here })
    played++
  })
  expect(played).toBe(STORIES)
}, 400_000)

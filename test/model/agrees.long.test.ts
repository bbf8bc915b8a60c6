import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openTestSystem, type TestSystem } from './fixture/payment.ts'
import { openTestServices, type TestServices } from './fixture/services.ts'
import { playOnServers } from './server/agree.ts'

let testServices: TestServices
let testSystem: TestSystem

beforeAll(async () => {
  testServices = await openTestServices()
  testSystem = await openTestSystem(testServices)
}, 120_000)
afterAll(async () => {
  await testSystem?.close()
  await testServices?.close()
})

const STORIES = 5

test('a story ends in the same state in virtual time and on a Temporal server', async () => {
  let played = 0
  await playOnServers(testSystem, { seed: 1, from: 0, stories: STORIES }, (number, { story, here, there }) => {
    expect({ number, story, rows: there }).toEqual({ number, story, rows: here })
    played++
  })
  expect(played).toBe(STORIES)
}, 400_000)

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createAnnounceActivities } from '../../../src/activities/webhooks/announce.ts'
import { createSlowEndpoints } from '../../../src/activities/webhooks/slow-endpoints.ts'
import type { SendResult } from '../../../src/webhooks/send.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, secretBox, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded.close())

const TAKEN: SendResult = {
  status: 204,
  error: null,
  headers: {},
  bodyExcerpt: '',
  retryAfterSeconds: null,
  durationMs: 0,
  bytesSent: 1,
}
const MINUTE_MS = 60_000

it('an endpoint that answers after fourteen seconds is handed over untried, so that it holds no place of the payments', async () => {
  const { db } = seeded
  const tenant = await addMerchant(db)
  const { id } = await addEndpoint(db, tenant, { url: 'https://shop.example.com/hook' })
  let tries = 0
  const sender = {
    send: async () => {
      tries++
      return { ...TAKEN, durationMs: 14_000 }
    },
  }
  const activities = createAnnounceActivities({ db, secretBox, sender, now: Date.now })
  const announce = async () => {
    const event = (await addEvent(db, tenant))!
    return new MockActivityEnvironment().run((eventId: string) => activities.announce(eventId), event)
  }
  expect(await announce()).toEqual({ failed: [] })
  const untried = { failed: [{ endpointId: id, attemptsDone: 0, last: null }] }
  expect([await announce(), await announce(), tries]).toEqual([untried, untried, 1])
})

it('an endpoint that was slow is looked at by one event in ten minutes, and tried as before once it answers in time', () => {
  let now = Date.now()
  const slow = createSlowEndpoints(() => now)
  slow.answered('one', 14_000)
  now += 11 * MINUTE_MS
  // The second is told while the first waits for its answer.
  expect([slow.isLeftOut('one'), slow.isLeftOut('one')]).toEqual([false, true])
  slow.answered('one', 14_000)
  now += 9 * MINUTE_MS
  expect(slow.isLeftOut('one')).toBe(true)
  now += 2 * MINUTE_MS
  expect(slow.isLeftOut('one')).toBe(false)
  slow.answered('one', 200)
  expect([slow.isLeftOut('one'), slow.isLeftOut('one')]).toEqual([false, false])
})

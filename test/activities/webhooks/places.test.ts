import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { type AnnounceActivities, createAnnounceActivities } from '../../../src/activities/webhooks/announce.ts'
import { createEventPlaces } from '../../../src/activities/webhooks/places.ts'
import { createWebhookDeliveryActivities } from '../../../src/activities/webhooks/webhook-delivery.ts'
import type { Tenant } from '../../../src/db/db.ts'
import type { SendResult } from '../../../src/webhooks/send.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, secretBox, seedDatabase } from '../../webhooks/seed.ts'

/** As many activities at once as a worker runs by default. */
const WORKER_PLACES = 100

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase(20)
})
afterAll(() => seeded.close())

const SILENT: SendResult = {
  status: null,
  error: 'timeout',
  headers: {},
  bodyExcerpt: '',
  retryAfterSeconds: null,
  durationMs: 15_000,
  bytesSent: 1,
}
const TAKEN: SendResult = { ...SILENT, status: 204, error: null, durationMs: 20 }

/** Receivers that answer nothing until `end` says that their time is over. `counted` resolves when that many were asked or refused. */
function hanging() {
  const open: (() => void)[] = []
  let [asked, refused] = [0, 0]
  let look = (): void => undefined
  const send = async (): Promise<SendResult> => {
    asked++
    look()
    await new Promise<void>((resolve) => open.push(resolve))
    return SILENT
  }
  return {
    sender: { send },
    refuse: () => {
      refused++
      look()
    },
    asked: () => asked,
    counted: (many: number) =>
      new Promise<void>((resolve) => {
        look = () => asked + refused === many && resolve()
        look()
      }),
    end: () => {
      for (const answer of open.splice(0)) answer()
    },
  }
}

async function endpointsOf(tenant: Tenant, many: number): Promise<string[]> {
  const made = Array.from({ length: many }, (_, index) =>
    addEndpoint(seeded.db, tenant, { url: `https://shop.example.com/${index}` }),
  )
  return (await Promise.all(made)).map(({ id }) => id)
}

/** Delivers as often as was asked before, and answers the seconds after which one that found no place comes again. */
function deliverer(sender: { send: () => Promise<SendResult> }) {
  const activities = createWebhookDeliveryActivities({ db: seeded.db, secretBox, sender, now: Date.now })
  return ({ eventId, endpointId, refusals = 1 }: { eventId: string; endpointId: string; refusals?: number }) =>
    new MockActivityEnvironment({ attempt: refusals }).run(() =>
      activities.deliverWebhook({ eventId, endpointId, attempt: 1, step: 1 }),
    )
}

const secondsOf = (failure: unknown): number => Number((failure as { nextRetryDelay: number }).nextRetryDelay) / 1000

it('sixteen endpoints of one account that hang leave most places of the deliveries to others', async () => {
  const { db } = seeded
  const tenant = await addMerchant(db)
  const endpoints = await endpointsOf(tenant, 16)
  const events = await Promise.all(Array.from({ length: 3 }, async () => String(await addEvent(db, tenant))))
  const receivers = hanging()
  const deliver = deliverer(receivers.sender)
  const tries = events.flatMap((eventId) =>
    endpoints.map((endpointId) => deliver({ eventId, endpointId }).catch(receivers.refuse)),
  )
  await receivers.counted(tries.length)
  expect(receivers.asked()).toBe(20)
  receivers.end()
  await Promise.all(tries)
})

it('endpoints that answer late hold half of the places together, however many accounts have them', async () => {
  const { db } = seeded
  const accounts = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const tenant = await addMerchant(db)
      const endpoints = await endpointsOf(tenant, 2)
      const event = async (): Promise<string> => String(await addEvent(db, tenant))
      return { endpoints, events: await Promise.all(Array.from({ length: 11 }, event)) }
    }),
  )
  const receivers = hanging()
  const deliver = deliverer(receivers.sender)
  const tryAll = (from: number, to: number) =>
    accounts.flatMap(({ endpoints, events }) =>
      events
        .slice(from, to)
        .flatMap((eventId) => endpoints.map((endpointId) => deliver({ eventId, endpointId }).catch(receivers.refuse))),
    )
  const first = tryAll(0, 1)
  await receivers.counted(16)
  receivers.end()
  await Promise.all(first)

  const later = tryAll(1, 11)
  await receivers.counted(16 + later.length)
  expect(receivers.asked() - 16).toBe(50)
  receivers.end()
  await Promise.all(later)
})

it('endpoints that answer late leave the others of their account ten places', async () => {
  const { db } = seeded
  const tenant = await addMerchant(db)
  const [one, two, good] = (await endpointsOf(tenant, 3)) as [string, string, string]
  const events = await Promise.all(Array.from({ length: 11 }, async () => String(await addEvent(db, tenant))))
  const receivers = hanging()
  let send: () => Promise<SendResult> = receivers.sender.send
  const deliver = deliverer({ send: () => send() })
  const tryBoth = (some: readonly string[]) =>
    some.flatMap((eventId) => [one, two].map((endpointId) => deliver({ eventId, endpointId }).catch(receivers.refuse)))
  const first = tryBoth(events.slice(0, 1))
  await receivers.counted(2)
  receivers.end()
  await Promise.all(first)

  const later = tryBoth(events.slice(1))
  await receivers.counted(2 + later.length)
  send = async () => TAKEN
  expect(receivers.asked() - 2).toBe(10)
  expect(await deliver({ eventId: events[0]!, endpointId: good })).toMatchObject({ kind: 'delivered' })
  receivers.end()
  await Promise.all(later)
})

it('a delivery that finds no place comes again later and later, so that thousands of them cost little', async () => {
  const { db } = seeded
  const tenant = await addMerchant(db)
  const [endpointId] = (await endpointsOf(tenant, 1)) as [string]
  const events = await Promise.all(Array.from({ length: 11 }, async () => String(await addEvent(db, tenant))))
  const receivers = hanging()
  const deliver = deliverer(receivers.sender)
  const held = events.slice(1).map((eventId) => deliver({ eventId, endpointId }))
  await receivers.counted(10)
  const eventId = events[0]!
  const pauses = (refusals: number): Promise<number[]> =>
    Promise.all(Array.from({ length: 40 }, () => deliver({ eventId, endpointId, refusals }).then(() => 0, secondsOf)))
  const [once, often] = [await pauses(1), await pauses(20)]
  expect([Math.min(...once) >= 5, Math.max(...once) <= 10]).toEqual([true, true])
  expect([Math.min(...often) >= 5, Math.max(...often) > 120, Math.max(...often) <= 600]).toEqual([true, true, true])
  receivers.end()
  await Promise.all(held)
})

it('receivers that nobody knows yet, and that hang, leave half of the places to the payments', async () => {
  const { db } = seeded
  let now = Date.now()
  const receivers = hanging()
  const activities = createAnnounceActivities({ db, secretBox, sender: receivers.sender, now: () => now })
  const announce = (event: string): ReturnType<AnnounceActivities['announce']> =>
    new MockActivityEnvironment().run((id: string) => activities.announce(id), event)
  const events: string[] = []
  for (let account = 0; account < WORKER_PLACES / 10; account++) {
    const tenant = await addMerchant(db)
    await endpointsOf(tenant, 1)
    for (let event = 0; event < 10; event++) events.push(String(await addEvent(db, tenant)))
  }
  const announced = events.map(async (event) => {
    const { failed } = await announce(event)
    if (failed[0]?.attemptsDone === 0) receivers.refuse()
  })
  await receivers.counted(WORKER_PLACES / 2)
  now += 3000
  await receivers.counted(WORKER_PLACES)
  expect(receivers.asked()).toBe(WORKER_PLACES / 2)
  receivers.end()
  await Promise.all(announced)
})

it('an event waits for its place while receivers answer, however many there are', async () => {
  const places = createEventPlaces(() => 0)
  const first = await Promise.all(Array.from({ length: 50 }, () => places.take()))
  const later = places.take()
  first[0]?.()
  expect([first.includes(null), await later]).toEqual([false, expect.any(Function)])
})

it('receivers that answer just in time not to count as hanging leave a quarter of the places to the payments', async () => {
  const places = createEventPlaces(() => 0)
  const held = await Promise.all(Array.from({ length: 50 }, () => places.take()))
  const later = Array.from({ length: 50 }, () => places.take())
  expect(await Promise.all(later.slice(25))).toEqual(Array.from({ length: 25 }, () => null))
  for (const free of held.slice(0, 25)) free?.()
  expect(await Promise.all(later.slice(0, 25))).not.toContain(null)
  for (const free of held.slice(25)) free?.()
  expect(await places.take()).toEqual(expect.any(Function))
})

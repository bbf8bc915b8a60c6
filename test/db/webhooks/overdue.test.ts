import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { markLookedAfter, type TryRecord, takeOverdueDeliveries } from '../../../src/db/webhooks/deliveries.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, seedDatabase } from '../../webhooks/seed.ts'
import { after, attempt, DAY, HOUR, pendingDelivery as pendingIn, recordTry } from './tries.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded.close())

const pendingDelivery = () => pendingIn(seeded)
const record = (made: TryRecord) => recordTry(seeded, made)

describe('the sweep', () => {
  beforeEach(async () => void (await seeded.db.query('delete from delivery')))
  const question = { now: after(HOUR), firstTryWithin: 120, grace: 900, again: { least: 60, most: 1800 }, limit: 50 }
  const taken = async (changed: Partial<typeof question> = {}) =>
    (await takeOverdueDeliveries(seeded.db, { ...question, ...changed })).map(({ event_id }) => event_id)
  /** The same, of those that prove to have their workflow. */
  const lookedAfter = async (changed: Partial<typeof question>) => {
    const deliveries = await takeOverdueDeliveries(seeded.db, { ...question, ...changed })
    await markLookedAfter(seeded.db, deliveries)
    return deliveries.map(({ event_id }) => event_id)
  }

  it('takes a delivery that was never attempted, but not before its announcement had its time', async () => {
    const { eventId } = await pendingDelivery()
    expect(await taken({ now: after(119) })).toEqual([])
    expect(await taken({ now: after(120) })).toEqual([eventId])
  })

  it('does not take it again at once, and does after half of its age if it has its workflow', async () => {
    const { eventId } = await pendingDelivery()
    const found: number[] = []
    for (const second of [120, 179, 180, 269, 270, 10_000, 11_799, 11_800])
      if ((await lookedAfter({ now: after(second) })).includes(eventId)) found.push(second)
    expect(found).toEqual([120, 180, 270, 10_000, 11_800])
  })

  it('takes it again after a minute, however old it is, where nobody knows whether it has its workflow', async () => {
    const { eventId } = await pendingDelivery()
    await lookedAfter({ now: after(120) })
    const found: number[] = []
    for (const second of [10_000, 10_059, 10_060])
      if ((await taken({ now: after(second) })).includes(eventId)) found.push(second)
    expect(found).toEqual([10_000, 10_060])
  })

  it('comes to one that is lost, behind any number of older ones that wait for a receiver that hangs', async () => {
    const tenant = await addMerchant(seeded.db)
    await addEndpoint(seeded.db, tenant)
    for (let index = 0; index < 70; index++) await addEvent(seeded.db, tenant, { at: after(index - 100) })
    const { eventId } = await pendingDelivery()
    const found: string[] = []
    for (let second = HOUR; second < HOUR + 140; second++)
      found.push(...(await lookedAfter({ now: after(second), limit: 1 })))
    expect(found).toContain(eventId)
  })

  it.each(['never tried', 'late'])(
    'comes to one that is lost and %s, behind more that wait than it takes until the first of them may be taken again',
    async (which) => {
      const tenant = await addMerchant(seeded.db)
      const { id } = await addEndpoint(seeded.db, tenant)
      const tried = async (eventId: string, endpointId: string, at: string): Promise<void> =>
        void (which === 'late' && (await record(attempt(eventId, endpointId, { at }))))
      for (let index = 0; index < 70; index++) {
        const at = after(index - 100)
        await tried((await addEvent(seeded.db, tenant, { at }))!, id, at)
      }
      const { eventId, endpointId } = await pendingDelivery()
      await tried(eventId, endpointId, after(1))
      const found: string[] = []
      for (let second = HOUR; second < HOUR + 140; second++)
        found.push(...(await lookedAfter({ now: after(second), limit: 1, again: { least: 10, most: 30 } })))
      expect(found).toContain(eventId)
    },
  )

  it('takes an attempted one only when it is later than the schedule can be', async () => {
    const { eventId, endpointId } = await pendingDelivery()
    await record(attempt(eventId, endpointId, { number: 11, at: after(0) }))
    // At the latest 24 h × 1.2 and the grace.
    expect(await taken({ now: after(1.2 * DAY + 899) })).toEqual([])
    expect(await taken({ now: after(1.2 * DAY + 900) })).toEqual([eventId])
  })

  it('leaves alone what is delivered, exhausted or disabled', async () => {
    for (const outcome of [
      { verdict: 'delivered', status: 200 },
      { verdict: 'gone', status: 410 },
      { step: 12 },
    ] as const) {
      const { eventId, endpointId } = await pendingDelivery()
      await record(attempt(eventId, endpointId, outcome))
    }
    expect(await taken({ now: after(30 * DAY) })).toEqual([])
  })

  it('takes the oldest first, a bounded number, and each for one worker only', async () => {
    const tenant = await addMerchant(seeded.db)
    await addEndpoint(seeded.db, tenant)
    const ids: string[] = []
    for (let index = 0; index < 9; index++) ids.push((await addEvent(seeded.db, tenant, { at: after(index) }))!)
    expect((await taken({ limit: 3 })).toSorted()).toEqual(ids.slice(0, 3).toSorted())
    const both = await Promise.all([taken({ limit: 3 }), taken({ limit: 3 })])
    expect(new Set(both.flat()).size).toBe(both.flat().length)
  })
})

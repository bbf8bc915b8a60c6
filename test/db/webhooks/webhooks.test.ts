import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../../scripts/test/until.ts'
import { many, sql, type Tenant } from '../../../src/db/db.ts'
import {
  loadDeliveries,
  markLookedAfter,
  parkDeliveries,
  recordTries,
  type TryRecord,
  takeOverdueDeliveries,
  untriedEvents,
} from '../../../src/db/webhooks/deliveries.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import {
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  purgeExpiredSecrets,
  rotateSecret,
  updateEndpoint,
} from '../../../src/db/webhooks/webhook-endpoints.ts'
import { bodyExcerpt, EXCERPT_BYTES } from '../../../src/outbound/excerpt.ts'
import { addEndpoint, addEvent, addMerchant, rows, type Seeded, seedDatabase } from '../../webhooks/seed.ts'
import { after, attempt, DAY, HOUR, pendingDelivery as pendingIn, recordTry, T0 } from './tries.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase(60)
})
afterAll(() => seeded?.close())
const pendingDelivery = () => pendingIn(seeded)

const record = (made: TryRecord) => recordTry(seeded, made)

describe('Events', () => {
  type EventRow = { id: string; sequence: string; body: Buffer; type: string }

  describe('An event', () => {
    it('an event has its bytes written once, around its own sequence', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      await addEndpoint(db, tenant)
      await addEvent(db, tenant)
      const object = { id: 'pay_1', description: 'Zażółć "quoted" \\ \u0000 \ud800 ⚡', amount: '0.10' }
      const id = await addEvent(db, tenant, { object })
      const [event] = await rows<EventRow>(db, 'select * from event where id = $1', [id])
      expect(JSON.parse(event!.body.toString('utf8'))).toEqual({
        id,
        type: 'payment.succeeded',
        timestamp: '2026-11-20T21:00:00.000Z',
        api_version: 'v1',
        livemode: false,
        sequence: 2,
        data: { object: JSON.parse(JSON.stringify(object)) },
      })
      expect(event!.sequence).toBe('2')
    })

    it('an event has a delivery for each enabled endpoint of the merchant and mode that subscribes to its type', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const [one, all, other, off] = [
        await addEndpoint(db, tenant),
        await addEndpoint(db, tenant, { enabledEvents: ['*'] }),
        await addEndpoint(db, tenant, { enabledEvents: ['payment.failed'] }),
        await addEndpoint(db, tenant),
      ]
      await updateEndpoint(db, tenant, { id: off.id, changes: { enabled: false } })
      await addEndpoint(db, await addMerchant(db))
      await addEndpoint(db, { ...tenant, livemode: true })
      const id = await addEvent(db, tenant)
      const deliveries = await rows<{ endpoint_id: string; merchant_id: string; livemode: boolean; status: string }>(
        db,
        'select * from delivery where event_id = $1 order by endpoint_id',
        [id],
      )
      expect(deliveries.map((delivery) => delivery.endpoint_id)).toEqual([one.id, all.id].toSorted())
      expect(deliveries.map((delivery) => delivery.endpoint_id)).not.toContain(other.id)
      expect(deliveries.every((delivery) => delivery.status === 'pending' && !delivery.livemode)).toBe(true)
    })

    it('an event without subscribers is stored for the list of events, and not announced', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      expect(await addEvent(db, tenant)).toBeNull()
      expect(await rows(db, 'select 1 from event where merchant_id = $1', [tenant.merchantId])).toHaveLength(1)
    })

    it('an event is removed with its failed transaction, and its sequence is used again', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      await addEndpoint(db, tenant)
      const failing = db.transaction(async (tx) => {
        await recordEvent(tx, {
          ...tenant,
          type: 'payment.succeeded',
          paymentId: null,
          object: {},
          at: '2026-11-20T21:00:00.000Z',
        })
        throw new Error('the state could not be written')
      })
      await expect(failing).rejects.toThrow('the state could not be written')
      expect(await rows(db, 'select 1 from event where merchant_id = $1', [tenant.merchantId])).toHaveLength(0)
      expect(await rows(db, 'select 1 from delivery where merchant_id = $1', [tenant.merchantId])).toHaveLength(0)
      const id = await addEvent(db, tenant)
      expect(await rows(db, 'select sequence from event where id = $1', [id])).toEqual([{ sequence: '1' }])
    })

    it('events have sequences without gaps or duplicates under 50 transactions at once, some of which fail', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const live = { ...tenant, livemode: true }
      await addEndpoint(db, tenant)
      const work = Array.from({ length: 50 }, (_, index) =>
        db
          .transaction(async (tx) => {
            const common = {
              type: 'payment.succeeded',
              paymentId: null,
              object: { index },
              at: '2026-11-20T21:00:00.000Z',
            }
            await recordEvent(tx, { ...tenant, ...common })
            if (index % 7 === 3) throw new Error('fails')
            if (index % 10 === 0) await recordEvent(tx, { ...live, ...common })
          })
          .catch(() => undefined),
      )
      await Promise.all(work)
      const events = await rows<EventRow>(
        db,
        'select * from event where merchant_id = $1 and not livemode order by sequence',
        [tenant.merchantId],
      )
      expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, index) => index + 1))
      expect(events).toHaveLength(43)
      for (const { sequence, body } of events) expect(JSON.parse(String(body)).sequence).toBe(Number(sequence))
      const lives = await rows<EventRow>(
        db,
        'select * from event where merchant_id = $1 and livemode order by sequence',
        [tenant.merchantId],
      )
      expect(lives.map(({ sequence }) => Number(sequence))).toEqual(lives.map((_, index) => index + 1))
    })

    it('an event is recorded although an endpoint is being deleted at the same moment', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const [kept, doomed] = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
      const outcome: { adding?: Promise<string | null> } = {}
      await db.transaction(async (tx) => {
        await deleteEndpoint(tx, tenant, doomed.id)
        outcome.adding = addEvent(db, tenant)
        const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        await until(
          () => rows(db, waiting),
          (found) => found.length > 0,
        )
      })
      const id = await outcome.adding
      const deliveries = await rows<{ endpoint_id: string }>(db, 'select * from delivery where event_id = $1', [id])
      expect(deliveries).toEqual([expect.objectContaining({ endpoint_id: kept.id })])
    })
  })
})

describe('Deliveries', () => {
  const row = async (eventId: string) =>
    (await rows<Record<string, unknown>>(seeded.db, 'select * from delivery where event_id = $1', [eventId]))[0]!

  /** An event of a payment that does not exist: only its id matters here. */
  const addTypedEvent = (tenant: Tenant, type: string) =>
    seeded.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica')
      return recordEvent(tx, { ...tenant, type, paymentId: 'pay_listed', object: {}, at: T0 })
    })

  describe('Recording an attempt', () => {
    it('recording an attempt writes the log and updates the delivery in one statement', async () => {
      const { db, eventId, endpointId } = await pendingDelivery()
      expect(await record(attempt(eventId, endpointId))).toBe('pending')
      expect(
        await record(attempt(eventId, endpointId, { number: 2, verdict: 'delivered', status: 204, at: after(6) })),
      ).toBe('delivered')
      expect(await row(eventId)).toMatchObject({
        status: 'delivered',
        attempts: 2,
        schedule_step: 2,
        delivered_at: new Date(after(6)),
        last_attempt_at: new Date(after(6)),
      })
      const log = await rows(db, 'select * from delivery_attempt where event_id = $1 order by number', [eventId])
      expect(log).toMatchObject([
        {
          number: 1,
          response_status: 500,
          response_body: 'oops',
          response_headers: { server: 'nginx' },
          duration_ms: 12,
        },
        { number: 2, response_status: 204 },
      ])
    })

    it('an attempt is recorded for any response of the receiver: also with a character at the cut of its text', async () => {
      const { eventId, endpointId } = await pendingDelivery()
      const answer = Buffer.from(`${'a'.repeat(EXCERPT_BYTES - 1)}🎁${'a'.repeat(EXCERPT_BYTES)}`)
      const made = attempt(eventId, endpointId, { bodyExcerpt: bodyExcerpt(answer, undefined) })
      expect(made.bodyExcerpt).toHaveLength(EXCERPT_BYTES)
      expect(await record(made)).toBe('pending')
    })

    it('recording an attempt twice changes nothing, as when an activity is run again', async () => {
      const { db, eventId, endpointId } = await pendingDelivery()
      const made = attempt(eventId, endpointId)
      await record(made)
      expect(await record({ ...made, bodyExcerpt: 'other' })).toBe('pending')
      expect(await row(eventId)).toMatchObject({ attempts: 1 })
      const log = await rows(db, 'select response_body from delivery_attempt where event_id = $1', [eventId])
      expect(log).toEqual([{ response_body: 'oops' }])
    })

    it('recording a late failure leaves a delivery delivered', async () => {
      const { eventId, endpointId } = await pendingDelivery()
      await record(attempt(eventId, endpointId, { verdict: 'delivered', status: 200 }))
      expect(await record(attempt(eventId, endpointId, { number: 2 }))).toBe('delivered')
    })

    it('recording the last attempt parks the delivery as exhausted when the schedule is used up', async () => {
      const { eventId, endpointId } = await pendingDelivery()
      expect(await record(attempt(eventId, endpointId, { number: 12, step: 11 }))).toBe('pending')
      expect(await record(attempt(eventId, endpointId, { number: 13, step: 12 }))).toBe('exhausted')
    })

    it('recording attempts of several endpoints leaves out one that was deleted in between', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const [kept, doomed] = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
      const eventId = (await addEvent(db, tenant))!
      await deleteEndpoint(db, tenant, doomed.id)
      const made = [attempt(eventId, kept.id, { verdict: 'delivered', status: 200 }), attempt(eventId, doomed.id)]
      expect([...(await recordTries(db, made))]).toEqual([[kept.id, 'delivered']])
    })

    it('recording no attempt changes nothing', async () => {
      expect((await recordTries(seeded.db, [])).size).toBe(0)
    })
  })

  describe('The health of an endpoint', () => {
    it('an endpoint’s failure is noted from the first failed try until the next success', async () => {
      const { db, tenant, eventId, endpointId } = await pendingDelivery()
      await record(attempt(eventId, endpointId, { at: after(1) }))
      await record(attempt(eventId, endpointId, { number: 2, at: after(6) }))
      expect((await findEndpoint(db, tenant, endpointId))?.failing_since).toEqual(new Date(after(1)))
      await record(attempt(eventId, endpointId, { number: 3, verdict: 'delivered', status: 200, at: after(40) }))
      expect((await findEndpoint(db, tenant, endpointId))?.failing_since).toBeNull()
    })

    it('a response of 410 disables an endpoint at once and parks this delivery', async () => {
      const { db, tenant, eventId, endpointId } = await pendingDelivery()
      expect(await record(attempt(eventId, endpointId, { verdict: 'gone', status: 410 }))).toBe('disabled')
      expect(await findEndpoint(db, tenant, endpointId)).toMatchObject({
        disabled_reason: 'gone',
        disabled_at: new Date(after(1)),
      })
    })

    it('five days without a success disable an endpoint', async () => {
      const { db, tenant, eventId, endpointId } = await pendingDelivery()
      await record(attempt(eventId, endpointId))
      const later = (await addEvent(db, tenant, { at: after(4 * DAY) }))!
      expect(await record(attempt(later, endpointId, { at: after(5 * DAY) }))).toBe('pending')
      expect(await record(attempt(later, endpointId, { number: 2, at: after(5 * DAY + 2) }))).toBe('disabled')
      expect(await findEndpoint(db, tenant, endpointId)).toMatchObject({ disabled_reason: 'failing' })
    })

    it('one failure after a quiet week does not disable an endpoint', async () => {
      const { db, tenant, eventId, endpointId } = await pendingDelivery()
      await record(attempt(eventId, endpointId))
      const later = (await addEvent(db, tenant, { at: after(8 * DAY) }))!
      expect(await record(attempt(later, endpointId, { at: after(8 * DAY + 1) }))).toBe('pending')
      expect(await record(attempt(later, endpointId, { number: 2, at: after(8 * DAY + 11 * HOUR) }))).toBe('pending')
      expect((await findEndpoint(db, tenant, endpointId))?.disabled_at).toBeNull()
      expect(await record(attempt(later, endpointId, { number: 3, at: after(8 * DAY + 12 * HOUR) }))).toBe('disabled')
    })

    const listReports = (endpointId: string) =>
      rows<{ object: object; endpoints: string[] }>(
        seeded.db,
        `select convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' as object,
         array(select endpoint_id from delivery where event_id = event.id) as endpoints
       from event where type = 'webhook_endpoint.disabled'
         and convert_from(body, 'UTF8')::jsonb #>> '{data,object,id}' = $1`,
        [endpointId],
      )

    it('the platform’s disabling of an endpoint is reported once to the other endpoints, and the merchant’s is not', async () => {
      const { db, tenant, eventId, endpointId } = await pendingDelivery()
      const other = await addEndpoint(db, tenant, { enabledEvents: ['*'] })
      const next = (await addEvent(db, tenant, { at: T0 }))!
      const gone = { verdict: 'gone', status: 410 } as const
      await Promise.all([
        record(attempt(eventId, endpointId, gone)),
        record(attempt(next, endpointId, { ...gone, at: after(2) })),
      ])
      await record(attempt(eventId, endpointId, gone))
      const [event, ...more] = await listReports(endpointId)
      expect(event).toMatchObject({
        object: { object: 'webhook_endpoint', status: 'disabled', disabled_reason: 'gone' },
        endpoints: [other.id],
      })
      expect(JSON.stringify(event)).not.toContain('sealed')
      expect(more).toEqual([])

      await updateEndpoint(db, tenant, { id: other.id, changes: { enabled: false } })
      await record(attempt(next, other.id, gone))
      expect(await listReports(other.id)).toEqual([])
    })
  })

  describe('The deliveries of an event', () => {
    it('the deliveries of an event have bytes, URL and encrypted secrets', async () => {
      const { db, eventId, endpointId } = await pendingDelivery()
      const [delivery] = await loadDeliveries(db, eventId)
      expect(delivery).toMatchObject({
        endpoint_id: endpointId,
        attempts: 0,
        status: 'pending',
        endpoint_disabled: false,
      })
      expect(JSON.parse(String(delivery?.body)).id).toBe(eventId)
      expect(delivery?.secrets[0]?.sealed).toMatch(/^v2\.[0-9a-f]{8}\./)
      expect(await loadDeliveries(db, eventId, endpointId)).toEqual([delivery])
      expect(await loadDeliveries(db, eventId, 'we_other')).toEqual([])
    })

    it('the deliveries of an event are parked only while they are pending', async () => {
      const { db, tenant } = await pendingDelivery()
      const [one, two] = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
      const eventId = (await addEvent(db, tenant))!
      await record(attempt(eventId, one.id, { verdict: 'delivered', status: 200 }))
      await parkDeliveries(db, eventId, [one.id, two.id])
      const statuses = new Map((await loadDeliveries(db, eventId)).map((each) => [each.endpoint_id, each.status]))
      expect([statuses.get(one.id), statuses.get(two.id)]).toEqual(['delivered', 'disabled'])
    })

    it('deliveries that were never tried are found by their payment, oldest first', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const endpoint = await addEndpoint(db, tenant)
      const ids: string[] = []
      for (const type of ['payment.succeeded', 'payment.succeeded', 'payment.succeeded', 'payment.failed'])
        ids.push((await addTypedEvent(tenant, type))!)
      await record(attempt(ids[1]!, endpoint.id))
      const listUntried = async (id: string) =>
        (await many(db, z.object({ event_id: z.string() }), untriedEvents(sql`${id}`))).map((row) => row.event_id)
      expect(await listUntried('pay_listed')).toEqual([ids[0], ids[2]])
      expect(await listUntried('pay_other')).toEqual([])
    })
  })
})

describe('Overdue deliveries', () => {
  describe('The sweep of overdue deliveries', () => {
    beforeEach(async () => void (await seeded.db.query('delete from delivery')))
    const question = { now: after(HOUR), firstTryWithin: 120, grace: 900, again: { least: 60, most: 1800 }, limit: 50 }
    const taken = async (changed: Partial<typeof question> = {}) =>
      (await takeOverdueDeliveries(seeded.db, { ...question, ...changed })).map(({ event_id }) => event_id)
    /** Takes deliveries as the sweep does, and marks that they have their workflow. */
    const lookedAfter = async (changed: Partial<typeof question>) => {
      const deliveries = await takeOverdueDeliveries(seeded.db, { ...question, ...changed })
      await markLookedAfter(seeded.db, deliveries)
      return deliveries.map(({ event_id }) => event_id)
    }

    it('the sweep takes a delivery that was never attempted, but not before its announcement had its time', async () => {
      const { eventId } = await pendingDelivery()
      expect(await taken({ now: after(119) })).toEqual([])
      expect(await taken({ now: after(120) })).toEqual([eventId])
    })

    it('the sweep does not take a delivery again at once, but after half of its age if it has its workflow', async () => {
      const { eventId } = await pendingDelivery()
      const found: number[] = []
      for (const second of [120, 179, 180, 269, 270, 10_000, 11_799, 11_800])
        if ((await lookedAfter({ now: after(second) })).includes(eventId)) found.push(second)
      expect(found).toEqual([120, 180, 270, 10_000, 11_800])
    })

    it('the sweep takes a delivery again after a minute, however old it is, if its workflow is not known', async () => {
      const { eventId } = await pendingDelivery()
      await lookedAfter({ now: after(120) })
      const found: number[] = []
      for (const second of [10_000, 10_059, 10_060])
        if ((await taken({ now: after(second) })).includes(eventId)) found.push(second)
      expect(found).toEqual([10_000, 10_060])
    })

    it('the sweep reaches a lost delivery behind any number of older ones that wait for a receiver that hangs', async () => {
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
      'the sweep reaches a lost delivery (%s) behind more waiting ones than it takes before it repeats the first',
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

    it('the sweep takes an attempted delivery only if it is later than the schedule can be', async () => {
      const { eventId, endpointId } = await pendingDelivery()
      await record(attempt(eventId, endpointId, { number: 11, at: after(0) }))
      // At the latest 24 h × 1.2 and the grace.
      expect(await taken({ now: after(1.2 * DAY + 899) })).toEqual([])
      expect(await taken({ now: after(1.2 * DAY + 900) })).toEqual([eventId])
    })

    it('the sweep skips deliveries that are delivered, exhausted or disabled', async () => {
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

    it('the sweep takes the oldest first, a bounded number, and each for one worker only', async () => {
      const tenant = await addMerchant(seeded.db)
      await addEndpoint(seeded.db, tenant)
      const ids: string[] = []
      for (let index = 0; index < 9; index++) ids.push((await addEvent(seeded.db, tenant, { at: after(index) }))!)
      expect((await taken({ limit: 3 })).toSorted()).toEqual(ids.slice(0, 3).toSorted())
      const both = await Promise.all([taken({ limit: 3 }), taken({ limit: 3 })])
      expect(new Set(both.flat()).size).toBe(both.flat().length)
    })
  })
})

describe('Endpoints', () => {
  const AT = '2026-11-20T21:00:00.000Z'

  describe('A merchant’s endpoints', () => {
    it('endpoints are listed in the order in which they were made', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const made = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
      expect((await listEndpoints(db, tenant)).map(({ id }) => id)).toEqual(made.map(({ id }) => id))
      expect(await findEndpoint(db, tenant, made[0]!.id)).toMatchObject({ url: 'https://shop.example/hooks' })
    })

    it('endpoints do not exist for another merchant or in the other mode', async () => {
      const { db, tenant } = seeded
      const { id } = await addEndpoint(db, tenant)
      for (const stranger of [await addMerchant(db), { ...tenant, livemode: true }]) {
        expect(await findEndpoint(db, stranger, id)).toBeNull()
        expect(await listEndpoints(db, stranger)).toEqual([])
        expect(await updateEndpoint(db, stranger, { id, changes: { url: 'https://evil.example/' } })).toBeNull()
        expect(await rotateSecret(db, stranger, { id, sealedSecret: 'v1.x', previousExpiresAt: null })).toBeNull()
        expect(await deleteEndpoint(db, stranger, id)).toBe(false)
      }
      expect(await findEndpoint(db, tenant, id)).toMatchObject({ url: 'https://shop.example/hooks' })
    })

    it('endpoints change only in the requested fields', async () => {
      const { db, tenant } = seeded
      const before = await addEndpoint(db, tenant)
      const changed = await updateEndpoint(db, tenant, { id: before.id, changes: { enabledEvents: ['*'] } })
      expect(changed).toMatchObject({ url: before.url, description: null, enabled_events: ['*'], disabled_at: null })
      const named = await updateEndpoint(db, tenant, {
        id: before.id,
        changes: { description: 'orders', enabled: false },
      })
      expect(named).toMatchObject({ description: 'orders', enabled_events: ['*'], disabled_reason: 'merchant' })
      const enabled = await updateEndpoint(db, tenant, { id: before.id, changes: { enabled: true } })
      expect(enabled).toMatchObject({ disabled_at: null, disabled_reason: null, failing_since: null })
    })

    it('deleted endpoints take their deliveries with them, and leave the events', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const { id } = await addEndpoint(db, tenant)
      const eventId = await addEvent(db, tenant)
      expect(await deleteEndpoint(db, tenant, id)).toBe(true)
      expect(await rows(db, 'select 1 from delivery where event_id = $1', [eventId])).toHaveLength(0)
      expect(await rows(db, 'select 1 from event where id = $1', [eventId])).toHaveLength(1)
    })

    it('deleting an endpoint delays no event while its deliveries are deleted', async () => {
      const { db } = seeded
      const tenant = await addMerchant(db)
      const { id } = await addEndpoint(db, tenant)
      const first = await addEvent(db, tenant)
      const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      const outcome: { deleting?: Promise<boolean>; second?: string | null } = {}
      await db.transaction(async (tx) => {
        // As if there were enough deliveries to take a while.
        await tx.query('select 1 from delivery where event_id = $1 for update', [first])
        outcome.deleting = db.transaction((other) => deleteEndpoint(other, tenant, id))
        await until(
          () => rows(db, waiting),
          (found) => found.length > 0,
        )
        outcome.second = await db.transaction(async (other) => {
          await other.query("set local lock_timeout = '1s'")
          return recordEvent(other, { ...tenant, type: 'payment.succeeded', paymentId: null, object: {}, at: AT })
        })
      })
      expect(outcome.second).toEqual(expect.any(String))
      expect(await outcome.deleting).toBe(true)
      expect(await rows(db, 'select 1 from delivery where endpoint_id = $1', [id])).toHaveLength(0)
    })
  })

  describe('Rotating a secret', () => {
    const later = '2026-11-22T00:00:00.000Z'

    it('rotating a secret keeps the old one until the end of its overlap', async () => {
      const { db, tenant } = seeded
      const { id, secrets } = await addEndpoint(db, tenant)
      const rotated = await rotateSecret(db, tenant, { id, sealedSecret: 'v1.new', previousExpiresAt: later })
      expect(rotated?.secrets).toEqual([
        { sealed: 'v1.new', expires_at: null },
        { sealed: secrets[0]!.sealed, expires_at: later },
      ])
    })

    it('rotating a secret keeps at most two: the oldest ends at once', async () => {
      const { db, tenant } = seeded
      const { id } = await addEndpoint(db, tenant)
      await rotateSecret(db, tenant, { id, sealedSecret: 'v1.second', previousExpiresAt: later })
      const rotated = await rotateSecret(db, tenant, { id, sealedSecret: 'v1.third', previousExpiresAt: later })
      expect(rotated?.secrets.map(({ sealed }) => sealed)).toEqual(['v1.third', 'v1.second'])
    })

    it('rotating a secret without overlap leaves only the new one', async () => {
      const { db, tenant } = seeded
      const { id } = await addEndpoint(db, tenant)
      const rotated = await rotateSecret(db, tenant, { id, sealedSecret: 'v1.new', previousExpiresAt: null })
      expect(rotated?.secrets).toEqual([{ sealed: 'v1.new', expires_at: null }])
    })

    it('rotating a secret deletes an expired one', async () => {
      const { db, tenant } = seeded
      const { id } = await addEndpoint(db, tenant)
      await rotateSecret(db, tenant, { id, sealedSecret: 'v1.new', previousExpiresAt: later })
      await purgeExpiredSecrets(db, '2026-11-21T23:59:59.999Z')
      expect((await findEndpoint(db, tenant, id))?.secrets).toHaveLength(2)
      await purgeExpiredSecrets(db, later)
      expect((await findEndpoint(db, tenant, id))?.secrets).toEqual([{ sealed: 'v1.new', expires_at: null }])
    })
  })
})

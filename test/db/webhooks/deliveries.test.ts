import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Tenant } from '../../../src/db/db.ts'
import {
  listUntried,
  loadDeliveries,
  parkDeliveries,
  recordTries,
  type TryRecord,
} from '../../../src/db/webhooks/deliveries.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { deleteEndpoint, findEndpoint, updateEndpoint } from '../../../src/db/webhooks/webhook-endpoints.ts'
import { bodyExcerpt, EXCERPT_BYTES } from '../../../src/webhooks/excerpt.ts'
import { addEndpoint, addEvent, addMerchant, rows, type Seeded, seedDatabase } from '../../webhooks/seed.ts'
import { after, attempt, DAY, HOUR, pendingDelivery as pendingIn, recordTry, T0 } from './tries.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded.close())

const pendingDelivery = () => pendingIn(seeded)
const record = (made: TryRecord) => recordTry(seeded, made)
const row = async (eventId: string) =>
  (await rows<Record<string, unknown>>(seeded.db, 'select * from delivery where event_id = $1', [eventId]))[0]!

/** An event of a payment that does not exist: only its id matters here. */
const addEventOf = (tenant: Tenant, type: string) =>
  seeded.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    return recordEvent(tx, { ...tenant, type, paymentId: 'pay_listed', object: {}, at: T0 })
  })

describe('recording an attempt', () => {
  it('writes the log and moves the delivery in one statement', async () => {
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

  it('is possible whatever the receiver answered: a character at the cut of its text too', async () => {
    const { eventId, endpointId } = await pendingDelivery()
    const answer = Buffer.from(`${'a'.repeat(EXCERPT_BYTES - 1)}🎁${'a'.repeat(EXCERPT_BYTES)}`)
    const made = attempt(eventId, endpointId, { bodyExcerpt: bodyExcerpt(answer, undefined) })
    expect(made.bodyExcerpt).toHaveLength(EXCERPT_BYTES)
    expect(await record(made)).toBe('pending')
  })

  it('twice changes nothing, as when an activity is run again', async () => {
    const { db, eventId, endpointId } = await pendingDelivery()
    const made = attempt(eventId, endpointId)
    await record(made)
    expect(await record({ ...made, bodyExcerpt: 'other' })).toBe('pending')
    expect(await row(eventId)).toMatchObject({ attempts: 1 })
    const log = await rows(db, 'select response_body from delivery_attempt where event_id = $1', [eventId])
    expect(log).toEqual([{ response_body: 'oops' }])
  })

  it('never takes back a delivery: a late failure leaves it delivered', async () => {
    const { eventId, endpointId } = await pendingDelivery()
    await record(attempt(eventId, endpointId, { verdict: 'delivered', status: 200 }))
    expect(await record(attempt(eventId, endpointId, { number: 2 }))).toBe('delivered')
  })

  it('parks the delivery as exhausted when the schedule is used up', async () => {
    const { eventId, endpointId } = await pendingDelivery()
    expect(await record(attempt(eventId, endpointId, { number: 12, step: 11 }))).toBe('pending')
    expect(await record(attempt(eventId, endpointId, { number: 13, step: 12 }))).toBe('exhausted')
  })

  it('records several endpoints at once, and leaves out one that was deleted meanwhile', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const [kept, doomed] = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
    const eventId = (await addEvent(db, tenant))!
    await deleteEndpoint(db, tenant, doomed.id)
    const made = [attempt(eventId, kept.id, { verdict: 'delivered', status: 200 }), attempt(eventId, doomed.id)]
    expect([...(await recordTries(db, made))]).toEqual([[kept.id, 'delivered']])
  })

  it('of nothing is nothing', async () => {
    expect((await recordTries(seeded.db, [])).size).toBe(0)
  })
})

describe('the health of an endpoint', () => {
  it('is noted from the first failure until the next success', async () => {
    const { db, tenant, eventId, endpointId } = await pendingDelivery()
    await record(attempt(eventId, endpointId, { at: after(1) }))
    await record(attempt(eventId, endpointId, { number: 2, at: after(6) }))
    expect((await findEndpoint(db, tenant, endpointId))?.failing_since).toEqual(new Date(after(1)))
    await record(attempt(eventId, endpointId, { number: 3, verdict: 'delivered', status: 200, at: after(40) }))
    expect((await findEndpoint(db, tenant, endpointId))?.failing_since).toBeNull()
  })

  it('ends with 410: it is disabled at once and this delivery parked', async () => {
    const { db, tenant, eventId, endpointId } = await pendingDelivery()
    expect(await record(attempt(eventId, endpointId, { verdict: 'gone', status: 410 }))).toBe('disabled')
    expect(await findEndpoint(db, tenant, endpointId)).toMatchObject({
      disabled_reason: 'gone',
      disabled_at: new Date(after(1)),
    })
  })

  it('disables it after five days without a success', async () => {
    const { db, tenant, eventId, endpointId } = await pendingDelivery()
    await record(attempt(eventId, endpointId))
    const later = (await addEvent(db, tenant, { at: after(4 * DAY) }))!
    expect(await record(attempt(later, endpointId, { at: after(5 * DAY) }))).toBe('pending')
    expect(await record(attempt(later, endpointId, { number: 2, at: after(5 * DAY + 2) }))).toBe('disabled')
    expect(await findEndpoint(db, tenant, endpointId)).toMatchObject({ disabled_reason: 'failing' })
  })

  it('does not disable it for one hiccup after a quiet week', async () => {
    const { db, tenant, eventId, endpointId } = await pendingDelivery()
    await record(attempt(eventId, endpointId))
    const later = (await addEvent(db, tenant, { at: after(8 * DAY) }))!
    expect(await record(attempt(later, endpointId, { at: after(8 * DAY + 1) }))).toBe('pending')
    expect(await record(attempt(later, endpointId, { number: 2, at: after(8 * DAY + 11 * HOUR) }))).toBe('pending')
    expect((await findEndpoint(db, tenant, endpointId))?.disabled_at).toBeNull()
    expect(await record(attempt(later, endpointId, { number: 3, at: after(8 * DAY + 12 * HOUR) }))).toBe('disabled')
  })

  const toldOf = (endpointId: string) =>
    rows<{ object: object; told: string[] }>(
      seeded.db,
      `select convert_from(body, 'UTF8')::jsonb -> 'data' -> 'object' as object,
         array(select endpoint_id from delivery where event_id = event.id) as told
       from event where type = 'webhook_endpoint.disabled'
         and convert_from(body, 'UTF8')::jsonb #>> '{data,object,id}' = $1`,
      [endpointId],
    )

  it('tells the other endpoints once that it was switched off, and only when we did it', async () => {
    const { db, tenant, eventId, endpointId } = await pendingDelivery()
    const other = await addEndpoint(db, tenant, { enabledEvents: ['*'] })
    const next = (await addEvent(db, tenant, { at: T0 }))!
    const gone = { verdict: 'gone', status: 410 } as const
    await Promise.all([
      record(attempt(eventId, endpointId, gone)),
      record(attempt(next, endpointId, { ...gone, at: after(2) })),
    ])
    await record(attempt(eventId, endpointId, gone))
    const [event, ...more] = await toldOf(endpointId)
    expect(event).toMatchObject({
      object: { object: 'webhook_endpoint', status: 'disabled', disabled_reason: 'gone' },
      told: [other.id],
    })
    expect(JSON.stringify(event)).not.toContain('sealed')
    expect(more).toEqual([])

    await updateEndpoint(db, tenant, { id: other.id, changes: { enabled: false } })
    await record(attempt(next, other.id, gone))
    expect(await toldOf(other.id)).toEqual([])
  })
})

describe('the deliveries of an event', () => {
  it('come with bytes, address and encrypted secrets', async () => {
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

  it('are parked only while they are pending', async () => {
    const { db, tenant } = await pendingDelivery()
    const [one, two] = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
    const eventId = (await addEvent(db, tenant))!
    await record(attempt(eventId, one.id, { verdict: 'delivered', status: 200 }))
    await parkDeliveries(db, eventId, [one.id, two.id])
    const statuses = new Map((await loadDeliveries(db, eventId)).map((each) => [each.endpoint_id, each.status]))
    expect([statuses.get(one.id), statuses.get(two.id)]).toEqual(['delivered', 'disabled'])
  })

  it('that nobody has tried are found by their payment, oldest first', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const endpoint = await addEndpoint(db, tenant)
    const ids: string[] = []
    for (const type of ['payment.succeeded', 'payment.succeeded', 'payment.succeeded', 'payment.failed'])
      ids.push((await addEventOf(tenant, type))!)
    await record(attempt(ids[1]!, endpoint.id))
    expect(await listUntried(db, 'pay_listed')).toEqual([ids[0], ids[2]])
    expect(await listUntried(db, 'pay_other')).toEqual([])
  })
})

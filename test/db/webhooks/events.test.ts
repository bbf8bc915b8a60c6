import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { deleteEndpoint, updateEndpoint } from '../../../src/db/webhooks/webhook-endpoints.ts'
import { until } from '../../webhooks/listeners.ts'
import { addEndpoint, addEvent, addMerchant, rows, type Seeded, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase(60)
})
afterAll(() => seeded.close())

type EventRow = { id: string; sequence: string; body: Buffer; type: string }

describe('an event', () => {
  it('has its bytes written once, around its own sequence', async () => {
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

  it('has a delivery for each enabled endpoint of the merchant and mode that subscribes to its type', async () => {
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

  it('is kept for the list of events even when nobody subscribes, and is then not announced', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    expect(await addEvent(db, tenant)).toBeNull()
    expect(await rows(db, 'select 1 from event where merchant_id = $1', [tenant.merchantId])).toHaveLength(1)
  })

  it('vanishes with the transaction that failed, and its sequence is given again', async () => {
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

  it('has a sequence without gap or double under 50 transactions at once, some of which fail', async () => {
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

  it('is recorded although an endpoint is being deleted at the same moment', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const [kept, doomed] = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
    const outcome: { adding?: Promise<string | null> } = {}
    await db.transaction(async (tx) => {
      await deleteEndpoint(tx, tenant, doomed.id)
      outcome.adding = addEvent(db, tenant)
      const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      await until(async () => (await rows(db, waiting)).length > 0)
    })
    const id = await outcome.adding
    const deliveries = await rows<{ endpoint_id: string }>(db, 'select * from delivery where event_id = $1', [id])
    expect(deliveries).toEqual([expect.objectContaining({ endpoint_id: kept.id })])
  })
})

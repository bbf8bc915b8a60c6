import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import {
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  purgeExpiredSecrets,
  rotateSecret,
  updateEndpoint,
} from '../../../src/db/webhooks/webhook-endpoints.ts'
import { addEndpoint, addEvent, addMerchant, rows, type Seeded, seedDatabase } from '../../webhooks/seed.ts'

const AT = '2026-11-20T21:00:00.000Z'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded.close())

describe("a merchant's endpoints", () => {
  it('are listed in the order in which they were made', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const made = [await addEndpoint(db, tenant), await addEndpoint(db, tenant)]
    expect((await listEndpoints(db, tenant)).map(({ id }) => id)).toEqual(made.map(({ id }) => id))
    expect(await findEndpoint(db, tenant, made[0]!.id)).toMatchObject({ url: 'https://shop.example/hooks' })
  })

  it('do not exist for another merchant or in the other mode', async () => {
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

  it('change only in what was asked for', async () => {
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

  it('take their deliveries with them when deleted, and leave the events', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const { id } = await addEndpoint(db, tenant)
    const eventId = await addEvent(db, tenant)
    expect(await deleteEndpoint(db, tenant, id)).toBe(true)
    expect(await rows(db, 'select 1 from delivery where event_id = $1', [eventId])).toHaveLength(0)
    expect(await rows(db, 'select 1 from event where id = $1', [eventId])).toHaveLength(1)
  })

  it('hold up no event while their deliveries go', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const { id } = await addEndpoint(db, tenant)
    const first = await addEvent(db, tenant)
    const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    const outcome: { deleting?: Promise<boolean>; second?: string | null } = {}
    await db.transaction(async (tx) => {
      // As if there were so many that they take a while.
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

describe('rotating a secret', () => {
  const later = '2026-11-22T00:00:00.000Z'

  it('keeps the old one beside the new until its time', async () => {
    const { db, tenant } = seeded
    const { id, secrets } = await addEndpoint(db, tenant)
    const rotated = await rotateSecret(db, tenant, { id, sealedSecret: 'v1.new', previousExpiresAt: later })
    expect(rotated?.secrets).toEqual([
      { sealed: 'v1.new', expires_at: null },
      { sealed: secrets[0]!.sealed, expires_at: later },
    ])
  })

  it('never keeps more than two: the oldest ends at once', async () => {
    const { db, tenant } = seeded
    const { id } = await addEndpoint(db, tenant)
    await rotateSecret(db, tenant, { id, sealedSecret: 'v1.second', previousExpiresAt: later })
    const rotated = await rotateSecret(db, tenant, { id, sealedSecret: 'v1.third', previousExpiresAt: later })
    expect(rotated?.secrets.map(({ sealed }) => sealed)).toEqual(['v1.third', 'v1.second'])
  })

  it('without overlap leaves only the new one', async () => {
    const { db, tenant } = seeded
    const { id } = await addEndpoint(db, tenant)
    const rotated = await rotateSecret(db, tenant, { id, sealedSecret: 'v1.new', previousExpiresAt: null })
    expect(rotated?.secrets).toEqual([{ sealed: 'v1.new', expires_at: null }])
  })

  it('deletes a secret whose time is over', async () => {
    const { db, tenant } = seeded
    const { id } = await addEndpoint(db, tenant)
    await rotateSecret(db, tenant, { id, sealedSecret: 'v1.new', previousExpiresAt: later })
    await purgeExpiredSecrets(db, '2026-11-21T23:59:59.999Z')
    expect((await findEndpoint(db, tenant, id))?.secrets).toHaveLength(2)
    await purgeExpiredSecrets(db, later)
    expect((await findEndpoint(db, tenant, id))?.secrets).toEqual([{ sealed: 'v1.new', expires_at: null }])
  })
})

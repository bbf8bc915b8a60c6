import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { type AnnounceActivities, createAnnounceActivities } from '../../../src/activities/webhooks/announce.ts'
import { createWebhookDeliveryActivities } from '../../../src/activities/webhooks/webhook-delivery.ts'
import type { DeliveryDeps } from '../../../src/activities/webhooks/webhook-try.ts'
import type { Db } from '../../../src/db/db.ts'
import { loadDeliveries } from '../../../src/db/webhooks/deliveries.ts'
import {
  deleteEndpoint,
  findEndpoint,
  rotateSecret,
  updateEndpoint,
} from '../../../src/db/webhooks/webhook-endpoints.ts'
import { createSender } from '../../../src/webhooks/send.ts'
import { newWebhookSecret } from '../../../src/webhooks/sign.ts'
import { type Merchant, startMerchant } from '../../webhooks/merchant.ts'
import { addEndpoint, addEvent, addMerchant, rows, type Seeded, secretBox, seedDatabase } from '../../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded.close())

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

/** Merchants' receivers, an endpoint for each, one event, and the activities that deliver it. */
async function setUp(answers: Parameters<typeof startMerchant>[0][], db: Db = seeded.db) {
  const tenant = await addMerchant(seeded.db)
  const merchants: (Merchant & { endpointId: string })[] = []
  for (const answer of answers) {
    const merchant = await startMerchant(answer)
    const { id, secret } = await addEndpoint(seeded.db, tenant, { url: merchant.url })
    merchant.secret = secret
    merchants.push(Object.assign(merchant, { endpointId: id }))
  }
  const eventId = (await addEvent(seeded.db, tenant))!
  const deps = depsFor(merchants, db)
  return { tenant, merchants, eventId, deps, announce: announceWith(deps), deliver: deliverWith(deps) }
}

function depsFor(merchants: readonly Merchant[], db: Db): DeliveryDeps {
  const testTargets = merchants.map(({ target }) => target)
  const limits = { totalMs: 500, connectMs: 300 }
  const sender = createSender({ mode: 'test', testTargets, now: Date.now, limits })
  opened.push(sender, ...merchants)
  return { db, secretBox, sender, now: Date.now }
}

const announceWith =
  (deps: DeliveryDeps) =>
  (eventId: string): ReturnType<AnnounceActivities['announce']> =>
    new MockActivityEnvironment().run((id: string) => createAnnounceActivities(deps).announce(id), eventId)

type Attempt = Parameters<ReturnType<typeof createWebhookDeliveryActivities>['deliverWebhook']>[0]
const deliverWith = (deps: DeliveryDeps) => (attempt: Attempt) =>
  new MockActivityEnvironment().run(
    (input: Attempt) => createWebhookDeliveryActivities(deps).deliverWebhook(input),
    attempt,
  )

const statusesOf = async (eventId: string) => (await loadDeliveries(seeded.db, eventId)).map(({ status }) => status)

/** A database that answers, and counts or fails the statements that match. */
function watched(db: Db, onQuery: (text: string) => void): Db {
  const seen =
    <Answer>(query: (text: string, values?: unknown[]) => Answer) =>
    (text: string, values?: unknown[]): Answer => {
      onQuery(text)
      return query(text, values)
    }
  return {
    ...db,
    query: seen((text, values) => db.query(text, values)),
    transaction: (work) =>
      db.transaction((tx) => work({ ...tx, query: seen((text, values) => tx.query(text, values)) })),
  }
}

describe('announcing an event', () => {
  it('reaches every endpoint with the same signed bytes, and nothing is left to do', async () => {
    const { merchants, eventId, announce } = await setUp([undefined, undefined, undefined])
    expect(await announce(eventId)).toEqual({ failed: [] })
    const received = merchants.map((merchant) => merchant.received)
    expect(received.map((each) => each.length)).toEqual([1, 1, 1])
    expect(received.flat().every(({ genuine, id }) => genuine && id === eventId)).toBe(true)
    expect(new Set(received.flat().map(({ body }) => body.toString())).size).toBe(1)
    expect(await statusesOf(eventId)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  it('costs two statements, however many endpoints there are', async () => {
    const statements: string[] = []
    const db = watched(seeded.db, (text) => statements.push(text))
    const { eventId, announce } = await setUp([undefined, () => ({ status: 500 }), undefined], db)
    await announce(eventId)
    expect(statements).toHaveLength(2)
  })

  it('hands over who did not take it, with what they said', async () => {
    const busy = () => ({ status: 429, headers: { 'retry-after': '77' } })
    const { merchants, eventId, announce } = await setUp([undefined, () => ({ status: 500 }), busy])
    const { failed } = await announce(eventId)
    expect(failed.toSorted((one, two) => one.endpointId.localeCompare(two.endpointId))).toEqual([
      {
        endpointId: merchants[1]!.endpointId,
        attemptsDone: 1,
        last: { text: 'HTTP 500', overloaded: false, retryAfterSeconds: null },
      },
      {
        endpointId: merchants[2]!.endpointId,
        attemptsDone: 1,
        last: { text: 'HTTP 429', overloaded: true, retryAfterSeconds: 77 },
      },
    ])
    expect(await statusesOf(eventId)).toEqual(['delivered', 'pending', 'pending'])
  })

  it('run again after a crash skips who has it and who was tried', async () => {
    const { merchants, eventId, announce } = await setUp([undefined, () => ({ status: 500 })])
    const first = await announce(eventId)
    const second = await announce(eventId)
    expect(merchants.map(({ received }) => received.length)).toEqual([1, 1])
    expect(second.failed).toEqual([{ ...first.failed[0], last: null }])
  })

  it('that crashed before anything was recorded sends again, with the same id and bytes', async () => {
    let crashes = true
    const db = watched(seeded.db, (text) => {
      if (crashes && text.includes('jsonb_to_recordset')) throw new Error('the connection was lost')
    })
    const { merchants, eventId, announce } = await setUp([undefined], db)
    await expect(announce(eventId)).rejects.toThrow('the connection was lost')
    crashes = false
    expect(await announce(eventId)).toEqual({ failed: [] })
    const [one, two] = merchants[0]!.received
    expect(merchants[0]!.received).toHaveLength(2)
    expect(one!.id).toBe(two!.id)
    expect(one!.body.equals(two!.body)).toBe(true)
  })

  it('is not held up by an endpoint that hangs or whose secret cannot be opened', async () => {
    const { tenant, merchants, eventId, announce } = await setUp([undefined, undefined])
    const sealedSecret = secretBox.seal(newWebhookSecret(), 'we_somebody_else')
    await rotateSecret(seeded.db, tenant, { id: merchants[1]!.endpointId, sealedSecret, previousExpiresAt: null })
    const { failed } = await announce(eventId)
    expect(failed).toEqual([
      {
        endpointId: merchants[1]!.endpointId,
        attemptsDone: 1,
        last: { text: 'no answer (unusable_secret)', overloaded: false, retryAfterSeconds: null },
      },
    ])
    expect(merchants.map(({ received }) => received.length)).toEqual([1, 0])
  })

  it('parks the delivery of an endpoint that was disabled meanwhile', async () => {
    const { tenant, merchants, eventId, announce } = await setUp([undefined])
    await updateEndpoint(seeded.db, tenant, { id: merchants[0]!.endpointId, changes: { enabled: false } })
    expect(await announce(eventId)).toEqual({ failed: [] })
    expect(merchants[0]!.received).toHaveLength(0)
    expect(await statusesOf(eventId)).toEqual(['disabled'])
  })

  it('signs with both secrets while one replaces the other, and not with one whose time is over', async () => {
    const { tenant, merchants, eventId, announce } = await setUp([undefined])
    const [merchant] = merchants
    const id = merchant!.endpointId
    const seal = (secret: string) => secretBox.seal(secret, id)
    const rotate = (secret: string, previousExpiresAt: string) =>
      rotateSecret(seeded.db, tenant, { id, sealedSecret: seal(secret), previousExpiresAt })
    const [second, third] = [newWebhookSecret(), newWebhookSecret()]
    await rotate(second, new Date(Date.now() + 60_000).toISOString())
    await announce(eventId)
    expect(merchant!.received[0]).toMatchObject({ genuine: true })
    expect(merchant!.received[0]!.signature.split(' ')).toHaveLength(2)

    await rotate(third, new Date(Date.now() - 1).toISOString())
    merchant!.secret = third
    await announce((await addEvent(seeded.db, tenant))!)
    expect(merchant!.received[1]).toMatchObject({ genuine: true })
    expect(merchant!.received[1]!.signature.split(' ')).toHaveLength(1)
  })
})

describe('delivering once more', () => {
  it('answers that it was delivered, and does not send again when it is asked again', async () => {
    const { merchants, eventId, deliver } = await setUp([undefined])
    const { endpointId } = merchants[0]!
    const again = { eventId, endpointId, attempt: 1, step: 1 }
    expect(await deliver(again)).toMatchObject({ kind: 'delivered' })
    expect(await deliver(again)).toMatchObject({ kind: 'delivered' })
    expect(merchants[0]!.received).toHaveLength(1)
  })

  it('answers a refusal as a value, with what the receiver asked for', async () => {
    const { merchants, eventId, deliver } = await setUp([() => ({ status: 503, headers: { 'retry-after': '9' } })])
    const { endpointId } = merchants[0]!
    const attempt = { eventId, endpointId, attempt: 2, step: 2 }
    expect(await deliver(attempt)).toEqual({
      kind: 'failed',
      last: { text: 'HTTP 503', overloaded: true, retryAfterSeconds: 9 },
    })
    expect(await deliver(attempt)).toEqual({ kind: 'failed', last: null })
    expect(merchants[0]!.received).toHaveLength(1)
  })

  it('stops and disables the endpoint on 410', async () => {
    const { tenant, merchants, eventId, deliver } = await setUp([() => ({ status: 410 })])
    const { endpointId } = merchants[0]!
    expect(await deliver({ eventId, endpointId, attempt: 1, step: 1 })).toMatchObject({ kind: 'gone' })
    expect(await findEndpoint(seeded.db, tenant, endpointId)).toMatchObject({ disabled_reason: 'gone' })
    expect(await deliver({ eventId, endpointId, attempt: 2, step: 2 })).toMatchObject({ kind: 'stopped' })
    expect(merchants[0]!.received).toHaveLength(1)
  })

  it('parks what is still pending for an endpoint that is disabled', async () => {
    const { tenant, merchants, eventId, deliver } = await setUp([undefined])
    const { endpointId } = merchants[0]!
    await updateEndpoint(seeded.db, tenant, { id: endpointId, changes: { enabled: false } })
    expect(await deliver({ eventId, endpointId, attempt: 1, step: 1 })).toMatchObject({ kind: 'stopped' })
    expect(await statusesOf(eventId)).toEqual(['disabled'])
  })

  it('stops when the schedule is used up, and the row says exhausted', async () => {
    const { merchants, eventId, deliver } = await setUp([() => ({ status: 500 })])
    const { endpointId } = merchants[0]!
    expect(await deliver({ eventId, endpointId, attempt: 12, step: 12 })).toMatchObject({ kind: 'stopped' })
    expect(await statusesOf(eventId)).toEqual(['exhausted'])
  })

  it('stops when the endpoint was deleted', async () => {
    const { tenant, merchants, eventId, deliver } = await setUp([undefined])
    const { endpointId } = merchants[0]!
    await deleteEndpoint(seeded.db, tenant, endpointId)
    expect(await deliver({ eventId, endpointId, attempt: 1, step: 1 })).toMatchObject({ kind: 'stopped' })
  })

  it('keeps the log of every attempt', async () => {
    const { merchants, eventId, deliver } = await setUp([(count) => ({ status: count === 1 ? 500 : 200 })])
    const { endpointId } = merchants[0]!
    await deliver({ eventId, endpointId, attempt: 1, step: 1 })
    await deliver({ eventId, endpointId, attempt: 2, step: 2 })
    const log = await rows(seeded.db, 'select number, response_status from delivery_attempt where event_id = $1', [
      eventId,
    ])
    expect(log).toEqual([
      { number: 1, response_status: 500 },
      { number: 2, response_status: 200 },
    ])
  })
})

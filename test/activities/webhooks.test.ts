import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { type AnnounceActivities, createAnnounceActivities } from '../../src/activities/webhooks/announce.ts'
import { createSlowEndpoints } from '../../src/activities/webhooks/slow-endpoints.ts'
import { createWebhookDeliveryActivities } from '../../src/activities/webhooks/webhook-delivery.ts'
import type { DeliveryDeps } from '../../src/activities/webhooks/webhook-try.ts'
import type { Db, Tenant } from '../../src/db/db.ts'
import { loadDeliveries } from '../../src/db/webhooks/deliveries.ts'
import { deleteEndpoint, findEndpoint, rotateSecret, updateEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { createSender, type SendResult } from '../../src/webhooks/send.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { type Merchant, startMerchant } from '../webhooks/merchant.ts'
import { addEndpoint, addEvent, addMerchant, rows, type Seeded, secretBox, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase(20)
})
afterAll(() => seeded.close())

describe('The first tries and the later ones', () => {
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

  const getStatuses = async (eventId: string) => (await loadDeliveries(seeded.db, eventId)).map(({ status }) => status)

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

  describe('Announcing an event', () => {
    it('an announcement reaches every endpoint with the same signed bytes, and leaves nothing to do', async () => {
      const { merchants, eventId, announce } = await setUp([undefined, undefined, undefined])
      expect(await announce(eventId)).toEqual({ failed: [] })
      const received = merchants.map((merchant) => merchant.received)
      expect(received.map((each) => each.length)).toEqual([1, 1, 1])
      expect(received.flat().every(({ genuine, id }) => genuine && id === eventId)).toBe(true)
      expect(new Set(received.flat().map(({ body }) => body.toString())).size).toBe(1)
      expect(await getStatuses(eventId)).toEqual(['delivered', 'delivered', 'delivered'])
    })

    it('an announcement costs two statements, however many endpoints there are', async () => {
      const statements: string[] = []
      const db = watched(seeded.db, (text) => statements.push(text))
      const { eventId, announce } = await setUp([undefined, () => ({ status: 500 }), undefined], db)
      await announce(eventId)
      expect(statements).toHaveLength(2)
    })

    it('an announcement hands over the endpoints that did not accept it, with their responses', async () => {
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
      expect(await getStatuses(eventId)).toEqual(['delivered', 'pending', 'pending'])
    })

    it('a repeated announcement after a crash skips the endpoints that accepted it and those that were tried', async () => {
      const { merchants, eventId, announce } = await setUp([undefined, () => ({ status: 500 })])
      const first = await announce(eventId)
      const second = await announce(eventId)
      expect(merchants.map(({ received }) => received.length)).toEqual([1, 1])
      expect(second.failed).toEqual([{ ...first.failed[0], last: null }])
    })

    it('an announcement that crashed before anything was recorded sends again, with the same id and bytes', async () => {
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

    it('an announcement is not delayed by an endpoint that hangs or whose secret cannot be opened', async () => {
      const { tenant, merchants, eventId, announce } = await setUp([undefined, undefined])
      const sealedSecret = secretBox.seal(newWebhookSecret(), 'we_somebody_else')
      await rotateSecret(seeded.db, tenant, { id: merchants[1]!.endpointId, sealedSecret, previousExpiresAt: null })
      const { failed } = await announce(eventId)
      expect(failed).toEqual([
        {
          endpointId: merchants[1]!.endpointId,
          attemptsDone: 1,
          last: { text: 'no response (unusable_secret)', overloaded: false, retryAfterSeconds: null },
        },
      ])
      expect(merchants.map(({ received }) => received.length)).toEqual([1, 0])
    })

    it('an announcement parks the delivery of an endpoint that was disabled in between', async () => {
      const { tenant, merchants, eventId, announce } = await setUp([undefined])
      await updateEndpoint(seeded.db, tenant, { id: merchants[0]!.endpointId, changes: { enabled: false } })
      expect(await announce(eventId)).toEqual({ failed: [] })
      expect(merchants[0]!.received).toHaveLength(0)
      expect(await getStatuses(eventId)).toEqual(['disabled'])
    })

    it('an announcement signs with both secrets during an overlap, and not with an expired one', async () => {
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

  describe('One more delivery', () => {
    it('a delivery that succeeded returns that, and does not send again when it is repeated', async () => {
      const { merchants, eventId, deliver } = await setUp([undefined])
      const { endpointId } = merchants[0]!
      const again = { eventId, endpointId, attempt: 1, step: 1 }
      expect(await deliver(again)).toMatchObject({ kind: 'delivered' })
      expect(await deliver(again)).toMatchObject({ kind: 'delivered' })
      expect(merchants[0]!.received).toHaveLength(1)
    })

    it('a refused delivery is a value, with the pause that the receiver asked for', async () => {
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

    it('a delivery stops and disables the endpoint on 410', async () => {
      const { tenant, merchants, eventId, deliver } = await setUp([() => ({ status: 410 })])
      const { endpointId } = merchants[0]!
      expect(await deliver({ eventId, endpointId, attempt: 1, step: 1 })).toMatchObject({ kind: 'gone' })
      expect(await findEndpoint(seeded.db, tenant, endpointId)).toMatchObject({ disabled_reason: 'gone' })
      expect(await deliver({ eventId, endpointId, attempt: 2, step: 2 })).toMatchObject({ kind: 'stopped' })
      expect(merchants[0]!.received).toHaveLength(1)
    })

    it('a delivery to a disabled endpoint stops and is parked', async () => {
      const { tenant, merchants, eventId, deliver } = await setUp([undefined])
      const { endpointId } = merchants[0]!
      await updateEndpoint(seeded.db, tenant, { id: endpointId, changes: { enabled: false } })
      expect(await deliver({ eventId, endpointId, attempt: 1, step: 1 })).toMatchObject({ kind: 'stopped' })
      expect(await getStatuses(eventId)).toEqual(['disabled'])
    })

    it('a delivery stops when the schedule is used up, and its row is `exhausted`', async () => {
      const { merchants, eventId, deliver } = await setUp([() => ({ status: 500 })])
      const { endpointId } = merchants[0]!
      expect(await deliver({ eventId, endpointId, attempt: 12, step: 12 })).toMatchObject({ kind: 'stopped' })
      expect(await getStatuses(eventId)).toEqual(['exhausted'])
    })

    it('a delivery stops if the endpoint was deleted', async () => {
      const { tenant, merchants, eventId, deliver } = await setUp([undefined])
      const { endpointId } = merchants[0]!
      await deleteEndpoint(seeded.db, tenant, endpointId)
      expect(await deliver({ eventId, endpointId, attempt: 1, step: 1 })).toMatchObject({ kind: 'stopped' })
    })

    it('a delivery logs every attempt', async () => {
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
})

describe('Slots of deliveries', () => {
  /** The number of activities that a worker runs at once by default. */
  const WORKER_SLOTS = 100

  const SILENT: SendResult = {
    status: null,
    error: 'timeout',
    headers: {},
    bodyExcerpt: '',
    retryAfterSeconds: null,
    durationMs: 15_000,
    bytesSent: 1,
  }

  const ACCEPTED: SendResult = { ...SILENT, status: 204, error: null, durationMs: 10 }

  /** Receivers that answer nothing until `end`. `counted` resolves when that many requests arrived or were refused. */
  function hanging(answered = SILENT) {
    const open: (() => void)[] = []
    let [asked, refused] = [0, 0]
    let look = (): void => undefined
    const send = async (): Promise<SendResult> => {
      asked++
      look()
      await new Promise<void>((resolve) => open.push(resolve))
      return answered
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

  async function addEndpoints(tenant: Tenant, many: number): Promise<string[]> {
    const made = Array.from({ length: many }, (_, index) =>
      addEndpoint(seeded.db, tenant, { url: `https://shop.example.com/${index}` }),
    )
    return (await Promise.all(made)).map(({ id }) => id)
  }

  /** Delivers as often as requested, and returns the seconds after which a delivery without a slot comes again. */
  function deliverer(sender: { send: () => Promise<SendResult> }) {
    const activities = createWebhookDeliveryActivities({ db: seeded.db, secretBox, sender, now: Date.now })
    return ({ eventId, endpointId, refusals = 1 }: { eventId: string; endpointId: string; refusals?: number }) =>
      new MockActivityEnvironment({ attempt: refusals }).run(() =>
        activities.deliverWebhook({ eventId, endpointId, attempt: 1, step: 1 }),
      )
  }

  const getRetrySeconds = (failure: unknown): number =>
    Number((failure as { nextRetryDelay: number }).nextRetryDelay) / 1000

  it('sixteen endpoints of one account that hang occupy a tenth of the slots of the deliveries', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const endpoints = await addEndpoints(tenant, 16)
    const events = await Promise.all(Array.from({ length: 3 }, async () => String(await addEvent(db, tenant))))
    const receivers = hanging()
    const deliver = deliverer(receivers.sender)
    const tries = events.flatMap((eventId) =>
      endpoints.map((endpointId) => deliver({ eventId, endpointId }).catch(receivers.refuse)),
    )
    await receivers.counted(tries.length)
    expect(receivers.asked()).toBe(40)
    receivers.end()
    await Promise.all(tries)
  })

  it('a delivery that finds no slot comes again later and later, so that thousands of them cost little', async () => {
    const { db } = seeded
    const tenant = await addMerchant(db)
    const [endpointId] = (await addEndpoints(tenant, 1)) as [string]
    const events = await Promise.all(Array.from({ length: 11 }, async () => String(await addEvent(db, tenant))))
    const receivers = hanging()
    const deliver = deliverer(receivers.sender)
    const held = events.slice(1).map((eventId) => deliver({ eventId, endpointId }))
    await receivers.counted(10)
    const eventId = events[0]!
    const pauses = (refusals: number): Promise<number[]> =>
      Promise.all(
        Array.from({ length: 40 }, () => deliver({ eventId, endpointId, refusals }).then(() => 0, getRetrySeconds)),
      )
    const [once, often] = [await pauses(1), await pauses(20)]
    expect([Math.min(...once) >= 5, Math.max(...once) <= 10]).toEqual([true, true])
    expect([Math.min(...often) >= 5, Math.max(...often) > 120, Math.max(...often) <= 600]).toEqual([true, true, true])
    receivers.end()
    await Promise.all(held)
  })

  describe('The slots for the first tries of events', () => {
    /** Announces as many events as a worker has slots, of ten accounts, whose receivers answer nothing until `end`. */
    async function announceAll(answered: SendResult) {
      const { db } = seeded
      const receivers = hanging(answered)
      const activities = createAnnounceActivities({ db, secretBox, sender: receivers.sender, now: Date.now })
      const announce = (event: string): ReturnType<AnnounceActivities['announce']> =>
        new MockActivityEnvironment().run((id: string) => activities.announce(id), event)
      const events: string[] = []
      for (let account = 0; account < WORKER_SLOTS / 10; account++) {
        const tenant = await addMerchant(db)
        await addEndpoints(tenant, 1)
        for (let event = 0; event < 10; event++) events.push(String(await addEvent(db, tenant)))
      }
      const announced = events.map(async (event) => {
        const { failed } = await announce(event)
        if (failed[0]?.attemptsDone === 0) receivers.refuse()
      })
      return { receivers, announced: Promise.all(announced) }
    }

    it('unknown receivers that hang leave half of the slots to the payments', async () => {
      const { receivers, announced } = await announceAll(SILENT)
      await receivers.counted(WORKER_SLOTS)
      expect(receivers.asked()).toBe(WORKER_SLOTS / 2)
      receivers.end()
      await announced
    })

    it('up to twenty-five events wait for a slot and get it when receivers answer, and more are handed over', async () => {
      const { receivers, announced } = await announceAll(ACCEPTED)
      await receivers.counted(0.75 * WORKER_SLOTS)
      receivers.end()
      await receivers.counted(WORKER_SLOTS)
      // On a busy machine, some of them have waited too long.
      expect(receivers.asked()).toBeGreaterThan(WORKER_SLOTS / 2)
      expect(receivers.asked()).toBeLessThanOrEqual(0.75 * WORKER_SLOTS)
      receivers.end()
      await announced
    })
  })
})

describe('Slow endpoints', () => {
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

  it('an endpoint that answers after fourteen seconds is handed over untried, so that it occupies no slot of the payments', async () => {
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

  it('an endpoint that was slow is tried by one event in ten minutes, and normally once it answers in time', () => {
    let now = Date.now()
    const slow = createSlowEndpoints(() => now)
    slow.answered('one', 14_000)
    now += 11 * MINUTE_MS
    // The second is announced while the first waits for its response.
    expect([slow.isLeftOut('one'), slow.isLeftOut('one')]).toEqual([false, true])
    slow.answered('one', 14_000)
    now += 9 * MINUTE_MS
    expect(slow.isLeftOut('one')).toBe(true)
    now += 2 * MINUTE_MS
    expect(slow.isLeftOut('one')).toBe(false)
    slow.answered('one', 200)
    expect([slow.isLeftOut('one'), slow.isLeftOut('one')]).toEqual([false, false])
  })
})

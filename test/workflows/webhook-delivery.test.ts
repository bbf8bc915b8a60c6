import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { MockActivityEnvironment, type TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundlePath } from '@temporalio/worker'
import { startTimeSkipping } from '../../scripts/test/services/temporal.ts'
import { until } from '../../scripts/test/until.ts'
import {
  createWebhookDeliveryActivities,
  type WebhookDeliveryActivities,
} from '../../src/activities/webhooks/webhook-delivery.ts'
import { loadDeliveries } from '../../src/db/webhooks/deliveries.ts'
import { findEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { deliveryWorkflowId } from '../../src/domain/ids.ts'
import { DELIVERY_DELAYS_SECONDS } from '../../src/domain/webhook.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import { createDeliverySweep } from '../../src/worker/delivery-sweep.ts'
import {
  redeliverNow,
  skipTime,
  type WebhookDeliveryInput,
  type webhookDelivery,
} from '../../src/workflows/webhook-delivery.ts'
import { type Merchant, startMerchant } from '../webhooks/merchant.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, secretBox, seedDatabase } from '../webhooks/seed.ts'

const QUEUE = 'deliveries-test'
let environment: TestWorkflowEnvironment
let bundle: WorkflowBundlePath
let seeded: Seeded

beforeAll(async () => {
  bundle = await bundleWorkflows()
  environment = await startTimeSkipping()
  seeded = await seedDatabase()
})
afterAll(async () => {
  await seeded?.close()
  await environment?.teardown()
})

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

/** One event for one merchant that answers as configured, and a worker that delivers it while `story` runs. */
async function setUp(answer: Parameters<typeof startMerchant>[0], wrap?: (real: WebhookDeliveryActivities) => object) {
  const tenant = await addMerchant(seeded.db)
  const merchant = await startMerchant(answer)
  const { id: endpointId, secret } = await addEndpoint(seeded.db, tenant, { url: merchant.url })
  merchant.secret = secret
  const eventId = (await addEvent(seeded.db, tenant, { at: new Date().toISOString() }))!
  const sender = createSender({ mode: 'test', testTargets: [merchant.target], now: Date.now })
  opened.push(merchant, sender)
  const real = createWebhookDeliveryActivities({ db: seeded.db, secretBox, sender, now: Date.now })
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: QUEUE,
    workflowBundle: bundle,
    activities: wrap?.(real) ?? real,
  })
  const start = (input: Partial<WebhookDeliveryInput> = {}) =>
    environment.client.workflow.start<typeof webhookDelivery>('webhookDelivery', {
      workflowId: deliveryWorkflowId(eventId, endpointId),
      taskQueue: QUEUE,
      args: [{ eventId, endpointId, attemptsDone: 0, step: input.attemptsDone ?? 0, last: null, ...input }],
    })
  const status = async () => (await loadDeliveries(seeded.db, eventId))[0]
  const attempt = (input: Parameters<typeof real.deliverWebhook>[0]) =>
    new MockActivityEnvironment().run((made: typeof input) => real.deliverWebhook(made), input)
  return { tenant, merchant, endpointId, eventId, worker, start, status, attempt }
}

const getHandleFor = (eventId: string, endpointId: string) =>
  environment.client.workflow.getHandle<typeof webhookDelivery>(deliveryWorkflowId(eventId, endpointId))

type Handle = WorkflowHandle<typeof webhookDelivery>

/** Seconds that the workflow waited, timer by timer. */
async function waits(handle: Handle): Promise<number[]> {
  const { events } = await handle.fetchHistory()
  const timers = (events ?? []).flatMap((event) => event.timerStartedEventAttributes ?? [])
  return timers.map(({ startToFireTimeout: timeout }) => Number(timeout?.seconds) + (timeout?.nanos ?? 0) / 1e9)
}

async function details(handle: Handle): Promise<string> {
  const metadata = await handle.query<{ currentDetails?: string }, []>('__temporal_workflow_metadata')
  return metadata.currentDetails ?? ''
}

const sameThroughout = (merchant: Merchant, eventId: string) => {
  expect(new Set(merchant.received.map(({ body }) => body.toString('hex'))).size).toBe(1)
  expect(merchant.received.every(({ id, genuine }) => id === eventId && genuine)).toBe(true)
}

describe('A delivery whose receiver is down', () => {
  it('a delivery is accepted at the last try after 75 hours, with one id and identical bytes', async () => {
    const { merchant, eventId, worker, start, status } = await setUp((count) => ({ status: count < 12 ? 503 : 200 }))
    await worker.runUntil(async () => {
      const handle = await start()
      expect(await handle.result()).toBe('delivered')
      const waited = await waits(handle)
      const scheduled = DELIVERY_DELAYS_SECONDS.slice(1)
      expect(waited).toHaveLength(scheduled.length)
      for (const [index, delay] of scheduled.entries()) {
        expect(waited[index]).toBeGreaterThanOrEqual(Math.max(delay * 0.8, 60) - 1)
        expect(waited[index]).toBeLessThanOrEqual(Math.max(delay * 1.2, 60) + 1)
      }
    })
    expect(merchant.received).toHaveLength(12)
    sameThroughout(merchant, eventId)
    expect(await status()).toMatchObject({ status: 'delivered', attempts: 12 })
  })

  it('a delivery is parked when the schedule is used up, and a separate run can deliver it later', async () => {
    let up = false
    const { merchant, eventId, worker, start, status } = await setUp(() => ({ status: up ? 200 : 500 }))
    await worker.runUntil(async () => {
      const handle = await start({ attemptsDone: 0 })
      expect(await handle.result()).toBe('stopped')
      expect(await details(handle)).toContain('It can be redelivered')
      expect(await status()).toMatchObject({ status: 'exhausted', attempts: 12 })
      expect(merchant.received).toHaveLength(12)

      up = true
      await seeded.db.query("update delivery set status = 'pending', schedule_step = 0 where event_id = $1", [eventId])
      expect(await (await start({ attemptsDone: 12, step: 0 })).result()).toBe('delivered')
    })
    expect(merchant.received).toHaveLength(13)
    sameThroughout(merchant, eventId)
  })

  it('a delivery continues where the announcement stopped, and waits as long as the receiver asked', async () => {
    const { merchant, worker, start } = await setUp(undefined)
    await worker.runUntil(async () => {
      const last = { text: 'HTTP 429', overloaded: true, retryAfterSeconds: 90 }
      const handle = await start({ attemptsDone: 1, last })
      expect(await handle.result()).toBe('delivered')
      expect(await waits(handle)).toEqual([90])
    })
    expect(merchant.received).toHaveLength(1)
  })

  it('a delivery without a try is tried at once', async () => {
    const { worker, start } = await setUp(undefined)
    await worker.runUntil(async () => {
      const handle = await start()
      expect(await handle.result()).toBe('delivered')
      expect(await waits(handle)).toEqual([])
    })
  })

  it('a delivery ends with 410, and its endpoint is disabled', async () => {
    const { tenant, endpointId, merchant, worker, start } = await setUp(() => ({ status: 410 }))
    await worker.runUntil(async () => expect(await (await start()).result()).toBe('gone'))
    expect(merchant.received).toHaveLength(1)
    expect(await findEndpoint(seeded.db, tenant, endpointId)).toMatchObject({ disabled_reason: 'gone' })
  })

  it('a delivery loses no try and repeats none when the worker dies after the try was recorded', async () => {
    let crashes = 1
    const { merchant, worker, start, status } = await setUp(
      (count) => ({ status: count === 1 ? 500 : 200 }),
      (real) => ({
        deliverWebhook: async (attempt: Parameters<typeof real.deliverWebhook>[0]) => {
          const result = await real.deliverWebhook(attempt)
          if (crashes-- > 0) throw new Error('the worker died before it could say so')
          return result
        },
      }),
    )
    await worker.runUntil(async () => expect(await (await start()).result()).toBe('delivered'))
    expect(merchant.received).toHaveLength(2)
    expect(await status()).toMatchObject({ status: 'delivered', attempts: 2 })
  })
})

describe('Skipped time in test mode', () => {
  it('skipped time makes the tries that it covers, one after the other, and does not change the rest of the schedule', async () => {
    const { merchant, eventId, worker, start, status } = await setUp(() => ({ status: 404 }))
    await worker.runUntil(async () => {
      const handle = await start()
      const began = await environment.currentTimeMs()
      // Sent by hand without its number.
      await handle.signal('skipTime')
      // At 0, 5 s, 30 s and 2 min; 10 more minutes, with up to 20 % on top, have not passed yet.
      await handle.signal(skipTime, 4 * 60_000)
      await until(status, (row) => row?.attempts === 4)
      await until(
        () => details(handle),
        (text) => text.includes('tries made: 4'),
      )
      expect((await environment.currentTimeMs()) - began).toBeLessThan(60_000)
      await handle.signal(skipTime, 80 * 3_600_000)
      expect(await handle.result()).toBe('stopped')
    })
    expect(merchant.received).toHaveLength(12)
    sameThroughout(merchant, eventId)
  })
})

describe('An operator and a delivery', () => {
  it('an operator reads the problem and the time of the next try, without a secret or a URL', async () => {
    const { merchant, eventId, endpointId, worker, start } = await setUp(undefined)
    await worker.runUntil(async () => {
      const handle = await start({
        attemptsDone: 4,
        last: { text: 'HTTP 500', overloaded: false, retryAfterSeconds: null },
      })
      const text = await details(handle)
      expect(text).toContain(eventId)
      expect(text).toContain(endpointId)
      expect(text).toContain('tries made: 4')
      expect(text).toContain('last answer: HTTP 500')
      expect(text).toMatch(/Next try \d{4}-\d\d-\d\dT/)
      expect(text).not.toContain(merchant.target)
      expect(text).not.toContain('whsec_')
      await handle.executeUpdate(redeliverNow)
      expect(await details(handle)).toContain('### Delivered')
    })
  })

  it('an operator sends a delivery at once, and reads the result', async () => {
    let up = false
    const { merchant, worker, start, status } = await setUp(() => ({ status: up ? 200 : 404 }))
    await worker.runUntil(async () => {
      const handle = await start({ attemptsDone: 8 })
      expect(await handle.executeUpdate(redeliverNow)).toMatchObject({ kind: 'failed', last: { text: 'HTTP 404' } })
      // A try by hand uses up none of the schedule.
      expect(await status()).toMatchObject({ status: 'pending', attempts: 9, schedule_step: 8 })
      up = true
      expect(await handle.executeUpdate(redeliverNow)).toMatchObject({ kind: 'delivered' })
      expect(await handle.result()).toBe('delivered')
    })
    expect(merchant.received).toHaveLength(2)
  })
})

describe('The delivery sweep', () => {
  const sweepAt = (now: number, client: Parameters<typeof createDeliverySweep>[0]['client'] = environment.client) =>
    createDeliverySweep({ db: seeded.db, client, now: () => now, taskQueue: QUEUE })

  it('the sweep delivers untried deliveries, and skips those that are still being announced', async () => {
    await seeded.db.query('delete from delivery')
    const { merchant, eventId, endpointId, worker, status } = await setUp(undefined)
    expect(await sweepAt(Date.now() + 60_000).tick()).toBe(0)
    await worker.runUntil(async () => {
      expect(await sweepAt(Date.now() + 180_000).tick()).toBe(1)
      expect(await getHandleFor(eventId, endpointId).result()).toBe('delivered')
    })
    expect(merchant.received).toHaveLength(1)
    expect(await status()).toMatchObject({ status: 'delivered', attempts: 1 })
  })

  it('the sweep starts nothing for a delivery that has its workflow', async () => {
    await seeded.db.query('delete from delivery')
    const { worker, start } = await setUp(undefined)
    await worker.runUntil(async () => {
      const handle = await start({ attemptsDone: 5 })
      expect(await sweepAt(Date.now() + 180_000).tick()).toBe(0)
      await handle.executeUpdate(redeliverNow)
    })
  })

  it('the sweep starts a delivery that Temporal did not confirm about a minute later, however old it is', async () => {
    await seeded.db.query('delete from delivery')
    const { worker, eventId, endpointId } = await setUp(undefined)
    const later = Date.now() + 3 * 3_600_000
    const gone = Connection.lazy({ address: '127.0.0.1:1' })
    await gone.close()
    await expect(sweepAt(later, new Client({ connection: gone })).tick()).rejects.toThrow()
    expect(await sweepAt(later + 60_000).tick()).toBe(1)
    await worker.runUntil(getHandleFor(eventId, endpointId).result())
  })

  it('the sweep restores the retries of a lost Temporal store, where they stopped', async () => {
    await seeded.db.query('delete from delivery')
    const { merchant, eventId, endpointId, worker, attempt } = await setUp((count) => ({
      status: count < 3 ? 500 : 200,
    }))
    // The row has one attempt, and Temporal has none.
    await attempt({ eventId, endpointId, attempt: 1, step: 1 })
    await worker.runUntil(async () => {
      const sweep = sweepAt(Date.now() + 600_000)
      expect(await sweep.tick()).toBe(0)
      expect(await sweepAt(Date.now() + 3_600_000).tick()).toBe(1)
      expect(await getHandleFor(eventId, endpointId).result()).toBe('delivered')
    })
    expect(merchant.received).toHaveLength(3)
    sameThroughout(merchant, eventId)
  })
})

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createAnnounceActivities } from '../../src/activities/webhooks/announce.ts'
import { createWebhookDeliveryActivities } from '../../src/activities/webhooks/webhook-delivery.ts'
import type { Tenant } from '../../src/db/db.ts'
import { createSender, type Sender } from '../../src/webhooks/send.ts'
import { type Receiver, startReceiver } from '../webhooks/listeners.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, secretBox, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase(20)
})
afterAll(() => seeded.close())

describe('a bulkhead', () => {
  /** Activities that a worker runs at once. */
  const SLOTS = { payments: 100, deliveries: 400 }
  const HEALTHY = 98
  const EVENTS_EACH = 2
  /** Events of each of the two troubled endpoints: together more than would fill all slots of the worker. */
  const EVENTS_OF_TROUBLE = 225

  let sender: Sender
  const receivers: Receiver[] = []
  /** The time when each event arrived (Unix milliseconds). */
  const arrived = new Map<string, number>()
  beforeAll(async () => {
    receivers.push(
      await startReceiver((request, response) => {
        arrived.set(String(request.headers['webhook-id']), Date.now())
        request.resume()
        request.on('end', () => response.writeHead(204).end())
      }),
      await startReceiver(() => undefined),
      await startReceiver((_request, response) => {
        response.writeHead(200)
        const more = setInterval(() => response.write('x'), 50)
        response.on('close', () => clearInterval(more))
      }),
    )
    sender = createSender({ mode: 'test', testTargets: receivers.map(({ target }) => target), now: Date.now })
  }, 60_000)
  afterAll(async () => {
    sender?.close()
    await Promise.all(receivers.map((receiver) => receiver.close()))
  })

  type Made = { readonly event: string; readonly endpoint: string }

  /** Events of endpoints at a receiver, each endpoint with its own merchant. */
  async function record(
    receiver: Receiver,
    endpoints: number,
    events: number,
  ): Promise<{ event: string; endpoint: string }[]> {
    const made: Made[] = []
    const owners: { tenant: Tenant; id: string }[] = []
    for (let index = 0; index < endpoints; index++) {
      const tenant = await addMerchant(seeded.db)
      owners.push({ tenant, id: (await addEndpoint(seeded.db, tenant, { url: `${receiver.url}/${index}` })).id })
    }
    for (let count = 0; count < events; count++)
      for (const { tenant, id } of owners) made.push({ event: String(await addEvent(seeded.db, tenant)), endpoint: id })
    return made
  }

  /** Runs the work as a worker does: `slots` at once, in order; unfinished work at the end is canceled. */
  async function throughWorker<T>(
    slots: number,
    items: readonly T[],
    work: (item: T, env: MockActivityEnvironment) => Promise<unknown>,
  ) {
    const running = new Set<MockActivityEnvironment>()
    const queue = [...items]
    const ended: Promise<void>[] = []
    const slot = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const env = new MockActivityEnvironment()
        running.add(env)
        await work(next, env).catch(() => undefined)
        running.delete(env)
      }
    }
    for (let index = 0; index < slots; index++) ended.push(slot())
    return {
      async stop() {
        queue.length = 0
        for (const env of running) env.cancel('WORKER_SHUTDOWN')
        await Promise.all(ended)
      },
    }
  }

  const mixed = <T>(many: readonly T[], few: readonly T[]): T[] => {
    const every = Math.max(1, Math.floor(many.length / few.length))
    return many.flatMap((item, index) =>
      index % every === 0 && few[index / every] ? [few[index / every]!, item] : [item],
    )
  }

  const percentile = (values: readonly number[], share: number): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.POSITIVE_INFINITY

  describe('98 healthy endpoints, one that hangs and one that answers without end', () => {
    it('healthy endpoints get their events within five seconds (p99), first attempts and later ones alike', async () => {
      const { db } = seeded
      const deps = { db, secretBox, sender, now: Date.now }
      const announcing = createAnnounceActivities(deps)
      const delivering = createWebhookDeliveryActivities(deps)
      const deliver = (event: string, endpoint: string) =>
        delivering.deliverWebhook({ eventId: event, endpointId: endpoint, attempt: 1, step: 1 })
      /** A delivery workflow tries at once what is handed over untried. */
      const handedOver = new Set<MockActivityEnvironment>()
      const announce = async (event: string): Promise<void> => {
        const { failed } = await announcing.announce(event)
        for (const { endpointId } of failed.filter(({ attemptsDone }) => attemptsDone === 0)) {
          const env = new MockActivityEnvironment()
          handedOver.add(env)
          void env.run(() => deliver(event, endpointId)).catch(() => undefined)
        }
      }
      const rounds = {
        'first attempts': { work: announce, slots: SLOTS.payments },
        'later attempts': { work: deliver, slots: SLOTS.deliveries },
      }
      const [good, hung, endless] = receivers as [Receiver, Receiver, Receiver]
      for (const [name, { work, slots }] of Object.entries(rounds)) {
        const through = async (healthy: readonly Made[], troubled: readonly Made[]): Promise<number> => {
          arrived.clear()
          const started = Date.now()
          const worker = await throughWorker(slots, mixed(healthy, troubled), ({ event, endpoint }, env) =>
            env.run((id: string) => work(id, endpoint), event),
          )
          // Longer than the healthy ones may take, so that delays are measured and not only missed.
          for (const deadline = started + 60_000; arrived.size < healthy.length && Date.now() < deadline; )
            await new Promise((resolve) => setTimeout(resolve, 20))
          await worker.stop()
          for (const env of handedOver) env.cancel('WORKER_SHUTDOWN')
          await db.query("update delivery set status = 'disabled' where status = 'pending'")
          const latencies = healthy.map(({ event }) => (arrived.get(event) ?? Number.POSITIVE_INFINITY) - started)
          return percentile(latencies, 0.99)
        }
        const alone = await through(await record(good, HEALTHY, EVENTS_EACH), [])
        const healthy = await record(good, HEALTHY, EVENTS_EACH)
        const troubled = [
          ...(await record(hung, 1, EVENTS_OF_TROUBLE)),
          ...(await record(endless, 1, EVENTS_OF_TROUBLE)),
        ]
        const together = await through(healthy, troubled)
        process.stdout.write(`bulkhead, ${name}: p99 ${alone} ms alone, ${together} ms next to the two\n`)
        // Five seconds; on a busy machine, plus the delay of the machine.
        expect([name, together < 5000 + 3 * alone]).toEqual([name, true])
      }
    }, 240_000)
  })
})

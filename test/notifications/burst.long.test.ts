import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { startTimeSkipping } from '../../scripts/test/services/temporal.ts'
import type { Tenant } from '../../src/db/db.ts'
import type { Channel } from '../../src/db/notifications/channels.ts'
import { notificationWorkflowId } from '../../src/domain/ids.ts'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import type { notification } from '../../src/workflows/notifications/notification.ts'
import { countWaiting, createFixture, type Fixture, listMessages, newTenant } from './fixture.ts'

let fixture: Fixture
let tenant: Tenant
const QUEUE = 'notifications-test'
const MANY = 1000

let environment: TestWorkflowEnvironment
beforeAll(async () => {
  fixture = await createFixture()
  tenant = await newTenant(fixture)
  environment = await startTimeSkipping()
})
afterAll(async () => {
  await environment?.teardown()
  await fixture?.close()
})

/** The number of notifications that a message says it contains. */
function countIn(text: string): number {
  const many = /: (\d+) notifications/.exec(text.replaceAll('\\', ''))
  return many === null ? 1 : Number(many[1])
}

const isRepeated = (text: string): boolean => text.includes('Sent again')

test('1,000 notifications at once arrive by four channels with limits, while responses are lost and senders are killed: all, in digests, and repeated ones say so', async () => {
  const kinds = ['telegram', 'discord', 'slack', 'email'] as const
  const channels = await Promise.all(kinds.map((kind) => fixture.addChannel(tenant, kind)))
  const { telegram, discord, slack } = fixture.services
  for (const service of [telegram, discord, slack]) service.mood = (n) => (n % 5 === 2 ? 'lost' : 'as documented')
  fixture.mail.mood = (n) => (n % 5 === 2 ? 'lost' : n % 7 === 3 ? 'grey' : 'takes')
  fixture.killer.isDue = (request) => request % 4 === 3
  for (let n = 0; n < MANY / 20; n++)
    await Promise.all(
      Array.from({ length: 20 }, (_, each) =>
        fixture.pay(tenant, { amount: 100 + each, reference: `burst-${n}-${each}` }),
      ),
    )

  const ahead = fixture.clock.now - (await environment.currentTimeMs())
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: QUEUE,
    workflowBundle: await bundleWorkflows(),
    activities: {
      // By the skipped time.
      notifyChannel: async (channelId: string) => {
        fixture.clock.now = ahead + (await environment.currentTimeMs())
        return fixture.activities.notifyChannel(channelId)
      },
    },
  })
  await worker.runUntil(async () => {
    // As the sweep does: starts another run if one has ended and something is left. Only one is awaited at a time,
    // because the server skips time for one client.
    for (let left = channels; left.length > 0; left = await unfinished(channels)) {
      const handles = await Promise.all(
        left.map(({ id }) =>
          environment.client.workflow.start<typeof notification>('notification', {
            workflowId: notificationWorkflowId(id),
            taskQueue: QUEUE,
            args: [id],
          }),
        ),
      )
      for (const handle of handles) await handle.result()
      await environment.sleep('10s')
    }
  })

  for (const [index, channel] of channels.entries()) {
    const kind = kinds[index]!
    const messages = await listMessages(fixture, channel)
    expect(messages.every(({ state }) => state === 'sent')).toBe(true)
    expect(messages.reduce((sum, { count }) => sum + count, 0)).toBe(MANY)
    expect(messages.length).toBeLessThanOrEqual(12)
    expect(messages.some(({ kind: form }) => form === 'digest')).toBe(true)
    const texts =
      kind === 'email'
        ? fixture.mail.taken.map(({ text }) => text)
        : fixture.services[kind].taken.map(({ text }) => text)
    const counted = texts.filter((text) => !isRepeated(text)).reduce((sum, text) => sum + countIn(text), 0)
    expect([kind, counted]).toEqual([kind, MANY])
    expect(texts.filter(isRepeated).length).toBe(texts.length - messages.length)
  }
  expect(fixture.killer.killed).toBeGreaterThan(0)
}, 120_000)

async function unfinished(channels: readonly Channel[]): Promise<Channel[]> {
  const left = await Promise.all(
    channels.map(async (channel) => {
      const isEmpty = (await countWaiting(fixture, channel)) === 0
      return isEmpty && !(await listMessages(fixture, channel)).some(isOpen) ? [] : [channel]
    }),
  )
  return left.flat()
}

const isOpen = ({ state }: { state: string }): boolean => state !== 'sent' && state !== 'refused'

import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { until } from '../../../scripts/demo/journey.ts'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { createPinrail, type Pinrail } from '../../../src/client/index.ts'
import { inboxFacts } from '../../../test/e2e/harness/inbox-facts.ts'
import { startTestSystem } from '../../../test/e2e/harness/test-system.ts'
import { createRandom } from '../../../test/support/random.ts'

type Fixture = Awaited<ReturnType<typeof startTestSystem>>

/** Maximum number of cancellations at the same time. */
const AT_ONCE = 20
/** Milliseconds: after two minutes the sweep takes over a first try that was lost with its worker. */
const DELIVERED_WITHIN_MS = 300_000
/** The processes that are killed. The supervisor starts them again at once. */
const VICTIMS = ['worker', 'api'] as const

/**
 * `npm run chaos:webhooks`: many payments are canceled, each cancellation is announced, and worker and api are killed
 * with SIGKILL in the middle, again and again. Every event must reach the merchant, signed, with one id and one text.
 * Prints how many arrived more than once.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const options = {
    rounds: { type: 'string', default: '10' },
    announcements: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  } as const
  const { values } = parseArgs({ args, options })
  const random = createRandom(Number(values.seed)).next
  const fixture = await startTestSystem()
  try {
    const { api_url: baseUrl, secret_key: apiKey } = fixture.system.info
    const pinrail = createPinrail({ apiKey, baseUrl, retries: 12 })
    for (const { id } of (await pinrail.webhookEndpoints.list()).data)
      await pinrail.webhookEndpoints.update(id, { enabled_events: ['*'] })
    for (let round = 0; round < Number(values.rounds); round++) {
      await playRound(fixture, pinrail, { announcements: Number(values.announcements), random })
      progress.line(`round ${round + 1}: ${values.announcements} announced, worker and api killed in the middle`)
    }
    return await judge(fixture, pinrail, progress)
  } finally {
    await fixture.stop()
  }
}

type Round = { readonly announcements: number; readonly random: () => number }

async function playRound(fixture: Fixture, pinrail: Pinrail, { announcements, random }: Round): Promise<void> {
  const payments = await inLanes(announcements, () => pinrail.payments.create({ amount: '10', currency: 'EUR' }))
  let canceled = 0
  // Each dies once, when between a fifth and four fifths have been canceled.
  const moments = VICTIMS.map((victim) => ({ victim, at: Math.floor(announcements * (0.2 + 0.6 * random())) }))
  const killing = moments.map(async ({ victim, at }) => {
    await until(async () => (canceled >= at ? true : null), `${at} cancellations`)
    await fixture.kill(victim)
  })
  await inLanes(announcements, async (index) => {
    const { id } = payments[index] ?? { id: '' }
    // The killed worker is not back yet, or the answer was lost. A merchant would try again too.
    await until(
      async () => ((await pinrail.payments.cancel(id)).status === 'canceled' ? true : null),
      `${id} to be canceled`,
    )
    canceled++
  })
  await Promise.all(killing)
}

async function inLanes<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) done[index] = await work(index)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return done
}

async function judge(fixture: Fixture, pinrail: Pinrail, progress: Progress): Promise<number> {
  const events: string[] = []
  for await (const event of pinrail.events.pull(0)) events.push(event.id)
  const deadline = Date.now() + DELIVERED_WITHIN_MS
  const read = async () => (await inboxFacts(fixture.system.info)).deliveries.filter(({ status }) => status < 300)
  let taken = await read()
  const undelivered = () => events.filter((id) => !taken.some(({ eventId }) => eventId === id))
  while (undelivered().length > 0 && Date.now() < deadline) {
    await delay(1000)
    taken = await read()
  }
  const texts = new Map<string, Set<string>>()
  for (const { eventId, body } of taken) texts.set(eventId, (texts.get(eventId) ?? new Set()).add(body))
  const changed = [...texts.values()].filter((bodies) => bodies.size > 1).length
  const forged = taken.filter(({ authentic }) => !authentic).length
  progress.line(`events ${events.length} of ${new Set(events).size} different`)
  progress.line(`undelivered ${undelivered().length} events`)
  progress.line(`delivered_more_than_once ${taken.length - texts.size} requests`)
  progress.line(`with_another_text ${changed} events`)
  progress.line(`with_a_wrong_signature ${forged} requests`)
  return undelivered().length === 0 && changed === 0 && forged === 0 ? 0 : 1
}

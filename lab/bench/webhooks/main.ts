import { fork } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MockActivityEnvironment } from '@temporalio/testing'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { startServices } from '../../../scripts/test/services/services.ts'
import { createAnnounceActivities } from '../../../src/activities/webhooks/announce.ts'
import { createSender } from '../../../src/webhooks/send.ts'
import { addEndpoint, addEvent, type Seeded, secretBox, seedDatabase } from '../../../test/webhooks/seed.ts'

/** Maximum number of requests at the same time, in both arms. */
const AT_ONCE = 8
/** A payment as in an event: about 2 KB. */
const OBJECT = { object: 'payment', id: 'pay_1', description: 'x'.repeat(1800) }

/**
 * `npm run bench:webhooks`: measures the CPU of the sending process for a delivery that succeeds at once (read the
 * delivery, open the secret, sign, check the address, send, record the try and the delivery), compared with a loop that
 * only signs and posts the same bytes, and with an activity that does nothing, in turns in one run.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const options = { rounds: { type: 'string', default: '5' }, events: { type: 'string', default: '400' } } as const
  const { values } = parseArgs({ args, options })
  const services = await startServices()
  process.env['PINRAIL_TEST_SERVICES'] = services.url
  const receiver = fork(fileURLToPath(new URL('./receiver.mjs', import.meta.url)))
  try {
    const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
    const spent = await compare(port, { rounds: Number(values.rounds), events: Number(values.events) })
    const say = (name: string, value: number): void => progress.line(`${name} ${value.toFixed(3)} ms/delivery`)
    say('cpu_delivery', spent.delivery)
    say('cpu_empty_activity', spent.empty)
    say('cpu_delivery_beyond_the_activity', spent.delivery - spent.empty)
    say('cpu_bare_signed_post', spent.bare)
    progress.line(`ratio_to_bare ${((spent.delivery - spent.empty) / spent.bare).toFixed(2)} x`)
    return 0
  } finally {
    receiver.kill()
    await services.stop()
  }
}

type Spent = { delivery: number; empty: number; bare: number }

async function compare(port: number, { rounds, events }: { rounds: number; events: number }): Promise<Spent> {
  const seeded = await seedDatabase()
  const target = `127.0.0.1:${port}`
  const sender = createSender({ mode: 'test', testTargets: [target], now: Date.now })
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  try {
    const announcing = createAnnounceActivities({ db: seeded.db, secretBox, sender, now: Date.now })
    await addEndpoint(seeded.db, seeded.tenant, { url: `http://${target}/hooks` })
    const secret = randomBytes(32)
    const body = Buffer.from(JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { object: OBJECT } }))
    const arms = {
      delivery: (event: string) => new MockActivityEnvironment().run((id: string) => announcing.announce(id), event),
      empty: () => new MockActivityEnvironment().run(async () => undefined),
      bare: () => bareSignedPost({ port, agent, secret, body }),
    }
    const total: Spent = { delivery: 0, empty: 0, bare: 0 }
    // The first round warms up and does not count.
    for (let round = 0; round <= rounds; round++) {
      const spent = await playRound(seeded, arms, events)
      for (const name of NAMES) total[name] += round === 0 ? 0 : spent[name] / (rounds * events)
      await requireDelivered(seeded.db, events * (round + 1))
    }
    return total
  } finally {
    sender.close()
    agent.destroy()
    await seeded.close()
  }
}

const NAMES = ['delivery', 'empty', 'bare'] as const
type Arms = Readonly<Record<(typeof NAMES)[number], (event: string) => Promise<unknown>>>

/** Measures the CPU of each arm in turn (milliseconds). */
async function playRound({ db, tenant }: Seeded, arms: Arms, events: number): Promise<Spent> {
  const recorded: string[] = []
  for (let index = 0; index < events; index++) recorded.push(String(await addEvent(db, tenant, { object: OBJECT })))
  return {
    delivery: await measureCpu(recorded, arms.delivery),
    empty: await measureCpu(recorded, arms.empty),
    bare: await measureCpu(recorded, arms.bare),
  }
}

/** Returns the milliseconds of CPU of this process, user and system. */
async function measureCpu(items: readonly string[], work: (item: string) => Promise<unknown>): Promise<number> {
  const queue = [...items]
  const before = process.cpuUsage()
  const lane = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

type Bare = { readonly port: number; readonly agent: Agent; readonly secret: Buffer; readonly body: Buffer }

function bareSignedPost({ port, agent, secret, body }: Bare): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`evt_1.${timestamp}.`).update(body).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/hooks', method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function requireDelivered(
  db: { query: (text: string) => Promise<{ rows: unknown[] }> },
  expected: number,
): Promise<void> {
  const { rows } = await db.query("select count(*) as n from delivery where status = 'delivered' and attempts = 1")
  const delivered = Number((rows[0] as { n: string }).n)
  if (delivered !== expected) throw new Error(`${delivered} of ${expected} were delivered at once`)
}

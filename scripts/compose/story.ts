import { finalState, JOURNEYS, travel } from '../demo/journey.ts'
import type { PaymentAnswer } from '../demo/merchant.ts'
import { type Composed, PUBLISHED } from './composed.ts'

/** Services that run until they are stopped, in the order in which they are killed. */
const LASTING = ['postgres', 'temporal', 'temporal-ui', 'anvil', 'sandbox', 'inbox', 'api', 'worker'] as const

/** Starts everything, and kills and replaces it between payments. Throws if one of them does not succeed. */
export async function playStory(composed: Composed, say: (line: string) => void): Promise<void> {
  for (const image of ['pinrail-app', 'pinrail-sandbox'])
    say(`${image}: ${(await measureImage(composed, image)).toFixed(0)} MB`)
  say(`up: healthy after ${(await composed.up()).toFixed(1)} s`)
  for (const service of ['api', 'worker'] as const)
    say(`${service}: ${(await measureCpu(composed, service)).toFixed(1)} s of CPU since its start`)
  const paid: PaymentAnswer[] = []
  for (const index of JOURNEYS.keys()) paid.push(await pay(composed, index))
  say(`${paid.length} payments succeeded, one through each provider`)
  for (const [service, memory] of await measureMemory(composed)) say(`${service}: ${memory} of memory`)
  for (const [index, service] of LASTING.entries()) {
    await composed.compose(['kill', service])
    const seconds = await composed.up()
    paid.push(await pay(composed, index))
    say(`${service}: killed, healthy again after ${seconds.toFixed(1)} s, and the next payment succeeded`)
  }
  await composed.compose(['down'])
  const seconds = await composed.up()
  for (const payment of paid) await requireSucceeded(composed, payment)
  await pay(composed, 0)
  say(
    `down and up: healthy after ${seconds.toFixed(1)} s, all ${paid.length} payments are there, and the next one succeeded`,
  )
}

/** Makes a payment through one provider after the other, from the merchant's order to the verified webhook. */
async function pay(composed: Composed, index: number): Promise<PaymentAnswer> {
  const journey = JOURNEYS[index % JOURNEYS.length]
  if (journey === undefined) throw new Error('there must be a journey')
  const merchant = await composed.merchant()
  return travel(journey, { merchant, sandboxUrl: PUBLISHED.sandbox, say: () => undefined })
}

async function requireSucceeded(composed: Composed, { id }: PaymentAnswer): Promise<void> {
  const { status } = await finalState(await composed.merchant(), id)
  if (status !== 'succeeded') throw new Error(`${id} must still be succeeded, and is ${status}`)
}

/** Returns the size of an image in MB (10^6 bytes), as `docker images` shows it. */
async function measureImage({ docker }: Composed, image: string): Promise<number> {
  return Number(await docker(['image', 'inspect', '--format', '{{.Size}}', image])) / 1e6
}

/** Returns the memory of each container, by its service. */
async function measureMemory({ docker, compose }: Composed): Promise<Map<string, string>> {
  const ids = (await compose(['ps', '--quiet'])).trim().split('\n')
  const lines = await docker(['stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}', ...ids])
  const used = lines.split('\n').map((line) => /^pinrail-\w+-([a-z-]+)-\d+ (\S+)/.exec(line))
  return new Map(used.flatMap((found) => (found === null ? [] : [[found[1] ?? '', found[2] ?? '']])))
}

/** Returns the seconds of CPU that the process of a service has used since its start. */
async function measureCpu({ exec }: Composed, service: 'api' | 'worker'): Promise<number> {
  const script = `fetch('http://127.0.0.1:9464/metrics').then((r) => r.text()).then((text) => console.log(text))`
  const page = await exec(service, ['node', '-e', script])
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(page)?.[1])
}

import type { Progress } from '../../scripts/setup/progress.mjs'
import { startServices } from '../../scripts/test/services/services.ts'
import { seedApi } from '../../test/api/support/seeded-api.ts'
import { openTestApi } from '../../test/api/support/test-api.ts'
import { createRandom } from '../../test/support/random.ts'
import { createRequests, type Document, type Made } from './requests.ts'

/** Maximum number of requests at the same time. */
const AT_ONCE = 8

type Found = { readonly wrong: string[]; readonly statuses: Map<number, number>; readonly made: Set<string> }

/**
 * `npm run fuzz -- --seed 1 --requests 50000`: random requests made from the OpenAPI document. Every response must be
 * one that the document promises and below 500, and what is stored at the end is what was answered 201.
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const readNumber = (name: string, otherwise: number): number => Number(args[args.indexOf(name) + 1]) || otherwise
  const seed = args.includes('--seed') ? readNumber('--seed', 1) : 1
  const requests = args.includes('--requests') ? readNumber('--requests', 50_000) : 50_000
  const services = await startServices()
  process.env['PINRAIL_TEST_SERVICES'] = services.url
  try {
    const { wrong, statuses, stored, made } = await fuzz(seed, requests)
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    progress.line(`${requests} requests with seed ${seed}: ${counts.join(', ')}`)
    progress.line(`payments stored ${stored}, answered 201 ${made}`)
    for (const line of wrong.slice(0, 20)) progress.line(`WRONG ${line}`)
    progress.line(`not as promised: ${wrong.length}`)
    return wrong.length === 0 && stored === made ? 0 : 1
  } finally {
    await services.stop()
  }
}

async function fuzz(seed: number, requests: number) {
  // No worker runs the workflows here; other tests cover them.
  const testApi = await openTestApi({
    deps: ({ workflows }) => ({
      workflows: { ...workflows, start: async () => true },
      deliveries: { deliverNow: async () => true, diagnose: async () => null },
    }),
  })
  try {
    const owned = await seedApi(testApi)
    const other = await seedApi(testApi, await testApi.addMerchant())
    const ended = (await seedApi(testApi)).payment
    await testApi.db.query("update payment set status = 'canceled', canceled_at = now() where id = $1", [ended])
    const document = JSON.parse((await testApi.ask('GET', '/openapi.json')).text) as Document
    const before = await testApi.count('payment')
    const next = createRequests(document, listIds(owned, other, ended))
    const random = createRandom(seed)
    const found: Found = { wrong: [], statuses: new Map(), made: new Set() }
    const keys = { owner: owned.merchant.key, other: other.merchant.key, nobody: 'pinrail_test_nobody' }
    for (let done = 0; done < requests; done += AT_ONCE) {
      const wave = Array.from({ length: Math.min(AT_ONCE, requests - done) }, () => next(random))
      await Promise.all(wave.map((made) => send(testApi, made, { key: keys[made.as], found })))
    }
    return { ...found, made: found.made.size, stored: (await testApi.count('payment')) - before }
  } finally {
    await testApi.close()
  }
}

type TestApi = Awaited<ReturnType<typeof openTestApi>>

async function send(testApi: TestApi, made: Made, { key, found }: { key: string; found: Found }): Promise<void> {
  const { method, path, body, headers } = made
  const described = `${method} ${path.slice(0, 200)} ${String(body ?? '').slice(0, 200)} ${JSON.stringify(headers)}`
  try {
    const hasBody = body !== undefined && method !== 'GET'
    const answer = await testApi.ask(method, path, { key, headers, ...(hasBody && { body }) })
    found.statuses.set(answer.status, (found.statuses.get(answer.status) ?? 0) + 1)
    if (answer.status >= 500) found.wrong.push(`${answer.status} for ${described}`)
    if (answer.status === 201 && made.operationId === 'createPayment') found.made.add(String(answer.body['id']))
  } catch (error) {
    found.wrong.push(`${String(error).slice(0, 300)} for ${described}`)
  }
}

/**
 * Returns ids that exist, by operation and parameter. A payment without a worker cannot be canceled: there it is an
 * ended one.
 */
function listIds(owned: Ids, other: Ids, ended: string): Record<string, string[]> {
  const payments = [owned.payment, other.payment, ended]
  const endpoints = [owned.endpoint, other.endpoint]
  const inEndpoints = ['read', 'update', 'test'].map((verb) => `${verb}WebhookEndpoint.id`)
  const rest = ['rotateWebhookSecret.id', 'listDeliveries.id', 'redeliverEvent.id', 'redeliverFailed.id']
  return {
    'readPayment.id': payments,
    'readPaymentTimeline.id': payments,
    'cancelPayment.id': [ended],
    'simulatePayment.id': [ended],
    'readEvent.id': [owned.event, other.event],
    'redeliverEvent.event': [owned.event, other.event],
    'rotateApiKey.id': [owned.apiKey, other.apiKey],
    'revokeApiKey.id': [other.apiKey],
    'deleteWebhookEndpoint.id': [other.endpoint],
    ...Object.fromEntries([...inEndpoints, ...rest].map((name) => [name, endpoints])),
  }
}

type Ids = { readonly payment: string; readonly endpoint: string; readonly event: string; readonly apiKey: string }

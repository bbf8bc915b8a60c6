import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { Webhook } from 'standardwebhooks'
import { createWebhookDiagnosisActivities } from '../../src/activities/webhooks/webhook-diagnosis.ts'
import { rotateSecret } from '../../src/db/webhooks/webhook-endpoints.ts'
import { type Diagnosis, explainDiagnosis } from '../../src/domain/webhook-diagnosis.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'
import { startReceiver } from '../webhooks/listeners.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded, secretBox, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded.close())

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

type Request = { readonly headers: Readonly<Record<string, string>>; readonly body: string }
type Secrets = { current: string; other: string; previous: string }
/** Returns true if the receiver accepts the request. */
type Verifier = (request: Request, secrets: Secrets, count: number) => boolean
type Answers = { readonly refusal?: number; readonly headers?: Record<string, string> }

/** Diagnoses an endpoint whose receiver verifies in this way. */
async function diagnose(accepts: Verifier, { refusal = 401, headers = {} }: Answers = {}) {
  const tenant = await addMerchant(seeded.db)
  const secrets: Secrets = { current: newWebhookSecret(), other: '', previous: '' }
  let count = 0
  const receiver = await startReceiver(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    count += 1
    const asked = { headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() }
    const isAccepted = accepts(asked, secrets, count)
    response.writeHead(isAccepted ? 204 : refusal, headers).end()
  })
  const sender = createSender({ mode: 'test', testTargets: [receiver.target], now: Date.now })
  opened.push(receiver, sender)
  const endpoint = await addEndpoint(seeded.db, tenant, { url: receiver.url })
  const eventId = (await addEvent(seeded.db, tenant))!
  secrets.previous = endpoint.secret
  const sealedSecret = secretBox.seal(secrets.current, endpoint.id)
  const previousExpiresAt = '2026-01-01T00:00:00.000Z'
  await rotateSecret(seeded.db, tenant, { id: endpoint.id, sealedSecret, previousExpiresAt })
  secrets.other = (await addEndpoint(seeded.db, tenant, { url: 'https://shop.example/other' })).secret
  const activities = createWebhookDiagnosisActivities({ db: seeded.db, secretBox, sender, now: Date.now })
  const run = () => activities.diagnoseDelivery({ eventId, endpointId: endpoint.id })
  const diagnosis: Diagnosis = await new MockActivityEnvironment().run(run)
  expect(diagnosis.requests).toBe(count)
  return diagnosis
}

test('a secret that cannot be opened is named as the cause, and the endpoint gets no request', async () => {
  const tenant = await addMerchant(seeded.db)
  const endpoint = await addEndpoint(seeded.db, tenant, { url: 'https://shop.example/hooks' })
  const eventId = (await addEvent(seeded.db, tenant))!
  const closed = {
    ...secretBox,
    open: () => {
      throw new Error('the sealed secret needs another key')
    },
  }
  const sender = createSender({ mode: 'test', testTargets: [], now: Date.now })
  opened.push(sender)
  const activities = createWebhookDiagnosisActivities({ db: seeded.db, secretBox: closed, sender, now: Date.now })
  const run = () => activities.diagnoseDelivery({ eventId, endpointId: endpoint.id })
  expect(await new MockActivityEnvironment().run(run)).toEqual({ cause: 'sealed_secret', requests: 0 })
})

const standard =
  (secret: (secrets: Secrets) => string): Verifier =>
  ({ headers, body }, secrets) => {
    try {
      new Webhook(secret(secrets)).verify(body, headers)
      return true
    } catch {
      return false
    }
  }

/** A verifier that somebody wrote, who was wrong about one part of it. */
const written =
  (wrong: {
    readonly key?: (secret: string) => Buffer
    readonly content?: (request: Request) => string
    readonly read?: (header: string) => string
    readonly encoding?: 'hex'
    readonly name?: string
  }): Verifier =>
  (request, { current }) => {
    const name = wrong.name ?? 'webhook'
    const key = wrong.key?.(current) ?? Buffer.from(current.slice(6), 'base64')
    const { headers, body } = request
    const content = wrong.content?.(request) ?? `${headers[`${name}-id`]}.${headers[`${name}-timestamp`]}.${body}`
    const header = String(headers[`${name}-signature`])
    const digest = createHmac('sha256', key)
      .update(content)
      .digest(wrong.encoding ?? 'base64')
    return digest === (wrong.read ?? ((text) => text.replace('v1,', '')))(header)
  }

const rewrite = (write: (value: unknown) => string): Verifier =>
  written({
    content: ({ headers, body }) =>
      `${headers['webhook-id']}.${headers['webhook-timestamp']}.${write(JSON.parse(body))}`,
  })

const whole = (text: string): string => text

test.each<[string, string, Verifier]>([
  ['the secret before the present one', 'previous_secret', standard(({ previous }) => previous)],
  ['the secret of another endpoint', 'other_endpoint', standard(({ other }) => other)],
  ['the text of the secret as the key', 'undecoded_secret', written({ key: (secret) => Buffer.from(secret) })],
  ['base64 as the key', 'undecoded_secret', written({ key: (secret) => Buffer.from(secret.slice(6)) })],
  ['JSON that it wrote again with indentation', 'parsed_body', rewrite((value) => JSON.stringify(value, null, 2))],
  ['a body without id and timestamp', 'signed_content', written({ content: ({ body }) => body })],
  [
    'a content without the id',
    'signed_content',
    written({ content: ({ headers, body }) => `${headers['webhook-timestamp']}.${body}` }),
  ],
  ['the whole header', 'signature_format', written({ read: whole })],
  ['hexadecimal digits', 'signature_format', written({ read: whole, encoding: 'hex' })],
  ['the headers of another service', 'other_headers', written({ name: 'svix' })],
])('a receiver that verifies %s is found', async (_what, cause, accepts) => {
  expect(await diagnose(accepts)).toMatchObject({ cause })
})

test('the diagnosis names the other endpoint', async () => {
  const diagnosis = await diagnose(standard(({ other }) => other))
  expect(explainDiagnosis(diagnosis)).toContain('the endpoint https://shop.example/other')
})

test('a clock that is wrong by ten minutes is found by the date of the response', async () => {
  const theirs = Date.now() + 600_000
  const isRecent = ({ headers }: Request) => Math.abs(Number(headers['webhook-timestamp']) * 1000 - theirs) < 300_000
  const date = new Date(theirs).toUTCString()
  expect(await diagnose(isRecent, { headers: { date } })).toMatchObject({ cause: 'clock' })
})

test('an endpoint that accepts the event now has no mistake', async () => {
  expect(await diagnose(standard(({ current }) => current))).toEqual({ cause: 'none', requests: 1 })
})

test('an endpoint that refuses everything is not explained', async () => {
  const diagnosis = await diagnose(() => false, { refusal: 500 })
  expect(diagnosis).toMatchObject({ cause: 'unknown' })
  expect(diagnosis.requests).toBeLessThanOrEqual(30)
})

test('an endpoint that recovers in between is not accused of a mistake', async () => {
  expect(await diagnose((_request, _secrets, count) => count > 2)).toEqual({ cause: 'none', requests: 4 })
})

test.each([404, 405, 503])('a response of %i is not about the signature', async (refusal) => {
  const diagnosis = await diagnose(() => false, { refusal })
  expect(diagnosis).toEqual({ cause: 'response', response: `HTTP ${refusal}`, requests: 1 })
  expect(explainDiagnosis(diagnosis)).toContain(`HTTP ${refusal}`)
})

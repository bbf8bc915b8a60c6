import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { EVENT } from '../../src/api/document/examples.ts'
import { OPERATIONS } from '../../src/client/api-types.ts'
import {
  AuthenticationError,
  ConnectionError,
  createPinrail,
  createWebhookHandler,
  type Event,
  InvalidRequestError,
  NotFoundError,
  type Payment,
  type Pinrail,
  RateLimitError,
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from '../../src/client/index.ts'
import { recordEvent } from '../../src/db/webhooks/events.ts'
import { newWebhookSecret, signedHeaders } from '../../src/webhooks/sign.ts'
import { openTestApi, type TestApi } from '../api/support/test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
})
afterAll(() => testApi?.close())

describe('The client for merchants', () => {
  let pinrail: Pinrail
  beforeAll(async () => {
    pinrail = createPinrail({ apiKey: testApi.key, baseUrl: testApi.url })
  }, 60_000)

  describe('The methods of the client', () => {
    test('the client creates, reads, lists and follows payments', async () => {
      const created = await pinrail.payments.create({ amount: 49.99, currency: 'EUR', reference: 'c-1' })
      expect([created.status, created.amount_minor]).toEqual(['created', 4999])
      expect(await pinrail.payments.read(created.id)).toEqual(created)
      expect((await pinrail.payments.list({ reference: 'c-1' })).data).toEqual([created])
      await expect(pinrail.payments.receipt(created.id)).rejects.toMatchObject({ code: 'receipt_not_available' })
      expect((await pinrail.payments.timeline(created.id)).data.map(({ kind }) => kind)).toEqual([
        'payment.created',
        'event.recorded',
      ])
    })

    test('the client waits for a payment until it has ended, or for what is asked', async () => {
      const statuses = ['created', 'pending', 'processing', 'under_review', 'settling', 'succeeded']
      const waits: number[] = []
      const client = createPinrail({
        apiKey: 'k',
        baseUrl: 'http://127.0.0.1',
        fetch: async () => Response.json({ id: 'pay_1', status: statuses.shift() }),
        wait: async (milliseconds) => void waits.push(milliseconds),
      })
      const isPending = ({ status }: Payment): boolean => status === 'pending'
      expect(await client.payments.waitFor('pay_1', { until: isPending })).toMatchObject({ status: 'pending' })
      expect(await client.payments.waitFor('pay_1')).toMatchObject({ status: 'succeeded' })
      expect(waits).toEqual([1000, 1000, 1500, 2250])
    })

    test('the client says what is known when it has waited too long or was stopped', async () => {
      const { id } = await pinrail.payments.create({ amount: '10', currency: 'EUR' })
      const waited = pinrail.payments.waitFor(id, { timeoutMs: 0 })
      await expect(waited).rejects.toMatchObject({ name: 'WaitTimeoutError', payment: { id, status: 'created' } })
      await expect(waited).rejects.toThrow('It can still succeed')
      await expect(pinrail.payments.waitFor(id, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    })

    test('the client reads every page of a list', async () => {
      const other = await testApi.addMerchant()
      const theirs = createPinrail({ apiKey: other.key, baseUrl: testApi.url })
      const made: string[] = []
      for (let index = 0; index < 7; index++)
        made.unshift((await theirs.payments.create({ amount: '10', currency: 'EUR' })).id)
      const seen: string[] = []
      for await (const payment of theirs.payments.all({ limit: 3 })) seen.push(payment.id)
      expect(seen).toEqual(made)
    })

    test('the client has a method for every operation of the API', async () => {
      const asked: string[] = []
      const client = createPinrail({
        apiKey: 'k',
        baseUrl: 'http://127.0.0.1',
        fetch: async (url, { method } = {}) => {
          asked.push(`${method} ${new URL(url instanceof Request ? url.url : url).pathname}`)
          return Response.json({ data: [], has_more: false, status: 'succeeded' })
        },
      })
      const callAll = async (methods: object): Promise<void> => {
        for (const method of Object.values(methods)) {
          if (typeof method === 'object') await callAll(method)
          else await (method('x', 'x').next?.() ?? method('x', 'x'))
        }
      }
      // `follow` never ends, and asks as `list` does.
      await callAll({ ...client, webhooks: {}, events: { ...client.events, follow: client.events.list } })
      const all = Object.values(OPERATIONS).map(([method, path]) => `${method} ${path.replace(/\{\w+\}/g, 'x')}`)
      expect(all.filter((operation) => !asked.includes(operation))).toEqual([])
    })

    test('the client pulls the events that were missed, in order', async () => {
      const other = await testApi.addMerchant()
      const theirs = createPinrail({ apiKey: other.key, baseUrl: testApi.url })
      const about = { type: 'payment.failed', paymentId: null, object: { object: 'webhook_test' } }
      for (let index = 0; index < 105; index++)
        await testApi.db.transaction((tx) =>
          recordEvent(tx, { ...other.tenant, ...about, at: new Date().toISOString() }),
        )
      const seen: (number | null)[] = []
      for await (const event of theirs.events.pull(2)) seen.push(event.sequence)
      expect(seen).toEqual(Array.from({ length: 103 }, (_, index) => index + 3))
    })

    test('the client throws errors with a code for programs', async () => {
      const small = pinrail.payments.create({ amount: '0.01', currency: 'EUR' })
      await expect(small).rejects.toBeInstanceOf(InvalidRequestError)
      await expect(small).rejects.toMatchObject({
        code: 'amount_too_small',
        status: 422,
        problem: { minimum: { currency: 'USD' } },
      })
      await expect(pinrail.payments.read('pay_x')).rejects.toBeInstanceOf(NotFoundError)
      const stranger = createPinrail({ apiKey: 'nonsense', baseUrl: testApi.url })
      await expect(stranger.payments.list()).rejects.toBeInstanceOf(AuthenticationError)
      const wrong = pinrail.payments.create({ amount: '1.2.3', currency: 'EUR' }).catch((error: unknown) => error)
      expect(await wrong).toMatchObject({
        errors: [{ pointer: '/amount', code: 'amount_invalid' }],
        requestId: expect.stringMatching(/^req_/),
      })
    })

    test('the client manages endpoints, keys and the wallet', async () => {
      const endpoint = await pinrail.webhookEndpoints.create({ url: 'https://shop.example/h' })
      expect(endpoint.secret).toMatch(/^whsec_/)
      expect((await pinrail.webhookEndpoints.update(endpoint.id, { enabled_events: ['*'] })).enabled_events).toEqual([
        '*',
      ])
      expect((await pinrail.webhookEndpoints.rotateSecret(endpoint.id)).secret).not.toBe(endpoint.secret)
      expect((await pinrail.webhookEndpoints.deliveries(endpoint.id)).data).toEqual([])
      expect((await pinrail.webhookEndpoints.delete(endpoint.id)).deleted).toBe(true)
      const key = await pinrail.apiKeys.create({ name: 'c' })
      expect((await pinrail.apiKeys.revoke(key.id)).revoked_at).not.toBeNull()
      expect((await pinrail.settings.readWallet()).chain).toBe('polygon')
      expect((await pinrail.quotes.read({ amount: 10, currency: 'EUR' })).fee_percent).toBe('4.5')
      expect((await pinrail.providers.list()).data).toHaveLength(3)
      expect((await pinrail.routes.preview({ amount: 10, currency: 'EUR' })).offers.length).toBeGreaterThan(0)
    })
  })

  describe('A request that fails in transit', () => {
    let server: Server | undefined
    afterEach(() => {
      server?.closeAllConnections()
      server?.close()
    })

    /** A server with a list of responses, and the keys that it received. */
    async function troubled(...answers: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
      const keys: string[] = []
      const waits: number[] = []
      server = createServer((request, response) => {
        keys.push(String(request.headers['idempotency-key']))
        request.resume()
        answers[Math.min(keys.length, answers.length) - 1]?.(request, response)
      })
      await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const wait = async (ms: number): Promise<void> => void waits.push(ms)
      const client = createPinrail({ apiKey: 'k', baseUrl: `http://127.0.0.1:${port}`, wait })
      return { client, keys, waits }
    }
    const status =
      (code: number, headers: Record<string, string> = {}, body = '{"code":"x"}') =>
      (_request: IncomingMessage, response: ServerResponse): void =>
        void response.writeHead(code, headers).end(body)
    const hangUp = (request: IncomingMessage): void => void request.socket.destroy()
    const body = { amount: 10, currency: 'EUR' } as const

    test('a request is repeated with the same Idempotency-Key until it is answered', async () => {
      const { client, keys, waits } = await troubled(
        hangUp,
        status(503, { 'retry-after': '3' }),
        status(201, {}, '{"id":"pay_1"}'),
      )
      expect(await client.payments.create(body)).toEqual({ id: 'pay_1' })
      expect(new Set(keys).size).toBe(1)
      expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
      expect(waits).toHaveLength(2)
      expect(waits[1]).toBeGreaterThanOrEqual(3000)
    })

    test('a request fails with its error after three retries', async () => {
      const { client, keys } = await troubled(status(429, { 'retry-after': '1' }))
      await expect(client.payments.create(body)).rejects.toBeInstanceOf(RateLimitError)
      expect(keys).toHaveLength(4)
      const gone = await troubled(hangUp)
      await expect(gone.client.payments.read('pay_1')).rejects.toBeInstanceOf(ConnectionError)
    })

    test('a request is not repeated if the response would be the same', async () => {
      const { client, keys } = await troubled(status(422))
      await expect(client.payments.create(body)).rejects.toBeInstanceOf(InvalidRequestError)
      expect(keys).toHaveLength(1)
    })

    test('a request waits for the first one if its key is in use', async () => {
      const { client, keys } = await troubled(
        status(409, {}, '{"code":"idempotency_key_in_use"}'),
        status(201, {}, '{}'),
      )
      await client.payments.create(body, { idempotencyKey: 'mine' })
      expect(keys).toEqual(['mine', 'mine'])
    })

    test('a request never follows a redirect with the key', async () => {
      const { client } = await troubled(status(307, { location: 'http://127.0.0.1:9/' }))
      await expect(client.payments.read('pay_1')).rejects.toBeInstanceOf(ConnectionError)
    })
  })
})

describe('Webhooks for merchants', () => {
  const secret = newWebhookSecret()
  const NOW = 1_795_209_600_000
  const body = Buffer.from('{"id":"evt_1","type":"payment.succeeded","note":"€"}')
  const headers = { ...signedHeaders({ id: 'evt_1', at: NOW, body, secrets: [secret] }) }
  const at = (options: { secret?: string | string[]; now?: number } = {}) => ({ secret, now: NOW, ...options })

  describe('Verifying a webhook', () => {
    test('the client accepts the platform’s webhooks, as bytes or text, with headers as Node or fetch have them', async () => {
      expect(await verifyWebhook(body, headers, at())).toMatchObject({ id: 'evt_1', type: 'payment.succeeded' })
      expect(await verifyWebhook(body.toString(), new Headers(headers), at())).toMatchObject({ id: 'evt_1' })
    })

    test('the client accepts webhooks that the standardwebhooks library signs, and that library accepts the platform’s', async () => {
      const signature = new Webhook(secret).sign('evt_1', new Date(NOW), body.toString())
      expect(await verifyWebhook(body, { ...headers, 'webhook-signature': `v1,xxx ${signature}` }, at())).toBeDefined()
      const fresh = signedHeaders({ id: 'evt_1', at: Date.now(), body, secrets: [secret] })
      expect(new Webhook(secret).verify(body, { ...fresh })).toMatchObject({ id: 'evt_1' })
    })

    test('the client accepts either secret during a rotation', async () => {
      const next = newWebhookSecret()
      const both = { ...signedHeaders({ id: 'evt_1', at: NOW, body, secrets: [next, secret] }) }
      for (const known of [secret, next]) expect(await verifyWebhook(body, both, at({ secret: known }))).toBeDefined()
      expect(await verifyWebhook(body, headers, at({ secret: [next, secret] }))).toBeDefined()
    })

    test('the client refuses a wrong webhook, and names the usual causes', async () => {
      const parsedAgain = JSON.stringify(JSON.parse(body.toString()), null, 1)
      const refused: [string, () => Promise<unknown>, RegExp][] = [
        ['a body that was written again', () => verifyWebhook(parsedAgain, headers, at()), /parsed and written again/],
        [
          'another secret',
          () => verifyWebhook(body, headers, at({ secret: newWebhookSecret() })),
          /another endpoint or mode/,
        ],
        ['an old request', () => verifyWebhook(body, headers, at({ now: NOW + 301_000 })), /301 s/],
        ['one of the future', () => verifyWebhook(body, headers, at({ now: NOW - 301_000 })), /clock/],
        ['no signature', () => verifyWebhook(body, { ...headers, 'webhook-signature': '' }, at()), /missing/],
        [
          'another scheme',
          () => verifyWebhook(body, { ...headers, 'webhook-signature': 'v2,abc' }, at()),
          /No signature/,
        ],
        [
          'a time that is no number',
          () => verifyWebhook(body, { ...headers, 'webhook-timestamp': 'soon' }, at()),
          /number/,
        ],
        ['another id', () => verifyWebhook(body, { ...headers, 'webhook-id': 'evt_2' }, at()), /No signature/],
        ['a short secret', () => verifyWebhook(body, headers, at({ secret: 'whsec_YWJj' })), /24 bytes/],
      ]
      for (const [name, verify, why] of refused) {
        const error: unknown = await verify().catch((thrown: unknown) => thrown)
        expect({ name, error }).toEqual({ name, error: expect.any(WebhookVerificationError) })
        expect(String(error)).toMatch(why)
      }
    })

    test('the client never accepts one of 10,000 random changes of a signed request', async () => {
      let accepted = 0
      let state = 7
      const random = (below: number): number => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
        return Math.floor((state / 2 ** 32) * below)
      }
      const change = (text: string): string => {
        const place = random(text.length)
        const sign = 'abcXYZ019'.charAt(random(9))
        const kinds = [
          text.slice(0, place) + sign + text.slice(place + 1),
          text.slice(0, place) + text.slice(place + 1),
          text.slice(0, place) + sign + text.slice(place),
        ]
        return kinds[random(3)] ?? text
      }
      for (let round = 0; round < 10_000; round++) {
        const parts = [
          body.toString(),
          headers['webhook-id'],
          headers['webhook-timestamp'],
          headers['webhook-signature'],
        ]
        const which = random(4)
        const original = parts[which]!
        const changed = change(original)
        // The last bits of a base64 text can be unused.
        if (changed === original || (which === 3 && sameBytes(changed, original))) continue
        parts[which] = changed
        const [text, id, timestamp, signature] = parts as [string, string, string, string]
        try {
          await verifyWebhook(
            text,
            { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
            at(),
          )
          accepted++
        } catch (error) {
          expect(error).toBeInstanceOf(WebhookVerificationError)
        }
      }
      expect(accepted).toBe(0)
    })
  })

  describe('A handler of webhooks', () => {
    const event = { ...EVENT, id: 'evt_1' } as unknown as Event
    const post = async (changes: RequestInit = {}) => {
      const signed = await signWebhook(event, { secret, now: NOW })
      return new Request('https://shop.example/webhooks', { method: 'POST', ...signed, ...changes })
    }

    test('the handler calls the function of the event’s type and answers 204', async () => {
      const seen: string[] = []
      const handle = createWebhookHandler({
        ...at(),
        on: { 'payment.succeeded': ({ data }) => seen.push(data.object.settlement.destination) },
      })
      expect((await handle(await post())).status).toBe(204)
      expect(seen).toEqual([EVENT.data.object.settlement.destination])
    })

    test('the handler ignores types without a function, answers 400 to a forgery and 405 to a GET', async () => {
      const handle = createWebhookHandler({ ...at(), on: {} })
      expect((await handle(await post())).status).toBe(204)
      const forged = await handle(await post({ body: '{}' }))
      expect([forged.status, await forged.text()]).toEqual([400, expect.stringContaining('No signature matches')])
      expect((await handle(new Request('https://shop.example/webhooks'))).status).toBe(405)
    })

    test('the handler throws what the function throws, so that the webhook comes again', async () => {
      const on = { 'payment.succeeded': () => Promise.reject(new Error('the database is away')) }
      await expect(createWebhookHandler({ ...at(), on })(await post())).rejects.toThrow('the database is away')
    })

    test('a webhook that a test signs is one that the platform could have sent', async () => {
      const { body, headers } = await signWebhook(event, { secret, now: NOW })
      const sent = signedHeaders({ id: 'evt_1', at: NOW, body: Buffer.from(body), secrets: [secret] })
      expect(headers).toMatchObject({ ...sent })
    })
  })

  const sameBytes = (a: string, b: string): boolean =>
    a.startsWith('v1,') && Buffer.from(a.slice(3), 'base64').equals(Buffer.from(b.slice(3), 'base64'))
})

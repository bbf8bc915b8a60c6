import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import { onFreePort } from '../../../scripts/system/ports.ts'
import { DESCRIPTIONS } from '../../../src/api/document/descriptions.ts'
import { createDocsSite } from '../../../src/api/document/docs-site.ts'
import { errorDocs } from '../../../src/api/document/error-docs.ts'
import { PROBLEMS } from '../../../src/api/http/problem-codes.ts'
import { createApiServer, stopApiServer } from '../../../src/api/http/server.ts'
import { readsList } from '../../../src/api/route.ts'
import { OPERATIONS } from '../../../src/api/routes/v1/index.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhook.ts'
import { listen } from '../../../src/main/listen.ts'
import { ASSETS } from '../../../src/web/assets.ts'
import { PLAIN_PLATFORM } from '../../support/platforms.ts'
import { expectAllRefused, readCorpus } from '../support/refused/corpus.ts'
import { expectProblem, openTestApi, type TestApi } from '../support/test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
})
afterAll(() => testApi?.close())

describe('Requests and answers', () => {
  const BODY = { amount: '49.99', currency: 'EUR' }
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    testApi.ask('POST', '/v1/payments', { body, headers })

  /** Sends bytes unchanged; returns what arrived before the connection was closed. */
  function sendRaw(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = ''
      const socket = connect(testApi.port, '127.0.0.1', () => socket.write(bytes))
      socket.setEncoding('utf8')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
  }

  describe('A body that cannot be read', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
    test.each<[string, string | Buffer, number, string]>([
      ['an empty body', Buffer.alloc(0), 400, 'invalid_json'],
      ['half an object', '{"amount":', 400, 'invalid_json'],
      ['two objects', '{}{}', 400, 'invalid_json'],
      ['a comment', '{/* */}', 400, 'invalid_json'],
      ['a trailing comma', '{"amount":1,}', 400, 'invalid_json'],
      ['single quotes', "{'amount':1}", 400, 'invalid_json'],
      ['NaN', '{"amount":NaN}', 400, 'invalid_json'],
      ['a byte order mark', '\ufeff{}', 400, 'invalid_json'],
      ['HTML', '<html></html>', 400, 'invalid_json'],
      ['a form', 'amount=1&currency=EUR', 400, 'invalid_json'],
      ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_json'],
      ['a number', '5', 400, 'validation_failed'],
      ['a string', '"x"', 400, 'validation_failed'],
      ['null', 'null', 400, 'validation_failed'],
      ['a list', '[]', 400, 'validation_failed'],
      ['nine levels', nested(9), 400, 'validation_failed'],
      ['30,000 levels', nested(30_000), 400, 'validation_failed'],
      ['more than 64 KiB', JSON.stringify({ ...BODY, description: 'x'.repeat(66_000) }), 413, 'body_too_large'],
    ])('a body is refused with a problem, and nothing is stored: %s', async (_name, body, status, code) => {
      const before = await testApi.count('payment')
      expectProblem(await send(body), status, code)
      expect(await testApi.count('payment')).toBe(before)
    })

    test('the limit of 64 KiB applies after decompression', async () => {
      const bomb = gzipSync(JSON.stringify({ ...BODY, description: 'x'.repeat(10_000_000) }))
      expect(bomb.length).toBeLessThan(65_536)
      expectProblem(await send(bomb, { 'content-encoding': 'gzip' }), 413, 'body_too_large')
    })

    test('gzip is accepted, broken gzip is a problem, and another encoding is named as not supported', async () => {
      expect((await send(gzipSync(JSON.stringify(BODY)), { 'content-encoding': 'gzip' })).status).toBe(201)
      expectProblem(await send(JSON.stringify(BODY), { 'content-encoding': 'gzip' }), 400, 'invalid_request')
      expectProblem(await send(JSON.stringify(BODY), { 'content-encoding': 'zstd9' }), 415, 'unsupported_media_type')
      for (const none of ['', 'identity', 'IDENTITY'])
        expect((await send(JSON.stringify(BODY), { 'content-encoding': none })).status).toBe(201)
    })

    test.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
      'application/json; charset=utf-16',
      'application/json; charset=utf-7',
      ' ',
    ])('the content type %p is not supported', async (type) => {
      expectProblem(await send(JSON.stringify(BODY), { 'content-type': type }), 415, 'unsupported_media_type')
    })

    test.each(['application/json', 'Application/JSON;charset=UTF-8', 'application/json; charset="utf-8"'])(
      'the content type %p is supported',
      async (type) => {
        expect((await send(JSON.stringify(BODY), { 'content-type': type })).status).toBe(201)
      },
    )
  })

  describe('An unknown path or method', () => {
    test.each(['/v1', '/v1/', '/v2/payments', '/V1/payments', '/v1/payment', '/v1/payments/pay_1/refund', '/.env'])(
      'an unknown path is 404: %s',
      async (path) => {
        expectProblem(await testApi.ask('GET', path), 404, 'route_missing')
      },
    )

    test.each([
      ['PUT', '/v1/payments'],
      ['DELETE', '/v1/payments/pay_1'],
      ['GET', '/v1/payments/pay_1/cancel'],
      ['OPTIONS', '/v1/payments'],
      ['PROPFIND', '/v1/providers'],
      ['DELETE', '/healthz'],
      ['GET', '/callbacks/wallet_app'],
    ])('%s %s is 405 and names the allowed methods', async (method, path) => {
      const answer = await testApi.ask(method, path)
      expectProblem(answer, 405, 'method_not_allowed')
      expect(answer.headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/)
    })

    test('HEAD returns the response of GET without the body', async () => {
      const answer = await testApi.ask('HEAD', '/v1/providers')
      expect([answer.status, answer.text]).toEqual([200, ''])
    })

    test.each(['/v1/payments/%', '/v1/payments/%ff', '/v1/payments/%c0%ae'])(
      'an error of the API is a problem, not a page: %s',
      async (path) => {
        expectProblem(await testApi.ask('GET', path), 400, 'invalid_request')
      },
    )

    test.each([
      'x',
      'pay_',
      'pay_01m7z134d8fetv1hwd26y1yksm',
      `pay_${'0'.repeat(26)}`,
      'PAY_01m7z134d8fetv1hwd26y1yksm',
      '%00',
      "';--",
      `pay_${'9'.repeat(5000)}`,
      '😀',
      '__proto__',
    ])('the id %p is answered as an unknown one', async (id) => {
      expectProblem(await testApi.ask('GET', `/v1/payments/${encodeURI(id)}`), 404, 'resource_missing')
      expectProblem(await testApi.ask('POST', `/v1/payments/${encodeURI(id)}/cancel`), 404, 'resource_missing')
    })

    test('an unknown query parameter is refused', async () => {
      expectProblem(await testApi.ask('GET', '/v1/providers?limt=1'), 400, 'validation_failed')
      expectProblem(await testApi.ask('GET', '/v1/providers?__proto__=1'), 400, 'validation_failed')
    })
  })

  describe('Invalid HTTP', () => {
    const HEAD = 'POST /v1/payments HTTP/1.1\r\nhost: x\r\n'
    test.each([
      ['a line that is no request', 'HELLO\r\n\r\n', 400, 'invalid_request'],
      ['a version that does not exist', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', 400, 'invalid_request'],
      ['a header without a name', `${HEAD}: x\r\n\r\n`, 400, 'invalid_request'],
      ['a header with NUL', `${HEAD}a: b\u0000c\r\n\r\n`, 400, 'invalid_request'],
      ['a request without a host', 'GET /v1/providers HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
      ['a length that is no number', `${HEAD}content-length: ten\r\n\r\n`, 400, 'invalid_request'],
      ['two lengths', `${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\n`, 400, 'invalid_request'],
      ['a length and chunks', `${HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`, 400, 'invalid_request'],
      [
        'the method TRACE',
        'TRACE /v1/payments HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
        405,
        'method_not_allowed',
      ],
      ['headers of 20 KiB', `${HEAD}a: ${'b'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
      [
        'an expectation that cannot be met',
        `${HEAD}expect: a-miracle\r\nconnection: close\r\n\r\n`,
        417,
        'expectation_failed',
      ],
    ])('invalid HTTP is answered with a problem: %s', async (_name, bytes, status, code) => {
      const [head, body] = (await sendRaw(bytes)).split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(head).toMatch(/content-type: application\/problem\+json/i)
      expect(JSON.parse(body ?? '')).toMatchObject({ status, code, request_id: expect.stringMatching(/^req_/) })
    })

    test('a body with broken chunks does not create a payment', async () => {
      const before = await testApi.count('payment')
      const head = `${HEAD}authorization: Bearer ${testApi.key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
      expect(await sendRaw(`${head}zz\r\n{}\r\n`)).toMatch(/^HTTP\/1.1 400 /)
      expect(await testApi.count('payment')).toBe(before)
    })
  })

  test('every response has its own request id, and ignores a client’s id', async () => {
    const paths = ['/healthz', '/v1/providers', '/v1/nothing', '/nothing']
    const ids = await Promise.all(
      paths.map(async (path) =>
        (await testApi.ask('GET', path, { headers: { 'request-id': 'mine' } })).headers.get('request-id'),
      ),
    )
    expect(new Set(ids).size).toBe(paths.length)
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{26}$/)
  })

  test('an unexpected error is opaque: no message and no stack', async () => {
    const broken = await openTestApi({
      deps: () => ({ rates: { current: () => Promise.reject(new TypeError('secret detail')) } }),
    })
    try {
      const noRate = await broken.ask('POST', '/v1/payments', { body: BODY })
      expectProblem(noRate, 503, 'temporarily_unavailable')
      expect(noRate.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(noRate.text).not.toContain('secret detail')
      // An error that no rate can repair does not ask the client to try again.
      const quote = (query: string) => broken.ask('GET', `/v1/quotes?${query}`)
      expectProblem(await quote('amount=49.99&currency=EUR'), 503, 'temporarily_unavailable')
      expectProblem(await quote('amount=1.234&currency=EUR'), 400, 'validation_failed')
      expectProblem(await quote('amount=49.99&currency=PLN&provider=local_partner'), 422, 'currency_not_supported')
    } finally {
      await broken.close()
    }
    const bug = await openTestApi({
      deps: ({ newId }) => ({ newId: (kind) => (kind === 'payment' ? fail() : newId(kind)) }),
    })
    try {
      const answer = await bug.ask('POST', '/v1/payments', { body: BODY })
      expectProblem(answer, 500, 'internal_error')
      expect(answer.text).not.toMatch(/secret detail|at .*\.ts/)
    } finally {
      await bug.close()
    }
  })

  function fail(): never {
    throw new TypeError('secret detail')
  }
})

describe('The negative corpus', () => {
  test('one in ten of more than 600 invalid requests is refused as a problem, and nothing is stored', async () => {
    const other = await testApi.asNewMerchant()
    const cases = await readCorpus(other)
    await expectAllRefused(
      other,
      cases.filter((_case, index) => index % 10 === 0),
    )
  }, 180_000)
})

describe('The document', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  }, 60_000)

  const file = (name: string): URL => new URL(`../../../docs/api/${name}`, import.meta.url)

  type Operation = { operationId: string; summary: string; tags: string[]; responses: Record<string, unknown> }
  const operations = (document: unknown): Operation[] =>
    Object.values((document as { paths: Record<string, Record<string, Operation>> }).paths).flatMap((path) =>
      Object.values(path),
    )

  describe('The OpenAPI document', () => {
    test('the checked-in OpenAPI document equals the served one: run npm run docs', async () => {
      const served = JSON.parse((await testApi.ask('GET', '/v1/openapi.json', { key: null })).text) as object
      const servers = [{ url: 'http://localhost:4242' }]
      expect(JSON.parse(readFileSync(file('openapi.json'), 'utf8'))).toEqual({ ...served, servers })
      expect(JSON.parse((await testApi.ask('GET', '/openapi.json', { key: null })).text)).toEqual(served)
    })

    test('the OpenAPI document names every operation once, with each of its errors', async () => {
      const all = operations(JSON.parse(readFileSync(file('openapi.json'), 'utf8')))
      expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length)
      for (const { operationId, summary, tags, responses } of all) {
        expect([operationId, summary !== '', tags.length]).toEqual([operationId, true, 1])
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429', '500', '503']))
      }
    })
  })

  type Media = { example?: unknown; schema: unknown }
  type Described = Operation & {
    parameters?: { name: string; in: string; schema: { examples?: unknown[]; pattern?: string; type?: string } }[]
    requestBody?: { content: Record<string, Media> }
    responses: Record<string, { content?: Record<string, Media> }>
  }

  describe('Each operation of the OpenAPI document', () => {
    const document = JSON.parse(readFileSync(file('openapi.json'), 'utf8')) as Record<string, unknown> & {
      webhooks: Record<string, { post: Described }>
    }
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema({ ...document, $id: 'api' })
    const wrong = (schema: unknown, value: unknown): string | null => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"api#/')
      return ajv.validate(JSON.parse(text) as object, value) ? null : ajv.errorsText()
    }

    test('each operation has an example of the body, of the ids in the path and of the response, and each fits its schema', () => {
      for (const { operationId, parameters = [], requestBody, responses } of operations(document) as Described[]) {
        for (const [status, { content }] of Object.entries(responses)) {
          const media = content?.['application/json']
          if (status.startsWith('2'))
            expect([operationId, media?.example !== undefined, wrong(media?.schema, media?.example)]).toEqual([
              operationId,
              true,
              null,
            ])
        }
        const body = requestBody?.content['application/json']
        if (body !== undefined) expect([operationId, wrong(body.schema, body.example)]).toEqual([operationId, null])
        for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'path'))
          expect([operationId, name, String(schema.examples?.[0])]).toEqual([
            operationId,
            name,
            expect.stringMatching(/^[\w@.]{4}/),
          ])
      }
    })

    test('no response forbids other fields or values, except the type of an event', () => {
      const schemas = (document['components'] as { schemas: Record<string, unknown> }).schemas
      const answers = operations(document).map(({ responses }) => responses)
      const closed = [
        ...JSON.stringify([schemas, answers]).matchAll(/"additionalProperties":false|"enum":\["([^"]*)"/g),
      ]
      expect(closed.map(([, value]) => value)).toEqual([
        'payment.succeeded',
        'dispute.created',
        'refund.created',
        'reserve.released',
        'payment_link.completed',
        'webhook_endpoint.disabled',
        'webhook.test',
      ])
    })

    test('the schema of an event is found by its type', () => {
      const { Event } = (document['components'] as { schemas: { Event: { discriminator: { mapping: object } } } })
        .schemas
      expect(Object.keys(Event.discriminator.mapping)).toEqual([...WEBHOOK_EVENT_TYPES, 'webhook.test'])
    })

    test('each list says that limit is an integer, and its maximum', () => {
      const limits = (operations(document) as Described[]).flatMap(({ parameters = [] }) =>
        parameters.filter(({ name }) => name === 'limit'),
      )
      expect(limits).toHaveLength(OPERATIONS.filter(readsList).length)
      for (const { schema } of limits) expect(schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 100 })
      for (const { schema } of limits) expect(schema.pattern).toBeUndefined()
    })

    test('each pattern uses only syntax that every language supports: no classes of properties', () => {
      const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
        ([, text]) => JSON.parse(text ?? '""') as string,
      )
      expect(patterns.length).toBeGreaterThan(20)
      for (const pattern of patterns) expect([pattern, /\\p\{|\(\?</.test(pattern)]).toEqual([pattern, false])
      for (const pattern of patterns) expect(() => new RegExp(pattern)).not.toThrow()
    })

    test('the OpenAPI document describes what webhook endpoints receive, for every type of event', () => {
      expect(Object.keys(document.webhooks)).toEqual([...WEBHOOK_EVENT_TYPES])
      for (const [type, { post }] of Object.entries(document.webhooks)) {
        const media = post.requestBody?.content['application/json']
        expect([media?.example, wrong(media?.schema, media?.example)]).toEqual([
          expect.objectContaining({ type }),
          null,
        ])
        const object = type === 'reserve.released' ? 'reserve_release' : type.split('.')[0]
        expect(media?.example).toMatchObject({ type, data: { object: { object } } })
        expect(post.parameters?.map(({ name }) => name)).toEqual([
          'webhook-id',
          'webhook-timestamp',
          'webhook-signature',
        ])
      }
    })
  })

  describe('The code of an error', () => {
    test('each error code has a section in the checked-in documentation: run npm run docs', () => {
      const text = readFileSync(file('errors.md'), 'utf8')
      expect(text).toBe(errorDocs())
      for (const code of Object.keys(PROBLEMS)) expect(text).toContain(`\n## ${code}\n`)
    })

    test('each error code has an anchor on the page that its type links to', async () => {
      const { body } = await testApi.ask('GET', '/v1/payments', { key: null })
      const type = new URL(String(body['type']))
      expect([type.origin, type.pathname, type.hash]).toEqual([testApi.url, '/docs/errors', '#invalid_api_key'])
      const page = await testApi.ask('GET', type.pathname, { key: null })
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      for (const code of Object.keys(PROBLEMS)) expect(page.text).toContain(`id="${code}"`)
    })
  })
})

describe('The end of the server', () => {
  /** A server whose requests wait until the test answers them. */
  async function slowServer() {
    const waiting: ServerResponse[] = []
    const server = createApiServer((_request, response) => void waiting.push(response), {
      publicUrl: 'http://127.0.0.1',
      newRequestId: () => 'req_1',
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const agent = new Agent({ keepAlive: true })
    const ask = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const asked = request({ port, host: '127.0.0.1', agent }, (response) => {
          let text = ''
          response.on('data', (chunk) => (text += String(chunk)))
          response.on('end', () => resolve(text))
        })
        asked.on('error', reject)
        asked.end()
      })
    return { server, port, waiting, ask, agent }
  }

  test('a request that a buyer waits for is answered, however long its partner takes, and then the server ends', async () => {
    const { server, port, waiting, ask, agent } = await slowServer()
    const answer = ask()
    await once(server, 'request')
    const stopped = stopApiServer(server, 60_000)
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
    waiting[0]!.end('to the partner')
    expect(await answer).toBe('to the partner')
    // The client keeps its connection open, which must not keep the server running.
    await stopped
    agent.destroy()
  })

  test('a request on a connection that was idle when the shutdown began is answered, and its client reconnects for the next one', async () => {
    const { server, waiting, ask, agent } = await slowServer()
    const first = ask()
    await once(server, 'request')
    waiting[0]!.end('before')
    expect(await first).toBe('before')
    const stopped = stopApiServer(server, 60_000, 60_000)
    const second = ask()
    await once(server, 'request')
    expect(waiting[1]!.getHeader('connection')).toBe('close')
    waiting[1]!.end('while it ends')
    expect(await second).toBe('while it ends')
    await stopped
    agent.destroy()
  })

  test('a request that never ends does not keep the server running', async () => {
    const { server, ask } = await slowServer()
    const answer = ask()
    await once(server, 'request')
    const cut = expect(answer).rejects.toThrow('socket hang up')
    await stopApiServer(server, 1)
    await cut
  })
})

describe('The addresses of the server', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  type Asked = { readonly method?: string; readonly headers?: Record<string, string>; readonly at?: TestApi }
  type Answered = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

  /** `path` is written into the request line unchanged. */
  function ask(path: string, { method = 'GET', headers = {}, at = testApi }: Asked = {}): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port: at.port, path, method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      })
      asked.on('error', reject)
      asked.end()
    })
  }

  const other = { host: 'localhost:9' }

  describe('Another name of the host', () => {
    const PAGES = [
      '/',
      '/dashboard?x=1',
      '/sign-in',
      '/c/abc',
      '/l/0123456789',
      '/o/abc',
      '/links',
      '/docs',
      '/nowhere',
    ]

    test.each(PAGES)('another name of the host redirects to the same page of the public URL: %s', async (path) => {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await ask(path, { method, headers: other })
        expect([status, headers['location']]).toEqual([307, `${testApi.url}${path}`])
      }
      expect((await ask(path)).status).not.toBe(307)
    })

    test.each(['//evil.example/dashboard', 'http://evil.example/dashboard', '//', '//[/'])(
      'a redirect leads to no other host, whatever the request line names: %s',
      async (path) => {
        const { headers } = await ask(path, { headers: { host: 'evil.example' } })
        expect(new URL(String(headers['location'])).origin).toBe(testApi.url)
      },
    )

    test.each([
      ['/c/abc/continue', '/c/abc'],
      ['/l/0123456789', '/l/0123456789'],
      ['/sign-in/code', '/sign-in'],
      ['/dashboard/keys', '/dashboard'],
    ])('a form that is sent to %s under another name gets a page that links to %s', async (path, page) => {
      const { status, text, headers } = await ask(path, { method: 'POST', headers: other })
      expect([status, headers['content-type'], text.includes(`<a href="${testApi.url}${page}">`)]).toEqual([
        403,
        'text/html; charset=utf-8',
        true,
      ])
    })

    test.each([
      '/v1/payments',
      '/callbacks/wallet_app',
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/llms.txt',
      '/robots.txt',
      '/pinrail.js',
      '/.well-known/jwks.json',
      ASSETS.icon,
      `/logos/${'0'.repeat(32)}.png`,
    ])('programs are served under any host name: %s', async (path) => {
      expect((await ask(path, { headers: other })).status).toBe((await ask(path)).status)
    })

    test('behind a proxy the host name is the one that the proxy forwards', async () => {
      const proxied = await openTestApi({ deps: () => ({ trustProxyHops: 1 }) })
      const named = (host: string) =>
        ask('/sign-in', { at: proxied, headers: { host: 'api.internal:4242', 'x-forwarded-host': host } })
      try {
        expect((await ask('/sign-in', { at: proxied, headers: other })).status).toBe(200)
        expect((await named(new URL(proxied.url).host)).status).toBe(200)
        expect((await named('old.example')).headers['location']).toBe(`${proxied.url}/sign-in`)
      } finally {
        await proxied.close()
      }
    })
  })

  describe('Common proxies', () => {
    let proxied: TestApi
    beforeAll(async () => {
      proxied = await openTestApi({ deps: () => ({ publicUrl: 'https://pay.example', trustProxyHops: 2 }) })
    })
    afterAll(() => proxied?.close())

    test.each([
      'pay.example',
      'PAY.example',
      'pay.example:443',
      'pay.example:80',
      'pay.example, pay.example',
      'pay.example, 10.0.0.3:4242',
      'evil.example, pay.example, 10.0.0.3:4242',
      'not a host',
    ])('a page is served if a proxy forwards the public host in its spelling: %s', async (forwarded) => {
      const headers = { host: 'api.internal:4242', 'x-forwarded-host': forwarded }
      expect((await ask('/sign-in', { at: proxied, headers })).status).toBe(200)
    })

    test.each(['old.example', 'pay.example, old.example, 10.0.0.3:4242', 'pay.example.evil.example'])(
      'a page under another host redirects to the public one behind proxies: %s',
      async (forwarded) => {
        const headers = { host: 'pay.example', 'x-forwarded-host': forwarded }
        const { status, headers: answered } = await ask('/sign-in', { at: proxied, headers })
        expect([status, answered['location']]).toEqual([307, 'https://pay.example/sign-in'])
      },
    )

    test('a page is served without a proxy if `Host` has the default port of the public URL', async () => {
      const plain = await openTestApi({ deps: () => ({ publicUrl: 'https://pay.example', trustProxyHops: 0 }) })
      try {
        expect((await ask('/sign-in', { at: plain, headers: { host: 'pay.example:443' } })).status).toBe(200)
        expect((await ask('/sign-in', { at: plain, headers: { host: 'pay.example:444' } })).status).toBe(307)
      } finally {
        await plain.close()
      }
    })
  })

  describe('The headers of every answer', () => {
    test.each([
      '/',
      '/v1/payments',
      '/v1/nowhere',
      '/nowhere',
      '/healthz',
      '/readyz',
      '/callbacks/nobody',
      '/openapi.json',
      '/llms.txt',
      '/robots.txt',
      '/favicon.ico',
      '/pinrail.js',
      '/.well-known/jwks.json',
      '/docs',
      '/docs.md',
      '/c/abc',
      '/l/abc',
      '/dashboard',
      ASSETS.icon,
      `/logos/${'0'.repeat(32)}.png`,
    ])('every response forbids sniffing, and sets what can run and be cached: %s', async (path) => {
      const { headers } = await ask(path)
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
      expect(headers['cache-control']).toMatch(/^(?:no-store|public, max-age=\d+(?:, immutable)?)$/)
    })

    test('a merchant keeps the window handle of a checkout that it opened, and of no other page', async () => {
      const opener = async (path: string) => (await ask(path)).headers['cross-origin-opener-policy']
      expect([await opener('/c/abc'), await opener('/l/abc'), await opener('/sign-in')]).toEqual([
        'unsafe-none',
        'unsafe-none',
        'same-origin',
      ])
    })

    test.each([
      [false, 'max-age=63072000'],
      [true, 'max-age=63072000; includeSubDomains'],
    ])(
      'https responses bind browsers to https, and hosts below the public one only if configured: %s',
      async (sub, value) => {
        const publicUrl = 'https://pay.example'
        const secure = await openTestApi({ deps: () => ({ publicUrl, hstsIncludeSubdomains: sub }) })
        try {
          for (const path of ['/v1/payments', '/sign-in', '/healthz', '/nowhere', ASSETS.icon])
            expect((await ask(path, { at: secure })).headers['strict-transport-security']).toBe(value)
        } finally {
          await secure.close()
        }
        expect((await ask('/')).headers['strict-transport-security']).toBeUndefined()
      },
    )
  })

  test('a server at `localhost` listens on both loopback addresses', async () => {
    const create = () => createServer((_request, response) => response.end('here'))
    const { servers, port } = await onFreePort(async (free) => ({
      servers: await listen(create, { host: 'localhost', port: free }),
      port: free,
    }))
    try {
      const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
      for (const host of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])])
        expect(await (await fetch(`http://${host}:${port}`)).text()).toBe('here')
    } finally {
      for (const server of servers) server.close()
    }
  })
})

describe('The documentation', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  const get = (path: string) => testApi.ask('GET', path, { key: null })

  /** The URLs of all pages, as llms.txt lists them. */
  async function pages(): Promise<string[]> {
    const { text } = await get('/llms.txt')
    const listed = [...text.matchAll(/\]\(http:\/\/[^/]+(\/docs[^)]*)\.md\)/g)].map(([, path = '']) => path)
    expect(listed.length).toBeGreaterThan(10)
    return listed
  }

  test('the reference shows every operation of the document, with an example in five languages', async () => {
    const { text } = await get('/openapi.json')
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
    expect(ids.length).toBeGreaterThan(10)
    const all = await Promise.all((await pages()).map(async (path) => (await get(path)).text))
    const reference = all.join('')
    for (const id of ids) {
      expect(reference).toContain(`<section class="op" id="${id}"`)
      for (const language of ['curl', 'typescript', 'python', 'go', 'php'])
        expect(reference).toContain(`href="?lang=${language}#${id}-code"`)
    }
    expect(reference.match(/<section class="op"/g)).toHaveLength(ids.length)
  })

  test('the reference names the parameters, the fields of the body, those of the response, and the errors', async () => {
    const { text } = await get('/docs/api/payments')
    const section = (id: string): string =>
      text.slice(text.indexOf(`<section class="op" id="${id}"`)).split('</section>')[0] ?? ''
    const create = section('createPayment')
    expect(create).toMatch(
      /<span>Body<\/span>.*<code[^>]*>amount<\/code> <b>required<\/b>.*<code[^>]*>success_url<\/code>/,
    )
    expect(create).toMatch(
      /<span>Response 201<\/span>.*<code[^>]*>settlement\.tx_hash<\/code>.*<code[^>]*>attempts\[\]\.status<\/code>/,
    )
    expect(create).toContain('>Idempotency-Key</code>')
    expect(create).toMatch(/<span>Errors<\/span>.*amount_too_small.*invalid_api_key/)
    expect(create).toContain('&quot;amount_decimal&quot;: &quot;49.99&quot;')
    expect(section('listPayments')).toMatch(/<span>Parameters<\/span>.*<code[^>]*>status<\/code>.*in the query/)
  })

  test('every field and parameter of the document has a description, and every description belongs to one', async () => {
    const { text } = await get('/openapi.json')
    const bare: string[] = []
    const look = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return
      for (const [name, part] of Object.entries(value)) {
        const isNamed = /\.(?:properties|parameters)$/.test(at) && typeof part === 'object' && !('$ref' in part)
        if (isNamed && !('description' in part)) bare.push(`${at}.${name}`)
        // Examples and forbidden fields have no descriptions.
        if (!['example', 'examples', 'required', 'not'].includes(name) || isNamed) look(part, `${at}.${name}`)
      }
    }
    look(JSON.parse(text), '')
    expect(bare).toEqual([])
    const used = new Set([...text.matchAll(/"description":("(?:[^"\\]|\\.)*")/g)].map(([, said]) => JSON.parse(said!)))
    expect(Object.entries(DESCRIPTIONS).filter(([, said]) => !used.has(said))).toEqual([])
  })

  test('a search finds the sections that have every word, also in the reference, and says if it finds none', async () => {
    const search = async (query: string): Promise<string> =>
      (await get(`/docs/search?q=${encodeURIComponent(query)}`)).text
    expect(await search('PAID late')).toContain('href="/docs/states#paid-late"')
    expect(await search('idempotency_key_reused')).toContain('href="/docs/idempotency#how-it-works"')
    expect(await search('cancel a payment before')).toContain('href="/docs/api/payments#')
    expect(await search('late xyzzy')).toContain('No page contains all of these words.')
    for (const words of ['payment', 'idempotency_key_reused', 'invalid_json', 'wallet']) {
      const links = [...(await search(words)).matchAll(/<li><a href="([^"#]+)#([^"]+)">/g)]
      expect(links.length).toBeGreaterThan(0)
      for (const [, path, id] of links) expect((await get(path!)).text).toContain(`id="${id!}"`)
    }
    expect(await search('<script>')).toContain('Search: &lt;script')
  })

  test('the examples of creating and canceling show a created and a canceled payment', async () => {
    const { text } = await get('/openapi.json')
    const { paths } = JSON.parse(text) as {
      paths: Record<string, Record<string, { responses: Record<string, object> }>>
    }
    const getExample = (path: string, status: string) => paths[path]?.['post']?.responses[status]
    const shown = (status: string) => ({ content: { 'application/json': { example: { status } } } })
    expect(getExample('/v1/payments', '201')).toMatchObject(shown('created'))
    expect(getExample('/v1/payments/{id}/cancel', '200')).toMatchObject(shown('canceled'))
  })

  test('no guide writes a key into the shell’s history, and curl takes brackets of a query literally', async () => {
    const all = await Promise.all((await pages()).map(async (path) => (await get(`${path}.md`)).text))
    expect(all.join('')).not.toMatch(/export SECRET_KEY=/)
    expect(all.join('')).toContain('read -rs SECRET_KEY')
    for (const [line] of all.join('').matchAll(/^curl .*\[.*$/gm)) expect(line).toMatch(/^curl -sS -g /)
  })

  test('a field of the reference has its range and its default', async () => {
    const { text } = await get('/docs/api/payments')
    expect(text).toContain('How long the payment can be paid, in seconds. From 1800 to 604800. Default: 86400.')
  })

  test('the language in a URL is the language of every example on its page and of the links to other pages', async () => {
    const { text } = await get('/docs/api/payments?lang=python')
    expect(text).toContain('import urllib.request')
    expect(text).not.toContain('curl -sS')
    expect(text).toContain('href="/docs/webhooks?lang=python"')
    for (const lang of ['cobol', 'toString', 'java'])
      expect((await get(`/docs/api/payments?lang=${lang}`)).text).toContain('curl -sS')
    expect((await get('/docs/webhooks?lang=java')).text).toContain('final class Verify')
  })

  test('every page exists as Markdown, with each example in each language', async () => {
    for (const path of ['/docs', ...(await pages())]) {
      const { status, headers, text } = await get(`${path}.md`)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8'])
      expect(text).toMatch(/^# \S/)
      expect(text).not.toMatch(/^```(?:call|verify)/m)
    }
    const { text } = await get('/docs/webhooks.md')
    for (const name of ['curl', 'TypeScript', 'Python', 'Go', 'PHP', 'Java']) expect(text).toContain(`\n${name}:\n`)
  })

  test('every link and every anchor of the documentation has a target', async () => {
    const read = new Map<string, { status: number; text: string }>()
    const page = async (path: string) => {
      const found = read.get(path) ?? (await get(path))
      read.set(path, found)
      return found
    }
    const broken: string[] = []
    for (const from of ['/docs', '/receipts/verify', ...(await pages())]) {
      const { text, headers } = await get(from)
      expect([from, headers.get('x-robots-tag'), text.match(/<h1[ >]/g)?.length]).toEqual([
        from,
        from === '/receipts/verify' ? 'noindex, nofollow' : null,
        1,
      ])
      for (const [, href = ''] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
        const { origin, pathname, hash } = new URL(href, `http://here.example${from}`)
        if (origin !== 'http://here.example' || pathname.startsWith('/dashboard')) continue
        const to = await page(pathname)
        const anchored = hash === '' || to.text.includes(`id="${hash.slice(1)}"`)
        if (to.status !== 200 || !anchored) broken.push(`${from} → ${href}`)
      }
    }
    expect(broken).toEqual([])
  })

  test('the guides of a live deployment use the URL of the test deployment, and their own fee', async () => {
    const live = createDocsSite({
      platform: PLAIN_PLATFORM,
      operations: [],
      publicUrl: 'https://pay.example',
      testUrl: 'https://test.pay.example',
      feePercent: '3.25',
    })
    const first = live.pages.find(({ path }) => path === '/docs/first-payment')
    expect(first?.html(live.frame('/docs/first-payment', 'curl'))).toContain('https://test.pay.example/v1/payments')
    expect(first?.markdown()).toContain('https://test.pay.example/v1/payments')
    const fees = live.pages.find(({ path }) => path === '/docs/fees')
    expect(fees?.markdown()).toContain('The fee is 3.25% of the USDC')
  })

  test.each(['/docs/api/payments', '/openapi.json'])(
    'a file is compressed for clients that accept it, and unchanged for others: %s',
    async (path) => {
      const url = `http://127.0.0.1:${testApi.port}${path}`
      const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
      expect(answer.headers.get('content-encoding')).toBe('gzip')
      expect(answer.headers.get('vary')).toMatch(/accept-encoding/i)
      const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
      expect(plain.headers.get('content-encoding')).toBeNull()
      expect(await plain.text()).toBe(await answer.text())
    },
  )

  test('metrics name routes by their pattern, without values of a payment', async () => {
    const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: 49.9, currency: 'EUR' } })
    await testApi.ask('GET', `/v1/payments/${String(body['id'])}`)
    await testApi.ask('GET', '/no/such/path', { key: null })
    const text = await testApi.registry.page()
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/v1/payments/:id",status="200"} 1')
    expect(text).toContain('route="unmatched",status="404"')
    expect(text).toContain('process_cpu_seconds_total')
    expect(text).not.toContain('pay_')
  })
})

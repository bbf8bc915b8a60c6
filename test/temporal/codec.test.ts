import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { defaultPayloadConverter, type Payload } from '@temporalio/common'
import { createPayloadCodec, createWorkerCodec, parseCodecKeys } from '../../src/temporal/codec.ts'
import { createCodecServer } from '../../src/temporal/codec-server.ts'
import { findRefusal } from '../../src/temporal/refused-message.ts'

describe('the codec', () => {
  const key = (id: string) => ({ id, key: randomBytes(32) })
  const [first, second] = [key('2026-01'), key('2026-02')]
  const payload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)!
  const decodeValue = (of: Payload | undefined): unknown => defaultPayloadConverter.fromPayload(of!)
  const message = { type: 'workflow', namespace: 'default', workflowId: 'pay_1' } as const
  const result = { type: 'activity', namespace: 'default', workflowId: 'pay_1', isLocal: false } as const

  describe('Several keys', () => {
    test('the first key encrypts and writes its id, and each key decrypts its own payloads', async () => {
      const [old] = await createPayloadCodec([first]).encode([payload({ secret: 'ada' })])
      const rotated = createPayloadCodec([second, first])
      const [fresh] = await rotated.encode([payload('new')])
      expect(Buffer.from(old!.metadata!['encryption-key-id']!).toString()).toBe('2026-01')
      expect(Buffer.from(fresh!.metadata!['encryption-key-id']!).toString()).toBe('2026-02')
      expect(Buffer.from(old!.data!).toString('latin1')).not.toContain('ada')
      expect((await rotated.decode([old!, fresh!])).map(decodeValue)).toEqual([{ secret: 'ada' }, 'new'])
    })

    test('a payload of an unknown key is an error that names it, for a worker too: the payload may be genuine', async () => {
      const [old] = await createPayloadCodec([first]).encode([payload(1)])
      const expected = 'TEMPORAL_CODEC_KEYS has no key "2026-01"'
      await expect(createPayloadCodec([second]).decode([old!])).rejects.toThrow(expected)
      await expect(createWorkerCodec([second]).decode([old!], message)).rejects.toThrow(expected)
    })

    test('another key under the same id decrypts nothing', async () => {
      const [old] = await createPayloadCodec([first]).encode([payload(1)])
      const wrong = createPayloadCodec([{ id: first.id, key: second.key }])
      await expect(wrong.decode([old!])).rejects.toThrow('refused a payload that the key 2026-01 did not encrypt')
    })
  })

  describe('Foreign payloads', () => {
    const codec = createPayloadCodec([first])
    const changed = async (): Promise<Payload> => {
      const [sealed] = await codec.encode([payload(1)])
      const data = Buffer.from(sealed!.data!)
      data[20]! ^= 1
      return { ...sealed!, data }
    }

    test.each<[string, () => Promise<Payload>]>([
      ['plaintext', async () => payload({ operator: 'eve' })],
      ['a changed payload', changed],
      ['a cut one', async () => ({ ...(await changed()), data: Buffer.alloc(3) })],
      [
        'one that calls itself encrypted',
        async () => ({ ...(await changed()), data: Buffer.from('{"operator":"eve"}') }),
      ],
    ])(
      '%s is refused by a client, and in an activity’s result; a worker passes a message on as refused',
      async (_what, make) => {
        const bad = await make()
        await expect(codec.decode([bad])).rejects.toThrow('refused a payload')
        const worker = createWorkerCodec([first])
        await expect(worker.decode([bad], result)).rejects.toThrow('refused a payload')
        await expect(worker.decode([bad])).rejects.toThrow('refused a payload')
        const [refused] = await worker.decode([bad], message)
        expect(findRefusal([decodeValue(refused)])).toMatch(/^refused a payload/)
      },
    )
  })

  test.each(['', 'a', 'a:', `a:${Buffer.alloc(16).toString('base64')}`, ':x'])(
    'keys must have an id and 32 bytes: %j',
    (text) => {
      expect(() => parseCodecKeys(text)).toThrow('TEMPORAL_CODEC_KEYS must be <id>:<32 bytes in base64>')
    },
  )

  test('two keys of one id are refused', () => {
    const text = [first, first].map(({ id, key: bytes }) => `${id}:${bytes.toString('base64')}`).join(',')
    expect(() => parseCodecKeys(text)).toThrow('each id once')
  })
})

describe('The codec server', () => {
  const UI = 'https://temporal.pinrail.example'
  const token = randomBytes(32).toString('base64')
  const codec = createPayloadCodec([{ id: 'a', key: randomBytes(32) }])
  let now = Date.now()
  let url = ''
  const server = createCodecServer({ codec, token, allowedOrigins: [UI], secure: true, clock: () => now })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())

  const plain = { metadata: { encoding: btoa('json/plain') }, data: btoa('{"operator":"ada"}') }
  const post = (path: string, headers: Record<string, string>, body: unknown = { payloads: [plain] }) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const signIn = (entered: string) =>
    fetch(`${url}/sign-in`, { method: 'POST', body: new URLSearchParams({ token: entered }) })
  const bearer = { authorization: `Bearer ${token}` }

  test('the CLI encodes and decodes with the token', async () => {
    const encoded = (await (await post('/encode', bearer)).json()) as { payloads: (typeof plain)[] }
    expect(encoded.payloads[0]!.data).not.toBe(plain.data)
    expect(await (await post('/decode', bearer, encoded)).json()).toEqual({ payloads: [plain] })
  })

  test('the UI decodes with the cookie of a person who has entered the token, for 12 hours', async () => {
    const signedIn = await signIn(token)
    expect(signedIn.status).toBe(200)
    const cookie = signedIn.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/HttpOnly; Secure; SameSite=Strict/)
    const headers = { cookie: cookie.split(';')[0]!, origin: UI }
    const answer = await post('/encode', headers)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe(UI)
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    now += 12 * 3600 * 1000 + 1000
    expect((await post('/encode', headers)).status).toBe(401)
    const [name, value = ''] = headers.cookie.split('=')
    const longer = `${name}=${Number(value.split('.')[0]) + 1e6}.${value.split('.')[1]}`
    expect((await post('/encode', { ...headers, cookie: longer })).status).toBe(401)
  })

  test('a page sends a preflight, and can send the UI’s requests', async () => {
    const answer = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin: UI } })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-headers')).toBe('authorization, content-type, x-namespace')
  })

  describe('Refused requests to the codec server', () => {
    test.each<[string, Record<string, string>, number]>([
      ['a caller without a token', {}, 401],
      ['a wrong token', { authorization: 'Bearer wrong' }, 401],
      ['an empty one', { authorization: 'Bearer ' }, 401],
      ['another page, even with the token', { ...bearer, origin: 'https://evil.example' }, 403],
      ['a page without origin', { ...bearer, origin: 'null' }, 403],
    ])('the codec server refuses %s', async (_who, headers, status) => {
      for (const path of ['/decode', '/encode']) {
        const answer = await post(path, headers)
        expect(answer.status).toBe(status)
        expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      }
    })

    test('a client that guesses is refused and blocks no other: behind a proxy all have one address', async () => {
      for (let wrong = 0; wrong < 50; wrong += 1) expect((await signIn(`wrong ${wrong}`)).status).toBe(401)
      expect((await signIn(token)).status).toBe(200)
      expect((await post('/encode', bearer)).status).toBe(200)
    })
  })

  describe('Errors of the codec server', () => {
    test.each<[string, unknown, number]>([
      ['plaintext to decode', { payloads: [plain] }, 400],
      ['no payloads', {}, 400],
      ['data that is not base64', { payloads: [{ data: '%' }] }, 400],
      ['what is not JSON', '{', 400],
      ['too much', JSON.stringify({ payloads: [{ data: 'A'.repeat(5_000_000) }] }), 413],
    ])('the codec server answers with an error, and continues, for %s', async (_what, body, status) => {
      const answer = await post('/decode', bearer, body)
      expect(answer.status).toBe(status)
      expect(Object.keys((await answer.json()) as object)).toEqual(['message'])
    })
  })
})

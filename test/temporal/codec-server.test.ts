import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createPayloadCodec } from '../../src/temporal/codec.ts'
import { createCodecServer } from '../../src/temporal/codec-server.ts'

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

test('the UI decodes with the cookie of whoever has entered the token, for 12 hours', async () => {
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

test('a page asks first, and may send what the UI sends', async () => {
  const answer = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin: UI } })
  expect(answer.status).toBe(204)
  expect(answer.headers.get('access-control-allow-headers')).toBe('authorization, content-type, x-namespace')
})

describe('is not for', () => {
  test.each<[string, Record<string, string>, number]>([
    ['a caller without a token', {}, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['an empty one', { authorization: 'Bearer ' }, 401],
    ['another page, even with the token', { ...bearer, origin: 'https://evil.example' }, 403],
    ['a page without origin', { ...bearer, origin: 'null' }, 403],
  ])('%s', async (_who, headers, status) => {
    for (const path of ['/decode', '/encode']) {
      const answer = await post(path, headers)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('who guesses, and nobody is kept out by it: behind a proxy all have one address', async () => {
    for (let wrong = 0; wrong < 50; wrong += 1) expect((await signIn(`wrong ${wrong}`)).status).toBe(401)
    expect((await signIn(token)).status).toBe(200)
    expect((await post('/encode', bearer)).status).toBe(200)
  })
})

describe('answers with an error, and goes on, for', () => {
  test.each<[string, unknown, number]>([
    ['plaintext to decode', { payloads: [plain] }, 400],
    ['no payloads', {}, 400],
    ['data that is not base64', { payloads: [{ data: '%' }] }, 400],
    ['what is not JSON', '{', 400],
    ['too much', JSON.stringify({ payloads: [{ data: 'A'.repeat(5_000_000) }] }), 413],
  ])('%s', async (_what, body, status) => {
    const answer = await post('/decode', bearer, body)
    expect(answer.status).toBe(status)
    expect(Object.keys((await answer.json()) as object)).toEqual(['message'])
  })
})

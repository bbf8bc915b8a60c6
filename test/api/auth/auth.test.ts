import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { API_SCOPES } from '../../../src/api/auth/api-key.ts'
import { endKey, expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
let now = Date.now()
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ clock: () => now }) })
}, 60_000)
afterAll(() => shop?.close())

const bearer = (text: string) => ({ key: null, headers: { authorization: text } })
const list = (options: Parameters<Shop['ask']>[2]) => shop.ask('GET', '/v1/providers', options)
/** As a client sees it, but for the request's own id. */
const shown = (answer: { status: number; text: string; headers: Headers }) => ({
  status: answer.status,
  text: answer.text.replace(/req_[0-9a-z]+/, 'req_'),
  headers: [...answer.headers].filter(([name]) => !['date', 'request-id', 'ratelimit'].includes(name)),
})

describe('a key that may not be used', () => {
  test('gets one answer, whatever is wrong with it', async () => {
    const revoked = await shop.addKey(shop.tenant)
    const expired = await shop.addKey(shop.tenant)
    const live = await shop.addKey({ ...shop.tenant, livemode: true })
    await endKey(shop.db, revoked.keyId, 'revoked_at')
    await endKey(shop.db, expired.keyId, 'expires_at')
    const { key } = shop
    const body = key.slice(0, -6)
    const answers = [
      await list({ key: null }),
      await list({ key: '' }),
      await list({ key: 'x' }),
      await list({ key: key.slice(0, -1) }),
      await list({ key: `${key}0` }),
      await list({ key: `${body}${key.endsWith('000000') ? '111111' : '000000'}` }),
      await list({ key: key.replace('pinrail_test_', 'pinrail_live_') }),
      await list({ key: key.toUpperCase() }),
      await list({ key: await unknownKey() }),
      await list({ key: revoked.key }),
      await list({ key: expired.key }),
      await list({ key: live.key }),
      await list(bearer(`Basic ${Buffer.from(`${key}:`).toString('base64')}`)),
      await list(bearer(key)),
      await list(bearer(`Bearer ${key} ${key}`)),
      await list(bearer(`Bearer ${key}, Bearer ${key}`)),
      await shop.ask('GET', `/v1/providers?api_key=${key}`, { key: null }),
      await list({ key: null, headers: { 'x-api-key': key } }),
    ]
    for (const answer of answers) {
      expectProblem(answer, 401, 'invalid_api_key')
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(shown(answer)).toEqual(shown(answers[0]!))
    }
  })

  test('is refused within a second of its revocation, though it was believed a moment before', async () => {
    const { key, keyId } = await shop.addKey(shop.tenant)
    expect((await list({ key })).status).toBe(200)
    await endKey(shop.db, keyId, 'revoked_at')
    now += 1001
    expectProblem(await list({ key }), 401, 'invalid_api_key')
  })

  test('is refused as junk without a query', async () => {
    const idle = await openShop({
      deps: ({ db }) => ({ db: { ...db, query: () => Promise.reject(new Error('queried')) } }),
    })
    try {
      expectProblem(await idle.ask('GET', '/v1/providers', { key: 'pinrail_test_junk' }), 401, 'invalid_api_key')
    } finally {
      await idle.close()
    }
  })
})

test('a key without the scope is told the scope that it lacks', async () => {
  const { key } = await shop.addKey(
    shop.tenant,
    API_SCOPES.filter((scope) => scope !== 'payments:write'),
  )
  const answer = await shop.ask('POST', '/v1/payments', { key, body: { amount: 10, currency: 'EUR' } })
  expectProblem(answer, 403, 'insufficient_scope')
  expect(answer.body).toMatchObject({
    required_scope: 'payments:write',
    detail: expect.stringContaining('payments:write'),
  })
})

describe('what belongs to somebody else', () => {
  test('is answered as what does not exist: another merchant’s payment', async () => {
    const { id } = (await shop.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })).body
    const other = await shop.addMerchant()
    const nobody = String(id).replace(/.{4}$/, (tail) => (tail === '0000' ? '0001' : '0000'))
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      const absent = await shop.ask(method, `/v1/payments/${nobody}${path}`)
      expectProblem(absent, 404, 'resource_missing')
      const answer = await shop.ask(method, `/v1/payments/${String(id)}${path}`, { key: other.key })
      const expected = { ...shown(absent), text: shown(absent).text.replace(nobody, String(id)) }
      expect(shown(answer)).toEqual(expected)
    }
    expect((await shop.ask('GET', `/v1/payments/${String(id)}`)).body['status']).toBe('created')
  })
})

/** Well formed, with a right checksum, and in no table: of another shop. */
async function unknownKey(): Promise<string> {
  const { createApiKey } = await import('../../../src/api/auth/api-key.ts')
  return createApiKey(false, 'another pepper').text
}

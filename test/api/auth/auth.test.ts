import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import express from 'express'
import { z } from 'zod'
import { PEPPER } from '../../../scripts/test/environment.ts'
import { aLink } from '../../../scripts/test/new-link.ts'
import { until } from '../../../scripts/test/until.ts'
import type { ApiDeps } from '../../../src/api/app.ts'
import { API_SCOPES, createApiKey, parseApiKey } from '../../../src/api/auth/api-key.ts'
import { createAuthenticate } from '../../../src/api/auth/auth.ts'
import { createTurns } from '../../../src/api/limits/turns.ts'
import { defineOperation, type Operation } from '../../../src/api/operation.ts'
import { mountOperations } from '../../../src/api/route.ts'
import { OPERATIONS } from '../../../src/api/routes/v1/index.ts'
import type { Queryable, Session } from '../../../src/db/db.ts'
import { insertLink } from '../../../src/db/links/links.ts'
import { insertApiKey } from '../../../src/db/merchants/api-keys.ts'
import { insertChannel } from '../../../src/db/notifications/channels.ts'
import { moveIntoPast } from '../../../src/db/test-mode/clock.ts'
import { newId } from '../../../src/ids.ts'
import { plant } from '../../deps/two-modes.ts'
import { withDiagnosis } from '../support/diagnosis.ts'
import { insertOwnAddresses } from '../support/own-addresses.ts'
import { plantRefund } from '../support/refunds.ts'
import { plantRequest, type Row, rowsFor, type SeededApi, seedApi } from '../support/seeded-api.ts'
import {
  type Answer,
  type AskOptions,
  endKey,
  expectProblem,
  type Merchant,
  openTestApi,
  type TestApi,
} from '../support/test-api.ts'
import { twoHeaders } from '../support/two-headers.ts'

let now = Date.now()
let testApi: TestApi
let composed: ApiDeps
beforeAll(async () => {
  testApi = await openTestApi({
    deps: (deps) => {
      composed = deps
      return { clock: () => now, deliveries: withDiagnosis(deps) }
    },
  })
})
afterAll(() => testApi?.close())

describe('The routes of API keys', () => {
  const PATH = '/v1/api_keys'
  const create = (body: unknown, options: { key?: string; headers?: Record<string, string> } = {}) =>
    testApi.ask('POST', PATH, { body, ...options })
  const getId = (answer: Answer): string => String(answer.body['id'])
  const getKey = (answer: Answer): string => String(answer.body['key'])
  const works = async (key: string): Promise<number> => (await testApi.ask('GET', '/v1/providers', { key })).status

  describe('an API key', () => {
    test('a new key is shown once, is well formed, has the scopes that were asked for, and works', async () => {
      const made = await create({ name: 'Server', scopes: ['payments:read', 'payments:read'] })
      expect(made.status).toBe(201)
      expect(parseApiKey(getKey(made))).toMatchObject({ livemode: false })
      expect(made.body).toMatchObject({
        name: 'Server',
        scopes: ['payments:read'],
        last_used_at: null,
        allowed_ips: null,
      })
      expect(getKey(made).endsWith(String(made.body['last4']))).toBe(true)
      expect(await works(getKey(made))).toBe(200)
      const listed = await testApi.ask('GET', PATH)
      expect(listed.text).toContain(getId(made))
      expect(listed.text).not.toContain(getKey(made))
      const { rows } = await testApi.db.query('select * from api_key')
      expect(JSON.stringify(rows)).not.toContain(getKey(made))
    })

    test('a new key can take payments unless it asks for more scopes', async () => {
      expect((await create({ name: 'plain' })).body['scopes']).toEqual(['payments:read', 'payments:write'])
    })

    test('a key cannot give scopes that it lacks, neither to a new key nor by rotating another one', async () => {
      const weak = await testApi.addKey(testApi.tenant, ['keys:write'])
      const strong = await create({ name: 'strong', scopes: ['payments:write'] })
      const refused = await create({ name: 'x', scopes: ['payments:write'] }, { key: weak.key })
      expectProblem(refused, 403, 'insufficient_scope')
      expect(refused.body['required_scope']).toBe('payments:write')
      const rotated = await testApi.ask('POST', `${PATH}/${getId(strong)}/rotate`, { body: {}, key: weak.key })
      expectProblem(rotated, 403, 'insufficient_scope')
      expect(await works(getKey(strong))).toBe(403)
    })

    test('a key makes no key that works from more addresses, or for longer, than itself', async () => {
      const scopes = ['payments:read', 'keys:write']
      const limits = { allowed_ips: ['127.0.0.0/8', '2001:db8::/32'], expires_in: 3600 }
      const maker = await create({ name: 'limited', scopes, ...limits })
      const { allowed_ips, expires_at } = maker.body
      const make = (more: object, headers = {}) =>
        create({ name: 'made', scopes: ['payments:read'], ...more }, { key: getKey(maker), headers })
      expect((await make({})).body).toMatchObject({ allowed_ips, expires_at })
      const less = { allowed_ips: ['127.0.0.1', '2001:db8:7::/48'], expires_in: 60 }
      expect((await make(less)).body).toMatchObject({ allowed_ips: less.allowed_ips })
      for (const more of [
        { allowed_ips: ['0.0.0.0/0'] },
        { allowed_ips: ['126.0.0.0/7'] },
        { allowed_ips: ['127.0.0.1', '192.0.2.7'] },
        { allowed_ips: ['2001:db8::/31'] },
        { allowed_ips: ['::/0'] },
        { expires_in: 3601 },
      ]) {
        const refused = await make(more)
        expectProblem(refused, 400, 'validation_failed')
        expect(refused.body['param']).toBe(Object.keys(more)[0])
      }
      // Neither rotating a key with those scopes nor repeating another key's request gives them.
      const headers = { 'idempotency-key': 'make-free' }
      const free = await create({ name: 'made', scopes: ['payments:read'] }, { headers })
      expect(free.body).toMatchObject({ allowed_ips: null, expires_at: null })
      const rotate = (id: string) => testApi.ask('POST', `${PATH}/${id}/rotate`, { body: {}, key: getKey(maker) })
      expectProblem(await rotate(getId(free)), 409, 'not_possible_now')
      expectProblem(await make({}, headers), 422, 'idempotency_key_reused')
      expect((await rotate(getId(maker))).body).toMatchObject({ allowed_ips, expires_at })
    })

    test('a rotated key is not shown again to a key that could not have made it', async () => {
      const strong = await create({ name: 'strong', scopes: ['settings:write'] })
      const rotation = { body: {}, headers: { 'idempotency-key': 'rotate-strong' } }
      const made = await testApi.ask('POST', `${PATH}/${getId(strong)}/rotate`, rotation)
      const weak = await testApi.addKey(testApi.tenant, ['keys:write'])
      const refused = await testApi.ask('POST', `${PATH}/${getId(strong)}/rotate`, { ...rotation, key: weak.key })
      expectProblem(refused, 403, 'insufficient_scope')
      expect((await testApi.ask('POST', `${PATH}/${getId(strong)}/rotate`, rotation)).text).toBe(made.text)
    })

    test('a key works only from its allowed addresses', async () => {
      const inside = await create({ name: 'in', allowed_ips: ['127.0.0.0/8'] })
      const outside = await create({ name: 'out', allowed_ips: ['192.0.2.7', '2001:db8::/32'] })
      expect(await works(getKey(inside))).toBe(200)
      expectProblem(await testApi.ask('GET', '/v1/providers', { key: getKey(outside) }), 403, 'ip_not_allowed')
      for (const address of ['localhost', '1.2.3', '10.0.0.0/33', '::1/129', '', '1.2.3.4/', 'fe80::1%eth0'])
        expectProblem(await create({ name: 'x', allowed_ips: [address] }), 400, 'validation_failed')
    })

    test('a key records to the minute when it was used', async () => {
      const made = await create({ name: 'used' })
      await works(getKey(made))
      const read = async () => (await testApi.ask('GET', PATH)).body['data'] as Record<string, unknown>[]
      const used = (keys: Record<string, unknown>[]) => keys.find(({ id }) => id === getId(made))?.['last_used_at']
      expect(Date.parse(String(used(await until(read, (keys) => used(keys) !== null))))).toBeGreaterThan(now - 60_000)
    })

    test('a key stops working when it expires', async () => {
      const made = await create({ name: 'short', expires_in: 60 })
      expect(await works(getKey(made))).toBe(200)
      now += 61_000
      expect(await works(getKey(made))).toBe(401)
    })

    test('a rotated key works with its successor during the overlap, and not after', async () => {
      const old = await create({ name: 'turn', scopes: ['payments:read'] })
      const next = await testApi.ask('POST', `${PATH}/${getId(old)}/rotate`, { body: { overlap: 60 } })
      expect(next.body).toMatchObject({ name: 'turn', scopes: ['payments:read'], expires_at: null })
      expect([await works(getKey(old)), await works(getKey(next))]).toEqual([200, 200])
      now += 61_000
      expect([await works(getKey(old)), await works(getKey(next))]).toEqual([401, 200])
      const again = await testApi.ask('POST', `${PATH}/${getId(next)}/rotate`, { body: { overlap: 0 } })
      now += 1001
      expect([await works(getKey(next)), await works(getKey(again))]).toEqual([401, 200])
    })

    test('a rotated key passes its expiry to its successor, and an expired key has no successor', async () => {
      const old = await create({ name: 'guest', expires_in: 3600 })
      const next = await testApi.ask('POST', `${PATH}/${getId(old)}/rotate`, { body: { overlap: 0 } })
      expect(next.body['expires_at']).toBe(old.body['expires_at'])
      now += 3_601_000
      expect(await works(getKey(next))).toBe(401)
      expectProblem(await testApi.ask('POST', `${PATH}/${getId(next)}/rotate`, { body: {} }), 409, 'not_possible_now')
    })

    test('a key’s id with a wrong secret does not count as a use of the key', async () => {
      const { text, ...key } = createApiKey(false, PEPPER)
      await insertApiKey(testApi.db, testApi.tenant, {
        ...key,
        name: 'guessed',
        digest: Buffer.alloc(32, 1),
        scopes: API_SCOPES,
      })
      expect(await works(text)).toBe(401)
      const { rows } = await testApi.db.query('select last_used_at from api_key where id = $1', [key.id])
      expect(rows).toEqual([{ last_used_at: null }])
    })

    test('a revoked key stops working within a second, stays in the list, and cannot be rotated', async () => {
      const made = await create({ name: 'gone' })
      expect(await works(getKey(made))).toBe(200)
      const revoked = await testApi.ask('DELETE', `${PATH}/${getId(made)}`)
      expect(revoked.body['revoked_at']).not.toBeNull()
      now += 1001
      expect(await works(getKey(made))).toBe(401)
      expect((await testApi.ask('DELETE', `${PATH}/${getId(made)}`)).body['revoked_at']).toBe(
        revoked.body['revoked_at'],
      )
      expectProblem(await testApi.ask('POST', `${PATH}/${getId(made)}/rotate`, { body: {} }), 409, 'not_possible_now')
    })

    test('a repeated request with its Idempotency-Key returns the same API key', async () => {
      const headers = { 'idempotency-key': 'key-1' }
      const first = await create({ name: 'once' }, { headers })
      expect((await create({ name: 'once' }, { headers })).text).toBe(first.text)
      expectProblem(await create({ name: 'twice' }, { headers }), 422, 'idempotency_key_reused')
    })

    test('an account has at most twenty-five keys, however many requests arrive at once', async () => {
      const other = await testApi.addMerchant()
      const answers = await Promise.all(Array.from({ length: 30 }, () => create({ name: 'x' }, { key: other.key })))
      const refused = answers.filter(({ status }) => status !== 201)
      for (const answer of refused) expectProblem(answer, 409, 'limit_reached')
      // The key that sends the request is one of the twenty-five.
      expect(answers.length - refused.length).toBe(24)
      expect((await testApi.ask('GET', `${PATH}?limit=100`, { key: other.key })).body['data']).toHaveLength(25)
    })

    test('a key with an unknown scope is refused', async () => {
      expectProblem(await create({ name: 'x', scopes: ['payments:*'] }), 400, 'validation_failed')
      expect(API_SCOPES).not.toContain('payments:*')
    })
  })

  describe('the list of keys', () => {
    test('the list of keys is read page by page, forwards and back', async () => {
      const other = await testApi.addMerchant()
      for (const name of ['a', 'b', 'c', 'd']) await create({ name }, { key: other.key })
      const page = async (query: string) => (await testApi.ask('GET', `${PATH}?${query}`, { key: other.key })).body
      const names = (body: Record<string, unknown>) => (body['data'] as { name: string }[]).map(({ name }) => name)
      const first = await page('limit=2')
      expect([names(first), first['has_more']]).toEqual([['d', 'c'], true])
      const last = (first['data'] as { id: string }[])[1]!.id
      const second = await page(`limit=2&starting_after=${last}`)
      expect([names(second), second['has_more']]).toEqual([['b', 'a'], true])
      const from = (second['data'] as { id: string }[])[0]!.id
      expect(names(await page(`limit=2&ending_before=${from}`))).toEqual(['d', 'c'])
      expectProblem(
        await testApi.ask('GET', `${PATH}?starting_after=key_0`, { key: other.key }),
        400,
        'validation_failed',
      )
    })
  })

  describe('the wallet', () => {
    const put = (address: unknown) => testApi.ask('PUT', '/v1/settings/wallet', { body: { address } })

    test('a wallet is set in the case of EIP-55, and existing payments keep their wallet', async () => {
      const { body: payment } = await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })
      const before = await testApi.ask('GET', '/v1/settings/wallet')
      const lower = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'
      const set = await put(lower)
      expect(set.body).toMatchObject({
        object: 'wallet',
        address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        livemode: false,
      })
      const read = await testApi.ask('GET', `/v1/payments/${String(payment['id'])}`)
      expect((read.body['settlement'] as Record<string, unknown>)['destination']).toBe(before.body['address'])
    })

    test.each([
      ['a wrong checksum', '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'wallet_checksum'],
      ['39 digits', `0x${'1'.repeat(39)}`, 'wallet_invalid'],
      ['a private key', `0x${'1'.repeat(64)}`, 'wallet_invalid'],
      ['a name', 'shop.eth', 'wallet_invalid'],
      ['the prefix of a network', `matic:0x${'1'.repeat(40)}`, 'wallet_invalid'],
      ['zero', `0x${'0'.repeat(40)}`, 'wallet_forbidden'],
      ['the dead address', '0x000000000000000000000000000000000000dEaD', 'wallet_forbidden'],
      ['the token itself', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'wallet_forbidden'],
      ['Multicall3', '0xcA11bde05977b3631167028862bE2a173976CA11', 'wallet_forbidden'],
      ['Permit2', '0x000000000022d473030f116ddee9f6b43ac78ba3', 'wallet_forbidden'],
      ['the contract of another token', '0xc2132d05d31c914a87c6611c10748aeb04b58e8f', 'wallet_forbidden'],
      ['a precompiled contract', `0x${'0'.repeat(39)}1`, 'wallet_forbidden'],
      ['the last of them', `0x${'0'.repeat(36)}ffff`, 'wallet_forbidden'],
    ])('a wallet address is refused: %s', async (_name, address, code) => {
      const answer = await put(address)
      expectProblem(answer, 400, 'validation_failed')
      expect((answer.body['errors'] as { code: string }[])[0]!.code).toBe(code)
    })

    test('a wallet cannot be a relayer, a treasury of any time or a deposit address, in any spelling', async () => {
      const own = await insertOwnAddresses(testApi)
      // Row-level security hides the payment from this merchant's request.
      const other = await testApi.asNewMerchant()
      for (const address of own) {
        const answer = await other.ask('PUT', '/v1/settings/wallet', { body: { address } })
        expectProblem(answer, 400, 'validation_failed')
        expect(answer.text).toContain('this one belongs to the platform')
      }
    })
  })
})

describe('Authentication by a key', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  }, 60_000)

  const bearer = (text: string) => ({ key: null, headers: { authorization: text } })
  const list = (options: Parameters<TestApi['ask']>[2]) => testApi.ask('GET', '/v1/providers', options)
  /** The response as a client reads it, except for the request's own id. */
  const shown = (answer: { status: number; text: string; headers: Headers }) => ({
    status: answer.status,
    text: answer.text.replace(/req_[0-9a-z]+/, 'req_'),
    headers: [...answer.headers].filter(([name]) => !['date', 'request-id', 'ratelimit'].includes(name)),
  })

  describe('a key that must not be used', () => {
    test('an unusable key gets the same response for every reason', async () => {
      const revoked = await testApi.addKey(testApi.tenant)
      const expired = await testApi.addKey(testApi.tenant)
      const live = await testApi.addKey({ ...testApi.tenant, livemode: true })
      await endKey(testApi.db, revoked.keyId, 'revoked_at')
      await endKey(testApi.db, expired.keyId, 'expires_at')
      const { key } = testApi
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
        await testApi.ask('GET', `/v1/providers?api_key=${key}`, { key: null }),
        await list({ key: null, headers: { 'x-api-key': key } }),
      ]
      for (const answer of answers) {
        expectProblem(answer, 401, 'invalid_api_key')
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        expect(shown(answer)).toEqual(shown(answers[0]!))
      }
    })

    test('a revoked key is refused within a second, although it was cached as valid', async () => {
      const { key, keyId } = await testApi.addKey(testApi.tenant)
      expect((await list({ key })).status).toBe(200)
      await endKey(testApi.db, keyId, 'revoked_at')
      now += 1001
      expectProblem(await list({ key }), 401, 'invalid_api_key')
    })

    test('a malformed key is refused without a query', async () => {
      const idle = await openTestApi({
        deps: ({ db }) => ({ db: { ...db, query: () => Promise.reject(new Error('queried')) } }),
      })
      try {
        expectProblem(await idle.ask('GET', '/v1/providers', { key: 'pinrail_test_junk' }), 401, 'invalid_api_key')
      } finally {
        await idle.close()
      }
    })
  })

  test('a key without a required scope gets a response that names the missing scope', async () => {
    const { key } = await testApi.addKey(
      testApi.tenant,
      API_SCOPES.filter((scope) => scope !== 'payments:write'),
    )
    const answer = await testApi.ask('POST', '/v1/payments', { key, body: { amount: 10, currency: 'EUR' } })
    expectProblem(answer, 403, 'insufficient_scope')
    expect(answer.body).toMatchObject({
      required_scope: 'payments:write',
      detail: expect.stringContaining('payments:write'),
    })
  })

  describe('Objects of another merchant', () => {
    test('another merchant’s payment gets the same response as an unknown payment', async () => {
      const { id } = (await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })).body
      const other = await testApi.addMerchant()
      const nobody = String(id).replace(/.{4}$/, (tail) => (tail === '0000' ? '0001' : '0000'))
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/cancel'],
      ] as const) {
        const absent = await testApi.ask(method, `/v1/payments/${nobody}${path}`)
        expectProblem(absent, 404, 'resource_missing')
        const answer = await testApi.ask(method, `/v1/payments/${String(id)}${path}`, { key: other.key })
        const expected = { ...shown(absent), text: shown(absent).text.replace(nobody, String(id)) }
        expect(shown(answer)).toEqual(expected)
      }
      expect((await testApi.ask('GET', `/v1/payments/${String(id)}`)).body['status']).toBe('created')
    })
  })

  /** Well formed, with a valid checksum, and in no table: it belongs to another merchant. */
  async function unknownKey(): Promise<string> {
    const { createApiKey } = await import('../../../src/api/auth/api-key.ts')
    return createApiKey(false, 'another pepper').text
  }
})

describe('Live mode', () => {
  let live: TestApi
  beforeAll(async () => {
    live = await openTestApi({ mode: 'live' })
  })
  afterAll(() => live?.close())

  test('in live mode the routes that act for a partner or skip time answer as for an unknown payment', async () => {
    const made = await live.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
    const id = String(made.body['id'])
    const row = async () => (await live.db.query('select * from payment where id = $1', [id])).rows
    const before = await row()
    expect(before).toHaveLength(1)
    for (const [act, body] of [
      ['simulate', { action: 'pay' }],
      ['skip_time', { seconds: 60 }],
    ] as const) {
      const answer = await live.ask('POST', `/v1/test/payments/${id}/${act}`, { body })
      expect([answer.status, answer.body['code']]).toEqual([404, 'resource_missing'])
    }
    // A request that bypasses the route is refused too.
    await live.db.transaction((tx) => moveIntoPast(tx, { paymentId: id, seconds: 60 }))
    expect(await row()).toEqual(before)
  })

  test('in live mode no payment, link or changed link has a return URL on a local host', async () => {
    const link = { title: 'Box', amount: 64, currency: 'EUR' }
    const made = await live.ask('POST', '/v1/payment_links', { body: link })
    expect(made.status).toBe(201)
    const at = `/v1/payment_links/${String(made.body['id'])}`
    const local = 'http://localhost:3000/thanks'
    for (const [method, path, body, param] of [
      ['POST', '/v1/payments', { amount: 5, currency: 'EUR', success_url: local }, 'success_url'],
      ['POST', '/v1/payments', { amount: 5, currency: 'EUR', cancel_url: local }, 'cancel_url'],
      ['POST', '/v1/payment_links', { ...link, success_url: local }, 'success_url'],
      ['PATCH', at, { success_url: local }, 'success_url'],
    ] as const) {
      const answer = await live.ask(method, path, { body })
      expectProblem(answer, 400, 'validation_failed')
      expect([method, path, answer.body['param']]).toEqual([method, path, param])
    }
    expect((await live.ask('GET', at)).body['success_url']).toBeNull()
  })

  test('in live mode only a person makes keys, sets the wallet, accepts disputes and changes endpoints: the refusal of a key links to the page', async () => {
    const answers = [
      await live.ask('POST', '/v1/api_keys', { body: { name: 'x' } }),
      await live.ask('POST', `/v1/api_keys/key_${live.keyId}/rotate`, { body: {} }),
      await live.ask('PUT', '/v1/settings/wallet', { body: { address: `0x${'1'.repeat(40)}` } }),
      await live.ask('POST', '/v1/disputes/dp_01k9z3v7t8e4a9v2b6q5r0c1d2/accept'),
    ]
    const endpoint = '/v1/webhook_endpoints/we_01k9z3v7t8e4a9v2b6q5r0c1d2'
    for (const [method, path, body] of [
      ['PATCH', endpoint, { enabled: false }],
      ['DELETE', endpoint, undefined],
      ['POST', `${endpoint}/rotate_secret`, {}],
    ] as const)
      answers.push(await live.ask(method, path, { ...(body !== undefined && { body }) }))
    const { keyId } = await live.addKey(live.tenant)
    // This request only removes permissions.
    const revoked = await live.ask('DELETE', `/v1/api_keys/key_${keyId}`)
    for (const answer of answers) expectProblem(answer, 403, 'step_up_required')
    expect(answers.map(({ body }) => body['page'])).toEqual([
      'https://pay.pinrail.example/dashboard/keys',
      'https://pay.pinrail.example/dashboard/keys',
      'https://pay.pinrail.example/dashboard/wallet',
      'https://pay.pinrail.example/dashboard/disputes',
      ...[1, 2, 3].map(() => 'https://pay.pinrail.example/dashboard/webhooks'),
    ])
    expect([revoked.status, revoked.body['revoked_at'] === null]).toEqual([200, false])
  })
})

describe('The authentication matrix', () => {
  let victim: SeededApi
  let rows: Readonly<Record<string, Row>>
  let attempts = 0
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    victim = await seedApi(testApi)
    rows = rowsFor(victim)
  }, 60_000)

  const authorization = (text: string): AskOptions => ({ key: null, headers: { authorization: text } })

  /** Invalid credentials. */
  async function burglars(): Promise<Record<string, AskOptions & { query?: string }>> {
    const { key } = victim.merchant
    const revoked = await testApi.addKey(victim.merchant.tenant)
    const expired = await testApi.addKey(victim.merchant.tenant)
    const live = await testApi.addKey({ ...victim.merchant.tenant, livemode: true })
    await endKey(testApi.db, revoked.keyId, 'revoked_at')
    await endKey(testApi.db, expired.keyId, 'expires_at')
    const lastOther = key.endsWith('0') ? '1' : '0'
    return {
      'no key': { key: null },
      'an empty key': { key: '' },
      garbage: { key: 'garbage' },
      'half of a key': { key: key.slice(0, 30) },
      'a key without its end': { key: key.slice(0, -1) },
      'a key with a wrong checksum': { key: `${key.slice(0, -1)}${lastOther}` },
      'a key of another shop': { key: createApiKey(false, 'another pepper').text },
      'a key that calls itself live': { key: key.replace('_test_', '_live_') },
      'a key of the other mode': { key: live.key },
      'a revoked key': { key: revoked.key },
      'an expired key': { key: expired.key },
      'the key in the query': { key: null, query: `api_key=${key}` },
      'the key as access_token': { key: null, query: `access_token=${key}` },
      'the key in a custom header': { key: null, headers: { 'x-api-key': key } },
      'the key in a cookie': { key: null, headers: { cookie: `api_key=${key}` } },
      'two keys in one header': authorization(`Bearer ${key}, Bearer ${key}`),
      'two keys after one scheme': authorization(`Bearer ${key} ${key}`),
      'another scheme': authorization(`Basic ${Buffer.from(`${key}:`).toString('base64')}`),
      'no scheme': authorization(key),
      'the id of the key': { key: victim.merchant.keyId },
    }
  }

  const withQuery = (path: string, query: string | undefined): string =>
    query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`

  async function askAs(operation: Operation, options: AskOptions & { query?: string; at?: (path: string) => string }) {
    const { path, body } = rows[operation.name]!
    attempts++
    const { query, at = (same) => same, ...rest } = options
    return testApi.ask(operation.method.toUpperCase(), withQuery(at(path), query), {
      ...(body !== undefined && { body }),
      ...rest,
    })
  }

  const THINGS = [
    'payment',
    'settled',
    'refund',
    'dispute',
    'acceptable',
    'link',
    'endpoint',
    'event',
    'apiKey',
    'channel',
    'loggedRequest',
  ] as const
  type Things = Pick<SeededApi, (typeof THINGS)[number]>

  /** The path with ids of another owner's objects. */
  function swapped(path: string, things: Things): string {
    return THINGS.reduce((changed, thing) => changed.replace(victim[thing], things[thing]), path)
  }

  /** Ids of objects that exist in one mode only, and of people, who belong to the account. */
  const listThings = (of: Things): string[] => THINGS.map((thing) => of[thing])
  const listPeople = ({ member, invited }: SeededApi): string[] => [member, invited]

  const isAmong = (ids: readonly string[], { name }: Operation): boolean =>
    ids.some((id) => rows[name]!.path.includes(id))
  const isAbout = (operation: Operation): boolean => isAmong(listThings(victim), operation)

  /** A reading of this deployment would write none for a payment of live mode. */
  async function copyDispute(from: string, paymentId: string): Promise<string> {
    const id = newId('dispute')
    await testApi.db.query(
      `insert into dispute select (jsonb_populate_record(d, jsonb_build_object('id', $1::text, 'payment_id', a.payment_id,
         'attempt_id', a.id, 'livemode', true))).*
       from dispute d, attempt a where d.id = $2 and a.payment_id = $3`,
      [id, from, paymentId],
    )
    return id
  }

  /** Writes the victim's objects of live mode into the database: no process of this system would make them. */
  async function liveTwin(): Promise<Things> {
    const tenant = { ...victim.merchant.tenant, livemode: true }
    const { id: payment, endpointId: endpoint, eventId: event } = await plant(testApi.db, tenant)
    const made = aLink({ id: newId('link') })
    await insertLink(testApi.db, tenant, made)
    const channel = newId('channel')
    await insertChannel(testApi.db, tenant, {
      id: channel,
      kind: 'slack',
      name: '#live',
      sealed: 'sealed',
      person_id: null,
      events: [],
      language: 'en',
      quiet: null,
      at: new Date().toISOString(),
    })
    const planted = await plantRefund(testApi.db, tenant)
    const [dispute, acceptable] = [
      await copyDispute(victim.dispute, planted.settled),
      await copyDispute(victim.acceptable, planted.settled),
    ]
    return {
      payment,
      ...planted,
      dispute,
      acceptable,
      link: made.id,
      endpoint,
      event,
      channel,
      loggedRequest: await plantRequest(testApi.db, tenant),
      apiKey: `key_${(await testApi.addKey(tenant)).keyId}`,
    }
  }

  async function storedAbout({
    payment,
    settled,
    refund,
    link,
    endpoint,
    event,
    apiKey,
    channel,
    loggedRequest,
    dispute,
  }: Things) {
    const found = await Promise.all([
      testApi.db.query('select * from payment where id = any($1)', [[payment, settled]]),
      testApi.db.query('select * from refund where id = $1', [refund]),
      testApi.db.query('select * from dispute where id = $1', [dispute]),
      testApi.db.query('select * from payment_link where id = $1', [link]),
      testApi.db.query('select * from webhook_endpoint where id = $1', [endpoint]),
      testApi.db.query('select * from delivery where event_id = $1', [event]),
      testApi.db.query('select * from api_key where id = $1', [apiKey.slice('key_'.length)]),
      testApi.db.query('select * from channel where id = $1', [channel]),
      testApi.db.query('select * from api_request where id = $1', [loggedRequest]),
    ])
    if (found.some(({ rowCount }) => rowCount === 0)) throw new Error('there is nothing to see')
    return JSON.stringify(found.map((result) => result.rows))
  }

  /** All rows, except for when a key was last used. */
  async function stored(): Promise<string> {
    const tables = [
      'payment',
      'payment_link',
      'refund',
      'timeline_entry',
      'outbox',
      'webhook_endpoint',
      'event',
      'delivery',
      'wallet',
      'merchant',
      'channel',
      'channel_message',
      'membership',
      'invitation',
      'audit_entry',
      'notice',
      'mail',
    ]
    const all = await Promise.all(
      [...tables, 'idempotency_key'].map(async (table) => {
        const { rows: found } = await testApi.db.query(
          `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${table} t`,
        )
        return JSON.stringify(found)
      }),
    )
    const keys = await testApi.db.query(
      'select id, scopes, revoked_at, expires_at, allowed_ips from api_key order by id',
    )
    return [...all, JSON.stringify(keys.rows)].join('\n')
  }

  test('the authentication matrix has a row for every route, and no other row', () => {
    expect(Object.keys(rows).sort()).toEqual(OPERATIONS.map(({ name }) => name).sort())
  })

  test('every route refuses a request without a valid key, and changes nothing', async () => {
    const ways = Object.entries(await burglars())
    const before = await stored()
    for (const operation of OPERATIONS)
      for (const [name, options] of ways) {
        const answer = await askAs(operation, options)
        expect([operation.name, name, answer.status]).toEqual([operation.name, name, 401])
        expectProblem(answer, 401, 'invalid_api_key')
      }
    expect(await stored()).toBe(before)
  }, 120_000)

  test('every route refuses a request with two Authorization headers', async () => {
    const { key } = victim.merchant
    const before = await stored()
    for (const operation of OPERATIONS) {
      const { path, body } = rows[operation.name]!
      attempts++
      const status = await twoHeaders(`${testApi.url}${path}`, operation.method.toUpperCase(), { key, body })
      expect([operation.name, status]).toEqual([operation.name, 401])
    }
    expect(await stored()).toBe(before)
  })

  test('every route requires its own scope, and names it', async () => {
    const before = await stored()
    const without = new Map<string, string>()
    for (const scope of API_SCOPES) {
      const others = API_SCOPES.filter((other) => other !== scope)
      without.set(scope, (await testApi.addKey(victim.merchant.tenant, others)).key)
    }
    for (const operation of OPERATIONS) {
      const answer = await askAs(operation, { key: without.get(operation.scope)! })
      expectProblem(answer, 403, 'insufficient_scope')
      expect([operation.name, answer.body['required_scope']]).toEqual([operation.name, operation.scope])
    }
    const keysAside = (text: string): string => text.split('\n').slice(0, -1).join('\n')
    expect(keysAside(await stored())).toBe(keysAside(before))
  })

  test('every route shows a merchant only its own objects, and only those of the key’s mode', async () => {
    const other = await testApi.addMerchant()
    const live = await liveTwin()
    const theirs = [...listThings(victim), ...listPeople(victim)]
    const readStored = () =>
      testApi.db.query('select status, version, updated_at from payment where id = $1', [victim.payment])
    const before = (await readStored()).rows
    const liveBefore = await storedAbout(live)
    for (const operation of OPERATIONS) {
      const answer = await askAs(operation, { key: other.key })
      const isTheirs = theirs.some((id) => rows[operation.name]!.path.includes(id))
      if (isTheirs) expect([operation.name, [403, 404].includes(answer.status)]).toEqual([operation.name, true])
      const shown = answer.text.replace(rows[operation.name]!.path.split('?')[0]!, '')
      for (const id of theirs) expect([operation.name, shown.includes(id)]).toEqual([operation.name, false])
    }
    expect((await readStored()).rows).toEqual(before)
    const lists = [
      'listPayments',
      'exportPayments',
      'listPaymentLinks',
      'listEvents',
      'listWebhookEndpoints',
      'listApiKeys',
      'listNotificationChannels',
    ]
    for (const operation of OPERATIONS.filter(({ name }) => lists.includes(name))) {
      const { text } = await askAs(operation, {})
      for (const id of Object.values(live)) expect([operation.name, text.includes(id)]).toEqual([operation.name, false])
    }
    for (const operation of OPERATIONS.filter((one) => isAbout(one))) {
      const answer = await askAs(operation, { at: (path) => swapped(path, live) })
      expect([operation.name, answer.status]).toEqual([operation.name, 404])
    }
    expect(await storedAbout(live)).toBe(liveBefore)
  })

  test('every route returns the same bytes for an object of another merchant, of the other mode, and an unknown one', async () => {
    const other = await testApi.addMerchant()
    const live = await liveTwin()
    const theirs = [...listThings(victim), ...listPeople(victim), ...Object.values(live)]
    const absent = (text: string): string => theirs.reduce((all, id) => all.replaceAll(id, nobodys(id)), text)
    const about = OPERATIONS.filter((operation) => isAmong(theirs, operation))
    expect(about.length).toBeGreaterThan(20)
    for (const operation of about)
      for (const { key, of } of [
        { key: other.key, of: victim },
        // People belong to the account in both modes.
        ...(isAbout(operation) ? [{ key: victim.merchant.key, of: live }] : []),
      ]) {
        const { body, path: itsPath } = rows[operation.name]!
        const path = swapped(itsPath, of)
        const ask = async (at: string): Promise<string> => {
          const answer = await testApi.ask(operation.method.toUpperCase(), at, {
            key,
            ...(body !== undefined && { body }),
          })
          return `${answer.status} ${absent(answer.text).replace(/"request_id":"[^"]*"/, '')}`
        }
        expect([operation.name, await ask(path)]).toEqual([operation.name, await ask(absent(path))])
      }
  })

  test('the authentication matrix makes more than 1,000 attempts', () => {
    expect(attempts).toBeGreaterThan(1000)
  })

  test('every route works with a valid key, so that the refusals prove something', async () => {
    const LAST = [
      'deleteWebhookEndpoint',
      'revokeApiKey',
      'deleteNotificationChannel',
      'removeMember',
      'withdrawInvitation',
    ]
    const LATE = ['cancelPayment', 'simulatePayment', 'cancelRefund', ...LAST]
    for (const operation of OPERATIONS.filter(({ name }) => !LATE.includes(name))) {
      const answer = await askAs(operation, {})
      expect([operation.name, Math.floor(answer.status / 100)]).toEqual([operation.name, 2])
    }
    for (const last of LAST) {
      const answer = await askAs(OPERATIONS.find(({ name }) => name === last)!, {})
      expect([last, answer.status]).toEqual([last, 200])
    }
  }, 60_000)

  /** A well-formed id that no object has. */
  function nobodys(id: string): string {
    return id.includes('@') ? `000000${id.slice(6)}` : `${id.slice(0, -6)}000000`
  }
})

describe('Row-level security between merchants', () => {
  /**
   * Row-level security as a request meets it: routes whose query forgets to filter by owner, mounted as every other
   * route is. They show only what row-level security lets through.
   */

  const TABLES = [
    'payment',
    'payment_link',
    'timeline_entry',
    'wallet',
    'api_key',
    'event',
    'delivery',
    'webhook_endpoint',
    'channel',
    'audit_entry',
    'merchant',
  ]

  type Careless = (db: Session, table: string) => Promise<unknown>

  const careless = (name: string, path: string, read: Careless) =>
    defineOperation({
      name,
      method: 'get',
      path,
      tag: 'Payments',
      summary: name,
      scope: 'payments:read',
      params: z.object({ table: z.string() }),
      answers: { 200: z.unknown() },
      handle: async ({ db, params }) => ({ status: 200, body: await read(db, params.table) }),
    })

  const readAll = async (db: Queryable, table: string) => (await db.query(`select * from ${table}`)).rows
  const CARELESS = [
    careless('readAll', '/careless/{table}', readAll),
    careless('readAllInTransaction', '/careless-transaction/{table}', (db, table) =>
      db.transaction((tx) => readAll(tx, table)),
    ),
  ]

  let mine: SeededApi
  let theirs: SeededApi
  let newcomer: Merchant
  let read: (path: string, as: Merchant) => Promise<string>
  let close: () => Promise<void>
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    mine = await seedApi(testApi)
    theirs = await seedApi(testApi, await testApi.addMerchant())
    await plant(testApi.db, { ...mine.merchant.tenant, livemode: true })
    newcomer = await testApi.addMerchant({ wallet: null })
    const app = express()
    const { db, limits } = composed
    mountOperations(app, CARELESS, { db, limits, turns: createTurns(), authenticate: createAuthenticate(composed) })
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    read = async (path, { key }) => {
      const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
      return answer.text()
    }
    close = async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }, 60_000)
  afterAll(() => close?.())

  describe.each(['careless', 'careless-transaction'])('a route that selects without a condition (%s)', (path) => {
    test.each(TABLES)(
      'a route without a condition shows of %s only the rows of its caller in its mode',
      async (table) => {
        const [seen, all] = [
          JSON.parse(await read(`/${path}/${table}`, mine.merchant)) as object[],
          await everything(table),
        ]
        expect(seen.length).toBeGreaterThan(0)
        expect(seen.length).toBeLessThan(all.length)
        expect(JSON.stringify(seen)).not.toContain(theirs.merchant.tenant.merchantId)
        for (const id of [theirs.payment, theirs.link, theirs.endpoint, theirs.event, theirs.apiKey.slice(4)])
          expect(JSON.stringify(seen)).not.toContain(id)
        expect(JSON.stringify(seen)).not.toContain('"livemode":true')
      },
    )

    test('a route without a condition shows no rows to a merchant that has none', async () => {
      for (const table of [
        'payment',
        'payment_link',
        'timeline_entry',
        'wallet',
        'event',
        'delivery',
        'webhook_endpoint',
      ])
        expect([table, await read(`/${path}/${table}`, newcomer)]).toEqual([table, '[]'])
    })
  })

  /** All existing rows, as the owner of the tables reads them. */
  async function everything(table: string): Promise<unknown[]> {
    return (await testApi.db.query(`select * from ${table}`)).rows
  }
})

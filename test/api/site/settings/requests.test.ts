import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { until } from '../../../../scripts/test/until.ts'
import { type ApiRequest, insertRequests } from '../../../../src/db/merchants/requests.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { openAccount } from '../account.ts'

let shop: Shop
let noted: ApiRequest[] = []
let ahead = 0
beforeAll(async () => {
  shop = await openShop({
    deps: () => ({ onRequest: (request) => void noted.push(request), clock: () => Date.now() + ahead }),
  })
})
afterAll(() => shop?.close())

/** Writes what was noted, as the process does every second. */
async function written(): Promise<ApiRequest[]> {
  const batch = noted
  noted = []
  await insertRequests(shop.db, batch)
  // As after a lost answer: nothing is there twice.
  await insertRequests(shop.db, batch)
  return batch
}

const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const rowsIn = (html: string): string[] =>
  [...html.matchAll(/class="row-link"[^>]*><code><b>(\w+)<\/b> ([^<]*)/g)].map(
    ([, method, path]) => `${method} ${path}`,
  )

test('each call with a key stands in the log, newest first, and is found by its id, path, key and by its error', async () => {
  const { owner, key, keyId, pay } = await openAccount(shop, 'log@shop.example')
  const id = await pay({ amount: 10, currency: 'EUR' })
  await shop.ask('GET', `/v1/payments/${id}`, { key })
  const wrong = await shop.ask('POST', '/v1/payments', { key, body: { amount: '12.345', currency: 'EUR' } })
  await written()
  const { html } = await owner.get('/dashboard/requests')
  expect(rowsIn(html)).toEqual(['POST /v1/payments', `GET /v1/payments/${id}`, 'POST /v1/payments'])
  for (const text of [String(wrong.body['request_id']), '"amount": "12.345"', String(wrong.body['code']), 'Errors 1'])
    expect(textOf(html).replaceAll('&quot;', '"')).toContain(text)
  const found = async (query: string): Promise<string[]> =>
    rowsIn((await owner.get(`/dashboard/requests?${query}`)).html)
  expect(await found('show=errors')).toEqual(['POST /v1/payments'])
  expect(await found(`q=${id}`)).toEqual([`GET /v1/payments/${id}`])
  expect(await found(`q=${String(wrong.body['request_id'])}`)).toEqual(['POST /v1/payments'])
  expect(await found('q=%2Fv1%2Fpayments%2F')).toEqual([`GET /v1/payments/${id}`])
  expect(await found(`q=key_${keyId}`)).toHaveLength(3)
  expect(await found('q=No+such+key')).toEqual([])
})

test('secrets, long texts and halves of characters never reach the log, and nothing of what was only read', async () => {
  const { key, pay } = await openAccount(shop, 'secrets@shop.example')
  await pay({ amount: 10, currency: 'EUR' })
  await shop.ask('POST', '/v1/api_keys', { key, body: { name: 'more' } })
  await shop.ask('POST', '/v1/webhook_endpoints', { key, body: { url: 'https://shop.example/hooks' } })
  for (const method of ['GET', 'HEAD']) await shop.ask(method, `/v1/payments?status=created&reference=${key}`, { key })
  const chat = 'https://hooks.slack.com/services/T0001/B0001/secretOfSlack'
  const misplaced = { kind: 'slack', name: '#payments', webhook_url: [chat] }
  await shop.ask('POST', '/v1/notification_channels', { key, body: misplaced })
  // Wherever it is cut, one of the two is cut within a character.
  for (const description of ['\u{1f600}'.repeat(3000), `x${'\u{1f600}'.repeat(3000)}`])
    await shop.ask('POST', '/v1/payments', { key, body: { amount: 10, currency: 'EUR', description } })
  const batch = await written()
  expect(batch).toHaveLength(8)
  const { rows } = await shop.db.query('select * from api_request where merchant_id = $1', [batch[0]?.merchantId])
  expect(rows).toHaveLength(8)
  const text = JSON.stringify(rows)
  for (const secret of [/pinrail_(?:live|test)_/, /whsec_/, /"checkout_url\\":\\"http/, /secretOfSlack/])
    expect(text).not.toMatch(secret)
  for (const { sent, answered, path } of batch) {
    expect(Math.max(sent?.length ?? 0, answered?.length ?? 0)).toBeLessThanOrEqual(4097)
    expect(path.length).toBeLessThanOrEqual(501)
  }
  const read = batch.filter(({ method }) => method === 'GET' || method === 'HEAD')
  expect(read.map(({ answered }) => answered)).toEqual([null, null])
})

test('a key that may not do it, and one that was revoked, are in the log; a wrong secret and a stranger are not', async () => {
  const { key, tenant } = await openAccount(shop, 'refused@shop.example')
  const narrow = await shop.ask('POST', '/v1/api_keys', { key, body: { name: 'narrow', scopes: ['events:read'] } })
  const program = String(narrow.body['key'])
  await written()
  expect((await shop.ask('GET', '/v1/payments', { key: program })).status).toBe(403)
  const other = await shop.ask('POST', '/v1/api_keys', { key, body: { name: 'guessed' } })
  await shop.db.query(`update api_key set digest = decode(repeat('00', 32), 'hex') where name = 'guessed'`)
  expect((await shop.ask('GET', '/v1/payments', { key: String(other.body['key']) })).status).toBe(401)
  const keyId = String(narrow.body['id']).slice('key_'.length)
  await shop.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
  // Keys are read again after a second.
  ahead += 2000
  expect((await shop.ask('GET', '/v1/events', { key: program })).status).toBe(401)
  const last = (await written()).filter(({ status }) => status >= 400)
  expect(last.map(({ merchantId, keyId, status, code }) => ({ merchantId, keyId, status, code }))).toEqual([
    { merchantId: tenant.merchantId, keyId, status: 403, code: 'insufficient_scope' },
    { merchantId: tenant.merchantId, keyId, status: 401, code: 'invalid_api_key' },
  ])
})

test('an answer waits for no statement of the log, and the log for no answer', async () => {
  const { key } = await openAccount(shop, 'apart@shop.example')
  await written()
  await shop.ask('GET', '/v1/payments', { key })
  expect(noted.map(({ path }) => path)).toEqual(['/v1/payments'])
  expect((await shop.db.query(`select 1 from api_request where id = $1`, [noted[0]?.id])).rows).toEqual([])
})

test('another account sees none of it', async () => {
  const { pay } = await openAccount(shop, 'mine@shop.example')
  await pay({ amount: 10, currency: 'EUR' })
  const [made] = await written()
  const other = await openAccount(shop, 'else@shop.example')
  expect(textOf((await other.owner.get('/dashboard/requests')).html)).toContain('No requests yet')
  expect((await other.owner.get(`/dashboard/requests?id=${made?.id}`)).status).toBe(404)
  expect((await other.owner.get(`/dashboard/requests?after=${made?.id}`)).status).toBe(404)
})

test('the process writes what it noted by itself', async () => {
  const own = await openShop()
  try {
    const answer = await own.ask('GET', '/v1/payments')
    const id = answer.headers.get('request-id')
    const read = async () => (await own.db.query('select path from api_request where id = $1', [id])).rows
    expect(await until(read, ({ length }) => length > 0)).toEqual([{ path: '/v1/payments' }])
  } finally {
    await own.close()
  }
})

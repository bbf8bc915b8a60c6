import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../../../scripts/test/until.ts'
import { many, sql } from '../../../../src/db/db.ts'
import { type ApiRequest, insertRequests } from '../../../../src/db/merchants/requests.ts'
import { CONFIRMED_MS } from '../../../../src/domain/account/session.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { onceIn, openAccount } from '../account.ts'
import { askedBy, confirmByMail, signIn, Visitor } from '../visitor.ts'

/** Milliseconds that the clock is ahead. */
let ahead = 0
let noted: ApiRequest[] = []
let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    deps: () => ({ onRequest: (request) => void noted.push(request), clock: () => Date.now() + ahead }),
  })
})
afterAll(() => shop?.close())

describe('Keys', () => {
  const NEW = '/dashboard/keys/new'
  const keyIn = (html: string): string => /value="(pinrail_(?:test|live)_\w{50})"/.exec(html)?.[1] ?? ''
  const pathsIn = (html: string): string[] =>
    [...html.matchAll(/row-link" href="(\/dashboard\/keys\/\w+)"/g)].map((match) => match[1] ?? '')
  const works = async (key: string, path = '/v1/payments'): Promise<number> =>
    (await shop.ask('GET', path, { key })).status

  test('a key is made by the form, shown once, works as far as its scopes, and is made once however often the form is sent', async () => {
    const { owner, tenant } = await openAccount(shop, 'keys@shop.example')
    const form = {
      name: 'Shop server',
      preset: 'own',
      scope: 'payments:read',
      days: '90',
      once: await onceIn(owner, NEW),
    }
    const made = await owner.submit('/dashboard/keys', form)
    const key = keyIn(made.html)
    expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect([await works(key), await works(key, '/v1/events')]).toEqual([200, 403])
    const again = await owner.submit('/dashboard/keys', form)
    expect(keyIn(again.html)).toBe(key)
    const list = (await owner.get('/dashboard/keys')).html
    expect(pathsIn(list)).toHaveLength(2)
    expect(list).toContain(`${key.slice(0, 17)}…${key.slice(-4)}`)
    expect(list).not.toContain(key)
    const log = await many(
      shop.db,
      z.object({ action: z.string(), data: z.unknown() }),
      sql`select action, data from audit_entry where merchant_id = ${tenant.merchantId} and action like '%ApiKey'`,
    )
    expect(log).toHaveLength(1)
    expect(JSON.stringify(log)).not.toContain(key.slice(-20))
  })

  test('a form that is wrong comes back filled in, with what to write, and nothing was made', async () => {
    const { owner } = await openAccount(shop, 'wrong@shop.example')
    const form = { name: 'Kasse', preset: 'sell', allowed_ips: '192.0.2.1\n203.0.113', days: '0', once: 'a' }
    const bad = await owner.submit('/dashboard/keys', form)
    expect(bad.status).toBe(400)
    for (const text of [
      '“203.0.113” is not an address. Write 203.0.113.7',
      'value="Kasse"',
      '192.0.2.1\n203.0.113</textarea>',
    ])
      expect(bad.html).toContain(text)
    const none = await owner.submit('/dashboard/keys', { ...form, allowed_ips: '', preset: 'own' })
    expect([none.status, none.html.includes('Must name at least one scope')]).toEqual([400, true])
    expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(1)
    const right = await owner.submit('/dashboard/keys', { ...form, allowed_ips: '192.0.2.1, 198.51.100.0/24' })
    expect(await works(keyIn(right.html))).toBe(403)
  })

  test('a key is rolled with an overlap, and revoked within a second', async () => {
    const { owner, key: old } = await openAccount(shop, 'roll@shop.example')
    const [path = ''] = pathsIn((await owner.get('/dashboard/keys')).html)
    const rolled = await owner.submit(`${path}/roll`, { overlap: '3600', once: await onceIn(owner, path) })
    const next = keyIn(rolled.html)
    expect([await works(old), await works(next)]).toEqual([200, 200])
    expect((await owner.get('/dashboard/keys')).html).toContain('still works for 59 min')
    expect((await owner.submit(`${path}/revoke`)).to).toBe('/dashboard/keys')
    ahead += 1001
    expect([await works(old), await works(next)]).toEqual([401, 200])
    expect((await owner.submit(`${path}/roll`, { overlap: '0', once: 'b' })).status).toBe(409)
    const [newest = ''] = pathsIn((await owner.get('/dashboard/keys')).html)
    await owner.submit(`${newest}/roll`, { overlap: '0', once: await onceIn(owner, newest) })
    ahead += 1001
    expect(await works(next)).toBe(401)
  })

  test('a person makes no key that may do more than they may, and no key makes its maker an owner', async () => {
    const { owner, tenant } = await openAccount(shop, 'boss@shop.example')
    await signIn(shop, 'dev@shop.example')
    await shop.db.query(
      `insert into membership (merchant_id, person_id, role) select $1, id, 'developer' from person where email = 'dev@shop.example'`,
      [tenant.merchantId],
    )
    const developer = await signIn(shop, 'dev@shop.example')
    const [ownersKey = ''] = pathsIn((await owner.get('/dashboard/keys')).html)
    const make = async (fields: object) =>
      developer.submit('/dashboard/keys', { name: 'Mine', days: '0', once: await onceIn(developer, NEW), ...fields })

    const key = keyIn((await make({ preset: 'all' })).html)
    expect([await works(key), await works(key, '/v1/webhook_endpoints'), await works(key, '/v1/members')]).toEqual([
      200, 200, 200,
    ])
    const people = (await shop.ask('GET', '/v1/members', { key })).body['data'] as { id: string; email: string }[]
    const self = people.find(({ email }) => email === 'dev@shop.example')
    const promoted = await shop.ask('PATCH', `/v1/members/${self?.id}`, { key, body: { role: 'owner' } })
    expect([promoted.status, promoted.body['required_scope']]).toEqual([403, 'members:write'])

    expect((await developer.get(NEW)).html).not.toContain('members:write')
    expect((await make({ preset: 'own', scope: 'members:write' })).status).toBe(400)
    // The key that it would be is one of an owner's.
    const rolled = await developer.submit(`${ownersKey}/roll`, {
      overlap: '0',
      once: await onceIn(developer, ownersKey),
    })
    expect([rolled.status, rolled.html.includes('Your role lacks the scope')]).toEqual([409, true])
  })

  test('a form that needs a confirmation is kept, and makes its key after it; nothing is made before', async () => {
    const { owner } = await openAccount(shop, 'late@shop.example')
    const once = await onceIn(owner, NEW)
    ahead += CONFIRMED_MS + 1000
    const asked = askedBy(await owner.submit('/dashboard/keys', { name: 'Till 3', preset: 'sell', days: '0', once }))
    expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(1)
    const confirmed = await confirmByMail(shop, owner, 'late@shop.example', asked)
    expect([confirmed.status, confirmed.html.includes('Till 3')]).toEqual([200, true])
    expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(2)
  })

  test('a live key is sent to a page that exists, and that comes back after signing in; there a person makes a key', async () => {
    const live = await openShop({ mode: 'live' })
    try {
      const { owner, key, tenant } = await openAccount(live, 'live@shop.example')
      const told = await live.ask('POST', '/v1/api_keys', { key, body: { name: 'x' } })
      const at = new URL(String(told.body['page'])).pathname
      const nobody = await new Visitor(live).get(at)
      expect(nobody.to).toBe(`/sign-in?to=${encodeURIComponent(at)}`)
      expect((await owner.get(at)).status).toBe(200)
      const form = { name: 'Live', preset: 'all', days: '0', once: await onceIn(owner, NEW) }
      const made = keyIn((await owner.submit('/dashboard/keys', form)).html)
      expect((await live.ask('GET', '/v1/payments', { key: made })).status).toBe(200)
      const viewer = await signIn(live, 'viewer@shop.example')
      await live.db.query(
        `insert into membership (merchant_id, person_id, role) select $1, id, 'viewer' from person where email = 'viewer@shop.example'`,
        [tenant.merchantId],
      )
      const seen = (await viewer.get(at)).html
      expect([seen.includes('Live'), seen.includes('New key')]).toEqual([true, false])
    } finally {
      await live.close()
    }
  })
})

describe('The log of requests', () => {
  beforeAll(async () => {
    shop = await shop.asNewMerchant()
    noted = []
    ahead = 0
  })

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
    [...html.matchAll(/class="row-link"[^>]*><code[^>]*><b>(\w+)<\/b> ([^<]*)/g)].map(
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
    for (const method of ['GET', 'HEAD'])
      await shop.ask(method, `/v1/payments?status=created&reference=${key}`, { key })
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

  test('the log keeps bodies of an account up to a limit a minute, and after that only lines', async () => {
    const { key } = await openAccount(shop, 'many@shop.example')
    await written()
    ahead = 120_000
    const body = { amount: 'x'.repeat(4000), currency: 'EUR' }
    for (let time = 0; time < 150; time++) await shop.ask('POST', '/v1/payments', { key, body })
    ahead = 0
    const kept = noted.splice(0)
    const size = kept.reduce((sum, { sent, answered }) => sum + (sent?.length ?? 0) + (answered?.length ?? 0), 0)
    expect([kept.length, kept.at(-1)?.sent, kept.at(-1)?.status]).toEqual([150, null, 400])
    expect(size).toBeGreaterThan(100_000)
    // Of two minutes, if one ends in between.
    expect(size).toBeLessThan(1_000_001)
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
})

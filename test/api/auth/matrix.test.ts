import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { aLink } from '../../../scripts/test/new-link.ts'
import { API_SCOPES, createApiKey } from '../../../src/api/auth/api-key.ts'
import type { Route } from '../../../src/api/route.ts'
import { type ApiRouteDeps, apiRoutes } from '../../../src/api/routes/v1/index.ts'
import { insertLink } from '../../../src/db/links/links.ts'
import { insertChannel } from '../../../src/db/notifications/channels.ts'
import { newId } from '../../../src/ids.ts'
import { plant } from '../../deps/two-modes.ts'
import { type Furnished, furnish, type Row, rowsFor } from '../support/furnished.ts'
import { type AskOptions, endKey, expectProblem, openShop, type Shop } from '../support/shop.ts'
import { twoHeaders } from '../support/two-headers.ts'

/** Every route, from the list that the router mounts. */
const ROUTES: readonly Route[] = apiRoutes({
  webhookTargets: { mode: 'test', testTargets: [] },
} as unknown as ApiRouteDeps)

let shop: Shop
let victim: Furnished
let rows: Readonly<Record<string, Row>>
let attempts = 0
beforeAll(async () => {
  shop = await openShop()
  victim = await furnish(shop)
  rows = rowsFor(victim)
}, 60_000)
afterAll(() => shop?.close())

const authorization = (text: string): AskOptions => ({ key: null, headers: { authorization: text } })

/** Ways in that must not work. */
async function burglars(): Promise<Record<string, AskOptions & { query?: string }>> {
  const { key } = victim.merchant
  const revoked = await shop.addKey(victim.merchant.tenant)
  const expired = await shop.addKey(victim.merchant.tenant)
  const live = await shop.addKey({ ...victim.merchant.tenant, livemode: true })
  await endKey(shop.db, revoked.keyId, 'revoked_at')
  await endKey(shop.db, expired.keyId, 'expires_at')
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
    'the key in a header of its own': { key: null, headers: { 'x-api-key': key } },
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

async function askAs(route: Route, options: AskOptions & { query?: string; at?: (path: string) => string }) {
  const { path, body } = rows[route.operationId]!
  attempts++
  const { query, at = (same) => same, ...rest } = options
  return shop.ask(route.method.toUpperCase(), withQuery(at(path), query), {
    ...(body !== undefined && { body }),
    ...rest,
  })
}

const THINGS = ['payment', 'link', 'endpoint', 'event', 'apiKey', 'channel'] as const
type Things = Pick<Furnished, (typeof THINGS)[number]>

/** The path with the ids of other things than the victim's. */
function swapped(path: string, things: Things): string {
  return THINGS.reduce((changed, thing) => changed.replace(victim[thing], things[thing]), path)
}

/** Ids of what is in one mode alone, and of people, who belong to the account. */
const thingsOf = (of: Things): string[] => THINGS.map((thing) => of[thing])
const peopleOf = ({ member, invited }: Furnished): string[] => [member, invited]

const isAmong = (ids: readonly string[], { operationId }: Route): boolean =>
  ids.some((id) => rows[operationId]!.path.includes(id))
const isAbout = (route: Route): boolean => isAmong(thingsOf(victim), route)

/** What the victim has in live mode, written into the database: no process of this system would make it. */
async function liveTwin(): Promise<Things> {
  const tenant = { ...victim.merchant.tenant, livemode: true }
  const { id: payment, endpointId: endpoint, eventId: event } = await plant(shop.db, tenant)
  const made = aLink({ id: newId('link') })
  await insertLink(shop.db, tenant, made)
  const channel = newId('channel')
  await insertChannel(shop.db, tenant, {
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
  return { payment, link: made.id, endpoint, event, channel, apiKey: `key_${(await shop.addKey(tenant)).keyId}` }
}

async function storedAbout({ payment, link, endpoint, event, apiKey, channel }: Things): Promise<string> {
  const found = await Promise.all([
    shop.db.query('select * from payment where id = $1', [payment]),
    shop.db.query('select * from payment_link where id = $1', [link]),
    shop.db.query('select * from webhook_endpoint where id = $1', [endpoint]),
    shop.db.query('select * from delivery where event_id = $1', [event]),
    shop.db.query('select * from api_key where id = $1', [apiKey.slice('key_'.length)]),
    shop.db.query('select * from channel where id = $1', [channel]),
  ])
  if (found.some(({ rowCount }) => rowCount === 0)) throw new Error('there is nothing to see')
  return JSON.stringify(found.map((result) => result.rows))
}

/** Everything that is stored, but for when a key was used last. */
async function stored(): Promise<string> {
  const tables = [
    'payment',
    'payment_link',
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
      const { rows: found } = await shop.db.query(
        `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${table} t`,
      )
      return JSON.stringify(found)
    }),
  )
  const keys = await shop.db.query('select id, scopes, revoked_at, expires_at, allowed_ips from api_key order by id')
  return [...all, JSON.stringify(keys.rows)].join('\n')
}

describe('the authentication matrix', () => {
  test('has a row for every route, and no other', () => {
    expect(Object.keys(rows).sort()).toEqual(ROUTES.map(({ operationId }) => operationId).sort())
  })

  test('lets nobody in without a key that is right, and changes nothing', async () => {
    const ways = Object.entries(await burglars())
    const before = await stored()
    for (const route of ROUTES)
      for (const [name, options] of ways) {
        const answer = await askAs(route, options)
        expect([route.operationId, name, answer.status]).toEqual([route.operationId, name, 401])
        expectProblem(answer, 401, 'invalid_api_key')
      }
    expect(await stored()).toBe(before)
  }, 120_000)

  test('lets nobody in with two Authorization headers', async () => {
    const { key } = victim.merchant
    const before = await stored()
    for (const route of ROUTES) {
      const { path, body } = rows[route.operationId]!
      attempts++
      const status = await twoHeaders(`${shop.url}${path}`, route.method.toUpperCase(), { key, body })
      expect([route.operationId, status]).toEqual([route.operationId, 401])
    }
    expect(await stored()).toBe(before)
  })

  test('asks every route for its own scope, by name', async () => {
    const before = await stored()
    const without = new Map<string, string>()
    for (const scope of API_SCOPES) {
      const others = API_SCOPES.filter((other) => other !== scope)
      without.set(scope, (await shop.addKey(victim.merchant.tenant, others)).key)
    }
    for (const route of ROUTES) {
      const answer = await askAs(route, { key: without.get(route.scope)! })
      expectProblem(answer, 403, 'insufficient_scope')
      expect([route.operationId, answer.body['required_scope']]).toEqual([route.operationId, route.scope])
    }
    const keysAside = (text: string): string => text.split('\n').slice(0, -1).join('\n')
    expect(keysAside(await stored())).toBe(keysAside(before))
  })

  test('shows another merchant nothing that is not theirs, and the merchant nothing of the other mode', async () => {
    const other = await shop.addMerchant()
    const live = await liveTwin()
    const theirs = [...thingsOf(victim), ...peopleOf(victim)]
    const keptOf = () =>
      shop.db.query('select status, version, updated_at from payment where id = $1', [victim.payment])
    const before = (await keptOf()).rows
    const liveBefore = await storedAbout(live)
    for (const route of ROUTES) {
      const answer = await askAs(route, { key: other.key })
      const isTheirs = theirs.some((id) => rows[route.operationId]!.path.includes(id))
      if (isTheirs) expect([route.operationId, [403, 404].includes(answer.status)]).toEqual([route.operationId, true])
      const shown = answer.text.replace(rows[route.operationId]!.path.split('?')[0]!, '')
      for (const id of theirs) expect([route.operationId, shown.includes(id)]).toEqual([route.operationId, false])
    }
    expect((await keptOf()).rows).toEqual(before)
    const lists = [
      'listPayments',
      'exportPayments',
      'listPaymentLinks',
      'listEvents',
      'listWebhookEndpoints',
      'listApiKeys',
      'listNotificationChannels',
    ]
    for (const route of ROUTES.filter(({ operationId }) => lists.includes(operationId))) {
      const { text } = await askAs(route, {})
      for (const id of Object.values(live))
        expect([route.operationId, text.includes(id)]).toEqual([route.operationId, false])
    }
    for (const route of ROUTES.filter((one) => isAbout(one))) {
      const answer = await askAs(route, { at: (path) => swapped(path, live) })
      expect([route.operationId, answer.status]).toEqual([route.operationId, 404])
    }
    expect(await storedAbout(live)).toBe(liveBefore)
  })

  test('answers the same bytes for what is another merchant’s, of the other mode, and not there at all', async () => {
    const other = await shop.addMerchant()
    const live = await liveTwin()
    const theirs = [...thingsOf(victim), ...peopleOf(victim), ...Object.values(live)]
    const absent = (text: string): string => theirs.reduce((all, id) => all.replaceAll(id, nobodys(id)), text)
    const about = ROUTES.filter((route) => isAmong(theirs, route))
    expect(about.length).toBeGreaterThan(20)
    for (const route of about)
      for (const { key, of } of [
        { key: other.key, of: victim },
        // People belong to the account in both modes.
        ...(isAbout(route) ? [{ key: victim.merchant.key, of: live }] : []),
      ]) {
        const { body, path: itsPath } = rows[route.operationId]!
        const path = swapped(itsPath, of)
        const ask = async (at: string): Promise<string> => {
          const answer = await shop.ask(route.method.toUpperCase(), at, { key, ...(body !== undefined && { body }) })
          return `${answer.status} ${absent(answer.text).replace(/"request_id":"[^"]*"/, '')}`
        }
        expect([route.operationId, await ask(path)]).toEqual([route.operationId, await ask(absent(path))])
      }
  })

  test('comes to more than 1,000 attempts', () => {
    expect(attempts).toBeGreaterThan(1000)
  })

  test('works for who has the right key, so that the refusals mean something', async () => {
    const LAST = [
      'deleteWebhookEndpoint',
      'revokeApiKey',
      'deleteNotificationChannel',
      'removeMember',
      'withdrawInvitation',
    ]
    const LATE = ['cancelPayment', 'simulatePayment', ...LAST]
    for (const route of ROUTES.filter(({ operationId }) => !LATE.includes(operationId))) {
      const answer = await askAs(route, {})
      expect([route.operationId, Math.floor(answer.status / 100)]).toEqual([route.operationId, 2])
    }
    for (const operationId of LAST) {
      const answer = await askAs(ROUTES.find((route) => route.operationId === operationId)!, {})
      expect([operationId, answer.status]).toEqual([operationId, 200])
    }
  }, 60_000)
})

/** An id of the same form that was never given to anything. */
function nobodys(id: string): string {
  return id.includes('@') ? `000000${id.slice(6)}` : `${id.slice(0, -6)}000000`
}

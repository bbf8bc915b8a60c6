import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../../src/db/db.ts'
import { CONFIRMED_MS } from '../../../../src/domain/account/session.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { onceIn, openAccount } from '../account.ts'
import { linkIn, signIn, Visitor } from '../visitor.ts'

let shop: Shop
let ahead = 0
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ clock: () => Date.now() + ahead }) })
})
afterAll(() => shop?.close())

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
  const rolled = await developer.submit(`${ownersKey}/roll`, { overlap: '0', once: await onceIn(developer, ownersKey) })
  expect([rolled.status, rolled.html.includes('Your role lacks the scope')]).toEqual([409, true])
})

test('whose confirmation is old is led through it and back; nothing was made before', async () => {
  const { owner } = await openAccount(shop, 'late@shop.example')
  const once = await onceIn(owner, NEW)
  ahead += CONFIRMED_MS + 1000
  const refused = await owner.submit('/dashboard/keys', { name: 'x', preset: 'sell', days: '0', once })
  expect(refused.to).toBe(`/dashboard/confirm?to=${encodeURIComponent(NEW)}`)
  const { to } = await owner.submit('/dashboard/confirm', { to: NEW })
  expect((await owner.get(to ?? '')).status).toBe(200)
  const { path } = await linkIn(shop, 'late@shop.example')
  const { html } = await owner.get(path)
  const target = /name="to" value="([^"]*)"/.exec(html)?.[1] ?? ''
  const back = await owner.post(path.split('?')[0] ?? '', { to: target })
  expect(back.to).toBe(NEW)
  expect((await owner.get(NEW)).html).toContain('Create key')
  expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(1)
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

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { API_SCOPES, type ApiScope } from '../../../src/api/auth/api-key.ts'
import { lockMerchant } from '../../../src/db/merchants/merchants.ts'
import { isId } from '../../../src/domain/ids.ts'
import { newId } from '../../../src/ids.ts'
import { addPerson } from '../support/furnished.ts'
import { expectProblem, type Merchant, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

type Item = Record<string, unknown>
const listed = async (path: string, { key }: Pick<Merchant, 'key'>): Promise<Item[]> =>
  (await shop.ask('GET', path, { key })).body['data'] as Item[]

test('a key invites, withdraws, changes a role and takes somebody out; the log says that it was the key', async () => {
  const merchant = await shop.addMerchant()
  const { key, keyId } = merchant
  await addPerson(shop, merchant, 'owner')
  const viewer = await addPerson(shop, merchant, 'viewer')
  const invited = await shop.ask('POST', '/v1/invitations', {
    key,
    body: { email: 'New@Shop.example', role: 'viewer' },
  })
  expect([invited.status, invited.body]).toEqual([
    201,
    { object: 'invitation', email: 'new@shop.example', role: 'viewer', expires_at: expect.any(String) },
  ])
  expect(await listed('/v1/invitations', merchant)).toEqual([invited.body])
  const { rows: mails } = await shop.db.query('select count(*)::int as n from mail')
  expect(mails).toEqual([{ n: 1 }])
  expect((await shop.ask('DELETE', '/v1/invitations/new@shop.example', { key })).status).toBe(200)
  expect(await listed('/v1/invitations', merchant)).toEqual([])
  expectProblem(await shop.ask('DELETE', '/v1/invitations/new@shop.example', { key }), 404, 'resource_missing')

  const at = `/v1/members/${viewer}`
  expect((await shop.ask('PATCH', at, { key, body: { role: 'developer' } })).body).toMatchObject({ role: 'developer' })
  const again = { email: `${viewer.slice(4)}@people.example`, role: 'viewer' }
  expectProblem(await shop.ask('POST', '/v1/invitations', { key, body: again }), 409, 'not_possible_now')
  expect((await shop.ask('DELETE', at, { key })).body).toEqual({ id: viewer, object: 'member', deleted: true })
  expect(await listed('/v1/members', merchant)).toMatchObject([{ role: 'owner' }])

  const log = await listed('/v1/audit_log', merchant)
  expect(log.map(({ actor, action }) => [actor, action])).toEqual(
    ['member.removed', 'member.role', 'invitation.withdrawn', 'member.invited'].map((action) => [
      `key_${keyId}`,
      action,
    ]),
  )
  expect(log.every(({ ip }) => ip === '127.0.0.1' || ip === '::ffff:127.0.0.1')).toBe(true)
})

test('an account keeps an owner, whoever asks', async () => {
  const merchant = await shop.addMerchant()
  const { key } = merchant
  const owner = await addPerson(shop, merchant, 'owner')
  const at = `/v1/members/${owner}`
  for (const answer of [
    await shop.ask('DELETE', at, { key }),
    await shop.ask('PATCH', at, { key, body: { role: 'viewer' } }),
  ])
    expectProblem(answer, 409, 'not_possible_now')
  expect(await listed('/v1/members', merchant)).toMatchObject([{ id: owner, role: 'owner' }])
})

describe('a key gives and takes no role whose scopes it lacks', () => {
  const without = (lacking: ApiScope): ApiScope[] => API_SCOPES.filter((scope) => scope !== lacking)
  test('nor changes an invitation to such a role', async () => {
    const merchant = await shop.addMerchant()
    const body = { email: 'boss@shop.example', role: 'owner' }
    await shop.ask('POST', '/v1/invitations', { key: merchant.key, body })
    const { key } = await shop.addKey(merchant.tenant, without('settings:write'))
    const again = await shop.ask('POST', '/v1/invitations', { key, body: { ...body, role: 'viewer' } })
    expectProblem(again, 403, 'insufficient_scope')
    expect(await listed('/v1/invitations', merchant)).toMatchObject([body])
  })

  test('nor takes such a role by giving a lesser one', async () => {
    const merchant = await shop.addMerchant()
    await addPerson(shop, merchant, 'owner')
    const there = await addPerson(shop, merchant, 'owner')
    const { key } = await shop.addKey(merchant.tenant, without('keys:write'))
    const lesser = await shop.ask('PATCH', `/v1/members/${there}`, { key, body: { role: 'viewer' } })
    expectProblem(lesser, 403, 'insufficient_scope')
    expect((await listed('/v1/members', merchant)).map(({ role }) => role)).toEqual(['owner', 'owner'])
  })

  test.each([
    ['owner', without('keys:write')],
    ['owner', without('settings:write')],
    ['developer', without('webhooks:write')],
    ['support', without('payments:write')],
    ['viewer', without('payments:read')],
  ] as const)('%s', async (role, scopes) => {
    const merchant = await shop.addMerchant()
    await addPerson(shop, merchant, 'owner')
    const there = await addPerson(shop, merchant, role)
    const other = await addPerson(shop, merchant, 'viewer')
    const { key } = await shop.addKey(merchant.tenant, scopes)
    const before = await listed('/v1/members', merchant)
    for (const answer of [
      await shop.ask('POST', '/v1/invitations', { key, body: { email: 'me@evil.example', role } }),
      await shop.ask('PATCH', `/v1/members/${other}`, { key, body: { role } }),
      await shop.ask('DELETE', `/v1/members/${there}`, { key }),
    ])
      expectProblem(answer, 403, 'insufficient_scope')
    expect(await listed('/v1/members', merchant)).toEqual(before)
    expect(await listed('/v1/invitations', merchant)).toEqual([])
  })
})

test('people and open invitations together are at most fifty', async () => {
  const merchant = await shop.addMerchant()
  await addPerson(shop, merchant, 'owner')
  const of = [merchant.tenant.merchantId]
  await shop.db.query(
    `insert into invitation (merchant_id, email, role, expires_at)
     select $1, n || '@many.example', 'viewer', now() + interval '1 day' from generate_series(1, 48) n`,
    of,
  )
  const invite = (email: string) =>
    shop.ask('POST', '/v1/invitations', { key: merchant.key, body: { email, role: 'viewer' } })
  expect((await invite('49@many.example')).status).toBe(201)
  expectProblem(await invite('50@many.example'), 409, 'limit_reached')
  expect((await invite('49@many.example')).status).toBe(201)
})

test('a live key reads the team and withdraws invitations, and changes nothing else', async () => {
  const live = await openShop({ mode: 'live' })
  try {
    const owner = await addPerson(live, live, 'owner')
    await live.db.query(
      `insert into invitation (merchant_id, email, role, expires_at) values ($1, 'new@shop.example', 'owner', now() + interval '1 day')`,
      [live.tenant.merchantId],
    )
    for (const [method, path, body] of [
      ['POST', '/v1/invitations', { email: 'me@evil.example', role: 'viewer' }],
      ['PATCH', `/v1/members/${owner}`, { role: 'owner' }],
      ['DELETE', `/v1/members/${owner}`, undefined],
    ] as const) {
      const answer = await live.ask(method, path, { ...(body !== undefined && { body }) })
      expectProblem(answer, 403, 'step_up_required')
      expect(answer.body['page']).toMatch(/\/dashboard\/team$/)
    }
    expect((await live.ask('GET', '/v1/members')).body['data']).toMatchObject([{ id: owner }])
    expect((await live.ask('DELETE', '/v1/invitations/new@shop.example')).status).toBe(200)
    expect((await live.ask('GET', '/v1/invitations')).body['data']).toEqual([])
  } finally {
    await live.close()
  }
})

test('an entry of the log has an id that tells nothing of how much the others do', async () => {
  const [one, other] = [await shop.addMerchant(), await shop.addMerchant()]
  const invite = (merchant: Merchant, nth: number) =>
    shop.ask('POST', '/v1/invitations', { key: merchant.key, body: { email: `n${nth}@shop.example`, role: 'viewer' } })
  await invite(one, 1)
  for (const nth of [2, 3, 4]) await invite(other, nth)
  await invite(one, 5)
  const ids = (await listed('/v1/audit_log', one)).map(({ id }) => String(id))
  expect(ids.every((id) => isId('auditEntry', id))).toBe(true)
  const { rows } = await shop.db.query('select id::text from audit_entry where merchant_id = $1', [
    one.tenant.merchantId,
  ])
  for (const { id } of rows as { id: string }[]) expect(ids.join()).not.toContain(`aud_${id}`)
})

test('the audit log is read page by page, and by action, actor and time', async () => {
  const merchant = await shop.addMerchant()
  const { tenant, key } = merchant
  for (let n = 0; n < 5; n++)
    await shop.db.query(
      `insert into audit_entry (public_id, merchant_id, actor, action, data, ip, at)
       values ($5, $1, $2, $3, '{}', '192.0.2.1', ('2026-11-0' || ($4::int + 1) || 'T00:00:00Z')::timestamptz)`,
      [tenant.merchantId, n % 2 === 0 ? 'per_a' : 'key_b', `action.${n < 3 ? 'one' : 'two'}`, n, newId('auditEntry')],
    )
  const path = '/v1/audit_log'
  const all = await listed(path, merchant)
  expect(all).toHaveLength(5)
  const first = await shop.ask('GET', `${path}?limit=2`, { key })
  expect([first.body['data'], first.body['has_more']]).toEqual([all.slice(0, 2), true])
  const ids = all.map(({ id }) => String(id))
  expect(await listed(`${path}?limit=2&starting_after=${ids[1]}`, merchant)).toEqual(all.slice(2, 4))
  expect(await listed(`${path}?ending_before=${ids[2]}`, merchant)).toEqual(all.slice(0, 2))
  expect(await listed(`${path}?action=action.two`, merchant)).toEqual(all.slice(0, 2))
  expect(await listed(`${path}?actor=key_b`, merchant)).toEqual([all[1], all[3]])
  const span = 'created[gte]=2026-11-02T00:00:00Z&created[lt]=2026-11-04T00:00:00Z'
  expect(await listed(`${path}?${span}`, merchant)).toEqual(all.slice(2, 4))
  const other = await shop.addMerchant()
  expect(await listed(path, other)).toEqual([])
  expectProblem(await shop.ask('GET', `${path}?starting_after=${ids[1]}`, { key: other.key }), 404, 'resource_missing')
  for (const wrong of [
    'starting_after=aud_5',
    `starting_after=aud_${'z'.repeat(26)}`,
    'action=a%00',
    'actor=%27',
    'limit=0',
  ])
    expectProblem(await shop.ask('GET', `${path}?${wrong}`, { key }), 400, 'validation_failed')
})

test('a withdrawal that fails is logged by its route: the address of the person stands in no log', async () => {
  const lines: string[] = []
  const busy = await openShop({
    deps: () => ({ log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) }),
  })
  try {
    const answer = await busy.db.transaction(async (tx) => {
      await lockMerchant(tx, busy.tenant.merchantId)
      return busy.ask('DELETE', '/v1/invitations/ada@shop.example')
    })
    expectProblem(answer, 503, 'temporarily_unavailable')
    const failed = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ level }) => level === 50)
    expect(failed).toMatchObject({ msg: 'request failed', route: '/v1/invitations/:email' })
    expect(lines.join('')).not.toMatch(/ada(?:@|%40)/)
  } finally {
    await busy.close()
  }
})

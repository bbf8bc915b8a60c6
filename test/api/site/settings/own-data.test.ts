import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openShop, type Shop } from '../../support/shop.ts'
import { openAccount } from '../account.ts'
import { signIn } from '../visitor.ts'

/** What is kept about a person: as a file, and forgotten. */

const PATH = '/dashboard/account/delete'
let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

const traces = async (email: string): Promise<string[]> => {
  const { rows } = await shop.db.query(
    `select 'person' as at from person where email = $1 union all
     select 'link' from sign_in_link where email = $1 union all
     select 'invitation' from invitation where email = $1 union all
     select 'channel' from channel where name = $1 union all
     select 'notice' from notice where data::text like '%' || $1 || '%' union all
     select 'audit' from audit_entry where data::text like '%' || $1 || '%'`,
    [email],
  )
  return rows.map(({ at }) => String(at))
}

test('a person gets what is kept about them as a file, with nothing secret and nothing of others', async () => {
  const { owner, key } = await openAccount(shop, 'own@shop.example')
  await openAccount(shop, 'other@shop.example')
  const own = await shop.db.query('select action from audit_entry join person on person.id = actor where email = $1', [
    'own@shop.example',
  ])
  const body = { kind: 'email', email: 'own@shop.example' }
  expect((await shop.ask('POST', '/v1/notification_channels', { key, body })).status).toBe(201)
  expect((await owner.get('/dashboard/account')).html).toContain('href="/dashboard/account/data.json"')
  const { status, headers, html } = await owner.get('/dashboard/account/data.json')
  expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="pinrail-about-me.json"'])
  const data = JSON.parse(html) as Record<string, Record<string, unknown>[]>
  expect(data['person']).toMatchObject({ email: 'own@shop.example' })
  expect(data['accounts']).toMatchObject([{ name: 'Halden Coffee', role: 'owner' }])
  expect(data['sessions']).toHaveLength(1)
  expect(data['channels']).toMatchObject([{ kind: 'email', account: 'Halden Coffee' }])
  expect(own.rows.map(({ action }) => String(action))).toContain('account.created')
  expect(data['changes']).toMatchObject(own.rows)
  expect(data['changes']).toHaveLength(own.rows.length)
  expect(html).not.toMatch(/digest|sealed|public_key|other@shop\.example/)
})

test('a person is forgotten once no account needs them, and nobody can sign in as them any more', async () => {
  const email = 'leaves@shop.example'
  const { owner, tenant, keyId } = await openAccount(shop, email)
  const needed = await owner.get(PATH)
  expect(needed.html).toContain('Nobody else is an owner of Halden Coffee')
  expect((await owner.submit(PATH, { email })).status).toBe(409)
  await shop.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
  // Elsewhere they are invited, are told of a change, and have a channel.
  const { tenant: other } = await openAccount(shop, 'invites-who-leaves@shop.example')
  await shop.db.query(
    `with person as (select id from person where email = $2),
       invited as (insert into invitation (merchant_id, email, role, expires_at)
         values ($1, $2, 'viewer', now() + interval '1 day')),
       told as (insert into notice (merchant_id, livemode, kind, data)
         select $1, false, 'sign_in.new', jsonb_build_object('person', id, 'email', $2::text) from person)
     insert into channel (id, merchant_id, livemode, kind, person_id, name, sealed, events, language, created_at, updated_at)
     select 'chan_01k9z3v7t8e4a9v2b6q5r0c1d2', $1, false, 'email', id, $2, 'sealed', '{}', 'en', now(), now() from person`,
    [other.merchantId, email],
  )

  expect((await owner.submit(PATH, { email: 'somebody@else.example' })).status).toBe(400)
  expect((await traces(email)).toSorted()).toEqual(['channel', 'invitation', 'link', 'notice', 'person'])
  const gone = await owner.submit(PATH, { email: ' Leaves@shop.example ' })
  expect([gone.status, gone.html.includes('You are forgotten')]).toEqual([200, true])
  expect(await traces(email)).toEqual([])
  expect((await owner.get('/dashboard')).to).toMatch(/^\/sign-in/)
  const { rows } = await shop.db.query(
    'select action from audit_entry where merchant_id = $1 order by id desc limit 1',
    [tenant.merchantId],
  )
  expect(rows).toEqual([{ action: 'member.left' }])
  // Who comes with this address again begins anew.
  expect((await (await signIn(shop, email)).get('/dashboard')).to).toBe('/dashboard/welcome')
})

test('with a person goes their own chat of Telegram and their address in what was told; a group stays', async () => {
  const email = 'chats@shop.example'
  const { owner, tenant, key, keyId } = await openAccount(shop, email)
  expect((await shop.ask('POST', '/v1/notification_channels', { key, body: { kind: 'email', email } })).status).toBe(
    201,
  )
  const chats = { chan_01k9z3v7t8e4a9v2b6q5r0c1d3: '4711', chan_01k9z3v7t8e4a9v2b6q5r0c1d4: '-4711' }
  for (const [id, chat] of Object.entries(chats))
    await shop.db.query(
      `insert into channel (id, merchant_id, livemode, kind, person_id, name, sealed, events, language, created_at, updated_at)
       select $1, $2, false, 'telegram', id, 'Chat of ' || $1, $3, '{}', 'en', now(), now() from person where email = $4`,
      [id, tenant.merchantId, shop.secretBox.seal(chat, id), email],
    )
  await shop.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
  expect((await owner.submit(PATH, { email })).status).toBe(200)
  const { rows } = await shop.db.query(
    `select id, removed_at is null as told from channel where kind = 'telegram' and merchant_id = $1 order by id`,
    [tenant.merchantId],
  )
  expect(rows.map(({ told }) => Boolean(told))).toEqual([false, true])
  expect(await traces(email)).toEqual([])
})

test('an account with other people keeps an owner', async () => {
  const { owner, tenant, keyId } = await openAccount(shop, 'last-owner@shop.example')
  await shop.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
  await signIn(shop, 'viewer-of-it@shop.example')
  const join = (email: string, role: string) =>
    shop.db.query(
      `insert into membership (merchant_id, person_id, role) select $1, id, $2 from person where email = $3`,
      [tenant.merchantId, role, email],
    )
  await join('viewer-of-it@shop.example', 'viewer')
  expect((await owner.submit(PATH, { email: 'last-owner@shop.example' })).status).toBe(409)
  await signIn(shop, 'second-owner@shop.example')
  await join('second-owner@shop.example', 'owner')
  expect((await owner.submit(PATH, { email: 'last-owner@shop.example' })).status).toBe(200)
})

test.each([
  ['a link that takes payments', 'payment_link', 'active = true', 'active = false'],
  ['a key that works', 'api_key', 'expires_at = null', "expires_at = now() - interval '1 second'"],
  ['money on its way', 'payment', "status = 'processing'", "status = 'expired'"],
])('who is alone in an account with %s is needed there until it is over', async (what, table, open, over) => {
  const email = `${table}@shop.example`
  const { owner, tenant, key, keyId, pay } = await openAccount(shop, email)
  await pay({ amount: '49.99', currency: 'EUR' })
  const link = { amount: '49.99', currency: 'EUR', title: 'Coffee' }
  expect((await shop.ask('POST', '/v1/payment_links', { key, body: link })).status).toBe(201)
  await shop.db.query('update payment_link set active = false where merchant_id = $1', [tenant.merchantId])
  if (what !== 'a key that works') await shop.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
  const set = (to: string) => shop.db.query(`update ${table} set ${to} where merchant_id = $1`, [tenant.merchantId])
  await set(open)
  expect((await owner.submit(PATH, { email })).status).toBe(409)
  await set(over)
  expect((await owner.submit(PATH, { email })).status).toBe(200)
})

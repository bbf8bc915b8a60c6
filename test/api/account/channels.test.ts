import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { breakChannel } from '../../../src/db/notifications/messages.ts'
import { addPerson } from '../support/furnished.ts'
import { expectProblem, type Merchant, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

const PATH = '/v1/notification_channels'
const SECRET = 'secretOfSlack'
const SLACK = `https://hooks.slack.com/services/T0001/B0001/${SECRET}`
const create = (body: object, { key }: Pick<Merchant, 'key'> = shop) => shop.ask('POST', PATH, { body, key })
const audited = async ({ tenant }: Merchant): Promise<unknown[]> => {
  const { rows } = await shop.db.query('select actor, action from audit_entry where merchant_id = $1 order by id', [
    tenant.merchantId,
  ])
  return rows.map(({ actor, action }: { actor: string; action: string }) => [actor, action])
}

test('a key connects Slack, changes, tests, resumes and removes it; the URL is shown nowhere, and people are told', async () => {
  const merchant = await shop.addMerchant()
  const { key, keyId, tenant } = merchant
  const made = await create({ kind: 'slack', name: '#payments', webhook_url: SLACK }, merchant)
  expect([made.status, made.body['status'], made.body['events']]).toEqual([
    201,
    'on',
    ['payment.succeeded', 'payment.under_review', 'payment.chargeback', 'webhook_endpoint.disabled'],
  ])
  const id = String(made.body['id'])
  const at = `${PATH}/${id}`
  const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Oslo' }
  const changed = await shop.ask('PATCH', at, { key, body: { language: 'de', quiet_hours, events: [] } })
  expect(changed.body).toMatchObject({ language: 'de', quiet_hours, events: [], name: '#payments' })

  const tested = await shop.ask('POST', `${at}/test`, { key })
  expect([tested.status, tested.body['kind'], tested.body['state']]).toEqual([202, 'test', 'waiting'])
  // One that is on its way is test enough.
  expect((await shop.ask('POST', `${at}/test`, { key })).body['id']).toBe(tested.body['id'])
  const messages = await shop.ask('GET', `${at}/messages`, { key })
  expect(messages.body['data']).toMatchObject([{ id: tested.body['id'] }])

  const broken = { reason: 'Slack says "no_service"', now: new Date().toISOString() }
  await shop.db.transaction((tx) => breakChannel(tx, id, broken))
  expect((await shop.ask('GET', at, { key })).body).toMatchObject({ status: 'off', off_reason: broken.reason })
  expect((await shop.ask('POST', `${at}/resume`, { key })).body).toMatchObject({ status: 'on', off_reason: null })

  expect((await shop.ask('DELETE', at, { key })).body).toEqual({ id, object: 'notification_channel', deleted: true })
  expectProblem(await shop.ask('GET', at, { key }), 404, 'resource_missing')
  const notices = await shop.db.query('select kind from notice where merchant_id = $1 order by id', [tenant.merchantId])
  expect(notices.rows).toEqual([{ kind: 'channel.added' }, { kind: 'channel.removed' }])
  const by = `key_${keyId}`
  expect(await audited(merchant)).toEqual([
    [by, 'channel.added'],
    [by, 'channel.changed'],
    [by, 'channel.mended'],
    [by, 'channel.removed'],
  ])
  expect([made, changed, messages].some(({ text }) => text.includes(SECRET))).toBe(false)
})

test('a request that is sent again gets the same answer, and nothing stored has the URL of the channel', async () => {
  const merchant = await shop.addMerchant()
  const headers = { 'idempotency-key': 'once' }
  const body = { kind: 'slack', name: '#payments', webhook_url: SLACK }
  const ask = () => shop.ask('POST', PATH, { body, key: merchant.key, headers })
  const [first, again] = [await ask(), await ask()]
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
  for (const table of ['idempotency_key', 'channel', 'notice', 'audit_entry']) {
    const { rows } = await shop.db.query(`select * from ${table} t where t::text like '%${SECRET}%'`)
    expect([table, rows]).toEqual([table, []])
  }
})

test('mail goes only to somebody of the account, and once', async () => {
  const merchant = await shop.addMerchant()
  const person = await addPerson(shop, merchant, 'viewer')
  const email = `${person.slice(4)}@people.example`
  const made = await create({ kind: 'email', email }, merchant)
  expect([made.status, made.body['name']]).toEqual([201, email])
  expect((await create({ kind: 'email', email: email.toUpperCase() }, merchant)).body['id']).toBe(made.body['id'])
  const stranger = await create({ kind: 'email', email: 'stranger@shop.example' }, merchant)
  expectProblem(stranger, 400, 'validation_failed')
  expect(stranger.body['detail']).toBe('email: must be the address of somebody in the account.')
  // Another account's person is a stranger too.
  expectProblem(await create({ kind: 'email', email }), 400, 'validation_failed')
})

test.each([
  [{ kind: 'slack', name: '#x' }, 'webhook_url: must be there: where the chat takes messages.'],
  [{ kind: 'slack', webhook_url: SLACK }, 'name: must be there, such as #payments.'],
  [{ kind: 'slack', name: '#x', webhook_url: 'https://127.0.0.1/services/T1/B1/x' }, 'webhook_url: must '],
  [{ kind: 'discord', name: '#x', webhook_url: SLACK }, 'webhook_url: must look like https://discord.com'],
  [{ kind: 'slack', name: '\u202ex', webhook_url: SLACK }, 'name: must have 1 to 80 plain characters'],
  [{ kind: 'telegram', name: 'x' }, 'kind: must be one of email, discord, slack'],
  [
    {
      kind: 'slack',
      name: '#x',
      webhook_url: SLACK,
      quiet_hours: { from: '22:00', to: '22:00', time_zone: 'Europe/Oslo' },
    },
    'quiet_hours: must begin and end at two different times',
  ],
  [
    {
      kind: 'slack',
      name: '#x',
      webhook_url: SLACK,
      quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Nowhere/Land' },
    },
    'must be a time zone named by a city',
  ],
])('what cannot be a channel is refused, with what it must be: %j', async (body, said) => {
  const answer = await create(body)
  expectProblem(answer, 400, 'validation_failed')
  expect(answer.body['detail']).toContain(said)
})

test('an account has at most 20 channels', async () => {
  const merchant = await shop.addMerchant()
  const made = await Promise.all(
    Array.from({ length: 21 }, (_, n) => create({ kind: 'slack', name: `#${n}`, webhook_url: SLACK }, merchant)),
  )
  expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 20 }, () => 201),
    409,
  ])
})

test('a live key reads, changes, tests and resumes, and can neither add, remove nor move a channel', async () => {
  const live = await openShop({ mode: 'live' })
  try {
    const id = 'nch_01m7z0zqy3fzrbpe3gambgs8r8'
    await live.db.query(
      `insert into channel (id, merchant_id, livemode, kind, name, sealed, events, language, created_at, updated_at)
       values ($1, $2, true, 'slack', '#payments', 'sealed', '{}', 'en', now(), now())`,
      [id, live.tenant.merchantId],
    )
    const at = `${PATH}/${id}`
    for (const [method, path, body] of [
      ['POST', PATH, { kind: 'slack', name: '#x', webhook_url: SLACK }],
      ['DELETE', at, undefined],
      ['PATCH', at, { webhook_url: SLACK }],
    ] as const) {
      const answer = await live.ask(method, path, { ...(body !== undefined && { body }) })
      expectProblem(answer, 403, 'step_up_required')
      expect(answer.body['page']).toMatch(/\/dashboard\/notifications$/)
    }
    expect((await live.ask('PATCH', at, { body: { language: 'de' } })).status).toBe(200)
    expect((await live.ask('POST', `${at}/test`)).status).toBe(202)
    expect((await live.ask('POST', `${at}/resume`)).status).toBe(200)
    expect((await live.ask('GET', PATH)).body['data']).toMatchObject([{ id, language: 'de' }])
  } finally {
    await live.close()
  }
})

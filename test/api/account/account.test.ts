import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { API_SCOPES, type ApiScope } from '../../../src/api/auth/api-key.ts'
import { unhurried } from '../../../src/api/exports/file.ts'
import { OPERATIONS } from '../../../src/api/routes/v1/index.ts'
import { createPinrail } from '../../../src/client/index.ts'
import { bookAll } from '../../../src/db/ledger.ts'
import { lockMerchant } from '../../../src/db/merchants/merchants.ts'
import { breakChannel } from '../../../src/db/notifications/messages.ts'
import { isId } from '../../../src/domain/ids.ts'
import type { Line } from '../../../src/domain/ledger.ts'
import { splitFee } from '../../../src/domain/money.ts'
import { newId } from '../../../src/ids.ts'
import { type Account, openAccount } from '../site/account.ts'
import { withDiagnosis } from '../support/diagnosis.ts'
import { addPerson, rowsFor, seedApi } from '../support/seeded-api.ts'
import { expectProblem, type Merchant, openTestApi, type TestApi } from '../support/test-api.ts'

let testApi: TestApi
let live: TestApi
beforeAll(async () => {
  ;[testApi, live] = await Promise.all([
    openTestApi({ deps: (deps) => ({ deliveries: withDiagnosis(deps) }) }),
    openTestApi({ mode: 'live' }),
  ])
})
afterAll(() => Promise.all([testApi?.close(), live?.close()]))

describe('The team', () => {
  type Item = Record<string, unknown>
  const listed = async (path: string, { key }: Pick<Merchant, 'key'>): Promise<Item[]> =>
    (await testApi.ask('GET', path, { key })).body['data'] as Item[]

  test('a key invites, withdraws, changes a role and takes somebody out; the log says that it was the key', async () => {
    const merchant = await testApi.addMerchant()
    const { key, keyId } = merchant
    await addPerson(testApi, merchant, 'owner')
    const viewer = await addPerson(testApi, merchant, 'viewer')
    const invited = await testApi.ask('POST', '/v1/invitations', {
      key,
      body: { email: 'New@Shop.example', role: 'viewer' },
    })
    expect([invited.status, invited.body]).toEqual([
      201,
      { object: 'invitation', email: 'new@shop.example', role: 'viewer', expires_at: expect.any(String) },
    ])
    expect(await listed('/v1/invitations', merchant)).toEqual([invited.body])
    const { rows: mails } = await testApi.db.query('select count(*)::int as n from mail')
    expect(mails).toEqual([{ n: 1 }])
    expect((await testApi.ask('DELETE', '/v1/invitations/new@shop.example', { key })).status).toBe(200)
    expect(await listed('/v1/invitations', merchant)).toEqual([])
    expectProblem(await testApi.ask('DELETE', '/v1/invitations/new@shop.example', { key }), 404, 'resource_missing')

    const at = `/v1/members/${viewer}`
    expect((await testApi.ask('PATCH', at, { key, body: { role: 'developer' } })).body).toMatchObject({
      role: 'developer',
    })
    const again = { email: `${viewer.slice(4)}@people.example`, role: 'viewer' }
    expectProblem(await testApi.ask('POST', '/v1/invitations', { key, body: again }), 409, 'not_possible_now')
    expect((await testApi.ask('DELETE', at, { key })).body).toEqual({ id: viewer, object: 'member', deleted: true })
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

  test('an account keeps its last owner, whoever asks to remove them', async () => {
    const merchant = await testApi.addMerchant()
    const { key } = merchant
    const owner = await addPerson(testApi, merchant, 'owner')
    const at = `/v1/members/${owner}`
    for (const answer of [
      await testApi.ask('DELETE', at, { key }),
      await testApi.ask('PATCH', at, { key, body: { role: 'viewer' } }),
    ])
      expectProblem(answer, 409, 'not_possible_now')
    expect(await listed('/v1/members', merchant)).toMatchObject([{ id: owner, role: 'owner' }])
  })

  describe('a key cannot give or remove a role that has scopes the key lacks', () => {
    const without = (lacking: ApiScope): ApiScope[] => API_SCOPES.filter((scope) => scope !== lacking)
    test('a key cannot change an invitation to a role with more scopes', async () => {
      const merchant = await testApi.addMerchant()
      const body = { email: 'boss@shop.example', role: 'owner' }
      await testApi.ask('POST', '/v1/invitations', { key: merchant.key, body })
      const { key } = await testApi.addKey(merchant.tenant, without('settings:write'))
      const again = await testApi.ask('POST', '/v1/invitations', { key, body: { ...body, role: 'viewer' } })
      expectProblem(again, 403, 'insufficient_scope')
      expect(await listed('/v1/invitations', merchant)).toMatchObject([body])
    })

    test('a key cannot lower a role that has more scopes than the key', async () => {
      const merchant = await testApi.addMerchant()
      await addPerson(testApi, merchant, 'owner')
      const there = await addPerson(testApi, merchant, 'owner')
      const { key } = await testApi.addKey(merchant.tenant, without('keys:write'))
      const lesser = await testApi.ask('PATCH', `/v1/members/${there}`, { key, body: { role: 'viewer' } })
      expectProblem(lesser, 403, 'insufficient_scope')
      expect((await listed('/v1/members', merchant)).map(({ role }) => role)).toEqual(['owner', 'owner'])
    })

    test.each([
      ['owner', without('keys:write')],
      ['owner', without('settings:write')],
      ['developer', without('webhooks:write')],
      ['support', without('payments:write')],
      ['viewer', without('payments:read')],
    ] as const)(
      'a key cannot invite or remove a person with the role %s, whose scopes it lacks',
      async (role, scopes) => {
        const merchant = await testApi.addMerchant()
        await addPerson(testApi, merchant, 'owner')
        const there = await addPerson(testApi, merchant, role)
        const other = await addPerson(testApi, merchant, 'viewer')
        const { key } = await testApi.addKey(merchant.tenant, scopes)
        const before = await listed('/v1/members', merchant)
        for (const answer of [
          await testApi.ask('POST', '/v1/invitations', { key, body: { email: 'me@evil.example', role } }),
          await testApi.ask('PATCH', `/v1/members/${other}`, { key, body: { role } }),
          await testApi.ask('DELETE', `/v1/members/${there}`, { key }),
        ])
          expectProblem(answer, 403, 'insufficient_scope')
        expect(await listed('/v1/members', merchant)).toEqual(before)
        expect(await listed('/v1/invitations', merchant)).toEqual([])
      },
    )
  })

  test('an account has at most fifty people and open invitations together', async () => {
    const merchant = await testApi.addMerchant()
    await addPerson(testApi, merchant, 'owner')
    const of = [merchant.tenant.merchantId]
    await testApi.db.query(
      `insert into invitation (merchant_id, email, role, expires_at)
       select $1, n || '@many.example', 'viewer', now() + interval '1 day' from generate_series(1, 48) n`,
      of,
    )
    const invite = (email: string) =>
      testApi.ask('POST', '/v1/invitations', { key: merchant.key, body: { email, role: 'viewer' } })
    expect((await invite('49@many.example')).status).toBe(201)
    expectProblem(await invite('50@many.example'), 409, 'limit_reached')
    expect((await invite('49@many.example')).status).toBe(201)
  })

  test('a live key reads the team and withdraws invitations, and changes nothing else', async () => {
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
  })

  test('the id of a log entry does not reveal how many entries other accounts have', async () => {
    const [one, other] = [await testApi.addMerchant(), await testApi.addMerchant()]
    const invite = (merchant: Merchant, nth: number) =>
      testApi.ask('POST', '/v1/invitations', {
        key: merchant.key,
        body: { email: `n${nth}@shop.example`, role: 'viewer' },
      })
    await invite(one, 1)
    for (const nth of [2, 3, 4]) await invite(other, nth)
    await invite(one, 5)
    const ids = (await listed('/v1/audit_log', one)).map(({ id }) => String(id))
    expect(ids.every((id) => isId('auditEntry', id))).toBe(true)
    const { rows } = await testApi.db.query('select id::text from audit_entry where merchant_id = $1', [
      one.tenant.merchantId,
    ])
    for (const { id } of rows as { id: string }[]) expect(ids.join()).not.toContain(`aud_${id}`)
  })

  test('the audit log is read page by page, and filtered by action, actor and time', async () => {
    const merchant = await testApi.addMerchant()
    const { tenant, key } = merchant
    for (let n = 0; n < 5; n++)
      await testApi.db.query(
        `insert into audit_entry (public_id, merchant_id, actor, action, data, ip, at)
         values ($5, $1, $2, $3, '{}', '192.0.2.1', ('2026-11-0' || ($4::int + 1) || 'T00:00:00Z')::timestamptz)`,
        [tenant.merchantId, n % 2 === 0 ? 'per_a' : 'key_b', `action.${n < 3 ? 'one' : 'two'}`, n, newId('auditEntry')],
      )
    const path = '/v1/audit_log'
    const all = await listed(path, merchant)
    expect(all).toHaveLength(5)
    const first = await testApi.ask('GET', `${path}?limit=2`, { key })
    expect([first.body['data'], first.body['has_more']]).toEqual([all.slice(0, 2), true])
    const ids = all.map(({ id }) => String(id))
    expect(await listed(`${path}?limit=2&starting_after=${ids[1]}`, merchant)).toEqual(all.slice(2, 4))
    expect(await listed(`${path}?ending_before=${ids[2]}`, merchant)).toEqual(all.slice(0, 2))
    expect(await listed(`${path}?action=action.two`, merchant)).toEqual(all.slice(0, 2))
    expect(await listed(`${path}?actor=key_b`, merchant)).toEqual([all[1], all[3]])
    const span = 'created[gte]=2026-11-02T00:00:00Z&created[lt]=2026-11-04T00:00:00Z'
    expect(await listed(`${path}?${span}`, merchant)).toEqual(all.slice(2, 4))
    const other = await testApi.addMerchant()
    expect(await listed(path, other)).toEqual([])
    expectProblem(
      await testApi.ask('GET', `${path}?starting_after=${ids[1]}`, { key: other.key }),
      404,
      'resource_missing',
    )
    for (const wrong of [
      'starting_after=aud_5',
      `starting_after=aud_${'z'.repeat(26)}`,
      'action=a%00',
      'actor=%27',
      'limit=0',
    ])
      expectProblem(await testApi.ask('GET', `${path}?${wrong}`, { key }), 400, 'validation_failed')
  })

  test('a withdrawal that fails is logged by its route, without the person’s address', async () => {
    const lines: string[] = []
    const busy = await openTestApi({
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
})

describe('Notification channels', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  const PATH = '/v1/notification_channels'
  const SECRET = 'secretOfSlack'
  const SLACK = `https://hooks.slack.com/services/T0001/B0001/${SECRET}`
  const create = (body: object, { key }: Pick<Merchant, 'key'> = testApi) => testApi.ask('POST', PATH, { body, key })
  const audited = async ({ tenant }: Merchant): Promise<unknown[]> => {
    const { rows } = await testApi.db.query(
      'select actor, action from audit_entry where merchant_id = $1 order by id',
      [tenant.merchantId],
    )
    return rows.map(({ actor, action }: { actor: string; action: string }) => [actor, action])
  }

  test('a key connects Slack, changes, tests, resumes and removes it; no response shows the URL, and people are notified', async () => {
    const merchant = await testApi.addMerchant()
    const { key, keyId, tenant } = merchant
    const made = await create({ kind: 'slack', name: '#payments', webhook_url: SLACK }, merchant)
    expect([made.status, made.body['status'], made.body['events']]).toEqual([
      201,
      'on',
      [
        'payment.succeeded',
        'payment.under_review',
        'payment.chargeback',
        'dispute.created',
        'dispute.closed',
        'dispute.evidence_due',
        'refund.created',
        'refund.failed',
        'reserve.released',
        'webhook_endpoint.disabled',
      ],
    ])
    const id = String(made.body['id'])
    const at = `${PATH}/${id}`
    const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Oslo' }
    const changed = await testApi.ask('PATCH', at, { key, body: { language: 'de', quiet_hours, events: [] } })
    expect(changed.body).toMatchObject({ language: 'de', quiet_hours, events: [], name: '#payments' })

    const tested = await testApi.ask('POST', `${at}/test`, { key })
    expect([tested.status, tested.body['kind'], tested.body['state']]).toEqual([202, 'test', 'waiting'])
    // A channel with a message in progress needs no second test.
    expect((await testApi.ask('POST', `${at}/test`, { key })).body['id']).toBe(tested.body['id'])
    const messages = await testApi.ask('GET', `${at}/messages`, { key })
    expect(messages.body['data']).toMatchObject([{ id: tested.body['id'] }])

    const broken = { reason: 'Slack says "no_service"', now: new Date().toISOString() }
    await testApi.db.transaction((tx) => breakChannel(tx, id, broken))
    expect((await testApi.ask('GET', at, { key })).body).toMatchObject({ status: 'off', off_reason: broken.reason })
    expect((await testApi.ask('POST', `${at}/resume`, { key })).body).toMatchObject({ status: 'on', off_reason: null })

    expect((await testApi.ask('DELETE', at, { key })).body).toEqual({
      id,
      object: 'notification_channel',
      deleted: true,
    })
    expectProblem(await testApi.ask('GET', at, { key }), 404, 'resource_missing')
    const notices = await testApi.db.query('select kind from notice where merchant_id = $1 order by id', [
      tenant.merchantId,
    ])
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

  test('a repeated request to add a channel gets the same response, and no stored row has its URL', async () => {
    const merchant = await testApi.addMerchant()
    const headers = { 'idempotency-key': 'once' }
    const body = { kind: 'slack', name: '#payments', webhook_url: SLACK }
    const ask = () => testApi.ask('POST', PATH, { body, key: merchant.key, headers })
    const [first, again] = [await ask(), await ask()]
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    for (const table of ['idempotency_key', 'channel', 'notice', 'audit_entry']) {
      const { rows } = await testApi.db.query(`select * from ${table} t where t::text like '%${SECRET}%'`)
      expect([table, rows]).toEqual([table, []])
    }
  })

  test('a mail channel accepts only the address of a person of the account, and only once', async () => {
    const merchant = await testApi.addMerchant()
    const person = await addPerson(testApi, merchant, 'viewer')
    const email = `${person.slice(4)}@people.example`
    const made = await create({ kind: 'email', email }, merchant)
    expect([made.status, made.body['name']]).toEqual([201, email])
    expect((await create({ kind: 'email', email: email.toUpperCase() }, merchant)).body['id']).toBe(made.body['id'])
    const stranger = await create({ kind: 'email', email: 'stranger@shop.example' }, merchant)
    expectProblem(stranger, 400, 'validation_failed')
    expect(stranger.body['detail']).toBe('email: must be the e-mail address of somebody in the account.')
    // A person of another account is refused too.
    expectProblem(await create({ kind: 'email', email }), 400, 'validation_failed')
  })

  test.each([
    [{ kind: 'slack', name: '#x' }, 'webhook_url: is required: the chat’s incoming webhook.'],
    [{ kind: 'slack', webhook_url: SLACK }, 'name: is required, such as #payments.'],
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
  ])('a channel is refused with what its address must be: %j', async (body, said) => {
    const answer = await create(body)
    expectProblem(answer, 400, 'validation_failed')
    expect(answer.body['detail']).toContain(said)
  })

  test('an account has at most 20 notification channels', async () => {
    const merchant = await testApi.addMerchant()
    const made = await Promise.all(
      Array.from({ length: 21 }, (_, n) => create({ kind: 'slack', name: `#${n}`, webhook_url: SLACK }, merchant)),
    )
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 20 }, () => 201),
      409,
    ])
  })

  test('a live key reads, changes, tests and resumes channels, and cannot add, remove or redirect one', async () => {
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
  })
})

describe('The audit log', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  }, 60_000)

  type Entry = { actor: string; action: string; data: Record<string, unknown>; ip: string }
  const entries = async (): Promise<Entry[]> =>
    (await testApi.ask('GET', '/v1/audit_log?limit=100')).body['data'] as Entry[]

  /**
   * Excluded: they test something, or make payments, which have their own timeline. No workflow runs here that could
   * cancel one.
   */
  const NOT_LOGGED = [
    'testWebhookEndpoint',
    'testNotificationChannel',
    'createPayment',
    'simulatePayment',
    'skipTime',
    'cancelPayment',
  ]
  const LOGGED = OPERATIONS.filter(
    ({ method, scope, name }) =>
      (method !== 'get' && scope.endsWith(':write') && !NOT_LOGGED.includes(name)) || name.startsWith('export'),
  )

  test('everything that a key changes or exports is in the account’s log under the name of the key', async () => {
    const seeded = rowsFor(await seedApi(testApi))
    // Deletions come last, because the other requests need what they delete.
    const last = LOGGED.toSorted((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'))
    await testApi.db.query(
      `update wallet set next_address = $2, next_at = now() + interval '1 day' where merchant_id = $1`,
      [testApi.tenant.merchantId, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    )
    for (const { method, name } of last.toSorted((a) => (a.name === 'stopWalletChange' ? -1 : 0))) {
      const { path, body } = seeded[name] ?? { path: '' }
      const before = (await entries()).length
      const answer = await testApi.ask(method.toUpperCase(), path, { body })
      const added = (await entries()).slice(0, (await entries()).length - before)
      const actors = [...new Set(added.map(({ actor }) => actor))]
      expect([name, answer.status < 300, actors]).toEqual([name, true, [`key_${testApi.keyId}`]])
    }
  })

  test('the log names the created link, where it leads, what was exported and who was invited', async () => {
    const link = await testApi.ask('POST', '/v1/payment_links', { body: { title: 'Tea', amount: 9, currency: 'EUR' } })
    const id = String(link.body['id'])
    await testApi.ask('PATCH', `/v1/payment_links/${id}`, { body: { success_url: 'https://other.example/' } })
    await testApi.ask('GET', '/v1/exports/payments?format=csv&status=succeeded')
    await testApi.ask('POST', '/v1/invitations', { body: { email: 'ada@shop.example', role: 'viewer' } })
    expect((await entries()).slice(0, 4).map(({ action, data }) => [action, data])).toMatchObject([
      ['member.invited', { email: 'a…@shop.example', role: 'viewer' }],
      ['exportPayments', { format: 'csv', status: 'succeeded' }],
      ['updatePaymentLink', { id, success_url: 'https://other.example/' }],
      ['createPaymentLink', { id }],
    ])
  })

  test('the log records what was changed, without secrets and pictures', async () => {
    const wallet = await testApi.ask('PUT', '/v1/settings/wallet', { body: { address: `0x${'ab'.repeat(20)}` } })
    const endpoint = await testApi.ask('POST', '/v1/webhook_endpoints', { body: { url: 'https://shop.example/in' } })
    const [made, set] = await entries()
    expect(set).toMatchObject({ action: 'setWallet', data: { address: `0x${'ab'.repeat(20)}` } })
    expect(made).toMatchObject({ action: 'createWebhookEndpoint', data: { url: 'https://shop.example/in' } })
    expect([wallet.status, endpoint.status]).toEqual([200, 201])
    expect(JSON.stringify(await entries())).not.toContain(String(endpoint.body['secret']))
  })

  test('the log has the origins of an embedding as they are stored', async () => {
    const origins = ['https://shop.example/', 'HTTPS://www.shop.example']
    const answer = await testApi.ask('PUT', '/v1/settings/embedding', { body: { origins } })
    expect(answer.body['origins']).toEqual(['https://shop.example', 'https://www.shop.example'])
    expect((await entries())[0]).toMatchObject({ action: 'setEmbedding', data: { origins: answer.body['origins'] } })
  })

  test('a request that is refused, repeated, or stops nothing leaves no log entry', async () => {
    const before = await entries()
    const once = { body: { name: 'once' }, headers: { 'idempotency-key': 'audit-1' } }
    await testApi.ask('POST', '/v1/api_keys', once)
    await testApi.ask('POST', '/v1/api_keys', once)
    await testApi.ask('POST', '/v1/settings/wallet/stop_change')
    await testApi.ask('DELETE', '/v1/webhook_endpoints/we_01k9z3v7t8e4a9v2b6q5r0c1d2')
    await testApi.ask('PUT', '/v1/settings/wallet', { body: { address: '0x0' } })
    expect((await entries()).slice(0, -before.length).map(({ action }) => action)).toEqual(['createApiKey'])
  })
})

describe('Exports', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR', reference: '=1+1' } })
    await testApi.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR', reference: 'two' } })
    // More payments than an export reads at once.
    await testApi.db.query(
      `insert into payment select (jsonb_populate_record(p, jsonb_build_object(
          'id', left(p.id, 26) || lpad(n::text, 4, '0'), 'checkout_token', p.checkout_token || n, 'reference', 'copy ' || n)
        )).* from payment p, generate_series(1, 1100) n where p.reference = 'two'`,
    )
  }, 60_000)

  const PATH = '/v1/exports/payments'

  test('an export has every payment once, newest first, in JSON and CSV, however many there are', async () => {
    const json = await testApi.ask('GET', PATH)
    expect(json.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-\d{4}-\d\d-\d\d\.json"$/)
    const ids = (json.body as unknown as { id: string }[]).map(({ id }) => id)
    expect([ids.length, new Set(ids).size]).toEqual([1102, 1102])
    expect(ids).toEqual(ids.toSorted().toReversed())
    const csv = await testApi.ask('GET', `${PATH}?format=csv`)
    const [names, ...lines] = csv.text.trimEnd().split('\r\n')
    expect([csv.headers.get('content-type'), names?.slice(0, 17)]).toEqual([
      'text/csv; charset=utf-8',
      'id,status,amount_',
    ])
    expect(lines.map((line) => line.split(',')[0])).toEqual(ids)
    // A cell that a spreadsheet would run as a formula has an apostrophe in front.
    expect(csv.text).toContain(",'=1+1,")
  })

  test('a file for Excel begins with a byte order mark, and a file for programs does not', async () => {
    const bytes = async (path: string) => {
      const answer = await fetch(`${testApi.url}${path}`, { headers: { authorization: `Bearer ${testApi.key}` } })
      return Buffer.from(await answer.arrayBuffer())
    }
    const statement = '/v1/exports/statement?period=2026-10'
    const query = 'reference=two'
    for (const path of [`${PATH}?${query}&`, `${statement}&`]) {
      const [plain, excel] = [await bytes(`${path}format=csv`), await bytes(`${path}format=excel`)]
      expect(excel).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]))
      expect(plain[0]).not.toBe(0xef)
    }
  })

  test('a CSV export has the buyer’s charge, the rate’s pair, the exception, the link and the metadata', async () => {
    const metadata = { cart: '77', note: 'a "quoted", text' }
    const { body } = await testApi.ask('POST', '/v1/payments', {
      body: { amount: 30, currency: 'EUR', reference: 'columns', metadata },
    })
    await testApi.db.query(
      `update payment set confirmed_minor = '270000', charge_currency = 'INR', exception = 'duplicate_payment',
         rate = '0.0119', rate_source = 'test', rate_locked_at = now() where id = $1`,
      [body['id']],
    )
    const { text } = await testApi.ask('GET', `${PATH}?format=csv&reference=columns`)
    const [names, line] = text.trimEnd().split('\r\n')
    expect(names).toMatch(/,rate,rate_from,rate_to,/)
    expect(line).toContain(',0.0119,INR,USDC,')
    expect(names).toMatch(/,charged_decimal,charged_currency,exception,payment_link,metadata$/)
    expect(line).toMatch(/,2700\.00,INR,duplicate_payment,,"\{""cart"":""77"",/)
  })

  test('an export has only the payments that its filters match, and is empty if the account has none', async () => {
    const one = await testApi.ask('GET', `${PATH}?reference=two&currency=EUR&status=created,pending`)
    expect(one.body).toMatchObject([{ reference: 'two' }])
    const other = await testApi.addMerchant()
    expect((await testApi.ask('GET', PATH, { key: other.key })).text).toBe('[]\n')
    expect(
      (await testApi.ask('GET', `${PATH}?format=csv`, { key: other.key })).text.trimEnd().split('\r\n'),
    ).toHaveLength(1)
    for (const wrong of ['format=xml', 'status=none', 'limit=5', 'created[gte]=soon'])
      expectProblem(await testApi.ask('GET', `${PATH}?${wrong}`), 400, 'validation_failed')
    expect((await testApi.ask('HEAD', PATH)).text).toBe('')
  })

  test('an account exports two files at once; a third one waits, and other accounts do not wait', async () => {
    const other = await testApi.addMerchant()
    const files = await Promise.all([
      ...Array.from({ length: 3 }, () => testApi.ask('GET', PATH)),
      testApi.ask('GET', PATH, { key: other.key }),
    ])
    expect(files.map(({ status }) => status)).toEqual(files.map(() => 200))
  })

  test('an export pauses four times as long as each piece takes, at most one second, however slow its reader is', async () => {
    let clock = 0
    const rests: number[] = []
    async function* pieces() {
      for (const ms of [10, 60, 900]) {
        clock += ms
        yield String(ms)
      }
    }
    const rest = async (ms: number): Promise<void> => {
      rests.push(ms)
      clock += ms
    }
    const read: string[] = []
    for await (const piece of unhurried(pieces(), { now: () => clock, rest })) {
      read.push(piece)
      clock += 30_000
    }
    expect([read, rests]).toEqual([
      ['10', '60', '900'],
      [40, 240, 1000],
    ])
  })

  test('a statement adds up, by the days of a month and the months of a year, and as a file', async () => {
    const merchant = await testApi.addMerchant()
    await testApi.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR' }, key: merchant.key })
    await testApi.db.query(
      `insert into payment select (jsonb_populate_record(p, jsonb_build_object(
          'id', left(p.id, 26) || lpad(n::text, 4, '0'), 'checkout_token', p.checkout_token || n, 'status', 'succeeded',
          'gross_micro', 1000001, 'fee_micro', 45000, 'net_micro', 955001, 'paid_at', now(),
          'finalized_at', '2026-10-0' || n || 'T12:00:00Z')
        )).* from payment p, generate_series(1, 3) n where p.merchant_id = $1`,
      [merchant.tenant.merchantId],
    )
    const pinrail = createPinrail({ apiKey: merchant.key, baseUrl: testApi.url })
    const month = await pinrail.exports.statement('2026-10')
    expect(month).toMatchObject({ by: 'day', from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' })
    expect(month.lines.map(({ period, payments }) => [period, payments])).toEqual([
      ['2026-10-01', 1],
      ['2026-10-02', 1],
      ['2026-10-03', 1],
    ])
    const sum = {
      period: 'sum',
      payments: 3,
      converted_usdc: '3.000003',
      fee_usdc: '0.135000',
      reserved_usdc: '0.000000',
      deducted_usdc: '0.000000',
      released_usdc: '0.000000',
      charged_back_usdc: '0.000000',
      received_usdc: '2.865003',
      refunds: 0,
      refunds_usdc: '0.000000',
      total_usdc: '2.865003',
    }
    expect(month.sum).toEqual(sum)
    expect(await pinrail.exports.statement('2026')).toMatchObject({ lines: [{ ...sum, period: '2026-10' }], sum })
    expect((await pinrail.exports.statementCsv('2026-10')).trimEnd().split('\r\n').at(-1)).toBe(
      'sum,3,3.000003,0.135000,0.000000,0.000000,0.000000,0.000000,2.865003,0,0.000000,2.865003',
    )
    expect(await pinrail.exports.payments({ status: 'succeeded' })).toHaveLength(3)
    expect((await pinrail.exports.paymentsCsv({ status: 'succeeded' })).trimEnd().split('\r\n')).toHaveLength(4)
    for (const wrong of ['', '?period=2026-13', '?period=26', '?period=2026-10&format=pdf'])
      expectProblem(await testApi.ask('GET', `/v1/exports/statement${wrong}`), 400, 'validation_failed')
  })
})

describe('The balance and the statement', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  const PAYMENTS = 3100
  const DAYS = 31
  const DAY_MS = 86_400_000
  const OCTOBER = Date.parse('2026-10-01T00:00:00.000Z')

  /** `n` counts from 0. Each day has a payment in its first millisecond and one in its last. */
  function settledPayment(n: number) {
    const [day, nth] = [n % DAYS, Math.floor(n / DAYS)]
    const inDay = nth === 0 ? 0 : nth === 1 ? DAY_MS - 1 : (nth * 7_919_104) % DAY_MS
    const usdc = splitFee(String(1_000_000n + ((BigInt(n) * 7919n * 104_729n) % 900_000_000n)), '4.5')
    return { id: `pay_${String(n).padStart(26, '0')}`, n, day, at: new Date(OCTOBER + day * DAY_MS + inDay), usdc }
  }
  type Settled = ReturnType<typeof settledPayment>

  /** Payments of October 2026 as they end: their rows, what the books have of them, and what the chain proved. */
  async function settleMany({ pay }: Account): Promise<void> {
    const model = await pay({ amount: 10, currency: 'EUR' })
    const all = Array.from({ length: PAYMENTS }, (_, n) => settledPayment(n))
    await insertRows(model, all)
    await testApi.db.transaction(async (tx) => {
      for (let day = 0; day < DAYS; day++) {
        const booked = all.filter((payment) => payment.day === day).flatMap(createBookings)
        await bookAll(tx, booked, new Date(OCTOBER + day * DAY_MS).toISOString())
      }
    })
  }

  function createBookings({ id: paymentId, usdc }: Settled) {
    const line = (account: Line['account'], amount: string): Line => ({ account, asset: 'USDC', amount })
    const of = { reference: paymentId, paymentId }
    const converted = [
      line('conversion', usdc.gross),
      line('fee_revenue', `-${usdc.fee}`),
      line('merchant_payable', `-${usdc.net}`),
    ]
    const settled = [line('merchant_payable', usdc.net), line('treasury', `-${usdc.net}`)]
    return [
      { ...of, kind: 'payment.converted', lines: converted },
      { ...of, kind: 'payment.succeeded', lines: settled },
    ]
  }

  async function insertRows(model: string, some: readonly Settled[]): Promise<void> {
    const made = JSON.stringify(some.map(({ id, n, at, usdc }) => ({ id, n, at, ...usdc })))
    const rows = `made as (select * from jsonb_to_recordset($2::jsonb) as row (id text, n int, at timestamptz, gross units, fee units, net units)),
      model as materialized (select * from payment where id = $1)`
    await testApi.db.query(
      `with ${rows}
       insert into payment select row.* from model, made, jsonb_populate_record(null::payment, to_jsonb(model) || jsonb_build_object('id', made.id,
         'checkout_token', md5(made.id) || substr(md5(made.id), 1, 11), 'status', 'succeeded', 'gross_micro', gross,
         'fee_micro', fee, 'net_micro', net, 'rate', '1', 'rate_source', 'test', 'rate_locked_at', at,
         'charge_currency', model.currency, 'confirmed_minor', model.amount_minor, 'paid_at', at, 'succeeded_at', at + interval '40 days',
         'finalized_at', at, 'closed_at', at, 'block_number', 1, 'log_index', n, 'tx_hash', '0x' || repeat('ab', 32))) as row`,
      [model, made],
    )
    await testApi.db.query(
      `with ${rows}, queued as (
         insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce, state)
         select made.id, livemode, chain_id, lower(token), '0x' || repeat('aa', 20), lower(destination), net,
           '0x' || lpad(to_hex(n), 64, '0'), 'settled' from model, made
         returning *)
       insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at, owner_id, known_as)
       select chain_id, '0x' || repeat('ab', 32), n, token, treasury, 'out', recipient, micro_usdc, auth_nonce, 1,
         '0x' || repeat('cd', 32), at, made.id, 'payout' from queued join made on made.id = payment_id`,
      [model, made],
    )
  }

  const micro = (text: string | undefined): bigint => BigInt((text ?? '').replace('.', ''))
  const selectDay = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD') as day`

  test(`the statement of a month with ${PAYMENTS} payments, read from the chain 40 days later, equals the ledger and the chain to the micro-USDC, by day, by month and in sum`, async () => {
    const account = await openAccount(testApi, 'statement@shop.example')
    await settleMany(account)
    const file = async (query: string): Promise<string[][]> => {
      const { html } = await account.owner.get(`/dashboard/balance.csv?${query}`)
      return html
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','))
    }
    const { rows: ledger } = await testApi.db.query(
      `select ${selectDay('booked_at')}, count(distinct transaction_id)::text as payments,
         sum(amount) filter (where account = 'conversion')::text as gross,
         (-sum(amount) filter (where account = 'fee_revenue'))::text as fee,
         (-sum(amount) filter (where account = 'merchant_payable'))::text as net
       from ledger_entry join ledger_transaction on id = transaction_id
       where asset = 'USDC' and kind = 'payment.converted' group by 1 order by 1`,
    )
    const { rows: chain } = await testApi.db.query(
      `select ${selectDay('treasury_log.finalized_at')}, count(*)::text as payments, sum(micro_usdc)::text as net
       from treasury_log join payment on payment.id = owner_id
       where kind = 'out' and merchant_id = $1 group by 1 order by 1`,
      [account.tenant.merchantId],
    )
    const days = (await file('month=2026-10')).slice(1)
    const lines = days.map(([day, payments, gross, fee, _reserved, _deducted, _released, _charged, net]) => {
      return { day, payments, gross: micro(gross).toString(), fee: micro(fee).toString(), net: micro(net).toString() }
    })
    expect(lines.slice(0, -1)).toEqual(ledger)
    expect(lines.slice(0, -1).map(({ day, payments, net }) => ({ day, payments, net }))).toEqual(chain)
    expect(days).toHaveLength(DAYS + 1)
    const total = (name: string): string => ledger.reduce((sum, row) => sum + BigInt(row[name]), 0n).toString()
    expect(lines.at(-1)).toEqual({
      day: 'sum',
      payments: String(PAYMENTS),
      gross: total('gross'),
      fee: total('fee'),
      net: total('net'),
    })
    const [, october, sum] = await file('year=2026')
    expect(october).toEqual(['2026-10', ...(sum ?? []).slice(1)])
    expect(october?.slice(1)).toEqual(days.at(-1)?.slice(1))
    expect((await account.owner.get('/dashboard/balance?by=month')).html).toContain('Oct 2026')
  }, 60_000)

  test('another account reads nothing of the statement, and a file for an invalid month is not found', async () => {
    const other = await openAccount(testApi, 'empty@shop.example')
    const { html } = await other.owner.get('/dashboard/balance.csv?month=2026-10')
    expect(html.trimEnd().split('\r\n')[1]).toBe(
      'sum,0,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0,0.000000,0.000000',
    )
    expect((await other.owner.get('/dashboard/balance')).html).toContain('Nothing has arrived in this period.')
    expect((await other.owner.get('/dashboard/balance.csv?month=2026-13')).status).toBe(404)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import type { ApiDeps } from '../../../src/api/app.ts'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { insertMembership } from '../../../src/db/accounts/people.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { newId } from '../../../src/ids.ts'
import { noticeMail } from '../../../src/notify/notice-mail.ts'
import { createNoticeRound } from '../../../src/worker/notify/notice-round.ts'
import { type Merchant as Receiver, startMerchant } from '../../webhooks/merchant.ts'
import { linkFixture, pressOn, withoutLimits } from '../links/maker.ts'
import { type Account, onceIn, openAccount } from '../site/account.ts'
import { mailsTo, signIn } from '../site/visitor.ts'
import { startDelivering } from '../support/delivering.ts'
import { NO_LIMITS } from '../support/limits.ts'
import { type Answer, expectProblem, openTestApi, type TestApi } from '../support/test-api.ts'

let now: number | null = null
/** Temporal's reaction to a delivery that is started; each group of tests sets it. */
let deliverNow: (of: { eventId: string; endpointId: string }) => Promise<boolean> = async () => true
let diagnose: ApiDeps['deliveries']['diagnose'] = async () => null
const limited = (sendsPerHour: number) =>
  createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 }, sendsPerHour })
let limits = limited(1e6)
let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi({
    deps: ({ limits: usual }) => ({
      clock: () => now ?? Date.now(),
      deliveries: { deliverNow: (of) => deliverNow(of), diagnose: (of) => diagnose(of) },
      limits: { ...usual, countSend: (account) => limits.countSend(account) },
    }),
  })
})
afterAll(() => testApi?.close())

describe('Sending failed deliveries again', () => {
  // The number of deliveries that one request can start, and the age that it can reach back to.
  const DAY_MS = 86_400_000
  const NOW = Date.UTC(2026, 10, 20, 12)

  let endpoint = ''
  /** Calls of Temporal: the number of starts, and the most at the same time. */
  let starts = { made: [] as string[], running: 0, most: 0 }
  let reachable = true
  beforeAll(() => {
    now = NOW
    deliverNow = async ({ eventId }) => {
      starts.made.push(eventId)
      starts.running += 1
      starts.most = Math.max(starts.most, starts.running)
      // The others of its wave begin before it ends.
      await new Promise((resolve) => setImmediate(resolve))
      starts.running -= 1
      return reachable
    }
  })
  afterAll(() => {
    now = null
  })

  beforeEach(async () => {
    const body = { url: 'https://shop.example/hooks', enabled_events: ['*'] }
    endpoint = String((await testApi.ask('POST', '/v1/webhook_endpoints', { body })).body['id'])
    starts = { made: [], running: 0, most: 0 }
    reachable = true
  })

  /**
   * Writes this number of deliveries of the endpoint in this state, made at this time; the prefix names their events.
   */
  async function addDeliveries(
    prefix: string,
    count: number,
    made: { status?: string; at?: number } = {},
  ): Promise<void> {
    const { status = 'exhausted', at = NOW - 1000 } = made
    await testApi.db.query(
      `with made as (insert into event (id, merchant_id, livemode, type, payment_id, sequence, body, created_at)
         select $1 || '_' || n, $2, false, 'payment.failed', null, null, '{}'::text::bytea, $6::timestamptz
         from generate_series(1, $3::int) n returning id)
       insert into delivery (event_id, endpoint_id, merchant_id, livemode, status, attempts, schedule_step, created_at)
       select id, $4, $2, false, $5, 12, 12, $6::timestamptz from made`,
      [`${prefix}_${endpoint}`, testApi.tenant.merchantId, count, endpoint, status, new Date(at).toISOString()],
    )
  }
  const redeliver = (since: number) =>
    testApi.ask('POST', `/v1/webhook_endpoints/${endpoint}/redeliver_failed`, {
      body: { since: new Date(since).toISOString() },
    })
  const pending = async (): Promise<string[]> => {
    const text = `select event_id from delivery where endpoint_id = $1 and status = 'pending' order by event_id`
    return (await testApi.db.query(text, [endpoint])).rows.map((row: { event_id: string }) => row.event_id)
  }

  test('501 failed deliveries all start again; the request starts 500, never more than 20 at once', async () => {
    await addDeliveries('many', 501)
    const answer = await redeliver(NOW - DAY_MS)
    expect([answer.status, answer.body['deliveries']]).toEqual([202, 501])
    expect(new Set(starts.made).size).toBe(500)
    expect(starts.made).toHaveLength(500)
    expect(starts.most).toBe(20)
    expect(await pending()).toHaveLength(501)
  })

  test('a redelivery tries one wave while Temporal does not answer, and leaves the rest to the sweep', async () => {
    await addDeliveries('unreached', 45)
    reachable = false
    expect((await redeliver(NOW - DAY_MS)).body['deliveries']).toBe(45)
    expect(starts.made).toHaveLength(20)
    expect(await pending()).toHaveLength(45)
  })

  test('a redelivery sends what failed 30 days ago, and nothing that failed a millisecond earlier, whatever is requested', async () => {
    await addDeliveries('edge', 1, { at: NOW - 30 * DAY_MS })
    await addDeliveries('older', 1, { at: NOW - 30 * DAY_MS - 1 })
    expect((await redeliver(NOW - 90 * DAY_MS)).body['deliveries']).toBe(1)
    expect(starts.made).toEqual([`edge_${endpoint}_1`])
  })

  test('a redelivery skips deliveries that are still tried or arrived, and sends those parked with a disabled endpoint', async () => {
    await addDeliveries('retried', 1, { status: 'pending' })
    await addDeliveries('arrived', 1, { status: 'delivered' })
    await addDeliveries('parked', 1, { status: 'disabled' })
    expect((await redeliver(NOW - DAY_MS)).body['deliveries']).toBe(1)
    expect(starts.made).toEqual([`parked_${endpoint}_1`])
  })

  test('one of twenty test events that are requested at once is sent, and the others are refused until its response', async () => {
    const test = () => testApi.ask('POST', `/v1/webhook_endpoints/${endpoint}/test`)
    const answers = await Promise.all(Array.from({ length: 20 }, test))
    const refused = answers.filter(({ status }) => status !== 202)
    expect(refused).toHaveLength(19)
    for (const answer of refused) expectProblem(answer, 409, 'not_possible_now')
    expect(await pending()).toHaveLength(1)
  })

  test('an account sends test events and redeliveries up to its limit, and then is refused', async () => {
    await addDeliveries('counted', 3)
    limits = limited(2)
    const [event] = (await testApi.db.query('select event_id from delivery where endpoint_id = $1 limit 1', [endpoint]))
      .rows
    const one = `/v1/webhook_endpoints/${endpoint}/deliveries/${event.event_id}/redeliver`
    const statuses = [
      (await redeliver(NOW - DAY_MS)).status,
      (await testApi.ask('POST', `/v1/webhook_endpoints/${endpoint}/test`)).status,
    ]
    const refused = await testApi.ask('POST', one)
    limits = limited(1e6)
    expect([...statuses, refused.status, refused.body['code']]).toEqual([202, 202, 429, 'rate_limited'])
  })

  test('a disabled endpoint gets no redelivery, neither of all nor of one', async () => {
    await addDeliveries('off', 1)
    await testApi.ask('PATCH', `/v1/webhook_endpoints/${endpoint}`, { body: { enabled: false } })
    expectProblem(await redeliver(NOW - DAY_MS), 409, 'not_possible_now')
    const one = `/v1/webhook_endpoints/${endpoint}/deliveries/off_${endpoint}_1/redeliver`
    expectProblem(await testApi.ask('POST', one), 409, 'not_possible_now')
    expect([starts.made, await pending()]).toEqual([[], []])
  })
})

describe('The pages of webhooks', () => {
  const started: string[] = []
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    deliverNow = async ({ eventId }) => started.push(eventId) > 0
  })

  const NEW = '/dashboard/webhooks/new'
  const secretIn = (html: string): string => /value="(whsec_[^"]+)"/.exec(html)?.[1] ?? ''
  const stripTags = (html: string): string => html.replaceAll(/<[^>]+>/g, '')

  /** An endpoint that was added by the form. */
  async function addEndpoint({ owner }: Account) {
    const form = { url: 'https://shop.example/hooks', description: 'Shop server', event: 'payment.succeeded' }
    const once = await onceIn(owner, NEW)
    const { html } = await owner.submit('/dashboard/webhooks', { ...form, once })
    const again = await owner.submit('/dashboard/webhooks', { ...form, once })
    const path = /href="(\/dashboard\/webhooks\/we_\w+)"/.exec((await owner.get('/dashboard/webhooks')).html)?.[1] ?? ''
    return { path, id: path.split('/').at(-1) ?? '', secret: secretIn(html), again: secretIn(again.html) }
  }

  /** An event for the endpoint with one try; returns its id. */
  async function addDelivery(
    account: Account,
    endpoint: string,
    made: { status: string; answer: number },
  ): Promise<string> {
    const id = newId('event')
    const body = Buffer.from(JSON.stringify({ id, type: 'payment.succeeded', data: { note: '<script>' } }))
    const { tenant } = account
    await testApi.db.query(
      `with made as (insert into event (id, merchant_id, livemode, type, payment_id, sequence, body, created_at)
         values ($1, $2, false, 'payment.succeeded', null, null, $3, now()) returning id)
       insert into delivery (event_id, endpoint_id, merchant_id, livemode, status, attempts, created_at, last_attempt_at)
       select id, $4, $2, false, $5, 1, now(), now() from made`,
      [id, tenant.merchantId, body, endpoint, made.status],
    )
    await testApi.db.query(
      `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status, response_headers, response_body)
       values ($1, $2, 1, now(), 1204, $3, '{"retry-after": "600"}', 'connection pool timeout <b>')`,
      [id, endpoint, made.answer],
    )
    return id
  }

  test('an endpoint is added once, its secret shown once; the form of a wrong URL says what to write', async () => {
    const account = await openAccount(testApi, 'hooks@shop.example')
    const wrong = await account.owner.submit('/dashboard/webhooks', {
      url: 'https://127.0.0.1/x',
      event: 'payment.succeeded',
    })
    expect([
      wrong.status,
      wrong.html.includes('value="https://127.0.0.1/x"'),
      wrong.html.includes('class="error"'),
    ]).toEqual([400, true, true])
    const { path, secret, again } = await addEndpoint(account)
    expect(secret).toMatch(/^whsec_/)
    expect(again).toBe(secret)
    const { html } = await account.owner.get(path)
    expect([html.includes('shop.example/hooks'), html.includes(secret)]).toEqual([true, false])
    const rotated = await account.owner.submit(`${path}/rotate`, { overlap: '3600' })
    expect(secretIn(rotated.html)).not.toBe(secret)
    expect(stripTags((await account.owner.get(path)).html)).toContain('The old secret also signs until')
  })

  test('deliveries show their request and response, and are sent again one by one or all failed ones', async () => {
    const account = await openAccount(testApi, 'deliveries@shop.example')
    const { owner } = account
    const { path, id } = await addEndpoint(account)
    await addDelivery(account, id, { status: 'delivered', answer: 200 })
    const failed = await addDelivery(account, id, { status: 'exhausted', answer: 503 })
    const page = stripTags((await owner.get(path)).html)
    for (const text of ['1 of 2', '1,204 ms', 'Send 1 failed again', 'Failed 1']) expect(page).toContain(text)
    expect((await owner.get(`${path}?show=failed`)).html.match(/row-link/g)).toHaveLength(1)
    const delivery = await owner.get(`${path}/deliveries/${failed}`)
    for (const text of [`webhook-id: ${failed}`, 'HTTP/1.1 503', 'retry-after: 600', 'connection pool timeout &lt;b>'])
      expect(delivery.html).toContain(text)
    expect(delivery.html).not.toContain('<script>"')
    expect((await owner.submit(`${path}/deliveries/${failed}/redeliver`)).to).toBe(`${path}/deliveries/${failed}`)
    expect(started).toEqual([failed])
    await testApi.db.query(`update delivery set status = 'exhausted' where event_id = $1`, [failed])
    expect((await owner.submit(`${path}/redeliver`)).to).toBe(path)
    expect(started).toEqual([failed, failed])
    expect((await owner.submit(`${path}/test`)).to).toBe(path)
    expect(started).toHaveLength(3)
  })

  test('a disabled endpoint is announced by mail and enabled with one press, with the missed deliveries', async () => {
    const account = await openAccount(testApi, 'off@shop.example')
    const { owner } = account
    const { path, id } = await addEndpoint(account)
    const missed = await addDelivery(account, id, { status: 'disabled', answer: 500 })
    await testApi.db.query(
      `update webhook_endpoint set disabled_at = now(), disabled_reason = 'failing' where id = $1`,
      [id],
    )
    const deps = { db: testApi.db, newMailId: () => newId('mail'), publicUrl: testApi.url, clock: Date.now, noticeMail }
    await createNoticeRound({ ...deps, seal: (text, mail) => testApi.secretBox.seal(text, mail) })()
    const mail = (await mailsTo(testApi, 'off@shop.example')).at(-1)
    expect(mail?.subject).toContain('Webhook endpoint disabled')
    expect(mail?.text).toContain(path)
    expect(stripTags((await owner.get('/dashboard/webhooks')).html)).toContain(
      'Disabled after 5 days without a success',
    )
    expect((await owner.submit(`${path}/test`)).status).toBe(409)
    expect((await owner.submit(`${path}/enable`, { send: 'failed' })).to).toBe(path)
    expect(started.at(-1)).toBe(missed)
    expect(stripTags((await owner.get(path)).html)).toContain('Healthy')
    expect((await owner.submit(`${path}/disable`)).to).toBe(path)
    expect(stripTags((await owner.get(path)).html)).toContain('Disabled by somebody in your account')
  })

  test('an edited endpoint keeps its URL if the new one is wrong; a right one takes effect and is in the log', async () => {
    const account = await openAccount(testApi, 'edits@shop.example')
    const { owner, tenant } = account
    const { path, id } = await addEndpoint(account)
    const page = await owner.get(`${path}/edit`)
    for (const text of ['value="https://shop.example/hooks"', 'value="Shop server"', '-X PATCH']) {
      expect([text, page.html.includes(text)]).toEqual([text, true])
    }
    expect(page.html).toMatch(/value="payment.succeeded"[^>]* checked|checked[^>]* value="payment.succeeded"/)
    const form = { url: 'https://shop.example/new', description: '', event: '*' }
    const before = await readState(id)
    const none = { url: form.url, description: '' }
    for (const wrong of [{ ...form, url: 'https://10.0.0.1/x' }, { ...form, event: 'payment.moved' }, none]) {
      const answer = await owner.submit(`${path}/edit`, wrong)
      expect([wrong, answer.status, answer.html.includes('One thing to correct')]).toEqual([wrong, 400, true])
    }
    expect(await readState(id)).toEqual(before)
    expect((await owner.submit(`${path}/edit`, form)).to).toBe(path)
    expect(await readState(id)).toEqual({ url: form.url, description: null, enabled_events: ['*'] })
    expect(await lastEntry(tenant.merchantId)).toMatchObject({
      action: 'updateWebhookEndpoint',
      data: { id, url: form.url },
    })
  })

  test('an endpoint is deleted after a page that lists the effects: its deliveries are deleted, the events remain', async () => {
    const account = await openAccount(testApi, 'deletes@shop.example')
    const { owner, tenant } = account
    const { path, id } = await addEndpoint(account)
    const waits = await addDelivery(account, id, { status: 'pending', answer: 503 })
    await addDelivery(account, id, { status: 'exhausted', answer: 503 })
    const asked = stripTags((await owner.get(`${path}/delete`)).html)
    for (const text of ['1 event, never sent', '1 event, lost', 'for 90 days', '-X DELETE'])
      expect([text, asked.includes(text)]).toEqual([text, true])
    expect(await readState(id)).toBeDefined()
    expect((await owner.submit(`${path}/delete`)).to).toBe('/dashboard/webhooks')
    expect(await readState(id)).toBeUndefined()
    expect((await testApi.db.query('select 1 from delivery where endpoint_id = $1', [id])).rows).toEqual([])
    expect((await owner.get(`/dashboard/events/${waits}`)).status).toBe(200)
    const entry = { action: 'deleteWebhookEndpoint', data: { id, url: 'https://shop.example/hooks' } }
    expect(await lastEntry(tenant.merchantId)).toMatchObject(entry)
    for (const again of [await owner.get(`${path}/delete`), await owner.submit(`${path}/delete`)])
      expect(again.status).toBe(404)
  })

  const readState = async (id: string) =>
    (await testApi.db.query('select url, description, enabled_events from webhook_endpoint where id = $1', [id]))
      .rows[0]
  const lastEntry = async (merchantId: string) =>
    (
      await testApi.db.query('select action, data from audit_entry where merchant_id = $1 order by id desc limit 1', [
        merchantId,
      ])
    ).rows[0]

  test('an endpoint shows the code that verifies its webhooks, in the chosen language', async () => {
    const account = await openAccount(testApi, 'codes@shop.example')
    const { path } = await addEndpoint(account)
    expect((await account.owner.get(path)).html).toContain('export function receiveWebhook')
    const { html } = await account.owner.get(`${path}?lang=java`)
    expect(html).toContain('final class Verify')
    for (const language of ['typescript', 'python', 'go', 'php', 'java'])
      expect(html).toContain(`href="${path}?lang=${language}#verify-code"`)
  })
})

describe('The pages of events', () => {
  const sent: string[] = []
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    deliverNow = async ({ eventId, endpointId }) => sent.push(`${eventId} ${endpointId}`) > 0
  })

  const stripTags = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  const typesIn = (html: string): string[] =>
    [...html.matchAll(/row-link[^>]*><b><code[^>]*>([^<]+)/g)].map(([, type]) => type ?? '')

  type Made = Account & { readonly endpoint: string; readonly payment: string; readonly events: readonly string[] }

  /** An endpoint, a payment, and its events: one accepted, one that is tried again, one that has failed. */
  async function openWithEvents(email: string): Promise<Made> {
    const account = await openAccount(testApi, email)
    const { tenant, key, pay } = account
    // Its creation is not announced.
    const payment = await pay({ amount: 10, currency: 'EUR', reference: `Order of ${email}` })
    const made = await testApi.ask('POST', '/v1/webhook_endpoints', {
      key,
      body: { url: 'https://shop.example/hooks', enabled_events: ['*'] },
    })
    const events: string[] = []
    for (const [type, status] of [
      ['payment.processing', 'delivered'],
      ['payment.succeeded', 'pending'],
      ['payment.chargeback', 'exhausted'],
    ] as const) {
      const at = new Date().toISOString()
      const about = { ...tenant, type, paymentId: payment, object: { id: payment, note: '<b>' }, at }
      const id = String(await testApi.db.transaction((tx) => recordEvent(tx, about)))
      await testApi.db.query(
        `update delivery set status = $2, attempts = 1, last_attempt_at = now() where event_id = $1`,
        [id, status],
      )
      events.push(id)
    }
    return { ...account, endpoint: String(made.body['id']), payment, events }
  }

  test('events are listed newest first with their deliveries’ state, and found by type, order, payment and id', async () => {
    const { owner, payment, events } = await openWithEvents('events@shop.example')
    const list = (await owner.get('/dashboard/events')).html
    expect(typesIn(list)).toEqual(['payment.chargeback', 'payment.succeeded', 'payment.processing', 'payment.created'])
    for (const text of [
      'Order of events@shop.example',
      '1 endpoint',
      'Not delivered 2',
      'Failed',
      'Retrying',
      'Delivered',
    ])
      expect(stripTags(list)).toContain(text)
    const found = async (q: string): Promise<string[]> =>
      typesIn((await owner.get(`/dashboard/events?q=${encodeURIComponent(q)}`)).html)
    expect(await found('succ')).toEqual(['payment.succeeded'])
    expect(await found(events[0] ?? '')).toEqual(['payment.processing'])
    expect(await found('Order of events@shop.example')).toHaveLength(4)
    expect(await found(payment)).toHaveLength(4)
    expect(await found('Order of somebody else')).toEqual([])
    await testApi.db.query('update payment set reference = $2 where id = $1', [payment, 'Größe-1'.normalize('NFC')])
    expect(await found('Größe-1'.normalize('NFD'))).toHaveLength(4)
    expect(typesIn((await owner.get('/dashboard/events?show=undelivered')).html)).toEqual([
      'payment.chargeback',
      'payment.succeeded',
    ])
    expect(typesIn((await owner.get(`/dashboard/events?after=${events[1]}`)).html)).toEqual([
      'payment.processing',
      'payment.created',
    ])
  })

  test('an event is shown with its payload and its deliveries, and a permitted person sends it again with one press', async () => {
    const { owner, tenant, endpoint, events } = await openWithEvents('resend@shop.example')
    const path = `/dashboard/events/${events[2]}`
    const page = await owner.get(path)
    for (const text of [
      'payment.chargeback',
      'shop.example/hooks',
      '&quot;note&quot;: &quot;&lt;b>&quot;',
      'Send again',
    ])
      expect(page.html.replaceAll('"', '&quot;')).toContain(text)
    const again = /action="([^"]+\/redeliver)"/.exec(page.html)?.[1] ?? ''
    expect((await owner.submit(again)).to).toBe(`/dashboard/webhooks/${endpoint}/deliveries/${events[2]}`)
    expect(sent).toEqual([`${events[2]} ${endpoint}`])
    const viewer = await signIn(testApi, 'viewer@resend.example')
    const { rows } = await testApi.db.query(`select id from person where email = 'viewer@resend.example'`)
    await insertMembership(testApi.db, { merchantId: tenant.merchantId, personId: String(rows[0]?.id), role: 'viewer' })
    const seen = await viewer.get(path)
    expect([seen.status, seen.html.includes('Send again')]).toEqual([200, false])
    expect((await viewer.submit(again)).status).toBe(403)
  })

  test('the page of a failed delivery finds the mistake with one press', async () => {
    const { owner, endpoint, events } = await openWithEvents('mistake@shop.example')
    const path = `/dashboard/webhooks/${endpoint}/deliveries`
    const attempt =
      'insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms) values ($1, $2, 1, now(), 9)'
    for (const event of events) await testApi.db.query(attempt, [event, endpoint])
    expect((await owner.get(`${path}/${events[0]}`)).html).not.toContain('Find the mistake')
    expect((await owner.get(`${path}/${events[2]}`)).html).toContain('Find the mistake')
    diagnose = async () => ({ cause: 'parsed_body', detail: 'as PHP writes it', requests: 5 })
    const found = await owner.submit(`${path}/${events[2]}/diagnose`)
    expect([found.status, stripTags(found.html)]).toEqual([200, expect.stringContaining('as PHP writes it')])
    diagnose = async () => null
    const busy = await owner.submit(`${path}/${events[2]}/diagnose`)
    expect([busy.status, stripTags(busy.html)]).toEqual([409, expect.stringContaining('Try again')])
  })

  test('another account finds nothing of the event', async () => {
    const { events, payment } = await openWithEvents('mine@shop.example')
    const other = await openAccount(testApi, 'stranger@shop.example')
    for (const q of ['', events[0] ?? '', payment, 'Order of mine@shop.example'])
      expect(typesIn((await other.owner.get(`/dashboard/events?q=${encodeURIComponent(q)}`)).html)).toEqual([])
    expect((await other.owner.get(`/dashboard/events/${events[0]}`)).status).toBe(404)
    expect((await other.owner.get(`/dashboard/events?after=${events[0]}`)).status).toBe(404)
    expect(stripTags((await other.owner.get('/dashboard/events')).html)).toContain('Not delivered 0')
  })
})

describe('Endpoints', () => {
  let testApi: TestApi
  let receiver: Receiver
  let worker: { close(): Promise<void> }
  let status = 204
  beforeAll(async () => {
    receiver = await startMerchant(() => ({ status }))
    testApi = await openTestApi({ deps: () => ({ webhookTargets: { mode: 'test', testTargets: [receiver.target] } }) })
    worker = await startDelivering(testApi, [receiver.target])
  }, 120_000)
  afterAll(async () => {
    await worker?.close()
    await testApi?.close()
    await receiver?.close()
  })

  type Fields = Record<string, unknown>
  const PATH = '/v1/webhook_endpoints'
  const create = (body: unknown, headers: Record<string, string> = {}) => testApi.ask('POST', PATH, { body, headers })
  const getId = (answer: Answer): string => String(answer.body['id'])

  /** An endpoint at the receiver, which verifies with its secret from now on. */
  async function register(events: readonly string[] = ['*']): Promise<string> {
    const made = await create({ url: receiver.url, enabled_events: events })
    expect(made.status).toBe(201)
    receiver.secret = String(made.body['secret'])
    receiver.received.length = 0
    return getId(made)
  }

  async function record(type = 'payment.succeeded'): Promise<string> {
    const about = { type, paymentId: null, object: { id: 'pay_1', object: 'payment' }, at: new Date().toISOString() }
    return String(await testApi.db.transaction((tx) => recordEvent(tx, { ...testApi.tenant, ...about })))
  }

  const deliveries = async (id: string): Promise<Fields[]> =>
    (await testApi.ask('GET', `${PATH}/${id}/deliveries`)).body['data'] as Fields[]
  const arrived = (id: string) =>
    until(
      () => deliveries(id),
      (list) => list[0]?.['status'] === 'delivered',
      40_000,
    )

  describe('an endpoint', () => {
    test('every change of an endpoint writes a notice: it is added, changed, given a new secret, or deleted', async () => {
      const id = getId(await create({ url: 'https://noticed.example/hooks' }))
      await testApi.ask('PATCH', `${PATH}/${id}`, { body: { enabled: false } })
      await testApi.ask('POST', `${PATH}/${id}/rotate_secret`, { body: {} })
      await testApi.ask('DELETE', `${PATH}/${id}`)
      const { rows } = await testApi.db.query(
        `select data->>'url' as url from notice where data->>'endpoint' = $1 and kind = $2`,
        [id, 'webhook_endpoint.changed'],
      )
      expect(rows).toEqual([1, 2, 3, 4].map(() => ({ url: 'https://noticed.example/hooks' })))
    })

    test('an endpoint is made with a secret that is shown once, listed, read, changed and deleted', async () => {
      const made = await create({ url: 'https://shop.example/hooks', description: 'Orders' })
      expect(made.body).toMatchObject({
        object: 'webhook_endpoint',
        enabled_events: ['payment.succeeded'],
        status: 'enabled',
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      })
      expect(made.headers.get('location')).toBe(`${PATH}/${getId(made)}`)
      const { secret: _secret, ...shown } = made.body
      const read = await testApi.ask('GET', `${PATH}/${getId(made)}`)
      expect(read.body).toEqual(shown)
      const listed = (await testApi.ask('GET', PATH)).body['data']
      expect(listed).toContainEqual(shown)
      const body = { url: 'https://shop.example/other', enabled_events: ['*'], description: null, enabled: false }
      const changed = await testApi.ask('PATCH', `${PATH}/${getId(made)}`, { body })
      expect(changed.body).toMatchObject({
        url: body.url,
        description: null,
        status: 'disabled',
        disabled_reason: 'merchant',
      })
      const enabled = await testApi.ask('PATCH', `${PATH}/${getId(made)}`, { body: { enabled: true } })
      expect(enabled.body).toMatchObject({ status: 'enabled', disabled_at: null, disabled_reason: null })
      expect((await testApi.ask('DELETE', `${PATH}/${getId(made)}`)).body['deleted']).toBe(true)
      expectProblem(await testApi.ask('GET', `${PATH}/${getId(made)}`), 404, 'resource_missing')
    })

    test('a repeated request for an endpoint returns the same secret, which is stored encrypted', async () => {
      const key = { 'idempotency-key': 'endpoint-1' }
      const first = await create({ url: 'https://shop.example/once' }, key)
      const second = await create({ url: 'https://shop.example/once' }, key)
      expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
      const { rows } = await testApi.db.query('select body from idempotency_key')
      expect(JSON.stringify(rows)).not.toContain(String(first.body['secret']))
      await testApi.ask('DELETE', `${PATH}/${getId(first)}`)
    })

    test.each([
      ['http://shop.example/hooks', 'https'],
      ['https://user:pass@shop.example/', 'user name'],
      ['https://127.0.0.1/hooks', 'IP address'],
      ['https://[::1]/hooks', 'IP address'],
      ['https://2130706433/', 'IP address'],
      ['https://localhost/hooks', 'local host'],
      ['https://shop.internal/hooks', 'local host'],
      ['https://hooks/', 'domain'],
      ['https://shop.example/#x', 'fragment'],
      ['nonsense', 'must be a URL'],
    ])('an endpoint is refused: %s', async (url, why) => {
      const answer = await create({ url })
      expectProblem(answer, 400, 'validation_failed')
      expect(answer.body).toMatchObject({ param: 'url', detail: expect.stringContaining(why) })
    })

    test('an endpoint at a local address is refused with the local addresses that test mode allows', async () => {
      const { body } = await create({ url: 'http://localhost:9999/hooks' })
      expect(body['detail']).toMatch(/must begin with https:\/\/.*WEBHOOK_TEST_TARGETS.*http:\/\/127\.0\.0\.1:\d+/)
    })

    test('an endpoint for an unknown type, or for no type, is refused', async () => {
      expectProblem(await create({ url: receiver.url, enabled_events: ['payment.suceeded'] }), 400, 'validation_failed')
      expectProblem(await create({ url: receiver.url, enabled_events: [] }), 400, 'validation_failed')
    })

    test('an account has at most sixteen endpoints, however many requests arrive at once', async () => {
      const other = await testApi.addMerchant()
      const asOther = { key: other.key, body: { url: 'https://shop.example/hooks' } }
      const answers = await Promise.all(Array.from({ length: 20 }, () => testApi.ask('POST', PATH, asOther)))
      const refused = answers.filter((answer) => answer.status !== 201)
      for (const answer of refused) expectProblem(answer, 409, 'limit_reached')
      expect(answers.length - refused.length).toBe(16)
      expect((await testApi.ask('GET', PATH, { key: other.key })).body['data']).toHaveLength(16)
    })
  })

  describe('A rotated secret', () => {
    test('a rotated secret signs together with the old one until its overlap is over', async () => {
      const id = await register()
      const old = receiver.secret
      const rotated = await testApi.ask('POST', `${PATH}/${id}/rotate_secret`, { body: { overlap: 3600 } })
      expect(rotated.body['secret']).not.toBe(old)
      expect(Date.parse(String(rotated.body['previous_secret_expires_at']))).toBeGreaterThan(Date.now() + 3_500_000)
      await testApi.ask('POST', `${PATH}/${id}/test`)
      await arrived(id)
      expect(receiver.received[0]).toMatchObject({ genuine: true })
      expect(receiver.received[0]!.signature.split(' ')).toHaveLength(2)
      receiver.secret = String(rotated.body['secret'])
      await testApi.ask('POST', `${PATH}/${id}/test`)
      await until(
        async () => receiver.received.length,
        (count) => count === 2,
      )
      expect(receiver.received[1]).toMatchObject({ genuine: true })
      const ended = await testApi.ask('POST', `${PATH}/${id}/rotate_secret`, { body: { overlap: 0 } })
      expect(ended.body['previous_secret_expires_at']).toBeNull()
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })
  })

  describe('Deliveries', () => {
    test('a delivery of a test event is signed, has its own type, is outside the sequence, and is in the log', async () => {
      const id = await register(['payment.failed'])
      const answer = await testApi.ask('POST', `${PATH}/${id}/test`)
      expect([answer.status, answer.body['endpoint']]).toEqual([202, id])
      const [delivery] = await arrived(id)
      expect(delivery).toMatchObject({
        event: answer.body['event'],
        type: 'webhook.test',
        attempts: 1,
        log: [{ number: 1, response_status: 204, error: null }],
      })
      const [received] = receiver.received
      expect(received).toMatchObject({ id: answer.body['event'], genuine: true })
      expect(JSON.parse(received!.body.toString())).toMatchObject({ type: 'webhook.test', sequence: null })
      const event = await testApi.ask('GET', `/v1/events/${String(answer.body['event'])}`)
      expect(event.text).toBe(received!.body.toString())
      const events = (await testApi.ask('GET', '/v1/events')).body['data'] as Fields[]
      expect(events.map(({ type }) => type)).not.toContain('webhook.test')
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })

    test('a test event is tried once, whatever the receiver’s response, and another can be sent after it', async () => {
      const id = await register()
      const test = () => testApi.ask('POST', `${PATH}/${id}/test`)
      status = 500
      expect((await test()).status).toBe(202)
      const [delivery] = await until(
        () => deliveries(id),
        (list) => list[0]?.['status'] !== 'pending',
        40_000,
      )
      status = 204
      expect(delivery).toMatchObject({ status: 'exhausted', attempts: 1, log: [{ response_status: 500 }] })
      expect((await test()).status).toBe(202)
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })

    test('deliveries are sent again with the same id and bytes, also an accepted one', async () => {
      const id = await register()
      const event = await record()
      for (const times of [1, 2]) {
        const answer = await testApi.ask('POST', `${PATH}/${id}/deliveries/${event}/redeliver`)
        expect(answer.status).toBe(202)
        await until(
          async () => receiver.received.length,
          (count) => count === times,
          40_000,
        )
        await arrived(id)
      }
      expect(new Set(receiver.received.map(({ id: seen, body }) => `${seen} ${body.toString('hex')}`)).size).toBe(1)
      expect(receiver.received.every(({ genuine, id: seen }) => genuine && seen === event)).toBe(true)
      expectProblem(await testApi.ask('POST', `${PATH}/${id}/deliveries/evt_x/redeliver`), 404, 'resource_missing')
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })

    test('all failed deliveries since a time are sent again, and earlier ones are not', async () => {
      const id = await register()
      const early = await record()
      const failed = [await record(), await record('payment.failed'), await record('payment.expired')]
      await testApi.db.query(
        "update delivery set status = 'exhausted', attempts = 12, schedule_step = 12 where endpoint_id = $1",
        [id],
      )
      await testApi.db.query("update delivery set created_at = now() - interval '3 days' where event_id = $1", [early])
      const since = new Date(Date.now() - 86_400_000).toISOString()
      const answer = await testApi.ask('POST', `${PATH}/${id}/redeliver_failed`, { body: { since } })
      expect(answer.body).toEqual({ object: 'redelivery', endpoint: id, deliveries: 3 })
      await until(
        async () => receiver.received.length,
        (count) => count === 3,
        40_000,
      )
      expect(receiver.received.map(({ id: seen }) => seen).sort()).toEqual([...failed].sort())
      const left = (await testApi.ask('GET', `${PATH}/${id}/deliveries?status=exhausted`)).body['data'] as Fields[]
      expect(left.map(({ event }) => event)).toEqual([early])
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })

    test('a response of 410 disables the endpoint and writes a notice, and nothing is sent before it is enabled', async () => {
      const id = await register()
      const event = await record()
      status = 410
      await testApi.ask('POST', `${PATH}/${id}/deliveries/${event}/redeliver`)
      const read = () => testApi.ask('GET', `${PATH}/${id}`)
      const disabled = await until(read, (answer) => answer.body['status'] === 'disabled', 40_000)
      status = 204
      expect(disabled.body['disabled_reason']).toBe('gone')
      const { rows } = await testApi.db.query(
        "select kind, data from notice where kind = 'webhook_endpoint.disabled' and data ->> 'endpoint' = $1",
        [id],
      )
      expect(rows).toEqual([
        { kind: 'webhook_endpoint.disabled', data: { endpoint: id, reason: 'gone', url: receiver.url } },
      ])
      expectProblem(await testApi.ask('POST', `${PATH}/${id}/test`), 409, 'not_possible_now')
      await testApi.ask('PATCH', `${PATH}/${id}`, { body: { enabled: true } })
      expect((await testApi.ask('POST', `${PATH}/${id}/deliveries/${event}/redeliver`)).status).toBe(202)
      await arrived(id)
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })

    test('a diagnosis says why an endpoint refuses an event', async () => {
      const id = await register()
      const event = await record()
      const diagnose = async () =>
        (await testApi.ask('POST', `${PATH}/${id}/deliveries/${event}/diagnose`)).body as Fields
      status = 401
      const refused = await diagnose()
      expect(refused).toMatchObject({ object: 'delivery_diagnosis', event, endpoint: id, cause: 'unknown' })
      expect(refused['requests']).toBe(receiver.received.length)
      expect(receiver.received.filter(({ genuine }) => genuine)).toHaveLength(2)
      status = 404
      expect(await diagnose()).toMatchObject({ cause: 'response', requests: 1 })
      status = 204
      expect(await diagnose()).toMatchObject({ cause: 'none', requests: 1 })
      expect((await testApi.ask('POST', `${PATH}/${id}/deliveries/evt_1/diagnose`)).status).toBe(404)
      await testApi.ask('PATCH', `${PATH}/${id}`, { body: { enabled: false } })
      expect((await testApi.ask('POST', `${PATH}/${id}/deliveries/${event}/diagnose`)).status).toBe(409)
      await testApi.ask('DELETE', `${PATH}/${id}`)
    })
  })
})

describe('The event of a payment that is created', () => {
  /**
   * `payment.created`: written with the payment, and sent at once by the api to each endpoint that subscribes to it.
   */

  let testApi: TestApi
  let sent: string[] = []
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: (db) => ({
        ...withoutLimits(db),
        deliveries: {
          deliverNow: async ({ eventId, endpointId }) => sent.push(`${eventId} ${endpointId}`) > 0,
          diagnose: async () => null,
        },
      }),
    })
  }, 60_000)
  afterAll(() => testApi?.close())
  beforeEach(() => {
    sent = []
  })

  const pay = (headers: Record<string, string> = {}) =>
    testApi.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR' }, headers })

  const subscribe = async (enabled_events: string[]): Promise<string> => {
    const body = { url: 'https://shop.example/hooks', enabled_events }
    return String((await testApi.ask('POST', '/v1/webhook_endpoints', { body })).body['id'])
  }

  type Listed = { id: string; type: string; sequence: number; data: { object: { id: string } } }
  const events = async (): Promise<Listed[]> =>
    ((await testApi.ask('GET', '/v1/events?after_sequence=0&limit=100')).body['data'] ?? []) as Listed[]

  test('a created payment is delivered as it was answered, only to the endpoints that subscribe to it', async () => {
    await subscribe(['payment.succeeded'])
    const asking = [await subscribe(['payment.created']), await subscribe(['*'])].sort()
    const made = await pay()
    const [event] = (await events()).filter(({ data }) => data.object.id === made.body['id'])
    // No event has the buyer's data.
    const { customer_email: _email, customer_tax_id: _taxId, ...object } = made.body
    expect(event).toMatchObject({ type: 'payment.created', data: { object } })
    expect(sent).toEqual(asking.map((endpointId) => `${event?.id} ${endpointId}`))
  })

  test('one request makes one event, however often it is sent, and a refused request makes none', async () => {
    const before = (await events()).length
    const headers = { 'idempotency-key': 'created-once' }
    const answers = await Promise.all([pay(headers), pay(headers), pay(headers)])
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0)
    await pay(headers)
    await testApi.ask('POST', '/v1/payments', { body: { amount: 0, currency: 'EUR' } })
    expect((await events()).length).toBe(before + 1)
  })

  test('payments that are created at the same moment leave no gap in the sequence', async () => {
    const before = (await events()).length
    await Promise.all(Array.from({ length: 20 }, () => pay()))
    const sequences = (await events()).map(({ sequence }) => sequence)
    expect(sequences).toEqual(Array.from({ length: before + 20 }, (_, place) => place + 1))
  })

  test('a payment of a link is announced too', async () => {
    const fixture = linkFixture(testApi)
    const made = await fixture.make()
    await pressOn(testApi, made.path)
    const [payment] = await fixture.readPayments(made)
    const events = await fixture.rows('select type, sequence from event where payment_id = $1', [payment?.id])
    expect(events).toEqual([{ type: 'payment.created', sequence: '1' }])
  })
})

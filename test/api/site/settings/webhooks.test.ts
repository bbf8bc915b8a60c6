import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newId } from '../../../../src/ids.ts'
import { noticeMail } from '../../../../src/notify/notice-mail.ts'
import { createNoticeRound } from '../../../../src/worker/notify/notice-round.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { type Account, onceIn, openAccount } from '../account.ts'
import { mailsTo } from '../visitor.ts'

let shop: Shop
const started: string[] = []
beforeAll(async () => {
  shop = await openShop({
    deps: () => ({
      deliveries: {
        deliverNow: async ({ eventId }) => {
          started.push(eventId)
          return true
        },
      },
    }),
  })
})
afterAll(() => shop?.close())

const NEW = '/dashboard/webhooks/new'
const secretIn = (html: string): string => /value="(whsec_[^"]+)"/.exec(html)?.[1] ?? ''
const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, '')

/** An endpoint that was added by the form. */
async function addEndpoint({ owner }: Account) {
  const form = { url: 'https://shop.example/hooks', description: 'Shop server', event: 'payment.succeeded' }
  const once = await onceIn(owner, NEW)
  const { html } = await owner.submit('/dashboard/webhooks', { ...form, once })
  const again = await owner.submit('/dashboard/webhooks', { ...form, once })
  const path = /href="(\/dashboard\/webhooks\/we_\w+)"/.exec((await owner.get('/dashboard/webhooks')).html)?.[1] ?? ''
  return { path, id: path.split('/').at(-1) ?? '', secret: secretIn(html), again: secretIn(again.html) }
}

/** An event for the endpoint with one try; answers its id. */
async function addDelivery(
  account: Account,
  endpoint: string,
  made: { status: string; answer: number },
): Promise<string> {
  const id = newId('event')
  const body = Buffer.from(JSON.stringify({ id, type: 'payment.succeeded', data: { note: '<script>' } }))
  const { tenant } = account
  await shop.db.query(
    `with made as (insert into event (id, merchant_id, livemode, type, payment_id, sequence, body, created_at)
       values ($1, $2, false, 'payment.succeeded', null, null, $3, now()) returning id)
     insert into delivery (event_id, endpoint_id, merchant_id, livemode, status, attempts, created_at, last_attempt_at)
     select id, $4, $2, false, $5, 1, now(), now() from made`,
    [id, tenant.merchantId, body, endpoint, made.status],
  )
  await shop.db.query(
    `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status, response_headers, response_body)
     values ($1, $2, 1, now(), 1204, $3, '{"retry-after": "600"}', 'connection pool timeout <b>')`,
    [id, endpoint, made.answer],
  )
  return id
}

test('an endpoint is added once, its secret shown once; a wrong address comes back with what to write', async () => {
  const account = await openAccount(shop, 'hooks@shop.example')
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
  expect(textOf((await account.owner.get(path)).html)).toContain('The old secret signs as well until')
})

test('deliveries are shown with what was sent and what came back, and are sent again one by one or all that failed', async () => {
  const account = await openAccount(shop, 'deliveries@shop.example')
  const { owner } = account
  const { path, id } = await addEndpoint(account)
  await addDelivery(account, id, { status: 'delivered', answer: 200 })
  const failed = await addDelivery(account, id, { status: 'exhausted', answer: 503 })
  const page = textOf((await owner.get(path)).html)
  for (const text of ['1 of 2', '1,204 ms', 'Send 1 failed again', 'Failed 1']) expect(page).toContain(text)
  expect((await owner.get(`${path}?show=failed`)).html.match(/row-link/g)).toHaveLength(1)
  const delivery = await owner.get(`${path}/deliveries/${failed}`)
  for (const text of [`webhook-id: ${failed}`, 'HTTP/1.1 503', 'retry-after: 600', 'connection pool timeout &lt;b>'])
    expect(delivery.html).toContain(text)
  expect(delivery.html).not.toContain('<script>"')
  expect((await owner.submit(`${path}/deliveries/${failed}/redeliver`)).to).toBe(`${path}/deliveries/${failed}`)
  expect(started).toEqual([failed])
  await shop.db.query(`update delivery set status = 'exhausted' where event_id = $1`, [failed])
  expect((await owner.submit(`${path}/redeliver`)).to).toBe(path)
  expect(started).toEqual([failed, failed])
  expect((await owner.submit(`${path}/test`)).to).toBe(path)
  expect(started).toHaveLength(3)
})

test('an endpoint that we switched off is told by mail and comes back with one press, with what it missed', async () => {
  const account = await openAccount(shop, 'off@shop.example')
  const { owner } = account
  const { path, id } = await addEndpoint(account)
  const missed = await addDelivery(account, id, { status: 'disabled', answer: 500 })
  await shop.db.query(`update webhook_endpoint set disabled_at = now(), disabled_reason = 'failing' where id = $1`, [
    id,
  ])
  const deps = { db: shop.db, newMailId: () => newId('mail'), publicUrl: shop.url, clock: Date.now, noticeMail }
  await createNoticeRound({ ...deps, seal: (text, mail) => shop.secretBox.seal(text, mail) })()
  const mail = (await mailsTo(shop, 'off@shop.example')).at(-1)
  expect(mail?.subject).toContain('Webhook endpoint switched off')
  expect(mail?.text).toContain(path)
  expect(textOf((await owner.get('/dashboard/webhooks')).html)).toContain(
    'Switched off after 5 days without one success',
  )
  expect((await owner.submit(`${path}/test`)).status).toBe(409)
  expect((await owner.submit(`${path}/enable`, { send: 'failed' })).to).toBe(path)
  expect(started.at(-1)).toBe(missed)
  expect(textOf((await owner.get(path)).html)).toContain('Healthy')
  expect((await owner.submit(`${path}/disable`)).to).toBe(path)
  expect(textOf((await owner.get(path)).html)).toContain('Switched off by somebody of your account')
})

test('an endpoint is edited: a wrong address changes nothing, the right one is in force and in the log', async () => {
  const account = await openAccount(shop, 'edits@shop.example')
  const { owner, tenant } = account
  const { path, id } = await addEndpoint(account)
  const page = await owner.get(`${path}/edit`)
  for (const text of ['value="https://shop.example/hooks"', 'value="Shop server"', '-X PATCH']) {
    expect([text, page.html.includes(text)]).toEqual([text, true])
  }
  expect(page.html).toMatch(/value="payment.succeeded"[^>]* checked|checked[^>]* value="payment.succeeded"/)
  const form = { url: 'https://shop.example/new', description: '', event: '*' }
  const before = await stateOf(id)
  const none = { url: form.url, description: '' }
  for (const wrong of [{ ...form, url: 'https://10.0.0.1/x' }, { ...form, event: 'payment.moved' }, none]) {
    const answer = await owner.submit(`${path}/edit`, wrong)
    expect([wrong, answer.status, answer.html.includes('One thing to correct')]).toEqual([wrong, 400, true])
  }
  expect(await stateOf(id)).toEqual(before)
  expect((await owner.submit(`${path}/edit`, form)).to).toBe(path)
  expect(await stateOf(id)).toEqual({ url: form.url, description: null, enabled_events: ['*'] })
  expect(await lastEntry(tenant.merchantId)).toMatchObject({
    action: 'updateWebhookEndpoint',
    data: { id, url: form.url },
  })
})

test('an endpoint is deleted after a page that says what goes: its deliveries go with it, the events stay', async () => {
  const account = await openAccount(shop, 'deletes@shop.example')
  const { owner, tenant } = account
  const { path, id } = await addEndpoint(account)
  const waits = await addDelivery(account, id, { status: 'pending', answer: 503 })
  await addDelivery(account, id, { status: 'exhausted', answer: 503 })
  const asked = textOf((await owner.get(`${path}/delete`)).html)
  for (const text of ['1 event, never sent', '1 event, lost', 'for 90 days', '-X DELETE'])
    expect([text, asked.includes(text)]).toEqual([text, true])
  expect(await stateOf(id)).toBeDefined()
  expect((await owner.submit(`${path}/delete`)).to).toBe('/dashboard/webhooks')
  expect(await stateOf(id)).toBeUndefined()
  expect((await shop.db.query('select 1 from delivery where endpoint_id = $1', [id])).rows).toEqual([])
  expect((await owner.get(`/dashboard/events/${waits}`)).status).toBe(200)
  const entry = { action: 'deleteWebhookEndpoint', data: { id, url: 'https://shop.example/hooks' } }
  expect(await lastEntry(tenant.merchantId)).toMatchObject(entry)
  for (const again of [await owner.get(`${path}/delete`), await owner.submit(`${path}/delete`)])
    expect(again.status).toBe(404)
})

const stateOf = async (id: string) =>
  (await shop.db.query('select url, description, enabled_events from webhook_endpoint where id = $1', [id])).rows[0]
const lastEntry = async (merchantId: string) =>
  (
    await shop.db.query('select action, data from audit_entry where merchant_id = $1 order by id desc limit 1', [
      merchantId,
    ])
  ).rows[0]

test('an endpoint shows the code that verifies its webhooks, in the language that was chosen', async () => {
  const account = await openAccount(shop, 'codes@shop.example')
  const { path } = await addEndpoint(account)
  expect((await account.owner.get(path)).html).toContain('export function verifyWebhook')
  const { html } = await account.owner.get(`${path}?lang=java`)
  expect(html).toContain('final class Verify')
  for (const language of ['typescript', 'python', 'go', 'php', 'java'])
    expect(html).toContain(`href="${path}?lang=${language}#verify-code"`)
})

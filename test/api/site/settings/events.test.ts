import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { insertMembership } from '../../../../src/db/accounts/people.ts'
import { recordEvent } from '../../../../src/db/webhooks/events.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { type Account, openAccount } from '../account.ts'
import { signIn } from '../visitor.ts'

let shop: Shop
const sent: string[] = []
beforeAll(async () => {
  shop = await openShop({
    deps: () => ({
      deliveries: {
        deliverNow: async ({ eventId, endpointId }) => {
          sent.push(`${eventId} ${endpointId}`)
          return true
        },
      },
    }),
  })
})
afterAll(() => shop?.close())

const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const typesIn = (html: string): string[] =>
  [...html.matchAll(/row-link[^>]*><b><code>([^<]+)/g)].map(([, type]) => type ?? '')

type Made = Account & { readonly endpoint: string; readonly payment: string; readonly events: readonly string[] }

/** An endpoint, a payment, and its events: one that arrived, one that is tried again, one that was given up. */
async function openWithEvents(email: string): Promise<Made> {
  const account = await openAccount(shop, email)
  const { tenant, key, pay } = account
  // Nobody is told of its creation.
  const payment = await pay({ amount: 10, currency: 'EUR', reference: `Order of ${email}` })
  const made = await shop.ask('POST', '/v1/webhook_endpoints', {
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
    const id = String(await shop.db.transaction((tx) => recordEvent(tx, about)))
    await shop.db.query(`update delivery set status = $2, attempts = 1, last_attempt_at = now() where event_id = $1`, [
      id,
      status,
    ])
    events.push(id)
  }
  return { ...account, endpoint: String(made.body['id']), payment, events }
}

test('events are listed newest first with what became of them, and found by type, order, payment and id', async () => {
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
    expect(textOf(list)).toContain(text)
  const found = async (q: string): Promise<string[]> =>
    typesIn((await owner.get(`/dashboard/events?q=${encodeURIComponent(q)}`)).html)
  expect(await found('succ')).toEqual(['payment.succeeded'])
  expect(await found(events[0] ?? '')).toEqual(['payment.processing'])
  expect(await found('Order of events@shop.example')).toHaveLength(4)
  expect(await found(payment)).toHaveLength(4)
  expect(await found('Order of somebody else')).toEqual([])
  expect(typesIn((await owner.get('/dashboard/events?show=undelivered')).html)).toEqual([
    'payment.chargeback',
    'payment.succeeded',
  ])
  expect(typesIn((await owner.get(`/dashboard/events?after=${events[1]}`)).html)).toEqual([
    'payment.processing',
    'payment.created',
  ])
})

test('an event is shown with its payload and its deliveries, and is sent again with one press by who may', async () => {
  const { owner, tenant, endpoint, events } = await openWithEvents('resend@shop.example')
  const path = `/dashboard/events/${events[2]}`
  const page = await owner.get(path)
  for (const text of ['payment.chargeback', 'shop.example/hooks', '&quot;note&quot;: &quot;&lt;b>&quot;', 'Send again'])
    expect(page.html.replaceAll('"', '&quot;')).toContain(text)
  const again = /action="([^"]+\/redeliver)"/.exec(page.html)?.[1] ?? ''
  expect((await owner.submit(again)).to).toBe(`/dashboard/webhooks/${endpoint}/deliveries/${events[2]}`)
  expect(sent).toEqual([`${events[2]} ${endpoint}`])
  const viewer = await signIn(shop, 'viewer@resend.example')
  const { rows } = await shop.db.query(`select id from person where email = 'viewer@resend.example'`)
  await insertMembership(shop.db, { merchantId: tenant.merchantId, personId: String(rows[0]?.id), role: 'viewer' })
  const seen = await viewer.get(path)
  expect([seen.status, seen.html.includes('Send again')]).toEqual([200, false])
  expect((await viewer.submit(again)).status).toBe(403)
})

test('another account finds nothing of it', async () => {
  const { events, payment } = await openWithEvents('mine@shop.example')
  const other = await openAccount(shop, 'stranger@shop.example')
  for (const q of ['', events[0] ?? '', payment, 'Order of mine@shop.example'])
    expect(typesIn((await other.owner.get(`/dashboard/events?q=${encodeURIComponent(q)}`)).html)).toEqual([])
  expect((await other.owner.get(`/dashboard/events/${events[0]}`)).status).toBe(404)
  expect((await other.owner.get(`/dashboard/events?after=${events[0]}`)).status).toBe(404)
  expect(textOf((await other.owner.get('/dashboard/events')).html)).toContain('Not delivered 0')
})

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { PARTNER_SECRET } from '../../../scripts/test/environment.ts'
import { newId } from '../../../src/ids.ts'
import { hmacSha256 } from '../../../src/providers/signature.ts'
import { plant } from '../../deps/two-modes.ts'
import { type Answer, expectProblem, openShop, type Shop } from '../support/shop.ts'

/** Callbacks of partners, as HTTP requests: what is answered, what is stored, and what is passed on to the workflow. */

let shop: Shop
let passedOn: string[][] = []
/** Whether Temporal takes messages now. */
let reachable = true
beforeAll(async () => {
  shop = await openShop({
    deps: ({ workflows }) => ({
      workflows: {
        ...workflows,
        tellPartnerNews: async (...ids) => {
          if (!reachable) throw new Error('Temporal does not answer')
          passedOn.push(ids)
        },
      },
    }),
  })
}, 60_000)
afterAll(() => shop?.close())

let payment: Awaited<ReturnType<typeof plant>>
let eventId = ''
let occurredAt = ''
beforeEach(async () => {
  payment = await plant(shop.db, shop.tenant)
  await shop.db.query('delete from partner_event')
  eventId = newId('partnerEvent')
  occurredAt = new Date().toISOString()
  passedOn = []
  reachable = true
})

/** An authentic callback of the banking app: signed over its bytes, now; sent again, it says the same. */
function send({ event = eventId, attemptId = payment.attemptId, secret = PARTNER_SECRET } = {}): Promise<Answer> {
  const now = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({
    event_id: event,
    event: 'order.state_changed',
    occurred_at: occurredAt,
    merchant_id: 'pinrail',
    order: {
      id: 'wo_1',
      merchant_order_ref: attemptId,
      state: 'COMPLETED',
      amount: { value: '1.00', currency: 'EUR' },
    },
  })
  const signature = hmacSha256(secret, `wallet-app-callback\n${now}\n${body}`, 'hex')
  const headers = { 'x-callback-timestamp': `${now}`, 'x-callback-signature': signature }
  return shop.ask('POST', '/callbacks/wallet_app', { key: null, body, headers })
}
type Stored = { provider_event_id: string; attempt_id: string; applied: boolean }
const stored = async (): Promise<Stored[]> =>
  (
    await shop.db.query(
      'select provider_event_id, attempt_id, applied_at is not null as applied from partner_event order by seq',
    )
  ).rows as Stored[]
const unread = () => ({ provider_event_id: eventId, attempt_id: payment.attemptId, applied: false })

test('a callback is stored, passed on, and only then answered with 200', async () => {
  const answer = await send()
  expect([answer.status, answer.body]).toEqual([200, { received: true }])
  expect(await stored()).toEqual([unread()])
  expect(passedOn).toEqual([[payment.id, payment.attemptId]])
})

test('one that is stored but could not be passed on is answered with 503: the partner sends it again', async () => {
  reachable = false
  const refused = await send()
  expectProblem(refused, 503, 'temporarily_unavailable')
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await stored()).toEqual([unread()])
  reachable = true
  expect((await send()).status).toBe(200)
  expect(passedOn).toEqual([[payment.id, payment.attemptId]])
  expect(await stored()).toEqual([unread()])
})

test('a repeated one is passed on again until it was applied, and then no more', async () => {
  await send()
  await send()
  expect(passedOn).toHaveLength(2)
  await shop.db.query('update partner_event set applied_at = now()')
  expect((await send()).status).toBe(200)
  expect(passedOn).toHaveLength(2)
  expect(await stored()).toEqual([{ ...unread(), applied: true }])
})

test('one with another signature, or about an attempt that nobody knows, stores nothing and is not passed on', async () => {
  expectProblem(await send({ secret: 'another secret' }), 401, 'invalid_callback')
  expectProblem(await send({ attemptId: newId('attempt') }), 404, 'resource_missing')
  expect([await stored(), passedOn]).toEqual([[], []])
})

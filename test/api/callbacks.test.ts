import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { PARTNER_SECRET } from '../../scripts/test/environment.ts'
import { newId } from '../../src/ids.ts'
import { hmacSha256 } from '../../src/providers/signature.ts'
import { plant } from '../deps/two-modes.ts'
import { type Answer, expectProblem, openShop, type Shop } from './support/shop.ts'

/** Callbacks of partners, as HTTP requests: what is answered, what is stored, and what is passed on to the workflow. */

let passedOn: string[][] = []
/** True while Temporal takes messages. */
let isReachable = true
/** True while each callback counts as authentic: its first line is the event, its second the order. */
let isPlain = false
let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    deps: ({ workflows, readCallback }) => ({
      readCallback: (provider, request) => {
        if (!isPlain) return readCallback(provider, request)
        const [eventId = '', attemptId = ''] = Buffer.from(request.body).toString().split('\n')
        return { kind: 'news', eventId, attemptId }
      },
      workflows: {
        ...workflows,
        tellPartnerNews: async (...ids) => {
          if (!isReachable) throw new Error('Temporal does not answer')
          passedOn.push(ids)
        },
      },
    }),
  })
})
afterAll(() => shop?.close())

describe('Callbacks of partners', () => {
  let payment: Awaited<ReturnType<typeof plant>>
  let eventId = ''
  let occurredAt = ''
  beforeEach(async () => {
    payment = await plant(shop.db, shop.tenant)
    await shop.db.query('delete from partner_event')
    eventId = newId('partnerEvent')
    occurredAt = new Date().toISOString()
    passedOn = []
    isReachable = true
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

  test('a callback that is stored but could not be passed on gets 503: the partner sends it again', async () => {
    isReachable = false
    const refused = await send()
    expectProblem(refused, 503, 'temporarily_unavailable')
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await stored()).toEqual([unread()])
    isReachable = true
    expect((await send()).status).toBe(200)
    expect(passedOn).toEqual([[payment.id, payment.attemptId]])
    expect(await stored()).toEqual([unread()])
  })

  test('a repeated callback is passed on again until it was applied, and then no more', async () => {
    await send()
    await send()
    expect(passedOn).toHaveLength(2)
    await shop.db.query('update partner_event set applied_at = now()')
    expect((await send()).status).toBe(200)
    expect(passedOn).toHaveLength(2)
    expect(await stored()).toEqual([{ ...unread(), applied: true }])
  })

  test('a callback with another signature, or about an unknown attempt, stores nothing and is not passed on', async () => {
    expectProblem(await send({ secret: 'another secret' }), 401, 'invalid_callback')
    expectProblem(await send({ attemptId: newId('attempt') }), 404, 'resource_missing')
    expect([await stored(), passedOn]).toEqual([[], []])
  })
})

describe('NUL in a request', () => {
  // Postgres refuses a text with NUL.
  beforeAll(async () => {
    shop = await shop.asNewMerchant()
    isPlain = true
  })

  test.each(['/c/%00', '/c/a%00b', '/c/%00/status', '/c/%00/go'])('a checkout that cannot be: %s', async (path) => {
    const [answer, unknown] = await Promise.all(
      [path, path.replaceAll('%00', 'x')].map((at) => shop.ask('GET', at, { key: null })),
    )
    expect(answer!.status).toBe(404)
    expect(answer!.text.replaceAll(/req_\w+/g, '')).toBe(unknown!.text.replaceAll(/req_\w+/g, ''))
  })

  test.each(['event\0\natt_1', 'event\natt_\0'])('an authentic callback with NUL in an id: %j', async (body) => {
    const headers = { 'content-type': 'application/octet-stream' }
    expectProblem(await shop.ask('POST', '/callbacks/wallet_app', { key: null, body, headers }), 400, 'invalid_request')
  })

  test.each(['/v1/payments/%00', '/v1/events/%00', '/v1/webhook_endpoints/%00', '/v1/api_keys/%00'])(
    'an id that cannot be: %s',
    async (path) => {
      expect((await shop.ask('GET', path)).status).toBeLessThan(500)
    },
  )
})

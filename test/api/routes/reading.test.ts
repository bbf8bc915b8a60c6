import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { type Answer, expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

type Fields = Record<string, unknown>
const pay = async (fields: Fields = {}): Promise<string> =>
  String((await shop.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR', ...fields } })).body['id'])
const list = (query: string) => shop.ask('GET', `/v1/payments?${query}`)
const idsIn = (answer: Answer): string[] => (answer.body['data'] as Fields[]).map(({ id }) => String(id))

describe('the list of payments', () => {
  let ids: string[] = []
  beforeAll(async () => {
    ids = []
    for (const [index, currency] of ['EUR', 'USD', 'EUR', 'JPY', 'EUR'].entries())
      ids.unshift(await pay({ currency, amount: '2000', reference: `order-${index}`, description: `100%_${index}` }))
  })

  test('is newest first, page by page, forwards and back', async () => {
    const first = await list('limit=2')
    expect([idsIn(first), first.body['has_more']]).toEqual([ids.slice(0, 2), true])
    const second = await list(`limit=2&starting_after=${ids[1]!}`)
    expect(idsIn(second)).toEqual(ids.slice(2, 4))
    const last = await list(`limit=2&starting_after=${ids[3]!}`)
    expect([idsIn(last), last.body['has_more']]).toEqual([ids.slice(4), false])
    const back = await list(`limit=2&ending_before=${ids[4]!}`)
    expect([idsIn(back), back.body['has_more']]).toEqual([ids.slice(2, 4), true])
  })

  test('can be narrowed', async () => {
    const created = String((await shop.ask('GET', `/v1/payments/${ids[2]!}`)).body['created_at'])
    const queries: [string, string[]][] = [
      ['currency=JPY', [ids[1]!]],
      ['reference=order-0', [ids[4]!]],
      ['status=pending,created&currency=USD', [ids[3]!]],
      ['status=succeeded', []],
      [`search=${ids[0]!}`, [ids[0]!]],
      ['search=ORDER-3', [ids[1]!]],
      [`search=${encodeURIComponent('100%_4')}`, [ids[0]!]],
      [`search=${encodeURIComponent('%')}&limit=100`, ids],
      ['search=nothing', []],
      [`created[gte]=${created}`, ids.slice(0, 3)],
      [`created[lt]=${created}`, ids.slice(3)],
      [`tx_hash=0x${'a'.repeat(64)}`, []],
      ['provider=wallet_app', []],
    ]
    for (const [query, expected] of queries) expect([query, idsIn(await list(query))]).toEqual([query, expected])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['status=paid', 'status'],
    ['status=created,paid', 'status'],
    ['currency=eur', 'currency'],
    ['provider=stripe', 'provider'],
    ['tx_hash=0x12', 'tx_hash'],
    ['created[gte]=yesterday', 'created[gte]'],
    ['created[gte]=2026-13-01T00:00:00Z', 'created[gte]'],
    ['created[gte]=0000-01-01T00:00:00Z', 'created[gte]'],
    ['created[lt]=2026-01-01T00:00:00%2B25:00', 'created[lt]'],
    ['created[lt]=1969-12-31T23:59:59Z', 'created[lt]'],
    ['reference=%00', 'reference'],
    ['starting_after=a', 'starting_after'],
    ['ending_before=evt_01m7z13c0xfzrbpdsf7qk0w6ta', 'ending_before'],
    ['limt=5', 'limt'],
  ])('%s is refused by name', async (query, param) => {
    const answer = await list(query)
    expectProblem(answer, 400, 'validation_failed')
    expect(answer.body['param']).toBe(param)
  })

  test('a misspelt parameter is answered with the nearest one', async () => {
    expect((await list('limt=5')).body['detail']).toBe('limt is not a known parameter. Did you mean limit?')
  })
})

test('the timeline tells everything in words and in data, oldest first', async () => {
  const id = await pay()
  const at = new Date().toISOString()
  const about = { type: 'payment.expired', paymentId: id, object: { id }, at }
  await shop.ask('POST', '/v1/webhook_endpoints', { body: { url: 'https://shop.example/h', enabled_events: ['*'] } })
  const event = await shop.db.transaction((tx) => recordEvent(tx, { ...shop.tenant, ...about }))
  await shop.db.query(
    `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status)
     select event_id, endpoint_id, 1, now(), 7, 503 from delivery where event_id = $1`,
    [event],
  )
  const answer = await shop.ask('GET', `/v1/payments/${id}/timeline`)
  expect((answer.body['data'] as Fields[]).map(({ kind, message }) => [kind, message])).toEqual([
    ['payment.created', 'The payment was created'],
    ['event.recorded', 'payment.created was recorded'],
    ['event.recorded', 'payment.expired was recorded'],
    ['webhook.attempt', 'The webhook endpoint did not take the event (503)'],
  ])
  expect((answer.body['data'] as Fields[])[3]).toMatchObject({ data: { event, attempt: 1, response_status: 503 } })
})

describe('events', () => {
  test('can be pulled from a place in the sequence, in order, as the bytes that were signed', async () => {
    const merchant = await shop.addMerchant()
    const ask = (path: string) => shop.ask('GET', path, { key: merchant.key })
    for (const type of ['payment.processing', 'payment.succeeded', 'payment.failed'])
      await shop.db.transaction((tx) =>
        recordEvent(tx, {
          ...merchant.tenant,
          type,
          paymentId: null,
          object: { object: 'webhook_test' },
          at: new Date().toISOString(),
        }),
      )
    const stored = await shop.db.query('select body from event where merchant_id = $1 order by sequence', [
      merchant.tenant.merchantId,
    ])
    const bodies = (stored.rows as { body: Buffer }[]).map(({ body }) => body.toString())
    const first = await ask('/v1/events?after_sequence=0&limit=2')
    expect(first.text).toBe(`{"object":"list","data":[${bodies.slice(0, 2).join(',')}],"has_more":true}`)
    const next = await ask('/v1/events?after_sequence=2&limit=2')
    expect(next.text).toBe(`{"object":"list","data":[${bodies[2]!}],"has_more":false}`)
    const newest = await ask('/v1/events?limit=1')
    expect(newest.text).toContain(bodies[2])
    const before = (newest.body['data'] as { id: string }[])[0]!.id
    expect((await ask(`/v1/events?starting_after=${before}`)).text).toContain(`[${bodies[1]!},${bodies[0]!}]`)
    expect((await ask('/v1/events?type=payment.succeeded')).text).toContain(`[${bodies[1]!}]`)
    expect((await ask(`/v1/events/${before}`)).text).toBe(bodies[2])
    expectProblem(await ask('/v1/events?starting_after=evt_x'), 400, 'validation_failed')
    expectProblem(await ask('/v1/events/evt_x'), 404, 'resource_missing')
  })
})

test('an event of a payment link has the link as the document describes it', async () => {
  const link = await shop.ask('POST', '/v1/payment_links', { body: { title: 'Box', amount: 64, currency: 'EUR' } })
  const event = { type: 'payment_link.completed', paymentId: null, object: link.body, at: new Date().toISOString() }
  await shop.db.transaction((tx) => recordEvent(tx, { ...shop.tenant, ...event }))
  // Every answer that is asked for here is held against the document.
  const { body } = await shop.ask('GET', '/v1/events?type=payment_link.completed')
  expect(body['data']).toEqual([expect.objectContaining({ data: { object: link.body } })])
})

describe('a quote', () => {
  test('says what arrives, to the micro-USDC', async () => {
    const { body } = await shop.ask('GET', '/v1/quotes?amount=49.99&currency=EUR&provider=wallet_app')
    // 49.99 x 1.25 = 62.4875; 4.5 % of it is 2.8119375, of which the fraction of a micro-USDC is not charged.
    expect(body).toMatchObject({
      rate: '1.25',
      gross_usdc_estimate: '62.487500',
      fee_usdc_estimate: '2.811937',
      net_usdc_estimate: '59.675563',
      fee_percent: '4.5',
    })
  })

  test('counts a currency without decimals in whole units', async () => {
    const { body } = await shop.ask('GET', '/v1/quotes?amount=5000&currency=JPY')
    expect([body['amount_decimal'], body['gross_usdc_estimate']]).toEqual(['5000', '31.250000'])
    const refused = await shop.ask('GET', '/v1/quotes?amount=50.5&currency=JPY')
    expectProblem(refused, 400, 'validation_failed')
    expect((refused.body['errors'] as Fields[])[0]).toMatchObject({ code: 'amount_precision' })
  })

  test('is refused outside the limits, with the limit and who would take it', async () => {
    const small = await shop.ask('GET', '/v1/quotes?amount=5&currency=EUR&provider=wallet_app')
    expectProblem(small, 422, 'amount_too_small')
    expect(small.body).toMatchObject({ minimum: { amount: '6.00', currency: 'EUR' }, alternatives: ['card_partner'] })
    expectProblem(
      await shop.ask('GET', '/v1/quotes?amount=5&currency=INR&provider=card_partner'),
      422,
      'currency_not_supported',
    )
  })
})

describe('a preview of routes', () => {
  const preview = async (body: Fields) => (await shop.ask('POST', '/v1/routes/preview', { body })).body
  test('says what a buyer in a country can use, and why not the rest', async () => {
    const body = await preview({ amount: 49.99, currency: 'EUR', provider: 'wallet_app', country: 'BR' })
    expect(body).toMatchObject({
      pinned: null,
      pinned_refused: {
        provider: 'wallet_app',
        reason: 'country',
        message: 'wallet_app does not offer banking_app in BR.',
      },
      net_usdc_estimate: '59.675563',
    })
    expect((body['offers'] as Fields[]).map(({ provider }) => provider)).toContain('local_partner')
  })

  test('knows the device and the limits', async () => {
    const body = await preview({ amount: '3', currency: 'USD', device_wallet: false })
    const reasons = new Set((body['refused'] as Fields[]).map(({ reason }) => reason))
    expect(reasons).toEqual(new Set(['device', 'amount_too_small']))
    expect((body['offers'] as Fields[]).map(({ method }) => method)).toEqual(['card', 'online_wallet'])
  })

  test('with fallback none offers the pinned method only', async () => {
    const body = await preview({
      amount: 49.99,
      currency: 'EUR',
      provider: 'wallet_app',
      country: 'DE',
      fallback: 'none',
    })
    expect((body['offers'] as Fields[]).map(({ provider }) => provider)).toEqual(['wallet_app'])
  })
})

describe('limits of requests', () => {
  const windows = {
    windowSeconds: 60,
    refusalsPerMinute: 2,
    signInsPerHour: 9,
    formsPerHour: 9,
    madePerHour: { file: 9, key: 9 },
  }
  const visits = { pressesPerMinute: { address: 9, link: 9 }, looksPerMinute: 9, actsPerMinute: 9 }
  // The windows are those of the clock: none ends while the test runs.
  const limited = (requests: number) => () => ({
    limits: createRequestLimits({ requests, ...windows, ...visits, clock: () => Date.UTC(2026, 0, 1) }),
  })

  test('count a list once for every ten rows that it asks for, so that big pages take no more than small ones', async () => {
    const small = await openShop({ deps: limited(13) })
    try {
      const left = async (path: string) => {
        const { status, headers } = await small.ask('GET', path)
        return [status, Number(/r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1])]
      }
      expect(await left('/v1/payments?limit=10')).toEqual([200, 12])
      expect(await left('/v1/payments?limit=11')).toEqual([200, 10])
      // Refused for its limit; no number is so high that it counts more than the longest list.
      expect(await left('/v1/payments?limit=999999')).toEqual([400, 0])
      expect(await left('/v1/payments')).toEqual([429, 0])
    } finally {
      await small.close()
    }
  })

  test('are told on every answer, and beyond them 429 says when to ask again', async () => {
    const small = await openShop({ deps: limited(3) })
    try {
      const answers = await Promise.all(Array.from({ length: 6 }, () => small.ask('GET', '/v1/providers')))
      const taken = answers.filter(({ status }) => status === 200)
      const refused = answers.filter(({ status }) => status === 429)
      expect([taken.length, refused.length]).toEqual([3, 3])
      expect(taken[0]!.headers.get('ratelimit-policy')).toBe('"account";q=3;w=60')
      const left = taken.map(({ headers }) => /^"account";r=(\d);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1])
      expect(new Set(left)).toEqual(new Set(['0', '1', '2']))
      expectProblem(refused[0]!, 429, 'rate_limited')
      expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(30)
      expect(refused[0]!.headers.get('ratelimit')).toMatch(/^"account";r=0;t=\d+$/)
      // Another account is not held up.
      const other = await small.addMerchant()
      expect((await small.ask('GET', '/v1/providers', { key: other.key })).status).toBe(200)
      const guesses = await Promise.all(
        Array.from({ length: 4 }, () => small.ask('GET', '/v1/providers', { key: 'x' })),
      )
      expect(guesses.filter(({ status }) => status === 401)).toHaveLength(2)
      expect(guesses.filter(({ status }) => status === 429)).toHaveLength(2)
      expect((await small.ask('GET', '/v1/providers', { key: other.key })).status).toBe(200)
    } finally {
      await small.close()
    }
  })
})

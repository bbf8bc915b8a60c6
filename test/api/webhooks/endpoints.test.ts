import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { type Merchant as Receiver, startMerchant } from '../../webhooks/merchant.ts'
import { startDelivering } from '../support/delivering.ts'
import { type Answer, expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
let receiver: Receiver
let worker: { close(): Promise<void> }
let status = 204
beforeAll(async () => {
  receiver = await startMerchant(() => ({ status }))
  shop = await openShop({ deps: () => ({ webhookTargets: { mode: 'test', testTargets: [receiver.target] } }) })
  worker = await startDelivering(shop, [receiver.target])
}, 120_000)
afterAll(async () => {
  await worker?.close()
  await shop?.close()
  await receiver?.close()
})

type Fields = Record<string, unknown>
const PATH = '/v1/webhook_endpoints'
const create = (body: unknown, headers: Record<string, string> = {}) => shop.ask('POST', PATH, { body, headers })
const idOf = (answer: Answer): string => String(answer.body['id'])

/** An endpoint at the receiver, which verifies with its secret from now on. */
async function register(events: readonly string[] = ['*']): Promise<string> {
  const made = await create({ url: receiver.url, enabled_events: events })
  expect(made.status).toBe(201)
  receiver.secret = String(made.body['secret'])
  receiver.received.length = 0
  return idOf(made)
}

async function record(type = 'payment.succeeded'): Promise<string> {
  const about = { type, paymentId: null, object: { id: 'pay_1', object: 'payment' }, at: new Date().toISOString() }
  return String(await shop.db.transaction((tx) => recordEvent(tx, { ...shop.tenant, ...about })))
}

const deliveries = async (id: string): Promise<Fields[]> =>
  (await shop.ask('GET', `${PATH}/${id}/deliveries`)).body['data'] as Fields[]
const arrived = (id: string) =>
  until(
    () => deliveries(id),
    (list) => list[0]?.['status'] === 'delivered',
    40_000,
  )

describe('an endpoint', () => {
  test('leaves a notice to the people of the account whenever it is changed, given a new secret, or deleted', async () => {
    const id = idOf(await create({ url: 'https://noticed.example/hooks' }))
    await shop.ask('PATCH', `${PATH}/${id}`, { body: { enabled: false } })
    await shop.ask('POST', `${PATH}/${id}/rotate_secret`, { body: {} })
    await shop.ask('DELETE', `${PATH}/${id}`)
    const { rows } = await shop.db.query(
      `select data->>'url' as url from notice where data->>'endpoint' = $1 and kind = $2`,
      [id, 'webhook_endpoint.changed'],
    )
    expect(rows).toEqual([1, 2, 3].map(() => ({ url: 'https://noticed.example/hooks' })))
  })

  test('is made with a secret that is shown once, listed, read, changed and deleted', async () => {
    const made = await create({ url: 'https://shop.example/hooks', description: 'Orders' })
    expect(made.body).toMatchObject({
      object: 'webhook_endpoint',
      enabled_events: ['payment.succeeded'],
      status: 'enabled',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    expect(made.headers.get('location')).toBe(`${PATH}/${idOf(made)}`)
    const { secret: _secret, ...shown } = made.body
    const read = await shop.ask('GET', `${PATH}/${idOf(made)}`)
    expect(read.body).toEqual(shown)
    const listed = (await shop.ask('GET', PATH)).body['data']
    expect(listed).toContainEqual(shown)
    const body = { url: 'https://shop.example/other', enabled_events: ['*'], description: null, enabled: false }
    const changed = await shop.ask('PATCH', `${PATH}/${idOf(made)}`, { body })
    expect(changed.body).toMatchObject({
      url: body.url,
      description: null,
      status: 'disabled',
      disabled_reason: 'merchant',
    })
    const enabled = await shop.ask('PATCH', `${PATH}/${idOf(made)}`, { body: { enabled: true } })
    expect(enabled.body).toMatchObject({ status: 'enabled', disabled_at: null, disabled_reason: null })
    expect((await shop.ask('DELETE', `${PATH}/${idOf(made)}`)).body['deleted']).toBe(true)
    expectProblem(await shop.ask('GET', `${PATH}/${idOf(made)}`), 404, 'resource_missing')
  })

  test('asked for again with its Idempotency-Key is answered with the same secret, which is not stored as it is', async () => {
    const key = { 'idempotency-key': 'endpoint-1' }
    const first = await create({ url: 'https://shop.example/once' }, key)
    const second = await create({ url: 'https://shop.example/once' }, key)
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    const { rows } = await shop.db.query('select body from idempotency_key')
    expect(JSON.stringify(rows)).not.toContain(String(first.body['secret']))
    await shop.ask('DELETE', `${PATH}/${idOf(first)}`)
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
  ])('is not made for %s', async (url, why) => {
    const answer = await create({ url })
    expectProblem(answer, 400, 'validation_failed')
    expect(answer.body).toMatchObject({ param: 'url', detail: expect.stringContaining(why) })
  })

  test('at a local address is refused with the local addresses that test mode allows', async () => {
    const { body } = await create({ url: 'http://localhost:9999/hooks' })
    expect(body['detail']).toMatch(/must begin with https:\/\/.*WEBHOOK_TEST_TARGETS.*http:\/\/127\.0\.0\.1:\d+/)
  })

  test('of a type that does not exist is refused, and so is one of no type', async () => {
    expectProblem(await create({ url: receiver.url, enabled_events: ['payment.suceeded'] }), 400, 'validation_failed')
    expectProblem(await create({ url: receiver.url, enabled_events: [] }), 400, 'validation_failed')
  })

  test('is the last one at sixteen, however many ask at once', async () => {
    const other = await shop.addMerchant()
    const asOther = { key: other.key, body: { url: 'https://shop.example/hooks' } }
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.ask('POST', PATH, asOther)))
    const refused = answers.filter((answer) => answer.status !== 201)
    for (const answer of refused) expectProblem(answer, 409, 'limit_reached')
    expect(answers.length - refused.length).toBe(16)
    expect((await shop.ask('GET', PATH, { key: other.key })).body['data']).toHaveLength(16)
  })
})

describe('a rotated secret', () => {
  test('signs beside the old one until its overlap is over', async () => {
    const id = await register()
    const old = receiver.secret
    const rotated = await shop.ask('POST', `${PATH}/${id}/rotate_secret`, { body: { overlap: 3600 } })
    expect(rotated.body['secret']).not.toBe(old)
    expect(Date.parse(String(rotated.body['previous_secret_expires_at']))).toBeGreaterThan(Date.now() + 3_500_000)
    await shop.ask('POST', `${PATH}/${id}/test`)
    await arrived(id)
    expect(receiver.received[0]).toMatchObject({ genuine: true })
    expect(receiver.received[0]!.signature.split(' ')).toHaveLength(2)
    receiver.secret = String(rotated.body['secret'])
    await shop.ask('POST', `${PATH}/${id}/test`)
    await until(
      async () => receiver.received.length,
      (count) => count === 2,
    )
    expect(receiver.received[1]).toMatchObject({ genuine: true })
    const ended = await shop.ask('POST', `${PATH}/${id}/rotate_secret`, { body: { overlap: 0 } })
    expect(ended.body['previous_secret_expires_at']).toBeNull()
    await shop.ask('DELETE', `${PATH}/${id}`)
  })
})

describe('deliveries', () => {
  test('of a test event: signed, of its own type, outside the sequence, and in the log', async () => {
    const id = await register(['payment.failed'])
    const answer = await shop.ask('POST', `${PATH}/${id}/test`)
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
    const event = await shop.ask('GET', `/v1/events/${String(answer.body['event'])}`)
    expect(event.text).toBe(received!.body.toString())
    const events = (await shop.ask('GET', '/v1/events')).body['data'] as Fields[]
    expect(events.map(({ type }) => type)).not.toContain('webhook.test')
    await shop.ask('DELETE', `${PATH}/${id}`)
  })

  test('a test event is tried once, however the receiver answers, and another can be sent after it', async () => {
    const id = await register()
    const test = () => shop.ask('POST', `${PATH}/${id}/test`)
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
    await shop.ask('DELETE', `${PATH}/${id}`)
  })

  test('are sent again with the same id and bytes, also one that arrived', async () => {
    const id = await register()
    const event = await record()
    for (const times of [1, 2]) {
      const answer = await shop.ask('POST', `${PATH}/${id}/deliveries/${event}/redeliver`)
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
    expectProblem(await shop.ask('POST', `${PATH}/${id}/deliveries/evt_x/redeliver`), 404, 'resource_missing')
    await shop.ask('DELETE', `${PATH}/${id}`)
  })

  test('that were given up are all sent again since a time, and those before it are not', async () => {
    const id = await register()
    const early = await record()
    const failed = [await record(), await record('payment.failed'), await record('payment.expired')]
    await shop.db.query(
      "update delivery set status = 'exhausted', attempts = 12, schedule_step = 12 where endpoint_id = $1",
      [id],
    )
    await shop.db.query("update delivery set created_at = now() - interval '3 days' where event_id = $1", [early])
    const since = new Date(Date.now() - 86_400_000).toISOString()
    const answer = await shop.ask('POST', `${PATH}/${id}/redeliver_failed`, { body: { since } })
    expect(answer.body).toEqual({ object: 'redelivery', endpoint: id, deliveries: 3 })
    await until(
      async () => receiver.received.length,
      (count) => count === 3,
      40_000,
    )
    expect(receiver.received.map(({ id: seen }) => seen).sort()).toEqual([...failed].sort())
    const left = (await shop.ask('GET', `${PATH}/${id}/deliveries?status=exhausted`)).body['data'] as Fields[]
    expect(left.map(({ event }) => event)).toEqual([early])
    await shop.ask('DELETE', `${PATH}/${id}`)
  })

  test('end with 410: the endpoint is disabled, a notice is written, and nothing is sent before it is enabled', async () => {
    const id = await register()
    const event = await record()
    status = 410
    await shop.ask('POST', `${PATH}/${id}/deliveries/${event}/redeliver`)
    const read = () => shop.ask('GET', `${PATH}/${id}`)
    const disabled = await until(read, (answer) => answer.body['status'] === 'disabled', 40_000)
    status = 204
    expect(disabled.body['disabled_reason']).toBe('gone')
    const { rows } = await shop.db.query("select kind, data from notice where data ->> 'endpoint' = $1", [id])
    expect(rows).toEqual([
      { kind: 'webhook_endpoint.disabled', data: { endpoint: id, reason: 'gone', url: receiver.url } },
    ])
    expectProblem(await shop.ask('POST', `${PATH}/${id}/test`), 409, 'not_possible_now')
    await shop.ask('PATCH', `${PATH}/${id}`, { body: { enabled: true } })
    expect((await shop.ask('POST', `${PATH}/${id}/deliveries/${event}/redeliver`)).status).toBe(202)
    await arrived(id)
    await shop.ask('DELETE', `${PATH}/${id}`)
  })
})

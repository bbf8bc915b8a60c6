import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { linkWorld, pressOn, withoutLimits } from '../api/links/maker.ts'
import { openShop, type Shop } from '../api/support/shop.ts'

/** `payment.created`: written with the payment, and sent by the api at once to whoever asks for it. */

let shop: Shop
let sent: string[] = []
beforeAll(async () => {
  shop = await openShop({
    deps: (db) => ({
      ...withoutLimits(db),
      deliveries: {
        deliverNow: async ({ eventId, endpointId }) => sent.push(`${eventId} ${endpointId}`) > 0,
      },
    }),
  })
}, 60_000)
afterAll(() => shop?.close())
beforeEach(() => {
  sent = []
})

const pay = (headers: Record<string, string> = {}) =>
  shop.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR' }, headers })

const subscribe = async (enabled_events: string[]): Promise<string> => {
  const body = { url: 'https://shop.example/hooks', enabled_events }
  return String((await shop.ask('POST', '/v1/webhook_endpoints', { body })).body['id'])
}

type Listed = { id: string; type: string; sequence: number; data: { object: { id: string } } }
const events = async (): Promise<Listed[]> =>
  ((await shop.ask('GET', '/v1/events?after_sequence=0&limit=100')).body['data'] ?? []) as Listed[]

test('a payment is told as it was answered, to the endpoints that ask for it alone', async () => {
  await subscribe(['payment.succeeded'])
  const asking = [await subscribe(['payment.created']), await subscribe(['*'])].sort()
  const made = await pay()
  const [event] = (await events()).filter(({ data }) => data.object.id === made.body['id'])
  expect(event).toMatchObject({ type: 'payment.created', data: { object: made.body } })
  expect(sent).toEqual(asking.map((endpointId) => `${event?.id} ${endpointId}`))
})

test('one request is one event, however often it is sent, and a refused one is none', async () => {
  const before = (await events()).length
  const headers = { 'idempotency-key': 'created-once' }
  const answers = await Promise.all([pay(headers), pay(headers), pay(headers)])
  expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0)
  await pay(headers)
  await shop.ask('POST', '/v1/payments', { body: { amount: 0, currency: 'EUR' } })
  expect((await events()).length).toBe(before + 1)
})

test('payments that are created at the same moment leave no gap in the sequence', async () => {
  const before = (await events()).length
  await Promise.all(Array.from({ length: 20 }, () => pay()))
  const sequences = (await events()).map(({ sequence }) => sequence)
  expect(sequences).toEqual(Array.from({ length: before + 20 }, (_, place) => place + 1))
})

test('a payment of a link is told too', async () => {
  const world = linkWorld(shop)
  const made = await world.make()
  await pressOn(shop, made.path)
  const [payment] = await world.paymentsOf(made)
  const told = await world.rows('select type, sequence from event where payment_id = $1', [payment?.id])
  expect(told).toEqual([{ type: 'payment.created', sequence: '1' }])
})

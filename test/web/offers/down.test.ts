import { afterAll, beforeAll, expect, test } from '@jest/globals'
import supertest from 'supertest'
import type { DownPartners } from '../../../src/domain/offers.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../checkout-world.ts'

const SINCE = '2026-11-20T12:00:00.000Z'
let world: CheckoutWorld
let down: DownPartners = {}
beforeAll(async () => {
  world = await createCheckoutWorld({ down: () => down })
})
afterAll(() => world.close())

const get = (path: string) => supertest(world.url).get(path).set('x-country', 'DE').expect(200)
const post = (path: string, body: object = {}) =>
  supertest(world.url).post(path).set('x-country', 'DE').type('form').send(body)
const keyOf = async (path: string): Promise<string> => (await get(`${path}/status`)).body.key
const APP = { provider: 'wallet_app', method: 'banking_app' }

test('a pinned payment whose partner is down says so, offers the others, tells its merchant, and comes back', async () => {
  const { id, path } = await world.create({ provider: 'wallet_app' })
  const before = await keyOf(path)
  down = { wallet_app: SINCE }
  const page = await get(path)
  expect(page.text).toContain('Paying by banking app does not work at the moment.')
  expect(page.text).toContain('Velanto does not answer. It comes back here by itself.')
  expect(page.text).toContain('?method=card_partner.card')
  expect(page.text).not.toContain('?method=wallet_app.banking_app')
  expect(await keyOf(path)).not.toBe(before)

  for (const since of [SINCE, SINCE, '2026-11-20T14:00:00.000Z']) {
    down = { wallet_app: since }
    await post(`${path}/opened`).expect(204)
  }
  const told = await world.timeline(id, 'checkout.route')
  // Once for each time that it was down.
  expect(told.map(({ message, data }) => [message, data['reason'], data['down_since']])).toEqual([
    ['wallet_app does not answer anybody at the moment; shown: picker', 'down', SINCE],
    ['wallet_app does not answer anybody at the moment; shown: picker', 'down', '2026-11-20T14:00:00.000Z'],
  ])

  // Nobody is sent there, by no form.
  expect((await post(`${path}/continue`, APP).expect(303)).headers['location']).toBe(
    `${path}?method=wallet_app.banking_app`,
  )
  expect(world.asked).toEqual([])

  down = {}
  expect(await keyOf(path)).toBe(before)
  await post(`${path}/continue`, APP).expect(303)
  expect(world.asked).toHaveLength(1)
})

test('without a fallback the page waits for the partner, with a script and without, and keeps the link', async () => {
  const { path } = await world.create({ provider: 'wallet_app', fallback: 'none' })
  down = { wallet_app: SINCE }
  const page = await get(path)
  expect(page.text).toContain('Velanto does not answer at the moment')
  expect(page.text).toContain('the link stays the same')
  expect(page.text).toContain('<noscript><meta http-equiv="refresh"')
  expect(page.text).not.toContain(`${path}/continue`)
  down = {}
  expect((await get(path)).text).toContain(`${path}/continue`)
})

test('where the buyer picks, a way that is missing for the moment is named', async () => {
  const { path } = await world.create()
  const before = await keyOf(path)
  down = { card_partner: SINCE }
  expect(await keyOf(path)).not.toBe(before)
  expect((await get(path)).text).toContain('Cardora does not answer at the moment (Card and Device wallet).')
  down = {}
  expect((await get(path)).text).not.toContain('at the moment')
})

test('an order that is open at the partner is shown as ever, and can be gone on with', async () => {
  down = {}
  const { path } = await world.create({ provider: 'wallet_app' })
  await post(`${path}/continue`, APP).expect(303)
  const [page, key] = [(await get(path)).text, await keyOf(path)]
  down = { wallet_app: SINCE }
  expect(page).toContain('Finish at Velanto')
  expect((await get(path)).text).toContain('Finish at Velanto')
  expect(await keyOf(path)).toBe(key)
  await get(`${path}/go`)
})

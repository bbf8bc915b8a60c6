import { afterAll, beforeAll, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from '../checkout-world.ts'
import { html } from '../reading.ts'
import { SITUATIONS } from '../situations.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world.close())

const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()
const get = (path: string) => supertest(world.url).get(path).set('x-country', 'DE').expect(200)
const press = (path: string) => supertest(world.url).post(`${path}/extend`).type('form').send('')

test('a buyer who is about to be too late gets 15 minutes more, once, and the workflow hears of it', async () => {
  const expiresAt = inMinutes(4)
  const { path, id, read } = await world.create({ provider: 'wallet_app', expiresAt })
  const before = await get(path)
  expect(before.text).toContain('4 minutes left.')
  expect(before.text).toContain(`action="${path}/extend"`)
  expect((await press(path).expect(303)).headers['location']).toBe(path)
  const extended = (await read())?.expiresAt ?? ''
  expect(Date.parse(extended) - Date.parse(expiresAt)).toBe(15 * 60_000)
  expect(world.extended).toEqual([id])
  expect((await world.timeline(id, 'payment.expiry_extended')).map(({ actor }) => actor)).toEqual(['buyer'])
  expect((await get(path)).text).not.toContain('/extend')
  await press(path).expect(303)
  expect([(await read())?.expiresAt, world.extended.length]).toEqual([extended, 1])
})

test('with time left, after the end, and from another site nothing is extended', async () => {
  world.extended.length = 0
  const early = await world.create({ expiresAt: inMinutes(30) })
  expect((await get(early.path)).text).not.toContain('/extend')
  await press(early.path).expect(303)
  const closed = await world.create({ expiresAt: inMinutes(3) })
  await movePayment(world, closed.id, ['canceled'])
  await press(closed.path).expect(303)
  const foreign = await world.create({ expiresAt: inMinutes(3) })
  await press(foreign.path).set('sec-fetch-site', 'cross-site').expect(403)
  await supertest(world.url).get(`${foreign.path}/extend`).expect(405)
  expect(world.extended).toEqual([])
})

test('in a frame of the shop there is no form: the whole page has it', () => {
  const closing = SITUATIONS['five minutes left']
  expect(html(closing)).toContain('/extend')
  expect(html({ ...closing, ...SITUATIONS['in a frame of the shop'] })).not.toContain('/extend')
})

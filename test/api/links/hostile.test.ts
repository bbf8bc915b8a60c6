import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Visitor } from '../site/visitor.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { linkWorld, OWN_WALLET, pressIn, pressOn, withoutLimits } from './maker.ts'

/** What a hostile stranger tries with links that were made without an account: to lose, double or misdirect money. */

let shop: Shop
let world: ReturnType<typeof linkWorld>
beforeAll(async () => {
  shop = await openShop({ deps: withoutLimits })
  world = linkWorld(shop)
}, 60_000)
afterAll(() => shop?.close())

test('cannot bring in a link by its code, its id or the digest that is stored', async () => {
  const made = await world.make()
  const { id } = await world.linkRow(made)
  const [stored] = await world.rows(
    "select encode(digest, 'base64') as a, encode(digest, 'hex') as b from link_owner where payment_link = $1",
    [id],
  )
  const thief = await world.newOwner()
  for (const guess of [made.code, String(id), made.owner.slice(3), String(stored?.['a']), String(stored?.['b'])])
    expect((await thief.submit(`/dashboard/links/claim/${encodeURIComponent(guess)}`)).status).toBe(404)
  expect(await world.linkRow(made)).toMatchObject({ anonymous: true })
})

test('who has stolen the secret cannot send the money elsewhere', async () => {
  const made = await world.make()
  const { wallet } = await world.linkRow(made)
  await pressOn(shop, made.path)
  const thief = await world.newOwner()
  await thief.submit(await world.ticketOf(made))
  const merchantId = await world.accountOf(thief)
  await world.rows('insert into wallet (merchant_id, livemode, address) values ($1, false, $2)', [
    merchantId,
    OWN_WALLET,
  ])
  await pressOn(shop, made.path)
  expect((await world.paymentsOf(made)).map(({ destination }) => destination)).toEqual([wallet, wallet])
  await expect(
    world.rows('update payment_link set wallet = $1 where code = $2', [OWN_WALLET, made.code]),
  ).rejects.toThrow('are fixed')
})

test('cannot get a second payment out of one press while the link is brought in', async () => {
  for (let round = 0; round < 5; round++) {
    const made = await world.make()
    const buyer = new Visitor(shop)
    const press = pressIn((await buyer.get(made.path)).html)
    const owner = await world.newOwner()
    const ticket = await world.ticketOf(made)
    const form = { _form: await owner.formField() }
    const sent = Array.from({ length: 4 }, () => buyer.post(made.path, { press }))
    await Promise.all([
      ...sent,
      owner.post(ticket, form),
      ...Array.from({ length: 4 }, () => buyer.post(made.path, { press })),
    ])
    const last = await buyer.post(made.path, { press })
    expect([last.status, (await world.paymentsOf(made)).length]).toEqual([303, 1])
  }
}, 30_000)

test('gets no payment through a link that was paused before the press was stored', async () => {
  for (let round = 0; round < 4; round++) {
    const made = await world.make()
    const presses = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { html } = await new Visitor(shop).get(made.path)
        return pressIn(html)
      }),
    )
    const owner = new Visitor(shop)
    const paused = owner.post(`${made.owner}/pause`).then(async () => (await world.paymentsOf(made)).length)
    const answers = await Promise.all(presses.map((press) => new Visitor(shop).post(made.path, { press })))
    // What was there when the pause was answered is all that there is.
    const atPause = await paused
    expect((await world.paymentsOf(made)).length).toBe(atPause)
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(atPause)
  }
}, 30_000)

test('fifty presses on ten places make ten payments, also while the link changes hands', async () => {
  const made = await world.make({ max_payments: '10' })
  const presses = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { html } = await new Visitor(shop).get(made.path)
      return pressIn(html)
    }),
  )
  const owner = await world.newOwner()
  const ticket = await world.ticketOf(made)
  const form = { _form: await owner.formField() }
  const answers = await Promise.all([
    ...presses.map((press) => new Visitor(shop).post(made.path, { press })),
    owner.post(ticket, form),
  ])
  expect((await world.paymentsOf(made)).length).toBeLessThanOrEqual(10)
  // Who was told to try again does: nobody is asked twice, and no place is given twice.
  const again = await Promise.all(presses.map((press) => new Visitor(shop).post(made.path, { press })))
  expect(answers.length).toBe(51)
  expect((await world.paymentsOf(made)).length).toBe(10)
  expect(again.filter(({ status }) => status === 303)).toHaveLength(10)
}, 30_000)

test('a merchant of a link without an account has nobody, no key and no way in', async () => {
  const made = await world.make()
  const { merchant_id: merchantId, id } = await world.linkRow(made)
  const stranger = await world.newOwner()
  expect((await stranger.submit('/dashboard/accounts/choose', { account: String(merchantId) })).status).toBe(404)
  expect((await stranger.submit('/dashboard/accounts/join', { account: String(merchantId) })).status).toBe(404)
  expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).status).toBe(404)
  const tenant = shop.db.as(shop.tenant)
  await expect(tenant.query('select * from link_owner')).rejects.toThrow('permission denied')
})

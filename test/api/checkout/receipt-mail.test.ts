import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { setCustomerEmail } from '../../../src/db/payments/buyers.ts'
import { browse } from '../../support/browse.ts'
import { type CheckoutFixture, createCheckoutFixture } from './checkout-fixture.ts'

let fixture: CheckoutFixture
beforeAll(async () => {
  fixture = await createCheckoutFixture()
})
afterAll(() => fixture?.close())
beforeEach(() => {
  fixture.asked.length = 0
})

const APP = { provider: 'wallet_app', method: 'banking_app' }
const get = (path: string) => browse(fixture.url).get(path).set('x-country', 'DE')
const post = (path: string, body: object) => browse(fixture.url).post(path).form(body).set('x-country', 'DE')
const known = async (id: string) =>
  (await fixture.db.query('select email, source, language from payment_buyer where payment_id = $1', [id])).rows[0]
const succeed = (id: string) =>
  fixture.db.query(`update payment set status = 'succeeded', succeeded_at = now() where id = $1`, [id])

test('a buyer who continues with an address gets the receipt there, and the merchant only with consent', async () => {
  const [one, two] = [await fixture.create(), await fixture.create()]
  await post(`${one.path}/continue`, { ...APP, email: ' Anna@Mail.example' })
    .set('accept-language', 'de')
    .expect(200)
  expect(await known(one.id)).toEqual({ email: 'anna@mail.example', source: 'private', language: 'de' })
  await post(`${two.path}/continue`, { ...APP, email: 'anna@mail.example', share: 'yes' }).expect(200)
  expect(await known(two.id)).toMatchObject({ source: 'shared' })
  const page = await get(`${one.path}?step=pick`)
  expect(page.text).not.toContain('anna@mail.example')
})

test('a buyer who leaves the address empty pays, and nothing is stored', async () => {
  const payment = await fixture.create()
  await post(`${payment.path}/continue`, { ...APP, email: '' }).expect(200)
  expect(fixture.asked).toHaveLength(1)
  expect(await known(payment.id)).toBeUndefined()
})

test('something that is no address is shown again with what is wrong, and opens no order', async () => {
  const payment = await fixture.create()
  const page = await post(`${payment.path}/continue`, { ...APP, email: 'anna@"><script>' }).expect(422)
  expect(page.text).toContain('Enter a whole e-mail address')
  expect(page.text).toContain('value="anna@&quot;><script>"'.replace('><script>', '>&lt;script>'))
  expect(fixture.asked).toEqual([])
  expect(await known(payment.id)).toBeUndefined()
})

test('an address of the merchant is masked, is not changed, and gets the language of the page', async () => {
  const payment = await fixture.create()
  const tenant = { merchantId: 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2', livemode: false }
  const at = '2026-11-20T21:00:00.000Z'
  await setCustomerEmail(fixture.db, tenant, { paymentId: payment.id, email: 'shop@mail.example', at })
  const page = await get(`${payment.path}?method=wallet_app.banking_app`)
  expect(page.text).toContain('s…@mail.example')
  expect(page.text).not.toMatch(/shop@mail|name="email"/)
  await post(`${payment.path}/continue`, { ...APP, email: 'other@mail.example' })
    .set('accept-language', 'el')
    .expect(200)
  expect(await known(payment.id)).toEqual({ email: 'shop@mail.example', source: 'merchant', language: 'el' })
})

test('a buyer asks for the receipt after the payment, until a mail was written', async () => {
  const payment = await fixture.create()
  await succeed(payment.id)
  expect((await get(payment.path)).text).toContain(`action="${payment.path}/receipt-mail"`)
  await post(`${payment.path}/receipt-mail`, { email: 'anna@mail.example' }).expect(303)
  await post(`${payment.path}/receipt-mail`, { email: 'b@mail.example' }).expect(303)
  expect(await known(payment.id)).toMatchObject({ email: 'b@mail.example' })
  await fixture.db.query('update buyer_mail set written_at = now() where payment_id = $1', [payment.id])
  await post(`${payment.path}/receipt-mail`, { email: 'victim@mail.example' }).expect(303)
  expect(await known(payment.id)).toMatchObject({ email: 'b@mail.example' })
  expect((await get(payment.path)).text).not.toContain('name="email"')
  await post(`${payment.path}/receipt-mail`, { email: 'x' }).expect(303)
})

test('an address for a payment that ended unpaid is not stored', async () => {
  const payment = await fixture.create()
  await fixture.db.query(`update payment set status = 'expired' where id = $1`, [payment.id])
  await post(`${payment.path}/receipt-mail`, { email: 'anna@mail.example' }).expect(303)
  expect(await known(payment.id)).toBeUndefined()
})

test.each(['', '?step=pick', '?step=country', '?method=card_partner.card'])(
  'the page "%s" of an open payment leads back to the shop',
  async (query) => {
    const payment = await fixture.create()
    expect((await get(`${payment.path}${query}`)).text).toContain('href="https://shop.example/cart"')
  },
)

test('the page of an open order leads back to the shop', async () => {
  const payment = await fixture.create()
  await post(`${payment.path}/continue`, APP).expect(200)
  expect((await get(payment.path)).text).toContain('href="https://shop.example/cart"')
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import type { CheckoutDeps } from '../../../src/api/routes/checkout/checkout.ts'
import { newId } from '../../../src/ids.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../checkout-world.ts'

let world: CheckoutWorld
let real: CheckoutWorld
const nobody = () => Promise.reject(new Error('nobody is to be asked'))
const SIMULATING = {
  workflows: { openAttempt: nobody, tellRowChanged: nobody },
  skipDeliveryTime: nobody,
  simulate: nobody,
  newAttemptId: () => newId('attempt'),
  clock: Date.now,
  publicUrl: 'http://127.0.0.1:9',
} as unknown as NonNullable<CheckoutDeps['simulating']>
beforeAll(async () => {
  world = await createCheckoutWorld({ simulating: SIMULATING })
  real = await createCheckoutWorld()
})
afterAll(() => Promise.all([world.close(), real.close()]))

const BAR = 'class="sandbox"'
const cookiesOf = (answer: { headers: Record<string, unknown> }): string =>
  (answer.headers['set-cookie'] as string[]).map((cookie) => cookie.split(';')[0]).join('; ')

function visit({ url }: CheckoutWorld, path: string) {
  let cookie = ''
  return {
    page: async () => (await supertest(url).get(path).set('cookie', cookie).set('x-country', 'DE').expect(200)).text,
    press: async (fields: object, headers: Record<string, string> = {}) => {
      const answer = await supertest(url)
        .post(`${path}/sandbox`)
        .set({ cookie, 'x-country': 'DE', ...headers })
        .type('form')
        .send(fields)
      if (answer.headers['set-cookie'] !== undefined) cookie = cookiesOf(answer)
      return answer
    },
  }
}

describe('the test bar', () => {
  test('is not there where partners are real, nor does anything answer there', async () => {
    const { path } = await real.create()
    const buyer = visit(real, path)
    expect(await buyer.page()).not.toContain(BAR)
    for (const fields of [{ do: 'pay' }, { skip: '60' }, { country: 'IN', device: '', language: 'en' }]) {
      const answer = await buyer.press(fields)
      expect([answer.status, answer.headers['set-cookie']]).toEqual([404, undefined])
    }
  })

  test('is no way into a payment of live mode', async () => {
    const { path } = await world.create({ livemode: true })
    const answer = await visit(world, path).press({ do: 'pay' })
    expect(answer.status).toBe(404)
  })

  test('plays the buyer: country, device and language hold for this payment, and can be taken back', async () => {
    const { path } = await world.create({ provider: 'local_partner' })
    const buyer = visit(world, path)
    expect(await buyer.page()).toContain(BAR)
    await buyer.press({ country: 'IN', device: 'android', language: 'hi' })
    const page = await buyer.page()
    expect(page).toContain('lang="hi"')
    expect(page).toContain('<option value="IN" selected')
    expect(page).toContain('<option value="android" selected')
    await buyer.press({ country: '', device: '', language: 'en' })
    expect(await buyer.page()).toContain('UPI is not offered in Germany')
  })

  test('plays a partner that is down, and back', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    const buyer = visit(world, path)
    const { status, headers } = await buyer.press({ do: 'partner_down' })
    expect([status, headers['location']]).toEqual([303, `${path}?sandbox=`])
    const page = await buyer.page()
    expect(page).toContain('Paying by banking app does not work at the moment.')
    expect(page).toContain('value="partner_down" aria-pressed="true"')
    // Another buyer of the same shop is not concerned.
    expect(await visit(world, path).page()).toContain('Continue to Velanto')
    await buyer.press({ do: 'partner_down' })
    expect(await buyer.page()).toContain('Continue to Velanto')
  })

  test.each([
    [{ do: 'explode' }, {}, 400],
    [{ skip: '999999999' }, {}, 400],
    [{ country: 'XX', device: '', language: 'en' }, {}, 400],
    [{ do: 'pay' }, { 'sec-fetch-site': 'cross-site' }, 403],
    [{ do: 'pay' }, { origin: 'https://elsewhere.example' }, 403],
  ])('refuses %j with %j', async (fields, headers, status) => {
    const { path } = await world.create()
    expect((await visit(world, path).press(fields, headers)).status).toBe(status)
  })
})

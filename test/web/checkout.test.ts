import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from './checkout-world.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.setAnswer('opens')
  world.asked.length = 0
})

const get = (path: string, country?: string) => {
  const request = supertest(world.url).get(path)
  return country === undefined ? request : request.set('x-country', country)
}
const post = (path: string, body: string | object) => supertest(world.url).post(path).type('form').send(body)
const APP = { provider: 'wallet_app', method: 'banking_app' }

describe('the page behind the link', () => {
  test('a payment without a pin shows the picker of the country in the trusted header', async () => {
    const { path } = await world.create()
    const inGermany = await get(path, 'DE').expect(200)
    expect(inGermany.text).toContain('How would you like to pay?')
    expect(inGermany.text).toContain('method=wallet_app.banking_app')
    const inBrazil = await get(path, 'BR').expect(200)
    expect(inBrazil.text).not.toContain('method=wallet_app.banking_app')
    expect(inBrazil.text).toContain('method=local_partner.card')
  })

  test('a link of the picker opens the card of that method', async () => {
    const { path } = await world.create()
    const page = await get(`${path}?method=card_partner.card`, 'DE').expect(200)
    expect(page.text).toContain('Pay by card')
  })

  test('an unknown link is a page, and so is a broken one', async () => {
    for (const path of ['/c/nothing', '/c/nothing/status', '/c/nothing/go', `/c/${'x'.repeat(3000)}`, '/c/']) {
      const answer = await get(path)
      expect([path, answer.status, answer.type]).toEqual([path, 404, 'text/html'])
      expect(answer.text).toContain('There is no such payment')
    }
    const broken = await get('/c/%E0%A4%A')
    expect([broken.status, broken.type]).toEqual([400, 'text/html'])
    expect(broken.text).not.toMatch(/URIError|at .*\.ts/)
  })

  test('every page comes with a strict policy, no referrer, no cache and no frame', async () => {
    const { path } = await world.create()
    for (const answer of [await get(path), await get('/c/nothing'), await get(`${path}/status`)]) {
      expect(answer.headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      )
      expect(answer.headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex, nofollow',
      })
      expect(answer.headers['permissions-policy']).toContain('camera=()')
    }
  })

  test('opening pages again and again creates and changes nothing', async () => {
    const { path, id, read } = await world.create({ provider: 'wallet_app' })
    const before = await read()
    for (const suffix of ['', '/status', '/go', '?step=pick', '?method=card_partner.card'])
      await get(path + suffix, 'DE')
    await supertest(world.url).head(path)
    expect(await read()).toEqual(before)
    expect(world.asked).toEqual([])
    expect(await world.timeline(id, 'checkout.route')).toEqual([])
  })

  test('what a link asks for and the page does not know is not heard', async () => {
    const { path } = await world.create()
    for (const query of [
      '?method=__proto__.card',
      '?method=a&method=b',
      '?method[x]=1',
      '?step[]=pick',
      `?x=${'y'.repeat(2000)}`,
    ])
      expect((await get(path + query, 'DE').expect(200)).text).toContain('How would you like to pay?')
  })

  test('a converter that is down does not take the page away', async () => {
    const dark = await createCheckoutWorld({ rates: { current: () => Promise.reject(new Error('no rates')) } })
    try {
      const { path } = await dark.create({ provider: 'local_partner' })
      const page = await supertest(dark.url).get(path).set('x-country', 'IN').expect(200)
      expect(page.text).toContain('You are charged in INR. The next step shows the exact amount.')
    } finally {
      await dark.close()
    }
  })
})

describe('the country of the buyer', () => {
  test('the choice of the buyer counts more than the header, for this payment alone', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    const saved = await post(`${path}/country`, { country: 'BR' }).expect(303)
    expect(saved.headers['location']).toBe(path)
    const cookie = String(saved.headers['set-cookie'])
    expect(cookie).toBe(`pinrail_country=BR; Path=${path}; Max-Age=604800; HttpOnly; SameSite=Lax`)
    const page = await get(path, 'DE').set('cookie', cookie.split(';')[0] ?? '')
    expect(page.text).toContain('Not offered in Brazil. Choose another way to pay.')
  })

  test('neither a header nor a cookie with nonsense decides anything', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    for (const nonsense of ['XX', 'T1', 'ZZ', 'br<script>', ''])
      expect((await get(path, nonsense)).text).toContain('Where are you paying from?')
    const page = await get(path, 'DE').set('cookie', 'pinrail_country=ZZ; other=1')
    expect(page.text).toContain('Paying from Germany')
  })

  test.each(['', 'country=ZZ', 'country=', 'country=br', 'country=BR&country=DE', 'nothing=1'])(
    'the form %j is refused with a page',
    async (body) => {
      const { path } = await world.create()
      const answer = await post(`${path}/country`, body)
      expect([answer.status, answer.type]).toEqual([400, 'text/html'])
      expect(answer.headers['set-cookie']).toBeUndefined()
    },
  )
})

describe('the decision on the timeline', () => {
  test('is written with its inputs when the buyer goes on, once', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    for (let press = 0; press < 2; press += 1) await post(`${path}/continue`, APP).set('x-country', 'DE').expect(303)
    expect(await world.timeline(id, 'checkout.route')).toEqual([
      {
        actor: 'buyer',
        message: 'The buyer in DE goes on with banking_app at wallet_app',
        data: {
          provider: 'wallet_app',
          country: 'DE',
          country_source: 'header',
          offered: true,
          reason: null,
          limit: null,
          fallback: 'picker',
          chosen: APP,
        },
      },
    ])
  })

  test('is written when the fallback is shown, once for each decision, however often the page is loaded', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    await Promise.all(Array.from({ length: 6 }, () => get(path, 'BR').expect(200)))
    await get(path, 'US').expect(200)
    const notes = await world.timeline(id, 'checkout.route')
    expect(notes.map(({ data }) => [data['country'], data['offered'], data['reason']])).toEqual([
      ['BR', false, 'country'],
      ['US', false, 'country'],
    ])
    expect(notes[0]).toMatchObject({ actor: 'system', data: { country_source: 'header', chosen: null } })
  })

  test('names the limit that decided', async () => {
    const { path, id } = await world.create({
      provider: 'local_partner',
      fallback: 'none',
      amount: { minor: '1000', currency: 'EUR' },
    })
    await get(path, 'IN').expect(200)
    expect((await world.timeline(id, 'checkout.route'))[0]?.data).toMatchObject({
      reason: 'amount_too_small',
      limit: '30.00 USD',
      fallback: 'none',
    })
  })
})

describe('what an open page asks for', () => {
  test('follows the payment from the partner to the merchant', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    const status = async () => (await get(`${path}/status`).expect(200)).body
    const first = await status()
    expect(first).toMatchObject({ status: 'created', poll: 10, steps: null, partner_url: null })
    await post(`${path}/continue`, APP).expect(303)
    const pending = await status()
    expect(pending).toMatchObject({ status: 'pending', poll: 3 })
    expect(pending.key).not.toBe(first.key)
    await movePayment(world, id, ['processing'])
    const processing = await status()
    expect(processing.steps.map(({ state }: { state: string }) => state)).toEqual(['current', 'todo', 'todo'])
    expect(processing.message).toBe('Your payment is being confirmed.')
    await movePayment(world, id, ['settling'])
    const settling = await status()
    expect(settling).toMatchObject({ key: processing.key, message: 'The money is on its way to Nightline Rail.' })
    expect(settling.steps.map(({ state }: { state: string }) => state)).toEqual(['done', 'done', 'current'])
    await movePayment(world, id, ['succeeded'])
    expect((await status()).key).not.toBe(settling.key)
  })
})

describe('assets', () => {
  test('are served under the hash of their content, for ever, small, and nothing else is', async () => {
    const { path } = await world.create()
    const page = (await get(path)).text
    const files = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file]) => file ?? '')
    expect(files).toHaveLength(3)
    for (const file of files) {
      const answer = await get(file).expect(200)
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      const size = Buffer.byteLength(answer.text ?? answer.body)
      expect(size).toBeLessThan(file.endsWith('.js') ? 15_360 : 10_240)
    }
    expect((await get('/assets/nothing.css')).status).toBe(404)
    expect((await get('/assets/..%2f..%2fpackage.json')).status).toBe(404)
  })
})

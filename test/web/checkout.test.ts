import { gzipSync } from 'node:zlib'
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
      expect(page.text).toContain('fixed in the next step')
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
    expect(page.text).toContain('Paying by banking app is not offered in Brazil.')
  })

  test('neither a header nor a cookie with nonsense decides anything', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    for (const nonsense of ['XX', 'T1', 'ZZ', 'br<script>', ''])
      expect((await get(path, nonsense)).text).toContain('Not known')
    const page = await get(path, 'DE').set('cookie', 'pinrail_country=ZZ; other=1')
    expect(page.text).toContain('<dd>Germany <a')
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

test('changing the country keeps the way to pay that was chosen, and only a real one', async () => {
  const { path } = await world.create()
  const kept = await post(`${path}/country`, { country: 'US', chosen: 'card_partner.card' }).expect(303)
  expect(kept.headers['location']).toBe(`${path}?method=card_partner.card`)
  const unreal = await post(`${path}/country`, { country: 'US', chosen: '//evil.example' }).expect(303)
  expect(unreal.headers['location']).toBe(path)
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

  test('is written when a page with a script shows the fallback, once for each decision and ten times at most; loading writes none', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    const shown = await get(path, 'BR').expect(200)
    expect(shown.text).toContain(`data-opened="${path}/opened"`)
    expect(await world.timeline(id, 'checkout.route')).toEqual([])
    const open = (country: string) => post(`${path}/opened`, {}).set('x-country', country).expect(204)
    await Promise.all(Array.from({ length: 6 }, () => open('BR')))
    await open('US')
    const notes = await world.timeline(id, 'checkout.route')
    expect(notes.map(({ data }) => [data['country'], data['offered'], data['reason']])).toEqual([
      ['BR', false, 'country'],
      ['US', false, 'country'],
    ])
    expect(notes[0]).toMatchObject({ actor: 'system', data: { country_source: 'header', chosen: null } })
    for (const country of 'IN JP MX CA AU NZ AR CL PE CO'.split(' ')) await open(country)
    expect(await world.timeline(id, 'checkout.route')).toHaveLength(10)
  })

  test('names the limit that decided', async () => {
    const { path, id } = await world.create({
      provider: 'local_partner',
      fallback: 'none',
      amount: { minor: '1000', currency: 'EUR' },
    })
    await post(`${path}/opened`, {}).set('x-country', 'IN').expect(204)
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
    expect(first).toMatchObject({ status: 'created', poll: 10, url: path, partner_url: null })
    await post(`${path}/continue`, APP).expect(303)
    const pending = await status()
    expect(pending).toMatchObject({ status: 'pending', poll: 3 })
    expect(pending.key).not.toBe(first.key)
    await movePayment(world, id, ['processing'])
    const processing = await status()
    await movePayment(world, id, ['settling'])
    const settling = await status()
    expect(settling.key).not.toBe(processing.key)
    await movePayment(world, id, ['succeeded'])
    expect((await status()).key).not.toBe(settling.key)
  })
})

describe('back from the partner', () => {
  const navigated = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' }

  test('the page says that it is checking, from the first moment and also when it is loaded again', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(303)
    const back = await get(path).set(navigated).expect(303)
    const { location } = back.headers
    expect(location).toMatch(/\?back=\d{10}$/)
    for (const headers of [navigated, { 'sec-fetch-site': 'same-origin' }]) {
      const page = await get(String(location)).set(headers).expect(200)
      expect(page.text).toContain('Checking with Velanto…')
      expect(page.text).not.toContain('/continue')
    }
    const status = await get(`${path}/status${new URL(String(location), world.url).search}`)
    expect(status.body).toMatchObject({ status: 'pending', poll: 1, url: location })
  })

  test('an older browser says nothing but where it comes from', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(303)
    expect((await get(path).set('referer', `${world.partnerUrl}/`).expect(303)).headers['location']).toContain('?back=')
    await get(path).set('referer', 'https://elsewhere.example/').expect(200)
  })

  test('who loads the page again, opens it anew, or has not been there is not taken for one who came back', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await get(path).set(navigated).expect(200)
    await post(`${path}/continue`, APP).expect(303)
    for (const site of ['none', 'same-origin'])
      await get(path)
        .set({ ...navigated, 'sec-fetch-site': site })
        .expect(200)
    await get(path).expect(200)
  })

  test('who comes once more from the shop has not been at the partner just now', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(303)
    const page = await get(path)
      .set({ ...navigated, referer: 'https://shop.example/' })
      .expect(200)
    expect(page.text).toContain('Finish at Velanto')
  })

  test('a moment that cannot be is not sent on again and again', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(303)
    await get(`${path}?back=1000000000`).set(navigated).expect(200)
  })

  test.each(['1', '9999999999', 'x', '1000000000'])('?back=%s, which cannot be, says nothing', async (back) => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(303)
    expect((await get(`${path}?back=${back}`).expect(200)).text).toContain('Finish at Velanto')
  })
})

describe('the receipt', () => {
  test('has an address of its own once the payment was made, and before it leads to the payment', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    expect((await get(`${path}/receipt`).expect(303)).headers['location']).toBe(path)
    await movePayment(world, id, ['pending', 'processing', 'settling', 'succeeded'])
    const receipt = await get(`${path}/receipt`).expect(200)
    expect(receipt.text).toContain('<title>Test receipt from Nightline Rail</title>')
    expect((await get(path)).text).toContain(`href="${path}/receipt"`)
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
      const size = gzipSync(answer.text ?? answer.body).byteLength
      expect(size).toBeLessThan(file.endsWith('.js') ? 15_360 : 10_240)
    }
    expect((await get('/assets/nothing.css')).status).toBe(404)
    expect((await get('/assets/..%2f..%2fpackage.json')).status).toBe(404)
  })
})

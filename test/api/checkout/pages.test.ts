import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { Problem } from '../../../src/api/http/problems.ts'
import { createLocate } from '../../../src/config/countries.ts'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from './checkout-world.ts'
import { countriesFile } from './countries-file.ts'

let world: CheckoutWorld
/** How many files may be fetched from now on, and what was counted. */
let files = Number.POSITIVE_INFINITY
const counted: string[] = []
/** The country of an address; a test sets it. */
let locate: (address: string) => string | null = () => null
beforeAll(async () => {
  world = await createCheckoutWorld({
    limits: {
      countLink: (_token, kind) => {
        counted.push(kind)
        if (kind === 'act' && files-- <= 0) throw new Problem('rate_limited', 'Too many requests with this link.')
      },
      countPaper: () => void counted.push('paper'),
    },
    locate: (address) => locate(address),
  })
})
afterAll(() => world?.close())
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
        message: 'Buyer chose Banking app (DE)',
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

  test('a partner that sends the buyer back by a form is answered with the page, and nothing in the form is read', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(303)
    const returned = await supertest(world.url)
      .post(path)
      .set(navigated)
      .type('form')
      .send({ result: 'paid' })
      .expect(303)
    expect(returned.headers['location']).toBe(path)
    const back = await get(path).set(navigated).expect(303)
    expect((await get(String(back.headers['location'])).expect(200)).text).toContain('Checking with Velanto…')
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

describe('The receipt as a file', () => {
  const get = (path: string) => supertest(world.url).get(path)
  const paid = async (description?: string): Promise<{ path: string; id: string }> => {
    const made = await world.create({ provider: 'wallet_app', ...(description !== undefined && { description }) })
    await movePayment(world, made.id, ['pending', 'processing', 'settling', 'succeeded'])
    return made
  }

  test('the receipt is a file at its own address once the payment was made, in the language that is asked for', async () => {
    const { path, id } = await paid()
    for (const page of [path, `${path}/receipt`]) expect((await get(page)).text).toContain(`href="${path}/receipt.pdf"`)
    const file = await get(`${path}/receipt.pdf`).set('accept-language', 'el').buffer(true).parse(bytes).expect(200)
    expect(file.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-language': 'el',
      'content-disposition': `attachment; filename="receipt-${id}.pdf"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    const text = (file.body as Buffer).toString('latin1')
    expect([text.startsWith('%PDF-'), text.includes('/Lang (el)')]).toEqual([true, true])
  })

  test('the file leads to the page of the receipt before the payment was made, and for a name that no font can write', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    expect((await get(`${path}/receipt.pdf`).expect(303)).headers['location']).toBe(`${path}/receipt`)
    const chinese = await paid('夜行列車')
    expect((await get(`${chinese.path}/receipt.pdf`).expect(303)).headers['location']).toBe(`${chinese.path}/receipt`)
    await supertest(world.url).post(`${path}/receipt.pdf`).expect(405)
  })

  test('a file counts as something done, of which a link has fewer than pages', async () => {
    const { path } = await paid()
    counted.length = 0
    files = 2
    const answers: number[] = []
    for (let nth = 0; nth < 3; nth++) answers.push((await get(`${path}/receipt.pdf`)).status)
    answers.push((await get(`${path}/receipt`)).status)
    files = Number.POSITIVE_INFINITY
    expect(answers).toEqual([200, 200, 429, 200])
    expect(counted.join(' ')).toBe('look act paper look act paper look act look')
  })

  function bytes(response: supertest.Response, done: (error: Error | null, body: Buffer) => void): void {
    const chunks: Buffer[] = []
    const stream = response as unknown as NodeJS.ReadableStream
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => done(null, Buffer.concat(chunks)))
  }
})

describe('The country of an address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countries-'))
  const file = join(folder, 'countries.mmdb')
  beforeAll(() => {
    writeFileSync(
      file,
      countriesFile({ '198.51.100.0/24': 'BR', '203.0.113.0/25': 'DE', '127.0.0.0/8': 'BR', '192.0.2.0/24': 'ZZ' }),
    )
    locate = createLocate(file)
  })
  afterAll(() => {
    locate = () => null
    rmSync(folder, { recursive: true })
  })

  test('the file of countries says where an address is, and of others that it does not know', () => {
    expect(
      ['198.51.100.7', '::ffff:203.0.113.127', '203.0.113.128', '8.8.8.8', '192.0.2.1', 'x', ''].map(locate),
    ).toEqual(['BR', 'DE', null, null, null, null, null])
    expect(() => createLocate(join(folder, 'missing.mmdb'))).toThrow('ENOENT')
  })

  test('the buyer is where the address is, unless the proxy or the buyer says otherwise', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    const get = (headers: Record<string, string> = {}) => supertest(world.url).get(path).set(headers).expect(200)
    expect((await get()).text).toContain('Paying by banking app is not offered in Brazil')
    expect((await get({ 'x-country': 'DE' })).text).toContain('Continue to Velanto')
    expect((await get({ cookie: 'pinrail_country=DE' })).text).toContain('Continue to Velanto')
    await supertest(world.url).post(`${path}/opened`).expect(204)
    expect((await world.timeline(id, 'checkout.route'))[0]?.data).toMatchObject({
      country: 'BR',
      country_source: 'address',
    })
  })
})

describe('The language of a page', () => {
  const choose = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/language`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers })

  test('the browser’s language is spoken, the answer says which, and what it depends on', async () => {
    const { url } = await world.create()
    const answer = await fetch(url, { headers: { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' } })
    expect(answer.headers.get('content-language')).toBe('de')
    expect(answer.headers.get('vary')?.toLowerCase()).toMatch(/accept-language.*cookie/)
    const page = await answer.text()
    expect(page).toContain('<html lang="de" dir="ltr"')
    expect(page).toContain('Wie möchten Sie bezahlen?')
  })

  test('the buyer’s own choice comes before the browser’s, and leads back to the page where it was made', async () => {
    const { url, path } = await world.create()
    const chosen = await choose(url, { language: 'ar', at: `${path}?step=pick&method=card_partner.card` })
    expect(chosen.status).toBe(303)
    expect(chosen.headers.get('location')).toBe(`${path}?step=pick&method=card_partner.card`)
    const cookie = chosen.headers.get('set-cookie')
    expect(cookie).toMatch(new RegExp(`^pinrail_language=ar; Path=${path}; Max-Age=604800; HttpOnly; SameSite=Lax$`))
    const answer = await fetch(url, { headers: { cookie: 'pinrail_language=ar', 'accept-language': 'de' } })
    expect(await answer.text()).toContain('<html lang="ar" dir="rtl"')
  })

  test('the choice leads to no other place than a page of this payment', async () => {
    const { url, path } = await world.create()
    for (const at of ['https://evil.example/', '//evil.example/', '/c/another', 'javascript:alert(1)', 'http://[', ''])
      expect((await choose(url, { language: 'fr', at })).headers.get('location')).toBe(path)
    expect((await choose(url, { language: 'fr', at: `${path}?evil=1` })).headers.get('location')).toBe(path)
    expect((await choose(url, { language: 'fr', at: `${path}/receipt` })).headers.get('location')).toBe(
      `${path}/receipt`,
    )
  })

  test('a language that we do not have is refused, and so is a choice made by another site', async () => {
    const { url, path } = await world.create()
    expect((await choose(url, { language: 'xx', at: path })).status).toBe(400)
    expect((await choose(url, { language: 'de', at: path }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await fetch(`${url}/language`)).status).toBe(405)
  })

  test('an error is told in the reader’s language too', async () => {
    const answer = await fetch(`${world.url}/c/unknown`, { headers: { 'accept-language': 'hu' } })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-language')).toBe('hu')
    expect(await answer.text()).toContain('Nincs ilyen fizetés')
  })

  test('a page holds the texts of its own language alone, and stays small', async () => {
    const { url } = await world.create()
    const pages = await Promise.all(
      ['en', 'de', 'hi'].map(async (language) =>
        (await fetch(url, { headers: { 'accept-language': language } })).text(),
      ),
    )
    for (const page of pages) expect(page.length).toBeLessThan(16_000)
    expect(pages[1]).not.toContain('How would you like to pay?')
    expect(pages[2]).not.toContain('Wie möchten Sie bezahlen?')
  })
})

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Problem } from '../../../src/api/http/problems.ts'
import { qrSvg } from '../../../src/api/links/qr.ts'
import { createLocate } from '../../../src/config/countries.ts'
import type { Db } from '../../../src/db/db.ts'
import { openDeposit } from '../../../src/db/payments/deposits.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { AttemptStatus } from '../../../src/domain/payment/payment.ts'
import { MAX_ATTEMPTS } from '../../../src/domain/payment/requests.ts'
import { transferLink } from '../../../src/domain/settlement/deposit.ts'
import { newId } from '../../../src/ids.ts'
import { browse } from '../../support/browse.ts'
import { createTestOffering } from '../../support/offering.ts'
import { plantReceipt } from '../support/receipts.ts'
import { type CheckoutFixture, createCheckoutFixture, movePayment } from './checkout-fixture.ts'
import { countriesFile } from './countries-file.ts'

let fixture: CheckoutFixture
/** The number of files that may be fetched from now on, and the counted requests. */
let files = Number.POSITIVE_INFINITY
const counted: string[] = []
/** The country of an address; a test sets it. */
let locate: (address: string) => string | null = () => null
beforeAll(async () => {
  fixture = await createCheckoutFixture({
    limits: {
      countLink: (_token, kind) => {
        counted.push(kind)
        if (kind === 'act' && files-- <= 0) throw new Problem('rate_limited', 'Too many requests with this link.')
      },
      countReceiptFile: () => void counted.push('file'),
    },
    locate: (address) => locate(address),
  })
})
afterAll(() => fixture?.close())
beforeEach(() => {
  fixture.setAnswer('opens')
  fixture.asked.length = 0
})

const get = (path: string, country?: string) => {
  const request = browse(fixture.url).get(path)
  return country === undefined ? request : request.set('x-country', country)
}
const post = (path: string, body: string | object) => browse(fixture.url).post(path).form(body)
/** Pays 20 of the 54 USDC that are asked for at an address of the payment. */
async function payInPart(paymentId: string, attemptId: string): Promise<void> {
  await openUsdc(paymentId, attemptId, '20000000')
  await fixture.change(paymentId, (draft) => draft.setAttempt(attemptId, { held: '20000000' }))
}

/** An open USDC order of 54 USDC, with this many micro-USDC at its address. */
async function openUsdc(paymentId: string, attemptId: string, receivedMicro: string): Promise<void> {
  const [address, token]: readonly [Hex, Hex] = [`0x${randomBytes(20).toString('hex')}`, `0x${'3c'.repeat(20)}`]
  const asked = { minor: '4999', currency: 'EUR' } as const
  const intentUri = transferLink({ chainId: 137, token, address, micro: '54000000' })
  await fixture.change(paymentId, (draft) => {
    draft.addAttempt({ id: attemptId, provider: 'crypto', method: 'usdc', asked })
    draft.setAttempt(attemptId, { status: 'open', askedMicro: '54000000', redirectUrl: fixture.url, intentUri })
  })
  await openDeposit(fixture.db, {
    attemptId,
    deriveAddress: () => address,
    chainId: 137,
    token,
    askedMicro: '54000000',
    rate: { rate: '1.08', source: 'test', asOf: new Date().toISOString() },
    expiresAt: Math.floor(Date.now() / 1000) + 3600,
    watchSeconds: 3600,
  })
  await fixture.db.query(
    `insert into deposit_log (chain_id, tx_hash, log_index, owner_id, token, sender, units, block_number, block_hash, finalized_at)
     values (137, $1, 0, $2, $3, $4, $5, 1, $1, now())`,
    [`0x${randomBytes(32).toString('hex')}`, paymentId, token, `0x${'55'.repeat(20)}`, receivedMicro],
  )
}

const APP = { provider: 'wallet_app', method: 'banking_app' }

describe('The page behind the link', () => {
  test('a payment without a pin shows the picker of the country in the trusted header', async () => {
    const { path } = await fixture.create()
    const inGermany = await get(path, 'DE').expect(200)
    expect(inGermany.text).toContain('How would you like to pay?')
    expect(inGermany.text).toContain('method=wallet_app.banking_app')
    const inBrazil = await get(path, 'BR').expect(200)
    expect(inBrazil.text).not.toContain('method=wallet_app.banking_app')
    expect(inBrazil.text).toContain('method=local_partner.card')
  })

  test('a link of the picker opens the card of that method', async () => {
    const { path } = await fixture.create()
    const page = await get(`${path}?method=card_partner.card`, 'DE').expect(200)
    expect(page.text).toContain('Pay by card')
  })

  test('an unknown link and a broken link each get a page', async () => {
    for (const path of ['/c/nothing', '/c/nothing/status', '/c/nothing/code.svg', `/c/${'x'.repeat(3000)}`, '/c/']) {
      const answer = await get(path)
      expect([path, answer.status, answer.type]).toEqual([path, 404, 'text/html'])
      expect(answer.text).toContain('Payment not found')
    }
    const broken = await get('/c/%E0%A4%A')
    expect([broken.status, broken.type]).toEqual([400, 'text/html'])
    expect(broken.text).not.toMatch(/URIError|at .*\.ts/)
  })

  test('every page has a strict policy, no referrer, no cache and no frame', async () => {
    const { path } = await fixture.create()
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

  test('opening pages repeatedly creates and changes nothing', async () => {
    const { path, id, read } = await fixture.create({ provider: 'wallet_app' })
    const before = await read()
    for (const suffix of ['', '/status', '/code.svg', '?step=pick', '?method=card_partner.card'])
      await get(path + suffix, 'DE')
    await browse(fixture.url).head(path)
    expect(await read()).toEqual(before)
    expect(fixture.asked).toEqual([])
    expect(await fixture.timeline(id, 'checkout.route')).toEqual([])
  })

  test('a page needs one statement, whatever the history of the payment', async () => {
    const texts: string[] = []
    const query: Db['query'] = (text, values) => {
      texts.push(text)
      return fixture.db.query(text, values)
    }
    const counted = await createCheckoutFixture({ db: { ...fixture.db, query } })
    try {
      for (const through of [[], ['pending'], ['pending', 'processing', 'settling', 'succeeded']] as const) {
        const { path, id } = await fixture.create({ provider: 'wallet_app' })
        await movePayment(fixture, id, [...through])
        texts.length = 0
        await browse(counted.url).get(path).expect(200)
        expect(texts).toHaveLength(1)
      }
    } finally {
      await counted.close()
    }
  })

  test('the code of a link is an image that only the page of that link can load', async () => {
    const { path, url } = await fixture.create({ provider: 'wallet_app' })
    expect((await get(path)).text).toContain(`<img src="${path}/code.svg" alt="QR code with the link to this payment`)
    const image = await get(`${path}/code.svg`).expect(200)
    expect([image.type, image.headers['cache-control']]).toEqual(['image/svg+xml', 'no-store'])
    expect(image.text).toBe(qrSvg(url))
    await get('/c/nothing/code.svg').expect(404)
  })

  test('unknown query parameters of a link are ignored', async () => {
    const { path } = await fixture.create()
    for (const query of [
      '?method=__proto__.card',
      '?method=a&method=b',
      '?method[x]=1',
      '?step[]=pick',
      `?x=${'y'.repeat(2000)}`,
    ])
      expect((await get(path + query, 'DE').expect(200)).text).toContain('How would you like to pay?')
  })

  test('the page works while the converter is down', async () => {
    const dark = await createCheckoutFixture({ rates: { current: () => Promise.reject(new Error('no rates')) } })
    try {
      const { path } = await dark.create({ provider: 'local_partner' })
      const page = await browse(dark.url).get(path).set('x-country', 'IN').expect(200)
      expect(page.text).toContain('fixed in the next step')
    } finally {
      await dark.close()
    }
  })
})

describe('The country of the buyer', () => {
  test('the buyer’s choice of country overrides the header, for this payment only', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    const saved = await post(`${path}/country`, { country: 'BR' }).expect(303)
    expect(saved.headers['location']).toBe(path)
    const cookie = String(saved.headers['set-cookie'])
    expect(cookie).toBe(`pinrail_country=BR; Path=${path}; Max-Age=604800; HttpOnly; SameSite=Lax`)
    const page = await get(path, 'DE').set('cookie', cookie.split(';')[0] ?? '')
    expect(page.text).toContain('Paying by banking app is not offered in Brazil.')
  })

  test('a header or cookie with nonsense does not set a country', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    for (const nonsense of ['XX', 'T1', 'ZZ', 'br<script>', ''])
      expect((await get(path, nonsense)).text).toContain('Not known')
    const page = await get(path, 'DE').set('cookie', 'pinrail_country=ZZ; other=1')
    expect(page.text).toContain('<dd>Germany <a')
  })

  test.each(['', 'country=ZZ', 'country=', 'country=br', 'country=BR&country=DE', 'nothing=1'])(
    'the country form %j is refused with a page',
    async (body) => {
      const { path } = await fixture.create()
      const answer = await post(`${path}/country`, body)
      expect([answer.status, answer.type]).toEqual([400, 'text/html'])
      expect(answer.headers['set-cookie']).toBeUndefined()
    },
  )
})

test('changing the country keeps a valid chosen method', async () => {
  const { path } = await fixture.create()
  const kept = await post(`${path}/country`, { country: 'US', chosen: 'card_partner.card' }).expect(303)
  expect(kept.headers['location']).toBe(`${path}?method=card_partner.card`)
  const unreal = await post(`${path}/country`, { country: 'US', chosen: '//evil.example' }).expect(303)
  expect(unreal.headers['location']).toBe(path)
})

describe('The decision on the timeline', () => {
  test('the timeline records the decision with its inputs once, when the buyer continues', async () => {
    const { path, id } = await fixture.create({ provider: 'wallet_app' })
    for (let press = 0; press < 2; press += 1) await post(`${path}/continue`, APP).set('x-country', 'DE').expect(200)
    expect(await fixture.timeline(id, 'checkout.route')).toEqual([
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

  test('the timeline records a fallback that a page with a script shows, once for each decision and ten times at most; loading records none', async () => {
    const { path, id } = await fixture.create({ provider: 'wallet_app' })
    const shown = await get(path, 'BR').expect(200)
    expect(shown.text).toContain(`data-opened="${path}/opened"`)
    expect(await fixture.timeline(id, 'checkout.route')).toEqual([])
    const open = (country: string) => post(`${path}/opened`, {}).set('x-country', country).expect(204)
    await Promise.all(Array.from({ length: 6 }, () => open('BR')))
    await open('US')
    const notes = await fixture.timeline(id, 'checkout.route')
    expect(notes.map(({ data }) => [data['country'], data['offered'], data['reason']])).toEqual([
      ['BR', false, 'country'],
      ['US', false, 'country'],
    ])
    expect(notes[0]).toMatchObject({ actor: 'system', data: { country_source: 'header', chosen: null } })
    for (const country of 'IN JP MX CA AU NZ AR CL PE CO'.split(' ')) await open(country)
    expect(await fixture.timeline(id, 'checkout.route')).toHaveLength(10)
  })

  test('the recorded decision names the limit that decided', async () => {
    const { path, id } = await fixture.create({
      provider: 'local_partner',
      fallback: 'none',
      amount: { minor: '1000', currency: 'EUR' },
    })
    await post(`${path}/opened`, {}).set('x-country', 'IN').expect(204)
    expect((await fixture.timeline(id, 'checkout.route'))[0]?.data).toMatchObject({
      reason: 'amount_too_small',
      limit: '30.00 USD',
      fallback: 'none',
    })
  })
})

describe('What an open page requests', () => {
  test('an open page follows the payment from the partner to the merchant', async () => {
    const { path, id } = await fixture.create({ provider: 'wallet_app' })
    const status = async () => (await get(`${path}/status`).expect(200)).body
    const first = await status()
    expect(first).toMatchObject({ status: 'created', poll: 10, url: path, partner_url: null })
    await post(`${path}/continue`, APP).expect(200)
    const pending = await status()
    expect(pending).toMatchObject({ status: 'pending', poll: 3 })
    expect(pending.key).not.toBe(first.key)
    await movePayment(fixture, id, ['processing'])
    const processing = await status()
    await movePayment(fixture, id, ['settling'])
    const settling = await status()
    expect(settling.key).not.toBe(processing.key)
    await movePayment(fixture, id, ['succeeded'])
    expect((await status()).key).not.toBe(settling.key)
  })
})

describe('Back from the partner', () => {
  const navigated = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' }

  test('the page says that it is checking, from the first moment and after a reload', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    const back = await get(path).set(navigated).expect(200)
    const [, location = ''] = /data-here="([^"]*)"/.exec(back.text) ?? []
    expect(location).toMatch(new RegExp(`^${path}\\?back=\\d{10}$`))
    // Without a script the page reloads at that URL; with a script the URL becomes that.
    expect(back.text).toContain(`<noscript><meta http-equiv="refresh" content="3;url=${location}"/></noscript>`)
    const again = [navigated, { 'sec-fetch-site': 'same-origin' }].map((headers) => get(location).set(headers))
    for (const page of [back, ...(await Promise.all(again))]) {
      expect([page.status, page.text.includes('Checking with Velanto…')]).toEqual([200, true])
      expect(page.text).not.toContain('/continue')
    }
    const status = await get(`${path}/status${new URL(location, fixture.url).search}`)
    expect(status.body).toMatchObject({ status: 'pending', poll: 1, url: location })
  })

  test('a form that a partner posts at the buyer’s return gets the page, and its fields are ignored', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    const returned = await browse(fixture.url)
      .post(path)
      .set(navigated)

      .form({ result: 'paid' })
      .expect(303)
    expect(returned.headers['location']).toBe(path)
    expect((await get(path).set(navigated).expect(200)).text).toContain('Checking with Velanto…')
  })

  test('an older browser sends only the page that it comes from', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    expect((await get(path).set('referer', `${fixture.partnerUrl}/`)).text).toContain('Checking with Velanto…')
    expect((await get(path).set('referer', 'https://elsewhere.example/')).text).toContain('Finish at Velanto')
  })

  test('a buyer who reloads the page, opens it again, or was never at the partner does not count as returned', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    expect((await get(path).set(navigated)).text).toContain('Pay in your banking app')
    await post(`${path}/continue`, APP).expect(200)
    const asked = ['none', 'same-origin'].map((site) => get(path).set({ ...navigated, 'sec-fetch-site': site }))
    for (const page of await Promise.all([...asked, get(path)])) expect(page.text).toContain('Finish at Velanto')
  })

  test('a buyer who comes again from the merchant does not count as just returned from the partner', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    const page = await get(path)
      .set({ ...navigated, referer: 'https://shop.example/' })
      .expect(200)
    expect(page.text).toContain('Finish at Velanto')
  })

  test('an impossible return time is not repeated in redirects', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    expect((await get(`${path}?back=1000000000`).set(navigated)).text).toContain('Finish at Velanto')
  })

  test.each(['1', '9999999999', 'x', '1000000000'])('an impossible return time is ignored: ?back=%s', async (back) => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    expect((await get(`${path}?back=${back}`).expect(200)).text).toContain('Finish at Velanto')
  })
})

describe('The receipt', () => {
  test('the receipt has its own URL once the payment has succeeded; before, the URL redirects to the payment', async () => {
    const { path, id } = await fixture.create({ provider: 'wallet_app' })
    expect((await get(`${path}/receipt`).expect(303)).headers['location']).toBe(path)
    await movePayment(fixture, id, ['pending', 'processing', 'settling', 'succeeded'])
    const receipt = await get(`${path}/receipt`).expect(200)
    expect(receipt.text).toContain('<title>Test receipt from Nightline Rail</title>')
    expect((await get(path)).text).toContain(`href="${path}/receipt"`)
  })
})

describe('Assets', () => {
  test('assets are small, are served under the hash of their content without expiry, and no other files are served', async () => {
    const { path } = await fixture.create()
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
  const get = (path: string) => browse(fixture.url).get(path)
  const paid = async (description?: string): Promise<{ path: string; id: string }> => {
    const made = await fixture.create({ provider: 'wallet_app', ...(description !== undefined && { description }) })
    await movePayment(fixture, made.id, ['pending', 'processing', 'settling', 'succeeded'])
    return made
  }

  test('the receipt is a file at its own URL once the payment has succeeded, in the requested language', async () => {
    const { path, id } = await paid()
    for (const page of [path, `${path}/receipt`]) expect((await get(page)).text).toContain(`href="${path}/receipt.pdf"`)
    const file = await get(`${path}/receipt.pdf`).set('accept-language', 'el').expect(200)
    expect(file.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-language': 'el',
      'content-disposition': `attachment; filename="receipt-${id}.pdf"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    const text = file.bytes.toString('latin1')
    expect([text.startsWith('%PDF-'), text.includes('/Lang (el)')]).toEqual([true, true])
  })

  test('the receipt links to the verifier with the proof of its payment alone, once there is one', async () => {
    const [{ path, id }, other] = [await paid(), await paid()]
    expect((await get(`${path}/receipt`)).text).toContain(`href="/receipts/verify#${path}/receipt.json"`)
    await get(`${path}/receipt.json`).expect(404)
    await plantReceipt(fixture.db, id)
    const proof = JSON.parse((await get(`${path}/receipt.json`).expect(200)).text)
    expect([proof.object, proof.claims.payment]).toEqual(['payment_receipt', id])
    await get(`${other.path}/receipt.json`).expect(404)
  })

  test('the URL of the file redirects to the page of the receipt before the payment has succeeded, and if no font has the characters of a name', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    expect((await get(`${path}/receipt.pdf`).expect(303)).headers['location']).toBe(`${path}/receipt`)
    const chinese = await paid('夜行列車')
    expect((await get(`${chinese.path}/receipt.pdf`).expect(303)).headers['location']).toBe(`${chinese.path}/receipt`)
    await browse(fixture.url).post(`${path}/receipt.pdf`).expect(405)
  })

  test('a receipt file counts against a limit of its link that is lower than the limit of pages', async () => {
    const { path } = await paid()
    counted.length = 0
    files = 2
    const answers: number[] = []
    for (let nth = 0; nth < 3; nth++) answers.push((await get(`${path}/receipt.pdf`)).status)
    answers.push((await get(`${path}/receipt`)).status)
    files = Number.POSITIVE_INFINITY
    expect(answers).toEqual([200, 200, 429, 200])
    expect(counted.join(' ')).toBe('look act file look act file look act look')
  })
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

  test('the file of countries returns the country of an address, and null for unknown addresses', () => {
    expect(
      ['198.51.100.7', '::ffff:203.0.113.127', '203.0.113.128', '8.8.8.8', '192.0.2.1', 'x', ''].map(locate),
    ).toEqual(['BR', 'DE', null, null, null, null, null])
    expect(() => createLocate(join(folder, 'missing.mmdb'))).toThrow('ENOENT')
  })

  test('the buyer’s country follows the address, unless the proxy or the buyer sets another one', async () => {
    const { path, id } = await fixture.create({ provider: 'wallet_app' })
    const get = (headers: Record<string, string> = {}) => browse(fixture.url).get(path).set(headers).expect(200)
    expect((await get()).text).toContain('Paying by banking app is not offered in Brazil')
    expect((await get({ 'x-country': 'DE' })).text).toContain('Continue to Velanto')
    expect((await get({ cookie: 'pinrail_country=DE' })).text).toContain('Continue to Velanto')
    await browse(fixture.url).post(`${path}/opened`).expect(204)
    expect((await fixture.timeline(id, 'checkout.route'))[0]?.data).toMatchObject({
      country: 'BR',
      country_source: 'address',
    })
  })
})

describe('The language of a page', () => {
  const choose = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/language`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers })

  test('the page uses the browser’s language, and the response names the language and the headers it depends on', async () => {
    const { url } = await fixture.create()
    const answer = await fetch(url, { headers: { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' } })
    expect(answer.headers.get('content-language')).toBe('de')
    expect(answer.headers.get('vary')?.toLowerCase()).toMatch(/accept-language.*cookie/)
    const page = await answer.text()
    expect(page).toContain('<html lang="de" dir="ltr"')
    expect(page).toContain('Wie möchten Sie bezahlen?')
  })

  test('the buyer’s own choice of language overrides the browser’s, and leads back to the same page', async () => {
    const { url, path } = await fixture.create()
    const chosen = await choose(url, { language: 'ar', at: `${path}?step=pick&method=card_partner.card` })
    expect(chosen.status).toBe(303)
    expect(chosen.headers.get('location')).toBe(`${path}?step=pick&method=card_partner.card`)
    const cookie = chosen.headers.get('set-cookie')
    expect(cookie).toMatch(new RegExp(`^pinrail_language=ar; Path=${path}; Max-Age=604800; HttpOnly; SameSite=Lax$`))
    const answer = await fetch(url, { headers: { cookie: 'pinrail_language=ar', 'accept-language': 'de' } })
    expect(await answer.text()).toContain('<html lang="ar" dir="rtl"')
  })

  test('the language choice leads only to a page of this payment', async () => {
    const { url, path } = await fixture.create()
    for (const at of ['https://evil.example/', '//evil.example/', '/c/another', 'javascript:alert(1)', 'http://[', ''])
      expect((await choose(url, { language: 'fr', at })).headers.get('location')).toBe(path)
    expect((await choose(url, { language: 'fr', at: `${path}?evil=1` })).headers.get('location')).toBe(path)
    expect((await choose(url, { language: 'fr', at: `${path}/receipt` })).headers.get('location')).toBe(
      `${path}/receipt`,
    )
  })

  test('an unknown language and a choice made by another site are refused', async () => {
    const { url, path } = await fixture.create()
    expect((await choose(url, { language: 'xx', at: path })).status).toBe(400)
    expect((await choose(url, { language: 'de', at: path }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await fetch(`${url}/language`)).status).toBe(405)
  })

  test('an error page is in the reader’s language', async () => {
    const answer = await fetch(`${fixture.url}/c/unknown`, { headers: { 'accept-language': 'hu' } })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-language')).toBe('hu')
    expect(await answer.text()).toContain('Nincs ilyen fizetés')
  })

  test('a page has only the texts of its language, and stays small', async () => {
    const { url } = await fixture.create()
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

describe('Continue', () => {
  test('Continue requests an order and hands the buyer over to the partner', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    const handoff = await post(`${path}/continue`, APP).expect(200)
    expect(fixture.asked).toEqual([{ attemptId: expect.stringMatching(/^att_/), ...APP }])
    const partnerPage = `${fixture.partnerUrl}/pay/${fixture.asked[0]?.attemptId}`
    expect(handoff.text).toContain(`<meta http-equiv="refresh" content="0;url=${partnerPage}"/>`)
    expect(handoff.text).toContain(`href="${partnerPage}"`)
    expect((await get(path)).text).toContain('Finish at Velanto')
    expect((await get(`${path}/status`)).body).toMatchObject({ status: 'pending', partner_url: partnerPage })
    // A browser that opens the tab again.
    expect((await get(`${path}/continue`).expect(303)).headers['location']).toBe(path)
  })

  test('with UPI the buyer stays on the page and sees the code', async () => {
    const { path } = await fixture.create({ provider: 'local_partner' })
    const upi = { provider: 'local_partner', method: 'upi' }
    for (let click = 0; click < 2; click++)
      expect((await post(`${path}/continue`, upi).expect(303)).headers['location']).toBe(path)
    expect(fixture.asked).toHaveLength(1)
    const page = await get(path).expect(200)
    expect(page.text).toContain('aria-label="UPI QR code: pay ₹4,536.90 to Nightline Rail"')
  })

  test('a decline is shown on the page, and the buyer can try again', async () => {
    fixture.setAnswer('declines')
    const { path } = await fixture.create({ provider: 'wallet_app' })
    expect((await post(`${path}/continue`, APP).expect(303)).headers['location']).toBe(path)
    const page = await get(path)
    expect(page.text).toContain('Your payment was declined')
    expect(page.text).toContain(`${path}/continue`)
  })

  test('a system that cannot answer now shows a page with a way to try again', async () => {
    fixture.setAnswer('is unavailable')
    const { path } = await fixture.create({ provider: 'wallet_app' })
    const answer = await post(`${path}/continue`, APP)
    expect([answer.status, answer.type, answer.headers['retry-after']]).toEqual([503, 'text/html', '5'])
    expect(answer.text).toContain('you have not been charged')
    expect(answer.text).toContain(`href="${path}"`)
  })

  test('a bug shows a page without internal details', async () => {
    fixture.setAnswer('throws')
    const { path } = await fixture.create({ provider: 'wallet_app' })
    const answer = await post(`${path}/continue`, APP)
    expect([answer.status, answer.type]).toEqual([500, 'text/html'])
    expect(answer.text).not.toContain('secret detail')
  })

  test('an unavailable database shows a page that says the payment is safe, with a time to come back', async () => {
    const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const away = () => Promise.reject(gone)
    const dark = await createCheckoutFixture({ db: { query: away, transaction: away, livemode: false } })
    try {
      const answer = await browse(dark.url).get('/c/any')
      expect([answer.status, answer.type, answer.headers['retry-after']]).toEqual([503, 'text/html', '2'])
      expect(answer.text).toContain('Your payment is not affected.')
    } finally {
      await dark.close()
    }
  })

  test('a method that is not offered to this buyer leads back to the picker, and no order is opened', async () => {
    const { path } = await fixture.create()
    const answer = await post(`${path}/continue`, APP).set('x-country', 'BR').expect(303)
    expect(answer.headers['location']).toBe(`${path}?method=wallet_app.banking_app`)
    expect((await get(`${path}?method=wallet_app.banking_app`, 'BR')).text).toContain(
      'Paying by banking app is not offered in Brazil.',
    )
    expect(fixture.asked).toEqual([])
  })

  test('USDC opens if the deployment takes deposits, and is not offered otherwise', async () => {
    const usdc = { provider: 'crypto', method: 'usdc' }
    const { path } = await fixture.create({ provider: null })
    expect((await get(`${path}?step=pick`, 'DE')).text).not.toContain('USDC')
    await post(`${path}/continue`, usdc).expect(303)
    expect(fixture.asked).toEqual([])
    const taking = await createCheckoutFixture({ offering: createTestOffering({}, { crypto: true }) })
    try {
      const created = await taking.create({ provider: null })
      const picker = await browse(taking.url).get(`${created.path}?step=pick`).set('x-country', 'DE')
      expect(picker.text).toContain('?method=crypto.usdc')
      await browse(taking.url).post(`${created.path}/continue`).form(usdc).expect(303)
      expect(taking.asked).toMatchObject([usdc])
    } finally {
      await taking.close()
    }
  })

  test('a part of the price in USDC refuses every other order, and every page shows how to send the rest', async () => {
    const { path, id } = await fixture.create()
    const attemptId = newId('attempt')
    await payInPart(id, attemptId)
    for (const choice of [APP, { provider: 'card_partner', method: 'card' }, { provider: 'crypto', method: 'usdc' }])
      expect((await post(`${path}/continue`, choice).expect(303)).headers['location']).toBe(path)
    expect(fixture.asked).toEqual([])
    for (const address of ['', '?step=pick', '?step=country', '?method=card_partner.card', '/frame']) {
      const { text } = await get(`${path}${address}`, 'DE').expect(200)
      expect(text).toMatch(/Arrived.*20\.00 USDC.*Missing.*<b>34\.00 USDC/s)
      expect(text).not.toMatch(/Nothing is charged|do not pay there|method=card_partner/)
    }
  })

  test('less than 0.01 USDC at the address is not part of the price, so every other provider stays open', async () => {
    const { path, id } = await fixture.create()
    await openUsdc(id, newId('attempt'), '9999')
    const { text } = await get(`${path}?step=pick`, 'DE').expect(200)
    expect(text).toMatch(/card_partner.card/)
  })

  test('a payment that has ended is shown, not opened', async () => {
    const { path, id } = await fixture.create({ provider: 'wallet_app' })
    await movePayment(fixture, id, ['canceled'])
    expect((await post(`${path}/continue`, APP).expect(303)).headers['location']).toBe(path)
    expect(fixture.asked).toEqual([])
    expect((await get(path)).text).toContain('This payment was canceled')
  })

  test.each([
    '',
    'provider=wallet_app',
    'provider=evil&method=card',
    'provider=wallet_app&method=cash',
    'provider[]=x&method=y',
  ])('the Continue form %j is refused with a page', async (body) => {
    const { path } = await fixture.create()
    const answer = await post(`${path}/continue`, body)
    expect([answer.status, answer.type]).toEqual([400, 'text/html'])
    expect(fixture.asked).toEqual([])
  })

  test('bodies that are JSON, too large, or have too many fields are refused with a page', async () => {
    const { path } = await fixture.create()
    const json = await browse(fixture.url).post(`${path}/continue`).json(APP)
    expect([json.status, json.type]).toEqual([400, 'text/html'])
    const large = await post(`${path}/continue`, `provider=${'x'.repeat(5000)}`)
    expect([large.status, large.type]).toEqual([413, 'text/html'])
    const many = await post(`${path}/continue`, Array.from({ length: 20 }, (_, i) => `f${i}=1`).join('&'))
    expect([many.status, many.type]).toEqual([400, 'text/html'])
    expect(fixture.asked).toEqual([])
  })

  test('an unsupported method on a path gets a 405 page that names what is allowed', async () => {
    const { path } = await fixture.create()
    const posted = await post(`${path}/receipt`, APP)
    expect([posted.status, posted.type, posted.headers['allow']]).toEqual([405, 'text/html', 'GET, HEAD'])
    const fetched = await get(`${path}/extend`)
    expect([fetched.status, fetched.type, fetched.headers['allow']]).toEqual([405, 'text/html', 'POST'])
  })
})

describe('A form sent by another site', () => {
  test.each([
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
    ['sec-fetch-site', 'none'],
    ['origin', 'https://evil.example'],
    ['origin', 'null'],
  ])('a form is refused by its origin: %s: %s', async (header, value) => {
    const { path } = await fixture.create()
    for (const [step, body] of [
      ['continue', APP],
      ['country', { country: 'BR' }],
    ] as const) {
      const answer = await post(`${path}/${step}`, body).set(header, value)
      expect([answer.status, answer.type]).toEqual([403, 'text/html'])
    }
    expect(fixture.asked).toEqual([])
  })

  test('an origin that only begins like the platform’s is refused', async () => {
    const { path } = await fixture.create()
    expect((await post(`${path}/continue`, APP).set('origin', `${fixture.url}.evil.example`)).status).toBe(403)
  })

  test('a form of the checkout’s own page is accepted by the browser’s header or by the origin', async () => {
    const { path } = await fixture.create()
    await post(`${path}/continue`, APP).set('sec-fetch-site', 'same-origin').set('origin', 'null').expect(200)
    await post(`${path}/continue`, APP).set('origin', fixture.url).expect(200)
  })
})

describe('Attempts after the first', () => {
  const APP = { provider: 'wallet_app', method: 'banking_app' } as const
  const CARD = { provider: 'card_partner', method: 'card' } as const
  const get = async (path: string) => (await browse(fixture.url).get(path).set('x-country', 'DE').expect(200)).text
  /** Returns the URL to which Continue leads: the partner's page, or a page of the checkout. */
  async function goOn(path: string, choice: typeof APP | typeof CARD = APP): Promise<string | undefined> {
    const pressed = await browse(fixture.url)
      .post(`${path}/continue`)
      .set('x-country', 'DE')

      .form(choice)
    return pressed.status === 200
      ? /<meta http-equiv="refresh" content="0;url=([^"]+)"/.exec(pressed.text)?.[1]
      : pressed.headers['location']
  }
  /** The partner's page of the order that the workflow opened then. */
  const orderPage = (asked: number) => `${fixture.partnerUrl}/pay/${fixture.asked[asked]?.attemptId}`

  /** Writes this many attempts, all of them in that state. */
  async function withAttempts(id: string, count: number, status: AttemptStatus): Promise<void> {
    const asked = { minor: '4999', currency: 'EUR' } as const
    await fixture.change(id, (draft) => {
      for (let attempt = 0; attempt < count; attempt++) {
        const attemptId = newId('attempt')
        draft.addAttempt({ id: attemptId, ...APP, asked })
        draft.setAttempt(attemptId, { status })
      }
    })
  }

  describe('An open order', () => {
    test('a second click and a return to the checkout lead to the open order, and the workflow is asked once', async () => {
      const { path } = await fixture.create()
      for (let click = 0; click < 4; click++) expect(await goOn(path)).toBe(orderPage(0))
      expect(fixture.asked).toHaveLength(1)
    })

    test('an order is continued during the identity check', async () => {
      const { path, id } = await fixture.create()
      await goOn(path)
      const attemptId = fixture.asked[0]?.attemptId ?? ''
      await fixture.change(id, (draft) => draft.setAttempt(attemptId, { status: 'verification_required' }))
      expect(await goOn(path)).toBe(orderPage(0))
      expect(fixture.asked).toHaveLength(1)
    })

    test.each(['declined', 'expired', 'canceled'] as const)(
      'an order whose row is %s is not continued: the workflow opens another',
      async (status) => {
        const { path, id } = await fixture.create()
        await goOn(path)
        const first = fixture.asked[0]?.attemptId ?? ''
        await fixture.change(id, (draft) => draft.setAttempt(first, { status }))
        expect(await goOn(path)).toBe(orderPage(1))
        expect(fixture.asked).toHaveLength(2)
        expect(orderPage(1)).not.toContain(first)
      },
    )

    test('an order is not continued for another method: the workflow cancels it first', async () => {
      const { path } = await fixture.create()
      await goOn(path)
      await goOn(path, CARD)
      expect(fixture.asked).toMatchObject([APP, CARD])
    })
  })

  describe('A payment with twenty attempts', () => {
    test('a payment with twenty attempts refuses another one without asking the workflow, and says that paid money is safe and how to get a new link', async () => {
      const { path, id } = await fixture.create()
      await withAttempts(id, MAX_ATTEMPTS, 'declined')
      expect(await goOn(path)).toBe(`${path}?method=wallet_app.banking_app`)
      expect(fixture.asked).toEqual([])
      for (const page of [path, `${path}?step=pick`, `${path}?method=wallet_app.banking_app`]) {
        const text = await get(page)
        expect(text).toContain('This payment was started too many times')
        expect(text).toMatch(
          /Did you pay in one of the earlier attempts\?<\/strong> Then do not pay again: that money is safe/,
        )
        expect(text).toContain('To pay, ask Nightline Rail for a new payment link.')
        expect(text).not.toContain(`${path}/continue`)
      }
    })

    test('a payment with nineteen attempts still opens one', async () => {
      const { path, id } = await fixture.create()
      await withAttempts(id, MAX_ATTEMPTS - 1, 'declined')
      expect(await goOn(path)).toBe(orderPage(0))
      expect(fixture.asked).toHaveLength(1)
    })

    test('a payment with twenty attempts can continue its open order, but no other method', async () => {
      const { path, id } = await fixture.create()
      await withAttempts(id, MAX_ATTEMPTS - 1, 'declined')
      await goOn(path)
      expect(await goOn(path)).toBe(orderPage(0))
      expect(await goOn(path, CARD)).toBe(`${path}?method=card_partner.card`)
      expect(fixture.asked).toHaveLength(1)
      const text = await get(`${path}?method=card_partner.card`)
      expect(text).toContain('This payment was started too many times')
      expect(text).toContain(`<a class="button fill" href="${path}"><span>Go back to the payment you started</span>`)
      expect(await get(path)).toContain('Finish at Velanto')
    })

    test('an order whose opening was interrupted can be requested again', async () => {
      const { path, id } = await fixture.create()
      await withAttempts(id, MAX_ATTEMPTS - 1, 'declined')
      await withAttempts(id, 1, 'opening')
      const again = `${path}?method=wallet_app.banking_app`
      expect(await get(path)).toContain(`href="${again}"><span>Go back to the payment you started</span>`)
      expect(await get(again)).toContain(`action="${path}/continue"`)
      await goOn(path)
      expect(fixture.asked).toHaveLength(1)
    })

    test('a payment refuses another attempt when the workflow has counted one more than the page read', async () => {
      const late = await createCheckoutFixture({ openAttempt: async () => ({ kind: 'too_many_attempts' }) })
      try {
        const { path } = await late.create()
        const request = browse(late.url).post(`${path}/continue`).set('x-country', 'DE').form(APP)
        expect((await request.expect(303)).headers['location']).toBe(`${path}?method=wallet_app.banking_app`)
      } finally {
        await late.close()
      }
    })
  })
})

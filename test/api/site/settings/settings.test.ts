import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { until } from '../../../../scripts/test/until.ts'
import { execute, many, sql } from '../../../../src/db/db.ts'
import { type ApiRequest, insertRequests } from '../../../../src/db/merchants/requests.ts'
import type { Role } from '../../../../src/domain/account/roles.ts'
import { CONFIRMED_MS } from '../../../../src/domain/account/session.ts'
import { renderReceipt } from '../../../../src/web/checkout/page.tsx'
import { wordsIn } from '../../../../src/web/messages/words.ts'
import { browse } from '../../../support/browse.ts'
import { aCheckout } from '../../../web/fixtures.ts'
import { pressOn } from '../../links/maker.ts'
import { PICTURES } from '../../support/pictures.ts'
import { expectProblem, openTestApi, type TestApi } from '../../support/test-api.ts'
import { onceIn, openAccount } from '../account.ts'
import { askedBy, askToConfirm, confirmByMail, mailsTo, signIn, signUp, Visitor } from '../visitor.ts'

let testApi: TestApi
let live: TestApi
beforeAll(async () => {
  ;[testApi, live] = await Promise.all([openTestApi(), openTestApi({ mode: 'live' })])
})
afterAll(() => Promise.all([testApi?.close(), live?.close()]))

describe('The brand', () => {
  let owner: Visitor
  beforeAll(async () => {
    owner = await signUp(testApi, 'brand@shop.example')
    await testApi.db.query(
      `update session set merchant_id = $1 where person_id = (select id from person where email = 'brand@shop.example')`,
      [testApi.tenant.merchantId],
    )
    await testApi.db.query(
      `insert into membership (merchant_id, person_id, role)
       select $1, id, 'owner' from person where email = 'brand@shop.example'`,
      [testApi.tenant.merchantId],
    )
  }, 60_000)

  const readBrand = async () => (await testApi.ask('GET', '/v1/settings/brand')).body
  const FORM = { name: 'Nightline Rail', color: '#7A1FA2', support_email: 'Help@Nightline.example' }

  test('the brand that an owner saves is shown to buyers at the checkout, on links, and on receipts', async () => {
    const body = { title: 'Tip jar', currency: 'EUR' }
    const { code } = (await testApi.ask('POST', '/v1/payment_links', { body })).body
    expect((await owner.submit('/dashboard/brand', FORM)).to).toBe('/dashboard/brand')
    expect(await readBrand()).toEqual({
      object: 'brand',
      name: 'Nightline Rail',
      color: '#7a1fa2',
      support_email: 'help@nightline.example',
      logo_url: null,
    })
    const link = await owner.get(`/l/${String(code)}`)
    const checkout = await owner.get((await pressOn(testApi, `/l/${String(code)}`, { amount: '64' })).to ?? '')
    for (const { html } of [link, checkout])
      expect([html.includes('Nightline Rail'), /\/assets\/brand\.\w+\.7a1fa2\.css/.test(html)]).toEqual([true, true])
    const sheet = /\/assets\/brand\.\w+\.7a1fa2\.css/.exec(link.html)?.[0] ?? ''
    expect((await owner.get(sheet)).status).toBe(200)
    const page = await owner.get('/dashboard/brand')
    expect(page.html).toContain('value="#7a1fa2"')
    await owner.submit('/dashboard/brand', { ...FORM, color: '', support_email: '' })
    expect(await readBrand()).toMatchObject({ color: null, support_email: null })
  })

  test.each([
    ['no name', { name: ' ' }],
    ['a name with an address', { name: 'www.evil.example' }],
    ['a name with a bare domain', { name: 'Pay at evil．example' }],
    ['our own name', { name: 'Рinrаil Support' }],
    ['a name that turns the line around', { name: 'Shop \u202e evil' }],
    ['a color that is none', { color: 'red' }],
    ['a color with a style in it', { color: '#fff;}body{display:none' }],
    ['an address that is none', { support_email: 'javascript:alert(1)' }],
    ['an address with a header in it', { support_email: 'a@b.example?cc=c@d.example' }],
  ] as const)('the brand refuses %s, and nothing is changed', async (_name, wrong) => {
    const before = await readBrand()
    const answer = await owner.submit('/dashboard/brand', { ...FORM, ...wrong })
    expect([answer.status, answer.html.includes('One thing to correct')]).toEqual([400, true])
    expect(await readBrand()).toEqual(before)
  })

  test('a brand of any color is readable: the page says which shade the buttons use', async () => {
    for (const color of ['#ffff00', '#ffffff', '#000000']) {
      await owner.submit('/dashboard/brand', { ...FORM, color })
      const { html } = await owner.get('/dashboard/brand')
      const [, ratio] =
        /Buttons use the shade #\w{6}: ([\d.]+) to 1/.exec(html) ??
        /White text on #\w{6}: ([\d.]+) to 1/.exec(html) ??
        []
      expect(Number(ratio)).toBeGreaterThanOrEqual(4.5)
    }
  })

  test('only an owner with a fresh confirmation changes the brand; a live key cannot', async () => {
    const developer = await signIn(testApi, 'developer@shop.example')
    await testApi.db.query(
      `insert into membership (merchant_id, person_id, role)
       select $1, id, 'developer' from person where email = 'developer@shop.example'`,
      [testApi.tenant.merchantId],
    )
    const page = await developer.get('/dashboard/brand')
    expect([page.status, page.html.includes('action="/dashboard/brand"')]).toEqual([200, false])
    expect((await developer.submit('/dashboard/brand', FORM)).status).toBe(403)
    const answer = await live.ask('PATCH', '/v1/settings/brand', { body: { support_email: 'thief@evil.example' } })
    expect([answer.status, answer.body['code']]).toEqual([403, 'step_up_required'])
    expect((await live.ask('GET', '/v1/settings/brand')).body['support_email']).toBeNull()
  })

  test('the preview shows the typed brand, and accepts only a color as color', async () => {
    const query = new URLSearchParams({ name: '<b>Shop', color: '#123456' })
    const { html, headers } = await owner.get(`/dashboard/brand/preview?${query}`)
    expect(html).toMatch(/brand\.\w+\.123456\.css/)
    expect(html).toContain('&lt;b>Shop')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
    expect((await owner.get(`/dashboard/brand/preview?name=${'a'.repeat(1001)}`)).status).toBe(400)
    expect((await owner.get('/dashboard/brand/preview?color=%22%3E%3Cscript%3E')).html).not.toContain('"><script>')
  })
})

describe('The logo', () => {
  // An owner uploads it, and buyers see it.
  let owner: Visitor
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    owner = await signUp(testApi, 'logo@shop.example')
    await join('logo@shop.example', 'owner')
    await testApi.db.query(`update session set merchant_id = $1`, [testApi.tenant.merchantId])
  }, 60_000)

  async function join(email: string, role: string): Promise<void> {
    await testApi.db.query(
      'insert into membership (merchant_id, person_id, role) select $1, id, $2 from person where email = $3',
      [testApi.tenant.merchantId, role, email],
    )
  }

  const PATH = '/dashboard/brand'
  const FORM = { name: 'Nightline Rail', color: '', support_email: 'help@nightline.example' }
  const file = (bytes: Buffer | string, type = 'image/png'): Blob =>
    new Blob([new Uint8Array(Buffer.from(bytes))], { type })
  const { png, jpg, webpAlpha } = PICTURES
  const api = (body: object) => testApi.ask('PATCH', '/v1/settings/brand', { body })
  const logoUrl = async () => (await testApi.ask('GET', '/v1/settings/brand')).body['logo_url']

  test('buyers see an uploaded logo at the checkout and on links, until it is removed', async () => {
    expect((await owner.upload(PATH, { ...FORM, logo: file(png) })).to).toBe(PATH)
    const path = new URL(String(await logoUrl())).pathname
    expect(path).toMatch(/^\/logos\/[0-9a-f]{32}\.png$/)
    const { code } = (await testApi.ask('POST', '/v1/payment_links', { body: { title: 'Tip jar', currency: 'EUR' } }))
      .body
    const link = `/l/${String(code)}`
    const checkout = (await pressOn(testApi, link, { amount: '64' })).to ?? ''
    const pages = [link, checkout, PATH, `${PATH}/preview?name=A&color=`]
    for (const page of pages)
      expect([page, (await owner.get(page)).html.includes(`src="${path}"`)]).toEqual([page, true])
    expect((await owner.get(link)).html).toContain('href="mailto:help@nightline.example"')

    const served = await fetch(`${testApi.url}${path}`)
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(served.headers.get('x-content-type-options')).toBe('nosniff')
    expect(served.headers.get('content-security-policy')).toMatch(/(^|; )sandbox(;|$)/)
    expect(served.headers.get('cache-control')).toContain('immutable')
    expect(Buffer.from(await served.arrayBuffer()).subarray(0, 8)).toEqual(png.subarray(0, 8))

    const kept = await owner.upload(PATH, { ...FORM, logo: file('') })
    expect([kept.to, new URL(String(await logoUrl())).pathname]).toEqual([PATH, path])
    await owner.upload(PATH, { ...FORM, logo: file(''), remove_logo: 'yes' })
    expect(await logoUrl()).toBeNull()
    expect((await owner.get(checkout)).html).not.toContain('/logos/')
    expect((await fetch(`${testApi.url}${path}`)).status).toBe(404)
    const { rows } = await testApi.db.query(
      `select data from audit_entry where action = 'setBrand' and merchant_id = $1 order by id`,
      [testApi.tenant.merchantId],
    )
    expect(rows.map(({ data }) => [data.logo_bytes ?? null, data.logo])).toEqual([
      [png.length, undefined],
      [null, undefined],
      [null, null],
    ])
  })

  test('a form with a picture waits for the confirmation, whose mail names the change, and is saved after it', async () => {
    await askToConfirm(testApi, owner)
    const asked = askedBy(await owner.upload(PATH, { ...FORM, name: 'Nightline Trams', logo: file(png) }))
    expect(await logoUrl()).toBeNull()
    const saved = await confirmByMail(testApi, owner, 'logo@shop.example', asked)
    expect([saved.status, saved.to]).toEqual([303, PATH])
    expect(await logoUrl()).toMatch(/\/logos\/[0-9a-f]{32}\.png$/)
    expect((await owner.get(PATH)).html).toContain('value="Nightline Trams"')
    const mail = (await mailsTo(testApi, 'logo@shop.example')).at(-1)
    expect(mail?.subject).toBe('Confirm a change to your brand')
    await owner.upload(PATH, { ...FORM, logo: file(''), remove_logo: 'yes' })
  })

  test('receipts show the logo with its words next to it, or the letter if there is none', () => {
    const renderReceiptWith = (logo: string | null): string => {
      const named = { name: 'Nightline Rail', brand: null, supportEmail: null, logo }
      return renderReceipt(aCheckout({ payment: { status: 'succeeded' }, shop: named }), wordsIn('en', 'DE'))
    }
    expect(renderReceiptWith('ab.png')).toContain('<span class="logo own"><img src="/logos/ab.png" alt width')
    expect(renderReceiptWith(null)).toContain('<span class="logo" aria-hidden="true">N</span>')
  })

  test.each([
    ['a page that says it is a picture', '<script>alert(1)</script>'],
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['half a picture', png.subarray(0, 100)],
  ])('the logo refuses %s next to its field, and nothing is changed', async (_name, bytes) => {
    const answer = await owner.upload(PATH, { ...FORM, name: 'Another', logo: file(bytes) })
    expect([answer.status, answer.html.includes('href="#logo"')]).toEqual([400, true])
    expect((await api({ logo: Buffer.from(bytes).toString('base64') })).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/logo' }],
    })
    expect((await testApi.ask('GET', '/v1/settings/brand')).body).toMatchObject({
      name: 'Nightline Rail',
      logo_url: null,
    })
  })

  test('a logo file that is too large is not read; its owner is led back with an error', async () => {
    for (const bytes of [66_000, 3_000_000]) {
      const { status, to } = await owner.upload(PATH, { ...FORM, logo: file(Buffer.alloc(bytes)) })
      expect([status, to]).toEqual([303, `${PATH}?large`])
    }
    expect((await owner.get(`${PATH}?large`)).html).toContain('Must have at most 48 KB')
    const slightly = await owner.upload(PATH, {
      ...FORM,
      logo: file(Buffer.concat([png, Buffer.alloc(48_001 - png.length)])),
    })
    expect([slightly.status, slightly.html.includes('Must have at most 48 KB')]).toEqual([400, true])
    expect((await api({ logo: Buffer.alloc(48_001).toString('base64') })).status).toBe(400)
    expect(await logoUrl()).toBeNull()
  })

  test('only an owner on a page of the platform or a test key changes the logo; a live key cannot', async () => {
    const developer = await signIn(testApi, 'developer-of-logo@shop.example')
    await join('developer-of-logo@shop.example', 'developer')
    const form = { ...FORM, logo: file(jpg, 'image/jpeg') }
    expect((await developer.upload(PATH, form)).status).toBe(403)
    expect((await owner.upload(PATH, { ...form, _form: 'x' })).status).toBe(403)
    expect((await owner.upload(PATH, form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await new Visitor(testApi).upload(PATH, form)).to).toMatch(/^\/sign-in/)
    const stranger = await signUp(testApi, 'stranger-of-logo@shop.example')
    expect((await stranger.upload(PATH, form)).to).toBe(PATH)
    expect(await logoUrl()).toBeNull()
    expect((await api({ logo: webpAlpha.toString('base64') })).body['logo_url']).toMatch(/\.webp$/)
    expect((await api({ logo: null })).body['logo_url']).toBeNull()
    const body = { logo: png.toString('base64') }
    expect((await live.ask('PATCH', '/v1/settings/brand', { body })).body['code']).toBe('step_up_required')
  })
})

describe('Embedding', () => {
  // The pages that can frame the checkout.
  let checkout: string
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: '20.00', currency: 'EUR' } })
    checkout = new URL(String(body['checkout_url'])).pathname
  }, 60_000)

  const set = (origins: unknown) => testApi.ask('PUT', '/v1/settings/embedding', { body: { origins } })
  const read = async () => (await testApi.ask('GET', '/v1/settings/embedding')).body['origins']
  const readPolicy = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${testApi.url}${path}`, { headers, redirect: 'manual' })).headers.get('content-security-policy') ?? ''
  const readAncestors = async (path: string, headers?: Record<string, string>) =>
    /frame-ancestors ([^;]*)/.exec(await readPolicy(path, headers))?.[1]

  async function member(role: Role): Promise<Visitor> {
    const email = `${role}@embedding.example`
    await signIn(testApi, email)
    await execute(
      testApi.db,
      sql`insert into membership (merchant_id, person_id, role)
          select ${testApi.tenant.merchantId}, id, ${role} from person where email = ${email}`,
    )
    return signIn(testApi, email)
  }

  test('no page can frame the checkout until the shop lists one; then only the page for frames allows the listed pages', async () => {
    expect([await read(), await readAncestors(`${checkout}/frame`)]).toEqual([[], "'none'"])
    const answer = await set(['https://www.shop.example/', 'https://shop.example', 'https://SHOP.example'])
    const origins = ['https://shop.example', 'https://www.shop.example']
    expect([answer.status, answer.body]).toEqual([200, { object: 'embedding', origins }])
    expect(await readAncestors(`${checkout}/frame`)).toBe(origins.join(' '))
    for (const page of ['', '/continue', '/code.svg', '/receipt', '/status', '/frame/status', '/nothing'])
      expect([page, await readAncestors(checkout + page)]).toEqual([page, "'none'"])
    const headers = { origin: 'https://evil.example', referer: 'https://evil.example/', 'sec-fetch-dest': 'iframe' }
    expect(await readAncestors(`${checkout}/frame?origins=https://evil.example`, headers)).toBe(origins.join(' '))
    await set([])
    expect(await readAncestors(`${checkout}/frame`)).toBe("'none'")
  })

  test('the page for frames has no cookie and no test bar, and leads to its own page in a tab', async () => {
    await set(['https://shop.example'])
    const framed = await fetch(`${testApi.url}${checkout}/frame`, { headers: { 'sec-fetch-dest': 'iframe' } })
    const html = await framed.text()
    expect([framed.status, framed.headers.get('set-cookie'), html.includes('class="sandbox"')]).toEqual([
      200,
      null,
      false,
    ])
    expect(html).toContain('<base target="_blank"/>')
    // All the values that its messages consist of.
    const data = [...html.matchAll(/ data-(payment|state|origins)="([^"]*)"/g)].map(([, name, value]) => [name, value])
    expect(data).toEqual([
      ['payment', expect.stringMatching(/^pay_/)],
      ['state', 'created'],
      ['origins', 'https://shop.example'],
    ])
    const own = await fetch(`${testApi.url}${checkout}`)
    expect(await own.text()).not.toMatch(/<base|data-origins|frame\.\w+\.js/)
    const tab = await fetch(`${testApi.url}${checkout}/frame`, {
      headers: { 'sec-fetch-dest': 'document' },
      redirect: 'manual',
    })
    expect([tab.status, tab.headers.get('location')]).toEqual([303, checkout])
    expect((await fetch(`${testApi.url}/c/nothing/frame`)).status).toBe(404)
    expect((await fetch(`${testApi.url}${checkout}/frame`, { method: 'POST' })).status).toBe(405)
  })

  test.each([
    ['a star', ['https://*.shop.example']],
    ['everybody', ['*']],
    ['a directive', ['https://shop.example;script-src']],
    ['another page’s device', ['http://shop.example']],
    ['a scheme alone', ['https:']],
    ['eleven', Array.from({ length: 11 }, (_one, index) => `https://shop${index}.example`)],
    ['a word', 'https://shop.example'],
    ['a path', ['https://shop.example/cart']],
    ['blanks around', [' https://shop.example']],
    ['NUL behind', ['https://shop.example/\0']],
    ['a host without a domain', ['https://shop']],
  ])('the list refuses %s, and does not change', async (_name, origins) => {
    await set(['https://shop.example'])
    const answer = await set(origins)
    expectProblem(answer, 400, 'validation_failed')
    expect(await read()).toEqual(['https://shop.example'])
  })

  test('the database refuses values that would end the header’s list', async () => {
    const { merchantId } = testApi.tenant
    for (const origin of [
      '*',
      'https://*.example',
      "https://a.example; script-src 'unsafe-inline'",
      'https://a.example\n',
      '',
    ])
      await expect(
        execute(testApi.db, sql`update merchant set frame_origins = ${[origin]} where id = ${merchantId}`),
      ).rejects.toThrow('frame_origins')
  })

  describe('Origins in the dashboard', () => {
    test.each(['owner', 'developer'] as const)(
      '%s lists addresses, and the log of the account has it',
      async (role) => {
        const visitor = await member(role)
        const origins = ' https://Shop.example/ \r\n\r\nhttp://localhost:3000 '
        expect((await visitor.submit('/dashboard/embedding', { origins })).to).toBe('/dashboard/embedding')
        expect(await read()).toEqual(['http://localhost:3000', 'https://shop.example'])
        const log = (await testApi.ask('GET', '/v1/audit_log')).body['data'] as Record<string, unknown>[]
        expect(log[0]).toMatchObject({
          action: 'setEmbedding',
          data: { origins: ['https://shop.example', 'http://localhost:3000'] },
        })
        const { html } = await visitor.get('/dashboard/embedding')
        expect(html).toContain('http://localhost:3000\nhttps://shop.example</textarea>')
        const wrong = await visitor.submit('/dashboard/embedding', { origins: 'https://*.shop.example' })
        expect([wrong.status, wrong.html.includes('One thing to correct')]).toEqual([400, true])
        expect(wrong.html).toContain('https://*.shop.example</textarea>')
        expect(await read()).toHaveLength(2)
      },
    )

    test.each(['support', 'viewer'] as const)('the role %s reads the origins and cannot change them', async (role) => {
      await set(['https://shop.example'])
      const visitor = await member(role)
      const page = await visitor.get('/dashboard/embedding')
      expect([page.html.includes('https://shop.example'), page.html.includes('<textarea')]).toEqual([true, false])
      expect((await visitor.submit('/dashboard/embedding', { origins: '' })).status).toBe(403)
      expect(await read()).toEqual(['https://shop.example'])
    })

    test('a live key cannot change the origins', async () => {
      const answer = await live.ask('PUT', '/v1/settings/embedding', { body: { origins: ['https://evil.example'] } })
      expectProblem(answer, 403, 'step_up_required')
      expect(answer.body['page']).toMatch(/\/dashboard\/embedding$/)
      expect((await live.ask('GET', '/v1/settings/embedding')).body['origins']).toEqual([])
    })
  })

  describe('The script for merchants', () => {
    test('the script is under 3 KB, is cached for an hour, and can be loaded by any page', async () => {
      const answer = await fetch(`${testApi.url}/pinrail.js`)
      const script = Buffer.from(await answer.arrayBuffer())
      expect(script.length).toBeLessThan(3072)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'cross-origin-resource-policy': 'cross-origin',
        'access-control-allow-origin': '*',
      })
      // `fetch` would add a header that asks to bypass caches.
      const again = await browse(testApi.url)
        .get('/pinrail.js')
        .set('if-none-match', answer.headers.get('etag') ?? '')
      expect(again.status).toBe(304)
    })

    test('the script is the same file under the URL with its hash that the guide gives', async () => {
      const guide = await (await fetch(`${testApi.url}/docs/embedding.md`)).text()
      const [, address = ''] = /src="([^"]*\/assets\/pinrail\.\w+\.js)"/.exec(guide) ?? []
      const [named, newest] = await Promise.all(
        [new URL(address).pathname, '/pinrail.js'].map(async (path) => (await fetch(testApi.url + path)).text()),
      )
      expect(named).toBe(newest)
    })

    test('the script for merchants and the script of the frame each send messages to one origin', async () => {
      const frame = /\/assets\/frame\.\w+\.js/.exec(await (await fetch(`${testApi.url}${checkout}/frame`)).text())?.[0]
      for (const path of ['/pinrail.js', frame]) {
        const calls = [...(await (await fetch(testApi.url + path)).text()).matchAll(/postMessage\((.*)\)/g)]
        expect(calls).toHaveLength(1)
        expect(calls[0]?.[1]).toMatch(/, (home|shopOrigin)$/)
      }
    })
  })

  test('origins that match the document’s pattern are accepted, and the pattern refuses what is no origin', async () => {
    const document = JSON.stringify((await testApi.ask('GET', '/openapi.json', { key: null })).body)
    const [, escaped = ''] = /"maxLength":253,"pattern":"((?:[^"\\]|\\.)+)"/.exec(document) ?? []
    expect(escaped).toContain('localhost')
    const pattern = new RegExp(JSON.parse(`"${escaped}"`) as string)
    const taken = [
      'https://shop.example',
      'HTTPS://WWW.Shop.Example/',
      'https://a.b.example:8443',
      'http://localhost:3000',
    ]
    for (const origin of taken)
      expect([origin, pattern.test(origin), (await set([origin])).status]).toEqual([origin, true, 200])
    for (const text of [
      '\uda79\udcb0!',
      'https://*.shop.example',
      'shop.example',
      'http://shop.example',
      'https://a b.example',
    ])
      expect([text, pattern.test(text), (await set([text])).status]).toEqual([text, false, 400])
  })
})

describe('Keys and requests', () => {
  /** The milliseconds by which the clock is ahead. */
  let ahead = 0
  let noted: ApiRequest[] = []
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: () => ({ onRequest: (request) => void noted.push(request), clock: () => Date.now() + ahead }),
    })
  })
  afterAll(() => testApi?.close())

  describe('Keys', () => {
    const NEW = '/dashboard/keys/new'
    const keyIn = (html: string): string => /value="(pinrail_(?:test|live)_\w{50})"/.exec(html)?.[1] ?? ''
    const pathsIn = (html: string): string[] =>
      [...html.matchAll(/row-link" href="(\/dashboard\/keys\/\w+)"/g)].map((match) => match[1] ?? '')
    const works = async (key: string, path = '/v1/payments'): Promise<number> =>
      (await testApi.ask('GET', path, { key })).status

    test('a key from the form is shown once, works within its scopes, and is made once however often the form is sent', async () => {
      const { owner, tenant } = await openAccount(testApi, 'keys@shop.example')
      const form = {
        name: 'Shop server',
        preset: 'own',
        scope: 'payments:read',
        days: '90',
        once: await onceIn(owner, NEW),
      }
      const made = await owner.submit('/dashboard/keys', form)
      const key = keyIn(made.html)
      expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect([await works(key), await works(key, '/v1/events')]).toEqual([200, 403])
      const again = await owner.submit('/dashboard/keys', form)
      expect(keyIn(again.html)).toBe(key)
      const list = (await owner.get('/dashboard/keys')).html
      expect(pathsIn(list)).toHaveLength(2)
      expect(list).toContain(`${key.slice(0, 17)}…${key.slice(-4)}`)
      expect(list).not.toContain(key)
      const log = await many(
        testApi.db,
        z.object({ action: z.string(), data: z.unknown() }),
        sql`select action, data from audit_entry where merchant_id = ${tenant.merchantId} and action like '%ApiKey'`,
      )
      expect(log).toHaveLength(1)
      expect(JSON.stringify(log)).not.toContain(key.slice(-20))
    })

    test('only the choice of an agent gives a key the tools of agents', async () => {
      const { owner } = await openAccount(testApi, 'agent@shop.example')
      const usesTools = async (preset: string): Promise<number> => {
        const form = { name: preset, preset, days: '0', once: await onceIn(owner, NEW) }
        const key = keyIn((await owner.submit('/dashboard/keys', form)).html)
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
        const headers = { accept: 'application/json, text/event-stream' }
        return (await testApi.ask('POST', '/mcp', { key, body, headers })).status
      }
      expect([await usesTools('agent'), await usesTools('all'), await usesTools('sell')]).toEqual([200, 403, 403])
      const list = (await owner.get('/dashboard/keys')).html
      expect(list).toContain('<span class="tag">Agents</span>')
      expect(list).toContain('<span class="tag">Everything</span>')
    })

    test('a wrong form of a key is shown again with its values and errors, and no key was made', async () => {
      const { owner } = await openAccount(testApi, 'wrong@shop.example')
      const form = { name: 'Kasse', preset: 'sell', allowed_ips: '192.0.2.1\n203.0.113', days: '0', once: 'a' }
      const bad = await owner.submit('/dashboard/keys', form)
      expect(bad.status).toBe(400)
      for (const text of [
        '“203.0.113” is not an IP address. Enter 203.0.113.7',
        'value="Kasse"',
        '192.0.2.1\n203.0.113</textarea>',
      ])
        expect(bad.html).toContain(text)
      const none = await owner.submit('/dashboard/keys', { ...form, allowed_ips: '', preset: 'own' })
      expect([none.status, none.html.includes('Must name at least one scope')]).toEqual([400, true])
      expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(1)
      const right = await owner.submit('/dashboard/keys', { ...form, allowed_ips: '192.0.2.1, 198.51.100.0/24' })
      expect(await works(keyIn(right.html))).toBe(403)
    })

    test('a key is rotated with an overlap, and revoked within a second', async () => {
      const { owner, key: old } = await openAccount(testApi, 'roll@shop.example')
      const [path = ''] = pathsIn((await owner.get('/dashboard/keys')).html)
      const rolled = await owner.submit(`${path}/roll`, { overlap: '3600', once: await onceIn(owner, path) })
      const next = keyIn(rolled.html)
      expect([await works(old), await works(next)]).toEqual([200, 200])
      expect((await owner.get('/dashboard/keys')).html).toContain('still works for 59 min')
      expect((await owner.submit(`${path}/revoke`)).to).toBe('/dashboard/keys')
      ahead += 1001
      expect([await works(old), await works(next)]).toEqual([401, 200])
      expect((await owner.submit(`${path}/roll`, { overlap: '0', once: 'b' })).status).toBe(409)
      const [newest = ''] = pathsIn((await owner.get('/dashboard/keys')).html)
      await owner.submit(`${newest}/roll`, { overlap: '0', once: await onceIn(owner, newest) })
      ahead += 1001
      expect(await works(next)).toBe(401)
    })

    test('a person makes no key with more rights than theirs, and no key makes its maker an owner', async () => {
      const { owner, tenant } = await openAccount(testApi, 'boss@shop.example')
      await signIn(testApi, 'dev@shop.example')
      await testApi.db.query(
        `insert into membership (merchant_id, person_id, role) select $1, id, 'developer' from person where email = 'dev@shop.example'`,
        [tenant.merchantId],
      )
      const developer = await signIn(testApi, 'dev@shop.example')
      const [ownersKey = ''] = pathsIn((await owner.get('/dashboard/keys')).html)
      const make = async (fields: object) =>
        developer.submit('/dashboard/keys', { name: 'Mine', days: '0', once: await onceIn(developer, NEW), ...fields })

      const key = keyIn((await make({ preset: 'all' })).html)
      expect([await works(key), await works(key, '/v1/webhook_endpoints'), await works(key, '/v1/members')]).toEqual([
        200, 200, 200,
      ])
      const people = (await testApi.ask('GET', '/v1/members', { key })).body['data'] as { id: string; email: string }[]
      const self = people.find(({ email }) => email === 'dev@shop.example')
      const promoted = await testApi.ask('PATCH', `/v1/members/${self?.id}`, { key, body: { role: 'owner' } })
      expect([promoted.status, promoted.body['required_scope']]).toEqual([403, 'members:write'])

      expect((await developer.get(NEW)).html).not.toContain('members:write')
      expect((await make({ preset: 'own', scope: 'members:write' })).status).toBe(400)
      // The key that it would make belongs to an owner.
      const rolled = await developer.submit(`${ownersKey}/roll`, {
        overlap: '0',
        once: await onceIn(developer, ownersKey),
      })
      expect([rolled.status, rolled.html.includes('Your role lacks the scope')]).toEqual([409, true])
    })

    test('a form that needs a confirmation is stored, and makes its key only after it', async () => {
      const { owner } = await openAccount(testApi, 'late@shop.example')
      const once = await onceIn(owner, NEW)
      ahead += CONFIRMED_MS + 1000
      const asked = askedBy(await owner.submit('/dashboard/keys', { name: 'Till 3', preset: 'sell', days: '0', once }))
      expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(1)
      const confirmed = await confirmByMail(testApi, owner, 'late@shop.example', asked)
      expect([confirmed.status, confirmed.html.includes('Till 3')]).toEqual([200, true])
      expect(pathsIn((await owner.get('/dashboard/keys')).html)).toHaveLength(2)
    })

    test('the link for a live key leads to an existing page, also after signing in; there a person makes a key', async () => {
      const live = await openTestApi({ mode: 'live' })
      try {
        const { owner, key, tenant } = await openAccount(live, 'live@shop.example')
        const refused = await live.ask('POST', '/v1/api_keys', { key, body: { name: 'x' } })
        const at = new URL(String(refused.body['page'])).pathname
        const nobody = await new Visitor(live).get(at)
        expect(nobody.to).toBe(`/sign-in?to=${encodeURIComponent(at)}`)
        expect((await owner.get(at)).status).toBe(200)
        const form = { name: 'Live', preset: 'all', days: '0', once: await onceIn(owner, NEW) }
        const made = keyIn((await owner.submit('/dashboard/keys', form)).html)
        expect((await live.ask('GET', '/v1/payments', { key: made })).status).toBe(200)
        const viewer = await signIn(live, 'viewer@shop.example')
        await live.db.query(
          `insert into membership (merchant_id, person_id, role) select $1, id, 'viewer' from person where email = 'viewer@shop.example'`,
          [tenant.merchantId],
        )
        const seen = (await viewer.get(at)).html
        expect([seen.includes('Live'), seen.includes('New key')]).toEqual([true, false])
      } finally {
        await live.close()
      }
    })
  })

  describe('The log of requests', () => {
    beforeAll(async () => {
      testApi = await testApi.asNewMerchant()
      noted = []
      ahead = 0
    })

    /** Writes the recorded requests, as the process does every second. */
    async function written(): Promise<ApiRequest[]> {
      const batch = noted
      noted = []
      await insertRequests(testApi.db, batch)
      // As after a lost response: no line is written twice.
      await insertRequests(testApi.db, batch)
      return batch
    }

    const stripTags = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    const rowsIn = (html: string): string[] =>
      [...html.matchAll(/class="row-link"[^>]*><code[^>]*><b>(\w+)<\/b> ([^<]*)/g)].map(
        ([, method, path]) => `${method} ${path}`,
      )

    test('each call with a key is in the log, newest first, and is found by its id, path, key and error', async () => {
      const { owner, key, keyId, pay } = await openAccount(testApi, 'log@shop.example')
      const id = await pay({ amount: 10, currency: 'EUR' })
      await testApi.ask('GET', `/v1/payments/${id}`, { key })
      const wrong = await testApi.ask('POST', '/v1/payments', { key, body: { amount: '12.345', currency: 'EUR' } })
      await written()
      const { html } = await owner.get('/dashboard/requests')
      expect(rowsIn(html)).toEqual(['POST /v1/payments', `GET /v1/payments/${id}`, 'POST /v1/payments'])
      for (const text of [
        String(wrong.body['request_id']),
        '"amount": "12.345"',
        String(wrong.body['code']),
        'Errors 1',
      ])
        expect(stripTags(html).replaceAll('&quot;', '"')).toContain(text)
      const found = async (query: string): Promise<string[]> =>
        rowsIn((await owner.get(`/dashboard/requests?${query}`)).html)
      expect(await found('show=errors')).toEqual(['POST /v1/payments'])
      expect(await found(`q=${id}`)).toEqual([`GET /v1/payments/${id}`])
      expect(await found(`q=${String(wrong.body['request_id'])}`)).toEqual(['POST /v1/payments'])
      expect(await found('q=%2Fv1%2Fpayments%2F')).toEqual([`GET /v1/payments/${id}`])
      expect(await found(`q=key_${keyId}`)).toHaveLength(3)
      expect(await found('q=No+such+key')).toEqual([])
    })

    test('the log never has secrets, long texts, halves of characters, or bodies of reads', async () => {
      const { key, pay } = await openAccount(testApi, 'secrets@shop.example')
      await pay({ amount: 10, currency: 'EUR' })
      await testApi.ask('POST', '/v1/api_keys', { key, body: { name: 'more' } })
      await testApi.ask('POST', '/v1/webhook_endpoints', { key, body: { url: 'https://shop.example/hooks' } })
      for (const method of ['GET', 'HEAD'])
        await testApi.ask(method, `/v1/payments?status=created&reference=${key}`, { key })
      const chat = 'https://hooks.slack.com/services/T0001/B0001/secretOfSlack'
      const misplaced = { kind: 'slack', name: '#payments', webhook_url: [chat] }
      await testApi.ask('POST', '/v1/notification_channels', { key, body: misplaced })
      // Whatever the cut, one of the two texts is cut within a character.
      for (const description of ['\u{1f600}'.repeat(3000), `x${'\u{1f600}'.repeat(3000)}`])
        await testApi.ask('POST', '/v1/payments', { key, body: { amount: 10, currency: 'EUR', description } })
      const batch = await written()
      expect(batch).toHaveLength(8)
      const { rows } = await testApi.db.query('select * from api_request where merchant_id = $1', [
        batch[0]?.merchantId,
      ])
      expect(rows).toHaveLength(8)
      const text = JSON.stringify(rows)
      for (const secret of [/pinrail_(?:live|test)_/, /whsec_/, /"checkout_url\\":\\"http/, /secretOfSlack/])
        expect(text).not.toMatch(secret)
      for (const { sent, answered, path } of batch) {
        expect(Math.max(sent?.length ?? 0, answered?.length ?? 0)).toBeLessThanOrEqual(4097)
        expect(path.length).toBeLessThanOrEqual(501)
      }
      const read = batch.filter(({ method }) => method === 'GET' || method === 'HEAD')
      expect(read.map(({ answered }) => answered)).toEqual([null, null])
    })

    test('the log has requests of a key without the scope and of a revoked key; not those of a wrong secret or a stranger', async () => {
      const { key, tenant } = await openAccount(testApi, 'refused@shop.example')
      const narrow = await testApi.ask('POST', '/v1/api_keys', {
        key,
        body: { name: 'narrow', scopes: ['events:read'] },
      })
      const program = String(narrow.body['key'])
      await written()
      expect((await testApi.ask('GET', '/v1/payments', { key: program })).status).toBe(403)
      const other = await testApi.ask('POST', '/v1/api_keys', { key, body: { name: 'guessed' } })
      await testApi.db.query(`update api_key set digest = decode(repeat('00', 32), 'hex') where name = 'guessed'`)
      expect((await testApi.ask('GET', '/v1/payments', { key: String(other.body['key']) })).status).toBe(401)
      const keyId = String(narrow.body['id']).slice('key_'.length)
      await testApi.db.query('update api_key set revoked_at = now() where id = $1', [keyId])
      // The process reads keys again after a second.
      ahead += 2000
      expect((await testApi.ask('GET', '/v1/events', { key: program })).status).toBe(401)
      const last = (await written()).filter(({ status }) => status >= 400)
      expect(last.map(({ merchantId, keyId, status, code }) => ({ merchantId, keyId, status, code }))).toEqual([
        { merchantId: tenant.merchantId, keyId, status: 403, code: 'insufficient_scope' },
        { merchantId: tenant.merchantId, keyId, status: 401, code: 'invalid_api_key' },
      ])
    })

    test('the log stores bodies of an account up to a limit a minute, and after that only lines', async () => {
      const { key } = await openAccount(testApi, 'many@shop.example')
      await written()
      // At the beginning of a minute, so that none ends in between.
      ahead = 180_000 - (Date.now() % 60_000)
      const body = { amount: 'x'.repeat(4000), currency: 'EUR' }
      for (let time = 0; time < 150; time++) await testApi.ask('POST', '/v1/payments', { key, body })
      ahead = 0
      const kept = noted.splice(0)
      const size = kept.reduce((sum, { sent, answered }) => sum + (sent?.length ?? 0) + (answered?.length ?? 0), 0)
      expect([kept.length, kept.at(-1)?.sent, kept.at(-1)?.status]).toEqual([150, null, 400])
      expect(size).toBeGreaterThan(100_000)
      expect(size).toBeLessThan(510_000)
    })

    test('a response waits for no statement of the log, and the log for no response', async () => {
      const { key } = await openAccount(testApi, 'apart@shop.example')
      await written()
      await testApi.ask('GET', '/v1/payments', { key })
      expect(noted.map(({ path }) => path)).toEqual(['/v1/payments'])
      expect((await testApi.db.query(`select 1 from api_request where id = $1`, [noted[0]?.id])).rows).toEqual([])
    })

    test('another account reads nothing of the log', async () => {
      const { pay } = await openAccount(testApi, 'mine@shop.example')
      await pay({ amount: 10, currency: 'EUR' })
      const [made] = await written()
      const other = await openAccount(testApi, 'else@shop.example')
      expect(stripTags((await other.owner.get('/dashboard/requests')).html)).toContain('No requests yet')
      expect((await other.owner.get(`/dashboard/requests?id=${made?.id}`)).status).toBe(404)
      expect((await other.owner.get(`/dashboard/requests?after=${made?.id}`)).status).toBe(404)
    })

    test('the process writes the recorded requests automatically', async () => {
      const own = await openTestApi()
      try {
        const answer = await own.ask('GET', '/v1/payments')
        const id = answer.headers.get('request-id')
        const read = async () => (await own.db.query('select path from api_request where id = $1', [id])).rows
        expect(await until(read, ({ length }) => length > 0)).toEqual([{ path: '/v1/payments' }])
      } finally {
        await own.close()
      }
    })
  })
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { renderReceipt } from '../../../../src/web/checkout/page.tsx'
import { wordsIn } from '../../../../src/web/messages/words.ts'
import { aCheckout } from '../../../web/fixtures.ts'
import { pressOn } from '../../links/maker.ts'
import { PICTURES } from '../../support/pictures.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { signIn, signUp, Visitor } from '../visitor.ts'

/** The logo of a shop: taken from an owner, shown to buyers. */

let shop: Shop
let owner: Visitor
beforeAll(async () => {
  shop = await openShop()
  owner = await signUp(shop, 'logo@shop.example')
  await join('logo@shop.example', 'owner')
  await shop.db.query(`update session set merchant_id = $1`, [shop.tenant.merchantId])
}, 60_000)
afterAll(() => shop?.close())

async function join(email: string, role: string): Promise<void> {
  await shop.db.query(
    'insert into membership (merchant_id, person_id, role) select $1, id, $2 from person where email = $3',
    [shop.tenant.merchantId, role, email],
  )
}

const PATH = '/dashboard/brand'
const FORM = { name: 'Nightline Rail', color: '', support_email: 'help@nightline.example' }
const file = (bytes: Buffer | string, type = 'image/png'): Blob =>
  new Blob([new Uint8Array(Buffer.from(bytes))], { type })
const { png, jpg, webpAlpha } = PICTURES
const api = (body: object) => shop.ask('PATCH', '/v1/settings/brand', { body })
const logoUrl = async () => (await shop.ask('GET', '/v1/settings/brand')).body['logo_url']

test('a logo is taken once, and buyers see it at the checkout and on links, until it is removed', async () => {
  expect((await owner.upload(PATH, { ...FORM, logo: file(png) })).to).toBe(`${PATH}?saved`)
  const path = new URL(String(await logoUrl())).pathname
  expect(path).toMatch(/^\/logos\/[0-9a-f]{32}\.png$/)
  const { code } = (await shop.ask('POST', '/v1/payment_links', { body: { title: 'Tip jar', currency: 'EUR' } })).body
  const link = `/l/${String(code)}`
  const checkout = (await pressOn(shop, link, { amount: '64' })).to ?? ''
  const pages = [link, checkout, PATH, `${PATH}/preview?name=A&color=`]
  for (const page of pages) expect([page, (await owner.get(page)).html.includes(`src="${path}"`)]).toEqual([page, true])
  expect((await owner.get(link)).html).toContain('href="mailto:help@nightline.example"')

  const served = await fetch(`${shop.url}${path}`)
  expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(served.headers.get('x-content-type-options')).toBe('nosniff')
  expect(served.headers.get('content-security-policy')).toMatch(/(^|; )sandbox(;|$)/)
  expect(served.headers.get('cache-control')).toContain('immutable')
  expect(Buffer.from(await served.arrayBuffer()).subarray(0, 8)).toEqual(png.subarray(0, 8))

  const kept = await owner.upload(PATH, { ...FORM, logo: file('') })
  expect([kept.to, new URL(String(await logoUrl())).pathname]).toEqual([`${PATH}?saved`, path])
  await owner.upload(PATH, { ...FORM, logo: file(''), remove_logo: 'yes' })
  expect(await logoUrl()).toBeNull()
  expect((await owner.get(checkout)).html).not.toContain('/logos/')
  expect((await fetch(`${shop.url}${path}`)).status).toBe(404)
  const { rows } = await shop.db.query(`select data from audit_entry where action = 'setBrand' order by id`)
  expect(rows.map(({ data }) => [data.logo_bytes ?? null, data.logo])).toEqual([
    [png.length, undefined],
    [null, undefined],
    [null, null],
  ])
})

test('the logo stands on receipts and its words beside it, and the letter where there is none', () => {
  const receiptOf = (logo: string | null): string => {
    const named = { name: 'Nightline Rail', brand: null, supportEmail: null, logo }
    return renderReceipt(aCheckout({ payment: { status: 'succeeded' }, shop: named }), wordsIn('en', 'DE'))
  }
  expect(receiptOf('ab.png')).toContain('<span class="logo own"><img src="/logos/ab.png" alt width')
  expect(receiptOf(null)).toContain('<span class="logo" aria-hidden="true">N</span>')
})

test.each([
  ['a page that says it is a picture', '<script>alert(1)</script>'],
  ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['half a picture', png.subarray(0, 100)],
])('%s is refused beside its field, and nothing is changed', async (_name, bytes) => {
  const answer = await owner.upload(PATH, { ...FORM, name: 'Another', logo: file(bytes) })
  expect([answer.status, answer.html.includes('href="#logo"')]).toEqual([400, true])
  expect((await api({ logo: Buffer.from(bytes).toString('base64') })).body).toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer: '/logo' }],
  })
  expect((await shop.ask('GET', '/v1/settings/brand')).body).toMatchObject({ name: 'Nightline Rail', logo_url: null })
})

test('a file that is too large is not read; its owner is led back and told', async () => {
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

test('only an owner of the account on a page of ours changes it, and a test key; a live key does not', async () => {
  const developer = await signIn(shop, 'developer-of-logo@shop.example')
  await join('developer-of-logo@shop.example', 'developer')
  const form = { ...FORM, logo: file(jpg, 'image/jpeg') }
  expect((await developer.upload(PATH, form)).status).toBe(403)
  expect((await owner.upload(PATH, { ...form, _form: 'x' })).status).toBe(403)
  expect((await owner.upload(PATH, form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await new Visitor(shop).upload(PATH, form)).to).toMatch(/^\/sign-in/)
  const stranger = await signUp(shop, 'stranger-of-logo@shop.example')
  expect((await stranger.upload(PATH, form)).to).toBe(`${PATH}?saved`)
  expect(await logoUrl()).toBeNull()
  expect((await api({ logo: webpAlpha.toString('base64') })).body['logo_url']).toMatch(/\.webp$/)
  expect((await api({ logo: null })).body['logo_url']).toBeNull()
  const live = await openShop({ mode: 'live' })
  try {
    const body = { logo: png.toString('base64') }
    expect((await live.ask('PATCH', '/v1/settings/brand', { body })).body['code']).toBe('step_up_required')
  } finally {
    await live.close()
  }
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pressOn } from '../../links/maker.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { signIn, signUp, type Visitor } from '../visitor.ts'

/** How buyers see the shop. */

let shop: Shop
let owner: Visitor
beforeAll(async () => {
  shop = await openShop()
  owner = await signUp(shop, 'brand@shop.example')
  await shop.db.query(
    `update session set merchant_id = $1 where person_id = (select id from person where email = 'brand@shop.example')`,
    [shop.tenant.merchantId],
  )
  await shop.db.query(
    `insert into membership (merchant_id, person_id, role)
     select $1, id, 'owner' from person where email = 'brand@shop.example'`,
    [shop.tenant.merchantId],
  )
}, 60_000)
afterAll(() => shop?.close())

const brandOf = async () => (await shop.ask('GET', '/v1/settings/brand')).body
const FORM = { name: 'Nightline Rail', color: '#7A1FA2', support_email: 'Help@Nightline.example' }

test('what an owner saves is what buyers see, at the checkout, on links, and on receipts', async () => {
  const body = { title: 'Tip jar', currency: 'EUR' }
  const { code } = (await shop.ask('POST', '/v1/payment_links', { body })).body
  expect((await owner.submit('/dashboard/brand', FORM)).to).toBe('/dashboard/brand?saved')
  expect(await brandOf()).toEqual({
    object: 'brand',
    name: 'Nightline Rail',
    color: '#7a1fa2',
    support_email: 'help@nightline.example',
    logo_url: null,
  })
  const link = await owner.get(`/l/${String(code)}`)
  const checkout = await owner.get((await pressOn(shop, `/l/${String(code)}`, { amount: '64' })).to ?? '')
  for (const { html } of [link, checkout])
    expect([html.includes('Nightline Rail'), /\/assets\/brand\.\w+\.7a1fa2\.css/.test(html)]).toEqual([true, true])
  const sheet = /\/assets\/brand\.\w+\.7a1fa2\.css/.exec(link.html)?.[0] ?? ''
  expect((await owner.get(sheet)).status).toBe(200)
  const page = await owner.get('/dashboard/brand')
  expect(page.html).toContain('value="#7a1fa2"')
  await owner.submit('/dashboard/brand', { ...FORM, color: '', support_email: '' })
  expect(await brandOf()).toMatchObject({ color: null, support_email: null })
})

test.each([
  ['no name', { name: ' ' }],
  ['a name with an address', { name: 'www.evil.example' }],
  ['a name that turns the line around', { name: 'Shop \u202e evil' }],
  ['a colour that is none', { color: 'red' }],
  ['a colour with a style in it', { color: '#fff;}body{display:none' }],
  ['an address that is none', { support_email: 'javascript:alert(1)' }],
  ['an address with a header in it', { support_email: 'a@b.example?cc=c@d.example' }],
] as const)('%s is refused, and nothing is changed', async (_name, wrong) => {
  const before = await brandOf()
  const answer = await owner.submit('/dashboard/brand', { ...FORM, ...wrong })
  expect([answer.status, answer.html.includes('One thing to correct')]).toEqual([400, true])
  expect(await brandOf()).toEqual(before)
})

test('any colour can be read: the page says which shade the buttons use', async () => {
  for (const color of ['#ffff00', '#ffffff', '#000000']) {
    await owner.submit('/dashboard/brand', { ...FORM, color })
    const { html } = await owner.get('/dashboard/brand')
    const [, ratio] =
      /Buttons use the shade #\w{6}: ([\d.]+) to 1/.exec(html) ?? /White text on #\w{6}: ([\d.]+) to 1/.exec(html) ?? []
    expect(Number(ratio)).toBeGreaterThanOrEqual(4.5)
  }
})

test('only an owner changes it, freshly confirmed; a live key cannot', async () => {
  const developer = await signIn(shop, 'developer@shop.example')
  await shop.db.query(
    `insert into membership (merchant_id, person_id, role)
     select $1, id, 'developer' from person where email = 'developer@shop.example'`,
    [shop.tenant.merchantId],
  )
  const page = await developer.get('/dashboard/brand')
  expect([page.status, page.html.includes('action="/dashboard/brand"')]).toEqual([200, false])
  expect((await developer.submit('/dashboard/brand', FORM)).status).toBe(403)
  const live = await openShop({ mode: 'live' })
  try {
    const answer = await live.ask('PATCH', '/v1/settings/brand', { body: { support_email: 'thief@evil.example' } })
    expect([answer.status, answer.body['code']]).toEqual([403, 'step_up_required'])
    expect((await live.ask('GET', '/v1/settings/brand')).body['support_email']).toBeNull()
  } finally {
    await live.close()
  }
})

test('the preview shows what is written, and nothing that is not a colour gets into it', async () => {
  const query = new URLSearchParams({ name: '<b>Shop', color: '#123456' })
  const { html, headers } = await owner.get(`/dashboard/brand/preview?${query}`)
  expect(html).toMatch(/brand\.\w+\.123456\.css/)
  expect(html).toContain('&lt;b>Shop')
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
  expect((await owner.get(`/dashboard/brand/preview?name=${'a'.repeat(1001)}`)).status).toBe(400)
  expect((await owner.get('/dashboard/brand/preview?color=%22%3E%3Cscript%3E')).html).not.toContain('"><script>')
})

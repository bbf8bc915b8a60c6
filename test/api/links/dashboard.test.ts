import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { signIn, signUp, type Visitor } from '../site/visitor.ts'
import { openShop, type Shop, WALLET } from '../support/shop.ts'
import { linkWorld, pressOn, withoutLimits } from './maker.ts'

/** The pages of links in the dashboard. */

let shop: Shop
let world: ReturnType<typeof linkWorld>
let owner: Visitor
let merchantId: string
beforeAll(async () => {
  shop = await openShop({ deps: withoutLimits })
  world = linkWorld(shop)
  owner = await signUp(shop, 'links@shop.example')
  merchantId = await world.accountOf(owner)
  await world.rows('insert into wallet (merchant_id, livemode, address) values ($1, false, $2)', [merchantId, WALLET])
}, 60_000)
afterAll(() => shop?.close())

const FORM = { title: 'Gift card', kind: 'fixed', amount: '64', currency: 'EUR', provider: '' }

/** Sends the form of a page that was just opened; answers the path of the link. */
async function make(fields: Record<string, string> = {}): Promise<string> {
  const { to, html } = await owner.submit('/dashboard/links', { ...FORM, ...fields })
  if (to === null) throw new Error(html.slice(0, 2000))
  return to
}

const idOf = (path: string): string => path.split('/').at(-1) ?? ''
const rowOf = async (path: string) =>
  (await world.rows('select * from payment_link where id = $1', [idOf(path)]))[0] ?? {}

test('a link is made once of a form, says how it was made, and is in the audit log', async () => {
  const once = 'form-1'
  const path = await make({ once, kind: 'open', min_amount: '5', max_amount: '12,50', prefill_amount: 'on' })
  expect(await make({ once, kind: 'open', min_amount: '5', max_amount: '12,50', prefill_amount: 'on' })).toBe(path)
  expect(await rowOf(path)).toMatchObject({
    merchant_id: merchantId,
    created_via: 'dashboard',
    anonymous: false,
    wallet: null,
    min_minor: '500',
    max_minor: '1250',
    prefill: ['amount'],
  })
  expect((await owner.get('/dashboard/team')).html).toContain('create payment link')
  const page = await owner.get(path)
  for (const said of [
    'Gift card',
    'Active',
    '5.00 to 12.50 EUR',
    'qr.svg',
    'No payments yet',
    'The wallet of the account',
  ])
    expect(page.html).toContain(said)
})

test('what is wrong is told beside its field, and what was written stays', async () => {
  const answer = await owner.submit('/dashboard/links', { ...FORM, provider: 'wallet_app', amount: '5', title: '' })
  expect(answer.status).toBe(400)
  expect(answer.html).toContain('1 to 100 characters')
  const least = await owner.submit('/dashboard/links', { ...FORM, provider: 'wallet_app', amount: '5' })
  expect(least.html).toContain('The least for Banking app is 6.00 EUR.')
  expect(least.html).toContain('value="Gift card"')
  const poor = await signUp(shop, 'poor@shop.example')
  expect((await poor.get('/dashboard/links/new')).html).toContain('Set a wallet first')
  const refused = await poor.submit('/dashboard/links', FORM)
  expect([refused.status, refused.html.includes('Set the wallet that the USDC goes to')]).toEqual([400, true])
})

test('a link is edited, paused and opened again; price, method and wallet stay', async () => {
  const path = await make({ expires_at: '2099-12-24', max_payments: '5', reference: 'A' })
  const before = await rowOf(path)
  const edit = await owner.get(`${path}/edit`)
  expect(edit.html).toContain('value="2099-12-24"')
  const changes = { title: 'Voucher', expires_at: '2099-12-24', max_payments: '', inactive_message: 'Back soon' }
  const hostile = { amount: '1', currency: 'USD', provider: 'local_partner', wallet: WALLET, kind: 'open' }
  expect((await owner.submit(path, { ...changes, ...hostile })).to).toBe(path)
  const after = await rowOf(path)
  expect(after).toMatchObject({ title: 'Voucher', max_payments: null, reference: null, inactive_message: 'Back soon' })
  for (const fixed of ['amount_minor', 'currency', 'provider', 'wallet', 'code', 'expires_at'])
    expect([fixed, after[fixed]]).toEqual([fixed, before[fixed]])
  expect((await owner.submit(path, { title: '' })).status).toBe(400)
  await owner.submit(`${path}/pause`)
  expect(await rowOf(path)).toMatchObject({ active: false })
  expect((await owner.get(path)).html).toContain('Go on')
  await owner.submit(`${path}/resume`)
  expect(await rowOf(path)).toMatchObject({ active: true })
  await world.rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where id = $1", [idOf(path)])
  const stopped = await owner.get(path)
  expect([stopped.html.includes('An operator has stopped this link'), stopped.html.includes('/resume')]).toEqual([
    true,
    false,
  ])
  const forced = await owner.submit(`${path}/resume`)
  expect([forced.status >= 400, (await rowOf(path))['stopped_reason']]).toEqual([true, 'fraud'])
})

test('the list is filtered, searched and paged by its address', async () => {
  const path = await make({ title: 'Needle 100%', reference: 'INV-7' })
  await owner.submit(`${path}/pause`)
  const shows = async (query: string): Promise<boolean> =>
    (await owner.get(`/dashboard/links${query}`)).html.includes('Needle 100%')
  expect(await shows('')).toBe(false)
  expect(await shows('?s=paused')).toBe(true)
  expect(await shows('?s=all&q=INV-7')).toBe(true)
  expect(await shows(`?s=all&q=${encodeURIComponent('100%')}`)).toBe(true)
  expect((await owner.get('/dashboard/links?s=all&q=%25%25%25')).html).toContain('Nothing found')
  for (let n = 0; n < 51; n++)
    await world.rows(
      `insert into payment_link (id, merchant_id, livemode, code, currency, title, created_via, created_at, updated_at)
       select overlay(id placing lpad($1::text, 4, '0') from length(id) - 3), merchant_id, livemode,
         lpad($1::text, 10, 'x'), currency, 'Row ' || $1, created_via, created_at, updated_at
       from payment_link where id = $2`,
      [n, idOf(path)],
    )
  const first = await owner.get('/dashboard/links?q=Row')
  const more = /href="([^"]+)" rel="next"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = await owner.get(more)
  const rowsIn = (html: string): number => html.split('class="row-link"').length - 1
  expect([rowsIn(first.html), rowsIn(second.html)]).toEqual([50, 1])
  expect((await owner.get('/dashboard/links?after=plink_01h455vb4pex5vsknk084sn02q')).status).toBe(404)
})

test('roles: everybody looks, support sells, a viewer changes nothing', async () => {
  const path = await make()
  for (const role of ['viewer', 'support']) {
    const person = await signIn(shop, `${role}@shop.example`)
    await world.rows(
      'insert into membership (merchant_id, person_id, role) select $1, id, $2 from person where email = $3',
      [merchantId, role, `${role}@shop.example`],
    )
    const sells = role === 'support'
    const { html } = await person.get(path)
    expect([html.includes('Gift card'), html.includes('/pause')]).toEqual([true, sells])
    expect((await person.get('/dashboard/links/new')).status).toBe(sells ? 200 : 403)
    for (const at of [`${path}/pause`, path, '/dashboard/links'])
      expect([role, at, (await person.submit(at, FORM)).status]).toEqual([role, at, sells ? 303 : 403])
    await owner.submit(`${path}/resume`)
  }
})

test('a link of another account is not there, for any page or action', async () => {
  const path = await make()
  await pressOn(shop, `/l/${String((await rowOf(path))['code'])}`)
  const stranger = await signUp(shop, 'stranger@shop.example')
  for (const at of [path, `${path}/edit`, `/dashboard/links/new?copy=${idOf(path)}`])
    expect([at, (await stranger.get(at)).status]).toEqual([at, 404])
  for (const at of [path, `${path}/pause`, `${path}/resume`])
    expect([at, (await stranger.submit(at, FORM)).status]).toEqual([at, 404])
  expect(await rowOf(path)).toMatchObject({ active: true, title: 'Gift card' })
  expect((await stranger.get('/dashboard/links?s=all')).html).not.toContain('Gift card')
})

test('payments of before a link was brought in are shown on its page, and open no page of another merchant', async () => {
  const made = await world.make({ title: 'Brought along' })
  await pressOn(shop, made.path)
  await owner.submit(await world.ticketOf(made))
  await pressOn(shop, made.path)
  const [old, young] = await world.paymentsOf(made)
  const { html } = await owner.get(`/dashboard/links/${String((await world.linkRow(made))['id'])}`)
  expect(html).toContain('of 2 started')
  expect(html).toContain(`/dashboard/payments/${String(young?.['id'])}`)
  expect(html).not.toContain(String(old?.['id']))
  expect((await owner.get(`/dashboard/payments/${String(old?.['id'])}`)).status).toBe(404)
})

test('the preview is the account’s page, in a frame of ours alone', async () => {
  const query = new URLSearchParams({ ...FORM, title: '<b>Two</b>' })
  const { html, headers } = await owner.get(`/dashboard/links/preview?${query}`)
  expect(html).toContain('Halden Coffee')
  expect(html).toContain('&lt;b>Two&lt;/b>')
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
  const page = await owner.get('/dashboard/links/new')
  expect(page.headers.get('content-security-policy')).toContain("frame-src 'self'")
  expect((await owner.get('/dashboard/links')).headers.get('content-security-policy')).not.toContain('frame-src')
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { execute, sql } from '../../../../src/db/db.ts'
import type { Role } from '../../../../src/domain/account/roles.ts'
import { expectProblem, openShop, type Shop } from '../../support/shop.ts'
import { signIn, type Visitor } from '../visitor.ts'

/** Whose pages may hold the checkout in a frame. */

let shop: Shop
let checkout: string
beforeAll(async () => {
  shop = await openShop()
  const { body } = await shop.ask('POST', '/v1/payments', { body: { amount: '20.00', currency: 'EUR' } })
  checkout = new URL(String(body['checkout_url'])).pathname
}, 60_000)
afterAll(() => shop?.close())

const set = (origins: unknown) => shop.ask('PUT', '/v1/settings/embedding', { body: { origins } })
const read = async () => (await shop.ask('GET', '/v1/settings/embedding')).body['origins']
const policyOf = async (path: string, headers: Record<string, string> = {}) =>
  (await fetch(`${shop.url}${path}`, { headers, redirect: 'manual' })).headers.get('content-security-policy') ?? ''
const ancestorsOf = async (path: string, headers?: Record<string, string>) =>
  /frame-ancestors ([^;]*)/.exec(await policyOf(path, headers))?.[1]

async function member(role: Role): Promise<Visitor> {
  const email = `${role}@embedding.example`
  await signIn(shop, email)
  await execute(
    shop.db,
    sql`insert into membership (merchant_id, person_id, role)
        select ${shop.tenant.merchantId}, id, ${role} from person where email = ${email}`,
  )
  return signIn(shop, email)
}

test('nobody may, until the shop lists somebody; then the page for frames says who, and no other page does', async () => {
  expect([await read(), await ancestorsOf(`${checkout}/frame`)]).toEqual([[], "'none'"])
  const answer = await set(['https://www.shop.example/cart', 'https://shop.example', 'https://SHOP.example'])
  const origins = ['https://shop.example', 'https://www.shop.example']
  expect([answer.status, answer.body]).toEqual([200, { object: 'embedding', origins }])
  expect(await ancestorsOf(`${checkout}/frame`)).toBe(origins.join(' '))
  for (const page of ['', '/go', '/receipt', '/status', '/frame/status', '/nothing'])
    expect([page, await ancestorsOf(checkout + page)]).toEqual([page, "'none'"])
  const told = { origin: 'https://evil.example', referer: 'https://evil.example/', 'sec-fetch-dest': 'iframe' }
  expect(await ancestorsOf(`${checkout}/frame?origins=https://evil.example`, told)).toBe(origins.join(' '))
  await set([])
  expect(await ancestorsOf(`${checkout}/frame`)).toBe("'none'")
})

test('the page for frames has no cookie, no bar of tests, and goes to the page of its own in a tab', async () => {
  await set(['https://shop.example'])
  const framed = await fetch(`${shop.url}${checkout}/frame`, { headers: { 'sec-fetch-dest': 'iframe' } })
  const html = await framed.text()
  expect([framed.status, framed.headers.get('set-cookie'), html.includes('class="sandbox"')]).toEqual([
    200,
    null,
    false,
  ])
  expect(html).toContain('<base target="_blank"/>')
  // All that its messages are made of.
  const data = [...html.matchAll(/ data-(payment|state|origins)="([^"]*)"/g)].map(([, name, value]) => [name, value])
  expect(data).toEqual([
    ['payment', expect.stringMatching(/^pay_/)],
    ['state', 'created'],
    ['origins', 'https://shop.example'],
  ])
  const own = await fetch(`${shop.url}${checkout}`)
  expect(await own.text()).not.toMatch(/<base|data-origins|frame\.\w+\.js/)
  const tab = await fetch(`${shop.url}${checkout}/frame`, {
    headers: { 'sec-fetch-dest': 'document' },
    redirect: 'manual',
  })
  expect([tab.status, tab.headers.get('location')]).toEqual([303, checkout])
  expect((await fetch(`${shop.url}/c/nothing/frame`)).status).toBe(404)
  expect((await fetch(`${shop.url}${checkout}/frame`, { method: 'POST' })).status).toBe(405)
})

test.each([
  ['a star', ['https://*.shop.example']],
  ['everybody', ['*']],
  ['a directive', ['https://shop.example;script-src']],
  ['another page’s device', ['http://shop.example']],
  ['a scheme alone', ['https:']],
  ['eleven', Array.from({ length: 11 }, (_one, index) => `https://shop${index}.example`)],
  ['a word', 'https://shop.example'],
])('%s is refused, and the list stays', async (_name, origins) => {
  await set(['https://shop.example'])
  const answer = await set(origins)
  expectProblem(answer, 400, 'validation_failed')
  expect(await read()).toEqual(['https://shop.example'])
})

test('the database takes nothing that would end the header’s list', async () => {
  const { merchantId } = shop.tenant
  for (const origin of [
    '*',
    'https://*.example',
    "https://a.example; script-src 'unsafe-inline'",
    'https://a.example\n',
    '',
  ])
    await expect(
      execute(shop.db, sql`update merchant set frame_origins = ${[origin]} where id = ${merchantId}`),
    ).rejects.toThrow('frame_origins')
})

describe('in the dashboard', () => {
  test.each(['owner', 'developer'] as const)('%s lists addresses, and the log of the account has it', async (role) => {
    const visitor = await member(role)
    const origins = ' https://Shop.example/ \r\n\r\nhttp://localhost:3000 '
    expect((await visitor.submit('/dashboard/embedding', { origins })).to).toBe('/dashboard/embedding?saved')
    expect(await read()).toEqual(['http://localhost:3000', 'https://shop.example'])
    const log = (await shop.ask('GET', '/v1/audit_log')).body['data'] as Record<string, unknown>[]
    expect(log[0]).toMatchObject({
      action: 'setEmbedding',
      data: { origins: ['https://Shop.example/', 'http://localhost:3000'] },
    })
    const { html } = await visitor.get('/dashboard/embedding')
    expect(html).toContain('http://localhost:3000\nhttps://shop.example</textarea>')
    const wrong = await visitor.submit('/dashboard/embedding', { origins: 'https://*.shop.example' })
    expect([wrong.status, wrong.html.includes('One thing to correct')]).toEqual([400, true])
    expect(wrong.html).toContain('https://*.shop.example</textarea>')
    expect(await read()).toHaveLength(2)
  })

  test.each(['support', 'viewer'] as const)('%s sees them and changes nothing', async (role) => {
    await set(['https://shop.example'])
    const visitor = await member(role)
    const page = await visitor.get('/dashboard/embedding')
    expect([page.html.includes('https://shop.example'), page.html.includes('<textarea')]).toEqual([true, false])
    expect((await visitor.submit('/dashboard/embedding', { origins: '' })).status).toBe(403)
    expect(await read()).toEqual(['https://shop.example'])
  })

  test('a live key cannot change them', async () => {
    const live = await openShop({ mode: 'live' })
    try {
      const answer = await live.ask('PUT', '/v1/settings/embedding', { body: { origins: ['https://evil.example'] } })
      expectProblem(answer, 403, 'step_up_required')
      expect(answer.body['page']).toMatch(/\/dashboard\/embedding$/)
      expect((await live.ask('GET', '/v1/settings/embedding')).body['origins']).toEqual([])
    } finally {
      await live.close()
    }
  })
})

describe('the script for shops', () => {
  test('is under 3 KB, is kept for an hour, and may be asked for by any page', async () => {
    const answer = await fetch(`${shop.url}/pinrail.js`)
    const script = Buffer.from(await answer.arrayBuffer())
    expect(script.length).toBeLessThan(3072)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    })
    // Not by `fetch`, which says with such a question that it wants no answer of a cache.
    const again = await supertest(shop.url)
      .get('/pinrail.js')
      .set('if-none-match', answer.headers.get('etag') ?? '')
    expect(again.status).toBe(304)
  })

  test('is the same file under the address that the guide gives with its hash', async () => {
    const guide = await (await fetch(`${shop.url}/docs/embedding.md`)).text()
    const [, address = ''] = /src="([^"]*\/assets\/pinrail\.\w+\.js)"/.exec(guide) ?? []
    const [named, newest] = await Promise.all(
      [new URL(address).pathname, '/pinrail.js'].map(async (path) => (await fetch(shop.url + path)).text()),
    )
    expect(named).toBe(newest)
  })

  test('and that of the frame speak to one origin each', async () => {
    const frame = /\/assets\/frame\.\w+\.js/.exec(await (await fetch(`${shop.url}${checkout}/frame`)).text())?.[0]
    for (const path of ['/pinrail.js', frame]) {
      const calls = [...(await (await fetch(shop.url + path)).text()).matchAll(/postMessage\((.*)\)/g)]
      expect(calls).toHaveLength(1)
      expect(calls[0]?.[1]).toMatch(/, (home|shop)$/)
    }
  })
})

test('what the document lets through is taken, and what is no address it does not let through', async () => {
  const document = JSON.stringify((await shop.ask('GET', '/openapi.json', { key: null })).body)
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

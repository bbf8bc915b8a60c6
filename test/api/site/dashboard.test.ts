import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../src/db/db.ts'
import { changePayment, type PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import { because, noteOf } from '../../../src/domain/timeline.ts'
import { newId } from '../../../src/ids.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { openAccount } from './account.ts'
import { linkIn, mailsTo, signIn, Visitor } from './visitor.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

const CARD = { provider: 'card_partner', method: 'card' } as const
const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

describe('payments', () => {
  test('are listed newest first, and filtered, searched and sorted by the address of the page alone', async () => {
    const { owner, pay } = await openAccount(shop, 'list@shop.example')
    const ids: string[] = []
    for (let index = 0; index < 120; index++)
      ids.push(
        await pay({
          amount: '10.00',
          currency: index % 2 === 0 ? 'EUR' : 'USD',
          reference: `order-${String(index).padStart(3, '0')}`,
        }),
      )
    const idsOn = (html: string): string[] =>
      [...html.matchAll(/row-link" href="\/dashboard\/payments\/(\w+)"/g)].map((match) => match[1] ?? '')
    const next = (html: string, rel: string): string | null =>
      new RegExp(`href="([^"]+)" rel="${rel}"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? null
    for (const [start, wanted] of [
      ['/dashboard/payments', ids.toReversed()],
      ['/dashboard/payments?sort=oldest', ids],
      ['/dashboard/payments?currency=USD', ids.filter((_, index) => index % 2 === 1).toReversed()],
      ['/dashboard/payments?created=today', ids.toReversed()],
      ['/dashboard/payments?view=succeeded', []],
      ['/dashboard/payments?status=created,failed&q=order-11', ids.slice(110).toReversed()],
      [`/dashboard/payments?q=${ids[7]}`, [ids[7]]],
    ] as const) {
      const seen: string[] = []
      const trail: string[] = []
      for (let at: string | null = start; at !== null; ) {
        const { status, html } = await owner.get(at)
        expect([at, status]).toEqual([at, 200])
        seen.push(...idsOn(html))
        trail.push(at)
        at = next(html, 'next')
      }
      expect([start, seen]).toEqual([start, [...wanted]])
      for (let at: string | null = trail.at(-1) ?? null, page = trail.length - 1; page > 0 && at !== null; page--) {
        const back: string | null = next((await owner.get(at)).html, 'prev')
        expect(idsOn((await owner.get(back ?? '')).html)).toEqual(idsOn((await owner.get(trail[page - 1] ?? '')).html))
        at = back
      }
    }
  })

  test('are exported as they are listed: every one once, as CSV and as JSON, and no cell is a formula', async () => {
    const { owner, pay } = await openAccount(shop, 'export@shop.example')
    const descriptions = [
      '=HYPERLINK("https://evil.example")',
      '+1',
      '-1',
      '@x',
      'a;=1+1',
      '\uff1d1',
      'a "quoted", text',
      'plain',
    ]
    for (const description of descriptions) await pay({ amount: 5, currency: 'EUR', description })
    const csv = await owner.get('/dashboard/payments.csv')
    expect(csv.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-\d{4}-\d\d-\d\d\.csv"$/)
    const lines = csv.html.trimEnd().split('\r\n')
    expect(lines).toHaveLength(1 + descriptions.length)
    expect(lines.filter((line) => /(?:^|[,;])"?[=+@\uff1d-]/.test(line))).toEqual([])
    expect(csv.html).toContain('"a ""quoted"", text"')
    const json = JSON.parse((await owner.get('/dashboard/payments.json?currency=EUR')).html) as {
      description: string
    }[]
    expect(json.map(({ description }) => description).sort()).toEqual(descriptions.toSorted())
    expect(JSON.parse((await owner.get('/dashboard/payments.json?currency=USD')).html)).toEqual([])
  })

  test('a payment shows its amount, next step, money, ids and timeline; what the merchant wrote is text', async () => {
    const { owner, pay } = await openAccount(shop, 'one@shop.example')
    const description = '<script>alert(1)</script><img src=x onerror=alert(1)>'
    const id = await pay({ amount: '1249.50', currency: 'SEK', description, metadata: { cart: '7f31' } })
    const { html } = await owner.get(`/dashboard/payments/${id}`)
    for (const text of [
      '1,249.50 SEK',
      'Send the buyer to the checkout',
      'You would receive',
      id,
      '7f31',
      'The payment was created',
      `curl http`,
    ])
      expect(html).toContain(text)
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('<img src=x')
  })

  test('without money says that nothing came yet, and once it is over that nothing came', async () => {
    const { owner, pay } = await openAccount(shop, 'nothing@shop.example')
    const id = await pay({ amount: '10.00', currency: 'EUR' })
    const read = async () =>
      / Nothing(?: yet)? /.exec(textOf((await owner.get('/dashboard/payments')).html))?.[0].trim()
    expect(await read()).toBe('Nothing yet')
    const context = { publicUrl: shop.url, now: Date.now }
    await changePayment(shop.db, context, { id, work: (payment) => payment.move('canceled', because('canceled')) })
    expect(await read()).toBe('Nothing')
    const page = textOf((await owner.get(`/dashboard/payments/${id}`)).html)
    expect(page).toContain('You receive Nothing')
    expect(page).not.toContain('You would receive')
  })

  // it went on to promise what the payout would have been
  test('whose payout is void receives nothing, and one that ends by itself is looked at by nobody', async () => {
    const { owner, pay } = await openAccount(shop, 'void@shop.example')
    const id = await pay({ amount: '10.00', currency: 'EUR' })
    const parkedAs = async (reason: string) => {
      await shop.db.query(
        `update payment set status = 'under_review', park_reason = $2, status_reason = $2,
           gross_micro = 11000000, fee_micro = 495000, net_micro = 10505000 where id = $1`,
        [id, reason],
      )
      return textOf((await owner.get(`/dashboard/payments/${id}`)).html)
    }
    const looks = 'An operator of Pinrail looks at it.'
    const reversed = await parkedAs('funds_reversed')
    expect([reversed.includes(looks), reversed.includes('10.505000')]).toEqual([false, true])
    const voided = await parkedAs('payout_voided')
    expect([voided.includes(looks), voided.includes('10.505000')]).toEqual([true, false])
    expect(voided).toContain('You receive Nothing')
  })

  test('one of another account, of no account, and nonsense get the same page', async () => {
    const { owner } = await openAccount(shop, 'two@shop.example')
    const { pay } = await openAccount(shop, 'three@shop.example')
    const foreign = await pay({ amount: 5, currency: 'EUR' })
    const pages = []
    for (const id of [foreign, 'pay_01m804v6xffqc8dqr8b1t1nxw5', 'nonsense', '%00', 'a%2fb']) {
      const { status, html } = await owner.get(`/dashboard/payments/${id}`)
      pages.push({ status, html: html.replace(/req_\w+/g, '') })
    }
    expect(new Set(pages.slice(0, 3).map(({ html }) => html)).size).toBe(1)
    expect(pages.every(({ status }) => status === 404 || status === 400)).toBe(true)
  })
})

test('the success rate of today counts what ended today, and not what was only written today', async () => {
  const { owner, pay } = await openAccount(shop, 'rate@shop.example')
  const change = (id: string, at: number, work: (payment: PaymentWork) => Promise<void>) =>
    changePayment(shop.db, { publicUrl: shop.url, now: () => at }, { id, work })
  const end = async (at: number): Promise<string> => {
    const id = await pay({ amount: 10, currency: 'EUR' })
    await change(id, at, async (work) => {
      await work.addAttempt({ id: newId('attempt'), ...CARD, asked: work.state.payment.amount })
      await work.move('expired', because('expired'))
    })
    return id
  }
  const shown = async (): Promise<string> => textOf((await owner.get('/dashboard')).html)
  const old = await end(Date.now() - 2 * 86_400_000)
  await change(old, Date.now(), (work) => work.change(noteOf('payment.listening_ended'), { listenEnded: true }))
  expect(await shown()).toContain('Nothing has ended today')
  await end(Date.now())
  expect(await shown()).toContain('0 of 1 that were tried and ended')
})

describe('the team', () => {
  test('an invited person joins with the role, and every change is in the log', async () => {
    const { owner } = await openAccount(shop, 'boss@shop.example')
    expect((await owner.submit('/dashboard/team/invite', { email: 'Dev@Shop.example', role: 'developer' })).to).toBe(
      '/dashboard/team',
    )
    expect((await mailsTo(shop, 'dev@shop.example')).at(-1)?.text).toContain('Halden Coffee')
    const dev = await signIn(shop, 'dev@shop.example')
    const welcome = await dev.get('/dashboard/welcome')
    const account = /name="account" value="(\w+)"/.exec(welcome.html)?.[1] ?? ''
    expect((await dev.submit('/dashboard/accounts/join', { account })).to).toBe('/dashboard')
    expect((await dev.submit('/dashboard/accounts/join', { account })).status).toBe(404)
    expect((await dev.submit('/dashboard/team/invite', { email: 'x@shop.example', role: 'owner' })).status).toBe(403)
    const team = await owner.get('/dashboard/team')
    for (const text of ['dev@shop.example', 'member invited: developer', 'member joined: developer', 'account created'])
      expect(team.html).toContain(text)
    const person = /name="person" value="(\w+)"/.exec(team.html)?.[1] ?? ''
    expect((await owner.submit('/dashboard/team/remove', { person })).to).toBe('/dashboard/team')
    expect((await dev.get('/dashboard')).to).toBe('/dashboard/welcome')
  })

  test('an account keeps an owner, and nobody reaches into the team of another', async () => {
    const [first, second] = [
      await openAccount(shop, 'own-1@shop.example'),
      await openAccount(shop, 'own-2@shop.example'),
    ]
    const rows = await many(
      shop.db,
      z.object({ person_id: z.string(), merchant_id: z.string() }),
      sql`select person_id, merchant_id from membership where merchant_id = any(${[first.tenant.merchantId, second.tenant.merchantId]}::text[])`,
    )
    const self = rows.find((row) => row.merchant_id === first.tenant.merchantId)?.person_id ?? ''
    const other = rows.find((row) => row.merchant_id === second.tenant.merchantId)?.person_id ?? ''
    expect((await first.owner.submit('/dashboard/team/role', { person: self, role: 'viewer' })).status).toBe(409)
    expect((await first.owner.submit('/dashboard/team/remove', { person: self })).status).toBe(409)
    expect((await first.owner.submit('/dashboard/team/remove', { person: other })).status).toBe(404)
    expect((await first.owner.submit('/dashboard/team/role', { person: other, role: 'viewer' })).status).toBe(404)
    expect((await second.owner.get('/dashboard/team')).html).toContain('Invite somebody')
  })
})

describe('pages for browsers, problems for programs', () => {
  test.each([
    ['/', 200],
    ['/nothing', 404],
    ['/dashboard/nothing', 404],
    ['/sign-in/nothing', 404],
  ])('%s', async (path, status) => {
    const page = await new Visitor(shop).get(path)
    expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.html).not.toMatch(/ style=| on\w+=|<script>/)
  })

  test('a program gets a problem for the same path, and robots and icons are there', async () => {
    const answer = await fetch(`${shop.url}/nothing`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ])
    expect(await (await fetch(`${shop.url}/robots.txt`)).text()).toContain('Disallow: /c/')
    expect((await fetch(`${shop.url}/favicon.ico`)).headers.get('content-type')).toContain('image/svg+xml')
  })

  test('a session never signs a program in, and a key never a page', async () => {
    const { owner, key } = await openAccount(shop, 'both@shop.example')
    const session = owner.cookies.get('pinrail_session') ?? ''
    const byCookie = await fetch(`${shop.url}/v1/payments`, { headers: { cookie: `pinrail_session=${session}` } })
    expect(byCookie.status).toBe(401)
    const byKey = await new Visitor(shop).get('/dashboard', { authorization: `Bearer ${key}` })
    expect(byKey.to).toContain('/sign-in')
  })
})

test('over https the cookies are bound to the host, and come from nobody else', async () => {
  const secure = await openShop({ deps: () => ({ publicUrl: 'https://pay.pinrail.example' }) })
  try {
    const visitor = new Visitor(secure)
    const asked = await visitor.post('/sign-in', { email: 'safe@shop.example' })
    expect(asked.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-pinrail_browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=900$/),
    ])
    const done = await visitor.post((await linkIn(secure, 'safe@shop.example')).path)
    expect(done.headers.getSetCookie()[0]).toMatch(
      /^__Host-pinrail_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    const name = '__Host-pinrail_session'
    const planted = new Visitor(secure)
    planted.cookies.set('pinrail_session', visitor.cookies.get(name) ?? '')
    expect((await planted.get('/dashboard')).to).toContain('/sign-in')
  } finally {
    await secure.close()
  }
})

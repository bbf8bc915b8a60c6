import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import express from 'express'
import { pino } from 'pino'
import { z } from 'zod'
import { until } from '../../../scripts/test/until.ts'
import { createCookies } from '../../../src/api/accounts/cookies.ts'
import { createTurns } from '../../../src/api/limits/turns.ts'
import { mountPages } from '../../../src/api/routes/dashboard/mount.ts'
import { definePage, type Page, type PageCall } from '../../../src/api/routes/dashboard/page.ts'
import { siteProblemHandler } from '../../../src/api/routes/site-problem.ts'
import { many, sql } from '../../../src/db/db.ts'
import { newId } from '../../../src/ids.ts'
import { type Change, changeLockedPayment } from '../../../src/payments/change-payment.ts'
import { PLAIN_PLATFORM } from '../../support/platforms.ts'
import { movePayment } from '../checkout/checkout-fixture.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'
import { openAccount } from './account.ts'
import { composedPages } from './pages.ts'
import { linkIn, mailsTo, signIn, signUp, Visitor } from './visitor.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
})
afterAll(() => testApi?.close())

/** `at`: Unix milliseconds. */
const change = (id: string, change: Change, at = Date.now()) =>
  testApi.db.transaction((tx) => changeLockedPayment(tx, { publicUrl: testApi.url, now: () => at }, { id, change }))

describe('The first steps of a new account', () => {
  const handed: string[] = []
  const url = 'http://127.0.0.1:4301'
  let local: TestApi
  beforeAll(async () => {
    const inbox = { url, handOver: async (secret: string) => void handed.push(secret) }
    local = await openTestApi({
      deps: () => ({ inbox, webhookTargets: { mode: 'test', testTargets: ['127.0.0.1:4301'] } }),
    })
  })
  afterAll(() => local?.close())

  test('each first step takes one press: a test wallet, the inbox as an endpoint, a key whose printed call works', async () => {
    const owner = await signUp(local, 'first@shop.example')
    const press = async (step: string, form = {}) => {
      const { status, to } = await owner.submit(`/dashboard/first-steps/${step}`, form)
      expect([step, status, to]).toEqual([step, 303, '/dashboard'])
      return (await owner.get('/dashboard')).html
    }
    const withWallet = await press('wallet', { test: 'on' })
    expect(withWallet).toMatch(/role="status"[^]*The wallet is saved[^]*title="0x[0-9a-fA-F]{40}"/)
    expect((await owner.get('/dashboard')).html).not.toContain('The wallet is saved')
    expect(await press('webhook')).toContain('3 of 6 done')
    expect(handed).toEqual([expect.stringMatching(/^whsec_/)])
    const made = await owner.submit('/dashboard/first-steps/key', { once: 'first-key' })
    const command = /<code[^>]*>(curl -s [^<]+)<\/code>/.exec(made.html)?.[1]?.replaceAll('&quot;', '"') ?? ''
    const key = /Bearer ([^']+)'/.exec(command)?.[1] ?? null
    const body = /-d '([^']+)'/.exec(command)?.[1] ?? ''
    expect((await local.ask('POST', '/v1/payments', { key, body })).status).toBe(201)
    const again = await owner.submit('/dashboard/first-steps/key', { once: 'first-key' })
    expect(again.html).toContain(key)
    expect((await owner.get('/dashboard')).html).not.toContain(key)
  })

  test('the first steps refuse an invalid address next to its field, and never replace a wallet that is set', async () => {
    const owner = await signUp(local, 'first-wrong@shop.example')
    const wrong = await owner.submit('/dashboard/first-steps/wallet', { address: '0x12' })
    expect([wrong.status, wrong.html.includes('aria-invalid="true"')]).toEqual([400, true])
    await owner.submit('/dashboard/first-steps/wallet', { test: 'on' })
    const { html: before } = await owner.get('/dashboard/wallet')
    await owner.submit('/dashboard/first-steps/wallet', { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
    expect((await owner.get('/dashboard/wallet')).html).not.toContain('0x70997970')
    expect(before).toContain('Checksum valid')
  })

  test('the first steps show the side bar once there is an account, and the sent page names the address and the mail inbox', async () => {
    const visitor = new Visitor(local)
    const email = 'no-account@shop.example'
    await visitor.post('/sign-in', { email })
    const sent = (await visitor.get('/sign-in/sent')).html
    expect([sent.includes(`<b>${email}</b>`), sent.includes(`href="${url}/mail"`)]).toEqual([true, true])
    expect(sent).toMatch(new RegExp(`action="/sign-in"[^]*name="email" value="${email}"[^]*Send it again`))
    await visitor.post((await linkIn(local, email)).path)
    expect((await visitor.get('/dashboard/welcome')).html).not.toContain('<nav')
    await visitor.submit('/dashboard/accounts', { name: 'Halden Coffee' })
    expect((await visitor.get('/dashboard')).html).toContain('<nav')
  })

  test('the first steps lead to a payment that is created in the dashboard, whose page has the link to copy and follows it', async () => {
    const { owner } = await openAccount(local, 'new-payment@shop.example')
    const form = { amount: '12.50', currency: 'EUR', reference: 'by telephone', once: 'one-press' }
    const made = await owner.submit('/dashboard/payments', form)
    expect([made.status, (await owner.submit('/dashboard/payments', form)).to]).toEqual([303, made.to])
    const { html } = await owner.get(made.to ?? '')
    const checkout = /data-copy="([^"]+\/c\/[^"]+)"/.exec(html)?.[1] ?? ''
    expect(html).toContain('The payment is created.')
    expect(html).toContain(`data-follow="${new URL(checkout).pathname}/live?knows=`)
    const wrong = await owner.submit('/dashboard/payments', { ...form, amount: 'twelve', once: 'another' })
    expect([wrong.status, wrong.html.includes('aria-invalid="true"')]).toEqual([400, true])
  })
})

describe('The pages of the dashboard', () => {
  const CARD = { provider: 'card_partner', method: 'card' } as const
  const stripTags = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

  describe('payments', () => {
    test('payments are listed newest first, and filtered, searched and sorted by the URL of the page alone', async () => {
      const { owner, pay } = await openAccount(testApi, 'list@shop.example')
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
          expect(idsOn((await owner.get(back ?? '')).html)).toEqual(
            idsOn((await owner.get(trail[page - 1] ?? '')).html),
          )
          at = back
        }
      }
    })

    test('payments are exported as they are listed: every one once, as CSV and as JSON, and no cell is a formula', async () => {
      const { owner, pay } = await openAccount(testApi, 'export@shop.example')
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
      const { owner, pay } = await openAccount(testApi, 'one@shop.example')
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

    test('a payment shows an operator’s decision, without the operator’s name and reason', async () => {
      const { owner, pay } = await openAccount(testApi, 'held@shop.example')
      const id = await pay({ amount: '10.00', currency: 'EUR' })
      await change(id, (draft) => {
        draft.setCause({ say: 'hold', data: { operator: 'Ada Lovelace', reason: 'looks like fraud', outside: false } })
        draft.setPayment({ held: true })
      })
      const { html } = await owner.get(`/dashboard/payments/${id}`)
      expect(html).toContain('An operator holds the payment')
      expect(html).not.toMatch(/Lovelace|fraud/)
    })

    test('a payment without money says that nothing arrived yet, and after its end that nothing arrived', async () => {
      const { owner, pay } = await openAccount(testApi, 'nothing@shop.example')
      const id = await pay({ amount: '10.00', currency: 'EUR' })
      const read = async () =>
        / Nothing(?: yet)? /.exec(stripTags((await owner.get('/dashboard/payments')).html))?.[0].trim()
      expect(await read()).toBe('Nothing yet')
      await change(id, (draft) => draft.setPayment({ closedAs: 'canceled' }))
      expect(await read()).toBe('Nothing')
      const page = stripTags((await owner.get(`/dashboard/payments/${id}`)).html)
      expect(page).toContain('You receive Nothing')
      expect(page).not.toContain('You would receive')
    })

    test('half of the USDC is Paid in part on the merchant’s page and in the list, with the amounts that were asked, paid and are missing', async () => {
      const { owner, pay } = await openAccount(testApi, 'part@shop.example')
      const id = await pay({ amount: '100.00', currency: 'EUR' })
      const attemptId = newId('attempt')
      await change(id, (draft) => {
        draft.addAttempt({ id: attemptId, provider: 'crypto', method: 'usdc', asked: draft.state.payment.amount })
        draft.setAttempt(attemptId, { status: 'open', redirectUrl: testApi.url, askedMicro: '115766496' })
      })
      expect((await owner.get(`/dashboard/payments/${id}`)).status).toBe(200)
      await change(id, (draft) => draft.setAttempt(attemptId, { held: '57883248' }))
      const page = stripTags((await owner.get(`/dashboard/payments/${id}`)).html)
      expect(page).toMatch(/Paid in part .*Asked 100\.00 EUR Paid 50\.00 EUR Missing 50\.00 EUR/)
      expect(stripTags((await owner.get('/dashboard/payments')).html)).toMatch(/100\.00 EUR Paid in part .* USDC /)
      const other = await openAccount(testApi, 'not-part@shop.example')
      expect((await other.owner.get(`/dashboard/payments/${id}`)).status).toBe(404)
    })

    // A void payout must not show the amount that it would have paid.
    test('a payment whose payout is void receives nothing, and one that ends automatically needs no look', async () => {
      const { owner, pay } = await openAccount(testApi, 'void@shop.example')
      const id = await pay({ amount: '10.00', currency: 'EUR' })
      const lookAt = async (payout: 'voiding' | 'void', reviews: readonly object[]) => {
        await testApi.db.query(
          `update payment set status = 'under_review', payout = $2, status_reason = 'excess', reviews = $3,
             gross_micro = 11000000, fee_micro = 495000, net_micro = 10505000 where id = $1`,
          [id, payout, JSON.stringify(reviews)],
        )
        return stripTags((await owner.get(`/dashboard/payments/${id}`)).html)
      }
      const looks = 'We are reviewing it.'
      const reversed = await lookAt('voiding', [])
      expect([reversed.includes(looks), reversed.includes('10.505000')]).toEqual([false, true])
      const voided = await lookAt('void', [{ reason: 'excess', attemptId: null, text: 'for operators only' }])
      expect([voided.includes(looks), voided.includes('10.505000')]).toEqual([true, false])
      expect(voided).not.toContain('for operators only')
      expect(voided).toContain('You receive Nothing')
    })

    test('a second payment is shown as held for the buyer until its partner has given it back', async () => {
      const { owner, pay } = await openAccount(testApi, 'twice@shop.example')
      const id = await pay({ amount: '10.00', currency: 'EUR' })
      await movePayment({ change }, id, ['pending', 'settling', 'succeeded'])
      const second = newId('attempt')
      await change(id, (draft) => {
        draft.addAttempt({ id: second, ...CARD, asked: draft.state.payment.amount })
        draft.setAttempt(second, { status: 'paid', held: '1000' })
      })
      const read = async () => stripTags((await owner.get(`/dashboard/payments/${id}`)).html)
      expect(await read()).toMatch(/Another payment of 10\.00 EUR arrived for it.*Card, held for the buyer 10\.00 EUR/)
      await change(id, (draft) => draft.setAttempt(second, { status: 'refunded', held: '0', returned: true }))
      expect(await read()).toMatch(/Another payment of 10\.00 EUR went back to the buyer.*Card, returned 10\.00 EUR/)
    })

    test('the overview explains what waits in the merchant’s words, and never in those for operators', async () => {
      const { owner, pay } = await openAccount(testApi, 'waits@shop.example')
      const id = await pay({ amount: '10.00', currency: 'EUR' })
      const reviewed = async (payout: string, reason: string) => {
        const reviews = [{ reason, attemptId: null, text: 'for operators: only' }]
        await testApi.db.query(
          `update payment set status = 'under_review', payout = $2, status_reason = $3, reviews = $4, review_since = now()
           where id = $1`,
          [id, payout, reason, JSON.stringify(reviews)],
        )
        return stripTags((await owner.get('/dashboard')).html)
      }
      const withheld = await reviewed('none', 'withheld')
      expect(withheld).toContain('The partner withholds the money while it checks the payment. Do not ship yet.')
      const voided = await reviewed('void', 'excess')
      expect(voided).toContain('You receive nothing for this payment. Do not ship.')
      for (const page of [withheld, voided]) expect(page).not.toContain('for operators')
    })

    test('a payment of another account, a payment of no account, and nonsense get the same page', async () => {
      const { owner } = await openAccount(testApi, 'two@shop.example')
      const { pay } = await openAccount(testApi, 'three@shop.example')
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

  test('today’s success rate counts payments that ended today, and not those that were only updated today', async () => {
    const { owner, pay } = await openAccount(testApi, 'rate@shop.example')
    const end = async (at: number): Promise<string> => {
      const id = await pay({ amount: 10, currency: 'EUR' })
      const open = { id: newId('attempt'), ...CARD }
      await change(id, (draft) => draft.addAttempt({ ...open, asked: draft.state.payment.amount }), at)
      await change(id, (draft) => draft.setPayment({ closedAs: 'expired' }), at)
      return id
    }
    const shown = async (): Promise<string> => stripTags((await owner.get('/dashboard')).html)
    const old = await end(Date.now() - 2 * 86_400_000)
    await change(old, (draft) => draft.setPayment({ listenEnded: true }))
    expect(await shown()).toContain('No payment has finished today')
    await end(Date.now())
    expect(await shown()).toContain('0 of 1 finished payments succeeded')
  })

  describe('The team', () => {
    test('an invited person joins with the role, and every change is in the log', async () => {
      const { owner } = await openAccount(testApi, 'boss@shop.example')
      expect((await owner.submit('/dashboard/team/invite', { email: 'Dev@Shop.example', role: 'developer' })).to).toBe(
        '/dashboard/team',
      )
      const mail = (await mailsTo(testApi, 'dev@shop.example')).at(-1)
      expect(mail?.text).toContain('Halden Coffee')
      // A stranger reads the subject first, so only the platform writes it.
      expect(mail?.subject).toBe('You are invited to an account at Pinrail')
      const dev = await signIn(testApi, 'dev@shop.example')
      const welcome = await dev.get('/dashboard/welcome')
      const account = /name="account" value="(\w+)"/.exec(welcome.html)?.[1] ?? ''
      expect((await dev.submit('/dashboard/accounts/join', { account })).to).toBe('/dashboard')
      expect((await dev.submit('/dashboard/accounts/join', { account })).status).toBe(404)
      expect((await dev.submit('/dashboard/team/invite', { email: 'x@shop.example', role: 'owner' })).status).toBe(403)
      const team = await owner.get('/dashboard/team')
      for (const text of [
        'dev@shop.example',
        'member invited: developer',
        'member joined: developer',
        'account created',
      ])
        expect(team.html).toContain(text)
      const person = /name="person" value="(\w+)"/.exec(team.html)?.[1] ?? ''
      expect((await owner.submit('/dashboard/team/remove', { person })).to).toBe('/dashboard/team')
      expect((await dev.get('/dashboard')).to).toBe('/dashboard/welcome')
    })

    test('an account keeps an owner, and nobody changes the team of another', async () => {
      const [first, second] = [
        await openAccount(testApi, 'own-1@shop.example'),
        await openAccount(testApi, 'own-2@shop.example'),
      ]
      const rows = await many(
        testApi.db,
        z.object({ person_id: z.string(), merchant_id: z.string() }),
        sql`select person_id, merchant_id from membership where merchant_id = any(${[first.tenant.merchantId, second.tenant.merchantId]}::text[])`,
      )
      const self = rows.find((row) => row.merchant_id === first.tenant.merchantId)?.person_id ?? ''
      const other = rows.find((row) => row.merchant_id === second.tenant.merchantId)?.person_id ?? ''
      expect((await first.owner.submit('/dashboard/team/role', { person: self, role: 'viewer' })).status).toBe(409)
      expect((await first.owner.submit('/dashboard/team/remove', { person: self })).status).toBe(409)
      expect((await first.owner.submit('/dashboard/team/remove', { person: other })).status).toBe(404)
      expect((await first.owner.submit('/dashboard/team/role', { person: other, role: 'viewer' })).status).toBe(404)
      expect((await second.owner.get('/dashboard/team')).html).toContain('Invite someone')
    })
  })

  describe('Pages for browsers, problems for programs', () => {
    test.each([
      ['/', 200],
      ['/pricing', 200],
      ['/nothing', 404],
      ['/dashboard/nothing', 404],
      ['/sign-in/nothing', 404],
    ])('a browser gets a page with its policy: %s', async (path, status) => {
      const page = await new Visitor(testApi).get(path)
      expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(page.html).not.toMatch(/ style=| on\w+=|<script>/)
    })

    test('a program gets a problem for the same path, and robots and icons have their files', async () => {
      const answer = await fetch(`${testApi.url}/nothing`)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        404,
        'application/problem+json; charset=utf-8',
      ])
      expect(await (await fetch(`${testApi.url}/robots.txt`)).text()).toContain('Disallow: /c/')
      expect((await fetch(`${testApi.url}/favicon.ico`)).headers.get('content-type')).toContain('image/svg+xml')
    })

    test('a session never signs a program in, and a key never a page', async () => {
      const { owner, key } = await openAccount(testApi, 'both@shop.example')
      const session = owner.cookies.get('pinrail_session') ?? ''
      const byCookie = await fetch(`${testApi.url}/v1/payments`, { headers: { cookie: `pinrail_session=${session}` } })
      expect(byCookie.status).toBe(401)
      const byKey = await new Visitor(testApi).get('/dashboard', { authorization: `Bearer ${key}` })
      expect(byKey.to).toContain('/sign-in')
    })
  })

  test('over https the cookies are bound to the host, and cookies of another host are ignored', async () => {
    const secure = await openTestApi({ deps: () => ({ publicUrl: 'https://pay.pinrail.example' }) })
    try {
      const visitor = new Visitor(secure)
      const asked = await visitor.post('/sign-in', { email: 'safe@shop.example' })
      expect(asked.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-pinrail_browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=900$/,
        ),
        expect.stringMatching(/^__Host-pinrail_sent=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=900$/),
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
})

describe('Mounting the pages', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  test('a page whose query forgets to filter by owner reads nothing of another account', async () => {
    await testApi.ask('POST', '/v1/payments', { body: { amount: 5, currency: 'EUR' } })
    const owner = await signUp(testApi, 'forgetful@shop.example')
    const page = definePage({
      method: 'get',
      path: '/dashboard/forgets',
      needs: 'look',
      handle: async ({ db }) => {
        const seen = await db.query(
          `select (select count(*) from payment) + (select count(*) from api_key) + (select count(*) from attention) as n`,
        )
        const people = await db.query('select count(*) from person').catch((error: Error) => error.message)
        return { html: JSON.stringify([Number(seen.rows[0]?.n), people]) }
      },
    })
    await visiting(page, owner, async (visitor) => {
      expect(JSON.parse((await visitor.get('/dashboard/forgets')).html)).toEqual([
        0,
        'permission denied for table person',
      ])
    })
  })

  test('a page of a list reads from one moment, and a file from a new one for each piece', async () => {
    const owner = await signUp(testApi, 'moments@shop.example')
    for (const [lists, moments] of [
      ['at once', 1],
      ['in pieces', 2],
    ] as const) {
      const handle = async ({ db }: PageCall) => {
        const began = async () => String((await db.query('select now()::text as at')).rows[0]?.at)
        return { html: JSON.stringify([await began(), await began()]) }
      }
      const page = definePage({ method: 'get', path: '/dashboard/moments', needs: 'look', lists, handle })
      await visiting(page, owner, async (visitor) => {
        const seen = JSON.parse((await visitor.get('/dashboard/moments')).html) as string[]
        expect(new Set(seen).size).toBe(moments)
      })
    }
  })

  test('one person loads six files at once, in progress or queued, whichever account they belong to', async () => {
    const owner = await signUp(testApi, 'loads@shop.example')
    let [running, most] = [0, 0]
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const page = definePage({
      method: 'get',
      path: '/dashboard/all.csv',
      needs: 'look',
      makes: 'file',
      handle: async () => {
        running += 1
        most = Math.max(most, running)
        await ended
        running -= 1
        return { html: 'made' }
      },
    })
    await visiting(page, owner, async (visitor) => {
      const load = () => visitor.get('/dashboard/all.csv').then(({ status }) => status)
      const statuses: number[] = []
      const loads = Array.from({ length: 10 }, load)
      await until(
        async () => running,
        (count) => count === 2,
      )
      expect((await owner.submit('/dashboard/accounts', { name: 'Second shop' })).status).toBe(303)
      const others = Array.from({ length: 3 }, load)
      for (const each of [...loads, ...others]) void each.then((status) => statuses.push(status))
      await until(
        async () => statuses.length,
        (count) => count > 0,
      )
      expect(statuses).toEqual([429])
      end()
      expect((await Promise.all([...loads, ...others])).toSorted((a, b) => a - b)).toEqual([
        ...Array(12).fill(200),
        429,
      ])
      expect(most).toBe(2)
    })
  })

  test.each([
    ['lists', { lists: 'at once' }],
    ['other pages', {}],
  ] as const)('%s of a person are read three at once, and the rest takes turns', async (name, kind) => {
    const owner = await signUp(testApi, `turns-${name.replace(' ', '-')}@shop.example`)
    let [running, most, asked] = [0, 0, 0]
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const page = definePage({
      method: 'get',
      path: '/dashboard/listed',
      needs: 'look',
      ...kind,
      handle: async () => {
        asked += 1
        running += 1
        most = Math.max(most, running)
        await ended
        running -= 1
        return { html: 'listed' }
      },
    })
    await visiting(page, owner, async (visitor) => {
      const loads = Array.from({ length: 16 }, () => visitor.get('/dashboard/listed'))
      await until(
        async () => running,
        (count) => count === 3,
      )
      end()
      expect((await Promise.all(loads)).map(({ status }) => status)).toEqual(Array(16).fill(200))
      expect([most, asked]).toEqual([3, 16])
    })
  })

  test('the page of a delivery is shown without its signature if its secret cannot be opened', async () => {
    const { owner, tenant, key } = await openAccount(testApi, 'sealed@shop.example')
    const url = 'https://shop.example/hooks'
    const { body } = await testApi.ask('POST', '/v1/webhook_endpoints', { key, body: { url } })
    const endpoint = String(body['id'])
    const { body: sent } = await testApi.ask('POST', `/v1/webhook_endpoints/${endpoint}/test`, { key })
    await testApi.db.query(
      `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status)
       values ($1, $2, 1, now(), 10, 401)`,
      [sent['event'], endpoint],
    )
    const page = `/dashboard/webhooks/${endpoint}/deliveries/${String(sent['event'])}`
    expect((await owner.get(page)).html).toContain('webhook-signature: v1,')
    await testApi.db.query(
      `update webhook_endpoint set secrets = jsonb_set(secrets, '{0,sealed}', '"v2.lost.AAAA"') where merchant_id = $1`,
      [tenant.merchantId],
    )
    const { status, html } = await owner.get(page)
    expect([status, html.includes('webhook-signature: (not available')]).toEqual([200, true])
  })

  test('the page of a delivery to a plugin of a shop shows what was sent in that format', async () => {
    const { owner, tenant, key } = await openAccount(testApi, 'plugin@shop.example')
    const at = `${testApi.url}/btcpay/api/v1/stores/${tenant.merchantId}`
    const make = async (path: string, body: object) => {
      const headers = { authorization: `token ${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${at}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return String(((await response.json()) as { id: string }).id)
    }
    const endpoint = await make('/webhooks', {
      url: 'https://shop.example/hooks',
      secret: 'my-shop-secret-2026',
      authorizedEvents: { everything: true },
    })
    const payment = await make('/invoices', { amount: '10', currency: 'EUR' })
    const { rows } = await testApi.db.query('select event_id from delivery where endpoint_id = $1', [endpoint])
    const [{ event_id: event }] = rows as [{ event_id: string }]
    await testApi.db.query(
      `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status)
       values ($1, $2, 1, now(), 10, 401)`,
      [event, endpoint],
    )
    const { status, html } = await owner.get(`/dashboard/webhooks/${endpoint}/deliveries/${event}`)
    expect(status).toBe(200)
    expect(html).toContain('BTCPay-Sig: sha256=')
    expect(html).toContain('InvoiceCreated')
    expect(html).toContain(payment)
    expect(html).not.toContain('webhook-signature')
  })

  test('every page with lists and sums reads them on one connection in a turn', async () => {
    const { tenant, key } = await openAccount(testApi, 'lists@shop.example')
    const make = async (path: string, body: object) =>
      String((await testApi.ask('POST', path, { key, body })).body['id'])
    const webhooks = await make('/v1/webhook_endpoints', { url: 'https://shop.example/hooks' })
    const pages = composedPages().filter(({ method }) => method === 'get')
    const inTurns = pages.flatMap(({ path, lists }) => (lists === 'at once' ? [path] : []))
    expect(inTurns.toSorted()).toEqual(
      ['balance', 'disputes', 'events', 'links', 'payments', 'refunds', 'requests'].map((name) => `/dashboard/${name}`),
    )
    // These pages also read or write what must be on the main database, so they request the turn themselves.
    const asking = { '': '', '/wallet': '', '/webhooks': '', '/webhooks/:id': webhooks }
    for (const [path, id] of Object.entries(asking)) {
      const page = pages.find((one) => one.path === `/dashboard${path}`)
      const inTurn = () => Promise.reject(new Error('asked for its turn'))
      const request = { get: () => undefined }
      const call = {
        request,
        frame: {},
        query: {},
        params: { id },
        role: 'owner',
        tenant,
        db: testApi.db.as(tenant),
        inTurn,
      }
      await expect(page?.handle(call as never)).rejects.toThrow('asked for its turn')
    }
  })

  /** Requests only the page, by the owner's browser. */
  async function visiting(page: Page, owner: Visitor, work: (visitor: Visitor) => Promise<void>): Promise<void> {
    const publicUrl = 'http://127.0.0.1:4242'
    const cookies = createCookies(publicUrl)
    const limits = { countPerson: () => undefined }
    const deps = {
      db: testApi.db,
      cookies,
      secretBox: testApi.secretBox,
      clock: Date.now,
      newSessionId: () => '',
      publicUrl,
      otherModeUrl: null,
      platform: PLAIN_PLATFORM,
      limits,
      turns: createTurns(),
    }
    const app = express().use(mountPages([page], deps))
    app.use(siteProblemHandler({ log: pino({ level: 'silent' }), platform: PLAIN_PLATFORM }))
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const visitor = new Visitor({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
      visitor.cookies.set('pinrail_session', owner.cookies.get('pinrail_session') ?? '')
      await work(visitor)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  // The matrix reads the needed role from each page, so a page that requires too little would pass it.
  test('each page requires of a person exactly the recorded ability', () => {
    const table = composedPages().map(
      ({ method, path, needs, fresh, makes }) =>
        `${method} ${path}: ${needs}${fresh === undefined ? '' : ', confirmed'}${makes === undefined ? '' : `, a ${makes}`}`,
    )
    expect(table.toSorted()).toEqual([
      'get /dashboard/account/data.json: person, confirmed, a file',
      'get /dashboard/account/delete: person',
      'get /dashboard/account: person',
      'get /dashboard/accounts/claim/:secret: person',
      'get /dashboard/agreement: look',
      'get /dashboard/balance.csv: look, a file',
      'get /dashboard/balance: look',
      'get /dashboard/brand/preview: look',
      'get /dashboard/brand: look',
      'get /dashboard/confirm: person',
      'get /dashboard/deductions: look',
      'get /dashboard/disputes/:id: look',
      'get /dashboard/disputes: look',
      'get /dashboard/embedding: look',
      'get /dashboard/events/:id: look',
      'get /dashboard/events: look',
      'get /dashboard/keys/:id: look',
      'get /dashboard/keys/new: develop',
      'get /dashboard/keys: look',
      'get /dashboard/links/:id/edit: sell',
      'get /dashboard/links/:id: look',
      'get /dashboard/links/claim/:ticket: own',
      'get /dashboard/links/new: sell',
      'get /dashboard/links/preview: sell',
      'get /dashboard/links: look',
      'get /dashboard/notifications/:id: look',
      'get /dashboard/notifications/new/:kind: develop',
      'get /dashboard/notifications/telegram: develop',
      'get /dashboard/notifications: look',
      'get /dashboard/passkey: person, confirmed',
      'get /dashboard/payments.csv: look, a file',
      'get /dashboard/payments.json: look, a file',
      'get /dashboard/payments/:id/refund: sell',
      'get /dashboard/payments/:id: look',
      'get /dashboard/payments/new: sell',
      'get /dashboard/payments: look',
      'get /dashboard/refunds/:id: look',
      'get /dashboard/refunds: look',
      'get /dashboard/requests: look',
      'get /dashboard/team: look',
      'get /dashboard/wallet/change: own',
      'get /dashboard/wallet: look',
      'get /dashboard/webhooks/:id/delete: develop',
      'get /dashboard/webhooks/:id/deliveries/:event: look',
      'get /dashboard/webhooks/:id/edit: develop',
      'get /dashboard/webhooks/:id/rotate: develop',
      'get /dashboard/webhooks/:id: look',
      'get /dashboard/webhooks/new: develop',
      'get /dashboard/webhooks: look',
      'get /dashboard/welcome: person',
      'get /dashboard: look',
      'post /dashboard/account/delete: person, confirmed',
      'post /dashboard/accounts/choose: person',
      'post /dashboard/accounts/claim/:secret: person',
      'post /dashboard/accounts/join: person',
      'post /dashboard/accounts: person',
      'post /dashboard/agreement: own',
      'post /dashboard/brand: own, confirmed',
      'post /dashboard/confirm/passkey: person',
      'post /dashboard/confirm: person',
      'post /dashboard/deductions: own, confirmed',
      'post /dashboard/disputes/:id/accept: sell',
      'post /dashboard/disputes/:id/evidence: sell',
      'post /dashboard/embedding: develop, confirmed',
      'post /dashboard/first-steps/key: develop, confirmed, a key',
      'post /dashboard/first-steps/wallet: own, confirmed',
      'post /dashboard/first-steps/webhook: develop, confirmed',
      'post /dashboard/keys/:id/revoke: develop, confirmed',
      'post /dashboard/keys/:id/roll: develop, confirmed, a key',
      'post /dashboard/keys: develop, confirmed, a key',
      'post /dashboard/links/:id/pause: sell',
      'post /dashboard/links/:id/resume: sell',
      'post /dashboard/links/:id: sell',
      'post /dashboard/links/claim/:ticket: own, confirmed',
      'post /dashboard/links: sell',
      'post /dashboard/notifications/:id/change: develop',
      'post /dashboard/notifications/:id/mend: develop',
      'post /dashboard/notifications/:id/remove: develop, confirmed',
      'post /dashboard/notifications/:id/test: develop',
      'post /dashboard/notifications/telegram: develop, confirmed',
      'post /dashboard/notifications: develop, confirmed',
      'post /dashboard/passkeys/remove: person, confirmed',
      'post /dashboard/passkeys: person, confirmed',
      'post /dashboard/payments/:id/cancel: sell',
      'post /dashboard/payments/:id/refund: sell',
      'post /dashboard/payments/:id/refunds: sell',
      'post /dashboard/payments: sell',
      'post /dashboard/refunds/:id/cancel: sell',
      'post /dashboard/refunds/:id/fund: sell',
      'post /dashboard/sessions/end-others: person',
      'post /dashboard/sessions/end: person',
      'post /dashboard/sign-out: person',
      'post /dashboard/team/invite: own, confirmed',
      'post /dashboard/team/remove: own, confirmed',
      'post /dashboard/team/role: own, confirmed',
      'post /dashboard/team/withdraw: own, confirmed',
      'post /dashboard/wallet/stop: look',
      'post /dashboard/wallet: own, confirmed',
      'post /dashboard/webhooks/:id/delete: develop, confirmed',
      'post /dashboard/webhooks/:id/deliveries/:event/diagnose: develop',
      'post /dashboard/webhooks/:id/deliveries/:event/redeliver: develop',
      'post /dashboard/webhooks/:id/disable: develop',
      'post /dashboard/webhooks/:id/edit: develop, confirmed',
      'post /dashboard/webhooks/:id/enable: develop',
      'post /dashboard/webhooks/:id/redeliver: develop',
      'post /dashboard/webhooks/:id/rotate: develop, confirmed',
      'post /dashboard/webhooks/:id/test: develop',
      'post /dashboard/webhooks: develop, confirmed',
    ])
  })
})

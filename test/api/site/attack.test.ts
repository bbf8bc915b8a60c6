import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { endSessions } from '../../../src/db/accounts/sessions.ts'
import { many, sql } from '../../../src/db/db.ts'
import { CODE_TRIES, CODE_TRIES_A_DAY, CONFIRMED_MS } from '../../../src/domain/account/session.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { linkIn, mailsTo, signIn, signUp, Visitor } from './visitor.ts'

let shop: Shop
/** Milliseconds that the clock is ahead. */
let ahead = 0
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ clock: () => Date.now() + ahead, demoEmail: null }) })
})
afterAll(() => shop?.close())

let people = 0
const address = (): string => `victim-${(people += 1)}@shop.example`
const HOUR_MS = 3_600_000
const wrongFor = (code: string): string => (code === '000000' ? '111111' : '000000')

describe('codes', () => {
  test('a guesser who asks for mail after mail gets twenty tries a day for one address; its links work on', async () => {
    const email = address()
    let tries = 0
    for (let hour = 0; tries < CODE_TRIES_A_DAY; hour++) {
      ahead = hour * HOUR_MS * 1.1
      for (let mail = 0; mail < 5 && tries < CODE_TRIES_A_DAY; mail++) {
        const guesser = new Visitor(shop)
        await guesser.post('/sign-in', { email })
        const { code } = await linkIn(shop, email)
        for (let round = 0; round < CODE_TRIES; round++, tries++)
          await guesser.post('/sign-in/code', { code: wrongFor(code) })
      }
    }
    ahead += HOUR_MS * 1.1
    const person = new Visitor(shop)
    await person.post('/sign-in', { email })
    const { code, path } = await linkIn(shop, email)
    expect((await person.post('/sign-in/code', { code })).to).toContain('wrong=1')
    expect((await person.post(path)).to).toBe('/dashboard')
    ahead += 24 * HOUR_MS
    await person.post('/sign-in', { email })
    expect((await person.post('/sign-in/code', { code: (await linkIn(shop, email)).code })).to).toBe('/dashboard')
    ahead = 0
  })

  test('of forty guesses at once in one browser, five count', async () => {
    const email = address()
    const guesser = new Visitor(shop)
    await guesser.post('/sign-in', { email })
    const { code } = await linkIn(shop, email)
    await Promise.all(Array.from({ length: 40 }, () => guesser.post('/sign-in/code', { code: wrongFor(code) })))
    const [row] = await many(
      shop.db,
      z.object({ code_tries: z.number() }),
      sql`select code_tries from sign_in_link where email = ${email}`,
    )
    expect(row?.code_tries).toBe(CODE_TRIES)
    expect((await guesser.post('/sign-in/code', { code })).to).toContain('wrong=1')
  })

  test('of ten presses of the right code at once, one signs in', async () => {
    const email = address()
    const visitor = new Visitor(shop)
    await visitor.post('/sign-in', { email })
    const { code } = await linkIn(shop, email)
    const cookies = new Map(visitor.cookies)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => {
        const same = new Visitor(shop)
        for (const [name, value] of cookies) same.cookies.set(name, value)
        return same.post('/sign-in/code', { code })
      }),
    )
    expect(answers.filter(({ to }) => to === '/dashboard')).toHaveLength(1)
  })

  test('a code or a link that has served does not serve again by the other', async () => {
    const email = address()
    const visitor = new Visitor(shop)
    await visitor.post('/sign-in', { email })
    const browser = visitor.cookies.get('pinrail_browser') ?? ''
    const { code, path } = await linkIn(shop, email)
    expect((await visitor.post(path)).to).toBe('/dashboard')
    const again = new Visitor(shop)
    again.cookies.set('pinrail_browser', browser)
    expect((await again.post('/sign-in/code', { code })).to).toContain('wrong=1')
    expect((await again.post(path)).status).toBe(404)
    expect(again.cookies.has('pinrail_session')).toBe(false)
  })
})

describe('forms', () => {
  test('fields that are there twice, are too long, or are no form are refused with a page, never with a failure', async () => {
    const bodies = ['email=a@shop.example&email=b@shop.example', 'code=1&code=2', 'to=a&to=b', 'answer=1&answer=2']
    const long = `email=${'x'.repeat(21_000)}`
    const huge = `email=${'x'.repeat(70_000)}`
    const many60 = Array.from({ length: 80 }, (_, index) => `f${index}=1`).join('&')
    for (const path of ['/sign-in', '/sign-in/code', '/sign-in/passkey', '/sign-in/demo', '/sign-in/link/x'])
      for (const body of [...bodies, long, huge, many60, '%', '__proto__=1', 'constructor[prototype][a]=1'])
        for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain', 'a/b;charset=x']) {
          const headers = { 'content-type': type, 'sec-fetch-site': 'same-origin', accept: 'text/html' }
          const answer = await fetch(`${shop.url}${path}`, { method: 'POST', body, headers, redirect: 'manual' })
          expect([path, body.slice(0, 40), type, answer.status < 500]).toEqual([path, body.slice(0, 40), type, true])
          expect(answer.headers.getSetCookie().filter((cookie) => cookie.includes('session'))).toEqual([])
        }
    for (const path of ['/sign-in/link/%ZZ', '/sign-in/link/%00', '/sign-in/sent?to=a&to=b', '/sign-in?to=%00'])
      expect((await new Visitor(shop).get(path)).status).toBeLessThan(500)
  })

  test('a form that was opened for one account changes nothing in the account that was chosen since', async () => {
    const owner = await signUp(shop, address(), 'First')
    await owner.submit('/dashboard/accounts', { name: 'Second' })
    const ids = [...(await owner.get('/dashboard')).html.matchAll(/name="account" value="(mer_\w+)"/g)].map(
      (match) => match[1] ?? '',
    )
    expect(new Set(ids).size).toBeGreaterThan(0)
    const _form = await owner.formField('/dashboard/team')
    await owner.submit('/dashboard/accounts/choose', { account: ids[0] ?? '' })
    const stale = await owner.post('/dashboard/team/invite', { _form, email: 'x@shop.example', role: 'owner' })
    expect(stale.status).toBe(403)
    expect(await mailsTo(shop, 'x@shop.example')).toEqual([])
  })

  test('a browser that brings two sessions is signed in by neither: one of them is of somebody else', async () => {
    const sessions = []
    for (const { cookies } of [await signUp(shop, address()), await signUp(shop, address())])
      sessions.push(`pinrail_session=${cookies.get('pinrail_session')}`)
    const brought = (cookie: string) => new Visitor(shop).get('/dashboard', { cookie })
    for (const cookie of [sessions.join('; '), sessions.toReversed().join(';')])
      expect((await brought(cookie)).to).toMatch(/^\/sign-in/)
    expect((await brought(String(sessions[0]))).status).toBe(200)
  })

  test('one person makes ten accounts, also by thirty presses at once', async () => {
    const owner = await signIn(shop, address())
    const _form = await owner.formField('/dashboard/welcome')
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => owner.post('/dashboard/accounts', { _form, name: 'Many' })),
    )
    expect(answers.filter(({ status }) => status === 303).length).toBeLessThanOrEqual(10)
    const { rows } = await shop.db.query(`select count(*)::int as n from merchant where name = 'Many'`)
    expect(Number(rows[0]?.n)).toBeGreaterThan(0)
    expect(Number(rows[0]?.n)).toBeLessThanOrEqual(10)
  })
})

describe('confirmation', () => {
  test('strangers who ask for links to an address do not keep its owner from confirming', async () => {
    const email = address()
    const owner = await signUp(shop, email)
    for (let round = 0; round < 6; round++) await new Visitor(shop).post('/sign-in', { email })
    ahead = CONFIRMED_MS + 1000
    await owner.submit('/dashboard/confirm', { to: '/dashboard/team' })
    const mail = (await mailsTo(shop, email)).find(({ subject }) => subject.startsWith('Confirm'))
    const { code } = { code: /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '' }
    expect((await owner.post('/sign-in/code', { code, to: '/dashboard/team' })).to).toBe('/dashboard/team')
    expect((await owner.get('/dashboard/passkey')).status).toBe(200)
    ahead = 0
  })

  test('of an ended session it confirms nothing, and opens none', async () => {
    const email = address()
    const owner = await signUp(shop, email)
    await owner.submit('/dashboard/confirm', { to: '/dashboard' })
    const { path } = await linkIn(shop, email)
    const { rows } = await shop.db.query('select id from person where email = $1', [email])
    await endSessions(shop.db, String(rows[0]?.id), { allBut: null, now: new Date().toISOString() })
    expect((await owner.post(path)).status).toBe(404)
    expect((await owner.get('/dashboard')).to).toContain('/sign-in')
  })

  test('as many at once as there are connections and more are answered', async () => {
    const email = address()
    const owners = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const one = `${index}-${email}`
        const visitor = await signUp(shop, one)
        await visitor.submit('/dashboard/confirm', { to: '/dashboard' })
        return { visitor, path: (await linkIn(shop, one)).path }
      }),
    )
    const answers = await Promise.all(owners.map(({ visitor, path }) => visitor.post(path)))
    expect(answers.map(({ status }) => status)).toEqual(owners.map(() => 303))
  }, 60_000)
})

describe('what leaks', () => {
  test('no page of the dashboard or the sign-in may be cached, framed, or named to another site', async () => {
    const owner = await signUp(shop, address())
    await owner.submit('/dashboard/confirm', { to: '/dashboard' })
    const paths = [
      '/sign-in',
      '/sign-in/sent',
      '/sign-in/link/x',
      '/dashboard',
      '/dashboard/account',
      '/dashboard/team',
    ]
    for (const path of [...paths, '/dashboard/payments.csv', '/dashboard/payments.json', '/dashboard/nothing']) {
      const { headers } = await owner.get(path)
      expect([path, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
        path,
        'no-store',
        'no-referrer',
      ])
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })
})

test('in live mode nobody enters as the demo merchant, whatever is configured', async () => {
  const live = await openShop({ mode: 'live', deps: () => ({ demoEmail: 'demo@shop.example' }) })
  try {
    const visitor = new Visitor(live)
    expect((await visitor.get('/sign-in')).html).not.toContain('demo shop')
    await visitor.post('/sign-in/demo')
    expect(visitor.cookies.size).toBe(0)
  } finally {
    await live.close()
  }
})

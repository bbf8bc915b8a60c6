import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { csvLine } from '../../../src/api/exports/csv.ts'
import { insertMembership } from '../../../src/db/accounts/people.ts'
import { endSessions } from '../../../src/db/accounts/sessions.ts'
import { execute, many, sql } from '../../../src/db/db.ts'
import { lockMerchant } from '../../../src/db/merchants/merchants.ts'
import { insertChannel } from '../../../src/db/notifications/channels.ts'
import { type Ability, hasAbility, ROLES, type Role } from '../../../src/domain/account/roles.ts'
import {
  ABSOLUTE_MS,
  CODE_TRIES,
  CODE_TRIES_A_DAY,
  CONFIRMED_MS,
  IDLE_MS,
} from '../../../src/domain/account/session.ts'
import { newId } from '../../../src/ids.ts'
import { type SeededApi, seedApi } from '../support/seeded-api.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'
import { composedPages } from './pages.ts'
import { askedBy, askToConfirm, linkIn, mailsTo, type PageAnswer, signIn, signUp, Visitor } from './visitor.ts'

/** The milliseconds by which the clock is ahead. */
let ahead = 0
let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi({ deps: () => ({ clock: () => Date.now() + ahead, demoEmail: null }) })
})
afterAll(() => testApi?.close())

describe('Attacks on sign-in and forms', () => {
  let people = 0
  const address = (): string => `victim-${(people += 1)}@shop.example`
  const HOUR_MS = 3_600_000
  const wrongFor = (code: string): string => (code === '000000' ? '111111' : '000000')

  describe('Codes of the sign-in', () => {
    test('a guesser who requests mail after mail gets twenty tries a day for one address; its links keep working', async () => {
      const email = address()
      let tries = 0
      for (let hour = 0; tries < CODE_TRIES_A_DAY; hour++) {
        ahead = hour * HOUR_MS * 1.1
        for (let mail = 0; mail < 5 && tries < CODE_TRIES_A_DAY; mail++) {
          const guesser = new Visitor(testApi)
          await guesser.post('/sign-in', { email })
          const { code } = await linkIn(testApi, email)
          for (let round = 0; round < CODE_TRIES; round++, tries++)
            await guesser.post('/sign-in/code', { code: wrongFor(code) })
        }
      }
      ahead += HOUR_MS * 1.1
      const person = new Visitor(testApi)
      await person.post('/sign-in', { email })
      const { code, path } = await linkIn(testApi, email)
      expect((await person.post('/sign-in/code', { code })).to).toContain('wrong=1')
      expect((await person.post(path)).to).toBe('/dashboard')
      ahead += 24 * HOUR_MS
      await person.post('/sign-in', { email })
      expect((await person.post('/sign-in/code', { code: (await linkIn(testApi, email)).code })).to).toBe('/dashboard')
      ahead = 0
    })

    test('five of forty guesses at once in one browser count', async () => {
      const email = address()
      const guesser = new Visitor(testApi)
      await guesser.post('/sign-in', { email })
      const { code } = await linkIn(testApi, email)
      await Promise.all(Array.from({ length: 40 }, () => guesser.post('/sign-in/code', { code: wrongFor(code) })))
      const [row] = await many(
        testApi.db,
        z.object({ code_tries: z.number() }),
        sql`select code_tries from sign_in_link where email = ${email}`,
      )
      expect(row?.code_tries).toBe(CODE_TRIES)
      expect((await guesser.post('/sign-in/code', { code })).to).toContain('wrong=1')
    })

    test('one of ten presses of the right code at once signs in', async () => {
      const email = address()
      const visitor = new Visitor(testApi)
      await visitor.post('/sign-in', { email })
      const { code } = await linkIn(testApi, email)
      const cookies = new Map(visitor.cookies)
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => {
          const same = new Visitor(testApi)
          for (const [name, value] of cookies) same.cookies.set(name, value)
          return same.post('/sign-in/code', { code })
        }),
      )
      expect(answers.filter(({ to }) => to === '/dashboard')).toHaveLength(1)
    })

    test('a code or a link that was used cannot be used again through the other', async () => {
      const email = address()
      const visitor = new Visitor(testApi)
      await visitor.post('/sign-in', { email })
      const browser = visitor.cookies.get('pinrail_browser') ?? ''
      const { code, path } = await linkIn(testApi, email)
      expect((await visitor.post(path)).to).toBe('/dashboard')
      const again = new Visitor(testApi)
      again.cookies.set('pinrail_browser', browser)
      expect((await again.post('/sign-in/code', { code })).to).toContain('wrong=1')
      expect((await again.post(path)).status).toBe(404)
      expect(again.cookies.has('pinrail_session')).toBe(false)
    })
  })

  describe('Forms', () => {
    test('fields that are repeated or too long, and bodies that are no form, are refused with a page, never with a failure', async () => {
      const bodies = ['email=a@shop.example&email=b@shop.example', 'code=1&code=2', 'to=a&to=b', 'answer=1&answer=2']
      const long = `email=${'x'.repeat(21_000)}`
      const huge = `email=${'x'.repeat(70_000)}`
      const many60 = Array.from({ length: 80 }, (_, index) => `f${index}=1`).join('&')
      for (const path of ['/sign-in', '/sign-in/code', '/sign-in/passkey', '/sign-in/demo', '/sign-in/link/x'])
        for (const body of [...bodies, long, huge, many60, '%', '__proto__=1', 'constructor[prototype][a]=1'])
          for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain', 'a/b;charset=x']) {
            const headers = { 'content-type': type, 'sec-fetch-site': 'same-origin', accept: 'text/html' }
            const answer = await fetch(`${testApi.url}${path}`, { method: 'POST', body, headers, redirect: 'manual' })
            expect([path, body.slice(0, 40), type, answer.status < 500]).toEqual([path, body.slice(0, 40), type, true])
            expect(answer.headers.getSetCookie().filter((cookie) => cookie.includes('session'))).toEqual([])
          }
      for (const path of ['/sign-in/link/%ZZ', '/sign-in/link/%00', '/sign-in/sent?to=a&to=b', '/sign-in?to=%00'])
        expect((await new Visitor(testApi).get(path)).status).toBeLessThan(500)
    })

    test('a form that was opened for one account changes nothing in the account that was chosen since', async () => {
      const owner = await signUp(testApi, address(), 'First')
      await owner.submit('/dashboard/accounts', { name: 'Second' })
      const ids = [...(await owner.get('/dashboard')).html.matchAll(/name="account" value="(mer_\w+)"/g)].map(
        (match) => match[1] ?? '',
      )
      expect(new Set(ids).size).toBeGreaterThan(0)
      const _form = await owner.formField('/dashboard/team')
      await owner.submit('/dashboard/accounts/choose', { account: ids[0] ?? '' })
      const stale = await owner.post('/dashboard/team/invite', { _form, email: 'x@shop.example', role: 'owner' })
      expect(stale.status).toBe(403)
      expect(await mailsTo(testApi, 'x@shop.example')).toEqual([])
    })

    test('a browser that sends two session cookies is signed in by neither: one of them belongs to somebody else', async () => {
      const sessions = []
      for (const { cookies } of [await signUp(testApi, address()), await signUp(testApi, address())])
        sessions.push(`pinrail_session=${cookies.get('pinrail_session')}`)
      const brought = (cookie: string) => new Visitor(testApi).get('/dashboard', { cookie })
      for (const cookie of [sessions.join('; '), sessions.toReversed().join(';')])
        expect((await brought(cookie)).to).toMatch(/^\/sign-in/)
      expect((await brought(String(sessions[0]))).status).toBe(200)
    })

    test('one person makes ten accounts at most, also by thirty presses at once', async () => {
      const owner = await signIn(testApi, address())
      const _form = await owner.formField('/dashboard/welcome')
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => owner.post('/dashboard/accounts', { _form, name: 'Many' })),
      )
      expect(answers.filter(({ status }) => status === 303).length).toBeLessThanOrEqual(10)
      const { rows } = await testApi.db.query(`select count(*)::int as n from merchant where name = 'Many'`)
      expect(Number(rows[0]?.n)).toBeGreaterThan(0)
      expect(Number(rows[0]?.n)).toBeLessThanOrEqual(10)
    })
  })

  describe('Confirmation', () => {
    test('strangers who request links to an address do not keep its owner from confirming', async () => {
      const email = address()
      const owner = await signUp(testApi, email)
      for (let round = 0; round < 6; round++) await new Visitor(testApi).post('/sign-in', { email })
      ahead = CONFIRMED_MS + 1000
      await owner.submit('/dashboard/confirm', { asked: askedBy(await owner.get('/dashboard/passkey')) })
      const mail = (await mailsTo(testApi, email)).find(({ subject }) => subject.startsWith('Confirm'))
      const { code } = { code: /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '' }
      expect((await owner.post('/sign-in/code', { code, to: '/dashboard/team' })).to).toBe('/dashboard/passkey')
      expect((await owner.get('/dashboard/passkey')).status).toBe(200)
      ahead = 0
    })

    test('the code of an ended session confirms nothing, and opens no session', async () => {
      const email = address()
      const owner = await signUp(testApi, email)
      await owner.submit('/dashboard/confirm', { asked: await askToConfirm(testApi, owner) })
      const { path } = await linkIn(testApi, email)
      const { rows } = await testApi.db.query('select id from person where email = $1', [email])
      await endSessions(testApi.db, String(rows[0]?.id), { allBut: null, now: new Date().toISOString() })
      expect((await owner.post(path)).status).toBe(404)
      expect((await owner.get('/dashboard')).to).toContain('/sign-in')
    })

    test('more presses at once than there are connections are all answered', async () => {
      const email = address()
      const owners = await Promise.all(
        Array.from({ length: 24 }, async (_, index) => {
          const one = `${index}-${email}`
          const visitor = await signUp(testApi, one)
          await visitor.submit('/dashboard/confirm', { asked: await askToConfirm(testApi, visitor) })
          return { visitor, path: (await linkIn(testApi, one)).path }
        }),
      )
      const answers = await Promise.all(owners.map(({ visitor, path }) => visitor.post(path)))
      expect(answers.map(({ status }) => status)).toEqual(owners.map(() => 303))
    }, 60_000)
  })

  describe('Leaks', () => {
    test('no page of the dashboard or the sign-in can be cached, framed, or named to another site', async () => {
      const owner = await signUp(testApi, address())
      await owner.submit('/dashboard/confirm', { asked: await askToConfirm(testApi, owner) })
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

  test('in live mode nobody can enter as the demo merchant, whatever is configured', async () => {
    const live = await openTestApi({ mode: 'live', deps: () => ({ demoEmail: 'demo@shop.example' }) })
    try {
      const visitor = new Visitor(live)
      expect((await visitor.get('/sign-in')).html).not.toContain('demo shop')
      await visitor.post('/sign-in/demo')
      expect(visitor.cookies.size).toBe(0)
    } finally {
      await live.close()
    }
  })
})

describe('Attacks on the team', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  })

  const readId = async (email: string): Promise<string> =>
    String((await testApi.db.query('select id from person where email = $1', [email])).rows[0]?.id)
  const readAccount = async (email: string): Promise<string> =>
    String(
      (
        await testApi.db.query(
          'select merchant_id from membership join person on person.id = person_id where email = $1 order by membership.created_at desc',
          [email],
        )
      ).rows[0]?.merchant_id,
    )
  const invite = (by: Visitor, email: string, role = 'viewer') => by.submit('/dashboard/team/invite', { email, role })

  describe('Invitations', () => {
    test('one account mails an address once an hour, and all accounts together five times', async () => {
      const target = 'flooded@shop.example'
      const owner = await signUp(testApi, 'flood-0@shop.example')
      for (let round = 0; round < 8; round++) expect((await invite(owner, target)).to).toBe('/dashboard/team')
      expect(await mailsTo(testApi, target)).toHaveLength(1)
      for (let round = 0; round < 3; round++) {
        await owner.submit('/dashboard/team/withdraw', { email: target })
        await invite(owner, target)
      }
      expect(await mailsTo(testApi, target)).toHaveLength(1)
      for (let index = 1; index < 8; index++) await invite(await signUp(testApi, `flood-${index}@shop.example`), target)
      expect(await mailsTo(testApi, target)).toHaveLength(5)
      ahead = 3_600_000 + 1000
      await invite(await signIn(testApi, 'flood-0@shop.example'), target)
      expect(await mailsTo(testApi, target)).toHaveLength(6)
      ahead = 0
    })

    test('an account mails fifty addresses a day, however many it withdraws', async () => {
      const owner = await signUp(testApi, 'many@shop.example')
      const _form = await owner.formField('/dashboard/team')
      for (let index = 0; index < 50; index++) {
        const email = `guest-${index}@shop.example`
        await owner.post('/dashboard/team/invite', { _form, email, role: 'viewer' })
        expect((await owner.post('/dashboard/team/withdraw', { _form, email })).to).toBe('/dashboard/team')
      }
      const more = await owner.post('/dashboard/team/invite', { _form, email: 'guest-50@shop.example', role: 'viewer' })
      expect([more.status, more.html.includes('at most 50 invitations a day')]).toEqual([400, true])
      expect(await mailsTo(testApi, 'guest-50@shop.example')).toEqual([])
    })

    test('a withdrawn invitation lets nobody join, and the log records the withdrawal without the address', async () => {
      const owner = await signUp(testApi, 'withdraws@shop.example')
      const account = await readAccount('withdraws@shop.example')
      await invite(owner, 'guest@shop.example', 'owner')
      const guest = await signIn(testApi, 'guest@shop.example')
      expect((await owner.get('/dashboard/team')).html).toContain('Withdraw')
      await owner.submit('/dashboard/team/withdraw', { email: 'guest@shop.example' })
      const joined = await guest.post('/dashboard/accounts/join', {
        _form: await guest.formField('/dashboard/welcome'),
        account,
      })
      expect(joined.status).toBe(404)
      const team = (await owner.get('/dashboard/team')).html
      expect(team).toContain('invitation withdrawn')
      expect(team).not.toContain('guest@shop.example')
      expect((await owner.submit('/dashboard/team/withdraw', { email: 'guest@shop.example' })).status).toBe(404)
    })

    test('an invitation to another address, of another account, or that has expired lets nobody join', async () => {
      const owner = await signUp(testApi, 'inviter@shop.example')
      const account = await readAccount('inviter@shop.example')
      await invite(owner, 'right@shop.example')
      const wrong = await signIn(testApi, 'wrong@shop.example')
      expect((await wrong.submit('/dashboard/accounts/join', { account, email: 'right@shop.example' })).status).toBe(
        404,
      )
      expect((await wrong.get('/dashboard/welcome')).html).not.toContain('invites you')
      ahead = 7 * 86_400_000 + 1000
      const late = await signIn(testApi, 'right@shop.example')
      expect((await late.submit('/dashboard/accounts/join', { account })).status).toBe(404)
      ahead = 0
    })

    test('the name of an account cannot put a URL or extra lines into the mail', async () => {
      const owner = await signIn(testApi, 'namer@shop.example')
      for (const name of ['Win: https://evil.example', 'www.evil.example', 'a\r\nBcc: x@evil.example', ' ', '\u202e'])
        expect([name, (await owner.submit('/dashboard/accounts', { name })).status]).toEqual([name, 400])
    })
  })

  describe('The team', () => {
    test('a person who lost the role while the request waited changes nothing', async () => {
      const email = 'demoted@shop.example'
      const owner = await signUp(testApi, email)
      const merchantId = await readAccount(email)
      await signIn(testApi, 'other-owner@shop.example')
      await insertMembership(testApi.db, {
        merchantId,
        personId: await readId('other-owner@shop.example'),
        role: 'owner',
      })
      const _form = await owner.formField('/dashboard/team')
      const personId = await readId(email)
      const before = await testApi.db.query('select count(*)::int as n from invitation')
      let answers: Promise<{ status: number }[]> = Promise.resolve([])
      await testApi.db.transaction(async (tx) => {
        await lockMerchant(tx, merchantId)
        answers = Promise.all([
          owner.post('/dashboard/team/invite', { _form, email: 'accomplice@shop.example', role: 'owner' }),
          owner.post('/dashboard/team/role', { _form, person: personId, role: 'owner' }),
          owner.post('/dashboard/team/withdraw', { _form, email: 'accomplice@shop.example' }),
          owner.post('/dashboard/team/remove', { _form, person: await readId('other-owner@shop.example') }),
        ])
        // Until all four wait for the lock, so that each has passed the guard of the page.
        for (let waiting = 0; waiting < 4; ) {
          const { rows } = await testApi.db.query(
            `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
          waiting = Number(rows[0]?.n)
        }
        await tx.query('update membership set role = $1 where merchant_id = $2 and person_id = $3', [
          'viewer',
          merchantId,
          personId,
        ])
      })
      expect((await answers).map(({ status }) => status)).toEqual([403, 403, 403, 403])
      expect((await testApi.db.query('select count(*)::int as n from invitation')).rows).toEqual(before.rows)
      expect((await owner.get('/dashboard/team')).html).not.toContain('Invite someone')
    })

    test('two owners who remove each other at once leave one', async () => {
      const [a, b] = ['duel-a@shop.example', 'duel-b@shop.example']
      const first = await signUp(testApi, a)
      const merchantId = await readAccount(a)
      await signIn(testApi, b)
      await insertMembership(testApi.db, { merchantId, personId: await readId(b), role: 'owner' })
      const second = await signIn(testApi, b)
      await Promise.all([
        first.submit('/dashboard/team/remove', { person: await readId(b) }),
        second.submit('/dashboard/team/remove', { person: await readId(a) }),
      ])
      const { rows } = await testApi.db.query('select role from membership where merchant_id = $1', [merchantId])
      expect(rows).toEqual([{ role: 'owner' }])
    })
  })

  describe('Payments', () => {
    test('nonsense and payments of others leave nothing in the audit log, and are not canceled', async () => {
      const owner = await signUp(testApi, 'canceler@shop.example')
      const foreign = await testApi.ask('POST', '/v1/payments', { body: { amount: 5, currency: 'EUR' } })
      const before = await testApi.db.query('select count(*)::int as n from audit_entry')
      for (const id of [String(foreign.body['id']), 'pay_01m804v6xffqc8dqr8b1t1nxw5', 'x'.repeat(5000), 'a%00b'])
        expect((await owner.submit(`/dashboard/payments/${id}/cancel`)).status).toBeGreaterThanOrEqual(400)
      expect((await testApi.db.query('select count(*)::int as n from audit_entry')).rows).toEqual(before.rows)
      const after = await testApi.ask('GET', `/v1/payments/${String(foreign.body['id'])}`)
      expect(after.body['status']).toBe('created')
    })

    test.each([
      ['a;=1+1', '"a;\'=1+1"'],
      ['a\n=1+1', '"a\n\'=1+1"'],
      ['a\t@x', '"a\t\'@x"'],
      ['=1+1', "'=1+1"],
      ['\uff1d1+1', "'\uff1d1+1"],
      ['\uff0b1', "'\uff0b1"],
      ['\t=1', '"\'\t\'=1"'],
      ['a=b, c-d', '"a=b, c-d"'],
      ['plain', 'plain'],
      ['-10.80', '-10.80'],
      ['-10.80+1', "'-10.80+1"],
    ])(
      'a cell of the export does not begin a formula with %j, at whatever sign a program splits the line',
      (text, cell) => {
        expect(csvLine(['id', text])).toBe(`id,${cell}\r\n`)
      },
    )
  })
})

describe('The matrix of pages', () => {
  let own: SeededApi
  let channel: string
  const visitors = new Map<Role, Visitor>()
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
    own = await seedApi(testApi)
    channel = await addChannel(testApi)
    for (const role of ROLES) visitors.set(role, await member(role, `${role}@shop.example`))
  })

  /** A person with the role in the merchant’s own account. */
  async function member(role: Role, email: string): Promise<Visitor> {
    await signIn(testApi, email)
    await execute(
      testApi.db,
      sql`insert into membership (merchant_id, person_id, role)
        select ${testApi.tenant.merchantId}, id, ${role} from person where email = ${email} on conflict do nothing`,
    )
    return signIn(testApi, email)
  }

  async function addChannel({ db, tenant }: TestApi): Promise<string> {
    const id = newId('channel')
    const [kind, language, quiet] = ['slack', 'en', null] as const
    const at = new Date().toISOString()
    await insertChannel(db, tenant, {
      id,
      kind,
      name: '#ours',
      sealed: '',
      person_id: null,
      events: [],
      language,
      quiet,
      at,
    })
    return id
  }

  const pages = composedPages()
  /** The path with ids of unknown objects: a refusal must come before any look-up. */
  const fillPath = (path: string): string => path.replaceAll(/:\w+/g, 'nothing')
  /** The type of the object that an id in a path belongs to, by the beginning of the path. */
  const ID_OF: readonly (readonly [string, Exclude<keyof SeededApi, 'merchant'>])[] = [
    ['/dashboard/keys', 'apiKey'],
    ['/dashboard/webhooks', 'endpoint'],
    ['/dashboard/events', 'event'],
    ['/dashboard/links', 'link'],
    ['/dashboard/refunds', 'refund'],
    ['/dashboard/disputes', 'dispute'],
  ]
  /** The path with ids of the merchant’s own objects. */
  function fillOwnPath(path: string): string {
    if (path.startsWith('/dashboard/notifications')) return path.replace(':id', channel)
    const [, kind = 'payment'] = ID_OF.find(([start]) => path.startsWith(start)) ?? []
    return path.replace(':id', own[kind]).replace(':event', own.event)
  }
  const isRefused = ({ status, to }: PageAnswer): boolean =>
    status === 403 || (status === 303 && to !== null && /^\/(?:sign-in|dashboard\/(?:confirm|welcome))/.test(to))

  /**
   * Headers that a browser sends about a form of another site, or of a neighbor of the platform’s host; and a program
   * that sends none.
   */
  const FOREIGN: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': '' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1.evil.example' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    {},
  ]

  /** Values that a form can send in place of its hidden field; `others` is the field of another person. */
  const FORGED: readonly ((own: string, others: string) => string)[] = [
    () => '',
    () => 'x',
    (own) => own.slice(1),
    (own) => `${own}A`,
    swapCase,
    (_own, others) => others,
  ]

  /** The cookie of a person who has signed out. */
  async function endedSession(): Promise<string> {
    const visitor = await member('owner', 'ended@shop.example')
    const cookie = visitor.cookies.get('pinrail_session') ?? ''
    await visitor.submit('/dashboard/sign-out')
    return cookie
  }

  /** The cookie of a session that began more than a day ago and was used a moment ago. */
  async function oldSession(): Promise<string> {
    const visitor = await member('owner', 'old@shop.example')
    await execute(
      testApi.db,
      sql`update session set created_at = ${new Date(Date.now() - ABSOLUTE_MS - 1000).toISOString()}::timestamptz
        where person_id = (select id from person where email = 'old@shop.example')`,
    )
    return visitor.cookies.get('pinrail_session') ?? ''
  }

  /** Rows that an accepted request changes. Refusals, sign-ins and exports are logged rightly. */
  async function snapshot(): Promise<string> {
    const { rows } = await testApi.db.query(
      `select (select json_agg(t order by t.id) from api_key t)::text || (select json_agg(w) from wallet w)::text
      || (select count(*) from webhook_endpoint) || (select count(*) from membership) || (select count(*) from invitation)
      || (select count(*) from session where ended_at is null) || (select count(*) from audit_entry where action not in ('person.refused', 'person.sign_in_failed', 'person.signed_in', 'exportPayments', 'exportStatement'))
      || (select count(*) from passkey) || (select json_agg(m order by m.id) from merchant m) as all`,
    )
    return String(rows[0]?.all)
  }

  test('every page and action refuses strangers, wrong, expired, idle and foreign sessions, and requests from other sites', async () => {
    let attempts = 0
    const through: string[] = []
    // Each for its own reason: an accepted request may end the session, and then the rest would be refused for that.
    const note = (what: string, answer: PageAnswer, reason: 'nobody' | 'foreign'): void => {
      attempts += 1
      const refused = reason === 'foreign' ? answer.status === 403 : (answer.to ?? '').startsWith('/sign-in?to=')
      if (!refused) through.push(`${what}: ${answer.status} ${answer.to}`)
    }
    const withCookie = (value: string | null): Visitor => {
      const visitor = new Visitor(testApi)
      if (value !== null) visitor.cookies.set('pinrail_session', value)
      return visitor
    }
    const forms = new Map<Role, string>()
    for (const role of ROLES) forms.set(role, await (visitors.get(role) as Visitor).formField())
    const form = (role: Role): string => forms.get(role) ?? ''
    const as = (role: Role): Visitor => withCookie(visitors.get(role)?.cookies.get('pinrail_session') ?? '')
    // Every page receives each header and each field once. The role that sends it changes from page to page.
    const nthRole = (n: number): Role => ROLES[n % ROLES.length] as Role
    const session = visitors.get('owner')?.cookies.get('pinrail_session') ?? ''
    const _form = form('owner')
    const states = [
      ['no session', null],
      ['a made-up session', 'B'.repeat(43)],
      ['a cut session', session.slice(0, 42)],
      ['a session in other case', swapCase(session)],
      ['a session that was signed out', await endedSession()],
      ['a session of a day, still in use', await oldSession()],
    ] as const
    const before = await snapshot()
    for (const { method, path } of pages) {
      const at = fillPath(path)
      const enter = async ([state, cookie]: (typeof states)[number]): Promise<void> => {
        const visitor = withCookie(cookie)
        const answer = method === 'get' ? await visitor.get(at) : await visitor.post(at, { _form })
        note(`${method} ${path} with ${state}`, answer, 'nobody')
      }
      await Promise.all(states.map(enter))
    }
    for (const [turn, { path }] of pages.filter(({ method }) => method === 'post').entries()) {
      const at = fillPath(path)
      const foreign = FOREIGN.map(async (header, index) => {
        const role = nthRole(turn + index)
        const name = `post ${path} by ${role} from ${JSON.stringify(header)}`
        note(name, await as(role).post(at, { _form: form(role) }, header), 'foreign')
      })
      const forgeries = FORGED.map(async (forge, index) => {
        const role = nthRole(turn + index)
        const forged = forge(form(role), form(nthRole(turn + index + 1)))
        note(`post ${path} by ${role} with ${forged}`, await as(role).post(at, { _form: forged }), 'foreign')
      })
      await Promise.all([...foreign, ...forgeries])
    }
    ahead = IDLE_MS + 60_000
    for (const { method, path } of pages) {
      const visitor = withCookie(session)
      const at = fillPath(path)
      note(
        `${method} ${path} idle`,
        method === 'get' ? await visitor.get(at) : await visitor.post(at, { _form }),
        'nobody',
      )
    }
    ahead = 0
    expect(through).toEqual([])
    expect(attempts).toBeGreaterThan(1000)
    expect(await snapshot()).toBe(before)
  }, 180_000)

  test('every page and action refuses every role that lacks the ability, and an old confirmation', async () => {
    const before = await snapshot()
    const through: string[] = []
    const shut: string[] = []
    for (const role of ROLES) {
      const visitor = visitors.get(role) as Visitor
      const _form = await visitor.formField()
      for (const { method, path, needs } of pages) {
        if (needs === 'person') continue
        const at = fillPath(path)
        const allowed = hasAbility(role, needs as Ability)
        if (allowed && method === 'post') continue
        const answer = method === 'get' ? await visitor.get(at) : await visitor.post(at, { _form })
        if (allowed && isRefused(answer)) shut.push(`${role} ${method} ${path}: ${answer.status} ${answer.to}`)
        if (!allowed && answer.status !== 403) through.push(`${role} ${method} ${path}: ${answer.status}`)
      }
    }
    const owner = visitors.get('owner') as Visitor
    const _form = await owner.formField()
    ahead = CONFIRMED_MS + 60_000
    for (const { method, path, fresh } of pages) {
      if (fresh === undefined) continue
      const answer = method === 'get' ? await owner.get(fillPath(path)) : await owner.post(fillPath(path), { _form })
      if (!(answer.to ?? '').startsWith('/dashboard/confirm'))
        through.push(`unconfirmed ${method} ${path}: ${answer.status}`)
    }
    ahead = 0
    expect(through).toEqual([])
    expect(shut).toEqual([])
    expect(await snapshot()).toBe(before)
  })

  test('a person of another account reads and changes nothing of this one', async () => {
    const other = await testApi.addMerchant()
    const stranger = await signIn(testApi, 'stranger@shop.example')
    const { rows } = await testApi.db.query(`select id from person where email = 'stranger@shop.example'`)
    await insertMembership(testApi.db, {
      merchantId: other.tenant.merchantId,
      personId: String(rows[0]?.id),
      role: 'owner',
    })
    const payments = await testApi.ask('GET', '/v1/payments')
    const [payment] = payments.body['data'] as { id: string }[]
    const list = await (visitors.get('viewer') as Visitor).get('/dashboard/payments')
    expect(list.html).toContain(payment?.id)
    for (const path of ['/dashboard', '/dashboard/payments', '/dashboard/payments.csv', '/dashboard/payments.json'])
      expect((await stranger.get(path)).html).not.toContain(payment?.id)
    const changes = await testApi.db.query('select count(*)::int as n from audit_entry')
    for (const { method, path } of pages.filter(({ path: one }) => one.includes(':id'))) {
      const at = fillOwnPath(path)
      if (method === 'get') expect([at, (await (visitors.get('owner') as Visitor).get(at)).status]).toEqual([at, 200])
      const answer = method === 'get' ? await stranger.get(at) : await stranger.submit(at)
      expect([path, answer.status, answer.html.includes('order-')]).toEqual([path, 404, false])
    }
    expect((await testApi.db.query('select count(*)::int as n from audit_entry')).rows).toEqual(changes.rows)
    expect((await stranger.submit('/dashboard/accounts/choose', { account: testApi.tenant.merchantId })).status).toBe(
      404,
    )
    expect((await stranger.submit('/dashboard/accounts/join', { account: testApi.tenant.merchantId })).status).toBe(404)
  })

  test('a session of the test deployment does not sign in at the live one', async () => {
    const live = await openTestApi({ mode: 'live' })
    try {
      const owner = visitors.get('owner') as Visitor
      const _form = await owner.formField()
      const through: string[] = []
      const enter = async (name: string, { method, path }: (typeof pages)[number]): Promise<void> => {
        const visitor = new Visitor(live)
        visitor.cookies.set(name, owner.cookies.get('pinrail_session') ?? '')
        const answer =
          method === 'get' ? await visitor.get(fillPath(path)) : await visitor.post(fillPath(path), { _form })
        if (!isRefused(answer)) through.push(`${method} ${path}: ${answer.status}`)
      }
      for (const page of pages)
        for (const name of ['pinrail_session', '__Host-pinrail_session']) await enter(name, page)
      expect(through).toEqual([])
    } finally {
      await live.close()
    }
  })

  function swapCase(text: string): string {
    return text.replace(/[a-zA-Z]/, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
  }
})

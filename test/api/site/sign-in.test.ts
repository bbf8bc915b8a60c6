import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { execute, many, sql } from '../../../src/db/db.ts'
import { ABSOLUTE_MS, CONFIRMED_MS, IDLE_MS, LINK_MS, MOST_PASSKEYS } from '../../../src/domain/account/session.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'
import { createAuthenticator, type Lies } from './authenticator.ts'
import { askedBy, askToConfirm, confirmByMail, linkIn, mailsTo, signIn, signUp, Visitor } from './visitor.ts'

let testApi: TestApi
/** The milliseconds by which the clock is ahead. */
let ahead = 0
beforeAll(async () => {
  testApi = await openTestApi({ deps: () => ({ clock: () => Date.now() + ahead }) })
})
afterAll(() => testApi?.close())

let people = 0
const address = (): string => `person-${(people += 1)}@shop.example`

/** Runs with the clock ahead, and resets it afterwards. */
async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  ahead += ms
  try {
    return await work()
  } finally {
    ahead -= ms
  }
}

describe('Signing up by a link', () => {
  test('a new address gets a link, signs in by a press, makes an account, and opens its overview', async () => {
    const email = address()
    const visitor = new Visitor(testApi)
    const asked = await visitor.post('/sign-in', { email })
    expect([asked.status, asked.to]).toEqual([303, '/sign-in/sent?to=%2Fdashboard'])
    const { path } = await linkIn(testApi, email)
    const shown = await visitor.get(path)
    expect([shown.status, shown.html.includes(email)]).toEqual([200, true])
    const used = await visitor.post(path)
    expect([used.status, used.to]).toEqual([303, '/dashboard'])
    expect((await visitor.get('/dashboard')).to).toBe('/dashboard/welcome')
    expect((await visitor.submit('/dashboard/accounts', { name: 'Halden Coffee' })).to).toBe('/dashboard')
    const overview = await visitor.get('/dashboard')
    expect(overview.status).toBe(200)
    expect(overview.html).toContain('Halden Coffee')
    expect(overview.html).toContain('First steps')
  })

  test('opening a link any number of times does not use it up; the press works once', async () => {
    const email = address()
    const visitor = new Visitor(testApi)
    await visitor.post('/sign-in', { email })
    const { path } = await linkIn(testApi, email)
    for (let round = 0; round < 5; round++) expect((await visitor.get(path)).status).toBe(200)
    const cookies = new Map(visitor.cookies)
    const presses = await Promise.all(
      Array.from({ length: 10 }, () => {
        const same = new Visitor(testApi)
        for (const [name, value] of cookies) same.cookies.set(name, value)
        return same.post(path)
      }),
    )
    expect(presses.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(presses.filter(({ status }) => status === 404)).toHaveLength(9)
  })

  test('a link works in no other browser, and in none after 15 minutes', async () => {
    const email = address()
    const visitor = new Visitor(testApi)
    await visitor.post('/sign-in', { email })
    const { path } = await linkIn(testApi, email)
    const other = new Visitor(testApi)
    await other.post('/sign-in', { email: address() })
    expect((await other.get(path)).status).toBe(404)
    expect((await other.post(path)).status).toBe(404)
    expect((await new Visitor(testApi).post(path)).status).toBe(404)
    await later(LINK_MS + 1000, async () => {
      expect((await visitor.get(path)).status).toBe(404)
      expect((await visitor.post(path)).status).toBe(404)
    })
    expect((await visitor.post(path)).to).toBe('/dashboard')
  })

  test('a code signs in the browser that requested it; five wrong codes use it up, but not the link', async () => {
    const email = address()
    const visitor = new Visitor(testApi)
    await visitor.post('/sign-in', { email })
    const { code } = await linkIn(testApi, email)
    expect((await new Visitor(testApi).post('/sign-in/code', { code })).to).toContain('wrong=1')
    // As a phone's keyboard types and pastes it: digits of another script, blanks and invisible marks.
    const arabic = code.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)))
    const spaced = `\u200f${arabic.slice(0, 3)}\u00a0${arabic.slice(3)}\u200b`
    expect((await visitor.post('/sign-in/code', { code: spaced })).to).toBe('/dashboard')

    const second = address()
    const guesser = new Visitor(testApi)
    await guesser.post('/sign-in', { email: second })
    const right = (await linkIn(testApi, second)).code
    for (let round = 0; round < 5; round++)
      await guesser.post('/sign-in/code', { code: right === '000000' ? '111111' : '000000' })
    expect((await guesser.post('/sign-in/code', { code: right })).to).toContain('wrong=1')
  })

  test('tokens, codes and cookies are in the database only as digests, and the mail is sealed', async () => {
    const email = address()
    const visitor = new Visitor(testApi)
    await visitor.post('/sign-in', { email })
    const { path, code } = await linkIn(testApi, email)
    const rows = await many(
      testApi.db,
      z.object({ row: z.string() }),
      sql`select sign_in_link::text as row from sign_in_link
      union all select mail::text from mail union all select session::text from session`,
    )
    const secrets = [path.split('/').at(-1) ?? '', code, ...visitor.cookies.values()].filter((text) => text.length > 6)
    expect(secrets.length).toBeGreaterThan(1)
    for (const secret of secrets) expect(rows.filter(({ row }) => row.includes(secret))).toEqual([])
  })
})

describe('Strangers who request links to an address', () => {
  const from = (ip: string): Record<string, string> => ({ 'sec-fetch-site': 'same-origin', 'x-forwarded-for': ip })
  let proxied: TestApi
  beforeAll(async () => {
    proxied = await openTestApi({ deps: () => ({ trustProxyHops: 1 }) })
  })
  afterAll(() => proxied?.close())

  test('strangers do not use up the links of an owner who asks from another network', async () => {
    const email = address()
    for (let round = 0; round < 8; round++) await new Visitor(proxied).post('/sign-in', { email }, from('192.0.2.1'))
    expect(await mailsTo(proxied, email)).toHaveLength(5)
    await new Visitor(proxied).post('/sign-in', { email }, from('198.51.100.1'))
    expect(await mailsTo(proxied, email)).toHaveLength(6)
  })

  test('all networks together send twenty mails an hour, and a browser that signed in before still gets its own', async () => {
    const email = address()
    const owner = await signIn(proxied, email)
    for (let network = 1; network <= 30; network++)
      await new Visitor(proxied).post('/sign-in', { email }, from(`203.0.113.${network}`))
    expect(await mailsTo(proxied, email)).toHaveLength(20)
    owner.cookies.delete('pinrail_session')
    await owner.post('/sign-in', { email }, from('203.0.113.200'))
    expect(await mailsTo(proxied, email)).toHaveLength(21)
    const { path } = await linkIn(proxied, email)
    expect((await owner.post(path)).to).toBe('/dashboard')
  })

  test('one stranger does not use up the codes of an owner who asks from another network', async () => {
    const email = address()
    const stranger = from('192.0.2.60')
    for (let mail = 0; mail < 4; mail++) {
      const guesser = new Visitor(proxied)
      await guesser.post('/sign-in', { email }, stranger)
      for (let round = 0; round < 5; round++) await guesser.post('/sign-in/code', { code: '000000' }, stranger)
    }
    const again = new Visitor(proxied)
    await again.post('/sign-in', { email }, stranger)
    const { code: guessed } = await linkIn(proxied, email)
    const locked = await again.post('/sign-in/code', { code: guessed }, stranger)
    expect(locked.to).toContain('wrong=1')
    expect((await again.get(locked.to ?? '')).html).toContain('too many codes were tried')
    const owner = new Visitor(proxied)
    await owner.post('/sign-in', { email }, from('198.51.100.60'))
    const { code } = await linkIn(proxied, email)
    expect((await owner.post('/sign-in/code', { code }, from('198.51.100.60'))).to).toBe('/dashboard')
  })

  test('all networks together type at most a hundred wrong codes a day for one address', async () => {
    const email = address()
    await new Visitor(proxied).post('/sign-in', { email }, from('198.51.100.70'))
    await execute(
      proxied.db,
      sql`insert into sign_in_link (id, email, digest, code_digest, browser_digest, asked_from, code_tries, created_at, expires_at)
          select 'guess_' || n, ${email}, sha256(('a' || n)::bytea), sha256(('b' || n)::bytea), sha256(('c' || n)::bytea),
            'network ' || n, 5, now() - interval '2 hours', now() from generate_series(1, 20) n`,
    )
    const owner = new Visitor(proxied)
    await owner.post('/sign-in', { email }, from('198.51.100.71'))
    const { code, path } = await linkIn(proxied, email)
    expect((await owner.post('/sign-in/code', { code }, from('198.51.100.71'))).to).toContain('wrong=1')
    expect((await owner.post(path)).to).toBe('/dashboard')
  })

  test('the page says when too many links were requested, and the last one of the browser still works', async () => {
    const email = address()
    const owner = new Visitor(proxied)
    await owner.post('/sign-in', { email }, from('198.51.100.80'))
    const { path } = await linkIn(proxied, email)
    for (let network = 1; network <= 19; network++)
      await new Visitor(proxied).post('/sign-in', { email }, from(`203.0.113.${network}`))
    const refused = await owner.post('/sign-in', { email }, from('198.51.100.80'))
    const { html } = await owner.get(refused.to ?? '')
    expect(html).toContain('we sent no new one')
    expect(html).not.toContain('We sent a link')
    expect((await owner.post(path)).to).toBe('/dashboard')
  })

  test('a browser that signed in with another address counts as a stranger’s', async () => {
    const email = address()
    const stranger = await signIn(proxied, address())
    for (let round = 0; round < 8; round++) await stranger.post('/sign-in', { email }, from('192.0.2.9'))
    expect(await mailsTo(proxied, email)).toHaveLength(5)
    const owner = new Visitor(proxied)
    await owner.post('/sign-in', { email }, from('198.51.100.9'))
    expect(await mailsTo(proxied, email)).toHaveLength(6)
  })

  test('strangers do not use up the codes of a browser that signed in before', async () => {
    const email = address()
    const owner = await signIn(proxied, email)
    for (let network = 1; network <= 5; network++) {
      const guesser = new Visitor(proxied)
      await guesser.post('/sign-in', { email }, from(`192.0.2.${100 + network}`))
      for (let round = 0; round < 5; round++) await guesser.post('/sign-in/code', { code: '000000' })
    }
    owner.cookies.delete('pinrail_session')
    await owner.post('/sign-in', { email })
    const { code } = await linkIn(proxied, email)
    expect((await owner.post('/sign-in/code', { code })).to).toBe('/dashboard')
  })
})

describe('Secrecy of accounts', () => {
  test('the response and the number of mails are the same for an address with an account, one without, and one with too many requests', async () => {
    const known = address()
    await signUp(testApi, known)
    const unknown = address()
    const seen = []
    for (const email of [known, unknown]) {
      const visitor = new Visitor(testApi)
      const { status, to, html, headers } = await visitor.post('/sign-in', { email })
      const cookies = [...visitor.cookies].map(([name, value]) => `${name} ${value.length}`)
      const { text } = (await mailsTo(testApi, email)).at(-1) ?? { text: '' }
      const mail = text.replace(/link\/\S+/, 'link').replace(/\d{6}/, 'code')
      seen.push({ status, to, html, cookies, mail, policy: headers.get('content-security-policy') })
    }
    expect(seen[0]).toEqual(seen[1])
    const often = address()
    const answers = []
    for (let round = 0; round < 8; round++) {
      const { status, to } = await new Visitor(testApi).post('/sign-in', { email: often })
      answers.push(`${status} ${to}`)
    }
    expect(answers.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => '303 /sign-in/sent?to=%2Fdashboard'))
    expect(new Set(answers.slice(5))).toEqual(new Set(['303 /sign-in/sent?many=1&to=%2Fdashboard']))
    expect(await mailsTo(testApi, often)).toHaveLength(5)
  })

  test('an invalid address is refused with words, and no mail is written', async () => {
    for (const email of [
      '',
      'nobody',
      'a@b',
      'a b@shop.example',
      `${'x'.repeat(250)}@shop.example`,
      'a@shop.example\0',
    ]) {
      const answer = await new Visitor(testApi).post('/sign-in', { email })
      expect([email, answer.status]).toEqual([email, 400])
      expect(answer.html).toContain('Enter the whole address')
    }
  })
})

describe('Sessions', () => {
  test('a token from before signing in is invalid afterwards, and the old session ends', async () => {
    const email = address()
    const visitor = await signUp(testApi, email)
    const before = visitor.cookies.get('pinrail_session') ?? ''
    await visitor.post('/sign-in', { email })
    await visitor.post((await linkIn(testApi, email)).path)
    const after = visitor.cookies.get('pinrail_session')
    expect(after).not.toBe(before)
    const thief = new Visitor(testApi)
    thief.cookies.set('pinrail_session', before)
    expect((await thief.get('/dashboard')).to).toContain('/sign-in')
    const fixed = new Visitor(testApi)
    fixed.cookies.set('pinrail_session', 'A'.repeat(43))
    await fixed.post('/sign-in', { email })
    await fixed.post((await linkIn(testApi, email)).path)
    expect(fixed.cookies.get('pinrail_session')).not.toBe('A'.repeat(43))
  })

  test('an unused session ends after an hour, and every session after a day', async () => {
    const idle = await signUp(testApi, address())
    await later(IDLE_MS + 1000, async () => expect((await idle.get('/dashboard')).to).toContain('/sign-in'))
    const busy = await signUp(testApi, address())
    const hours = Math.floor(ABSOLUTE_MS / IDLE_MS)
    for (let half = 1; half < hours * 2; half++)
      await later((half * IDLE_MS) / 2, async () => expect((await busy.get('/dashboard')).status).toBe(200))
    await later(ABSOLUTE_MS + 1000, async () => expect((await busy.get('/dashboard')).to).toContain('/sign-in'))
  })

  test('signing out ends the session, and signing out everywhere else ends the others', async () => {
    const email = address()
    const [here, there] = [await signUp(testApi, email), await signIn(testApi, email)]
    expect((await there.get('/dashboard')).status).toBe(200)
    await here.submit('/dashboard/sessions/end-others')
    expect((await there.get('/dashboard')).to).toContain('/sign-in')
    expect((await here.get('/dashboard')).status).toBe(200)
    const kept = here.cookies.get('pinrail_session') ?? ''
    await here.submit('/dashboard/sign-out')
    here.cookies.set('pinrail_session', kept)
    expect((await here.get('/dashboard')).to).toContain('/sign-in')
  })

  test('a session of another person is not ended by its id', async () => {
    const [mine, other] = [await signUp(testApi, address()), await signUp(testApi, address())]
    // Only sessions of the other person: ending the own session first would make the second check meaningless.
    const rows = await many(
      testApi.db,
      z.object({ id: z.string() }),
      sql`select id from session where ended_at is null and person_id =
          (select person_id from session order by created_at desc limit 1)`,
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { id } of rows) await mine.submit('/dashboard/sessions/end', { id })
    await mine.submit('/dashboard/sessions/end-others')
    expect((await other.get('/dashboard')).status).toBe(200)
  })

  test('a page that needs a fresh confirmation asks for it after ten minutes, by a link that leads back', async () => {
    const email = address()
    const visitor = await signUp(testApi, email)
    expect((await visitor.get('/dashboard/passkey')).status).toBe(200)
    await later(CONFIRMED_MS + 1000, async () => {
      const asked = askedBy(await visitor.get('/dashboard/passkey'))
      await visitor.submit('/dashboard/confirm', { asked })
      const { path } = await linkIn(testApi, email)
      const thief = await signUp(testApi, address())
      thief.cookies.set('pinrail_browser', visitor.cookies.get('pinrail_browser') ?? '')
      expect((await thief.get(`/dashboard/confirm?asked=${asked}`)).to).toBe('/dashboard')
      const back = await visitor.post(path)
      expect(back.to).toBe('/dashboard/passkey')
      expect((await visitor.get('/dashboard/passkey')).status).toBe(200)
    })
  })

  test('a long form with an error is shown with its values after the confirmation, and its mail names wallet and page', async () => {
    const email = address()
    const visitor = await signUp(testApi, email)
    await askToConfirm(testApi, visitor)
    const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
    const signature = `0x${'ab'.repeat(900)}`
    const form = { address: wallet, again: `${wallet.slice(0, -1)}1`, signature }
    const asked = askedBy(await visitor.submit('/dashboard/wallet', form))
    const what = 'the change of your wallet to 0x90F7…b906'
    expect((await visitor.get(`/dashboard/confirm?asked=${asked}`)).html).toContain(what)
    const done = await confirmByMail(testApi, visitor, email, asked)
    expect(done.status).toBe(400)
    for (const text of [wallet, signature, 'The last character differs']) expect(done.html).toContain(text)
    const mail = (await mailsTo(testApi, email)).at(-1)
    expect([mail?.subject, mail?.text.includes(`asked for ${what}.`)]).toEqual([`Confirm ${what}`, true])
  })

  test('a session carries out only a form whose confirmation it requested, and no other form replaces it', async () => {
    const visitor = await signUp(testApi, address())
    const other = await signUp(testApi, address())
    await askToConfirm(testApi, other)
    const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
    const asked = askedBy(await other.submit('/dashboard/wallet', { address: wallet, again: wallet }))
    for (const path of ['/dashboard/wallet', '/dashboard/sign-out', '/dashboard/keys']) {
      expect((await visitor.submit(`${path}?confirmed=${asked}`, { address: wallet, again: wallet })).to).toBe(
        '/dashboard',
      )
      expect((await other.submit(`${path}?confirmed=nothing`)).to).toBe('/dashboard')
    }
    expect((await other.submit(`/dashboard/sign-out?confirmed=${asked}`)).to).toBe('/dashboard')
    expect(askedBy(await other.submit(`/dashboard/wallet?confirmed=${asked}`))).not.toBe(asked)
    const { rows } = await testApi.db.query(
      'select count(*)::int as n from wallet where address = lower($1) or address = $1',
      [wallet],
    )
    expect(rows[0]?.['n']).toBe(0)
    expect((await visitor.get('/dashboard')).status).toBe(200)
  })

  test('a link that confirms a session signs nobody else in', async () => {
    const email = address()
    const visitor = await signUp(testApi, email)
    await visitor.submit('/dashboard/confirm', { asked: await askToConfirm(testApi, visitor) })
    const { path } = await linkIn(testApi, email)
    const thief = await signUp(testApi, address())
    thief.cookies.set('pinrail_browser', visitor.cookies.get('pinrail_browser') ?? '')
    expect((await thief.post(path)).status).toBe(404)
    const nobody = new Visitor(testApi)
    nobody.cookies.set('pinrail_browser', visitor.cookies.get('pinrail_browser') ?? '')
    expect((await nobody.post(path)).status).toBe(404)
    expect(nobody.cookies.has('pinrail_session')).toBe(false)
  })
})

describe('The page after signing in', () => {
  test.each([
    'https://evil.example/dashboard',
    '//evil.example/dashboard',
    '/\\evil.example',
    '/dashboard/../../evil',
    '/dashboard//evil.example',
    '/dashboard/..%2f..%2fsign-in\\',
    '/dashboardevil',
    'javascript:alert(1)',
    '/dashboard/\r\nset-cookie: a=b',
  ])('after signing in, %s leads to the dashboard', async (to) => {
    const email = address()
    const visitor = new Visitor(testApi)
    const asked = await visitor.post('/sign-in', { email, to })
    expect(asked.to).toBe('/sign-in/sent?to=%2Fdashboard')
    const done = await visitor.post((await linkIn(testApi, email)).path, { to })
    expect(done.to).toBe('/dashboard')
  })
})

test('links use the configured URL, whatever host the request names', async () => {
  const email = address()
  for (const headers of [{ 'x-forwarded-host': 'evil.example' }, { forwarded: 'host=evil.example' }]) {
    await new Visitor(testApi).post('/sign-in', { email }, { 'sec-fetch-site': 'same-origin', ...headers })
    expect((await mailsTo(testApi, email)).at(-1)?.text).not.toContain('evil.example')
  }
})

test('the demo button is absent, and does nothing, if no demo person is configured', async () => {
  const visitor = new Visitor(testApi)
  expect((await visitor.get('/sign-in')).html).not.toContain('demo shop')
  await visitor.post('/sign-in/demo')
  expect(visitor.cookies.size).toBe(0)
})

describe('Passkeys', () => {
  const site = { origin: 'http://localhost:4242', rpId: 'localhost' }
  let testApi: TestApi
  let ahead = 0
  beforeAll(async () => {
    testApi = await openTestApi({ deps: () => ({ publicUrl: site.origin, clock: () => Date.now() + ahead }) })
  })
  afterAll(() => testApi?.close())

  const CHALLENGE_MS = 600_000
  /** Responses of a dishonest or broken authenticator, or of one that another site asked. */
  const LIES: readonly [string, Lies][] = [
    ['of another site', { origin: 'https://evil.example' }],
    ['of a site whose name begins as ours', { origin: 'http://localhost:4242.evil.example' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['of the other ceremony', { type: 'payment.get' }],
    ['to a challenge of nobody', { challenge: Buffer.alloc(56).toString('base64url') }],
    ['to an empty challenge', { challenge: '' }],
  ]

  async function optionsOn(visitor: Visitor, path: string): Promise<string> {
    const found = /data-options="([^"]+)"/.exec((await visitor.get(path)).html)?.[1] ?? ''
    return found.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  }
  const passkeys = async (): Promise<number> =>
    Number((await testApi.db.query('select count(*)::int as n from passkey')).rows[0]?.n)

  async function withPasskey(email: string) {
    const visitor = await signUp(testApi, email)
    const device = createAuthenticator(site)
    const answer = device.create(await optionsOn(visitor, '/dashboard/passkey'))
    expect((await visitor.submit('/dashboard/passkeys', { answer })).to).toBe('/dashboard/account')
    return { visitor, device, email }
  }
  const enter = (answer: string) => new Visitor(testApi).post('/sign-in/passkey', { answer })

  const confirmPage = (asked: string): string => `/dashboard/confirm?asked=${asked}`

  test('a passkey signs in; each response counts once, within ten minutes, and for its purpose', async () => {
    const { visitor, device } = await withPasskey('pk-one@shop.example')
    const options = await optionsOn(new Visitor(testApi), '/sign-in')
    const answer = device.get(options)
    const answers = await Promise.all(Array.from({ length: 5 }, () => enter(answer)))
    expect(answers.filter(({ to }) => to === '/dashboard')).toHaveLength(1)
    expect((await enter(device.get(options))).to).toContain('/sign-in')
    const late = device.get(await optionsOn(new Visitor(testApi), '/sign-in'))
    ahead = CHALLENGE_MS + 1000
    expect((await enter(late)).to).toContain('/sign-in')
    ahead = 0
    const addition = device.get(await optionsOn(visitor, '/dashboard/passkey'))
    expect((await enter(addition)).to).toContain('/sign-in')
    const confirmation = device.get(await optionsOn(visitor, confirmPage(await askToConfirm(testApi, visitor))))
    expect((await enter(confirmation)).to).toContain('/sign-in')
  })

  test.each([
    ...LIES,
    ['of somebody who was not verified', { flags: 0x01 }],
    ['of a copied device', { counter: 1 }],
  ] as const)(
    'a response %s signs nobody in, confirms nothing and is in the log of its person',
    async (_name, lies) => {
      const { visitor, device, email } = await withPasskey(`pk-${Math.random()}@shop.example`)
      await enter(device.get(await optionsOn(new Visitor(testApi), '/sign-in')))
      const entered = await enter(device.get(await optionsOn(new Visitor(testApi), '/sign-in'), lies))
      expect([entered.to, entered.headers.getSetCookie()]).toEqual([expect.stringContaining('/sign-in'), []])
      const failed = sql`select data ->> 'how' as how from audit_entry join person on person.id = actor
      where action = 'person.sign_in_failed' and email = ${email}`
      const logged = await many(testApi.db, z.object({ how: z.string() }), failed)
      expect(logged).toEqual('challenge' in lies ? [] : [{ how: 'passkey' }])
      ahead = CONFIRMED_MS + 1000
      const asked = await askToConfirm(testApi, visitor)
      const answer = device.get(await optionsOn(visitor, confirmPage(asked)), lies)
      await visitor.submit('/dashboard/confirm/passkey', { answer, asked })
      expect((await visitor.get('/dashboard/passkey')).to).toContain('/dashboard/confirm')
      ahead = 0
    },
  )

  test.each([...LIES, ['of somebody who was not verified', { flags: 0x41 }]] as const)(
    'a new passkey is not stored: %s',
    async (_name, lies) => {
      const visitor = await signUp(testApi, `new-${Math.random()}@shop.example`)
      const before = await passkeys()
      const answer = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'), lies)
      expect((await visitor.submit('/dashboard/passkeys', { answer })).to).toBe('/dashboard/passkey?problem=failed')
      expect(await passkeys()).toBe(before)
    },
  )

  test('only a person’s own passkey confirms, in the session that asked; a confirmation leads to the page', async () => {
    const { visitor, device } = await withPasskey('pk-own@shop.example')
    const other = await withPasskey('pk-other@shop.example')
    ahead = CONFIRMED_MS + 1000
    const to = '/dashboard/passkey'
    const asked = await askToConfirm(testApi, visitor)
    const foreign = other.device.get(await optionsOn(visitor, confirmPage(asked)))
    await visitor.submit('/dashboard/confirm/passkey', { answer: foreign, asked })
    expect((await visitor.get(to)).to).toContain('/dashboard/confirm')
    const elsewhere = device.get(
      await optionsOn(other.visitor, confirmPage(await askToConfirm(testApi, other.visitor))),
    )
    await visitor.submit('/dashboard/confirm/passkey', { answer: elsewhere, asked })
    expect((await visitor.get(to)).to).toContain('/dashboard/confirm')
    const answer = device.get(await optionsOn(visitor, confirmPage(asked)))
    expect((await visitor.submit('/dashboard/confirm/passkey', { answer, asked })).to).toBe(to)
    expect((await visitor.get(to)).status).toBe(200)
    ahead = 0
  })

  test('a passkey is added only after a confirmation, in the session that asked; a known one leaves no trace', async () => {
    const { device } = await withPasskey('pk-known@shop.example')
    const visitor = await signUp(testApi, 'pk-thief@shop.example')
    const other = await signUp(testApi, 'pk-third@shop.example')
    const before = await passkeys()
    const elsewhere = createAuthenticator(site).create(await optionsOn(other, '/dashboard/passkey'))
    await visitor.submit('/dashboard/passkeys', { answer: elsewhere })
    expect(await passkeys()).toBe(before)
    const known = device.create(await optionsOn(visitor, '/dashboard/passkey'))
    expect((await visitor.submit('/dashboard/passkeys', { answer: known })).to).toBe('/dashboard/passkey?problem=known')
    expect(await passkeys()).toBe(before)
    expect((await visitor.get('/dashboard/team')).html).not.toContain('passkey added')
    const fresh = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'))
    ahead = CONFIRMED_MS + 1000
    expect((await visitor.submit('/dashboard/passkeys', { answer: fresh })).to).toContain('/dashboard/confirm')
    expect(await passkeys()).toBe(before)
    ahead = 0
  })

  test('a passkey of another person cannot be removed; without any, the link by mail always works', async () => {
    const mine = await withPasskey('pk-remove@shop.example')
    const other = await withPasskey('pk-keep@shop.example')
    const before = await passkeys()
    await mine.visitor.submit('/dashboard/passkeys/remove', { id: other.device.id })
    expect(await passkeys()).toBe(before)
    await mine.visitor.submit('/dashboard/passkeys/remove', { id: mine.device.id })
    expect(await passkeys()).toBe(before - 1)
    expect((await enter(mine.device.get(await optionsOn(new Visitor(testApi), '/sign-in')))).to).toContain('/sign-in')
    const again = new Visitor(testApi)
    await again.post('/sign-in', { email: mine.email })
    expect((await again.post((await linkIn(testApi, mine.email)).path)).to).toBe('/dashboard')
  })

  test('adding a passkey ends earlier sessions, so that a stolen one does not outlive it', async () => {
    const visitor = await signUp(testApi, 'pk-stolen@shop.example')
    const thief = new Visitor(testApi)
    thief.cookies.set('pinrail_session', visitor.cookies.get('pinrail_session') ?? '')
    await visitor.post('/sign-in', { email: 'pk-stolen@shop.example' })
    await visitor.post((await linkIn(testApi, 'pk-stolen@shop.example')).path)
    const answer = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'))
    await visitor.submit('/dashboard/passkeys', { answer })
    expect((await thief.get('/dashboard')).to).toContain('/sign-in')
    expect((await visitor.get('/dashboard')).status).toBe(200)
  })

  test('removing a passkey ends all other sessions: one that was signed in with it does not outlive it', async () => {
    const { visitor, device, email } = await withPasskey('pk-lost@shop.example')
    const finder = new Visitor(testApi)
    await finder.post('/sign-in', { email })
    await finder.post((await linkIn(testApi, email)).path)
    expect((await finder.get('/dashboard/account')).status).toBe(200)
    await visitor.submit('/dashboard/passkeys/remove', { id: device.id })
    expect((await finder.get('/dashboard/account')).to).toContain('/sign-in')
    expect((await visitor.get('/dashboard/account')).status).toBe(200)
  })

  describe('Messages about passkeys', () => {
    test('a sign-in with a removed passkey says that it was removed, and what to do', async () => {
      const { visitor, device } = await withPasskey('pk-says@shop.example')
      await visitor.submit('/dashboard/passkeys/remove', { id: device.id })
      const asking = new Visitor(testApi)
      const refused = await enter(device.get(await optionsOn(asking, '/sign-in')))
      const { html } = await asking.get(refused.to ?? '')
      expect(html).toContain('This passkey no longer works: it was removed from its account.')
    })

    test('a page that was open for too long says so, and does not say that the passkey was removed', async () => {
      const { device } = await withPasskey('pk-slow@shop.example')
      const asking = new Visitor(testApi)
      const late = device.get(await optionsOn(asking, '/sign-in'))
      ahead = CHALLENGE_MS + 1000
      const refused = await enter(late)
      ahead = 0
      expect((await asking.get(refused.to ?? '')).html).toContain('the page was open for more than 10 minutes')
    })

    test('a second passkey on the same device gets an error in words', async () => {
      const { visitor, device } = await withPasskey('pk-twice@shop.example')
      const answer = device.create(await optionsOn(visitor, '/dashboard/passkey'))
      const again = await visitor.submit('/dashboard/passkeys', { answer })
      const { html } = await visitor.get(again.to ?? '')
      expect(html).toContain('This device already has a passkey for you. You can sign in with it.')
    })

    test('another person’s passkey does not confirm, and the page says that it belongs to another person', async () => {
      const mine = await withPasskey('pk-mine@shop.example')
      const other = await withPasskey('pk-theirs@shop.example')
      const asked = await askToConfirm(testApi, mine.visitor)
      const answer = other.device.get(await optionsOn(mine.visitor, confirmPage(asked)))
      const refused = await mine.visitor.submit('/dashboard/confirm/passkey', { answer, asked })
      expect((await mine.visitor.get(refused.to ?? '')).html).toContain('This passkey belongs to another person.')
    })

    test('a person has at most twenty passkeys, and the page says to remove one', async () => {
      const { visitor } = await withPasskey('pk-many@shop.example')
      await testApi.db.query(
        `insert into passkey (id, person_id, public_key, counter, transports, name)
       select 'many-' || n, person.id, ''::bytea, 0, '{}', 'x' from person, generate_series(2, $1) n where email = $2`,
        [MOST_PASSKEYS, 'pk-many@shop.example'],
      )
      const before = await passkeys()
      const answer = createAuthenticator(site).create(await optionsOn(visitor, '/dashboard/passkey'))
      const refused = await visitor.submit('/dashboard/passkeys', { answer })
      expect((await visitor.get(refused.to ?? '')).html).toContain('You have 20 passkeys, which is the limit.')
      expect(await passkeys()).toBe(before)
    })

    test('a response whose id has NUL is refused as any other, and the server does not fail', async () => {
      const { device } = await withPasskey('pk-nul@shop.example')
      const answer = JSON.parse(device.get(await optionsOn(new Visitor(testApi), '/sign-in'))) as { id: string }
      const refused = await enter(JSON.stringify({ ...answer, id: `${answer.id}\0` }))
      expect([refused.status, refused.to]).toEqual([303, '/sign-in?passkey=failed&to=%2Fdashboard'])
    })
  })
})

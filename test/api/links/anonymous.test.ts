import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { setWallet } from '../../../src/db/merchants/wallets.ts'
import { mailsTo, signIn, signUp, Visitor } from '../site/visitor.ts'
import { NO_LIMITS } from '../support/limits.ts'
import { insertOwnAddresses } from '../support/own-addresses.ts'
import { openTestApi, type TestApi, WALLET } from '../support/test-api.ts'
import {
  FORM,
  getOnce,
  linkFixture,
  madeIn,
  makeAnonymous,
  OWN_WALLET,
  pressIn,
  pressOn,
  sendForm,
  withoutLimits,
} from './maker.ts'

describe('Links without an account', () => {
  const FREE = { ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 } }
  let limits = createRequestLimits(FREE)
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: ({ limits: usual }) => ({ limits: { ...usual, countForm: (...of) => limits.countForm(...of) } }),
    })
  }, 60_000)
  afterAll(() => testApi?.close())

  const rows = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
    (await testApi.db.query(text, values)).rows
  const counts = async () =>
    (
      await rows(
        'select (select count(*) from payment_link)::int as links, (select count(*) from merchant)::int as merchants',
      )
    )[0]

  /** Each test has its own wallets: a wallet has a limit per day. */
  let wallets = 0
  const wallet = (): string => `0x${(0xabcd0000 + wallets++).toString(16).padStart(40, '1')}`

  describe('the form', () => {
    test('the form makes a link that pays the wallet, and shows its secret once', async () => {
      const answer = await sendForm(testApi, { description: 'Three\r\ncoffees', max_payments: '5' })
      expect(answer.status).toBe(200)
      const { path, code, owner } = madeIn(answer.html)
      const [link] = await rows('select * from payment_link where code = $1', [code])
      expect(link).toMatchObject({
        wallet: OWN_WALLET,
        anonymous: true,
        created_via: 'form',
        amount_minor: '6400',
        description: 'Three coffees',
        max_payments: 5,
      })
      expect((await pressOn(testApi, path)).status).toBe(303)
      const [payment] = await rows('select * from payment where payment_link = $1', [link?.['id']])
      expect(payment).toMatchObject({ destination: OWN_WALLET, merchant_id: link?.['merchant_id'] })
      // No stored value reveals the secret.
      const token = owner.slice('/o/'.length)
      const tables = await rows(
        "select table_name as name from information_schema.tables where table_schema = 'public'",
      )
      expect(tables.length).toBeGreaterThan(20)
      const bytes = Buffer.from(token, 'base64url').toString('hex')
      for (const { name } of tables) {
        const [{ found } = {}] = await rows(
          `select count(*)::int as found from "${String(name)}" t where t::text like $1 or t::text like $2`,
          [`%${token}%`, `%${bytes}%`],
        )
        expect([name, found]).toEqual([name, 0])
      }
      const page = new Visitor(testApi)
      expect((await page.get(path)).html).not.toContain(token)
      // Buyers read that nobody knows who asks, and where the money goes.
      expect((await page.get(path)).html).toContain(OWN_WALLET)
    })

    test('the form has a page for each way to write an amount', async () => {
      const open = await makeAnonymous(testApi, {
        kind: 'open',
        amount: '',
        min_amount: '5',
        max_amount: '١٢٫٥٠ €',
        max_payments: '1,000',
      })
      const [link] = await rows(
        'select amount_minor, min_minor, max_minor, max_payments from payment_link where code = $1',
        [open.code],
      )
      expect(link).toEqual({ amount_minor: null, min_minor: '500', max_minor: '1250', max_payments: 1000 })
    })

    test.each([
      ['a wallet that is none', { wallet: '0x12' }, 'hexadecimal digits'],
      ['a mistyped wallet', { wallet: OWN_WALLET.replace('3C44', '3c44') }, 'EIP-55'],
      ['the address nobody has', { wallet: `0x${'0'.repeat(40)}` }, 'whose key somebody has'],
      ['the token', { wallet: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359' }, 'contract of a token'],
      ['a known contract', { wallet: '0xca11bde05977b3631167028862be2a173976ca11' }, 'not a shared contract'],
      ['no title', { title: ' ' }, '1 to 100 characters'],
      ['no amount', { amount: '' }, 'Enter an amount in EUR, such as 12.50.'],
      ['an amount with two readings', { amount: '1.250' }, 'For 1,250.00 EUR, enter 1250.00.'],
      ['an amount of another currency', { amount: '$12' }, 'Enter the amount in EUR'],
      ['decimals of a yen', { amount: '12.5', currency: 'JPY' }, 'JPY has no decimals.'],
      ['decimals that are not there', { amount: '12.3456' }, 'decimal'],
      ['too little', { amount: '1' }, 'The minimum is 1.60 EUR.'],
      [
        'too little for the method',
        { provider: 'wallet_app', amount: '5' },
        'The minimum for Banking app is 6.00 EUR.',
      ],
      ['a currency that the method has not', { provider: 'local_partner', currency: 'SEK' }, 'must'],
      ['a method that is none', { provider: 'cash' }, 'must'],
      ['a limit that is none', { max_payments: '-1' }, 'must'],
      ['an end in the past', { expires_at: '2020-01-01' }, 'future'],
      ['a way back that is a script', { success_url: 'javascript:alert(1)' }, 'https'],
      ['bounds the wrong way round', { kind: 'open', min_amount: '9', max_amount: '5' }, 'less than min_amount'],
    ] as const)('the form refuses %s, says why, and makes nothing', async (_name, fields, why) => {
      const before = await counts()
      const answer = await sendForm(testApi, { wallet: wallet(), ...fields })
      expect([answer.status, answer.html.toLowerCase().includes(why.toLowerCase())]).toEqual([400, true])
      expect(answer.html).toContain('to correct')
      // The form keeps what was typed.
      expect(answer.html).toContain('Tasting box'.slice(0, 'title' in fields ? 0 : undefined))
      expect(await counts()).toEqual(before)
    })

    test('the form refuses relayers, treasuries and deposit addresses of the platform, in any spelling', async () => {
      for (const own of await insertOwnAddresses(testApi)) {
        const answer = await sendForm(testApi, { wallet: own })
        expect([answer.status, answer.html.includes('this one belongs to the platform')]).toEqual([400, true])
      }
    })

    test('the form makes one link when it is sent again, or twice at once', async () => {
      const before = await counts()
      const visitor = new Visitor(testApi)
      const form = { ...FORM, wallet: wallet(), once: getOnce((await visitor.get('/links')).html) }
      const answers = await Promise.all(Array.from({ length: 6 }, () => visitor.post('/links', form)))
      answers.push(await visitor.post('/links', form))
      expect(new Set(answers.map(({ html }) => madeIn(html).owner)).size).toBe(1)
      expect(await counts()).toEqual({
        links: Number(before?.['links']) + 1,
        merchants: Number(before?.['merchants']) + 1,
      })
      // After going back and changing it, the form makes another link: the first one keeps its price.
      const other = madeIn((await visitor.post('/links', { ...form, amount: '65' })).html)
      expect(other.owner).not.toBe(madeIn(answers[0]?.html ?? '').owner)
    })

    test('the form is refused from another site, and without its hidden field', async () => {
      const before = await counts()
      const visitor = new Visitor(testApi)
      const form = { ...FORM, wallet: wallet(), once: getOnce((await visitor.get('/links')).html) }
      const foreign: Record<string, string>[] = [
        {},
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]
      for (const headers of foreign) expect((await visitor.post('/links', form, headers)).status).toBe(403)
      for (const once of ['', 'x', 'x'.repeat(23)])
        expect((await visitor.post('/links', { ...form, once })).status).toBe(400)
      expect((await visitor.post('/links', { ...form, title: 'a\0b' })).status).toBe(400)
      expect(await counts()).toEqual(before)
    })

    test('the form makes a limited number of links for a wallet per day, for any client, and none for a stopped wallet', async () => {
      const to = wallet()
      const answers = await Promise.all(Array.from({ length: 24 }, () => sendForm(testApi, { wallet: to })))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
      expect(answers.find(({ status }) => status === 400)?.html).toContain('Accounts have no such limit')
      const bad = wallet()
      const { code } = await makeAnonymous(testApi, { wallet: bad })
      await rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [code])
      const refused = await sendForm(testApi, { wallet: bad.replace('0x', '0X').toUpperCase().replace('0X', '0x') })
      expect([refused.status, refused.html.includes('We take no payments to this wallet')]).toEqual([400, true])
    }, 30_000)

    test('the form makes a limited number of links for an address per hour', async () => {
      limits = createRequestLimits({ ...FREE, formsPerHour: 3 })
      const statuses = []
      for (let n = 0; n < 5; n++) statuses.push((await sendForm(testApi, { wallet: wallet() })).status)
      // A form with errors is refused without being counted.
      statuses.push((await sendForm(testApi, { title: '' })).status)
      limits = createRequestLimits(FREE)
      expect(statuses).toEqual([200, 200, 200, 429, 429, 400])
    })
  })

  describe('While somebody types', () => {
    const hints = async (fields: Record<string, string>) => {
      const { html } = await new Visitor(testApi).get(`/links/hints?${new URLSearchParams({ ...FORM, ...fields })}`)
      return JSON.parse(html) as {
        amount: { tone: string; text: string }
        wallet: { tone: string; text: string } | null
      }
    }

    test('the form shows the limits of the method, the errors, and what arrives', async () => {
      // 64 EUR at 1.25 are 80 USDC; 4.5 % are 3.6.
      expect((await hints({})).amount).toEqual({ tone: 'quiet', text: 'You receive about 76.40 USDC after our fee.' })
      expect((await hints({ amount: '12' })).amount.text).toBe(
        'You receive about 14.32 USDC after our fee. It is below the minimum of UPI (24.00 EUR): those buyers see other ways to pay.',
      )
      expect((await hints({ amount: '5', provider: 'wallet_app' })).amount).toEqual({
        tone: 'problem',
        text: 'The minimum for Banking app is 6.00 EUR.',
      })
      expect((await hints({ amount: '1e3' })).amount.tone).toBe('problem')
      expect((await hints({ currency: 'SEK', provider: 'local_partner' })).amount.text).toBe('UPI does not accept SEK.')
      expect((await hints({ kind: 'open', provider: 'wallet_app' })).amount.text).toBe(
        'Banking app accepts 6.00 EUR to 10,000.00 EUR.',
      )
      // In the currency of the field: at 0.0068 and 1.25, rounded inward.
      expect((await hints({ kind: 'open', currency: 'JPY' })).amount.text).toMatch(
        /^It can be [\d,]+ JPY to [\d,]+ JPY\.$/,
      )
      expect((await hints({ amount: '12.5', currency: 'JPY' })).amount.text).toBe('JPY has no decimals.')
      expect((await hints({ amount: 'x', currency: 'JPY' })).amount.text).toBe('Enter an amount in JPY, such as 1250.')
      expect((await hints({ kind: 'open', min_amount: '1,250' })).amount.text).toContain('can be read in two ways')
      expect((await hints({})).wallet?.tone).toBe('success')
      expect((await hints({ wallet: OWN_WALLET.toLowerCase() })).wallet?.tone).toBe('quiet')
      expect((await hints({ wallet: '0x1' })).wallet?.tone).toBe('problem')
    })

    test('the preview is the page of the link, only in a frame of the platform, and nothing in it works', async () => {
      const answer = await new Visitor(testApi).get(`/links/preview?${new URLSearchParams(FORM)}`)
      expect(answer.html).toContain('€64.00')
      expect(answer.html).toContain('0x3C44…93BC')
      expect(answer.html).toContain('inert')
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("frame-ancestors 'self'")
      expect(policy).toContain("form-action 'none'")
      const page = await new Visitor(testApi).get('/links')
      expect(page.headers.get('content-security-policy')).toContain("frame-src 'self'")
      expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      const hostile = { ...FORM, title: '<script>alert(1)</script>', currency: '__proto__', amount: '9'.repeat(3000) }
      expect((await new Visitor(testApi).get(`/links/preview?${new URLSearchParams(hostile)}`)).status).toBe(200)
    })
  })

  test('a link that is to be reported is found by its URL', async () => {
    const visitor = new Visitor(testApi)
    expect((await visitor.get('/links/report')).status).toBe(200)
    for (const link of [
      'https://pay.example/l/k7Qm2vXa9B',
      'k7Qm2vXa9B',
      ' https://pay.example/l/k7Qm2vXa9B?amount=5 ',
    ])
      expect((await visitor.get(`/links/report?${new URLSearchParams({ link })}`)).to).toBe('/l/k7Qm2vXa9B/report')
    for (const link of ['https://evil.example', '//evil.example/l/x', ''])
      expect((await visitor.get(`/links/report?${new URLSearchParams({ link })}`)).status).toBe(400)
  })
})

describe('Owners of links', () => {
  const logged: string[] = []
  let testApi: TestApi
  let fixture: ReturnType<typeof linkFixture>
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: (composed) => ({
        ...withoutLimits(composed),
        log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
      }),
    })
    fixture = linkFixture(testApi)
  })
  afterAll(() => testApi?.close())

  describe('The page of the owner', () => {
    describe('the page of the owner', () => {
      test('the page of the owner shows what the link was paid, pauses and resumes it, and ends it for good', async () => {
        const made = await fixture.make({ inactive_message: 'Back on Monday' })
        await pressOn(testApi, made.path)
        await pressOn(testApi, made.path)
        const [first] = await fixture.readPayments(made)
        await fixture.rows(
          `update payment set status = 'succeeded', gross_micro = 80000000, fee_micro = 3600000, net_micro = 76400000,
           rate = '1.25', rate_source = 'test', rate_locked_at = now(), succeeded_at = now() where id = $1`,
          [first?.['id']],
        )
        const owner = new Visitor(testApi)
        const { html, status } = await owner.get(made.owner)
        expect(status).toBe(200)
        for (const said of ['of 2 started', '76.40', '3.60', 'Succeeded', 'This page is secret'])
          expect(html).toContain(said)
        expect((await owner.post(`${made.owner}/pause`)).to).toBe(made.owner)
        expect((await owner.get(made.owner)).html).toContain('Paused')
        expect((await pressOn(testApi, made.path)).status).toBe(400)
        expect((await owner.get(made.path)).html).toContain('Back on Monday')
        await owner.post(`${made.owner}/resume`)
        expect((await pressOn(testApi, made.path)).status).toBe(303)
        await owner.post(`${made.owner}/end`)
        await owner.post(`${made.owner}/resume`)
        expect((await owner.get(made.owner)).html).toContain('Ended')
        expect((await pressOn(testApi, made.path)).status).toBe(400)
        expect(await fixture.readPayments(made)).toHaveLength(3)
      })

      test('the page of the owner says that an operator stopped the link, and cannot open it again', async () => {
        const made = await fixture.make()
        await fixture.rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [
          made.code,
        ])
        const owner = new Visitor(testApi)
        expect((await owner.get(made.owner)).html).toContain('We stopped this link')
        for (const action of ['pause', 'resume', 'end']) await owner.post(`${made.owner}/${action}`)
        expect(await fixture.linkRow(made)).toMatchObject({ active: true, stopped_reason: 'fraud', expires_at: null })
        expect((await pressOn(testApi, made.path)).status).toBe(400)
      })

      test('the page of the owner cannot be guessed: every wrong secret gets the same response', async () => {
        const made = await fixture.make()
        const token = made.owner.slice('/o/'.length)
        const guesses = [
          'A'.repeat(43),
          token.slice(0, 42),
          `${token}A`,
          token.toLowerCase(),
          `${token}=`,
          made.code,
          `${made.code}/${token}`,
          '%00',
          `%20${token}`,
          "' or true--",
          encodeURIComponent('../l'),
        ]
        const visitor = new Visitor(testApi)
        const pages = await Promise.all(guesses.map((guess) => visitor.get(`/o/${guess}`)))
        expect(pages.map(({ status }) => status)).toEqual(guesses.map(() => 404))
        expect(new Set(pages.map(({ html }) => html)).size).toBe(1)
        for (const guess of guesses.slice(0, 6))
          for (const action of ['pause', 'resume', 'end', 'claim'])
            expect((await visitor.post(`/o/${guess}/${action}`)).status).toBe(404)
        expect(await fixture.linkRow(made)).toMatchObject({ active: true, expires_at: null })
      })

      test('the page of the owner refuses forms of another site, and changes nothing when it is opened', async () => {
        const made = await fixture.make()
        const visitor = new Visitor(testApi)
        const foreign: Record<string, string>[] = [
          {},
          { origin: 'https://evil.example' },
          { origin: 'null' },
          { 'sec-fetch-site': 'cross-site' },
        ]
        for (const headers of foreign)
          for (const action of ['pause', 'end', 'claim'])
            expect((await visitor.post(`${made.owner}/${action}`, {}, headers)).status).toBe(403)
        for (const action of ['pause', 'resume', 'end', 'claim'])
          expect((await visitor.get(`${made.owner}/${action}`)).status).toBe(405)
        expect(await fixture.linkRow(made)).toMatchObject({ active: true, expires_at: null })
        expect(
          (
            await fixture.rows('select ticket_digest from link_owner where payment_link = $1', [
              (await fixture.linkRow(made))['id'],
            ])
          )[0],
        ).toEqual({
          ticket_digest: null,
        })
      })

      test('the page of the owner leaks its URL to no log, no cache, no search engine and no other site', async () => {
        const made = await fixture.make()
        const token = made.owner.slice('/o/'.length)
        logged.length = 0
        const visitor = new Visitor(testApi)
        const page = await visitor.get(made.owner)
        const ticket = await fixture.readTicket(made)
        await visitor.post(`${made.owner}/pause`, {}, {})
        await visitor.get(`${made.owner}/nothing`)
        await visitor.get(ticket)
        expect(logged.length).toBeGreaterThan(3)
        expect(logged.filter((line) => line.includes(token) || line.includes(ticket.split('/').at(-1) ?? '?'))).toEqual(
          [],
        )
        expect(page.headers.get('cache-control')).toBe('no-store')
        expect(page.headers.get('x-robots-tag')).toContain('noindex')
        expect(page.headers.get('referrer-policy')).toBe('no-referrer')
        expect(page.html).toContain('<meta name="referrer" content="same-origin"')
        // No page of a buyer contains it either, and no request goes to another origin.
        const [, ...links] = page.html.split('<a ').map((rest) => rest.slice(0, rest.indexOf('>')))
        for (const link of links.filter((attributes) => attributes.includes('/l/')))
          expect(link).toContain('rel="noreferrer"')
        expect(page.html).not.toMatch(/(?:src|action)="https?:/)
        expect((await visitor.get('/robots.txt')).html).toContain('Disallow: /o/')
      })
    })

    describe('bringing a link into an account', () => {
      test('bringing in a link moves it to the account with its wallet, its payments and its presses unchanged', async () => {
        const made = await fixture.make({ wallet: OWN_WALLET })
        const buyer = new Visitor(testApi)
        const press = pressIn((await buyer.get(made.path)).html)
        const first = await buyer.post(made.path, { press })
        const before = await fixture.linkRow(made)
        const owner = await fixture.newOwner()
        const ticket = await fixture.readTicket(made)
        const asked = await owner.get(ticket)
        expect([asked.status, asked.html.includes('Is this wallet yours?')]).toEqual([200, true])
        expect(await fixture.linkRow(made)).toEqual(before)
        const done = await owner.submit(ticket)
        expect(done.to).toBe(`/dashboard/links/${String(before['id'])}`)
        const after = await fixture.linkRow(made)
        const merchantId = await fixture.readAccountId(owner)
        expect(after).toMatchObject({ merchant_id: merchantId, wallet: OWN_WALLET, anonymous: false, active: true })
        // Payments stay with the merchant of their bookings, and a repeated press returns the same one.
        expect((await buyer.post(made.path, { press })).to).toBe(first.to)
        expect(await fixture.readPayments(made)).toMatchObject([
          { merchant_id: before['merchant_id'], destination: OWN_WALLET },
        ])
        // A new press belongs to the account, and pays the wallet that buyers were shown.
        expect((await pressOn(testApi, made.path)).status).toBe(303)
        expect((await fixture.readPayments(made))[1]).toMatchObject({
          merchant_id: merchantId,
          destination: OWN_WALLET,
        })
        const page = await buyer.get(made.path)
        expect([page.html.includes('Halden Coffee'), page.html.includes(OWN_WALLET)]).toEqual([true, true])
        expect(await fixture.rows('select kind from notice where merchant_id = $1', [merchantId])).toEqual([
          { kind: 'payment_link.claimed' },
        ])
        expect((await owner.get('/dashboard/team')).html).toContain('payment link claimed')
        // The secret is used up.
        const secret = new Visitor(testApi)
        expect((await secret.get(made.owner)).html).toContain('This link is in an account')
        for (const action of ['pause', 'end', 'claim']) await secret.post(`${made.owner}/${action}`)
        expect(await fixture.linkRow(made)).toMatchObject({ active: true, expires_at: null, merchant_id: merchantId })
      })

      test('an account can open a link again after it was stopped for good, as its page says', async () => {
        const made = await fixture.make()
        const [secret, owner] = [new Visitor(testApi), await fixture.newOwner()]
        const { html } = await secret.get(made.owner)
        expect(html).toContain('To open it again later, you must first add it to an account.')
        await secret.post(`${made.owner}/end`)
        expect((await pressOn(testApi, made.path)).status).toBe(400)
        const { to } = await owner.submit(await fixture.readTicket(made))
        expect((await owner.submit(String(to), { title: 'Open again', expires_at: '' })).status).toBe(303)
        expect((await pressOn(testApi, made.path)).status).toBe(303)
      })

      test('bringing in a link works once, for an hour, with only the latest ticket', async () => {
        const made = await fixture.make()
        const [old, ticket] = [await fixture.readTicket(made), await fixture.readTicket(made)]
        const [owner, other] = [await fixture.newOwner(), await fixture.newOwner()]
        expect((await owner.submit(old)).status).toBe(404)
        const both = await Promise.all([owner.submit(ticket), other.submit(ticket)])
        expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 404])
        expect((await other.submit(ticket)).status).toBe(404)
        const late = await fixture.make()
        const over = await fixture.readTicket(late)
        await fixture.rows(
          "update link_owner set ticket_ends_at = now() - interval '1 second' where ticket_digest is not null",
        )
        expect((await owner.get(over)).status).toBe(404)
        expect((await owner.submit(over)).status).toBe(404)
        expect(await fixture.linkRow(late)).toMatchObject({ anonymous: true })
      })

      test('bringing in a link gives its wallet no new links without an account, once an operator has stopped it', async () => {
        const made = await fixture.make()
        await fixture.rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [
          made.code,
        ])
        expect((await (await fixture.newOwner()).submit(await fixture.readTicket(made))).status).toBe(303)
        const { wallet, anonymous } = await fixture.linkRow(made)
        const again = await sendForm(testApi, { wallet: String(wallet) })
        expect([anonymous, again.status, again.html.includes('We take no payments to this wallet')]).toEqual([
          false,
          400,
          true,
        ])
      })

      test('a suspension closes the ways around it: its link cannot be brought in, and its wallet gets no new link', async () => {
        const made = await fixture.make()
        const { merchant_id: maker, wallet } = await fixture.linkRow(made)
        const ticket = await fixture.readTicket(made)
        await fixture.rows("update agreement set status = 'suspended' where merchant_id = $1", [maker])
        expect((await (await fixture.newOwner()).submit(ticket)).status).toBe(404)
        expect(await fixture.linkRow(made)).toMatchObject({ anonymous: true })
        expect((await sendForm(testApi, { wallet: String(wallet) })).status).toBe(400)
        const { tenant } = await testApi.addMerchant()
        await setWallet(testApi.db, tenant, OWN_WALLET)
        await fixture.rows("update agreement set status = 'suspended' where merchant_id = $1", [tenant.merchantId])
        expect((await sendForm(testApi, { wallet: OWN_WALLET.toLowerCase() })).status).toBe(400)
        await fixture.rows("update agreement set status = 'approved'")
      })

      test('bringing in a link requires an owner with a fresh confirmation, and continues after signing in', async () => {
        const made = await fixture.make()
        const ticket = await fixture.readTicket(made)
        expect((await new Visitor(testApi).get(ticket)).to).toBe(`/sign-in?to=${encodeURIComponent(ticket)}`)
        const owner = await fixture.newOwner()
        const merchantId = await fixture.readAccountId(owner)
        const developer = await signIn(testApi, 'developer@shop.example')
        await fixture.rows(
          "insert into membership (merchant_id, person_id, role) select $1, id, 'developer' from person where email = 'developer@shop.example'",
          [merchantId],
        )
        expect((await developer.submit(ticket)).status).toBe(403)
        expect((await owner.post(ticket, { _form: 'x' })).status).toBe(403)
        await fixture.rows(
          "update session set confirmed_at = now() - interval '2 hours', created_at = now() - interval '3 hours'",
        )
        expect((await owner.submit(ticket)).to).toContain('/dashboard/confirm?asked=')
        expect(await fixture.linkRow(made)).toMatchObject({ anonymous: true })
        expect(await mailsTo(testApi, 'nobody@shop.example')).toEqual([])
      })
    })
  })

  describe('A hostile stranger', () => {
    test('a stranger cannot bring in a link by its code, its id or the stored digest', async () => {
      const made = await fixture.make()
      const { id } = await fixture.linkRow(made)
      const [stored] = await fixture.rows(
        "select encode(digest, 'base64') as a, encode(digest, 'hex') as b from link_owner where payment_link = $1",
        [id],
      )
      const thief = await fixture.newOwner()
      for (const guess of [made.code, String(id), made.owner.slice(3), String(stored?.['a']), String(stored?.['b'])])
        expect((await thief.submit(`/dashboard/links/claim/${encodeURIComponent(guess)}`)).status).toBe(404)
      expect(await fixture.linkRow(made)).toMatchObject({ anonymous: true })
    })

    test('a stranger with the stolen secret cannot send the money elsewhere', async () => {
      const made = await fixture.make()
      const { wallet } = await fixture.linkRow(made)
      await pressOn(testApi, made.path)
      const thief = await fixture.newOwner()
      await thief.submit(await fixture.readTicket(made))
      const merchantId = await fixture.readAccountId(thief)
      await fixture.rows('insert into wallet (merchant_id, livemode, address) values ($1, false, $2)', [
        merchantId,
        OWN_WALLET,
      ])
      await pressOn(testApi, made.path)
      expect((await fixture.readPayments(made)).map(({ destination }) => destination)).toEqual([wallet, wallet])
      await expect(
        fixture.rows('update payment_link set wallet = $1 where code = $2', [OWN_WALLET, made.code]),
      ).rejects.toThrow('are fixed')
    })

    test('a stranger cannot get a second payment out of one press while the link is brought in', async () => {
      for (let round = 0; round < 5; round++) {
        const made = await fixture.make()
        const buyer = new Visitor(testApi)
        const press = pressIn((await buyer.get(made.path)).html)
        const owner = await fixture.newOwner()
        const ticket = await fixture.readTicket(made)
        const form = { _form: await owner.formField() }
        const sent = Array.from({ length: 4 }, () => buyer.post(made.path, { press }))
        await Promise.all([
          ...sent,
          owner.post(ticket, form),
          ...Array.from({ length: 4 }, () => buyer.post(made.path, { press })),
        ])
        const last = await buyer.post(made.path, { press })
        expect([last.status, (await fixture.readPayments(made)).length]).toEqual([303, 1])
      }
    }, 30_000)

    test('a stranger gets no payment through a link that was paused before the press was stored', async () => {
      for (let round = 0; round < 4; round++) {
        const made = await fixture.make()
        const presses = await Promise.all(
          Array.from({ length: 6 }, async () => {
            const { html } = await new Visitor(testApi).get(made.path)
            return pressIn(html)
          }),
        )
        const owner = new Visitor(testApi)
        const paused = owner.post(`${made.owner}/pause`).then(async () => (await fixture.readPayments(made)).length)
        const answers = await Promise.all(presses.map((press) => new Visitor(testApi).post(made.path, { press })))
        // No payments exist except those from before the answer to the pause.
        const atPause = await paused
        expect((await fixture.readPayments(made)).length).toBe(atPause)
        expect(answers.filter(({ status }) => status === 303)).toHaveLength(atPause)
      }
    }, 30_000)

    test('fifty presses on ten places make ten payments, also while the link changes its owner', async () => {
      const made = await fixture.make({ max_payments: '10' })
      const presses = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const { html } = await new Visitor(testApi).get(made.path)
          return pressIn(html)
        }),
      )
      const owner = await fixture.newOwner()
      const ticket = await fixture.readTicket(made)
      const form = { _form: await owner.formField() }
      const answers = await Promise.all([
        ...presses.map((press) => new Visitor(testApi).post(made.path, { press })),
        owner.post(ticket, form),
      ])
      expect((await fixture.readPayments(made)).length).toBeLessThanOrEqual(10)
      // Clients that were asked to try again do: no press is asked twice, and no place is given twice.
      const again = await Promise.all(presses.map((press) => new Visitor(testApi).post(made.path, { press })))
      expect(answers.length).toBe(51)
      expect((await fixture.readPayments(made)).length).toBe(10)
      expect(again.filter(({ status }) => status === 303)).toHaveLength(10)
    }, 30_000)

    test('the merchant of a link without an account has no people, no key and no way to sign in', async () => {
      const made = await fixture.make()
      const { merchant_id: merchantId, id } = await fixture.linkRow(made)
      const stranger = await fixture.newOwner()
      expect((await stranger.submit('/dashboard/accounts/choose', { account: String(merchantId) })).status).toBe(404)
      expect((await stranger.submit('/dashboard/accounts/join', { account: String(merchantId) })).status).toBe(404)
      expect((await testApi.ask('GET', `/v1/payment_links/${String(id)}`)).status).toBe(404)
      const tenant = testApi.db.as(testApi.tenant)
      await expect(tenant.query('select * from link_owner')).rejects.toThrow('permission denied')
    })
  })

  describe('The pages of links in the dashboard', () => {
    let owner: Visitor
    let merchantId: string
    beforeAll(async () => {
      testApi = await testApi.asNewMerchant()
      owner = await signUp(testApi, 'links@shop.example')
      merchantId = await fixture.readAccountId(owner)
      await fixture.rows('insert into wallet (merchant_id, livemode, address) values ($1, false, $2)', [
        merchantId,
        WALLET,
      ])
    }, 60_000)

    const FORM = { title: 'Gift card', kind: 'fixed', amount: '64', currency: 'EUR', provider: '' }

    /** Sends the form of a page that was just opened; returns the path of the link. */
    async function make(fields: Record<string, string> = {}): Promise<string> {
      const { to, html } = await owner.submit('/dashboard/links', { ...FORM, ...fields })
      if (to === null) throw new Error(html.slice(0, 2000))
      return to
    }

    const getId = (path: string): string => path.split('/').at(-1) ?? ''
    const readRow = async (path: string) =>
      (await fixture.rows('select * from payment_link where id = $1', [getId(path)]))[0] ?? {}

    test('a link is made once from a form, shows who made it, and is in the audit log', async () => {
      const once = 'form-1'
      const path = await make({ once, kind: 'open', min_amount: '5', max_amount: '12,50', prefill_amount: 'on' })
      expect(await make({ once, kind: 'open', min_amount: '5', max_amount: '12,50', prefill_amount: 'on' })).toBe(path)
      expect(await readRow(path)).toMatchObject({
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

    test('an error is shown next to its field, and the form keeps what was typed', async () => {
      const answer = await owner.submit('/dashboard/links', { ...FORM, provider: 'wallet_app', amount: '5', title: '' })
      expect(answer.status).toBe(400)
      expect(answer.html).toContain('1 to 100 characters')
      const least = await owner.submit('/dashboard/links', { ...FORM, provider: 'wallet_app', amount: '5' })
      expect(least.html).toContain('The minimum for Banking app is 6.00 EUR.')
      expect(least.html).toContain('value="Gift card"')
      const poor = await signUp(testApi, 'poor@shop.example')
      expect((await poor.get('/dashboard/links/new')).html).toContain('Set a wallet first')
      const refused = await poor.submit('/dashboard/links', FORM)
      expect([refused.status, refused.html.includes('Set the wallet that the USDC goes to')]).toEqual([400, true])
    })

    test('a link is edited, paused and opened again; price, method and wallet do not change', async () => {
      const path = await make({ expires_at: '2099-12-24', max_payments: '5', reference: 'A' })
      const before = await readRow(path)
      const edit = await owner.get(`${path}/edit`)
      expect(edit.html).toContain('value="2099-12-24"')
      const changes = { title: 'Voucher', expires_at: '2099-12-24', max_payments: '', inactive_message: 'Back soon' }
      const hostile = { amount: '1', currency: 'USD', provider: 'local_partner', wallet: WALLET, kind: 'open' }
      expect((await owner.submit(path, { ...changes, ...hostile })).to).toBe(path)
      const after = await readRow(path)
      expect(after).toMatchObject({
        title: 'Voucher',
        max_payments: null,
        reference: null,
        inactive_message: 'Back soon',
      })
      for (const fixed of ['amount_minor', 'currency', 'provider', 'wallet', 'code', 'expires_at'])
        expect([fixed, after[fixed]]).toEqual([fixed, before[fixed]])
      expect((await owner.submit(path, { title: '' })).status).toBe(400)
      await owner.submit(`${path}/pause`)
      expect(await readRow(path)).toMatchObject({ active: false })
      expect((await owner.get(path)).html).toContain('Resume')
      await owner.submit(`${path}/resume`)
      expect(await readRow(path)).toMatchObject({ active: true })
      await fixture.rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where id = $1", [
        getId(path),
      ])
      const stopped = await owner.get(path)
      expect([stopped.html.includes('We stopped this link'), stopped.html.includes('/resume')]).toEqual([true, false])
      const forced = await owner.submit(`${path}/resume`)
      expect([forced.status >= 400, (await readRow(path))['stopped_reason']]).toEqual([true, 'fraud'])
    })

    test('the list of links is filtered, searched and paged by its URL', async () => {
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
        await fixture.rows(
          `insert into payment_link (id, merchant_id, livemode, code, currency, title, created_via, created_at, updated_at)
         select overlay(id placing lpad($1::text, 4, '0') from length(id) - 3), merchant_id, livemode,
           lpad($1::text, 10, 'x'), currency, 'Row ' || $1, created_via, created_at, updated_at
         from payment_link where id = $2`,
          [n, getId(path)],
        )
      const first = await owner.get('/dashboard/links?q=Row')
      const more = /href="([^"]+)" rel="next"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
      const second = await owner.get(more)
      const rowsIn = (html: string): number => html.split('class="row-link"').length - 1
      expect([rowsIn(first.html), rowsIn(second.html)]).toEqual([50, 1])
      expect((await owner.get('/dashboard/links?after=plink_01h455vb4pex5vsknk084sn02q')).status).toBe(404)
    })

    test('every role reads links, support creates them, and a viewer changes nothing', async () => {
      const path = await make()
      for (const role of ['viewer', 'support']) {
        const person = await signIn(testApi, `${role}@shop.example`)
        await fixture.rows(
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

    test('a link of another account is not found, for any page or action', async () => {
      const path = await make()
      await pressOn(testApi, `/l/${String((await readRow(path))['code'])}`)
      const stranger = await signUp(testApi, 'stranger@shop.example')
      for (const at of [path, `${path}/edit`, `/dashboard/links/new?copy=${getId(path)}`])
        expect([at, (await stranger.get(at)).status]).toEqual([at, 404])
      for (const at of [path, `${path}/pause`, `${path}/resume`])
        expect([at, (await stranger.submit(at, FORM)).status]).toEqual([at, 404])
      expect(await readRow(path)).toMatchObject({ active: true, title: 'Gift card' })
      expect((await stranger.get('/dashboard/links?s=all')).html).not.toContain('Gift card')
    })

    test('payments from before a link was brought in are shown on its page, and open no page of another merchant', async () => {
      const made = await fixture.make({ title: 'Brought along' })
      await pressOn(testApi, made.path)
      await owner.submit(await fixture.readTicket(made))
      await pressOn(testApi, made.path)
      const [old, young] = await fixture.readPayments(made)
      const { html } = await owner.get(`/dashboard/links/${String((await fixture.linkRow(made))['id'])}`)
      expect(html).toContain('of 2 started')
      expect(html).toContain(`/dashboard/payments/${String(young?.['id'])}`)
      expect(html).not.toContain(String(old?.['id']))
      expect((await owner.get(`/dashboard/payments/${String(old?.['id'])}`)).status).toBe(404)
    })

    test('the preview is the account’s page, only in a frame of the platform', async () => {
      const query = new URLSearchParams({ ...FORM, title: '<b>Two</b>' })
      const { html, headers } = await owner.get(`/dashboard/links/preview?${query}`)
      expect(html).toContain('Halden Coffee')
      expect(html).toContain('&lt;b>Two&lt;/b>')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
      const page = await owner.get('/dashboard/links/new')
      expect(page.headers.get('content-security-policy')).toContain("frame-src 'self'")
      expect((await owner.get('/dashboard/links')).headers.get('content-security-policy')).not.toContain('frame-src')
    })
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { mailsTo, signIn, signUp, Visitor } from '../site/visitor.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { type Made, makeAnonymous, OWN_WALLET, pressOn } from './maker.ts'

/** Whoever made a link without an account: the secret page, and the way into an account. */

const logged: string[] = []
let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    deps: ({ limits }) => ({
      limits: {
        ...limits,
        countForm: () => undefined,
        countSignIn: () => undefined,
        countPress: () => undefined,
        countVisit: () => undefined,
      },
      log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
    }),
  })
}, 60_000)
afterAll(() => shop?.close())

const rows = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await shop.db.query(text, values)).rows
const linkRow = async ({ code }: Made) => (await rows('select * from payment_link where code = $1', [code]))[0] ?? {}
const paymentsOf = async (made: Made) =>
  rows('select * from payment where payment_link = $1 order by id', [(await linkRow(made))['id']])

/** Each test has wallets of its own: a wallet has a limit in a day. */
let wallets = 0
const make = (fields: Record<string, string> = {}): Promise<Made> =>
  makeAnonymous(shop, { wallet: `0x${(0xbeef0000 + wallets++).toString(16).padStart(40, '1')}`, ...fields })

/** Leads to the page of the account that asks whether to bring the link in. */
async function ticketOf({ owner }: Made): Promise<string> {
  const { to } = await new Visitor(shop).post(`${owner}/claim`)
  if (to === null || !to.startsWith('/dashboard/links/claim/')) throw new Error(`no ticket: ${to}`)
  return to
}

async function accountOf(visitor: Visitor): Promise<string> {
  const { html } = await visitor.get('/dashboard/team')
  return /name="account" value="(mer_\w+)"/.exec(html)?.[1] ?? ''
}

let people = 0
const newOwner = (): Promise<Visitor> => signUp(shop, `owner${people++}@shop.example`)

describe('the page of the owner', () => {
  test('says what came of the link, pauses it, lets it go on, and ends it for good', async () => {
    const made = await make({ inactive_message: 'Back on Monday' })
    await pressOn(shop, made.path)
    await pressOn(shop, made.path)
    const [first] = await paymentsOf(made)
    await rows(
      `update payment set status = 'succeeded', gross_micro = 80000000, fee_micro = 3600000, net_micro = 76400000,
         rate = '1.25', rate_source = 'test', rate_locked_at = now(), succeeded_at = now() where id = $1`,
      [first?.['id']],
    )
    const owner = new Visitor(shop)
    const { html, status } = await owner.get(made.owner)
    expect(status).toBe(200)
    for (const said of ['of 2 started', '76.40', '3.60', 'Succeeded', 'This page is secret'])
      expect(html).toContain(said)
    expect((await owner.post(`${made.owner}/pause`)).to).toBe(made.owner)
    expect((await owner.get(made.owner)).html).toContain('Paused')
    expect((await pressOn(shop, made.path)).status).toBe(400)
    expect((await owner.get(made.path)).html).toContain('Back on Monday')
    await owner.post(`${made.owner}/resume`)
    expect((await pressOn(shop, made.path)).status).toBe(303)
    await owner.post(`${made.owner}/end`)
    await owner.post(`${made.owner}/resume`)
    expect((await owner.get(made.owner)).html).toContain('Ended')
    expect((await pressOn(shop, made.path)).status).toBe(400)
    expect(await paymentsOf(made)).toHaveLength(3)
  })

  test('is told of a link that an operator stopped, and cannot open it again', async () => {
    const made = await make()
    await rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [made.code])
    const owner = new Visitor(shop)
    expect((await owner.get(made.owner)).html).toContain('An operator has stopped this link')
    for (const action of ['pause', 'resume', 'end']) await owner.post(`${made.owner}/${action}`)
    expect(await linkRow(made)).toMatchObject({ active: true, stopped_reason: 'fraud', expires_at: null })
    expect((await pressOn(shop, made.path)).status).toBe(400)
  })

  test('is found by nobody who guesses: one answer for every other secret', async () => {
    const made = await make()
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
    const visitor = new Visitor(shop)
    const pages = await Promise.all(guesses.map((guess) => visitor.get(`/o/${guess}`)))
    expect(pages.map(({ status }) => status)).toEqual(guesses.map(() => 404))
    expect(new Set(pages.map(({ html }) => html)).size).toBe(1)
    for (const guess of guesses.slice(0, 6))
      for (const action of ['pause', 'resume', 'end', 'claim'])
        expect((await visitor.post(`/o/${guess}/${action}`)).status).toBe(404)
    expect(await linkRow(made)).toMatchObject({ active: true, expires_at: null })
  })

  test('takes nothing from another site, and changes nothing when it is opened', async () => {
    const made = await make()
    const visitor = new Visitor(shop)
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
    expect(await linkRow(made)).toMatchObject({ active: true, expires_at: null })
    expect(
      (await rows('select ticket_digest from link_owner where payment_link = $1', [(await linkRow(made))['id']]))[0],
    ).toEqual({
      ticket_digest: null,
    })
  })

  test('leaks its address to no log, no cache, no search engine and no other site', async () => {
    const made = await make()
    const token = made.owner.slice('/o/'.length)
    logged.length = 0
    const visitor = new Visitor(shop)
    const page = await visitor.get(made.owner)
    const ticket = await ticketOf(made)
    await visitor.post(`${made.owner}/pause`, {}, {})
    await visitor.get(`${made.owner}/nothing`)
    await visitor.get(ticket)
    expect(logged.length).toBeGreaterThan(3)
    expect(logged.filter((line) => line.includes(token) || line.includes(ticket.split('/').at(-1) ?? '?'))).toEqual([])
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-robots-tag')).toContain('noindex')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.html).toContain('<meta name="referrer" content="same-origin"')
    // No page of a buyer gets it either, and nothing is asked of another origin.
    const [, ...links] = page.html.split('<a ').map((rest) => rest.slice(0, rest.indexOf('>')))
    for (const link of links.filter((attributes) => attributes.includes('/l/')))
      expect(link).toContain('rel="noreferrer"')
    expect(page.html).not.toMatch(/(?:src|action)="https?:/)
    expect((await visitor.get('/robots.txt')).html).toContain('Disallow: /o/')
  })
})

describe('bringing a link into an account', () => {
  test('makes it the account’s, with its wallet, its payments and its presses as they were', async () => {
    const made = await make({ wallet: OWN_WALLET })
    const buyer = new Visitor(shop)
    const press = /name="press" value="([\w-]{22})"/.exec((await buyer.get(made.path)).html)?.[1] ?? ''
    const first = await buyer.post(made.path, { press })
    const before = await linkRow(made)
    const owner = await newOwner()
    const ticket = await ticketOf(made)
    const asked = await owner.get(ticket)
    expect([asked.status, asked.html.includes('Is this wallet yours?')]).toEqual([200, true])
    expect(await linkRow(made)).toEqual(before)
    const done = await owner.submit(ticket)
    expect(done.to).toBe('/dashboard')
    const after = await linkRow(made)
    const merchantId = await accountOf(owner)
    expect(after).toMatchObject({ merchant_id: merchantId, wallet: OWN_WALLET, anonymous: false, active: true })
    // Payments stay where they are booked, and a press that is sent again is the same one.
    expect((await buyer.post(made.path, { press })).to).toBe(first.to)
    expect(await paymentsOf(made)).toMatchObject([{ merchant_id: before['merchant_id'], destination: OWN_WALLET }])
    // A new press is the account's, and goes to the wallet that buyers were shown.
    expect((await pressOn(shop, made.path)).status).toBe(303)
    expect((await paymentsOf(made))[1]).toMatchObject({ merchant_id: merchantId, destination: OWN_WALLET })
    const page = await buyer.get(made.path)
    expect([page.html.includes('Halden Coffee'), page.html.includes(OWN_WALLET)]).toEqual([true, true])
    expect(await rows('select kind from notice where merchant_id = $1', [merchantId])).toEqual([
      { kind: 'payment_link.claimed' },
    ])
    expect((await owner.get('/dashboard/team')).html).toContain('payment link claimed')
    // The secret has done its work.
    const secret = new Visitor(shop)
    expect((await secret.get(made.owner)).html).toContain('This link is in an account')
    for (const action of ['pause', 'end', 'claim']) await secret.post(`${made.owner}/${action}`)
    expect(await linkRow(made)).toMatchObject({ active: true, expires_at: null, merchant_id: merchantId })
  })

  test('works once, for an hour, with the last ticket alone', async () => {
    const made = await make()
    const [old, ticket] = [await ticketOf(made), await ticketOf(made)]
    const [owner, other] = [await newOwner(), await newOwner()]
    expect((await owner.submit(old)).status).toBe(404)
    const both = await Promise.all([owner.submit(ticket), other.submit(ticket)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 404])
    expect((await other.submit(ticket)).status).toBe(404)
    const late = await make()
    const over = await ticketOf(late)
    await rows("update link_owner set ticket_ends_at = now() - interval '1 second' where ticket_digest is not null")
    expect((await owner.get(over)).status).toBe(404)
    expect((await owner.submit(over)).status).toBe(404)
    expect(await linkRow(late)).toMatchObject({ anonymous: true })
  })

  test('is for an owner who has just confirmed it, and keeps the way through signing in', async () => {
    const made = await make()
    const ticket = await ticketOf(made)
    expect((await new Visitor(shop).get(ticket)).to).toBe(`/sign-in?to=${encodeURIComponent(ticket)}`)
    const owner = await newOwner()
    const merchantId = await accountOf(owner)
    const developer = await signIn(shop, 'developer@shop.example')
    await rows(
      "insert into membership (merchant_id, person_id, role) select $1, id, 'developer' from person where email = 'developer@shop.example'",
      [merchantId],
    )
    expect((await developer.submit(ticket)).status).toBe(403)
    expect((await owner.post(ticket, { _form: 'x' })).status).toBe(403)
    await rows("update session set confirmed_at = now() - interval '2 hours', created_at = now() - interval '3 hours'")
    expect((await owner.submit(ticket)).to).toContain('/dashboard/confirm?to=')
    expect(await linkRow(made)).toMatchObject({ anonymous: true })
    expect(await mailsTo(shop, 'nobody@shop.example')).toEqual([])
  })
})

describe('a hostile stranger', () => {
  test('cannot bring in a link by its code, its id or the digest that is stored', async () => {
    const made = await make()
    const { id } = await linkRow(made)
    const [stored] = await rows(
      "select encode(digest, 'base64') as a, encode(digest, 'hex') as b from link_owner where payment_link = $1",
      [id],
    )
    const thief = await newOwner()
    for (const guess of [made.code, String(id), made.owner.slice(3), String(stored?.['a']), String(stored?.['b'])])
      expect((await thief.submit(`/dashboard/links/claim/${encodeURIComponent(guess)}`)).status).toBe(404)
    expect(await linkRow(made)).toMatchObject({ anonymous: true })
  })

  test('who has stolen the secret cannot send the money elsewhere', async () => {
    const made = await make()
    const { wallet } = await linkRow(made)
    await pressOn(shop, made.path)
    const thief = await newOwner()
    await thief.submit(await ticketOf(made))
    const merchantId = await accountOf(thief)
    await rows('insert into wallet (merchant_id, livemode, address) values ($1, false, $2)', [merchantId, OWN_WALLET])
    await pressOn(shop, made.path)
    expect((await paymentsOf(made)).map(({ destination }) => destination)).toEqual([wallet, wallet])
    await expect(rows('update payment_link set wallet = $1 where code = $2', [OWN_WALLET, made.code])).rejects.toThrow(
      'are fixed',
    )
  })

  test('cannot get a second payment out of one press while the link is brought in', async () => {
    for (let round = 0; round < 5; round++) {
      const made = await make()
      const buyer = new Visitor(shop)
      const press = /name="press" value="([\w-]{22})"/.exec((await buyer.get(made.path)).html)?.[1] ?? ''
      const owner = await newOwner()
      const ticket = await ticketOf(made)
      const form = { _form: await owner.formField() }
      const sent = Array.from({ length: 4 }, () => buyer.post(made.path, { press }))
      await Promise.all([
        ...sent,
        owner.post(ticket, form),
        ...Array.from({ length: 4 }, () => buyer.post(made.path, { press })),
      ])
      const last = await buyer.post(made.path, { press })
      expect([last.status, (await paymentsOf(made)).length]).toEqual([303, 1])
    }
  }, 30_000)

  test('gets no payment through a link that was paused before the press was stored', async () => {
    for (let round = 0; round < 4; round++) {
      const made = await make()
      const presses = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const { html } = await new Visitor(shop).get(made.path)
          return /name="press" value="([\w-]{22})"/.exec(html)?.[1] ?? ''
        }),
      )
      const owner = new Visitor(shop)
      const paused = owner.post(`${made.owner}/pause`).then(async () => (await paymentsOf(made)).length)
      const answers = await Promise.all(presses.map((press) => new Visitor(shop).post(made.path, { press })))
      // What was there when the pause was answered is all that there is.
      const atPause = await paused
      expect((await paymentsOf(made)).length).toBe(atPause)
      expect(answers.filter(({ status }) => status === 303)).toHaveLength(atPause)
    }
  }, 30_000)

  test('fifty presses on ten places make ten payments, also while the link changes hands', async () => {
    const made = await make({ max_payments: '10' })
    const presses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { html } = await new Visitor(shop).get(made.path)
        return /name="press" value="([\w-]{22})"/.exec(html)?.[1] ?? ''
      }),
    )
    const owner = await newOwner()
    const ticket = await ticketOf(made)
    const form = { _form: await owner.formField() }
    const answers = await Promise.all([
      ...presses.map((press) => new Visitor(shop).post(made.path, { press })),
      owner.post(ticket, form),
    ])
    expect((await paymentsOf(made)).length).toBeLessThanOrEqual(10)
    // Who was told to try again does: nobody is asked twice, and no place is given twice.
    const again = await Promise.all(presses.map((press) => new Visitor(shop).post(made.path, { press })))
    expect(answers.length).toBe(51)
    expect((await paymentsOf(made)).length).toBe(10)
    expect(again.filter(({ status }) => status === 303)).toHaveLength(10)
  }, 30_000)

  test('a merchant of a link without an account has nobody, no key and no way in', async () => {
    const made = await make()
    const { merchant_id: merchantId, id } = await linkRow(made)
    const stranger = await newOwner()
    expect((await stranger.submit('/dashboard/accounts/choose', { account: String(merchantId) })).status).toBe(404)
    expect((await stranger.submit('/dashboard/accounts/join', { account: String(merchantId) })).status).toBe(404)
    expect((await shop.ask('GET', `/v1/payment_links/${String(id)}`)).status).toBe(404)
    const tenant = shop.db.as(shop.tenant)
    await expect(tenant.query('select * from link_owner')).rejects.toThrow('permission denied')
  })
})

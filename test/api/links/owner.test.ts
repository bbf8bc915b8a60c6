import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { mailsTo, signIn, Visitor } from '../site/visitor.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { linkWorld, OWN_WALLET, pressIn, pressOn, sendForm, withoutLimits } from './maker.ts'

/** Whoever made a link without an account: the secret page, and the way into an account. */

const logged: string[] = []
let shop: Shop
let world: ReturnType<typeof linkWorld>
beforeAll(async () => {
  shop = await openShop({
    deps: (composed) => ({
      ...withoutLimits(composed),
      log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
    }),
  })
  world = linkWorld(shop)
}, 60_000)
afterAll(() => shop?.close())

describe('the page of the owner', () => {
  test('says what came of the link, pauses it, lets it go on, and ends it for good', async () => {
    const made = await world.make({ inactive_message: 'Back on Monday' })
    await pressOn(shop, made.path)
    await pressOn(shop, made.path)
    const [first] = await world.paymentsOf(made)
    await world.rows(
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
    expect(await world.paymentsOf(made)).toHaveLength(3)
  })

  test('is told of a link that an operator stopped, and cannot open it again', async () => {
    const made = await world.make()
    await world.rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [
      made.code,
    ])
    const owner = new Visitor(shop)
    expect((await owner.get(made.owner)).html).toContain('An operator has stopped this link')
    for (const action of ['pause', 'resume', 'end']) await owner.post(`${made.owner}/${action}`)
    expect(await world.linkRow(made)).toMatchObject({ active: true, stopped_reason: 'fraud', expires_at: null })
    expect((await pressOn(shop, made.path)).status).toBe(400)
  })

  test('is found by nobody who guesses: one answer for every other secret', async () => {
    const made = await world.make()
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
    expect(await world.linkRow(made)).toMatchObject({ active: true, expires_at: null })
  })

  test('takes nothing from another site, and changes nothing when it is opened', async () => {
    const made = await world.make()
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
    expect(await world.linkRow(made)).toMatchObject({ active: true, expires_at: null })
    expect(
      (
        await world.rows('select ticket_digest from link_owner where payment_link = $1', [
          (await world.linkRow(made))['id'],
        ])
      )[0],
    ).toEqual({
      ticket_digest: null,
    })
  })

  test('leaks its address to no log, no cache, no search engine and no other site', async () => {
    const made = await world.make()
    const token = made.owner.slice('/o/'.length)
    logged.length = 0
    const visitor = new Visitor(shop)
    const page = await visitor.get(made.owner)
    const ticket = await world.ticketOf(made)
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
    const made = await world.make({ wallet: OWN_WALLET })
    const buyer = new Visitor(shop)
    const press = pressIn((await buyer.get(made.path)).html)
    const first = await buyer.post(made.path, { press })
    const before = await world.linkRow(made)
    const owner = await world.newOwner()
    const ticket = await world.ticketOf(made)
    const asked = await owner.get(ticket)
    expect([asked.status, asked.html.includes('Is this wallet yours?')]).toEqual([200, true])
    expect(await world.linkRow(made)).toEqual(before)
    const done = await owner.submit(ticket)
    expect(done.to).toBe(`/dashboard/links/${String(before['id'])}`)
    const after = await world.linkRow(made)
    const merchantId = await world.accountOf(owner)
    expect(after).toMatchObject({ merchant_id: merchantId, wallet: OWN_WALLET, anonymous: false, active: true })
    // Payments stay where they are booked, and a press that is sent again is the same one.
    expect((await buyer.post(made.path, { press })).to).toBe(first.to)
    expect(await world.paymentsOf(made)).toMatchObject([
      { merchant_id: before['merchant_id'], destination: OWN_WALLET },
    ])
    // A new press is the account's, and goes to the wallet that buyers were shown.
    expect((await pressOn(shop, made.path)).status).toBe(303)
    expect((await world.paymentsOf(made))[1]).toMatchObject({ merchant_id: merchantId, destination: OWN_WALLET })
    const page = await buyer.get(made.path)
    expect([page.html.includes('Halden Coffee'), page.html.includes(OWN_WALLET)]).toEqual([true, true])
    expect(await world.rows('select kind from notice where merchant_id = $1', [merchantId])).toEqual([
      { kind: 'payment_link.claimed' },
    ])
    expect((await owner.get('/dashboard/team')).html).toContain('payment link claimed')
    // The secret has done its work.
    const secret = new Visitor(shop)
    expect((await secret.get(made.owner)).html).toContain('This link is in an account')
    for (const action of ['pause', 'end', 'claim']) await secret.post(`${made.owner}/${action}`)
    expect(await world.linkRow(made)).toMatchObject({ active: true, expires_at: null, merchant_id: merchantId })
  })

  test('lets the account open it again after it was stopped for good, as its page says', async () => {
    const made = await world.make()
    const [secret, owner] = [new Visitor(shop), await world.newOwner()]
    const { html } = await secret.get(made.owner)
    expect(html).toContain('Only an account that it is brought into can open it again')
    await secret.post(`${made.owner}/end`)
    expect((await pressOn(shop, made.path)).status).toBe(400)
    const { to } = await owner.submit(await world.ticketOf(made))
    expect((await owner.submit(String(to), { title: 'Open again', expires_at: '' })).status).toBe(303)
    expect((await pressOn(shop, made.path)).status).toBe(303)
  })

  test('works once, for an hour, with the last ticket alone', async () => {
    const made = await world.make()
    const [old, ticket] = [await world.ticketOf(made), await world.ticketOf(made)]
    const [owner, other] = [await world.newOwner(), await world.newOwner()]
    expect((await owner.submit(old)).status).toBe(404)
    const both = await Promise.all([owner.submit(ticket), other.submit(ticket)])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 404])
    expect((await other.submit(ticket)).status).toBe(404)
    const late = await world.make()
    const over = await world.ticketOf(late)
    await world.rows(
      "update link_owner set ticket_ends_at = now() - interval '1 second' where ticket_digest is not null",
    )
    expect((await owner.get(over)).status).toBe(404)
    expect((await owner.submit(over)).status).toBe(404)
    expect(await world.linkRow(late)).toMatchObject({ anonymous: true })
  })

  test('gives its wallet no new links without an account, once an operator has stopped it', async () => {
    const made = await world.make()
    await world.rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [
      made.code,
    ])
    expect((await (await world.newOwner()).submit(await world.ticketOf(made))).status).toBe(303)
    const { wallet, anonymous } = await world.linkRow(made)
    const again = await sendForm(shop, { wallet: String(wallet) })
    expect([anonymous, again.status, again.html.includes('An operator has stopped a link to this wallet')]).toEqual([
      false,
      400,
      true,
    ])
  })

  test('is for an owner who has just confirmed it, and keeps the way through signing in', async () => {
    const made = await world.make()
    const ticket = await world.ticketOf(made)
    expect((await new Visitor(shop).get(ticket)).to).toBe(`/sign-in?to=${encodeURIComponent(ticket)}`)
    const owner = await world.newOwner()
    const merchantId = await world.accountOf(owner)
    const developer = await signIn(shop, 'developer@shop.example')
    await world.rows(
      "insert into membership (merchant_id, person_id, role) select $1, id, 'developer' from person where email = 'developer@shop.example'",
      [merchantId],
    )
    expect((await developer.submit(ticket)).status).toBe(403)
    expect((await owner.post(ticket, { _form: 'x' })).status).toBe(403)
    await world.rows(
      "update session set confirmed_at = now() - interval '2 hours', created_at = now() - interval '3 hours'",
    )
    expect((await owner.submit(ticket)).to).toContain('/dashboard/confirm?to=')
    expect(await world.linkRow(made)).toMatchObject({ anonymous: true })
    expect(await mailsTo(shop, 'nobody@shop.example')).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../../scripts/test/environment.ts'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { Visitor } from '../site/visitor.ts'
import { NO_LIMITS } from '../support/limits.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { FORM, madeIn, makeAnonymous, OWN_WALLET, onceOf, pressOn, sendForm } from './maker.ts'

/** Links that are made without an account. */

const FREE = { ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 } }
let limits = createRequestLimits(FREE)
let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    deps: ({ limits: usual }) => ({ limits: { ...usual, countForm: (...of) => limits.countForm(...of) } }),
  })
}, 60_000)
afterAll(() => shop?.close())

const rows = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await shop.db.query(text, values)).rows
const counts = async () =>
  (
    await rows(
      'select (select count(*) from payment_link)::int as links, (select count(*) from merchant)::int as shops',
    )
  )[0]

/** Each test has wallets of its own: a wallet has a limit in a day. */
let wallets = 0
const wallet = (): string => `0x${(0xabcd0000 + wallets++).toString(16).padStart(40, '1')}`

describe('the form', () => {
  test('makes a link that pays the wallet, and shows its secret once', async () => {
    const answer = await sendForm(shop, { description: 'Three\r\ncoffees', max_payments: '5' })
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
    expect((await pressOn(shop, path)).status).toBe(303)
    const [payment] = await rows('select * from payment where payment_link = $1', [link?.['id']])
    expect(payment).toMatchObject({ destination: OWN_WALLET, merchant_id: link?.['merchant_id'] })
    // Nothing that the database has leads back to the secret.
    const token = owner.slice('/o/'.length)
    const tables = await rows("select table_name as name from information_schema.tables where table_schema = 'public'")
    expect(tables.length).toBeGreaterThan(20)
    const bytes = Buffer.from(token, 'base64url').toString('hex')
    for (const { name } of tables) {
      const [{ found } = {}] = await rows(
        `select count(*)::int as found from "${String(name)}" t where t::text like $1 or t::text like $2`,
        [`%${token}%`, `%${bytes}%`],
      )
      expect([name, found]).toEqual([name, 0])
    }
    const page = new Visitor(shop)
    expect((await page.get(path)).html).not.toContain(token)
    // Buyers are told that nobody knows who asks, and where the money goes.
    expect((await page.get(path)).html).toContain(OWN_WALLET)
  })

  test('has a page for each way to write an amount', async () => {
    const open = await makeAnonymous(shop, {
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
    ['the address nobody has', { wallet: `0x${'0'.repeat(40)}` }, 'somebody has the key of'],
    ['the token', { wallet: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359' }, 'contract of a token'],
    ['a known contract', { wallet: '0xca11bde05977b3631167028862be2a173976ca11' }, 'everybody uses'],
    ['no title', { title: ' ' }, '1 to 100 characters'],
    ['no amount', { amount: '' }, 'Write an amount in EUR, like 12.50.'],
    ['an amount with two readings', { amount: '1.250' }, 'For 1,250.00 EUR, write 1250.00.'],
    ['an amount of another currency', { amount: '$12' }, 'Write the amount in EUR'],
    ['decimals of a yen', { amount: '12.5', currency: 'JPY' }, 'JPY has no decimals.'],
    ['decimals that are not there', { amount: '12.3456' }, 'decimal'],
    ['too little', { amount: '1' }, 'The least is 1.60 EUR.'],
    ['too little for the method', { provider: 'wallet_app', amount: '5' }, 'The least for Banking app is 6.00 EUR.'],
    ['a currency that the method has not', { provider: 'local_partner', currency: 'SEK' }, 'must'],
    ['a method that is none', { provider: 'cash' }, 'must'],
    ['a limit that is none', { max_payments: '-1' }, 'must'],
    ['an end in the past', { expires_at: '2020-01-01' }, 'future'],
    ['a way back that is a script', { success_url: 'javascript:alert(1)' }, 'https'],
    ['bounds the wrong way round', { kind: 'open', min_amount: '9', max_amount: '5' }, 'less than min_amount'],
  ] as const)('refuses %s, says why, and makes nothing', async (_name, fields, why) => {
    const before = await counts()
    const answer = await sendForm(shop, { wallet: wallet(), ...fields })
    expect([answer.status, answer.html.toLowerCase().includes(why.toLowerCase())]).toEqual([400, true])
    expect(answer.html).toContain('to correct')
    // What was written is still there.
    expect(answer.html).toContain('Tasting box'.slice(0, 'title' in fields ? 0 : undefined))
    expect(await counts()).toEqual(before)
  })

  test('refuses an address of our own', async () => {
    const ours = wallet()
    const chain = TEST_ENVIRONMENT.CHAIN_ID
    await rows('insert into lane (chain_id, wallet, next_nonce) values ($1, $2, 0)', [chain, ours])
    const answer = await sendForm(shop, { wallet: ours })
    expect([answer.status, answer.html.includes('this one is ours')]).toEqual([400, true])
  })

  test('sent again, or twice at once, makes one link', async () => {
    const before = await counts()
    const visitor = new Visitor(shop)
    const form = { ...FORM, wallet: wallet(), once: onceOf((await visitor.get('/links')).html) }
    const answers = await Promise.all(Array.from({ length: 6 }, () => visitor.post('/links', form)))
    answers.push(await visitor.post('/links', form))
    expect(new Set(answers.map(({ html }) => madeIn(html).owner)).size).toBe(1)
    expect(await counts()).toEqual({ links: Number(before?.['links']) + 1, shops: Number(before?.['shops']) + 1 })
    // Gone back to and changed, it is another link: the first one keeps its price.
    const other = madeIn((await visitor.post('/links', { ...form, amount: '65' })).html)
    expect(other.owner).not.toBe(madeIn(answers[0]?.html ?? '').owner)
  })

  test('is not taken from another site, nor without its name', async () => {
    const before = await counts()
    const visitor = new Visitor(shop)
    const form = { ...FORM, wallet: wallet(), once: onceOf((await visitor.get('/links')).html) }
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

  test('makes so many links for a wallet in a day, whoever asks, and none to one that was stopped', async () => {
    const to = wallet()
    const answers = await Promise.all(Array.from({ length: 24 }, () => sendForm(shop, { wallet: to })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.find(({ status }) => status === 400)?.html).toContain('With an account there is no such limit')
    const bad = wallet()
    const { code } = await makeAnonymous(shop, { wallet: bad })
    await rows("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where code = $1", [code])
    const refused = await sendForm(shop, { wallet: bad.replace('0x', '0X').toUpperCase().replace('0X', '0x') })
    expect([refused.status, refused.html.includes('An operator has stopped a link to this wallet')]).toEqual([
      400,
      true,
    ])
  }, 30_000)

  test('makes so many links for an address in an hour', async () => {
    limits = createRequestLimits({ ...FREE, formsPerHour: 3 })
    const statuses = []
    for (let n = 0; n < 5; n++) statuses.push((await sendForm(shop, { wallet: wallet() })).status)
    // What is wrong is told without being counted.
    statuses.push((await sendForm(shop, { title: '' })).status)
    limits = createRequestLimits(FREE)
    expect(statuses).toEqual([200, 200, 200, 429, 429, 400])
  })
})

describe('while somebody types', () => {
  const hints = async (fields: Record<string, string>) => {
    const { html } = await new Visitor(shop).get(`/links/hints?${new URLSearchParams({ ...FORM, ...fields })}`)
    return JSON.parse(html) as { amount: { tone: string; text: string }; wallet: { tone: string; text: string } | null }
  }

  test('the limits of the method, what is wrong, and what arrives are told', async () => {
    // 64 EUR at 1.25 are 80 USDC; 4.5 % are 3.6.
    expect((await hints({})).amount).toEqual({ tone: 'quiet', text: 'You receive about 76.40 USDC after our fee.' })
    expect((await hints({ amount: '12' })).amount.text).toBe(
      'You receive about 14.32 USDC after our fee. It is less than UPI takes (24.00 EUR): those buyers see other ways to pay.',
    )
    expect((await hints({ amount: '5', provider: 'wallet_app' })).amount).toEqual({
      tone: 'problem',
      text: 'The least for Banking app is 6.00 EUR.',
    })
    expect((await hints({ amount: '1e3' })).amount.tone).toBe('problem')
    expect((await hints({ currency: 'SEK', provider: 'local_partner' })).amount.text).toBe('UPI does not take SEK.')
    expect((await hints({ kind: 'open', provider: 'wallet_app' })).amount.text).toBe(
      'Banking app takes 6.00 EUR to 10,000.00 EUR.',
    )
    // In the currency of the field: at 0.0068 and 1.25, rounded inward.
    expect((await hints({ kind: 'open', currency: 'JPY' })).amount.text).toMatch(
      /^It can be [\d,]+ JPY to [\d,]+ JPY\.$/,
    )
    expect((await hints({ amount: '12.5', currency: 'JPY' })).amount.text).toBe('JPY has no decimals.')
    expect((await hints({ amount: 'x', currency: 'JPY' })).amount.text).toBe('Write an amount in JPY, like 1250.')
    expect((await hints({ kind: 'open', min_amount: '1,250' })).amount.text).toContain('can be read in two ways')
    expect((await hints({})).wallet?.tone).toBe('success')
    expect((await hints({ wallet: OWN_WALLET.toLowerCase() })).wallet?.tone).toBe('quiet')
    expect((await hints({ wallet: '0x1' })).wallet?.tone).toBe('problem')
  })

  test('the preview is the page of the link, in a frame of ours alone, and nothing in it works', async () => {
    const answer = await new Visitor(shop).get(`/links/preview?${new URLSearchParams(FORM)}`)
    expect(answer.html).toContain('€64.00')
    expect(answer.html).toContain('0x3C44…93BC')
    expect(answer.html).toContain('inert')
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'self'")
    expect(policy).toContain("form-action 'none'")
    const page = await new Visitor(shop).get('/links')
    expect(page.headers.get('content-security-policy')).toContain("frame-src 'self'")
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    const hostile = { ...FORM, title: '<script>alert(1)</script>', currency: '__proto__', amount: '9'.repeat(3000) }
    expect((await new Visitor(shop).get(`/links/preview?${new URLSearchParams(hostile)}`)).status).toBe(200)
  })
})

test('a link that is to be reported is found by its address', async () => {
  const visitor = new Visitor(shop)
  expect((await visitor.get('/links/report')).status).toBe(200)
  for (const link of ['https://pay.example/l/k7Qm2vXa9B', 'k7Qm2vXa9B', ' https://pay.example/l/k7Qm2vXa9B?amount=5 '])
    expect((await visitor.get(`/links/report?${new URLSearchParams({ link })}`)).to).toBe('/l/k7Qm2vXa9B/report')
  for (const link of ['https://evil.example', '//evil.example/l/x', ''])
    expect((await visitor.get(`/links/report?${new URLSearchParams({ link })}`)).status).toBe(400)
})

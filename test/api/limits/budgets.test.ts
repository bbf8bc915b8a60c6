import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createApiServer } from '../../../src/api/http/server.ts'
import { PROMPT_REFUSALS } from '../../../src/api/limits/hold.ts'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { listPayments } from '../../../src/db/payments/payment-list.ts'
import { ASSETS, brandSheet } from '../../../src/web/assets.ts'
import { onceIn, openAccount } from '../site/account.ts'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

const ADDRESS = '198.51.100.7'
let shop: Shop
beforeAll(async () => {
  shop = await openShop({
    deps: () => ({
      trustProxyHops: 1,
      limits: createRequestLimits({
        requests: 1000,
        windowSeconds: 60,
        refusalsPerMinute: 1000,
        signInsPerHour: 1000,
        pressesPerMinute: { address: 1000, link: 1000 },
        formsPerHour: 1000,
        madePerHour: { file: 4, key: 2 },
        looksPerMinute: 5,
        actsPerMinute: 3,
        clock: () => Date.UTC(2026, 0, 1),
      }),
    }),
  })
}, 60_000)
afterAll(() => shop?.close())

const create = async (): Promise<string> =>
  new URL(
    String(
      (await shop.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })).body['checkout_url'],
    ),
  ).pathname
const page = (path: string, init: RequestInit = {}) =>
  fetch(`${shop.url}${path}`, {
    ...init,
    headers: { accept: 'text/html', 'x-forwarded-for': ADDRESS },
    redirect: 'manual',
  })

describe('a link of a buyer', () => {
  test('that is pressed again and again is answered with a page that asks to wait, and no other link is', async () => {
    const [pressed, other] = [await create(), await create()]
    const press = (path: string) =>
      page(`${path}/country`, { method: 'POST', body: new URLSearchParams({ country: 'DE' }) })
    const answers = await Promise.all(Array.from({ length: 8 }, () => press(pressed)))
    const refused = answers.filter(({ status }) => status === 429)
    expect([answers.filter(({ status }) => status === 303).length, refused.length]).toEqual([3, 5])
    expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused[0]!.text()).toContain('Try again in a moment')
    // Pages have a budget of their own.
    expect((await page(pressed)).status).toBe(200)
    expect((await press(other)).status).toBe(303)
  })

  test('has a network behind it that may ask for ten times as much', async () => {
    const answers: number[] = []
    for (let round = 0; round < 52; round++) answers.push((await page('/nowhere')).status)
    expect(answers.filter((status) => status === 429).length).toBeGreaterThan(0)
    expect(answers.slice(0, 40)).not.toContain(429)
    // Neither assets nor logos nor the API are counted with it.
    expect((await page(`/logos/${'0'.repeat(32)}.png`)).status).toBe(404)
    expect((await shop.ask('GET', '/v1/payments', { headers: { 'x-forwarded-for': ADDRESS } })).status).toBe(200)
  })
})

describe('what no link of a buyer can be', () => {
  test.each(['x'.repeat(65), 'a%20b', '%00'])(
    'is not counted, so that it takes no memory, and not looked for: %s',
    async (token) => {
      const answers: number[] = []
      for (let count = 0; count < 7; count++)
        answers.push(
          (await fetch(`${shop.url}/c/${token}`, { headers: { 'x-forwarded-for': '198.51.100.77' } })).status,
        )
      expect(answers).toEqual(Array(7).fill(404))
    },
  )
})

test('colours of shops are counted as pages are, because they are computed; the other files are not', async () => {
  const headers = { 'x-forwarded-for': '198.51.100.88' }
  const ask = async (path: string): Promise<number> => (await fetch(`${shop.url}${path}`, { headers })).status
  for (let count = 0; count < 60; count++) expect(await ask(ASSETS.style)).toBe(200)
  const colours: number[] = []
  for (let count = 0; count < 60; count++) colours.push(await ask(brandSheet(`#1d52${(16 + count).toString(16)}`)))
  expect([colours.filter((status) => status === 200).length, colours.at(-1)]).toEqual([50, 429])
})

describe('a program that asks again the moment it is refused', () => {
  test('is answered late, while everybody else is answered at once', async () => {
    const other = await create()
    const hurried = await create()
    const look = async (path: string, address: string) =>
      (await fetch(`${shop.url}${path}`, { headers: { accept: 'text/html', 'x-forwarded-for': address } })).status
    // Ten times as many as a link may is what a network may, and then it is the network that is refused.
    for (let count = 0; count < 50 + PROMPT_REFUSALS; count++) await look(hurried, '203.0.113.9')
    let isAnswered = false
    const held = look(hurried, '203.0.113.9').then((status) => {
      isAnswered = true
      return status
    })
    // Asked after it, and answered before it.
    expect(await look(other, '203.0.113.10')).toBe(200)
    expect(isAnswered).toBe(false)
    expect(await held).toBe(429)
  })
})

describe('a person with many accounts', () => {
  test('has one budget for files and one for keys, whichever account they are of', async () => {
    const { owner, tenant } = await openAccount(shop, 'many@shop.example')
    const other = await owner.submit('/dashboard/accounts', { name: 'Second shop' })
    expect(other.status).toBe(303)
    const choose = (account: string) =>
      owner.submit('/dashboard/accounts/choose', { account }).then(({ status }) => status)
    const files = ['/dashboard/payments.csv', '/dashboard/payments.json', '/dashboard/balance.csv?month=2026-01']
    const answers: number[] = []
    for (const path of files) answers.push((await owner.get(path)).status)
    expect(await choose(tenant.merchantId)).toBe(303)
    for (const path of files) answers.push((await owner.get(path)).status)
    expect(answers).toEqual([200, 200, 200, 200, 429, 429])
    // Pages have none, and other people theirs.
    expect((await owner.get('/dashboard/payments')).status).toBe(200)
    const { owner: colleague } = await openAccount(shop, 'another@shop.example')
    expect((await colleague.get('/dashboard/payments.csv')).status).toBe(200)

    const made: number[] = []
    for (let nth = 0; nth < 3; nth++) {
      const once = await onceIn(owner, '/dashboard/keys/new')
      const form = { name: `Key ${nth}`, preset: 'sell', allowed_ips: '', days: '0', once }
      made.push((await owner.submit('/dashboard/keys', form)).status)
    }
    expect(made).toEqual([200, 200, 429])
    const { rows } = await shop.db.query(`select count(*)::int as n from api_key where name like 'Key %'`)
    expect(rows).toEqual([{ n: 2 }])
  })
})

describe('a list', () => {
  test('is searched along an index, whether its words are rare or common', async () => {
    const { tenant } = await shop.addMerchant()
    await shop.db.query(
      `insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, fallback,
        checkout_token, destination, chain_id, token, quote, reference, description, created_at, updated_at, expires_at)
      select 'pay_' || lpad(n::text, 26, '0'), $1, false, '1', 100, 'EUR', 'picker', 'token-' || n, '0x' || repeat('1', 40), 1, 't', '{"rate":"1","rateSource":"t","netMicro":"1","expiresAt":"2026-01-01T00:00:00.000Z"}',
        'order-' || n, 'Ticket ' || md5(n::text), now(), now(), now() from generate_series(1, 8000) n`,
      [tenant.merchantId],
    )
    await shop.db.query('vacuum analyze payment, payment_words')
    const search = (words: string, off: string) =>
      shop.db.lists(tenant).transaction(async (tx) => {
        // So few rows as here are faster gone through; what is asked is whether it could be otherwise.
        await tx.query(off)
        const page = { limit: 2, after: null, before: null }
        const found = await listPayments(tx, tenant, { filters: { search: words }, page })
        const { rows } = await tx.query(
          `select seq_scan::int as through, idx_tup_fetch::int as read from pg_stat_xact_user_tables where relname = 'payment_words'`,
        )
        return { ...rows[0], found: found!.rows.length + Number(found!.hasMore) }
      })
    const common = await search('TICKET', 'set local enable_seqscan = off')
    expect(common).toMatchObject({ found: 3, through: 0 })
    expect(common.read).toBeLessThan(50)
    await shop.db.query('drop index payment_words_newest')
    const off = 'set local enable_seqscan = off; set local enable_indexscan = off'
    for (const [rare, found] of [
      ['order-7999', 1],
      ['cder-7999', 0],
    ] as const) {
      const seen = await search(rare, off)
      expect(seen).toMatchObject({ found, through: 0 })
      expect(seen.read).toBeLessThan(50)
    }
  })

  test('that takes longer than two seconds is a problem that says to ask for less', async () => {
    await shop.db.query(`create policy slow on payment as restrictive for select to pinrail_tenant
      using (pg_sleep(case when livemode then 0 else 3 end)::text = '')`)
    try {
      expectProblem(await shop.ask('GET', '/v1/payments'), 503, 'list_too_slow')
    } finally {
      await shop.db.query('drop policy slow on payment')
    }
    expect((await shop.ask('GET', '/v1/payments')).status).toBe(200)
  })

  test('can write nothing', async () => {
    const write = shop.db.lists(shop.tenant).query("update wallet set address = 'x'")
    await expect(write).rejects.toThrow('read-only transaction')
  })
})

test('a client that dribbles its headers is cut off soon after its time', async () => {
  const server = createApiServer(() => undefined, {
    publicUrl: shop.url,
    newRequestId: () => 'req_1',
    patience: { headersMs: 100, requestMs: 200 },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const dribble = setInterval(() => socket.write('x'), 20)
  const begun = performance.now()
  try {
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')
    await once(socket, 'close')
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    // Node would look for it after 30 s.
    expect(performance.now() - begun).toBeLessThan(10_000)
  } finally {
    clearInterval(dribble)
    server.close()
  }
})

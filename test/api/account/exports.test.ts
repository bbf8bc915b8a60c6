import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { unhurried } from '../../../src/api/exports/file.ts'
import { createPinrail } from '../../../src/client/index.ts'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
  await shop.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR', reference: '=1+1' } })
  await shop.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR', reference: 'two' } })
  // More than an export reads at once.
  await shop.db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object(
        'id', left(p.id, 26) || lpad(n::text, 4, '0'), 'checkout_token', p.checkout_token || n, 'reference', 'copy ' || n)
      )).* from payment p, generate_series(1, 1100) n where p.reference = 'two'`,
  )
}, 60_000)
afterAll(() => shop?.close())

const PATH = '/v1/exports/payments'

test('a file has every payment once, newest first, in JSON and CSV, however many there are', async () => {
  const json = await shop.ask('GET', PATH)
  expect(json.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-\d{4}-\d\d-\d\d\.json"$/)
  const ids = (json.body as unknown as { id: string }[]).map(({ id }) => id)
  expect([ids.length, new Set(ids).size]).toEqual([1102, 1102])
  expect(ids).toEqual(ids.toSorted().toReversed())
  const csv = await shop.ask('GET', `${PATH}?format=csv`)
  const [names, ...lines] = csv.text.trimEnd().split('\r\n')
  expect([csv.headers.get('content-type'), names?.slice(0, 17)]).toEqual([
    'text/csv; charset=utf-8',
    'id,status,amount_',
  ])
  expect(lines.map((line) => line.split(',')[0])).toEqual(ids)
  // What a program for tables would run has an apostrophe in front.
  expect(csv.text).toContain(",'=1+1,")
})

test('a file has only what the filters let through, and is empty for whoever has nothing', async () => {
  const one = await shop.ask('GET', `${PATH}?reference=two&currency=EUR&status=created,pending`)
  expect(one.body).toMatchObject([{ reference: 'two' }])
  const other = await shop.addMerchant()
  expect((await shop.ask('GET', PATH, { key: other.key })).text).toBe('[]\n')
  expect((await shop.ask('GET', `${PATH}?format=csv`, { key: other.key })).text.trimEnd().split('\r\n')).toHaveLength(1)
  for (const wrong of ['format=xml', 'status=none', 'limit=5', 'created[gte]=soon'])
    expectProblem(await shop.ask('GET', `${PATH}?${wrong}`), 400, 'validation_failed')
  expect((await shop.ask('HEAD', PATH)).text).toBe('')
})

test('an account reads two files at once; the third waits, and others do not wait for it', async () => {
  const other = await shop.addMerchant()
  const files = await Promise.all([
    ...Array.from({ length: 8 }, () => shop.ask('GET', PATH)),
    shop.ask('GET', PATH, { key: other.key }),
  ])
  expect(files.map(({ status }) => status)).toEqual(files.map(() => 200))
})

test('a file rests four times as long as its pieces take, a second at most, however slow its reader is', async () => {
  let clock = 0
  const rests: number[] = []
  async function* pieces() {
    for (const ms of [10, 60, 900]) {
      clock += ms
      yield String(ms)
    }
  }
  const rest = async (ms: number): Promise<void> => {
    rests.push(ms)
    clock += ms
  }
  const read: string[] = []
  for await (const piece of unhurried(pieces(), { now: () => clock, rest })) {
    read.push(piece)
    clock += 30_000
  }
  expect([read, rests]).toEqual([
    ['10', '60', '900'],
    [40, 240, 1000],
  ])
})

test('a statement adds up, by the days of a month and the months of a year, and as a file', async () => {
  const merchant = await shop.addMerchant()
  await shop.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR' }, key: merchant.key })
  await shop.db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object(
        'id', left(p.id, 26) || lpad(n::text, 4, '0'), 'checkout_token', p.checkout_token || n, 'status', 'succeeded',
        'gross_micro', 1000001, 'fee_micro', 45000, 'net_micro', 955001, 'paid_at', now(),
        'succeeded_at', '2026-10-0' || n || 'T12:00:00Z')
      )).* from payment p, generate_series(1, 3) n where p.merchant_id = $1`,
    [merchant.tenant.merchantId],
  )
  const pinrail = createPinrail({ apiKey: merchant.key, baseUrl: shop.url })
  const month = await pinrail.exports.statement('2026-10')
  expect(month).toMatchObject({ by: 'day', from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' })
  expect(month.lines.map(({ period, payments }) => [period, payments])).toEqual([
    ['2026-10-01', 1],
    ['2026-10-02', 1],
    ['2026-10-03', 1],
  ])
  const sum = {
    period: 'sum',
    payments: 3,
    converted_usdc: '3.000003',
    fee_usdc: '0.135000',
    received_usdc: '2.865003',
  }
  expect(month.sum).toEqual(sum)
  expect(await pinrail.exports.statement('2026')).toMatchObject({ lines: [{ ...sum, period: '2026-10' }], sum })
  expect((await pinrail.exports.statementCsv('2026-10')).trimEnd().split('\r\n').at(-1)).toBe(
    'sum,3,3.000003,0.135000,2.865003',
  )
  expect(await pinrail.exports.payments({ status: 'succeeded' })).toHaveLength(3)
  expect((await pinrail.exports.paymentsCsv({ status: 'succeeded' })).trimEnd().split('\r\n')).toHaveLength(4)
  for (const wrong of ['', '?period=2026-13', '?period=26', '?period=2026-10&format=pdf'])
    expectProblem(await shop.ask('GET', `/v1/exports/statement${wrong}`), 400, 'validation_failed')
})

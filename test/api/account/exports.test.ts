import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { unhurried } from '../../../src/api/exports/file.ts'
import { createPinrail } from '../../../src/client/index.ts'
import { bookAll } from '../../../src/db/ledger.ts'
import { converted, settled } from '../../../src/domain/ledger.ts'
import { splitFee } from '../../../src/domain/money.ts'
import { type Account, openAccount } from '../site/account.ts'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

describe('Exports', () => {
  beforeAll(async () => {
    await shop.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR', reference: '=1+1' } })
    await shop.ask('POST', '/v1/payments', { body: { amount: 20, currency: 'EUR', reference: 'two' } })
    // More than an export reads at once.
    await shop.db.query(
      `insert into payment select (jsonb_populate_record(p, jsonb_build_object(
          'id', left(p.id, 26) || lpad(n::text, 4, '0'), 'checkout_token', p.checkout_token || n, 'reference', 'copy ' || n)
        )).* from payment p, generate_series(1, 1100) n where p.reference = 'two'`,
    )
  }, 60_000)

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

  test('a file for Excel begins with a byte order mark, and one for programs does not', async () => {
    const bytes = async (path: string) => {
      const answer = await fetch(`${shop.url}${path}`, { headers: { authorization: `Bearer ${shop.key}` } })
      return Buffer.from(await answer.arrayBuffer())
    }
    const statement = '/v1/exports/statement?period=2026-10'
    const query = 'reference=two'
    for (const path of [`${PATH}?${query}&`, `${statement}&`]) {
      const [plain, excel] = [await bytes(`${path}format=csv`), await bytes(`${path}format=excel`)]
      expect(excel).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]))
      expect(plain[0]).not.toBe(0xef)
    }
  })

  test('a CSV says what the buyer was charged, the exception, the link and the metadata', async () => {
    const metadata = { cart: '77', note: 'a "quoted", text' }
    const { body } = await shop.ask('POST', '/v1/payments', {
      body: { amount: 30, currency: 'EUR', reference: 'columns', metadata },
    })
    await shop.db.query(
      `update payment set confirmed_minor = '270000', charge_currency = 'INR', exception = 'duplicate_payment' where id = $1`,
      [body['id']],
    )
    const { text } = await shop.ask('GET', `${PATH}?format=csv&reference=columns`)
    const [names, line] = text.trimEnd().split('\r\n')
    expect(names).toMatch(/,charged_decimal,charged_currency,exception,payment_link,metadata$/)
    expect(line).toMatch(/,2700\.00,INR,duplicate_payment,,"\{""cart"":""77"",/)
  })

  test('a file has only what the filters let through, and is empty for whoever has nothing', async () => {
    const one = await shop.ask('GET', `${PATH}?reference=two&currency=EUR&status=created,pending`)
    expect(one.body).toMatchObject([{ reference: 'two' }])
    const other = await shop.addMerchant()
    expect((await shop.ask('GET', PATH, { key: other.key })).text).toBe('[]\n')
    expect((await shop.ask('GET', `${PATH}?format=csv`, { key: other.key })).text.trimEnd().split('\r\n')).toHaveLength(
      1,
    )
    for (const wrong of ['format=xml', 'status=none', 'limit=5', 'created[gte]=soon'])
      expectProblem(await shop.ask('GET', `${PATH}?${wrong}`), 400, 'validation_failed')
    expect((await shop.ask('HEAD', PATH)).text).toBe('')
  })

  test('an account reads two files at once; the third waits, and others do not wait for it', async () => {
    const other = await shop.addMerchant()
    const files = await Promise.all([
      ...Array.from({ length: 3 }, () => shop.ask('GET', PATH)),
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
})

describe('The balance and the statement', () => {
  beforeAll(async () => {
    shop = await shop.asNewMerchant()
  })

  const PAYMENTS = 3100
  const DAYS = 31
  const DAY_MS = 86_400_000
  const OCTOBER = Date.parse('2026-10-01T00:00:00.000Z')

  /** `n` counts from 0. Each day has a payment in its first millisecond and one in its last. */
  function settledPayment(n: number) {
    const [day, nth] = [n % DAYS, Math.floor(n / DAYS)]
    const inDay = nth === 0 ? 0 : nth === 1 ? DAY_MS - 1 : (nth * 7_919_104) % DAY_MS
    const usdc = splitFee(String(1_000_000n + ((BigInt(n) * 7919n * 104_729n) % 900_000_000n)))
    return { id: `pay_${String(n).padStart(26, '0')}`, n, day, at: new Date(OCTOBER + day * DAY_MS + inDay), usdc }
  }
  type Settled = ReturnType<typeof settledPayment>

  /** Payments of October 2026 as they end: their rows, what the books have of them, and what the chain proved. */
  async function settleMany({ pay }: Account): Promise<void> {
    const model = await pay({ amount: 10, currency: 'EUR' })
    const all = Array.from({ length: PAYMENTS }, (_, n) => settledPayment(n))
    await insertRows(model, all)
    await shop.db.transaction(async (tx) => {
      for (let day = 0; day < DAYS; day++) {
        const booked = all.filter((payment) => payment.day === day).flatMap(bookingsOf)
        await bookAll(tx, booked, new Date(OCTOBER + day * DAY_MS).toISOString())
      }
    })
  }

  function bookingsOf({ id: paymentId, usdc }: Settled) {
    const received = { minor: '1000', currency: 'EUR' } as const
    return [converted({ paymentId, received, ...usdc, filled: usdc.gross }), settled({ paymentId, net: usdc.net })]
  }

  async function insertRows(model: string, some: readonly Settled[]): Promise<void> {
    const made = JSON.stringify(some.map(({ id, n, at, usdc }) => ({ id, n, at, ...usdc })))
    const rows = `made as (select * from jsonb_to_recordset($2::jsonb) as row (id text, n int, at timestamptz, gross units, fee units, net units)),
      model as materialized (select * from payment where id = $1)`
    await shop.db.query(
      `with ${rows}
       insert into payment select row.* from model, made, jsonb_populate_record(null::payment, to_jsonb(model) || jsonb_build_object('id', made.id,
         'checkout_token', md5(made.id) || substr(md5(made.id), 1, 11), 'status', 'succeeded', 'gross_micro', gross,
         'fee_micro', fee, 'net_micro', net, 'rate', '1', 'rate_source', 'test', 'rate_locked_at', at,
         'charge_currency', model.currency, 'confirmed_minor', model.amount_minor, 'paid_at', at, 'succeeded_at', at,
         'finalized_at', at, 'closed_at', at, 'block_number', 1, 'log_index', n, 'tx_hash', '0x' || repeat('ab', 32))) as row`,
      [model, made],
    )
    await shop.db.query(
      `with ${rows}, queued as (
         insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce, state)
         select made.id, livemode, chain_id, lower(token), '0x' || repeat('aa', 20), lower(destination), net,
           '0x' || lpad(to_hex(n), 64, '0'), 'settled' from model, made
         returning *)
       insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, finalized_at, payment_id, known_as)
       select chain_id, '0x' || repeat('ab', 32), n, token, treasury, 'out', recipient, micro_usdc, auth_nonce, 1,
         '0x' || repeat('cd', 32), at, made.id, 'payout' from queued join made on made.id = payment_id`,
      [model, made],
    )
  }

  const micro = (text: string | undefined): bigint => BigInt((text ?? '').replace('.', ''))
  const dayOf = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD') as day`

  test(`the statement of a month with ${PAYMENTS} payments equals the ledger and the chain to the micro-USDC, by day, by month and in sum`, async () => {
    const account = await openAccount(shop, 'statement@shop.example')
    await settleMany(account)
    const file = async (query: string): Promise<string[][]> => {
      const { html } = await account.owner.get(`/dashboard/balance.csv?${query}`)
      return html
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','))
    }
    const { rows: ledger } = await shop.db.query(
      `select ${dayOf('booked_at')}, count(distinct transaction_id)::text as payments,
         sum(amount) filter (where account = 'conversion')::text as gross,
         (-sum(amount) filter (where account = 'fee_revenue'))::text as fee,
         (-sum(amount) filter (where account = 'merchant_payable'))::text as net
       from ledger_entry join ledger_transaction on id = transaction_id
       where asset = 'USDC' and kind = 'converted' group by 1 order by 1`,
    )
    const { rows: chain } = await shop.db.query(
      `select ${dayOf('finalized_at')}, count(*)::text as payments, sum(micro_usdc)::text as net
       from treasury_log where kind = 'out' group by 1 order by 1`,
    )
    const days = (await file('month=2026-10')).slice(1)
    const lines = days.map(([day, payments, gross, fee, net]) => {
      return { day, payments, gross: micro(gross).toString(), fee: micro(fee).toString(), net: micro(net).toString() }
    })
    expect(lines.slice(0, -1)).toEqual(ledger)
    expect(lines.slice(0, -1).map(({ day, payments, net }) => ({ day, payments, net }))).toEqual(chain)
    expect(days).toHaveLength(DAYS + 1)
    const total = (name: string): string => ledger.reduce((sum, row) => sum + BigInt(row[name]), 0n).toString()
    expect(lines.at(-1)).toEqual({
      day: 'sum',
      payments: String(PAYMENTS),
      gross: total('gross'),
      fee: total('fee'),
      net: total('net'),
    })
    const [, october, sum] = await file('year=2026')
    expect(october).toEqual(['2026-10', ...(sum ?? []).slice(1)])
    expect(october?.slice(1)).toEqual(days.at(-1)?.slice(1))
    expect((await account.owner.get('/dashboard/balance?by=month')).html).toContain('Oct 2026')
  }, 60_000)

  test('another account sees nothing of it, and a file of no month is none', async () => {
    const other = await openAccount(shop, 'empty@shop.example')
    const { html } = await other.owner.get('/dashboard/balance.csv?month=2026-10')
    expect(html.trimEnd().split('\r\n')[1]).toBe('sum,0,0.000000,0.000000,0.000000')
    expect((await other.owner.get('/dashboard/balance')).html).toContain('Nothing has arrived in this period.')
    expect((await other.owner.get('/dashboard/balance.csv?month=2026-13')).status).toBe(404)
  })
})

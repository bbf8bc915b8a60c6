import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { bookAll } from '../../../../src/db/ledger.ts'
import { converted, settled } from '../../../../src/domain/ledger.ts'
import { splitFee } from '../../../../src/domain/money.ts'
import { openShop, type Shop } from '../../support/shop.ts'
import { type Account, openAccount } from '../account.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop?.close())

const PAYMENTS = 10_000
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
  for (let from = 0; from < PAYMENTS; from += 2500) await insertRows(model, all.slice(from, from + 2500))
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
  expect((await other.owner.get('/dashboard/balance')).html).toContain('Nothing has arrived in this time.')
  expect((await other.owner.get('/dashboard/balance.csv?month=2026-13')).status).toBe(404)
})

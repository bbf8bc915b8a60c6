import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { aLink } from '../../scripts/test/new-link.ts'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb, type Db, type Session, type Tenant } from '../../src/db/db.ts'
import { insertLink } from '../../src/db/links/links.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { recordEvent } from '../../src/db/webhooks/events.ts'
import { insertEndpoint } from '../../src/db/webhooks/webhook-endpoints.ts'
import { newId } from '../../src/ids.ts'

/**
 * Row-level security between merchants. Every statement here lacks the filter by merchant that the repositories have,
 * so only row-level security protects the rows.
 */

let database: TestDatabase
let db: Db
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 2 })
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

const OWNED = [
  'payment',
  'payment_link',
  'attempt',
  'refund',
  'dispute',
  'dispute_answer',
  'timeline_entry',
  'wallet',
  'api_key',
  'idempotency_key',
  'event',
  'event_sequence',
  'delivery',
  'delivery_attempt',
  'webhook_endpoint',
  'api_request',
  'merchant',
  'agreement',
] as const

const REFUND = `insert into refund (id, payment_id, attempt_id, merchant_id, livemode, amount_minor, currency, fund_from,
    payment_version, rate, rate_source, required_micro, created_at, updated_at, expires_at)
  values ($1, $2, $3, $4, $5, 60, 'EUR', 'wallet', 1, '1', 'test', 600000, now(), now(), now())`

/** One row in every table. */
async function furnish(tenant: Tenant): Promise<void> {
  const { merchantId, livemode } = tenant
  const [payment, attempt, endpoint] = [newId('payment'), newId('attempt'), newId('endpoint')]
  const run = (text: string, values: unknown[]) => db.query(text, values)
  await run('insert into merchant (id, name) values ($1, $2) on conflict do nothing', [merchantId, 'Shop'])
  await run('insert into wallet (merchant_id, livemode, address) values ($1, $2, $3)', [
    merchantId,
    livemode,
    `0x${'1'.repeat(40)}`,
  ])
  await run(
    "insert into api_key (id, merchant_id, livemode, name, digest, pepper_id, last4, scopes) values ($1, $2, $3, 'k', $4, 'p', 'abcd', '{}')",
    [newId('apiKey'), merchantId, livemode, Buffer.alloc(32)],
  )
  await run(
    `insert into idempotency_key (merchant_id, livemode, route, key, fingerprint, status, body) values ($1, $2, 'r', 'k', $3, 201, '')`,
    [merchantId, livemode, Buffer.alloc(32)],
  )
  await run(
    `insert into payment (id, merchant_id, livemode, amount_text, amount_minor, currency, fallback, checkout_token,
       destination, chain_id, token, quote, created_at, updated_at, expires_at)
     values ($1, $2, $3, '1', 100, 'EUR', 'picker', $1, $4, 1, $4, '{}', now(), now(), now())`,
    [payment, merchantId, livemode, `0x${'1'.repeat(40)}`],
  )
  await insertLink(db, tenant, aLink({ id: newId('link') }))
  await run(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'card_partner', 'card', 'open', 100, 'EUR', now(), now())`,
    [attempt, payment],
  )
  await run(
    `update payment set payout = 'paid', provider_used = 'card_partner', paid_attempt_id = $2, charge_currency = 'EUR',
       confirmed_minor = 100 where id = $1`,
    [payment, attempt],
  )
  const dispute = newId('dispute')
  await run(
    `insert into dispute (id, payment_id, attempt_id, merchant_id, livemode, provider, partner_dispute, kind, status,
       reason, amount_minor, currency, taken_minor, answered_at, asked_at, created_at,
       updated_at)
     values ($1, $2, $3, $4, $5, 'card_partner', 'd', 'inquiry', 'needs_response', 'other', 60, 'EUR', 0, 'api', now(), now(), now())`,
    [dispute, payment, attempt, merchantId, livemode],
  )
  await run(
    `insert into dispute_answer (id, dispute_id, merchant_id, livemode, kind, submit, texts, files, created_at)
     values ($1, $2, $3, $4, 'accept', true, '{}', '{}', now())`,
    [newId('request'), dispute, merchantId, livemode],
  )
  await run(REFUND, [newId('refund'), payment, attempt, merchantId, livemode])
  await run(
    "insert into timeline_entry (payment_id, at, kind, actor, message) values ($1, now(), 'payment.created', 'merchant', '')",
    [payment],
  )
  await insertEndpoint(db, tenant, {
    id: endpoint,
    url: 'https://a.example',
    description: null,
    enabledEvents: ['*'],
    sealedSecret: 's',
  })
  const about = { type: 'payment.failed', paymentId: payment, object: {}, at: new Date().toISOString() }
  const event = await db.transaction((tx) => recordEvent(tx, { ...tenant, ...about }))
  await run(
    'insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms) values ($1, $2, 1, now(), 1)',
    [event, endpoint],
  )
  await run(
    `insert into api_request (id, merchant_id, livemode, key_id, method, path, status, duration_ms, at)
     values ($1, $2, $3, 'k', 'GET', '/v1/payments', 200, 1, now())`,
    [newId('request'), merchantId, livemode],
  )
}

const mine = { merchantId: newId('merchant'), livemode: false }
const other = { merchantId: newId('merchant'), livemode: false }
const live = { ...mine, livemode: true }
beforeAll(async () => {
  for (const tenant of [mine, other, live]) await furnish(tenant)
})

const countIn = async (session: Pick<Session, 'query'>, table: string): Promise<number> =>
  Number((await session.query(`select count(*) as n from ${table}`)).rows[0].n)

describe('Statements without a condition on the merchant', () => {
  it.each(OWNED)('%s shows one merchant and mode only', async (table) => {
    expect(await countIn(db, table)).toBe(table === 'merchant' || table === 'agreement' ? 2 : 3)
    expect(await countIn(db.as(mine), table)).toBe(1)
  })

  it('rows of another merchant cannot be changed or deleted', async () => {
    const session = db.as(other)
    const touched = [
      "update webhook_endpoint set url = 'https://evil.example'",
      "update payment_link set title = 'Evil'",
      "update api_key set scopes = '{keys:write}'",
      `update wallet set address = '0x${'2'.repeat(40)}'`,
      "update delivery set status = 'pending'",
      "update idempotency_key set body = 'x'",
      'delete from webhook_endpoint',
    ]
    for (const statement of touched)
      expect([statement, (await session.query(statement)).rowCount]).toEqual([statement, 1])
    const { rows } = await db.query('select url from webhook_endpoint order by merchant_id, livemode')
    expect(rows).toEqual([{ url: 'https://a.example' }, { url: 'https://a.example' }])
  })

  it('a refund takes its part of a payment of the same merchant, and never more than is left', async () => {
    const { rows } = await db.query(
      'select p.id, a.id as attempt, refunds_minor, refunds_count from payment p join attempt a on a.payment_id = p.id where merchant_id = $1',
      [other.merchantId],
    )
    const { id, attempt, ...taken } = rows[0]
    expect(taken).toEqual({ refunds_minor: '60', refunds_count: 1 })
    const refused = /has less than 60 EUR to refund/
    const create = (session: Pick<Session, 'query'>, { merchantId, livemode }: Tenant) =>
      session.query(REFUND, [newId('refund'), id, attempt, merchantId, livemode])
    await expect(create(db, other)).rejects.toThrow(refused)
    await db.query('update payment set refunds_minor = 0 where id = $1', [id])
    for (const tenant of [mine, live]) await expect(create(db, tenant)).rejects.toThrow(refused)
    await expect(create(db.as(mine), other)).rejects.toThrow(/row-level security/)
    // Two at the same moment: one.
    const both = await Promise.allSettled([create(db, other), create(db.as(other), other)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await db.query('delete from refund where payment_id = $1 and number > 1', [id])
  })

  it('rows cannot be written for another merchant, or in the other mode', async () => {
    const insert = 'insert into wallet (merchant_id, livemode, address) values ($1, $2, $3)'
    const stranger = newId('merchant')
    await db.query("insert into merchant (id, name) values ($1, 'x')", [stranger])
    for (const { merchantId, livemode } of [
      { merchantId: stranger, livemode: false },
      { merchantId: other.merchantId, livemode: true },
    ])
      await expect(db.as(other).query(insert, [merchantId, livemode, `0x${'3'.repeat(40)}`])).rejects.toThrow(
        'row-level security',
      )
  })

  it('a payment is made only by the merchant’s own link, and no request sets a link’s wallet, price or stop', async () => {
    const readLinkId = async ({ merchantId, livemode }: Tenant): Promise<string> =>
      (await db.query('select id from payment_link where merchant_id = $1 and livemode = $2', [merchantId, livemode]))
        .rows[0].id
    const pay = async (link: string) => {
      const id = newId('payment')
      const payment = { ...newPayment({ id, createdAt: new Date().toISOString() }), paymentLink: link }
      return db.as(mine).transaction(async (tx) => {
        await insertPayment(tx, mine, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
        await tx.query('select no_such_column')
      })
    }
    await expect(pay(await readLinkId(other))).rejects.toThrow('must be the tenant')
    await expect(pay(await readLinkId(live))).rejects.toThrow('must be the tenant')
    await expect(pay(await readLinkId(mine))).rejects.toThrow('no_such_column')
    const wallet = `0x${'2'.repeat(40)}`
    await expect(insertLink(db.as(mine), mine, aLink({ id: newId('link'), wallet }))).rejects.toThrow(
      'row-level security',
    )
    for (const change of [`wallet = '${wallet}'`, 'amount_minor = 1', 'stopped_at = null'])
      await expect(db.as(mine).query(`update payment_link set ${change}`)).rejects.toThrow('permission denied')
    await expect(db.query(`update payment_link set wallet = '${wallet}'`)).rejects.toThrow('are fixed')
  })

  it('a message to Temporal is about the merchant’s own payment, and only its start', async () => {
    const send = 'insert into outbox (kind, subject) values ($1, $2)'
    const readLinkId = async ({ merchantId }: Tenant): Promise<string> =>
      (await db.query('select id from payment where merchant_id = $1 and not livemode', [merchantId])).rows[0].id
    const [own, foreign] = [await readLinkId(mine), await readLinkId(other)]
    await expect(db.as(mine).query(send, ['start_payment', foreign])).rejects.toThrow('must be the tenant')
    await expect(db.as(mine).query(send, ['start_payment', newId('payment')])).rejects.toThrow('must be the tenant')
    await expect(db.as(mine).query(send, ['payment_changed', own])).rejects.toThrow('row-level security')
    expect((await db.query('select * from outbox')).rows).toEqual([])
    expect((await db.as(mine).query(send, ['start_payment', own])).rowCount).toBe(1)
  })

  it('a merchant reads nothing of the ledger but what chargebacks of its payments took', async () => {
    await db.query(
      `with booked as (
         insert into ledger_transaction (kind, reference, payment_id, booked_at)
         select 'test', id, id, now() from payment returning id)
       insert into ledger_entry (transaction_id, line, account, asset, amount)
       select id, line, account, 'USDC', amount from booked,
         (values (0, 'chargeback_loss', 5), (1, 'reserve', -5)) as entry (line, account, amount)`,
    )
    const { rows } = await db.as(mine).query('select account from ledger_entry')
    expect(rows).toEqual([{ account: 'chargeback_loss' }])
    expect(await countIn(db.as(mine), 'ledger_transaction')).toBe(1)
  })

  it('a payment, the ledger and payouts cannot be changed at all', async () => {
    for (const statement of [
      "update payment set status = 'succeeded'",
      'delete from payment',
      'select * from payout',
      'delete from ledger_entry',
      "update ledger_transaction set kind = 'other'",
      'select * from outbox',
      'delete from event_sequence',
    ])
      await expect(db.as(mine).query(statement)).rejects.toThrow('permission denied')
  })
})

describe('The tenant of one request', () => {
  it('the tenant is removed with its request: the connection is as it was, also after an error', async () => {
    await expect(db.as(mine).query('select 1/0')).rejects.toThrow('division by zero')
    for (let round = 0; round < 4; round++) {
      expect((await db.query("select current_user <> 'pinrail_tenant' as own")).rows).toEqual([{ own: true }])
      expect(await countIn(db, 'payment')).toBe(3)
    }
  })

  it('the tenant applies in a transaction too, and a name cannot inject SQL', async () => {
    const seen = await db.as(mine).transaction((tx) => countIn(tx, 'payment'))
    expect(seen).toBe(1)
    const evil = { merchantId: `x'; reset role; set pinrail.merchant_id = '${other.merchantId}`, livemode: false }
    expect(await countIn(db.as(evil), 'payment')).toBe(0)
  })

  it('the tables show nothing while no tenant is set', async () => {
    const seen = await db.transaction(async (tx) => {
      await tx.query('set local role pinrail_tenant')
      return countIn(tx, 'payment')
    })
    expect(seen).toBe(0)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { pino } from 'pino'
import { z } from 'zod'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { until } from '../../scripts/test/until.ts'
import { countUntried, insertMail } from '../../src/db/accounts/mail.ts'
import { type Db, many, sql, type Tenant } from '../../src/db/db.ts'
import { forgetMailboxes } from '../../src/db/payments/buyer-mails.ts'
import {
  forgetBuyers,
  noteBuyerLanguage,
  readCustomers,
  saveTypedAddress,
  setCustomerEmail,
} from '../../src/db/payments/buyers.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import {
  CUSTOMER_DAYS,
  type Customer,
  isMailedToBuyer,
  MOST_BUYER_MAILS_A_DAY,
} from '../../src/domain/payment/buyer.ts'
import { newId } from '../../src/ids.ts'
import { composeBuyerMail } from '../../src/notify/buyer-mail.ts'
import { createBuyerMailRound } from '../../src/worker/notify/buyer-mail-round.ts'
import { sendDueMail } from '../../src/worker/notify/mail-round.ts'
import { MOST_UNTRIED } from '../../src/worker/notify/notice-round.ts'
import { type Seeded, seedDatabase } from '../webhooks/seed.ts'

const AT = '2026-11-20T21:00:00.000Z'
const BUYER = 'anna@mail.example'
const DAY_MS = 86_400_000

let seeded: Seeded
let db: Db
let tenant: Tenant
let now = Date.parse(AT)
beforeAll(async () => {
  seeded = await seedDatabase()
  ;({ db, tenant } = seeded)
  // In test mode mails go only to people of the account.
  await db.query(`insert into person (id, email, created_at) values ('per_anna', $1, $2)`, [BUYER, AT])
  await db.query(
    `insert into membership (merchant_id, person_id, role, created_at) values ($1, 'per_anna', 'viewer', $2)`,
    [tenant.merchantId, AT],
  )
})
beforeEach(async () => {
  now = Date.parse(AT)
  await db.query('truncate mail, buyer_mail')
})
afterAll(() => seeded?.close())

type Sent = { readonly to: string; readonly subject: string; readonly text: string }

const round = createBuyerMailRound({
  get db() {
    return db
  },
  seal: (text) => text,
  newMailId: () => newId('mail'),
  publicUrl: 'https://pay.example',
  composeBuyerMail,
  clock: () => now,
})

/** Writes what is due, several workers at once. Returns the mails. */
async function write(): Promise<Sent[]> {
  await db.query('update buyer_mail set due_at = $1 where due_at > $1', [new Date(now).toISOString()])
  await Promise.all([round(), round(), round()])
  const rows = (await db.query('select sealed from mail order by created_at, id')).rows as { sealed: string }[]
  return rows.map(({ sealed }) => JSON.parse(sealed) as Sent)
}

async function addPayment(customer: Customer | null, fields: Partial<Parameters<typeof newPayment>[0]> = {}) {
  const payment = newPayment({ id: newId('payment'), createdAt: AT, ...fields })
  await insertPayment(db.as(tenant), tenant, { payment, customer, claim: null, publicUrl: 'https://pay.example' })
  return payment.id
}

const succeed = (id: string): Promise<unknown> =>
  db.query(
    `update payment set status = 'succeeded', succeeded_at = $2, confirmed_minor = 4999, charge_currency = 'EUR' where id = $1`,
    [id, AT],
  )

const type = (paymentId: string, email: string, source: 'shared' | 'private' = 'private'): Promise<void> =>
  saveTypedAddress(db, { paymentId, email, source, language: 'de', at: AT })

async function addRefund(paymentId: string, from: 'wallet' | 'payment' = 'wallet'): Promise<string> {
  const [attemptId, id] = [newId('attempt'), newId('refund')]
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'card_partner', 'card', 'paid', 4999, 'EUR', now(), now())`,
    [attemptId, paymentId],
  )
  await db.query(
    `update payment set payout = $3, provider_used = 'card_partner', paid_attempt_id = $2, confirmed_minor = 4999,
       charge_currency = 'EUR' where id = $1`,
    [paymentId, attemptId, from === 'wallet' ? 'paid' : 'none'],
  )
  const units = from === 'wallet' ? 1 : 0
  await db.query(
    `insert into refund (id, payment_id, attempt_id, merchant_id, livemode, amount_minor, currency, rate, rate_source,
       fund_from, payment_version, required_micro, received_micro, created_at, updated_at, expires_at)
     select $1, id, $3, $4, false, 1000, 'EUR', '1', 'test', $5, version, $6, $6, now(), now(), now()
     from payment where id = $2`,
    [id, paymentId, attemptId, tenant.merchantId, from, units],
  )
  return id
}

describe('Mails to buyers', () => {
  test('a buyer gets one receipt once the payment has succeeded, and nothing before', async () => {
    const id = await addPayment({ email: BUYER, taxId: null }, { description: 'Two tickets', reference: 'order-1042' })
    expect(await write()).toEqual([])
    await succeed(id)
    const [mail, ...others] = await write()
    expect(others).toEqual([])
    expect([mail?.to, mail?.subject]).toEqual([BUYER, expect.stringMatching(/^\(test\) Receipt from .+: 49\.99 EUR$/)])
    for (const text of ['Two tickets', 'order-1042', `https://pay.example/c/${id}/receipt`, id])
      expect(mail?.text).toContain(text)
    await db.query(`update payment set status = 'settling' where id = $1`, [id])
    await succeed(id)
    await setCustomerEmail(db.as(tenant), tenant, { paymentId: id, email: BUYER, at: AT })
    expect(await write()).toHaveLength(1)
  })

  test('a buyer who gives the address after the payment gets the receipt then, in the language of the page', async () => {
    const id = await addPayment(null)
    await succeed(id)
    expect(await write()).toEqual([])
    await type(id, BUYER)
    expect((await write()).map(({ subject }) => subject)).toEqual([expect.stringContaining('Zahlungsbeleg von')])
  })

  test('the language of a buyer whose address the merchant gave is that of the checkout', async () => {
    const id = await addPayment({ email: BUYER, taxId: null })
    await noteBuyerLanguage(db, id, 'hi')
    await succeed(id)
    expect((await write())[0]?.subject).toContain('की रसीद')
  })

  test('a buyer gets a mail for each refund that succeeded, and one for a payment that was given back', async () => {
    const id = await addPayment({ email: BUYER, taxId: null })
    await succeed(id)
    expect(await write()).toHaveLength(1)
    const refund = await addRefund(id)
    expect(await write()).toHaveLength(1)
    await db.query(`update refund set status = 'succeeded', due_at = null where id = $1`, [refund])
    const mails = await write()
    expect(mails[1]?.subject).toMatch(/^\(test\) Refund from .+: 10\.00 EUR$/)
    const other = await addPayment({ email: BUYER, taxId: null })
    await db.query(
      `update payment set status = 'refunded', confirmed_minor = 4999, charge_currency = 'EUR' where id = $1`,
      [other],
    )
    expect((await write())[2]?.text).toContain('49.99 EUR was refunded to you.')
    expect(await write()).toHaveLength(3)
  })

  test('money that a refund gives back before the settlement is one mail, also if the refund fails because it was faster', async () => {
    for (const [end, reason, amount] of [
      ['succeeded', null, '10.00'],
      ['failed', 'money_gone', '49.99'],
    ]) {
      const id = await addPayment({ email: BUYER, taxId: null })
      const refund = await addRefund(id, 'payment')
      await db.query(`update payment set status = 'refunded' where id = $1`, [id])
      expect(await write()).toEqual([])
      await db.query(`update refund set status = $2, status_reason = $3, due_at = null where id = $1`, [
        refund,
        end,
        reason,
      ])
      const mails = await write()
      expect([end, mails.map(({ text }) => text)]).toEqual([
        end,
        [expect.stringContaining(`${amount} EUR was refunded`)],
      ])
      await db.query('delete from mail')
    }
  })

  test('a receipt is owed once if the payment succeeds and the address is given at the same moment', async () => {
    for (const first of ['payment', 'address'] as const) {
      const id = await addPayment(null)
      const pool = { payment: () => succeed(id), address: () => type(id, BUYER) }
      const [now, later] = first === 'payment' ? (['payment', 'address'] as const) : (['address', 'payment'] as const)
      const second = await db.transaction(async (tx) => {
        if (now === 'payment')
          await tx.query(`update payment set status = 'succeeded', succeeded_at = now() where id = $1`, [id])
        else await saveTypedAddress(tx, { paymentId: id, email: BUYER, source: 'private', language: 'en', at: AT })
        const waiting = pool[later]()
        await waitForLock()
        return [waiting]
      })
      await Promise.all(second)
      const owed = (await db.query('select fact from buyer_mail where payment_id = $1', [id])).rows
      expect([first, owed]).toEqual([first, [{ fact: 'paid' }]])
    }
  })

  /** Resolves when a statement waits for a lock of another one. */
  async function waitForLock(): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await until(
      async () => (await db.query(waiting)).rows.length,
      (count) => count > 0,
    )
  }

  test('in test mode only people of the account get mails, in live mode a mailbox gets ten a day, and old facts none', () => {
    const owed = { livemode: true, isMember: false, sentToday: 0, age: 0 }
    expect(isMailedToBuyer(owed)).toBe(true)
    expect(isMailedToBuyer({ ...owed, livemode: false })).toBe(false)
    expect(isMailedToBuyer({ ...owed, livemode: false, isMember: true })).toBe(true)
    expect(isMailedToBuyer({ ...owed, sentToday: MOST_BUYER_MAILS_A_DAY })).toBe(false)
    expect(isMailedToBuyer({ ...owed, age: 3 * DAY_MS })).toBe(false)
  })

  test('a mailbox gets ten mails a day, however its address is written, and also if the merchant changes addresses', async () => {
    const spellings = [BUYER, 'anna+1@mail.example', 'anna+2@mail.example']
    const pay = async (email: string): Promise<string> => {
      const id = await addPayment({ email, taxId: null })
      await succeed(id)
      return id
    }
    for (const [place, email] of spellings.slice(1).entries()) {
      await db.query(`insert into person (id, email, created_at) values ($1, $2, $3)`, [`per_${place}`, email, AT])
      await db.query(
        `insert into membership (merchant_id, person_id, role, created_at) values ($1, $2, 'viewer', $3)`,
        [tenant.merchantId, `per_${place}`, AT],
      )
    }
    const ids: string[] = []
    for (let place = 0; place < 14; place++) ids.push(await pay(spellings[place % 3] ?? BUYER))
    expect(await write()).toHaveLength(MOST_BUYER_MAILS_A_DAY)
    for (const paymentId of ids)
      await setCustomerEmail(db.as(tenant), tenant, { paymentId, email: 'elsewhere@mail.example', at: AT })
    await pay(BUYER)
    expect(await write()).toHaveLength(MOST_BUYER_MAILS_A_DAY)
    now += DAY_MS
    await db.query('delete from mail')
    // The mails that the limit prevented do not count.
    await pay(BUYER)
    expect(await write()).toHaveLength(1)
    now += DAY_MS + 1
    expect(await forgetMailboxes(db, new Date(now).toISOString(), 100)).toBe(MOST_BUYER_MAILS_A_DAY + 1)
  })

  test('an address that is deleted before its mail and given again gets the receipt', async () => {
    const id = await addPayment({ email: BUYER, taxId: null })
    await succeed(id)
    const set = (email: string | null) => setCustomerEmail(db.as(tenant), tenant, { paymentId: id, email, at: AT })
    await set(null)
    expect(await write()).toEqual([])
    await set(BUYER)
    expect(await write()).toHaveLength(1)
    await set(null)
    await set(BUYER)
    expect(await write()).toHaveLength(1)
  })

  test('a payment without an address wakes no worker for its mails', async () => {
    const id = await addPayment(null)
    const woken: (string | undefined)[] = []
    const client = new pg.Client({ connectionString: seeded.url })
    await client.connect()
    client.on('notification', ({ payload }) => woken.push(payload))
    await client.query('listen pinrail_work')
    await succeed(id)
    await type(id, BUYER)
    await until(
      async () => woken.length,
      (count) => count > 0,
    )
    await client.end()
    expect(woken.filter((work) => work === 'buyer_mails')).toHaveLength(1)
  })

  test('mails to buyers leave room for the notices of accounts', async () => {
    for (let place = 0; place < MOST_UNTRIED / 2; place++)
      await insertMail(db, { id: newId('mail'), sealed: '{}', now: AT, expiresAt: '2026-11-21T21:00:00.000Z' })
    const id = await addPayment({ email: BUYER, taxId: null })
    await succeed(id)
    expect(await round()).toBeNull()
    expect(await countUntried(db, { now: AT, most: MOST_UNTRIED })).toBeLessThan(MOST_UNTRIED)
    await db.query(`update mail set tries = 1`)
    expect(await round()).toBe(1)
  })

  test('the words of a merchant make no link in a mail from the platform', () => {
    const { subject, text } = composeBuyerMail(
      {
        kind: 'receipt',
        paymentId: 'pay_1',
        url: 'https://pay.example/c/1',
        shop: 'evil.example',
        supportEmail: null,
        amount: { minor: '100', currency: 'EUR' },
        description: 'Confirm at https://evil.example/refund',
        reference: 'www．evil。example',
        invoice: {
          number: 'http://192.0.2.1/x',
          taxId: 'mail me@evil.example',
          items: [{ name: 'Version 1.2 of EVIL.EXAMPLE', quantity: 1, unitMinor: '100', taxPercent: null }],
        },
        currency: 'EUR',
        testMode: false,
      },
      'en',
    )
    const words = `${subject}\n${text}`.replaceAll('https://pay.example/c/1/receipt', '')
    expect(words).not.toMatch(/evil[.．。](?! )|[.．。]evil|:\/\//i)
    expect(words).toContain('Version 1.2 of EVIL. EXAMPLE: 1.00 EUR')
  })

  test('a stranger with the link of a test payment cannot have a mail sent to anybody', async () => {
    const id = await addPayment(null)
    await type(id, 'victim@elsewhere.example')
    await succeed(id)
    expect(await write()).toEqual([])
  })

  test('a mail that its mailbox refuses is given up at once and delays no other mail', async () => {
    const [one, two] = [
      await addPayment({ email: BUYER, taxId: null }),
      await addPayment({ email: BUYER, taxId: null }),
    ]
    await succeed(one)
    await write()
    await succeed(two)
    await write()
    const tried: string[] = []
    const send = async ({ text }: { text: string }): Promise<void> => {
      tried.push(text.includes(one) ? 'one' : 'two')
      if (text.includes(one))
        throw Object.assign(new Error('no such user'), { code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' })
    }
    const sending = { db, open: (sealed: string) => sealed, send, clock: () => now, log: pino({ level: 'silent' }) }
    expect(await sendDueMail(sending)).toBe(1)
    now += DAY_MS
    expect(await sendDueMail(sending)).toBe(0)
    expect(tried.toSorted()).toEqual(['one', 'two'])
  })
})

const row = z.object({ text: z.string() })

describe('The data of buyers', () => {
  test('a new address keeps the tax id of the buyer no longer', async () => {
    const [id, other] = [
      await addPayment({ email: null, taxId: 'DE1' }),
      await addPayment({ email: BUYER, taxId: null }),
    ]
    const late = '2027-02-01T00:00:00.000Z'
    const dates = async () => {
      const { rows } = await db.query(
        'select given_at from payment_buyer where payment_id = any($1) order by payment_id',
        [[id, other].toSorted()],
      )
      return rows.map(({ given_at }) => new Date(String(given_at)).toISOString())
    }
    for (const paymentId of [id, other])
      await setCustomerEmail(db.as(tenant), tenant, { paymentId, email: BUYER, at: late })
    expect(await dates()).toEqual([AT, late])
    await saveTypedAddress(db, { paymentId: id, email: BUYER, source: 'private', language: 'de', at: late })
    expect(await dates()).toEqual([AT, late])
  })

  const customer = async (id: string): Promise<Customer | undefined> =>
    (await readCustomers(db.as(tenant), tenant, [id])).get(id)

  test('a merchant has an address that it gave or that the buyer shares, and not one that the buyer typed for mails', async () => {
    const given = await addPayment({ email: BUYER, taxId: 'DE1' })
    expect(await customer(given)).toEqual({ email: BUYER, taxId: 'DE1' })
    const [shared, kept] = [await addPayment(null), await addPayment(null)]
    await type(shared, BUYER, 'shared')
    await type(kept, BUYER)
    expect(await customer(shared)).toEqual({ email: BUYER, taxId: null })
    expect(await customer(kept)).toEqual({ email: null, taxId: null })
    await expect(db.as(tenant).query('select email from payment_buyer')).rejects.toMatchObject({ code: '42501' })
  })

  test('a buyer replaces an own address until the first mail, and never the one of the merchant', async () => {
    const id = await addPayment({ email: BUYER, taxId: null })
    await type(id, 'other@mail.example', 'shared')
    expect(await customer(id)).toMatchObject({ email: BUYER })
    const own = await addPayment(null)
    await type(own, 'typo@mail.example', 'shared')
    await type(own, BUYER, 'shared')
    expect(await customer(own)).toMatchObject({ email: BUYER })
    await succeed(own)
    await write()
    await type(own, 'other@mail.example', 'shared')
    expect(await customer(own)).toMatchObject({ email: BUYER })
  })

  test('the data of a buyer is deleted after 180 days, or by its merchant, and nothing is mailed then', async () => {
    const ages = [CUSTOMER_DAYS - 1, CUSTOMER_DAYS + 1]
    const ids: string[] = []
    for (const age of ages) {
      const id = await addPayment({ email: BUYER, taxId: 'DE1' })
      await db.query(
        `update payment_buyer set given_at = $2::timestamptz - make_interval(days => $3) where payment_id = $1`,
        [id, '2027-11-20T21:00:00Z', age],
      )
      ids.push(id)
    }
    const [young = '', old = ''] = ids
    await db.query(`update payment_buyer set given_at = '2027-11-20' where payment_id <> all($1)`, [ids])
    expect(await forgetBuyers(db, '2027-11-20T21:00:00Z', 100)).toBe(1)
    expect([await customer(young), await customer(old)]).toEqual([
      { email: BUYER, taxId: 'DE1' },
      { email: null, taxId: null },
    ])
    await setCustomerEmail(db.as(tenant), tenant, { paymentId: young, email: null, at: AT })
    expect(await customer(young)).toEqual({ email: null, taxId: 'DE1' })
    await succeed(old)
    await succeed(young)
    expect(await write()).toEqual([])
  })

  test('no event, outbox row or timeline entry has the address', async () => {
    const id = await addPayment({ email: BUYER, taxId: 'SECRET-TAX' })
    await type(id, BUYER)
    await succeed(id)
    const bodies = await many(
      db,
      row,
      sql`select convert_from(body, 'UTF8') as text from event where payment_id = ${id}
          union all select data::text from timeline_entry where payment_id = ${id}
          union all select to_jsonb(outbox)::text from outbox`,
    )
    expect(bodies.length).toBeGreaterThan(1)
    for (const { text } of bodies) expect(text).not.toMatch(/anna@|SECRET-TAX/)
  })
})

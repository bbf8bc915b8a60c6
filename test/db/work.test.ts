import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { until } from '../../scripts/test/until.ts'
import { leaveNotice } from '../../src/db/accounts/account-notices.ts'
import { insertMail } from '../../src/db/accounts/mail.ts'
import type { Db, Tenant } from '../../src/db/db.ts'
import { insertAnswer } from '../../src/db/disputes/dispute-answers.ts'
import { listen, PARTNERS_CHANNEL } from '../../src/db/notices.ts'
import { insertTestMessage } from '../../src/db/notifications/messages.ts'
import { bringSweepForward } from '../../src/db/partners/disputes.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { findWork, SWEEPS, type Sweep, WORK_CHANNEL } from '../../src/db/work.ts'
import { newId } from '../../src/ids.ts'
import { createWorkLook, createWorkWakeups, wakeSweeps } from '../../src/worker/work-look.ts'
import { anAnswer, plantDispute } from '../api/support/disputes.ts'
import { addEndpoint, addEvent, type Seeded, seedDatabase } from '../webhooks/seed.ts'

const NOW = '2026-11-20T21:00:00.000Z'
const [WALLET, HASH] = [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(32)}`]

let seeded: Seeded
let db: Db
let tenant: Tenant
beforeAll(async () => {
  seeded = await seedDatabase()
  ;({ db, tenant } = seeded)
})
afterAll(() => seeded?.close())
beforeEach(async () => {
  await db.query(`truncate refill, outbox, refund, partner_callback, delivery, partner_standing, notice, notification, channel, channel_message,
    mail, buyer_mail, treasury_log, dispute, dispute_answer cascade`)
  await db.query(`update dispute_sweep set due_at = now() + interval '1 hour'`)
  await db.query(`update agreement set status = 'approved'`)
})

async function addPayment(): Promise<string> {
  const payment = newPayment({ id: newId('payment'), createdAt: NOW })
  await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'https://pay.example' })
  return payment.id
}

async function addAttempt(): Promise<string> {
  const id = newId('attempt')
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'card_partner', 'card', 'open', 100, 'EUR', now(), now())`,
    [id, await addPayment()],
  )
  await db.query('delete from outbox')
  return id
}

async function addChannel(): Promise<string> {
  const id = newId('channel')
  await db.query(
    `insert into channel (id, merchant_id, livemode, kind, name, sealed, events, language, created_at, updated_at)
     values ($1, $2, false, 'slack', 'Slack', '', '{}', 'en', now(), now())`,
    [id, tenant.merchantId],
  )
  return id
}

/** Leaves work for the sweep as the rest of the code does. */
const LEAVE: Readonly<Record<Sweep, () => Promise<unknown>>> = {
  starts: addPayment,
  changes: () => db.query(`insert into outbox (kind, subject) values ('payment_changed', 'pay_1')`),
  callbacks: async () =>
    db.query(
      `insert into partner_callback (provider, provider_event_id, attempt_id, body_sha256, received_at)
       values ('card_partner', $1, $1, sha256(''), now())`,
      [await addAttempt()],
    ),
  refunds: async () => {
    const attemptId = await addAttempt()
    await db.query(
      `with paid as (
         update payment p set payout = 'paid', provider_used = 'card_partner', paid_attempt_id = a.id, charge_currency = 'EUR',
           confirmed_minor = 100 from attempt a where a.id = $1 and p.id = a.payment_id)
       select 1`,
      [attemptId],
    )
    await db.query(
      `insert into refund (id, payment_id, attempt_id, merchant_id, livemode, amount_minor, currency, fund_from,
         payment_version, rate, rate_source, required_micro, created_at, updated_at, expires_at)
       select $1, payment_id, id, $2, false, 60, 'EUR', 'wallet', 1, '1', 'test', 1, now(), now(), now() from attempt where id = $3`,
      [newId('refund'), tenant.merchantId, attemptId],
    )
  },
  deliveries: async () => {
    await addEndpoint(db, tenant)
    await addEvent(db, tenant, { at: NOW })
  },
  partners: () =>
    db.query(`insert into partner_standing (provider, ask_at) values ('card_partner', now() + interval '1 hour')`),
  disputes: () => bringSweepForward(db, 'wallet_app'),
  dispute_answers: async () => {
    const dispute = await plantDispute(db, tenant, { attemptId: await addAttempt() })
    await insertAnswer(db, tenant, anAnswer(dispute))
  },
  notices: () => db.transaction((tx) => leaveNotice(tx, tenant, { kind: 'wallet.kept', data: {} })),
  buyer_mails: async () => {
    const id = await addPayment()
    await db.query('delete from outbox')
    await db.query(`insert into buyer_mail (payment_id, fact) values ($1, 'paid')`, [id])
  },
  mail: () => insertMail(db, { id: newId('mail'), sealed: 'x', now: NOW, expiresAt: '2026-11-20T22:00:00.000Z' }),
  notifications: async () =>
    insertTestMessage(db, tenant, { id: newId('channelMessage'), channelId: await addChannel(), now: NOW }),
  suspended: async () => {
    await addPayment()
    await db.query('delete from outbox')
    await db.query(`update agreement set status = 'suspended' where merchant_id = $1`, [tenant.merchantId])
  },
  receipts: async () => {
    const id = await addPayment()
    await db.query('delete from outbox')
    await db.query(
      `insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce)
       values ($1, false, 1, $2, $2, $2, 5, $3)`,
      [id, WALLET, HASH],
    )
    await db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
         block_number, block_hash, gas_share, finalized_at, known_as, applied_at, owner_id)
       values (1, $3, 1, $2, $2, 'out', $2, 5, $3, 1, $3, 7, now(), 'payout', now(), $1)`,
      [id, WALLET, HASH],
    )
  },
  refills: () =>
    db.query(
      `insert into refill (id, partner, currency, units, cost_micro, state, due_at, created_at)
       values ('rfl_1', 'bridge', 'EUR', 700, 7, 'open', $1, $1)`,
      [NOW],
    ),
}

test('a look finds no work if none waits', async () => {
  expect(await findWork(db, NOW)).toEqual([])
})

for (const sweep of SWEEPS)
  test(`a look finds the work of the sweep "${sweep}" and of no other one, and wakes it`, async () => {
    await LEAVE[sweep]()
    expect(await findWork(db, NOW)).toEqual([sweep])
    const wakeups = createWorkWakeups()
    await createWorkLook({ db, wakeups, clock: () => Date.parse(NOW) })()
    expect(await wakeups[sweep].wait(0)).toBe(true)
  })

test('a look leaves work that becomes due later to a later look', async () => {
  await LEAVE.notifications()
  expect(await findWork(db, '2026-11-20T20:59:59.000Z')).toEqual([])
})

test('a commit notifies of urgent work, and of a partner that is down', async () => {
  const received: (string | null)[] = []
  const note = (words: readonly string[] | null) => void received.push(words === null ? null : words.join(' '))
  const listener = listen(seeded.url, { [WORK_CHANNEL]: note, [PARTNERS_CHANNEL]: () => note(['partners']) })
  try {
    await until(
      async () => received.length,
      (count) => count === 2,
    )
    received.length = 0
    await LEAVE.mail()
    await LEAVE.notices()
    await db.query(
      `insert into notification (channel_id, merchant_id, livemode, kind, notice_id, urgent, created_at, due_at)
       select 'chn_1', merchant_id, livemode, kind, number, false, now(), now() from notice, generate_series(1, 3) number`,
    )
    await LEAVE.notifications()
    await db.query(`insert into partner_standing (provider) values ('card_partner')`)
    await until(
      async () => received.length,
      (count) => count >= 5,
    )
    expect(received).toEqual(['mail', 'notices', 'notifications', 'notifications', 'partners'])
  } finally {
    await listener.close()
  }
})

test('a notice wakes the sweeps that it names, and a new connection starts a look at all of them', async () => {
  const wakeups = createWorkWakeups()
  wakeSweeps(['mail', 'unknown'], wakeups)
  expect(await wakeups.mail.wait(0)).toBe(true)
  expect(await wakeups.look.wait(0)).toBe(false)
  wakeSweeps(null, wakeups)
  expect(await wakeups.look.wait(0)).toBe(true)
})

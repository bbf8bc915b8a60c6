import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../src/db/db.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import { CURRENCIES } from '../../../src/domain/currencies.ts'
import { PROVIDERS, USED_PROVIDER_NAMES } from '../../../src/domain/methods.ts'
import { formatAmount } from '../../../src/domain/money.ts'
import { INCIDENTS } from '../../../src/domain/payment/money/intents.ts'
import type { PartState } from '../../../src/domain/payment/money/parts.ts'
import { isClosed, PARK_REASONS, PAYMENT_STATUSES } from '../../../src/domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { lateAttempts, needsOperator, nextStep, snapshotOf } from '../../../src/domain/payment/snapshot.ts'
import { newId } from '../../../src/ids.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../../api/checkout/checkout-world.ts'
import { aPart, aUsdcPart } from '../../web/fixtures.ts'

/** The view `attention` and the rule behind `NeedsOperator` are two ways to say what waits for a person. */

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world.close())

type Units = readonly (readonly [state: PartState, units: number])[]
const MONEY: Readonly<Record<string, { readonly attempt: string; readonly parts: Units; readonly isOwn?: true }>> = {
  none: { attempt: 'declined', parts: [] },
  'its own': { attempt: 'confirmed', parts: [['counted', 4999]], isOwn: true },
  'its own and more': {
    attempt: 'confirmed',
    parts: [
      ['counted', 4999],
      ['surplus', 100],
    ],
    isOwn: true,
  },
  'its own, and more that came too late': {
    attempt: 'confirmed',
    parts: [
      ['counted', 4999],
      ['late', 100],
    ],
    isOwn: true,
  },
  'another order’s': { attempt: 'surplus', parts: [['surplus', 4999]] },
  'another order’s, of which a part was taken back': {
    attempt: 'surplus',
    parts: [
      ['surplus', 4999],
      ['surplus', -100],
    ],
  },
  'another order’s, on its way back': { attempt: 'surplus', parts: [['returning', 4999]] },
  'another order’s, returned': {
    attempt: 'refunded',
    parts: [
      ['returned', 4999],
      ['returned', -4999],
    ],
  },
  'come too late': { attempt: 'late', parts: [['late', 4999]] },
  'come too late, and taken back': {
    attempt: 'declined',
    parts: [
      ['reversed', 4999],
      ['reversed', -4999],
    ],
  },
}

const STATUSES = [
  ...PAYMENT_STATUSES.filter((status) => status !== 'under_review').map((status) => ({ status, reason: null })),
  ...Object.keys(PARK_REASONS).map((reason) => ({ status: 'under_review' as const, reason })),
]
const CASES = STATUSES.flatMap(({ status, reason }) =>
  Object.keys(MONEY).flatMap((money) =>
    [null, ...INCIDENTS].flatMap((incident) =>
      [false, true].map((isOpen) => ({ status, reason, money, incident, isOpen })),
    ),
  ),
).map((one, index) => ({ ...one, id: `pay_case_${index}`, attemptId: `att_case_${index}` }))

/** All cases at once: copies of one payment, with the rows of each. */
async function store(): Promise<void> {
  const { db } = world
  const { id: template } = await world.create()
  const rows = CASES.map(({ id, attemptId, status, reason, money, incident, isOpen }) => ({
    id,
    attempt_id: attemptId,
    status,
    park_reason: reason,
    incident,
    is_open: isOpen,
    updated_at: new Date(Date.now() - (isClosed(status) ? 2 * 3_600_000 : 0)).toISOString(),
    attempt: MONEY[money]!.attempt,
    paid_attempt_id: MONEY[money]!.isOwn ? attemptId : null,
    parts: MONEY[money]!.parts.map(([state, units]) => ({ state, units })),
  }))
  const json = JSON.stringify(rows)
  const of = `jsonb_to_recordset($1::jsonb) as c(id text, attempt_id text, status text, park_reason text, incident text, is_open boolean,
    updated_at timestamptz, attempt text, paid_attempt_id text, parts jsonb)`
  await db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', c.id, 'checkout_token', c.id,
       'status', c.status, 'park_reason', c.park_reason, 'confirmed_minor', 4999, 'updated_at', c.updated_at))).*
     from ${of}, payment p where p.id = $2`,
    [json, template],
  )
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     select attempt_id, id, 'wallet_app', 'banking_app', attempt, 4999, 'EUR', now(), now() from ${of}`,
    [json],
  )
  await db.query(`update payment p set paid_attempt_id = c.paid_attempt_id from ${of} where p.id = c.id`, [json])
  await db.query(
    `insert into sale (payment_id, number, attempt_id, units, gross_micro, state, asked_at)
     select id, 1, attempt_id, 4999, 1, 'asked', updated_at from ${of} where is_open`,
    [json],
  )
  await db.query(
    `insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, state, state_before, at)
     select c.id, attempt_id, attempt_id || ':' || n, case when units > 0 then 'receipt' else 'reversal' end, 'EUR', units,
       units, state, case state when 'returning' then 'surplus' end, now()
     from ${of}, rows from (jsonb_to_recordset(c.parts) as (state text, units bigint)) with ordinality as m(state, units, n)`,
    [json],
  )
  await db.query(
    `insert into incident (payment_id, attempt_id, kind, opened_at)
     select id, attempt_id, incident, now() from ${of} where incident is not null`,
    [json],
  )
}

/** Money on its way back is asked about until the partner has done it: two hours ago, so that the view lists it. */
async function storeRefunds(): Promise<void> {
  await world.db.query(
    `insert into intent (payment_id, attempt_id, kind, key, state, operator, reason, asked_at)
     select payment_id, attempt_id, 'refund', attempt_id || ':refund', 'pending', 'ada', 'x', now() - interval '2 hours'
     from part where state = 'returning'`,
  )
}

/** What the view says of each payment, without what only a clock says. */
async function viewed(): Promise<Map<string, string[]>> {
  const row = z.object({ payment_id: z.string(), kind: z.string(), detail: z.string().nullable() })
  const rows = await many(world.db, row, sql`select payment_id, kind, detail from attention order by kind`)
  const all = new Map<string, string[]>()
  for (const { payment_id: id, kind, detail } of rows)
    all.set(id, [...(all.get(id) ?? []), kind === 'parked' ? `parked ${detail}` : kind])
  return all
}

describe('the list of what waits for a person', () => {
  test('the list and NeedsOperator agree, whatever the state, the money and what went wrong', async () => {
    await store()
    await storeRefunds()
    const { db } = world
    const states: PaymentWithAttempts[] = []
    // One after the other: so many at once would wait too long for a connection.
    for (const { id } of CASES) states.push(await loadPayment(db, id))
    const done = states.filter((state) => nextStep(snapshotOf(state)) === 'done').map(({ payment }) => payment.id)
    await db.query('update payment set closed_at = now() where id = any($1)', [done])
    const said = await viewed()
    const wrong = states.flatMap((state, index) => {
      const snapshot = snapshotOf(state)
      const { status, reason, money, incident, isOpen } = CASES[index]!
      const rule = needsOperator(snapshot)
      const list = said.get(state.payment.id) ?? []
      const isListed = list.some((kind) => kind !== 'late' && kind !== 'conversion_open')
      const isLeft = list.includes('conversion_open') === (isOpen && status !== 'succeeded' && isClosed(status))
      const named = status === 'under_review' ? `parked ${rule}` : rule
      const isReturning = (snapshot.refunding ?? []).length > 0
      const isNamed = list.includes(String(named)) || (isReturning && list.includes('intent_pending'))
      const isSame = isListed === (rule !== null) && (rule === null || isNamed)
      const isLate = list.includes('late') === lateAttempts(snapshot).length > 0
      const isEnded = list.length === 0 || nextStep(snapshot) !== 'done' || list.every((kind) => kind === 'late')
      return isSame && isLate && isLeft && isEnded ? [] : [{ status, reason, money, incident, isOpen, rule, list }]
    })
    expect(CASES.length).toBeGreaterThanOrEqual(1000)
    expect(done.length).toBeGreaterThanOrEqual(30)
    expect(wrong).toEqual([])
  }, 60_000)

  test('amounts have the decimals of their currency, for every currency and every kind', async () => {
    const { rows } = await world.db.query(
      'select asset, readable_amount(10000000, asset) as said from unnest($1::text[]) as asset',
      [[...CURRENCIES, 'USDC']],
    )
    const expected = CURRENCIES.map((currency) => formatAmount({ minor: '10000000', currency }))
    expect(rows.map(({ said }) => String(said))).toEqual([
      ...CURRENCIES.map((currency, index) => `${expected[index]} ${currency}`),
      '10.000000 USDC',
    ])
    const { id } = await world.create()
    const attemptId = newId('attempt')
    await world.change(id, async (work) => {
      const asked = { minor: '4999', currency: 'EUR' as const }
      await work.addAttempt({ id: attemptId, provider: 'crypto', method: 'usdc', asked })
      const part = aUsdcPart(attemptId, '57883248', { minor: '4999', state: 'surplus' })
      await work.addPart(part)
      await work.addPart({ ...aPart(attemptId, '-100', 'reversed'), kind: 'reversal_outside' })
    })
    const misfit = { why: 'amount', amount: { minor: '4999', currency: 'EUR' }, received: null }
    const received = { minor: '5000', currency: 'JPY' }
    await world.db.query(
      `insert into incident (payment_id, attempt_id, kind, opened_at, misfit) values ($1, $2, 'outside_reversed', now(), null),
         ($1, $2, 'misfit', now(), $3), ($1, null, 'misfit', now(), $4)`,
      [id, attemptId, misfit, { ...misfit, received }],
    )
    const said = await world.db.query('select kind, detail from attention where payment_id = $1 order by 1, 2', [id])
    expect(said.rows.map(({ kind, detail }) => `${kind}: ${detail}`)).toEqual([
      'misfit: asked for 49.99 EUR, received 5000 JPY',
      'misfit: asked for 49.99 EUR, received nothing',
      'outside_reversed: 1.00 EUR',
      'surplus: 57.883248 USDC',
    ])
  })

  test.each([
    [
      'a conversion',
      "status = 'processing', paid_at = now() - ($1::interval + $2::interval)",
      '30 minutes',
      'conversion_overdue',
    ],
    [
      'a payout',
      "status = 'settling', updated_at = now() - ($1::interval + $2::interval)",
      '15 minutes',
      'settlement_overdue',
    ],
    [
      'a payout that is not handed over',
      "status = 'processing', gross_micro = 1, fee_micro = 0, net_micro = 1, paid_at = now(), updated_at = now() - ($1::interval + $2::interval)",
      '15 minutes',
      'settlement_overdue',
    ],
    [
      'a hold',
      "status = 'pending', held = true, updated_at = now() - ($1::interval + $2::interval)",
      '24 hours',
      'held',
    ],
    [
      'a payment that should have ended',
      "status = 'pending', expires_at = now() - ($1::interval + $2::interval)",
      '1 hour',
      'expiry_overdue',
    ],
  ])('%s that waits is listed from its limit on', async (_what, set, limit, kind) => {
    const { db } = world
    const { id } = await world.create()
    const listed = async (more: string) => {
      await db.query(`update payment set ${set} where id = $3`, [limit, more, id])
      return (await viewed()).get(id) ?? []
    }
    expect(await listed('-5 minutes')).not.toContain(kind)
    expect(await listed('1 minute')).toContain(kind)
  })

  test.each(USED_PROVIDER_NAMES)(
    'a partner that is confirming, %s, is listed an hour after the moment at which the workflow parks the payment',
    async (provider) => {
      const { db } = world
      const { id } = await world.create()
      const attemptId = newId('attempt')
      await world.change(id, async (work) => {
        const asked = { minor: '4999', currency: 'EUR' as const }
        await work.addAttempt({ id: attemptId, provider, method: 'card', asked })
        await work.saveAttempt(attemptId, { status: 'confirming' })
      })
      await db.query("update payment set status = 'processing' where id = $1", [id])
      const parksAt = async () => snapshotOf(await loadPayment(db, id)).silentAt ?? 0
      const confirmedAt = Date.parse((await loadPayment(db, id)).attempts[0]?.updatedAt ?? '')
      expect((await parksAt()) - confirmedAt).toBe(PROVIDERS[provider].listenHours * 3_600_000)
      /** It parks so many minutes ago. */
      const listedAfter = async (minutes: number) => {
        const by = Date.now() - minutes * 60_000 - (await parksAt())
        await db.query("update attempt set updated_at = updated_at + $1 * interval '1 millisecond' where id = $2", [
          by,
          attemptId,
        ])
        return ((await viewed()).get(id) ?? []).includes('processing_stale')
      }
      expect([await listedAfter(-1), await listedAfter(55), await listedAfter(65)]).toEqual([false, false, true])
    },
  )
})

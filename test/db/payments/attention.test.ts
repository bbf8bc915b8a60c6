import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { many, sql } from '../../../src/db/db.ts'
import { listAttention } from '../../../src/db/payments/attention.ts'
import { recordCallback } from '../../../src/db/payments/partner-callbacks.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import { CURRENCIES } from '../../../src/domain/currencies.ts'
import { PROVIDERS, USED_PROVIDER_NAMES } from '../../../src/domain/methods.ts'
import { formatAmount } from '../../../src/domain/money.ts'
import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import { toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import { newId } from '../../../src/ids.ts'
import { type CheckoutFixture, createCheckoutFixture } from '../../api/checkout/checkout-fixture.ts'

/** The list has reviews, and problems that only the clock finds. */

let fixture: CheckoutFixture
beforeAll(async () => {
  fixture = await createCheckoutFixture()
})
afterAll(() => fixture.close())

const asked = { minor: '4999', currency: 'EUR' as const }

/** Writes a payment with an order with these values. */
async function paymentWith(facts: Partial<Attempt>, provider: Attempt['provider'] = 'wallet_app') {
  const { id } = await fixture.create()
  const attemptId = newId('attempt')
  await fixture.change(id, (draft) => {
    draft.addAttempt({ id: attemptId, provider, method: 'card', asked })
    draft.setAttempt(attemptId, facts)
  })
  return { id, attemptId }
}

/** The kinds of the payment’s entries in the view, with the details. */
async function listed(id: string): Promise<{ kind: string; detail: string | null }[]> {
  const row = z.object({ kind: z.string(), detail: z.string().nullable() })
  return many(fixture.db, row, sql`select kind, detail from attention where payment_id = ${id} order by kind, detail`)
}
const kinds = async (id: string) => (await listed(id)).map(({ kind }) => kind)

describe('The attention list', () => {
  test('the attention list has every review of a payment, with its order, its text and the time since which it waits', async () => {
    const { id, attemptId } = await paymentWith({ status: 'paid', held: '4000', paidAt: new Date().toISOString() })
    await fixture.change(id, (draft) => draft.setPayment({ held: true }))
    const { payment } = await loadPayment(fixture.db, id)
    expect(payment.reviews.map(({ reason }) => reason)).toEqual(['too_little', 'held'])
    const { rows } = await fixture.db.query(
      'select attempt_id, kind, detail, since from attention where payment_id = $1 order by attempt_id',
      [id],
    )
    const since = new Date(payment.reviewSince ?? '')
    expect(rows).toEqual([
      { attempt_id: attemptId, kind: 'review', detail: expect.stringMatching(/^too_little: .*40\.00 EUR/), since },
      { attempt_id: null, kind: 'review', detail: expect.stringMatching(/^held: An operator/), since },
    ])
    expect(await listAttention(fixture.db, 100)).toContainEqual(
      expect.objectContaining({ paymentId: id, attemptId, kind: 'review', amount: '49.99', currency: 'EUR' }),
    )
    await fixture.change(id, (draft) => {
      draft.setPayment({ held: false })
      draft.setAttempt(attemptId, { held: '4999' })
    })
    expect(await listed(id)).toEqual([])
  })

  test('amounts have the decimals of their currency, for every currency and every kind', async () => {
    const { rows } = await fixture.db.query(
      'select asset, readable_amount(10000000, asset) as said from unnest($1::text[]) as asset',
      [[...CURRENCIES, 'USDC']],
    )
    const expected = CURRENCIES.map((currency) => formatAmount({ minor: '10000000', currency }))
    expect(rows.map(({ said }) => String(said))).toEqual([
      ...CURRENCIES.map((currency, index) => `${expected[index]} ${currency}`),
      '10.000000 USDC',
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
    const { db } = fixture
    const { id } = await fixture.create()
    const listedAfter = async (more: string) => {
      await db.query(`update payment set ${set} where id = $3`, [limit, more, id])
      return kinds(id)
    }
    expect(await listedAfter('-5 minutes')).not.toContain(kind)
    expect(await listedAfter('1 minute')).toContain(kind)
  })

  test('a payout that waits because its merchant is suspended with its payouts is listed as held, not as overdue', async () => {
    const { db } = fixture
    const { id } = await fixture.create()
    await db.query(`update payment set status = 'settling', updated_at = now() - interval '1 hour' where id = $1`, [id])
    const suspend = (status: string, holds: boolean) =>
      db.query(
        `update agreement set status = $2, holds_payouts = $3
         where merchant_id = (select merchant_id from payment where id = $1)`,
        [id, status, holds],
      )
    await suspend('suspended', true)
    expect(await kinds(id)).toEqual(['payouts_held'])
    await suspend('approved', false)
    expect(await kinds(id)).toEqual(['settlement_overdue'])
  })

  test.each<[string, Partial<Attempt>, string]>([
    ['a give-back', { status: 'paid', held: '4999', back: 'asked' }, 'give_back_pending'],
    ['a give-back in USDC', { status: 'paid', held: '57883248', askedMicro: '1', back: 'wanted' }, 'give_back_pending'],
    ['a cancellation', { status: 'open', cancelAsked: true }, 'cancel_pending'],
  ])('%s that its partner has not carried out is listed after an hour', async (_what, facts, kind) => {
    const { id, attemptId } = await paymentWith(facts)
    const age = (text: string) =>
      fixture.db.query('update attempt set updated_at = now() - $2::interval where id = $1', [attemptId, text])
    await age('59 minutes')
    expect(await kinds(id)).not.toContain(kind)
    await age('61 minutes')
    const details = {
      give_back_pending: facts.askedMicro ? '57.883248 USDC' : '49.99 EUR',
      cancel_pending: 'wallet_app',
    }
    expect(await listed(id)).toContainEqual({ kind, detail: details[kind as keyof typeof details] })
  })

  test('a callback that could not be applied is listed after an hour', async () => {
    const { id, attemptId } = await paymentWith({ status: 'open' })
    const event = {
      provider: 'wallet_app',
      eventId: id,
      subject: { attemptId },
      bodySha256: new Uint8Array(32),
    } as const
    await recordCallback(fixture.db, { ...event, at: new Date(Date.now() - 59 * 60_000).toISOString() })
    expect(await listed(id)).toEqual([])
    await fixture.db.query("update partner_callback set received_at = now() - interval '61 minutes'")
    expect(await listed(id)).toEqual([{ kind: 'partner_unread', detail: 'wallet_app' }])
  })

  test.each(USED_PROVIDER_NAMES)(
    'a partner that is confirming, %s, is listed an hour after the workflow counts it as silent',
    async (provider) => {
      const { db } = fixture
      const { id, attemptId } = await paymentWith({ status: 'confirming' }, provider)
      const silentAt = async () => toSnapshot(await loadPayment(db, id)).silentAt ?? 0
      const confirmedAt = Date.parse((await loadPayment(db, id)).attempts[0]?.updatedAt ?? '')
      expect((await silentAt()) - confirmedAt).toBe(PROVIDERS[provider].listenHours * 3_600_000)
      /** Lists the kinds after this number of minutes of silence. */
      const listedAfter = async (minutes: number) => {
        const by = Date.now() - minutes * 60_000 - (await silentAt())
        await db.query("update attempt set updated_at = updated_at + $1 * interval '1 millisecond' where id = $2", [
          by,
          attemptId,
        ])
        return (await kinds(id)).includes('processing_stale')
      }
      expect([await listedAfter(-1), await listedAfter(55), await listedAfter(65)]).toEqual([false, false, true])
    },
  )
})

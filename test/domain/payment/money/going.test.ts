import { describe, expect, test } from '@jest/globals'
import { type KnownPayment, nothing, type OrderEffect } from '../../../../src/domain/payment/money/effect.ts'
import type { Intent } from '../../../../src/domain/payment/money/intents.ts'
import {
  type AttemptStatus,
  isClosed,
  PARK_REASONS,
  PAYMENT_STATUSES,
  type ParkReason,
} from '../../../../src/domain/payment/payment.ts'
import { came, effect, order, paidBy, paidOrder, part } from './order-story.ts'

/** Money that goes, and money that never came: what that does to the payment. */

const refund: Intent = {
  id: '1',
  key: 'k',
  kind: 'refund',
  attemptId: 'att_1',
  state: 'asked',
  operator: 'ada',
  reason: 'r',
}
const refunded = order({ status: 'refunded' })
const declined = order({ status: 'declined', failureCode: 'reversed' })
const surplus = { state: 'surplus' } as const
const waitsFor = (parkReason: ParkReason): Partial<KnownPayment> => ({ status: 'under_review', parkReason })
const others = (...statuses: AttemptStatus[]) => ({
  attempts: [
    { id: 'att_1', status: 'on_hold' as const },
    ...statuses.map((status, index) => ({ id: `att_${index + 2}`, status })),
  ],
})

describe('an order by which no money came', () => {
  const end = (payment: Partial<KnownPayment>, status: AttemptStatus = 'open', news = declined) =>
    effect(payment, { status }, news)
  const over: OrderEffect = { ...nothing('declined'), failureCode: 'reversed' }

  test('is over, and the payment stays what it is: the buyer may try again', () => {
    for (const status of PAYMENT_STATUSES) expect(end({ status })).toEqual(over)
    expect(end({ status: 'processing', paidAttemptId: 'att_2' }, 'confirming')).toEqual(over)
  })

  test.each(['confirmed', 'underpaid', 'surplus', 'late', 'refunded'] as const)(
    'any more stays what it was: %s',
    (status) => expect(end({}, status)).toEqual(nothing(status)),
  )

  test('and for which the payment was processing leaves it to the buyer again, unless another one is confirming', () => {
    const back = { ...over, moves: [{ to: 'pending', why: 'withdrawn' }] }
    for (const status of ['confirming', 'on_hold'] as const) {
      expect(end({ status: 'processing' }, status)).toEqual(back)
      // Its own state of before is no other order's.
      expect(end({ status: 'processing', attempts: [{ id: 'att_1', status }] }, status)).toEqual(back)
      expect(end({ status: 'processing', ...others('open', 'declined') }, status)).toEqual(back)
      expect(end({ status: 'processing', ...others('open', 'confirming') }, status)).toEqual(over)
    }
    expect(end({ status: 'processing' }, 'open')).toEqual(over)
  })

  test('and which the payment waited for fails it: held by the partner, or confirming for too long', () => {
    const failed = { ...over, moves: [{ to: 'failed', why: 'not_released' }] }
    expect(end(waitsFor('partner_hold'), 'on_hold')).toEqual(failed)
    for (const status of ['confirming', 'on_hold'] as const)
      expect(end(waitsFor('partner_silent'), status)).toEqual(failed)
    // It was another one that is held.
    expect(end(waitsFor('partner_hold'), 'confirming')).toEqual(over)
    expect(end(waitsFor('partner_silent'), 'open')).toEqual(over)
  })

  test('does not end the waiting for another one that is held or being confirmed, or for an operator', () => {
    for (const status of ['on_hold', 'confirming'] as const)
      expect(end({ ...waitsFor('partner_hold'), ...others(status) }, 'on_hold')).toEqual(over)
    const reasons = (Object.keys(PARK_REASONS) as ParkReason[]).filter((reason) => !reason.startsWith('partner_'))
    for (const reason of reasons) expect([reason, end(waitsFor(reason), 'on_hold')]).toEqual([reason, over])
    expect(end({ status: 'pending', parkReason: 'partner_hold' }, 'on_hold')).toEqual(over)
  })

  test('because the identity check was not passed fails a payment that allows nothing else', () => {
    const check = order({ status: 'declined', failureCode: 'verification_failed' })
    const only = { pinned: true, fallback: 'none' } as const
    const failed = { ...nothing('declined'), failureCode: 'verification_failed' }
    expect(effect(only, {}, check)).toEqual({ ...failed, moves: [{ to: 'failed', why: 'check_failed' }] })
    const beside = (status: AttemptStatus) => ({ ...only, attempts: [{ id: 'att_2', status }] })
    expect(effect(beside('canceled'), {}, check)).toEqual(effect(only, {}, check))
    for (const payment of [
      // The buyer may be paying another order.
      beside('open'),
      beside('opening'),
      { ...only, pinned: false },
      { ...only, fallback: 'picker' },
      { ...only, status: 'processing' },
      { ...only, status: 'expired' },
    ] as const)
      expect(effect(payment, {}, check)).toEqual(failed)
    expect(effect(only, {}, declined)).toEqual(over)
  })

  test('that fits, and whose refund was asked for, has given back what did not fit: that ends the payment', () => {
    const misfit = { ...waitsFor('amount_mismatch'), intents: [refund] }
    const back = { ...nothing('refunded'), failureCode: 'reversed' as const }
    const ends = { ...back, moves: [{ to: 'refunded', why: 'refunded_through_partner' }] }
    expect(end(misfit, 'on_hold')).toEqual(ends)
    // Other money is counted, or does not fit either.
    expect(end({ ...misfit, parts: [part('2000', { attemptId: 'att_2' })] }, 'on_hold')).toEqual(back)
    expect(end({ ...misfit, ...others('on_hold') }, 'on_hold')).toEqual(back)
    expect(end({ ...misfit, ...others('confirming') }, 'on_hold')).toEqual(ends)
    expect(end({ ...misfit, intents: [{ ...refund, attemptId: 'att_2' }] }, 'on_hold')).toEqual(over)
    expect(end({ status: 'expired', intents: [refund] }, 'on_hold')).toEqual(over)
  })
})

describe('the money of an order is gone, all of it', () => {
  const gone = (payment: Partial<KnownPayment>, news = refunded) => effect(payment, { status: 'confirmed' }, news)

  test('from a payment that was not sold: it is given back, and the buyer, or nobody, may pay again', () => {
    const parts = [expect.objectContaining({ kind: 'reversal', chargeMinor: '-5000', state: 'reversed' })]
    const taken = { partsBecome: 'reversed', money: 'give_back', parts } as const
    expect(gone(paidBy(), declined)).toEqual({
      ...nothing('declined'),
      ...taken,
      failureCode: 'reversed',
      moves: [{ to: 'pending', why: 'withdrawn' }],
    })
    expect(gone(paidBy())).toEqual({
      ...nothing('refunded'),
      ...taken,
      moves: [{ to: 'failed', why: 'reversed' }],
    })
    expect(gone(paidBy('5000', { status: 'failed' }))).toEqual({ ...nothing('refunded'), ...taken })
  })

  test('from a payment that had been closed before: it is closed again, and by nobody to be paid', () => {
    const canceled = paidBy('5000', { canceledAt: '2026-01-01T12:00:00.000Z' })
    const failed = { ...canceled, failedAt: '2026-01-01T13:00:00.000Z' }
    const again = { to: 'canceled', why: 'canceled_before' }
    expect(gone(canceled, declined).moves).toEqual([{ to: 'pending', why: 'withdrawn' }, again])
    expect(gone(failed, declined).moves).toEqual([{ to: 'failed', why: 'reversed' }])
  })

  test('from a payment that waits for an operator: it ends', () => {
    const waits = paidBy('5000', waitsFor('conversion'))
    expect(gone(waits)).toMatchObject({
      attempt: 'refunded',
      money: 'none',
      moves: [{ to: 'refunded', why: 'given_back_by_partner' }],
    })
    expect(gone(waits, declined)).toMatchObject({
      attempt: 'declined',
      money: 'give_back',
      moves: [{ to: 'failed', why: 'not_released' }],
    })
  })

  test.each(['declined', 'canceled', 'expired', 'refunded'] as const)(
    'by our refund, however the partner calls it: %s',
    (status) => {
      const parts = [part('5000', { state: 'returning', stateBefore: 'counted' })]
      const done = gone(paidBy('5000', { ...waitsFor('underpaid'), parts, intents: [refund] }), order({ status }))
      expect(done).toEqual({
        ...nothing('refunded'),
        partsBecome: 'returned',
        parts: [expect.objectContaining({ kind: 'return', chargeMinor: '-5000', state: 'returned' })],
        moves: [{ to: 'refunded', why: 'refunded_through_partner' }],
      })
    },
  )

  test.each([
    ['on_hold', 'partner_hold'],
    ['confirming', 'partner_silent'],
  ] as const)('and another order is %s: the payment waits for the word about that', (status, park) => {
    const waits = paidBy('5000', { ...waitsFor('underpaid'), ...others('declined', status) })
    for (const news of [refunded, declined])
      expect(gone(waits, news)).toMatchObject({ money: 'give_back', park, moves: [] })
    // Of a payment that was going on, no more is said than that its money is gone.
    expect(gone({ ...waits, status: 'processing', parkReason: null })).toMatchObject({ park: null })
  })

  test('and it is held while another is being confirmed: the hold is what the payment waits for', () => {
    const waits = paidBy('5000', { ...waitsFor('underpaid'), ...others('confirming', 'on_hold') })
    expect(gone(waits).park).toBe('partner_hold')
  })

  test('but was not the payment’s: that stays what it is', () => {
    const second = { paidAttemptId: 'att_2', parts: [part('5000', surplus), part('5000', { attemptId: 'att_2' })] }
    for (const status of ['processing', 'settling', 'under_review', 'succeeded'] as const) {
      const back = effect({ ...second, status, converted: status !== 'processing' }, { status: 'surplus' }, refunded)
      expect(back).toEqual({
        ...nothing('refunded'),
        partsBecome: 'reversed',
        parts: [expect.objectContaining({ kind: 'reversal', chargeMinor: '-5000' })],
      })
    }
    // Nor is what was left of the payment's order once its own part of it had gone.
    const rest = gone(paidBy('5000', { status: 'processing', parts: [part('700', surplus)] }))
    expect(rest).toMatchObject({ attempt: 'refunded', money: 'none', moves: [] })
  })

  test('but was a part of the price that nobody had taken: the payment waits on', () => {
    const back = effect({ status: 'pending', parts: [part('2000')] }, {}, refunded)
    expect(back).toMatchObject({ attempt: 'refunded', money: 'none', moves: [] })
    expect(came(back.parts)).toEqual(['-2000 reversed'])
  })

  test.each(['amount_mismatch', 'wrong_asset'] as const)('but not what does not fit (%s): that waits on', (reason) => {
    const waits = paidBy('5000', { ...waitsFor(reason), ...others('on_hold') })
    for (const news of [refunded, declined])
      expect(gone(waits, news)).toMatchObject({ money: 'give_back', park: null, moves: [] })
  })

  test('with what was returned from elsewhere: that was ours', () => {
    const outside = [
      part('900', { ...surplus, key: 'b', state: 'returned' }),
      part('-900', { ...surplus, key: 'c', state: 'returned', kind: 'return_outside' }),
    ]
    for (const parts of [outside, [part('5000'), ...outside]])
      expect(gone(paidBy('5000', { parts })).parts.at(-1)).toMatchObject({
        kind: 'reversal_outside',
        chargeMinor: '-900',
      })
  })
})

describe('money that was sold already is gone', () => {
  const sold = (fields: Partial<KnownPayment>) => paidBy('5000', { converted: true, ...fields })
  const all = (fields: Partial<KnownPayment>) => effect(sold(fields), { status: 'confirmed' }, refunded)
  const some = (fields: Partial<KnownPayment>) => effect(sold(fields), { status: 'confirmed' }, paidOrder('3000'))

  test.each(['processing', 'settling'] as const)('of a payment that is %s: its payout is voided', (status) => {
    for (const loss of [all({ status }), some({ status })])
      expect(loss).toMatchObject({
        attempt: 'confirmed',
        money: 'none',
        incident: null,
        voidsPayout: true,
        park: 'funds_reversed',
        moves: [{ to: 'under_review', why: 'funds_reversed' }],
      })
  })

  test.each([
    ['payout_held', false],
    ['operator_hold', false],
    ['funds_reversed', false],
    ['unexpected_settlement', true],
  ] as const)('of a payment that waits for %s: it is voided, unless it is paid already', (parkReason, isPaid) => {
    for (const loss of [all(waitsFor(parkReason)), some(waitsFor(parkReason))])
      expect(loss).toMatchObject({
        attempt: 'confirmed',
        money: 'none',
        incident: isPaid ? 'chargeback' : null,
        voidsPayout: !isPaid,
        park: isPaid ? null : 'funds_reversed',
        moves: [],
      })
  })

  test.each(PAYMENT_STATUSES.filter(isClosed))('of a payment that is %s: a chargeback', (status) => {
    for (const loss of [all({ status }), some({ status })])
      expect(loss).toMatchObject({ attempt: 'confirmed', incident: 'chargeback', voidsPayout: false, moves: [] })
  })

  test('of a void payout: with all of it the payment is refunded, by whoever gave it back', () => {
    const moves = (why: string) => [{ to: 'refunded', why }]
    expect(all(waitsFor('payout_voided'))).toEqual({
      ...nothing('refunded'),
      partsBecome: 'reversed',
      parts: [expect.objectContaining({ kind: 'reversal', chargeMinor: '-5000' })],
      moves: moves('given_back_by_partner'),
    })
    expect(all({ ...waitsFor('payout_voided'), intents: [refund] }).moves).toEqual(moves('refunded_through_partner'))
  })

  test('of a void payout: with a part of it the rest is still to be given back', () => {
    expect(some(waitsFor('payout_voided'))).toEqual({
      ...nothing('confirmed'),
      parts: [expect.objectContaining({ kind: 'reversal', chargeMinor: '-2000', state: 'counted' })],
    })
  })
})

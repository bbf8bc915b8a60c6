import { describe, expect, test } from '@jest/globals'
import { type KnownPayment, nothing } from '../../../../src/domain/payment/money/effect.ts'
import { isAllThere } from '../../../../src/domain/payment/money/intents.ts'
import type { Part } from '../../../../src/domain/payment/money/parts.ts'
import { PARK_REASONS, PAYMENT_STATUSES, type ParkReason } from '../../../../src/domain/payment/payment.ts'
import { came, effect, paidBy, paidOrder, part } from './order-story.ts'

/** What a partner took back of a payment that was paid out, and has again. */

const confirmed = { minor: '5000', currency: 'EUR' as const }
const lost = (minor: string, fields: Partial<Part> = {}) =>
  part(`-${minor}`, { key: `less ${minor}`, kind: 'reversal', ...fields })
/** It was paid out, and the partner took 3000 of 5000 back. */
const charged = (fields: Partial<KnownPayment> = {}): Partial<KnownPayment> =>
  paidBy('5000', { status: 'succeeded', converted: true, confirmed, parts: [part('5000'), lost('3000')], ...fields })
const then = (payment: Partial<KnownPayment>, minor = '5000') =>
  effect(payment, { status: 'confirmed' }, paidOrder(minor))
const OURS = '3000 counted'
const NOBODYS = '3000 surplus'

describe('what was lost and comes again', () => {
  test('is counted as before, and changes nothing else', () => {
    expect(then(charged())).toEqual({
      ...nothing('confirmed'),
      parts: [expect.objectContaining({ key: 'att_1:2:5000' })],
    })
    expect(came(then(charged()).parts)).toEqual([OURS])
    expect(came(then(charged(), '3500').parts)).toEqual(['1500 counted'])
  })

  test('is counted where all of it had gone, and where it comes after the payment stopped listening', () => {
    const parts = [part('5000', { state: 'reversed' }), lost('5000', { state: 'reversed' })]
    expect(came(then(charged({ parts })).parts)).toEqual(['5000 counted'])
    expect(came(then(charged({ listenEnded: true })).parts)).toEqual([OURS])
  })

  test('leaves what is more to the buyer, under a key of its own', () => {
    const { parts, exception } = then(charged(), '5600')
    expect(came(parts)).toEqual([OURS, '600 surplus'])
    expect(new Set(parts.map(({ key }) => key)).size).toBe(2)
    expect(exception).toBe('duplicate_payment')
  })

  test.each(PAYMENT_STATUSES)('is ours only where it was paid out: %s', (status) => {
    expect(came(then(charged({ status })).parts)).toEqual([status === 'succeeded' ? OURS : NOBODYS])
  })

  test.each(Object.keys(PARK_REASONS) as ParkReason[])(
    'or was, or may be yet, against the record: %s',
    (parkReason) => {
      const isPaid = parkReason === 'unexpected_settlement' || parkReason === 'funds_reversed'
      expect(came(then(charged({ status: 'under_review', parkReason })).parts)).toEqual([isPaid ? OURS : NOBODYS])
    },
  )

  test('is nobody’s where nothing was sold, or of another order, and goes back where that is being given back', () => {
    expect(came(then(charged({ converted: false })).parts)).toEqual([NOBODYS])
    expect(came(then(charged({ paidAttemptId: 'att_2' })).parts)).toEqual([NOBODYS])
    const refund = {
      id: '1',
      key: 'k',
      kind: 'refund',
      attemptId: 'att_1',
      state: 'asked',
      operator: 'ada',
      reason: 'r',
    } as const
    const [back] = then(charged({ intents: [refund] })).parts
    expect(back).toMatchObject({ state: 'returning', stateBefore: 'surplus' })
  })

  test('is as much as was lost, whatever came besides, and whatever went back before it was sold', () => {
    const surplus = part('500', { key: 'more', state: 'surplus' })
    const besides = charged({ parts: [part('5000'), lost('3000'), surplus] })
    expect(came(then(besides, '5600').parts)).toEqual([OURS, '100 surplus'])
    const before = { state: 'returned' } as const
    const parts = [part('3000', before), part('-3000', { ...before, key: 'back', kind: 'return' }), part('5000')]
    expect(came(then(charged({ parts }), '5600').parts)).toEqual(['600 surplus'])
  })

  test('is no loss of what was a second payment and went back', () => {
    const second = { state: 'returned' } as const
    const parts = [part('5000'), part('700', second), lost('700', { ...second, kind: 'return' })]
    expect(came(then(charged({ parts }), '5700').parts)).toEqual(['700 surplus'])
    // … and makes nothing less of what was lost beside it.
    const besides = charged({ parts: [...parts, lost('3000', { key: 'taken back' })] })
    expect(came(then(besides).parts)).toEqual([OURS])
  })
})

test('all of the payment’s money is there where as much is counted as was confirmed', () => {
  const of = (fields: Partial<KnownPayment>) => {
    const { parts = [], paidAttemptId = null, confirmed = null } = charged(fields)
    return isAllThere({ payment: { paidAttemptId, confirmed, held: false }, parts })
  }
  expect(of({ parts: [part('5000')] })).toBe(true)
  expect(of({})).toBe(false)
  expect(of({ parts: [part('5000')], confirmed: null })).toBe(false)
  expect(of({ parts: [part('5000')], paidAttemptId: null })).toBe(false)
})

import { describe, expect, test } from '@jest/globals'
import { type KnownPayment, nothing } from '../../../../src/domain/payment/money/effect.ts'
import { PARK_REASONS, type ParkReason } from '../../../../src/domain/payment/payment.ts'
import { came, effect, paidBy, paidOrder, part, statusesOf } from './order-story.ts'

/** The partner holds less of an order's money than before, but not nothing. */

const surplus = { state: 'surplus' } as const
const waitsFor = (parkReason: ParkReason): Partial<KnownPayment> => ({ status: 'under_review', parkReason })

describe('a part of the money is gone, and it was not sold', () => {
  const less = (minor: string, payment: Partial<KnownPayment> = {}) =>
    effect(paidBy('5000', payment), { status: 'confirmed' }, paidOrder(minor))

  test('what is left is enough, to the last of the tolerance: it is what the payment has', () => {
    for (const fields of [{}, waitsFor('conversion')])
      expect(less('4950', fields)).toEqual({
        ...nothing('confirmed'),
        money: 'take',
        parts: [expect.objectContaining({ kind: 'reversal', chargeMinor: '-50', state: 'counted' })],
      })
    expect(less('4949').attempt).toBe('underpaid')
  })

  test('and what is left is no more than the price: it is not overpaid any more, and what else it was it stays', () => {
    const exceptionOf = (exception: KnownPayment['exception'], minor: string) =>
      less(minor, { parts: [part('6000')], exception }).exception
    expect(['5001', '5000', '4950'].map((minor) => exceptionOf('overpaid', minor))).toEqual([undefined, null, null])
    expect(exceptionOf('paid_late', '5000')).toBeUndefined()
  })

  test('what is left is too little: an operator decides', () => {
    expect(less('3000')).toEqual({
      ...nothing('underpaid'),
      money: 'take',
      exception: 'underpaid',
      park: 'underpaid',
      parts: [expect.objectContaining({ chargeMinor: '-2000' })],
      moves: [{ to: 'under_review', why: 'underpaid' }],
    })
  })

  test.each(Object.keys(PARK_REASONS) as ParkReason[])(
    'of a payment that waits for %s: neither the partner’s word nor another try makes too little enough',
    (parkReason) => {
      const ends = ['partner_hold', 'order_changed', 'conversion'].includes(parkReason)
      expect(less('3000', waitsFor(parkReason))).toMatchObject({
        attempt: 'underpaid',
        park: ends ? 'underpaid' : parkReason,
        moves: [],
      })
    },
  )

  test('of all that is counted, with what came by other orders left out', () => {
    const parts = [part('3000'), part('2000', { key: 'b' }), part('5000', { attemptId: 'att_2' })]
    expect(less('4960', { parts })).toMatchObject({ attempt: 'confirmed', money: 'take' })
    expect(less('3000', { parts })).toMatchObject({ attempt: 'underpaid' })
    expect(came(less('3000', { parts }).parts)).toEqual(['-2000 counted'])
  })

  test('and it was surplus, or on its way back, or another payment’s: the payment has what it had', () => {
    const same = (parts: KnownPayment['parts'], fields: Partial<KnownPayment> = {}) =>
      expect(effect(paidBy('5000', { parts, ...fields }), { status: 'confirmed' }, paidOrder('5500'))).toMatchObject({
        attempt: 'confirmed',
        money: 'none',
        moves: [],
        park: null,
      })
    same([part('5000'), part('900', { ...surplus, key: 'b' })])
    same([part('6000', { state: 'returning', stateBefore: 'counted' })])
    same([part('6000')], { paidAttemptId: 'att_2', parts: [part('6000')] })
  })

  test('beyond the surplus: both are less', () => {
    const parts = [part('5000'), part('900', { ...surplus, key: 'b' })]
    const both = less('4990', { parts })
    expect(came(both.parts)).toEqual(['-900 surplus', '-10 counted'])
    expect(both).toMatchObject({ attempt: 'confirmed', money: 'take' })
    expect(statusesOf(less('3000', { parts }).moves)).toEqual(['under_review'])
  })

  test('and is first what was returned from elsewhere, which was ours', () => {
    const outside = [
      part('900', { ...surplus, key: 'b', state: 'returned' }),
      part('-900', { ...surplus, key: 'c', state: 'returned', kind: 'return_outside' }),
    ]
    const parts = [part('5000'), ...outside]
    const kinds = (minor: string) =>
      less(minor, { parts }).parts.map(({ kind, chargeMinor }) => `${kind} ${chargeMinor}`)
    expect(kinds('5899')).toEqual(['reversal_outside -1'])
    expect(kinds('5000')).toEqual(['reversal_outside -900'])
    expect(kinds('4999')).toEqual(['reversal -1', 'reversal_outside -900'])
  })
})

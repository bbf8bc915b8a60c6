import { describe, expect, test } from '@jest/globals'
import { type KnownPayment, nothing } from '../../../../src/domain/payment/money/effect.ts'
import type { Intent } from '../../../../src/domain/payment/money/intents.ts'
import {
  type AttemptStatus,
  isClosed,
  PARK_REASONS,
  PAYMENT_STATUSES,
  type ParkReason,
} from '../../../../src/domain/payment/payment.ts'
import { came, deposit, effect, paidBy, paidOrder, part } from './order-story.ts'

/** Money that comes: whose it is, and what the payment does with it. */

const asked = { id: '1', key: 'k', operator: 'ada', reason: 'r', state: 'asked' } as const
const refund: Intent = { ...asked, kind: 'refund', attemptId: 'att_1' }
const usdcPart = (key: string, units: string, chargeMinor: string, fields = {}) =>
  part(chargeMinor, { key, asset: 'USDC', units, ...fields })
/** To whom the whole price belongs that comes now. */
const ownerOf = (payment: Partial<KnownPayment>, status: AttemptStatus = 'open', minor = '5000') =>
  came(effect(payment, { status }, paidOrder(minor)).parts).join()

describe('what comes belongs to', () => {
  test.each(PAYMENT_STATUSES)('a payment that has no money, unless it is over for good: %s', (status) => {
    const isOver = ['settling', 'succeeded', 'refunded'].includes(status)
    expect(ownerOf({ status })).toBe(isOver ? '5000 surplus' : '5000 counted')
  })

  test.each(PAYMENT_STATUSES)('nobody where the payment is closed and listens no more: %s', (status) => {
    const isLate = isClosed(status)
    expect(ownerOf({ status, listenEnded: true }).includes('late')).toBe(isLate)
  })

  test('nobody after the money of its order was a second payment, or went back', () => {
    for (const known of ['surplus', 'refunded'] as const) expect(ownerOf({}, known)).toBe('5000 surplus')
    for (const known of ['declined', 'expired', 'late'] as const) expect(ownerOf({}, known)).toBe('5000 counted')
    expect(came(effect({}, { returnedByHand: true }, paidOrder()).parts)).toEqual(['5000 surplus'])
  })

  test('the buyer while what came by its order is being given back; a refund of another order is none of its business', () => {
    const whole = (payment: Partial<KnownPayment>) => effect({ ...payment, intents: [refund] }, {}, paidOrder())
    const back = { state: 'returning' }
    const parts = [{ ...back, stateBefore: 'counted' }]
    expect(whole({})).toMatchObject({ parts, money: 'none', moves: [] })
    expect(whole({ status: 'succeeded' }).parts).toMatchObject([{ ...back, stateBefore: 'surplus' }])
    expect(whole({ status: 'expired', listenEnded: true }).parts).toMatchObject([{ ...back, stateBefore: 'late' }])
    expect(ownerOf({ intents: [{ ...refund, attemptId: 'att_2' }] })).toBe('5000 counted')
    expect(ownerOf({ intents: [{ ...refund, kind: 'cancel' }] })).toBe('5000 counted')
  })

  test('the payment where it completes its own money, and not where it is more of money that was enough', () => {
    const some = paidBy('3000', { status: 'under_review', parkReason: 'underpaid' })
    expect(ownerOf(some, 'underpaid')).toBe('2000 counted')
    expect(ownerOf(some, 'confirmed')).toBe('2000 surplus')
    expect(ownerOf({ ...some, paidAttemptId: 'att_0', parts: [] }, 'underpaid')).toBe('5000 surplus')
  })

  test('nobody once the money was sold: paid out is what was counted then', () => {
    for (const parkReason of ['payout_held', 'operator_hold', 'payout_voided'] as const) {
      const sold = paidBy('3000', { status: 'under_review', parkReason, converted: true })
      expect(effect(sold, { status: 'underpaid' }, paidOrder())).toEqual({
        ...nothing('underpaid'),
        exception: 'duplicate_payment',
        parts: [expect.objectContaining({ chargeMinor: '2000', state: 'surplus' })],
      })
    }
  })
})

describe('what is new of it', () => {
  test('is what the partner has beyond what is known; what was returned from elsewhere it has still', () => {
    const outside = [
      part('800', { key: 'b', state: 'returned' }),
      part('-800', { key: 'c', state: 'returned', kind: 'return_outside' }),
    ]
    const known = paidBy('5000', { parts: [part('5000'), ...outside] })
    expect(effect(known, { status: 'confirmed' }, paidOrder('5800'))).toEqual(nothing('confirmed'))
    expect(came(effect(known, { status: 'confirmed' }, paidOrder('5801')).parts)).toEqual(['1 surplus'])
  })

  test('of USDC is each transfer that is not known, worth its part of the price, floored', () => {
    const first = effect({}, {}, deposit('open', '1666', ['a', '20000000']))
    expect(first.parts).toEqual([usdcPart('a', '20000000', '1666')])
    const next = effect({ parts: first.parts }, {}, deposit('open', '3333', ['a', '20000000'], ['b', '20000000']))
    expect(next.parts).toEqual([usdcPart('b', '20000000', '1667')])
    const again = { parts: [...first.parts, ...next.parts] }
    expect(effect(again, {}, deposit('open', '3333', ['a', '20000000'], ['b', '20000000'])).parts).toEqual([])
  })

  test('of USDC never says that something is missing: final transfers do not go away', () => {
    const known = paidBy('5000', { parts: [usdcPart('a', '60000000', '5000')] })
    expect(effect(known, { status: 'confirmed' }, deposit('paid', '1000', ['a', '60000000']))).toEqual(
      nothing('confirmed'),
    )
  })
})

describe('what is missing of it', () => {
  test('is what the partner had, and has no more', () => {
    const of = (minor: string) => came(effect(paidBy(), { status: 'confirmed' }, paidOrder(minor)).parts)
    expect(of('4990')).toEqual(['-10 counted'])
    expect(of('5000')).toEqual([])
    expect(of('5010')).toEqual(['10 surplus'])
  })
})

describe('money that is nobody’s', () => {
  test('late: the order says so, and the payment whether it has other money', () => {
    const over = { status: 'expired', listenEnded: true } as const
    const parts = [expect.objectContaining({ state: 'late', chargeMinor: '5000' })]
    expect(effect(over, { status: 'expired' }, paidOrder())).toEqual({
      ...nothing('late'),
      parts,
      exception: 'paid_late',
    })
    expect(effect({ ...over, paidAttemptId: 'att_0' }, { status: 'expired' }, paidOrder())).toEqual({
      ...nothing('late'),
      parts,
      exception: 'duplicate_payment',
    })
    const own = paidBy('5000', { status: 'succeeded', converted: true, listenEnded: true })
    expect(effect(own, { status: 'confirmed' }, paidOrder('5500'))).toEqual({
      ...nothing('confirmed'),
      parts: [expect.objectContaining({ state: 'late', chargeMinor: '500' })],
      exception: 'duplicate_payment',
    })
  })

  test('surplus: of another order it is a second payment, of the own one it leaves the order as it is', () => {
    const second = { ...nothing('surplus'), exception: 'duplicate_payment' as const }
    expect(effect({ status: 'processing', paidAttemptId: 'att_0' }, {}, paidOrder())).toEqual({
      ...second,
      parts: [expect.objectContaining({ state: 'surplus' })],
    })
    expect(effect(paidBy(), { status: 'confirmed' }, paidOrder('5500'))).toEqual({
      ...second,
      attempt: 'confirmed',
      parts: [expect.objectContaining({ state: 'surplus', chargeMinor: '500' })],
    })
  })
})

describe('enough money', () => {
  const enough = (payment: Partial<KnownPayment>, status: AttemptStatus = 'open') =>
    effect(payment, { status }, paidOrder())
  const taken = { attempt: 'confirmed', money: 'take', park: null } as const

  test.each([
    ['created', 'confirmed', null],
    ['pending', 'confirmed', null],
    ['expired', 'paid_after_expiry', 'paid_late'],
    ['canceled', 'paid_after_cancellation', 'paid_late'],
  ] as const)('takes a payment on that is %s', (status, why, exception) => {
    expect(enough({ status })).toMatchObject({ ...taken, exception, moves: [{ to: 'processing', why }] })
  })

  test('leaves a payment that is being confirmed where it is, and one that has failed to an operator', () => {
    expect(enough({ status: 'processing' }, 'confirming')).toMatchObject({ ...taken, exception: null, moves: [] })
    expect(enough({ status: 'failed' }, 'expired')).toMatchObject({
      ...taken,
      exception: null,
      park: 'money_after_failure',
      moves: [{ to: 'under_review', why: 'paid_after_failure' }],
    })
  })

  test.each(Object.keys(PARK_REASONS) as ParkReason[])(
    'ends the waiting for money alone, of a payment that waits for %s',
    (parkReason) => {
      const ends = ['partner_hold', 'wrong_asset', 'partner_silent'].includes(parkReason)
      expect(enough({ status: 'under_review', parkReason }, 'on_hold')).toMatchObject({
        ...taken,
        exception: null,
        moves: ends ? [{ to: 'processing', why: 'released_by_partner' }] : [],
      })
    },
  )

  test('is marked where it is too much, and where it is late whatever it is', () => {
    for (const [minor, exception] of [
      ['4999', null],
      ['5000', null],
      ['5001', 'overpaid'],
    ] as const) {
      expect([minor, effect({}, {}, paidOrder(minor)).exception]).toEqual([minor, exception])
      expect(effect({ status: 'expired' }, {}, paidOrder(minor)).exception).toBe('paid_late')
    }
  })

  test('of an order that is open still is taken: nothing more is waited for', () => {
    expect(effect({}, {}, deposit('open', '5000', ['a', '60000000']))).toMatchObject({
      ...taken,
      exception: null,
      moves: [{ to: 'processing', why: 'confirmed' }],
    })
  })

  test('is all that is counted of its order, with what came before', () => {
    const parts = [usdcPart('a', '30000000', '2500')]
    const rest = (payment: Partial<KnownPayment>) =>
      effect({ parts, ...payment }, {}, deposit('paid', '5000', ['a', '30000000'], ['b', '30000000']))
    expect(rest({})).toMatchObject({ ...taken, exception: null })
    // What is a second payment's, or another order's, completes nothing.
    for (const fields of [{ state: 'surplus' }, { attemptId: 'att_2' }])
      expect(rest({ parts: [usdcPart('a', '30000000', '2500', fields)] })).toMatchObject({ attempt: 'underpaid' })
  })
})

describe('too little money', () => {
  const little = (payment: Partial<KnownPayment>, status: AttemptStatus = 'open') =>
    effect(payment, { status }, paidOrder('3000'))
  const taken = { attempt: 'underpaid', money: 'take', exception: 'underpaid', park: 'underpaid' } as const

  test.each([
    ['pending', []],
    ['processing', []],
    ['failed', []],
    ['expired', [{ to: 'processing', why: 'paid_after_expiry' }]],
    ['canceled', [{ to: 'processing', why: 'paid_after_cancellation' }]],
  ] as const)('parks a payment that is %s', (status, before) => {
    expect(little({ status })).toMatchObject({ ...taken, moves: [...before, { to: 'under_review', why: 'underpaid' }] })
  })

  test.each(Object.keys(PARK_REASONS) as ParkReason[])(
    'is what a parked payment waits for now, unless something does not fit: %s',
    (parkReason) => {
      const park = parkReason === 'amount_mismatch' ? 'amount_mismatch' : 'underpaid'
      expect(little({ status: 'under_review', parkReason }, 'on_hold')).toMatchObject({ ...taken, park, moves: [] })
    },
  )

  test('of a payment that is processing is underpaid, whatever it had waited for', () => {
    expect(little({ status: 'processing', parkReason: 'amount_mismatch' })).toMatchObject(taken)
  })

  test('that a buyer may still complete is taken by nobody, and marked once it is worth something', () => {
    expect(effect({}, {}, deposit('open', '1666', ['a', '20000000']))).toMatchObject({
      attempt: 'open',
      money: 'none',
      exception: 'underpaid',
      park: null,
      moves: [],
    })
    const dust = effect({}, {}, deposit('open', '0', ['a', '20']))
    expect(dust).toMatchObject({ attempt: 'open', money: 'none', exception: undefined })
    expect(came(dust.parts)).toEqual(['0 counted'])
    const more = effect({ parts: [usdcPart('a', '20000000', '1666')] }, {}, deposit('open', '1666', ['b', '20']))
    expect(more.exception).toBe('underpaid')
  })

  test('that was to be completed is taken when the partner, or the clock, says that this is all', () => {
    const parts = [usdcPart('a', '20000000', '1666')]
    expect(effect({ parts }, {}, deposit('paid', '1666', ['a', '20000000']))).toMatchObject({ ...taken, parts: [] })
  })

  test('is taken at once where the payment is over: nobody will complete it', () => {
    for (const status of ['expired', 'canceled', 'failed'] as const)
      expect(effect({ status }, {}, deposit('open', '1666', ['a', '20000000']))).toMatchObject(taken)
  })
})

describe('more of money that was too little', () => {
  const waits = (parkReason: ParkReason, minor = '3000') => paidBy(minor, { status: 'under_review', parkReason })
  const more = (payment: Partial<KnownPayment>, minor: string) =>
    effect(payment, { status: 'underpaid' }, paidOrder(minor))

  test('makes it enough: the payment goes on where it waited for that alone', () => {
    const enough = { ...nothing('confirmed'), money: 'take', exception: null }
    const parts = [expect.objectContaining({ chargeMinor: '2000', state: 'counted' })]
    expect(more(waits('underpaid'), '5000')).toEqual({
      ...enough,
      parts,
      moves: [{ to: 'processing', why: 'completed' }],
    })
    for (const parkReason of ['operator_hold', 'amount_mismatch'] as const)
      expect(more(waits(parkReason), '5000')).toEqual({ ...enough, parts })
  })

  test('makes it too much, and is marked so; a second payment is one still', () => {
    const some = waits('underpaid')
    const second = { ...some, parts: [...(some.parts ?? []), part('5000', { attemptId: 'att_2', state: 'surplus' })] }
    expect(more(second, '5000')).toMatchObject({ attempt: 'confirmed', exception: 'duplicate_payment' })
    expect(more(some, '6000')).toMatchObject({ attempt: 'confirmed', exception: 'overpaid' })
  })

  test('and still too little is counted, and changes nothing else', () => {
    expect(more(waits('underpaid'), '4000')).toEqual({
      ...nothing('underpaid'),
      money: 'take',
      parts: [expect.objectContaining({ chargeMinor: '1000', state: 'counted' })],
    })
  })
})

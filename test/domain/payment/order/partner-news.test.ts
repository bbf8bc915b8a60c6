import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type KnownPayment, nothing } from '../../../../src/domain/payment/money/effect.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { hasNothing } from '../../../../src/domain/payment/partner-news.ts'
import type { ParkReason } from '../../../../src/domain/payment/payment.ts'
import { came, context, effect, open, order, paidBy, paidOrder, part, statusesOf } from '../money/order-story.ts'

describe('what a partner says', () => {
  test('paid: the money is counted and the payment goes on', () => {
    const paid = effect({}, {}, paidOrder())
    expect(paid).toMatchObject({ attempt: 'confirmed', money: 'take', exception: null })
    expect(came(paid.parts)).toEqual(['5000 counted'])
    expect(statusesOf(paid.moves)).toEqual(['processing'])
  })

  test('paid again: nothing happens the second time', () => {
    const again = effect(paidBy(), { status: 'confirmed' }, paidOrder())
    expect(again).toEqual({ ...nothing('confirmed') })
  })

  test('a second payment for the same payment is surplus, never settled', () => {
    const second = effect({ status: 'processing', paidAttemptId: 'att_0' }, {}, paidOrder())
    expect(second).toMatchObject({ attempt: 'surplus', money: 'none', moves: [], exception: 'duplicate_payment' })
    expect(came(second.parts)).toEqual(['5000 surplus'])
  })

  test('too little parks the payment; a little less than the tolerance does not', () => {
    expect(effect({}, {}, paidOrder('4949'))).toMatchObject({
      attempt: 'underpaid',
      park: 'underpaid',
      exception: 'underpaid',
      money: 'take',
    })
    expect(effect({}, {}, paidOrder('4950'))).toMatchObject({ attempt: 'confirmed', park: null })
  })

  test('too much is settled as it arrived, and marked', () => {
    const over = effect({}, {}, paidOrder('6000'))
    expect(over).toMatchObject({ attempt: 'confirmed', exception: 'overpaid', money: 'take' })
    expect(came(over.parts)).toEqual(['6000 counted'])
  })

  test.each(['expired', 'canceled'] as const)('money after %s is taken and marked as late', (status) => {
    const late = effect({ status }, {}, paidOrder())
    expect(late).toMatchObject({ attempt: 'confirmed', money: 'take', exception: 'paid_late' })
    expect(statusesOf(late.moves)).toEqual(['processing'])
  })

  test('money after the listening is late: it is nobody’s until an operator decides', () => {
    const late = effect({ status: 'expired', listenEnded: true }, {}, paidOrder())
    expect(late).toMatchObject({ attempt: 'late', money: 'none', moves: [], exception: 'paid_late' })
    expect(came(late.parts)).toEqual(['5000 late'])
  })

  test('money after a failure waits for an operator', () => {
    const late = effect({ status: 'failed' }, {}, paidOrder())
    expect(late).toMatchObject({ money: 'take', park: 'money_after_failure' })
    expect(statusesOf(late.moves)).toEqual(['under_review'])
  })

  test.each([
    ['another amount', { amount: { minor: '1', currency: 'EUR' as const } }],
    ['another currency', { amount: { minor: '5000', currency: 'JPY' as const } }],
    ['another account', { account: 'somebody' }],
    ['another order', { attemptId: 'att_2' }],
    ['money in another currency', { received: { minor: '5000', currency: 'JPY' as const } }],
    ['a payment without its amount', { received: null }],
    ['a payment of nothing', { received: { minor: '0', currency: 'EUR' as const } }],
  ])('an authentic answer about %s moves no money', (_name, wrong) => {
    const odd = effect({}, {}, { ...paidOrder(), ...wrong })
    expect(odd).toMatchObject({ money: 'none', park: 'amount_mismatch', parts: [], incident: 'misfit' })
    expect(statusesOf(odd.moves)).toEqual(['under_review'])
  })

  test('nobody has to look at an order of another amount without money, and at any other misfit somebody has', () => {
    const none = { received: null, amount: { minor: '9999', currency: 'EUR' as const } }
    const has = (fields: Parameters<typeof order>[0]) => hasNothing(open, order({ ...none, ...fields }), context)
    for (const status of ['open', 'declined', 'canceled', 'expired', 'refunded'] as const)
      expect(has({ status })).toBe(true)
    expect(has({ status: 'canceled', received: { minor: '0', currency: 'EUR' } })).toBe(true)
    for (const status of ['paid', 'confirming'] as const) expect(has({ status })).toBe(false)
    expect(has({ status: 'canceled', received: { minor: '1', currency: 'EUR' } })).toBe(false)
    expect(has({ status: 'canceled', account: 'somebody else' })).toBe(false)
  })

  test.each(['declined', 'canceled', 'expired', 'refunded'] as const)(
    'an order of another amount that is %s and holds nothing is over',
    (status) => {
      const changed = order({ status, received: null, amount: { minor: '9999', currency: 'EUR' } })
      expect(effect({}, { status: 'on_hold' }, changed)).toMatchObject({
        attempt: status,
        incident: null,
      })
      // What was counted of it is gone, as of an order that nobody has changed.
      const same = { ...changed, amount: open.asked }
      for (const converted of [false, true]) {
        const lost = effect(paidBy('5000', { converted }), { status: 'confirmed' }, changed)
        expect(lost).toEqual(effect(paidBy('5000', { converted }), { status: 'confirmed' }, same))
        expect(lost).toMatchObject({ incident: null, partsBecome: 'reversed', voidsPayout: converted })
      }
    },
  )

  test('a misfit beside the one for which the payment waits is put on hold like that; of an order that has money it is shown', () => {
    const parked = { status: 'under_review', parkReason: 'amount_mismatch' } as const
    const odd = { ...paidOrder(), account: 'somebody' }
    for (const status of ['open', 'declined', 'on_hold'] as const)
      expect(effect(parked, { status }, odd)).toMatchObject({ attempt: 'on_hold', incident: 'misfit', moves: [] })
    const own = { ...parked, paidAttemptId: 'att_1', parts: [part('5000')] }
    expect(effect(own, { status: 'underpaid' }, odd)).toMatchObject({ attempt: 'underpaid', incident: 'misfit' })
    expect(effect(parked, { status: 'refunded' }, odd)).toMatchObject({ attempt: 'refunded', incident: 'misfit' })
    for (const [parkReason, park] of [
      ['partner_hold', 'amount_mismatch'],
      ['partner_silent', 'amount_mismatch'],
      ['wrong_asset', 'amount_mismatch'],
    ] as const)
      expect(effect({ ...parked, parkReason }, {}, odd)).toMatchObject({ attempt: 'on_hold', incident: 'misfit', park })
    const held = { ...own, parkReason: 'partner_hold' } as const
    expect(effect(held, { id: 'att_2' }, { ...odd, attemptId: 'att_2' })).toMatchObject({
      attempt: 'open',
      incident: 'misfit',
      park: null,
    })
  })

  test('too little money beside a misfit leaves the payment waiting for that', () => {
    const little = (parkReason: ParkReason) => effect({ status: 'under_review', parkReason }, {}, paidOrder('3000'))
    expect(little('amount_mismatch')).toMatchObject({ attempt: 'underpaid', park: 'amount_mismatch', moves: [] })
    expect(little('partner_hold')).toMatchObject({ attempt: 'underpaid', park: 'underpaid', moves: [] })
  })

  test.each(['expired', 'canceled', 'succeeded', 'refunded', 'failed'] as const)(
    'a misfit of a payment that is %s is an incident',
    (status) => {
      expect(effect({ status }, {}, { ...paidOrder(), account: 'somebody' })).toMatchObject({
        incident: 'misfit',
        attempt: 'open',
        moves: [],
      })
    },
  )

  test('a declined attempt leaves the payment pending', () => {
    expect(effect({}, {}, order({ status: 'declined', failureCode: 'declined' }))).toMatchObject({
      attempt: 'declined',
      moves: [],
    })
  })

  test('a failed identity check without any alternative fails the payment', () => {
    const failed = effect({ fallback: 'none' }, {}, order({ status: 'declined', failureCode: 'verification_failed' }))
    expect(statusesOf(failed.moves)).toEqual(['failed'])
  })

  test('an identity check of a payment that is over is no news about the payment', () => {
    const asked = order({ status: 'verification_required' })
    expect(effect({}, {}, asked)).toMatchObject({ exception: 'verification_required' })
    for (const status of ['expired', 'succeeded', 'under_review'] as const)
      expect(effect({ status }, {}, asked).exception).toBeUndefined()
  })
})

describe('more money', () => {
  const underpaid = (fields: Partial<KnownPayment> = {}) =>
    paidBy('3000', { status: 'under_review', parkReason: 'underpaid', ...fields })

  test('completes an underpaid payment: all of it is counted, and the payment goes on', () => {
    const rest = effect(underpaid(), { status: 'underpaid' }, paidOrder('5000'))
    expect(rest).toMatchObject({ attempt: 'confirmed', money: 'take', exception: null })
    expect(came(rest.parts)).toEqual(['2000 counted'])
    expect(statusesOf(rest.moves)).toEqual(['processing'])
  })

  test('that is still too little is counted, and the payment waits on', () => {
    const more = effect(underpaid(), { status: 'underpaid' }, paidOrder('4000'))
    expect(more).toMatchObject({ attempt: 'underpaid', money: 'take', moves: [] })
    expect(came(more.parts)).toEqual(['1000 counted'])
  })

  test('goes the way of the first part while a refund of that is being carried out', () => {
    const refund = {
      id: '1',
      key: 'k',
      kind: 'refund',
      attemptId: 'att_1',
      state: 'asked',
      operator: 'a',
      reason: 'r',
    } as const
    const more = effect(underpaid({ intents: [refund] }), { status: 'underpaid' }, paidOrder('5000'))
    expect(came(more.parts)).toEqual(['2000 returning'])
    expect(more).toMatchObject({ money: 'none', moves: [] })
  })

  test('after the payment was confirmed is surplus, part by part', () => {
    for (const payment of [paidBy(), paidBy('5000', { status: 'succeeded', converted: true })]) {
      const more = effect(payment, { status: 'confirmed' }, paidOrder('5500'))
      expect(more).toMatchObject({ attempt: 'confirmed', money: 'none', moves: [], exception: 'duplicate_payment' })
      expect(came(more.parts)).toEqual(['500 surplus'])
    }
  })

  test('in an order that was given up is money all the same', () => {
    const dead = order({ status: 'expired', received: { minor: '5000', currency: 'EUR' } })
    expect(effect({}, {}, dead)).toMatchObject({ attempt: 'confirmed', money: 'take' })
  })
})

describe('USDC that comes in parts', () => {
  const usdc = (...receipts: [string, string][]) => ({
    receipts: receipts.map(([key, micro]) => ({ key, micro })),
    askedMicro: '50000000',
    rate: { rate: '1', source: 'test', asOf: '' },
  })
  const deposit = (status: PartnerOrder['status'], minor: string, ...receipts: [string, string][]) =>
    order({ status, received: { minor, currency: 'EUR' }, usdc: usdc(...receipts) })

  test('a part of the price counts at once, and the buyer may complete it', () => {
    const first = effect({}, {}, deposit('open', '2000', ['a', '20000000']))
    expect(first).toMatchObject({ attempt: 'open', money: 'none', moves: [], exception: 'underpaid' })
    expect(first.parts).toMatchObject([{ key: 'a', asset: 'USDC', units: '20000000', chargeMinor: '2000' }])
    const known = { parts: first.parts }
    const rest = effect(known, {}, deposit('paid', '5000', ['a', '20000000'], ['b', '30000000']))
    expect(came(rest.parts)).toEqual(['3000 counted'])
    expect(rest).toMatchObject({ attempt: 'confirmed', money: 'take', exception: null })
  })

  test('at the expiry a part is a payment of too little', () => {
    const known = { parts: [part('2000', { key: 'a', asset: 'USDC', units: '20000000' })] }
    const over = effect(known, {}, deposit('paid', '2000', ['a', '20000000']))
    expect(over).toMatchObject({ attempt: 'underpaid', money: 'take', park: 'underpaid', parts: [] })
  })

  test('after the money was counted it is surplus, in USDC', () => {
    const known = paidBy('5000', { status: 'succeeded', converted: true })
    const more = effect(known, { status: 'confirmed' }, deposit('paid', '6000', ['b', '10000000']))
    expect(more.parts).toMatchObject([{ asset: 'USDC', units: '10000000', state: 'surplus' }])
  })

  test('the parts are worth what the whole is worth, to the last minor unit', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 20_000_000n }), { minLength: 1, maxLength: 8 }), (amounts) => {
        const receipts = amounts.map((micro, index): [string, string] => [`${index}`, String(micro)])
        const total = amounts.reduce((sum, micro) => sum + micro, 0n)
        const minor = ((5000n * total) / 50_000_000n).toString()
        const { parts } = effect({}, {}, deposit('open', minor === '0' ? '1' : minor, ...receipts))
        expect(parts.reduce((sum, { chargeMinor }) => sum + BigInt(chargeMinor), 0n).toString()).toBe(minor)
      }),
    )
  })

  test('a part of the price beside another order that pays is a second payment', () => {
    const some = part('2000', { attemptId: 'att_2', asset: 'USDC', units: '20000000' })
    expect(effect({ parts: [some] }, {}, paidOrder())).toMatchObject({
      besides: ['att_2'],
      money: 'take',
      exception: 'duplicate_payment',
    })
    expect(effect({ parts: [some] }, {}, paidOrder('6000'))).toMatchObject({ exception: 'overpaid' })
    // Nothing that is worth something, nothing that is counted, or nothing taken: nobody is told.
    const dust = { ...some, chargeMinor: '0' }
    expect(effect({ parts: [dust] }, {}, paidOrder())).toMatchObject({ besides: [], exception: null })
    expect(effect({ parts: [{ ...some, state: 'surplus' }] }, {}, paidOrder()).besides).toEqual([])
    expect(effect({ parts: [some] }, {}, order({ status: 'confirming' })).besides).toEqual([])
  })
})

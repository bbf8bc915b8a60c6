import { describe, expect, test } from '@jest/globals'
import { type KnownPayment, nothing } from '../../../../src/domain/payment/money/effect.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import type { AttemptStatus, PaymentStatus } from '../../../../src/domain/payment/payment.ts'
import { came, effect, order, paidBy, paidOrder, part } from '../money/order-story.ts'

/** What a partner says about an order whose money is not there, or not free. */

const eur = (minor: string) => ({ minor, currency: 'EUR' as const })
const PARKED = { to: 'under_review' }
const deposit = (status: PartnerOrder['status'], minor: string, ...receipts: [string, string][]) =>
  order({
    status,
    received: eur(minor),
    usdc: {
      receipts: receipts.map(([key, micro]) => ({ key, micro })),
      askedMicro: '50000000',
      rate: { rate: '1', source: 'test', asOf: '' },
    },
  })
const someUsdc = part('2000', { key: 'a', asset: 'USDC', units: '20000000' })

describe('an order that nothing final is said of', () => {
  test('is open, and what the partner may have received is no money before it says so', () => {
    for (const status of ['opening', 'open', 'verification_required'] as const)
      expect(effect({ status: 'pending' }, { status }, order({ received: eur('5000') }))).toEqual(nothing('open'))
  })

  test.each(['confirming', 'on_hold', 'confirmed', 'declined', 'expired'] as const)(
    'is not opened again by an answer that is older: %s',
    (status) => {
      for (const said of ['open', 'verification_required'] as const)
        expect(effect({}, { status }, order({ status: said }))).toEqual(nothing(status))
    },
  )

  test('is no news while no more of its money comes, whether the payment has taken that or not', () => {
    const again = deposit('open', '2000', ['a', '20000000'])
    expect(effect({ parts: [someUsdc] }, {}, again)).toEqual(nothing('open'))
    const taken = paidBy('2000', { status: 'under_review', parkReason: 'underpaid', parts: [someUsdc] })
    expect(effect(taken, { status: 'underpaid' }, again)).toEqual(nothing('underpaid'))
  })

  test('is a second payment where its deposit comes beside the money of another order', () => {
    const beside = effect(
      { status: 'processing', paidAttemptId: 'att_0' },
      {},
      deposit('open', '5000', ['a', '50000000']),
    )
    expect(beside).toMatchObject({ attempt: 'surplus', exception: 'duplicate_payment' })
  })

  test('waits for the identity check of its buyer, and the payment is marked so while it is open', () => {
    const asked = order({ status: 'verification_required' })
    for (const status of ['created', 'pending'] as const)
      expect(effect({ status }, {}, asked)).toEqual({
        ...nothing('verification_required'),
        exception: 'verification_required',
      })
    for (const status of ['processing', 'canceled'] as const)
      expect(effect({ status }, {}, asked)).toEqual(nothing('verification_required'))
  })
})

describe('an order whose money is being confirmed', () => {
  const confirming = order({ status: 'confirming', received: eur('5000') })

  test('takes a pending payment on, and no other', () => {
    expect(effect({}, {}, confirming)).toEqual({
      ...nothing('confirming'),
      moves: [{ to: 'processing', why: 'confirming' }],
    })
    for (const status of ['processing', 'under_review', 'expired', 'canceled', 'failed'] as const)
      expect(effect({ status }, {}, confirming)).toEqual(nothing('confirming'))
  })

  test.each(['confirmed', 'underpaid', 'surplus', 'late', 'refunded'] as const)(
    'is old news where its money has come already: %s',
    (status) => expect(effect({}, { status }, confirming)).toEqual(nothing(status)),
  )
})

describe.each([
  ['on_hold', 'partner_hold', 'held_by_partner', undefined],
  ['wrong_asset', 'wrong_asset', 'wrong_asset', 'wrong_asset'],
] as const)('money that cannot be taken (%s)', (status, park, why, exception) => {
  const kept = order({ status })
  const onHold = { ...nothing('on_hold'), exception }

  test.each(['pending', 'processing'] as const)('parks a payment without money that is %s', (from) => {
    expect(effect({ status: from }, {}, kept)).toEqual({ ...onHold, moves: [{ ...PARKED, why }], park })
  })

  test('leaves a payment that has the money of another order, or is over, where it is', () => {
    const elsewhere: Partial<KnownPayment>[] = [
      { status: 'processing', paidAttemptId: 'att_0' },
      { status: 'under_review', parkReason: 'underpaid', paidAttemptId: 'att_0' },
      ...(['under_review', 'expired', 'canceled', 'failed'] as PaymentStatus[]).map((from) => ({ status: from })),
    ]
    for (const payment of elsewhere) expect(effect(payment, { status: 'confirming' }, kept)).toEqual(onHold)
  })

  test.each(['surplus', 'late', 'refunded'] as AttemptStatus[])('is old news of an order that is %s', (known) => {
    expect(effect({}, { status: known }, kept)).toEqual(nothing(known))
  })
})

describe('money that a partner holds', () => {
  const hold = order({ status: 'on_hold', received: eur('5000') })

  test('of an order whose money was counted stops the sale, as long as it is not sold', () => {
    expect(effect(paidBy(), { status: 'confirmed' }, hold)).toEqual({
      ...nothing('confirmed'),
      moves: [{ ...PARKED, why: 'held_by_partner' }],
      park: 'partner_hold',
    })
    expect(effect(paidBy('5000', { converted: true }), { status: 'confirmed' }, hold)).toEqual(nothing('confirmed'))
    for (const status of ['settling', 'succeeded', 'under_review'] as const)
      expect(effect(paidBy('5000', { status }), { status: 'confirmed' }, hold)).toEqual(nothing('confirmed'))
  })

  test('and releases goes on, when nothing of it is missing', () => {
    const held = paidBy('5000', { status: 'under_review', parkReason: 'partner_hold' })
    expect(effect(held, { status: 'confirmed' }, paidOrder())).toEqual({
      ...nothing('confirmed'),
      moves: [{ to: 'processing', why: 'released_by_partner' }],
    })
    expect(effect(held, { status: 'confirmed' }, paidOrder('3000'))).toMatchObject({
      attempt: 'underpaid',
      park: 'underpaid',
      moves: [],
    })
    expect(effect(held, { status: 'confirmed' }, paidOrder('4990'))).toMatchObject({
      attempt: 'confirmed',
      moves: [{ to: 'processing', why: 'released_by_partner' }],
    })
  })

  test('… and not where less is counted than was confirmed', () => {
    const parts = [part('5000'), part('-4000', { key: 'less', kind: 'reversal' })]
    const parked = paidBy('5000', { status: 'under_review', parkReason: 'partner_hold', parts })
    expect(effect(parked, { status: 'confirmed' }, paidOrder('1000')).moves).toEqual([])
  })

  test('goes on by the word about it alone: not while something else is waited for, nor by that about another order', () => {
    const confirmed = { status: 'confirmed' } as const
    for (const parkReason of ['amount_mismatch', 'operator_hold', 'conversion'] as const)
      expect(effect(paidBy('5000', { status: 'under_review', parkReason }), confirmed, paidOrder())).toEqual(
        nothing('confirmed'),
      )
    expect(effect(paidBy('5000', { status: 'settling', parkReason: 'partner_hold' }), confirmed, paidOrder())).toEqual(
      nothing('confirmed'),
    )
    const others = paidBy('5000', { status: 'under_review', parkReason: 'partner_hold', paidAttemptId: 'att_0' })
    expect(effect(others, confirmed, paidOrder('4990')).moves).toEqual([])
  })
})

describe('another token at the address of a payment', () => {
  test('is told once', () => {
    expect(effect({}, { status: 'on_hold' }, order({ status: 'wrong_asset' }))).toEqual(nothing('on_hold'))
  })

  test('beside a part of the price: the part counts, and the payment waits because of the token', () => {
    const both = effect({}, {}, deposit('wrong_asset', '2000', ['a', '20000000']))
    expect(came(both.parts)).toEqual(['2000 counted'])
    expect(both).toMatchObject({ attempt: 'on_hold', exception: 'wrong_asset', money: 'none', park: 'wrong_asset' })
  })

  test('is no matter where the right one has come, in time or late', () => {
    expect(effect({}, {}, deposit('wrong_asset', '5000', ['a', '50000000']))).toMatchObject({
      attempt: 'confirmed',
      exception: null,
      money: 'take',
      park: null,
      moves: [{ to: 'processing', why: 'confirmed' }],
    })
    const waits = { status: 'under_review', parkReason: 'wrong_asset' } as const
    expect(effect(waits, { status: 'on_hold' }, deposit('wrong_asset', '5000', ['a', '50000000']))).toMatchObject({
      attempt: 'confirmed',
      moves: [{ to: 'processing', why: 'released_by_partner' }],
    })
  })
})

describe('a part of the price', () => {
  test('that is all of what came is taken at the end, unless the payment has other money', () => {
    const all = deposit('paid', '2000', ['a', '20000000'])
    expect(effect({ parts: [someUsdc] }, {}, all)).toMatchObject({ attempt: 'underpaid', money: 'take', parts: [] })
    const taken = { status: 'processing', paidAttemptId: 'att_0', parts: [someUsdc] } as const
    expect(effect(taken, {}, all)).toEqual(nothing('open'))
  })

  test('that the partner has less of before the conversion is what is left of it', () => {
    const less = effect(paidBy('6000'), { status: 'confirmed' }, paidOrder('5000'))
    expect(came(less.parts)).toEqual(['-1000 counted'])
  })
})

describe('an order that is over', () => {
  test.each(['canceled', 'expired'] as const)('is %s, with the reason of the partner', (status) => {
    expect(effect({}, {}, order({ status, failureCode: 'declined' }))).toEqual({
      ...nothing(status),
      failureCode: 'declined',
    })
  })

  test('by a refund of the partner, which names no failure: the buyer may pay again', () => {
    const back = order({ status: 'refunded', received: eur('5000'), failureCode: 'declined' })
    expect(effect({ status: 'processing' }, { status: 'confirming' }, back)).toEqual({
      ...nothing('refunded'),
      moves: [{ to: 'pending', why: 'withdrawn' }],
    })
  })

  test('because a partner that refuses it keeps money that nobody has seen: an operator looks', () => {
    const kept = order({ status: 'declined', received: eur('5000'), failureCode: 'declined' })
    const parks = { attempt: 'on_hold', incident: 'misfit', park: 'amount_mismatch', parts: [] }
    const others = [part('2000', { attemptId: 'att_2' })]
    for (const parts of [[], others]) expect(effect({ parts }, {}, kept)).toMatchObject(parks)
    expect(effect({}, {}, order({ status: 'declined', received: eur('0') }))).toMatchObject({ attempt: 'declined' })
    // Money that we have seen is gone with the refusal.
    for (const parts of [[part('5000')], [part('5000'), ...others]]) {
      const gone = effect(paidBy('5000', { parts }), { status: 'confirmed' }, kept)
      expect(gone).toMatchObject({ attempt: 'declined', incident: null, failureCode: 'declined' })
      expect(came(gone.parts)).toEqual(['-5000 reversed'])
    }
  })
})

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { KnownPayment } from '../../../src/domain/payment/money/effect.ts'
import { chargeSum, PART_STATES } from '../../../src/domain/payment/money/parts.ts'
import { ORDER_STATUSES } from '../../../src/domain/payment/partner.ts'
import { effectOfOrder } from '../../../src/domain/payment/partner-news.ts'
import {
  ATTEMPT_STATUSES,
  canMove,
  PARK_REASONS,
  PAYMENT_STATUSES,
  type ParkReason,
  type PaymentStatus,
} from '../../../src/domain/payment/payment.ts'
import { came, context, effect, open, order, paidBy, paidOrder, part, pending, statusesOf } from './order-story.ts'

describe('money that is gone', () => {
  test('a confirmation that is withdrawn brings the payment back to the buyer', () => {
    const back = effect(paidBy(), { status: 'confirmed' }, order({ status: 'declined', failureCode: 'reversed' }))
    expect(back).toMatchObject({ attempt: 'declined', money: 'give_back', partsBecome: 'reversed' })
    expect(came(back.parts)).toEqual(['-5000 reversed merchant_payable'])
    expect(statusesOf(back.moves)).toEqual(['pending'])
  })

  test.each([
    ['after the settlement: a chargeback, for an operator', 'succeeded', [], 'chargeback', false],
    ['before the settlement: the payout is voided', 'settling', ['under_review'], null, true],
    ['before the payout: the same', 'processing', ['under_review'], null, true],
  ] as const)('%s', (_when, status, moves, incident, voidsPayout) => {
    const loss = effect(
      paidBy('5000', { status, converted: true }),
      { status: 'confirmed' },
      order({ status: 'refunded' }),
    )
    expect(loss).toMatchObject({ incident, voidsPayout, attempt: 'confirmed', money: 'none' })
    expect(statusesOf(loss.moves)).toEqual(moves)
    expect(loss.park).toBe(voidsPayout ? 'funds_reversed' : null)
  })

  test('when the payout is void already, nothing is left to decide', () => {
    const voided = paidBy('5000', { status: 'under_review', parkReason: 'payout_voided', converted: true })
    const end = effect(voided, { status: 'confirmed' }, order({ status: 'refunded' }))
    expect(statusesOf(end.moves)).toEqual(['refunded'])
  })

  test('a part of it before the conversion: what is left counts, or is too little', () => {
    const enough = effect(paidBy('6000'), { status: 'confirmed' }, paidOrder('5000'))
    expect(enough).toMatchObject({ attempt: 'confirmed', money: 'take', moves: [] })
    expect(came(enough.parts)).toEqual(['-1000 counted merchant_payable'])
    const tooLittle = effect(paidBy('5000'), { status: 'confirmed' }, paidOrder('3000'))
    expect(tooLittle).toMatchObject({ attempt: 'underpaid', money: 'take', park: 'underpaid' })
    expect(statusesOf(tooLittle.moves)).toEqual(['under_review'])
  })

  test('a part of it is taken from the surplus first', () => {
    const parts = [part('5000'), part('1000', { key: 'b', state: 'surplus', account: 'suspense' })]
    const less = effect(paidBy('5000', { parts }), { status: 'confirmed' }, paidOrder('5400'))
    expect(came(less.parts)).toEqual(['-600 surplus suspense'])
    expect(less).toMatchObject({ money: 'none', moves: [] })
  })

  test('a part of it is taken first from what was returned from elsewhere: that is ours, and the rest is all there', () => {
    const surplus = { state: 'returned', account: 'suspense' } as const
    const outside = [
      part('1000', { ...surplus, key: 'b' }),
      part('-1000', { ...surplus, key: 'c', kind: 'return_outside' }),
    ]
    const parts = [part('5000'), ...outside]
    for (const converted of [false, true]) {
      const less = effect(paidBy('5000', { parts, converted }), { status: 'confirmed' }, paidOrder('5400'))
      expect(less).toMatchObject({ attempt: 'confirmed', money: 'none', moves: [], park: null, voidsPayout: false })
      expect(less.parts).toMatchObject([
        { kind: 'reversal_outside', chargeMinor: '-600', key: 'att_1:reversal_outside:3' },
      ])
      // Read again, it is nothing new; and what goes now is the payment's.
      const after = paidBy('5000', { parts: [...parts, ...less.parts] })
      expect(effect(after, { status: 'confirmed' }, paidOrder('5400')).parts).toEqual([])
      expect(came(effect(after, { status: 'confirmed' }, paidOrder('3000')).parts)).toEqual([
        '-2000 counted merchant_payable',
        '-400 reversed suspense',
      ])
      expect(came(effect(after, { status: 'confirmed' }, order({ status: 'refunded' })).parts)).toEqual([
        '-5000 reversed merchant_payable',
        '-400 reversed suspense',
      ])
    }
  })

  test.each(['amount_mismatch', 'wrong_asset'] as const)(
    'by the partner itself, while money of another order does not fit (%s): the payment stays open for that',
    (parkReason) => {
      const others = [{ id: 'att_0', status: 'on_hold' as const }]
      const parked = paidBy('5000', { status: 'under_review', parkReason, attempts: others })
      for (const status of ['refunded', 'declined'] as const) {
        const back = effect(parked, { status: 'confirmed' }, order({ status }))
        expect(back).toMatchObject({ attempt: status, money: 'give_back', moves: [], partsBecome: 'reversed' })
        const alone = effect({ ...parked, attempts: [] }, { status: 'confirmed' }, order({ status }))
        expect(statusesOf(alone.moves)).toEqual([status === 'refunded' ? 'refunded' : 'failed'])
      }
    },
  )

  test('by our own refund: returned, not reversed', () => {
    const refund = {
      key: 'k',
      kind: 'refund',
      attemptId: 'att_1',
      state: 'pending',
      operator: 'a',
      reason: 'r',
    } as const
    const parts = [part('5000', { state: 'returning' })]
    const done = effect(
      paidBy('5000', { status: 'under_review', parkReason: 'underpaid', intents: [refund], parts }),
      { status: 'underpaid' },
      order({ status: 'refunded' }),
    )
    expect(done).toMatchObject({ attempt: 'refunded', partsBecome: 'returned' })
    expect(came(done.parts)).toEqual(['-5000 returned merchant_payable'])
    expect(statusesOf(done.moves)).toEqual(['refunded'])
  })

  test('money that did not fit, by our own refund: the end, unless other money is counted', () => {
    const refund = { key: 'k', kind: 'refund', attemptId: 'att_1', state: 'asked', operator: 'a', reason: 'r' } as const
    const misfit = { status: 'under_review', parkReason: 'amount_mismatch', intents: [refund] } as const
    const back = (more: Partial<KnownPayment>) =>
      effect({ ...misfit, ...more }, { status: 'on_hold' }, order({ status: 'refunded' }))
    expect(back({})).toMatchObject({ attempt: 'refunded', moves: [{ to: 'refunded' }] })
    const others = { paidAttemptId: 'att_0', parts: [part('5000', { attemptId: 'att_0' })] }
    expect(back(others)).toMatchObject({ attempt: 'refunded', moves: [] })
  })

  test('one order’s decline does not end the waiting for another that is held', () => {
    const held: Partial<KnownPayment> = {
      status: 'under_review',
      parkReason: 'partner_hold',
      attempts: [
        { id: 'att_0', status: 'on_hold' },
        { id: 'att_1', status: 'confirming' },
      ],
    }
    expect(effect(held, { status: 'confirming' }, order({ status: 'declined' })).moves).toEqual([])
    expect(effect({ ...held, attempts: [] }, { status: 'on_hold' }, order({ status: 'declined' })).moves).toMatchObject(
      [{ to: 'failed' }],
    )
  })

  test('confirming, then refunded by the partner: the buyer may pay again', () => {
    const back = effect({ status: 'processing' }, { status: 'confirming' }, order({ status: 'refunded' }))
    expect(back.attempt).toBe('refunded')
    expect(statusesOf(back.moves)).toEqual(['pending'])
  })
})

describe('a partner’s hold', () => {
  const hold = order({ status: 'on_hold', received: { minor: '5000', currency: 'EUR' } })

  test('before the money counts parks the payment, and its release lets it go on', () => {
    expect(effect({}, {}, hold)).toMatchObject({ attempt: 'on_hold', park: 'partner_hold', parts: [] })
    const held = { status: 'under_review', parkReason: 'partner_hold' } as const
    expect(effect(held, { status: 'on_hold' }, paidOrder()).moves).toMatchObject([{ to: 'processing' }])
  })

  test('of money that was counted keeps it from being sold, and its release lets it go on', () => {
    const held = effect(paidBy(), { status: 'confirmed' }, hold)
    expect(held).toMatchObject({ attempt: 'confirmed', park: 'partner_hold', parts: [] })
    expect(statusesOf(held.moves)).toEqual(['under_review'])
    const parked = paidBy('5000', { status: 'under_review', parkReason: 'partner_hold' })
    expect(effect(parked, { status: 'confirmed' }, paidOrder()).moves).toMatchObject([{ to: 'processing' }])
    expect(effect(paidBy('5000', { converted: true }), { status: 'confirmed' }, hold).moves).toEqual([])
  })
})

describe('whatever a partner says, in whatever state', () => {
  type Facts = typeof state extends fc.Arbitrary<infer T> ? T : never
  const state = fc.record({
    // The first attempt and `pending` are written together: a created payment has none.
    status: fc.constantFrom(...PAYMENT_STATUSES.filter((status) => status !== 'created')),
    attemptStatus: fc.constantFrom(...ATTEMPT_STATUSES),
    orderStatus: fc.constantFrom(...ORDER_STATUSES),
    mine: fc.boolean(),
    other: fc.boolean(),
    converted: fc.boolean(),
    listenEnded: fc.boolean(),
    refunding: fc.boolean(),
    parkReason: fc.constantFrom(...(Object.keys(PARK_REASONS) as ParkReason[])),
    counted: fc.constantFrom('0', '4000', '5000'),
    surplus: fc.constantFrom('0', '700'),
    received: fc.constantFrom(null, '0', '4000', '5000', '9000'),
  })

  /** What the rows may say together: a payment has the money of an attempt that had some, and what had none is no surplus. */
  function isPossible({ mine, status, attemptStatus, counted, surplus, converted, refunding }: Facts): boolean {
    const isOwn = attemptStatus === 'confirmed' || attemptStatus === 'underpaid'
    if (mine && (!isOwn || status === 'pending' || counted === '0')) return false
    if (!mine && (isOwn || counted !== '0')) return false
    if (!mine && (attemptStatus === 'surplus' || attemptStatus === 'late') !== (surplus !== '0')) return false
    if (attemptStatus === 'underpaid' && (counted === '5000' || converted || status !== 'under_review')) return false
    if ((status === 'settling' || status === 'succeeded') && !converted) return false
    return !refunding || status === 'under_review' || surplus !== '0'
  }

  test('only moves of the table; no pool is overdrawn; and reading it twice changes nothing more', () => {
    fc.assert(
      fc.property(state, (facts) => {
        fc.pre(isPossible(facts))
        const paidAttemptId = facts.mine ? 'att_1' : facts.other ? 'att_0' : null
        const parts = [
          part(facts.counted),
          part(facts.surplus, { key: 'b', state: 'surplus', account: 'suspense' }),
        ].filter(({ chargeMinor }) => chargeMinor !== '0')
        const intent = {
          key: 'k',
          kind: 'refund',
          attemptId: 'att_1',
          state: 'asked',
          operator: 'a',
          reason: 'r',
        } as const
        const known: KnownPayment = {
          ...pending,
          status: facts.status,
          parkReason: facts.status === 'under_review' ? facts.parkReason : null,
          paidAttemptId,
          converted: facts.converted && paidAttemptId !== null,
          listenEnded: facts.listenEnded,
          parts,
          intents: facts.refunding ? [intent] : [],
        }
        const received = facts.received === null ? null : { minor: facts.received, currency: 'EUR' as const }
        const news = order({ status: facts.orderStatus, received })
        const first = effectOfOrder(known, { ...open, status: facts.attemptStatus }, { order: news, context })
        let at: PaymentStatus = facts.status
        for (const move of first.moves) {
          expect([at, move.to, canMove(at, move.to)]).toEqual([at, move.to, true])
          at = move.to
        }
        const { partsBecome } = first
        const after = [
          ...(partsBecome === null ? parts : parts.map((was) => ({ ...was, state: partsBecome }))),
          ...first.parts,
        ]
        for (const poolState of PART_STATES)
          expect(BigInt(chargeSum(after, { states: [poolState] }))).toBeGreaterThanOrEqual(0n)
        expect(chargeSum(after, { states: ['returned', 'reversed'] })).toBe('0')
        const then: KnownPayment = {
          ...known,
          status: at,
          parkReason: at === 'under_review' ? (first.park ?? known.parkReason) : null,
          parts: after,
          intents: partsBecome !== null || first.attempt === 'refunded' ? [] : known.intents,
          paidAttemptId: first.money === 'take' ? 'att_1' : first.money === 'give_back' ? null : paidAttemptId,
        }
        const second = effectOfOrder(then, { ...open, status: first.attempt }, { order: news, context })
        expect(second.parts).toEqual([])
        expect(second.money).toBe('none')
        expect(second.moves).toEqual([])
        expect(second.attempt).toBe(first.attempt)
      }),
      { numRuns: 20_000 },
    )
  })
})
